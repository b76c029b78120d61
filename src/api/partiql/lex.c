#include "api/partiql/lex.h"

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

static bool begins_word(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static uint8_t peek(struct bytes text, size_t at) {
    return at < text.size ? text.data[at] : 0;
}

/* --- blanks and comments --- */

static size_t skip_line(struct bytes text, size_t at) {
    while (at < text.size && text.data[at] != '\n')
        at++;
    return at;
}

/* Past the comment's end, or SIZE_MAX. */
static size_t skip_block(struct bytes text, size_t at) {
    size_t end = bytes_find(bytes_skip(text, at + 2), BYTES("*/"));
    return end == SIZE_MAX ? SIZE_MAX : at + 2 + end + 2;
}

static size_t skip_blanks(struct bytes text, size_t at) {
    while (at < text.size) {
        size_t next = at;
        if (is_blank(text.data[at]))
            next = at + 1;
        else if (text.data[at] == '-' && peek(text, at + 1) == '-')
            next = skip_line(text, at);
        else if (text.data[at] == '/' && peek(text, at + 1) == '*')
            next = skip_block(text, at);
        if (next == at || next == SIZE_MAX)
            break;
        at = next;
    }
    return at;
}

/* --- tokens of several characters --- */

/* Up to the quote that ends it; a doubled one is part of it. */
static struct ql_token quoted(struct bytes text, size_t at, enum ql_token_type type) {
    uint8_t quote = text.data[at];
    for (size_t i = at + 1; i < text.size; i++) {
        if (text.data[i] != quote)
            continue;
        if (type == QL_TOKEN_FOREIGN || peek(text, i + 1) != quote)
            return (struct ql_token){.type = type, .start = at, .end = i + 1};
        i++;
    }
    return (struct ql_token){.type = QL_TOKEN_UNKNOWN, .start = at, .end = text.size};
}

static struct ql_token word(struct bytes text, size_t at) {
    size_t end = at;
    while (end < text.size && (begins_word(text.data[end]) || is_digit(text.data[end])))
        end++;
    struct ql_token token = {.type = QL_TOKEN_WORD, .start = at, .end = end};
    token.keyword = ql_word_reserved(bytes_of(text.data + at, end - at));
    return token;
}

static size_t skip_digits(struct bytes text, size_t at) {
    while (is_digit(peek(text, at)))
        at++;
    return at;
}

static struct ql_token number(struct bytes text, size_t at) {
    size_t end = skip_digits(text, at);
    if (peek(text, end) == '.')
        end = skip_digits(text, end + 1);
    if ((peek(text, end) | 0x20) == 'e') {
        size_t digits = end + 1;
        digits += peek(text, digits) == '+' || peek(text, digits) == '-';
        if (is_digit(peek(text, digits)))
            end = skip_digits(text, digits);
    }
    enum ql_token_type type = begins_word(peek(text, end)) ? QL_TOKEN_UNKNOWN : QL_TOKEN_NUMBER;
    return (struct ql_token){.type = type, .start = at, .end = end};
}

/* --- marks --- */

static const struct {
    char text[3];
    enum ql_token_type type;
} marks[] = {
    {"<<", QL_TOKEN_OPEN_BAG}, {">>", QL_TOKEN_CLOSE_BAG}, {"<=", QL_TOKEN_LE},
    {">=", QL_TOKEN_GE},       {"<>", QL_TOKEN_NE},        {"!=", QL_TOKEN_NE},
    {"||", QL_TOKEN_CONCAT},   {"<", QL_TOKEN_LT},         {">", QL_TOKEN_GT},
    {"=", QL_TOKEN_EQ},        {",", QL_TOKEN_COMMA},      {".", QL_TOKEN_DOT},
    {":", QL_TOKEN_COLON},     {";", QL_TOKEN_SEMICOLON},  {"(", QL_TOKEN_OPEN},
    {")", QL_TOKEN_CLOSE},     {"[", QL_TOKEN_OPEN_LIST},  {"]", QL_TOKEN_CLOSE_LIST},
    {"{", QL_TOKEN_OPEN_MAP},  {"}", QL_TOKEN_CLOSE_MAP},  {"*", QL_TOKEN_STAR},
    {"/", QL_TOKEN_SLASH},     {"%", QL_TOKEN_PERCENT},    {"+", QL_TOKEN_PLUS},
    {"-", QL_TOKEN_MINUS},     {"?", QL_TOKEN_PARAMETER},
};

static struct ql_token mark(struct bytes text, size_t at) {
    struct bytes rest = bytes_skip(text, at);
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (bytes_starts(rest, bytes_str(marks[i].text)))
            return (struct ql_token){
                .type = marks[i].type, .start = at, .end = at + strlen(marks[i].text)};
    return (struct ql_token){.type = QL_TOKEN_UNKNOWN, .start = at, .end = at + 1};
}

struct ql_token ql_lex(struct bytes text, size_t at) {
    at = skip_blanks(text, at);
    if (at == text.size)
        return (struct ql_token){.type = QL_TOKEN_END, .start = at, .end = at};
    uint8_t c = text.data[at];
    if (begins_word(c))
        return word(text, at);
    if (is_digit(c) || (c == '.' && is_digit(peek(text, at + 1))))
        return number(text, at);
    switch (c) {
    case '\'':
        return quoted(text, at, QL_TOKEN_STRING);
    case '"':
        return quoted(text, at, QL_TOKEN_QUOTED);
    case '`':
        return quoted(text, at, QL_TOKEN_FOREIGN);
    default:
        return mark(text, at);
    }
}

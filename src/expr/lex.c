#include "expr/lex.h"

#include <strings.h>

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

static bool is_name_part(uint8_t c) {
    return is_letter(c) || is_digit(c) || c == '_';
}

static const struct {
    const char *word;
    size_t size;
    enum token_type type;
} words[] = {
    {"IN", 2, TOKEN_IN},         {"OR", 2, TOKEN_OR},         {"AND", 3, TOKEN_AND},
    {"NOT", 3, TOKEN_NOT},       {"SET", 3, TOKEN_SET},       {"ADD", 3, TOKEN_ADD},
    {"DELETE", 6, TOKEN_DELETE}, {"REMOVE", 6, TOKEN_REMOVE}, {"BETWEEN", 7, TOKEN_BETWEEN},
};

static enum token_type word_type(struct bytes word) {
    if (word.size > 7)
        return TOKEN_NAME;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].size == word.size &&
            strncasecmp(words[i].word, (const char *)word.data, word.size) == 0)
            return words[i].type;
    return TOKEN_NAME;
}

/* The end of the run of name characters from `at` on. */
static size_t name_end(struct bytes text, size_t at) {
    while (at < text.size && is_name_part(text.data[at]))
        at++;
    return at;
}

static size_t digits_end(struct bytes text, size_t at) {
    if (text.data[at] == '0')
        return at + 1;
    while (at < text.size && is_digit(text.data[at]))
        at++;
    return at;
}

/* The end of the UTF-8 character at `at`; a stray byte is one by itself. */
static size_t character_end(struct bytes text, size_t at) {
    at++;
    while (at < text.size && (text.data[at] & 0xc0) == 0x80)
        at++;
    return at;
}

static enum token_type single_type(uint8_t c) {
    switch (c) {
    case ',':
        return TOKEN_COMMA;
    case '(':
        return TOKEN_OPEN;
    case ')':
        return TOKEN_CLOSE;
    case '.':
        return TOKEN_DOT;
    case '[':
        return TOKEN_OPEN_INDEX;
    case ']':
        return TOKEN_CLOSE_INDEX;
    case '=':
        return TOKEN_EQ;
    case '<':
        return TOKEN_LT;
    case '>':
        return TOKEN_GT;
    case '+':
        return TOKEN_PLUS;
    case '-':
        return TOKEN_MINUS;
    default:
        return TOKEN_UNKNOWN;
    }
}

static struct token lex_symbol(struct bytes text, size_t at) {
    uint8_t c = text.data[at], after = at + 1 < text.size ? text.data[at + 1] : 0;
    if (c == '<' && after == '>')
        return (struct token){TOKEN_NE, at, at + 2};
    if (c == '<' && after == '=')
        return (struct token){TOKEN_LE, at, at + 2};
    if (c == '>' && after == '=')
        return (struct token){TOKEN_GE, at, at + 2};
    enum token_type type = single_type(c);
    return (struct token){type, at, type == TOKEN_UNKNOWN ? character_end(text, at) : at + 1};
}

struct token lex_next(struct bytes text, size_t at) {
    while (at < text.size && is_blank(text.data[at]))
        at++;
    if (at == text.size)
        return (struct token){TOKEN_END, at, at};
    uint8_t c = text.data[at];
    if (is_letter(c)) {
        size_t end = name_end(text, at);
        return (struct token){word_type(bytes_of(text.data + at, end - at)), at, end};
    }
    if (is_digit(c))
        return (struct token){TOKEN_INDEX, at, digits_end(text, at)};
    if ((c == '#' || c == ':') && name_end(text, at + 1) > at + 1)
        return (struct token){c == '#' ? TOKEN_NAME_ALIAS : TOKEN_VALUE_ALIAS, at,
                              name_end(text, at + 1)};
    return lex_symbol(text, at);
}

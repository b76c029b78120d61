#include "api/partiql/ql_lex.h"

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
static struct ql_token lex_quoted(struct bytes text, size_t at, enum ql_token_type type) {
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

static struct ql_token lex_number(struct bytes text, size_t at) {
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

static struct ql_token lex_mark(struct bytes text, size_t at) {
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
        return lex_number(text, at);
    switch (c) {
    case '\'':
        return lex_quoted(text, at, QL_TOKEN_STRING);
    case '"':
        return lex_quoted(text, at, QL_TOKEN_QUOTED);
    case '`':
        return lex_quoted(text, at, QL_TOKEN_FOREIGN);
    default:
        return lex_mark(text, at);
    }
}

/* --- keywords --- */

/* The words that cannot be names unless they are quoted: those of SQL-92 and of the language's own
 * clauses. Sorted. */
/* clang-format off */
static const char *const words[] = {
    "absolute", "action", "add", "all", "allocate", "alter", "and", "any", "are", "as", "asc",
    "assertion", "at", "authorization", "avg", "bag", "begin", "between", "bit", "bit_length",
    "blob", "bool", "boolean", "by", "cascade", "cascaded", "case", "cast", "catalog", "char",
    "char_length", "character", "character_length", "check", "clob", "close", "coalesce",
    "collate", "collation", "column", "commit", "conflict", "connect", "connection", "constraint",
    "constraints", "continue", "convert", "corresponding", "count", "create", "cross", "current",
    "current_date", "current_time", "current_timestamp", "current_user", "cursor", "date",
    "date_add", "date_diff", "deallocate", "dec", "decimal", "declare", "default", "deferrable",
    "deferred", "delete", "desc", "describe", "descriptor", "diagnostics", "disconnect",
    "distinct", "do", "domain", "double", "drop", "else", "end", "escape", "except", "exception",
    "exec", "execute", "exists", "external", "extract", "false", "fetch", "first", "float", "for",
    "foreign", "found", "from", "full", "get", "global", "go", "goto", "grant", "group", "having",
    "identity", "immediate", "in", "index", "indicator", "initially", "inner", "input",
    "insensitive", "insert", "int", "integer", "intersect", "interval", "into", "is", "isolation",
    "join", "key", "language", "last", "left", "let", "level", "like", "limit", "list", "local",
    "lower", "match", "max", "min", "missing", "modified", "module", "names", "national",
    "natural", "nchar", "new", "next", "no", "not", "nothing", "null", "nullif", "numeric",
    "octet_length", "of", "old", "on", "only", "open", "option", "or", "order", "outer", "output",
    "overlaps", "pad", "partial", "pivot", "position", "precision", "prepare", "preserve",
    "primary", "prior", "privileges", "procedure", "public", "read", "real", "references",
    "relative", "remove", "restrict", "returning", "revoke", "right", "rollback", "rows",
    "schema", "scroll", "section", "select", "session", "session_user", "set", "sexp", "size",
    "smallint", "some", "space", "sql", "sqlcode", "sqlerror", "sqlstate", "string", "struct",
    "substring", "sum", "symbol", "system_user", "table", "temporary", "then", "time",
    "timestamp", "to", "transaction", "translate", "translation", "trim", "true", "tuple",
    "union", "unique", "unknown", "unpivot", "update", "upper", "usage", "user", "using", "value",
    "values", "varchar", "varying", "view", "when", "whenever", "where", "with", "work", "write",
    "zone",
};
/* clang-format on */

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

/* Order of a word in either case and one in lower case. */
static int compare_word(struct bytes word, const char *other) {
    for (size_t i = 0; i < word.size; i++) {
        int order = lower(word.data[i]) - (uint8_t)other[i];
        if (order != 0)
            return order;
    }
    return other[word.size] == 0 ? 0 : -1;
}

bool ql_word_is(struct bytes word, const char *text) {
    return compare_word(word, text) == 0;
}

bool ql_word_reserved(struct bytes word) {
    size_t low = 0, high = sizeof(words) / sizeof(words[0]);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_word(word, words[middle]);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

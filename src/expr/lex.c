#include "expr/lex.h"

enum { BLANK = 1, LETTER = 2, DIGIT = 4, NAME_PART = 8 };

#define LETTERS(from, to) [from... to] = LETTER | NAME_PART

static const uint8_t classes[256] = {
    [' '] = BLANK,     ['\t'] = BLANK,    ['\n'] = BLANK,
    ['\r'] = BLANK,    ['_'] = NAME_PART, ['0' ... '9'] = DIGIT | NAME_PART,
    LETTERS('a', 'z'), LETTERS('A', 'Z'),
};

static enum token_type word_or_name(struct bytes word, const char *upper, enum token_type type) {
    for (size_t i = 0; i < word.size; i++)
        if ((word.data[i] & 0xdf) != (uint8_t)upper[i])
            return TOKEN_NAME;
    return type;
}

/* Words are told apart by their length and first letter. */
static enum token_type word_type(struct bytes word) {
    uint8_t first = word.data[0] & 0xdf;
    switch (word.size) {
    case 2:
        return first == 'I' ? word_or_name(word, "IN", TOKEN_IN)
                            : word_or_name(word, "OR", TOKEN_OR);
    case 3:
        if (first == 'A' && (word.data[1] & 0xdf) == 'N')
            return word_or_name(word, "AND", TOKEN_AND);
        return first == 'A'   ? word_or_name(word, "ADD", TOKEN_ADD)
               : first == 'N' ? word_or_name(word, "NOT", TOKEN_NOT)
                              : word_or_name(word, "SET", TOKEN_SET);
    case 6:
        return first == 'D' ? word_or_name(word, "DELETE", TOKEN_DELETE)
                            : word_or_name(word, "REMOVE", TOKEN_REMOVE);
    case 7:
        return word_or_name(word, "BETWEEN", TOKEN_BETWEEN);
    default:
        return TOKEN_NAME;
    }
}

/* The end of the run of name characters from `at` on. */
static size_t name_end(struct bytes text, size_t at) {
    while (at < text.size && (classes[text.data[at]] & NAME_PART))
        at++;
    return at;
}

static size_t digits_end(struct bytes text, size_t at) {
    if (text.data[at] == '0')
        return at + 1;
    while (at < text.size && (classes[text.data[at]] & DIGIT))
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
    while (at < text.size && (classes[text.data[at]] & BLANK))
        at++;
    if (at == text.size)
        return (struct token){TOKEN_END, at, at};
    uint8_t c = text.data[at];
    if (classes[c] & LETTER) {
        size_t end = name_end(text, at);
        return (struct token){word_type(bytes_of(text.data + at, end - at)), at, end};
    }
    if (classes[c] & DIGIT)
        return (struct token){TOKEN_INDEX, at, digits_end(text, at)};
    if ((c == '#' || c == ':') && name_end(text, at + 1) > at + 1)
        return (struct token){c == '#' ? TOKEN_NAME_ALIAS : TOKEN_VALUE_ALIAS, at,
                              name_end(text, at + 1)};
    return lex_symbol(text, at);
}

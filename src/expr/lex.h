/* Text to tokens, one at a time. One lexer serves all expression kinds: the words of one kind (SET,
 * BETWEEN, ...) are words in every other, so none of them can be an attribute's name anywhere. */
#ifndef GT_EXPR_LEX_H
#define GT_EXPR_LEX_H

#include "base/bytes.h"

enum token_type {
    TOKEN_END,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_DOT,
    TOKEN_OPEN_INDEX,
    TOKEN_CLOSE_INDEX,
    TOKEN_EQ,
    TOKEN_NE,
    TOKEN_LT,
    TOKEN_LE,
    TOKEN_GT,
    TOKEN_GE,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_IN,
    TOKEN_BETWEEN,
    TOKEN_NOT,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_SET,
    TOKEN_ADD,
    TOKEN_DELETE,
    TOKEN_REMOVE,
    TOKEN_INDEX,       /* 0, or digits that do not begin with 0 */
    TOKEN_NAME,        /* a letter, then letters, digits and _ */
    TOKEN_NAME_ALIAS,  /* #name */
    TOKEN_VALUE_ALIAS, /* :value */
    TOKEN_UNKNOWN,     /* one character that begins nothing */
};

struct token {
    enum token_type type;
    size_t start, end; /* in the text; of TOKEN_END both are its size */
};

/* The first token at or after `at`. */
struct token lex_next(struct bytes text, size_t at);

static inline struct bytes lex_text(struct bytes text, struct token token) {
    return bytes_of(text.data + token.start, token.end - token.start);
}

#endif

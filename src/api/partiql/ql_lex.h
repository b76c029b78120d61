/* A statement's text to tokens, one at a time. */
#ifndef GT_API_PARTIQL_QL_LEX_H
#define GT_API_PARTIQL_QL_LEX_H

#include "base/bytes.h"

enum ql_token_type {
    QL_TOKEN_END,
    QL_TOKEN_WORD,    /* a name or a keyword; words are alike in either case */
    QL_TOKEN_QUOTED,  /* "a name", with "" for a quote in it */
    QL_TOKEN_STRING,  /* 'text', with '' for a quote in it */
    QL_TOKEN_NUMBER,  /* without a sign */
    QL_TOKEN_FOREIGN, /* `...`: a literal of another language */
    QL_TOKEN_PARAMETER,
    QL_TOKEN_COMMA,
    QL_TOKEN_DOT,
    QL_TOKEN_COLON,
    QL_TOKEN_SEMICOLON,
    QL_TOKEN_OPEN,
    QL_TOKEN_CLOSE,
    QL_TOKEN_OPEN_LIST,
    QL_TOKEN_CLOSE_LIST,
    QL_TOKEN_OPEN_MAP,
    QL_TOKEN_CLOSE_MAP,
    QL_TOKEN_OPEN_BAG,
    QL_TOKEN_CLOSE_BAG,
    QL_TOKEN_STAR,
    QL_TOKEN_SLASH,
    QL_TOKEN_PERCENT,
    QL_TOKEN_PLUS,
    QL_TOKEN_MINUS,
    QL_TOKEN_CONCAT,
    QL_TOKEN_EQ,
    QL_TOKEN_NE,
    QL_TOKEN_LT,
    QL_TOKEN_LE,
    QL_TOKEN_GT,
    QL_TOKEN_GE,
    QL_TOKEN_UNKNOWN, /* what begins nothing, or never ends */
};

struct ql_token {
    enum ql_token_type type;
    size_t start, end; /* in the text, quotes included; of the end both are its size */
    bool keyword;      /* of a word: it cannot be a name unless it is quoted */
};

/* The first token at or after `at`; blanks and comments are passed over. */
struct ql_token ql_lex(struct bytes text, size_t at);

/* Whether the words are the same, whatever their case. `lower` is in lower case. */
bool ql_word_is(struct bytes word, const char *lower);
/* Whether names must be quoted to be this word. */
bool ql_word_reserved(struct bytes word);

#endif

/* What the parsers of this folder share; private to it.
 *
 * Two kinds of fault: text that is no statement at all, which ends the parsing and is told with the
 * text; and a statement that asks for what is not done here. The first of the second kind is kept
 * and told at the end, since the first kind wins. */
#ifndef GT_API_PARTIQL_QL_PARSE_H
#define GT_API_PARTIQL_QL_PARSE_H

#include "api/partiql/ql_ast.h"
#include "api/partiql/ql_lex.h"

struct ql_parser {
    const struct ql_source *source;
    struct arena *arena;
    struct ql_token current, next;
    size_t end;        /* of the token before */
    size_t parameters; /* seen so far */
    unsigned depth;
    bool settled;           /* the fault that is kept wins even if the rest is not well formed */
    bool broken;            /* not well formed */
    struct failure refused; /* the first that is kept */
};

void ql_advance(struct ql_parser *parser);
struct bytes ql_text(const struct ql_parser *parser, struct ql_token token);
bool ql_accept(struct ql_parser *parser, enum ql_token_type type);
/* The same, or the text is not well formed. */
bool ql_expect(struct ql_parser *parser, enum ql_token_type type);
/* Keywords, given in lower case. */
bool ql_at_word(const struct ql_parser *parser, const char *word);
bool ql_accept_word(struct ql_parser *parser, const char *word);
bool ql_expect_word(struct ql_parser *parser, const char *word);
/* Not well formed. Returns NULL for the callers' convenience. */
void *ql_break(struct ql_parser *parser);
/* Keeps a fault of the second kind. */
void ql_refuse(struct ql_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Nested parts enter before they go down; false, broken, when that is too deep. */
bool ql_enter(struct ql_parser *parser);
void ql_leave(struct ql_parser *parser);

struct ql_node *ql_node_new(struct ql_parser *parser, enum ql_node_type type, size_t start);
void ql_node_add(struct ql_node *parent, struct ql_node *operand);

/* A name, quoted or not a keyword. */
bool ql_parse_name(struct ql_parser *parser, struct bytes *out);
/* A name, then .names and [indexes]. */
bool ql_parse_path(struct ql_parser *parser, struct expr_path *out);
/* An expression of any kind. NULL when broken. */
struct ql_node *ql_parse_expression(struct ql_parser *parser);
/* One that may stand where AND already means something: in BETWEEN. */
struct ql_node *ql_parse_term(struct ql_parser *parser);
/* [..], {..}, <<..>>, 'text', 1, true, ?: the literal at hand as a node. */
struct ql_node *ql_parse_literal(struct ql_parser *parser);
bool ql_at_literal(const struct ql_parser *parser);
/* The elements of a list, bag or parenthesis for IN, as operands. */
struct ql_node *ql_parse_list(struct ql_parser *parser);
/* A string's or quoted name's content. */
struct bytes ql_unquote(struct ql_parser *parser, struct ql_token token);

#endif

/* What the parsers of all kinds share: the token at hand, faults, paths and operands. */
#ifndef GT_EXPR_PARSE_H
#define GT_EXPR_PARSE_H

#include "expr/ast.h"
#include "expr/lex.h"

/* Sets the failure to "Invalid <parameter>: <text>", or to the text alone when there is no
 * parameter, and returns INVALID. */
enum status expr_fault(const struct expr_source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__
#define expr_fault(...) STATUS_RETURNED(expr_fault(__VA_ARGS__), INVALID)
#endif

/* The fault of an expression with more operators than are allowed. */
enum status expr_fault_operators(const struct expr_source *source);

/* A parser stops at its first fault: what fails returns NULL or false, and `status` says why. */
struct parser {
    const struct expr_source *source;
    struct token previous, current, next;
    bool started;   /* there is a previous token */
    unsigned depth; /* of parentheses and functions open at the moment */
    enum status status;
};

/* Checks the text's size and reads its first token. */
enum status parse_begin(struct parser *parser, const struct expr_source *source);
/* Expects the end of the text. */
bool parse_end(struct parser *parser);

void parse_advance(struct parser *parser);
/* Advances if the current token is of the type. */
bool parse_accept(struct parser *parser, enum token_type type);
/* The same, or a syntax error. */
bool parse_expect(struct parser *parser, enum token_type type);
/* Fault: the current token cannot stand here. Returns NULL for the callers' convenience. */
void *parse_fail_syntax(struct parser *parser);

/* Parentheses and functions nest: enter before going down. False, with a fault, when that is
 * deeper than any valid expression; it bounds the stack. */
bool parse_enter(struct parser *parser);
void parse_leave(struct parser *parser);
/* Marks what stood in parentheses; a fault when it already stood in some. */
struct node *parse_group(struct parser *parser, struct node *inner);

bool parse_path(struct parser *parser, struct path *out);
/* A path, a value, a function call, or one of them in parentheses. */
struct node *parse_operand(struct parser *parser);
/* One or more operands with commas between, then ')', as children of `parent`. */
bool parse_operands(struct parser *parser, struct node *parent);

/* Children are appended at the end. */
struct node_list {
    struct node *parent;
    struct node **tail;
};
static inline struct node_list node_list_of(struct node *parent) {
    return (struct node_list){parent, &parent->first};
}
static inline void node_list_add(struct node_list *list, struct node *child) {
    *list->tail = child;
    list->tail = &child->next;
    list->parent->count++;
}

#endif

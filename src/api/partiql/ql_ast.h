/* What a statement is once it is read; private to this folder. */
#ifndef GT_API_PARTIQL_QL_AST_H
#define GT_API_PARTIQL_QL_AST_H

#include "api/partiql/partiql.h"
#include "expr/build.h"

enum ql_node_type {
    /* operands */
    QL_VALUE, /* a literal or a parameter */
    QL_PATH,
    QL_CALL, /* as a condition too */
    QL_PLUS,
    QL_MINUS,
    QL_LIST,    /* the right side of IN */
    QL_MISSING, /* the word */
    /* operators that are read and refused: text says which */
    QL_OTHER,
    /* conditions */
    QL_EQ,
    QL_NE,
    QL_LT,
    QL_LE,
    QL_GT,
    QL_GE,
    QL_BETWEEN,
    QL_IN,
    QL_IS, /* text: the type's name, in lower case */
    QL_NOT,
    QL_AND,
    QL_OR,
};

struct ql_node {
    enum ql_node_type type;
    bool parameter;       /* a value that stood in the request, not in the text */
    struct bytes text;    /* CALL: its name in lower case; OTHER: the operator; IS: the type */
    size_t start, end;    /* where it stands */
    struct ql_node *next; /* the next operand of the same operator */
    struct ql_node *first, *last;
    uint32_t count; /* of operands */
    union {
        struct value value;    /* VALUE */
        struct expr_path path; /* PATH */
    };
};

static inline bool ql_is_condition(const struct ql_node *node) {
    return node->type >= QL_EQ;
}

struct ql_order {
    struct bytes name;
    bool descending;
};

struct ql_change {
    enum build_verb verb; /* SET or REMOVE */
    struct expr_path path;
    struct ql_node *value; /* NULL for REMOVE */
};

struct ql_statement {
    enum ql_kind kind;
    struct bytes table;
    struct bytes index;      /* SELECT: empty: the table itself */
    struct ql_node *where;   /* NULL: none */
    struct expr_path *paths; /* SELECT; none: everything */
    uint32_t path_count;
    struct ql_order *order; /* SELECT */
    uint32_t order_count;
    struct item item;          /* INSERT */
    struct ql_change *changes; /* UPDATE */
    uint32_t change_count;
    enum ql_returning returning;
};

/* Faults that need no table: what may stand where in conditions and updates. In the order of the
 * text. `source` is the statement's. */
enum status ql_check(const struct ql_source *source, const struct ql_statement *statement);

/* INVALID with the text. */
enum status ql_fault(const struct ql_source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* " at line:column:length" of a part of the text, as faults end. */
struct bytes ql_place(const struct ql_source *source, size_t start, size_t end);

/* --- to expressions (ql_translate.c) --- */

struct ql_context {
    struct arena *arena;
    struct failure *failure;
};

/* A checked condition or operand as a piece of an expression. */
struct node *ql_translate(struct arena *arena, const struct ql_node *node);
/* That all of the conditions hold; there is at least one. */
struct node *ql_all(struct arena *arena, struct ql_node *const *nodes, uint32_t count);
enum status ql_update(const struct ql_context *context, const struct ql_statement *statement,
                      struct update **out);

/* Whether it is a call of set_add or set_delete, which are no terms. */
bool ql_is_set_function(const struct ql_node *node);
/* The name a selected path's value is shown under: "b" for a.b, "b[0]" for a.b[0]. */
struct bytes ql_path_name(const struct expr_path *path, struct arena *arena);

#endif

/* What an expression is once it is read; private to this folder.
 *
 * Reading happens in three passes, and the order of the service's faults follows from them:
 *   1. parse: tokens to nodes. Syntax, and parentheses in parentheses.
 *   2. shape (check_shape.c): which functions stand where, reserved words, list indexes; in the
 * order of the text.
 *   3. bind (bind.c): aliases become names and values; numbers and types of operands are checked.
 * After bind a tree refers to nothing but the text, the environment and its arena.
 */
#ifndef GT_EXPR_AST_H
#define GT_EXPR_AST_H

#include "expr/expr.h"

/* A name or a list index in a path. */
struct step {
    struct bytes name; /* until bound the text: a name, an #alias, or the digits of an index */
    uint32_t index;
    bool is_index;
};

enum { STEP_INDEX_MAX = INT32_MAX };

struct path {
    struct step *steps;
    uint32_t count;
};

enum function {
    FUNCTION_UNKNOWN,
    FUNCTION_ATTRIBUTE_EXISTS,
    FUNCTION_ATTRIBUTE_NOT_EXISTS,
    FUNCTION_ATTRIBUTE_TYPE,
    FUNCTION_BEGINS_WITH,
    FUNCTION_CONTAINS,
    FUNCTION_SIZE,
    FUNCTION_IF_NOT_EXISTS,
    FUNCTION_LIST_APPEND,
};

enum node_type {
    /* operands */
    NODE_PATH,
    NODE_VALUE,
    NODE_FUNCTION, /* as a condition too */
    /* sums, in updates */
    NODE_PLUS,
    NODE_MINUS,
    /* conditions */
    NODE_EQ,
    NODE_NE,
    NODE_LT,
    NODE_LE,
    NODE_GT,
    NODE_GE,
    NODE_BETWEEN,
    NODE_IN,
    NODE_NOT,
    NODE_AND,
    NODE_OR,
};

struct node {
    enum node_type type;
    enum function function; /* of NODE_FUNCTION */
    uint32_t count;         /* of children; of NODE_NOT how often it is said */
    bool grouped;           /* stood in parentheses */
    struct node *next;      /* the next child of the same parent */
    struct bytes text;      /* of NODE_FUNCTION its name, of NODE_VALUE its alias */
    union {
        struct path path;          /* NODE_PATH */
        const struct value *value; /* NODE_VALUE, once bound */
        struct node *first;        /* all others: the first child */
    };
};

static inline bool node_is_leaf(const struct node *node) {
    return node->type == NODE_PATH || node->type == NODE_VALUE;
}

static inline bool node_is_condition(const struct node *node) {
    return node->type == NODE_FUNCTION || node->type >= NODE_EQ;
}

struct condition {
    struct node *root;
};

struct node *node_new(struct arena *arena, enum node_type type);
/* "=", "BETWEEN", "begins_with", ...: how faults call the node's operator or function. */
struct bytes node_name(const struct node *node);
/* Calls visit with the first name of each path in the tree, in order. */
bool node_visit(const struct node *node, expr_visit *visit, void *context);

#endif

/* Conditions and updates made from pieces instead of text, for those who read another language.
 *
 * Pieces live in the arena and borrow names and values; a piece goes into one place only. What text
 * would be found fault with (types and numbers of operands, paths that clash, too many operators)
 * is found when the whole is made, in the same words without "Invalid ...Expression: " in front.
 * What stands where is the caller's to get right: operators that hold or do not hold for an item
 * are conditions, all else is an operand.
 */
#ifndef GT_EXPR_BUILD_H
#define GT_EXPR_BUILD_H

#include "expr/expr.h"

/* A path by names and indexes; the first is a name. */
struct expr_step {
    struct bytes name;
    uint32_t index; /* of a list, at most INT32_MAX */
    bool is_index;
};

struct expr_path {
    const struct expr_step *steps;
    uint32_t count; /* 1 or more */
};

/* The value at the path, or NULL. */
const struct value *expr_path_find(const struct expr_path *path, const struct item *item);
/* INVALID when one of the paths is another's beginning. */
enum status expr_paths_check(const struct expr_path *paths, uint32_t count, struct scope in);

struct node;

enum build_op {
    BUILD_PLUS, /* of updates; a term itself */
    BUILD_MINUS,
    BUILD_EQ,
    BUILD_NE,
    BUILD_LT,
    BUILD_LE,
    BUILD_GT,
    BUILD_GE,
    BUILD_BETWEEN, /* three operands */
    BUILD_IN,      /* two or more */
    BUILD_NOT,     /* one condition */
    BUILD_AND,     /* conditions */
    BUILD_OR,
};

struct node *build_path(struct arena *arena, const struct expr_path *path);
/* `value` is borrowed. */
struct node *build_value(struct arena *arena, const struct value *value);
struct node *build_operator(struct arena *arena, enum build_op op, struct node *const *operands,
                            uint32_t count);
/* A function by its name in lower case; NULL if there is none of that name. */
struct node *build_call(struct arena *arena, struct bytes name, struct node *const *operands,
                        uint32_t count);

enum status build_condition(struct node *root, struct scope in, struct condition **out);

enum build_verb { BUILD_SET, BUILD_REMOVE, BUILD_ADD, BUILD_DELETE };

struct build_change {
    enum build_verb verb;
    struct expr_path path;
    struct node *value; /* SET: a term; ADD, DELETE: a value; REMOVE: NULL */
};

enum status build_update(const struct build_change *changes, uint32_t count, struct scope in,
                         struct update **out);

#endif

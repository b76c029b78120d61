/* The forms from before expressions, made into the same conditions and updates: tests of one
 * attribute with an operator and a list of values, joined by AND or OR; and actions on one
 * attribute each. Checks of argument counts and types with the service's texts are here too. */
#ifndef GT_EXPR_LEGACY_H
#define GT_EXPR_LEGACY_H

#include "expr/expr.h"

enum legacy_op {
    LEGACY_EQ,
    LEGACY_NE,
    LEGACY_LE,
    LEGACY_LT,
    LEGACY_GE,
    LEGACY_GT,
    LEGACY_NOT_NULL,
    LEGACY_NULL,
    LEGACY_CONTAINS,
    LEGACY_NOT_CONTAINS,
    LEGACY_BEGINS_WITH,
    LEGACY_IN,
    LEGACY_BETWEEN,
};

/* The operator of that name; false if there is none. */
bool legacy_op_named(struct bytes name, enum legacy_op *out);

struct legacy_test {
    struct bytes name;
    enum legacy_op op;
    const struct value *values;
    uint32_t count;
};

struct legacy_tests {
    const struct legacy_test *tests;
    size_t count;
    bool any; /* one that holds is enough; else all must */
};

/* INVALID when an operator has the wrong number or types of values. */
enum status legacy_condition(const struct legacy_tests *tests, struct scope in,
                             struct condition **out);
/* Tests as a key condition. */
enum status legacy_key_condition(const struct legacy_test *tests, size_t count, struct scope in,
                                 struct key_condition *out);

enum legacy_action { LEGACY_PUT, LEGACY_ADD, LEGACY_DELETE };

struct legacy_change {
    struct bytes name;
    enum legacy_action action;
    const struct value *value; /* NULL: none was given */
};

enum status legacy_update(const struct legacy_change *changes, size_t count, struct scope in,
                          struct update **out);

#endif

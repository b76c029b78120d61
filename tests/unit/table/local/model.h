/* The dumbest form of a key test, for the models of keys and of pages. */
#ifndef GT_TEST_MODEL_H
#define GT_TEST_MODEL_H

#include "expr/expr.h"

static inline bool model_holds(enum key_op op, const struct value *value, const struct value *low,
                               const struct value *high) {
    int order = value_compare(value, low);
    switch (op) {
    case KEY_EQ:
        return order == 0;
    case KEY_LT:
        return order < 0;
    case KEY_LE:
        return order <= 0;
    case KEY_GT:
        return order > 0;
    case KEY_GE:
        return order >= 0;
    case KEY_BETWEEN:
        return order >= 0 && value_compare(value, high) <= 0;
    case KEY_BEGINS:
        return bytes_starts(value->bytes, low->bytes);
    }
    return false;
}

#endif

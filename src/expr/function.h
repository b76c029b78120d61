/* The functions of conditions and updates: their names, and where each may stand. */
#ifndef GT_EXPR_FUNCTION_H
#define GT_EXPR_FUNCTION_H

#include "expr/ast.h"

/* FUNCTION_UNKNOWN if there is none; names are in lower case only. */
enum function function_named(struct bytes name);

/* Where a function may be called. */
enum function_place {
    PLACE_CONDITION = 1, /* a condition by itself */
    PLACE_OPERAND = 2,   /* an operand in a condition */
    PLACE_SET = 4,       /* the right-hand side of SET */
    PLACE_TERM = 8,      /* an operand of + or -, or an argument, in an update */
};

/* Pass 2: faults when the function may not stand there. */
enum status function_check_place(const struct expr_source *source, const struct node *call,
                                 enum function_place place);
/* Pass 3: faults when the number or the types of its bound operands are wrong. */
enum status function_check_operands(const struct expr_source *source, const struct node *call);

/* Pass 3: the type of a bound operand as far as the text tells; VALUE_NONE for a path. */
enum value_type operand_type(const struct node *operand);
/* Faults when an operand's type is known and not in `allowed`, a mask of 1 << type. */
enum status operands_check_types(const struct expr_source *source, const struct node *operator,
                                 unsigned allowed);
/* Faults when the first operand is a path and another one is the same. */
enum status operands_check_distinct(const struct expr_source *source, const struct node *operator);

#define TYPE_MASK(type) (1u << (type))
enum {
    TYPES_ORDERED = TYPE_MASK(VALUE_S) | TYPE_MASK(VALUE_N) | TYPE_MASK(VALUE_B),
};

#endif

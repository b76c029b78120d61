/* Conditions as trees; private to this folder. */
#ifndef GT_EXPR_CONDITION_H
#define GT_EXPR_CONDITION_H

#include "expr/ast.h"

/* The bound and checked tree of a condition's text. */
enum status condition_parse_tree(const struct expr_source *source, struct node **out);

#endif

/* Looking aliases up. */
#ifndef GT_EXPR_ENV_H
#define GT_EXPR_ENV_H

#include "expr/expr.h"

/* What the alias stands for, marked as used; NULL if it is not defined. */
const struct bytes *env_name(struct expr_env *env, struct bytes alias);
const struct value *env_value(struct expr_env *env, struct bytes alias);

#endif

/* The parameters that expressions come with: reading them, and the rules about which go
 * together. All take the args of the structure they stand in, so that they serve a request and
 * the parts of a batch alike. */
#ifndef GT_API_DYNAMODB_EXPRESSIONS_H
#define GT_API_DYNAMODB_EXPRESSIONS_H

#include "api/dynamodb/ddb_call.h"

/* Lists of parameters end in ARG_COUNT. */
struct expression_rule {
    const enum arg *expressions; /* in the order a fault names them */
    const enum arg *legacy;      /* those that cannot be mixed with them */
};

/* "Can not use both expression and non-expression parameters ...", "ExpressionAttributeNames can
 * only be specified when using expressions", and the same of values. The first check of an
 * operation. */
enum status expressions_check(struct call *call, const struct args *args,
                              const struct expression_rule *rule);

/* INVALID for an attribute name that no item can have: empty, or too long. */
enum status expressions_check_name(struct call *call, struct bytes name);
/* ExpressionAttributeNames and ExpressionAttributeValues, checked. */
enum status expressions_env(struct call *call, const struct args *args, struct expr_env *out);

/* The source of a parameter's expression, for the parsers; its text is empty if absent, so ask
 * args_has() first. */
struct expr_source expressions_source(struct call *call, const struct args *args, enum arg arg,
                                      struct expr_env *env);
/* ConditionExpression, FilterExpression, ProjectionExpression and UpdateExpression, parsed; *out is
 * NULL when the parameter is absent. */
enum status expressions_condition(struct call *call, const struct args *args, struct expr_env *env,
                                  struct condition **out);
enum status expressions_filter(struct call *call, const struct args *args, struct expr_env *env,
                               struct condition **out);
enum status expressions_projection(struct call *call, const struct args *args, struct expr_env *env,
                                   struct projection **out);
enum status expressions_update(struct call *call, const struct args *args, struct expr_env *env,
                               struct update **out);

/* Older forms. AttributesToGet: *out NULL when absent; a name twice is INVALID. */
enum status legacy_attributes_to_get(struct call *call, const struct args *args,
                                     struct projection **out);
/* Expected with ConditionalOperator, or QueryFilter, ScanFilter (by `arg`); *out NULL when absent.
 */
enum status legacy_expected(struct call *call, const struct args *args, struct condition **out);
enum status legacy_filter(struct call *call, const struct args *args, enum arg arg,
                          struct condition **out);
enum status legacy_key_conditions(struct call *call, const struct args *args,
                                  struct key_condition *out);
enum status legacy_attribute_updates(struct call *call, const struct args *args,
                                     struct update **out);

#endif

#include "api/dynamodb/expressions.h"

#include "api/dynamodb/shapes.h"
#include "base/limits.h"

/* --- which go together --- */

static bool any_given(const struct args *args, const enum arg *list) {
    for (; *list != ARG_COUNT; list++)
        if (args_has(args, *list))
            return true;
    return false;
}

/* KeyConditions may stand beside other expressions, just not beside its own successor. */
static bool counts_as_older(const struct args *args, enum arg arg) {
    return args_has(args, arg) &&
           (arg != ARG_KEY_CONDITIONS || args_has(args, ARG_KEY_CONDITION_EXPRESSION));
}

static bool any_older(const struct args *args, const enum arg *list) {
    for (; *list != ARG_COUNT; list++)
        if (counts_as_older(args, *list))
            return true;
    return false;
}

static enum status mixed(struct call *call, const struct args *args,
                         const struct expression_rule *rule) {
    struct buf legacy = {0}, newer = {0};
    for (const enum arg *arg = rule->legacy; *arg != ARG_COUNT; arg++)
        if (counts_as_older(args, *arg))
            buf_printf(&legacy, "%s%s", legacy.size == 0 ? "" : ", ", arg_name(*arg).data);
    for (const enum arg *arg = rule->expressions; *arg != ARG_COUNT; arg++)
        if (args_has(args, *arg))
            buf_printf(&newer, "%s%s", newer.size == 0 ? "" : ", ", arg_name(*arg).data);
    enum status status = call_invalid(
        call,
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {%.*s} Expression parameters: {%.*s}",
        (int)legacy.size, (const char *)legacy.data, (int)newer.size, (const char *)newer.data);
    buf_release(&legacy);
    buf_release(&newer);
    return status;
}

/* Whether one of the expressions that can use values is given; or there are no such. */
static bool values_usable(const struct args *args, const enum arg *list) {
    unsigned count = 0;
    for (; *list != ARG_COUNT; list++) {
        if (*list == ARG_PROJECTION_EXPRESSION)
            continue;
        if (args_has(args, *list))
            return true;
        count++;
    }
    return count == 0;
}

static enum status values_unusable(struct call *call, const enum arg *list) {
    struct buf names = {0};
    unsigned count = 0;
    for (; *list != ARG_COUNT; list++)
        if (*list != ARG_PROJECTION_EXPRESSION)
            buf_printf(&names, "%s%s", count++ == 0 ? "" : " and ", arg_name(*list).data);
    enum status status =
        call_invalid(call,
                     "ExpressionAttributeValues can only be specified when using "
                     "expressions: %.*s %s null",
                     (int)names.size, (const char *)names.data, count > 1 ? "are" : "is");
    buf_release(&names);
    return status;
}

enum status expressions_check(struct call *call, const struct args *args,
                              const struct expression_rule *rule) {
    bool given = any_given(args, rule->expressions);
    if (given && any_older(args, rule->legacy))
        return mixed(call, args, rule);
    if (!given && args_has(args, ARG_EXPRESSION_ATTRIBUTE_NAMES))
        return call_invalid(call, "ExpressionAttributeNames can only be specified when using "
                                  "expressions");
    if (args_has(args, ARG_EXPRESSION_ATTRIBUTE_VALUES) && !values_usable(args, rule->expressions))
        return values_unusable(call, rule->expressions);
    return OK;
}

/* --- names and values --- */

/* More than this cannot all be used by expressions of 4 KB, and would take long to look up: they
 * are told as unused without a look at the expressions. */
static enum status check_given(struct call *call, enum arg arg, const struct json *map) {
    if (map->count == 0)
        return call_invalid(call, "%s must not be empty", (const char *)arg_name(arg).data);
    return OK;
}

enum status expressions_check_name(struct call *call, struct bytes name) {
    if (name.size == 0)
        return call_invalid(call, "Empty attribute name");
    if (name.size > LIMIT_ATTRIBUTE_NAME_SIZE)
        return call_invalid(call, "Attribute name is too large, must be less than %d bytes",
                            LIMIT_ATTRIBUTE_NAME_SIZE + 1);
    return OK;
}

static enum status read_names(struct call *call, const struct json *map, struct expr_env *out) {
    enum status status = check_given(call, ARG_EXPRESSION_ATTRIBUTE_NAMES, map);
    if (status != OK)
        return status;
    out->names = ARENA_ARRAY(call->arena, struct expr_name, map->count);
    out->name_count = map->count;
    for (uint32_t i = 0; i < map->count; i++) {
        out->names[i].alias = map->members[i].name;
        out->names[i].name = map->members[i].value.text;
        if (out->names[i].name.size == 0)
            return call_invalid(call,
                                "ExpressionAttributeNames contains invalid value: Empty attribute "
                                "name for key %.*s",
                                BYTES_ARG(map->members[i].name));
        status = expressions_check_name(call, out->names[i].name);
        if (status != OK)
            return status;
    }
    return expr_check_names(out, (struct scope){call->arena, &call->failure});
}

static enum status read_values(struct call *call, const struct json *map, struct expr_env *out) {
    enum status status = check_given(call, ARG_EXPRESSION_ATTRIBUTE_VALUES, map);
    if (status != OK)
        return status;
    out->values = ARENA_ARRAY(call->arena, struct expr_value, map->count);
    out->value_count = map->count;
    for (uint32_t i = 0; i < map->count; i++)
        out->values[i].alias = map->members[i].name;
    status = expr_check_values(out, (struct scope){call->arena, &call->failure});
    for (uint32_t i = 0; i < map->count && status == OK; i++) {
        const struct json_member *member = &map->members[i];
        status = attribute_read(&member->value, (struct scope){call->arena, &call->failure},
                                &out->values[i].value);
        /* What is too deep is told of the item it would be in. */
        if (status == INVALID && !bytes_starts(call->failure.text, BYTES("Nesting Levels ")))
            return call_invalid(
                call, "ExpressionAttributeValues contains invalid value: %.*s for key %.*s",
                BYTES_ARG(call->failure.text), BYTES_ARG(member->name));
    }
    return status;
}

enum status expressions_env(struct call *call, const struct args *args, struct expr_env *out) {
    *out = (struct expr_env){0};
    enum status status = OK;
    if (args_has(args, ARG_EXPRESSION_ATTRIBUTE_NAMES))
        status = read_names(call, args->at[ARG_EXPRESSION_ATTRIBUTE_NAMES], out);
    if (status == OK && args_has(args, ARG_EXPRESSION_ATTRIBUTE_VALUES))
        status = read_values(call, args->at[ARG_EXPRESSION_ATTRIBUTE_VALUES], out);
    if (status == OK &&
        (out->name_count > LIMIT_EXPRESSION_ALIASES || out->value_count > LIMIT_EXPRESSION_ALIASES))
        status = expr_check_unused(out, (struct scope){call->arena, &call->failure});
    return status;
}

/* --- expressions --- */

struct expr_source expressions_source(struct call *call, const struct args *args, enum arg arg,
                                      struct expr_env *env) {
    return (struct expr_source){
        .parameter = (const char *)arg_name(arg).data,
        .text = args_text(args, arg),
        .env = env,
        .arena = call->arena,
        .failure = &call->failure,
    };
}

enum status expressions_condition(struct call *call, const struct args *args, struct expr_env *env,
                                  struct condition **out) {
    *out = NULL;
    if (!args_has(args, ARG_CONDITION_EXPRESSION))
        return OK;
    struct expr_source source = expressions_source(call, args, ARG_CONDITION_EXPRESSION, env);
    return condition_parse(&source, out);
}

enum status expressions_filter(struct call *call, const struct args *args, struct expr_env *env,
                               struct condition **out) {
    *out = NULL;
    if (!args_has(args, ARG_FILTER_EXPRESSION))
        return OK;
    struct expr_source source = expressions_source(call, args, ARG_FILTER_EXPRESSION, env);
    return condition_parse(&source, out);
}

enum status expressions_projection(struct call *call, const struct args *args, struct expr_env *env,
                                   struct projection **out) {
    *out = NULL;
    if (!args_has(args, ARG_PROJECTION_EXPRESSION))
        return OK;
    struct expr_source source = expressions_source(call, args, ARG_PROJECTION_EXPRESSION, env);
    return projection_parse(&source, out);
}

enum status expressions_update(struct call *call, const struct args *args, struct expr_env *env,
                               struct update **out) {
    *out = NULL;
    if (!args_has(args, ARG_UPDATE_EXPRESSION))
        return OK;
    struct expr_source source = expressions_source(call, args, ARG_UPDATE_EXPRESSION, env);
    return update_parse(&source, out);
}

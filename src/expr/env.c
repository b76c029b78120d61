#include "expr/env.h"

#include "base/buf.h"
#include "base/limits.h"

const struct bytes *env_name(struct expr_env *env, struct bytes alias) {
    for (size_t i = 0; i < env->name_count; i++) {
        if (bytes_equal(env->names[i].alias, alias)) {
            env->names[i].used = true;
            return &env->names[i].name;
        }
    }
    return NULL;
}

const struct value *env_value(struct expr_env *env, struct bytes alias) {
    for (size_t i = 0; i < env->value_count; i++) {
        if (bytes_equal(env->values[i].alias, alias)) {
            env->values[i].used = true;
            return &env->values[i].value;
        }
    }
    return NULL;
}

static bool is_alias(struct bytes alias, char mark) {
    if (alias.size < 2 || alias.data[0] != (uint8_t)mark)
        return false;
    for (size_t i = 1; i < alias.size; i++) {
        uint8_t c = alias.data[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            c != '_')
            return false;
    }
    return true;
}

static enum status check_alias(struct bytes alias, const char *parameter, struct scope in) {
    if (alias.size > LIMIT_EXPRESSION_TOKEN_SIZE)
        return failure_set(in.failure, in.arena, INVALID,
                           "%s contains invalid key: The expression attribute map contains a key "
                           "that is too long; size of key: %zu",
                           parameter, alias.size);
    if (!is_alias(alias, parameter[sizeof("ExpressionAttribute") - 1] == 'N' ? '#' : ':'))
        return failure_set(in.failure, in.arena, INVALID,
                           "%s contains invalid key: Syntax error; key: \"%.*s\"", parameter,
                           BYTES_ARG(alias));
    return OK;
}

enum status expr_check_names(const struct expr_env *env, struct scope in) {
    for (size_t i = 0; i < env->name_count; i++) {
        enum status status = check_alias(env->names[i].alias, "ExpressionAttributeNames", in);
        if (status != OK)
            return status;
    }
    return OK;
}

enum status expr_check_values(const struct expr_env *env, struct scope in) {
    for (size_t i = 0; i < env->value_count; i++) {
        enum status status = check_alias(env->values[i].alias, "ExpressionAttributeValues", in);
        if (status != OK)
            return status;
    }
    return OK;
}

/* Appends ", #b" after "#a". Of a list, however long, each part is copied once. */
static void join(struct buf *list, struct bytes alias) {
    if (list->size != 0)
        buf_lit(list, ", ");
    buf_put(list, alias);
}

static enum status fail_unused(struct scope in, const char *parameter, struct buf *list) {
    failure_set(in.failure, in.arena, INVALID,
                "Value provided in %s unused in expressions: keys: {%.*s}", parameter,
                (int)list->size, (const char *)list->data);
    buf_release(list);
    return INVALID;
}

enum status expr_check_unused(const struct expr_env *env, struct scope in) {
    struct buf list = {0};
    for (size_t i = 0; i < env->name_count; i++)
        if (!env->names[i].used)
            join(&list, env->names[i].alias);
    if (list.size != 0)
        return fail_unused(in, "ExpressionAttributeNames", &list);
    for (size_t i = 0; i < env->value_count; i++)
        if (!env->values[i].used)
            join(&list, env->values[i].alias);
    if (list.size != 0)
        return fail_unused(in, "ExpressionAttributeValues", &list);
    return OK;
}

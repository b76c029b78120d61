/* The parameters from before expressions. See expressions.h. */
#include "api/dynamodb/expressions.h"

#include "api/dynamodb/shapes.h"

#define PARAMETERS "One or more parameter values were invalid: "

enum status legacy_attributes_to_get(struct call *call, const struct args *args,
                                     struct projection **out) {
    *out = NULL;
    const struct json *list = args->at[ARG_ATTRIBUTES_TO_GET];
    if (list == NULL)
        return OK;
    struct bytes *names = ARENA_ARRAY(call->arena, struct bytes, list->count);
    for (uint32_t i = 0; i < list->count; i++) { /* at most 255 */
        names[i] = list->elements[i].text;
        enum status status = expressions_check_name(call, names[i]);
        if (status != OK)
            return status;
        for (uint32_t j = 0; j < i; j++)
            if (bytes_equal(names[i], names[j]))
                return call_invalid(call, PARAMETERS "Duplicate value in attribute name: %.*s",
                                    BYTES_ARG(names[i]));
    }
    *out = projection_of_names(names, list->count, call->arena);
    return OK;
}

static enum status read_list(struct call *call, const struct json *list, struct legacy_test *test) {
    struct value *values = ARENA_ARRAY(call->arena, struct value, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        enum status status = attribute_read(
            &list->elements[i], (struct scope){call->arena, &call->failure}, &values[i]);
        if (status != OK)
            return status;
    }
    test->values = values;
    test->count = list->count;
    return OK;
}

static enum status read_single(struct call *call, const struct json *from,
                               struct legacy_test *test) {
    struct value *value = ARENA_NEW(call->arena, struct value);
    test->values = value;
    test->count = 1;
    return attribute_read(from, (struct scope){call->arena, &call->failure}, value);
}

/* --- Expected --- */

/* With an operator: values come in either form. */
static enum status read_compared(struct call *call, const struct args *parts,
                                 struct legacy_test *test) {
    struct bytes op = args_text(parts, ARG_COMPARISON_OPERATOR);
    legacy_op_named(op, &test->op);
    if (args_has(parts, ARG_EXISTS))
        return call_invalid(call,
                            PARAMETERS "Exists and ComparisonOperator cannot be used together for "
                                       "Attribute: %.*s",
                            BYTES_ARG(test->name));
    if (args_has(parts, ARG_ATTRIBUTE_VALUE_LIST))
        return read_list(call, parts->at[ARG_ATTRIBUTE_VALUE_LIST], test);
    if (args_has(parts, ARG_VALUE))
        return read_single(call, parts->at[ARG_VALUE], test);
    if (test->op == LEGACY_NULL || test->op == LEGACY_NOT_NULL)
        return OK;
    return call_invalid(call,
                        PARAMETERS "Value or AttributeValueList must be used with "
                                   "ComparisonOperator: %.*s for Attribute: %.*s",
                        BYTES_ARG(op), BYTES_ARG(test->name));
}

/* Without one: equal to a value, or absent. */
static enum status read_existing(struct call *call, const struct args *parts,
                                 struct legacy_test *test) {
    bool exists = args_bool(parts, ARG_EXISTS, true);
    bool valued = args_has(parts, ARG_VALUE);
    test->op = exists ? LEGACY_EQ : LEGACY_NULL;
    if (exists && !valued)
        return call_invalid(call,
                            PARAMETERS "Value must be provided when Exists is %s for Attribute: "
                                       "%.*s",
                            args_has(parts, ARG_EXISTS) ? "true" : "null", BYTES_ARG(test->name));
    if (!exists && valued)
        return call_invalid(call,
                            PARAMETERS "Value cannot be used when Exists is false for Attribute: "
                                       "%.*s",
                            BYTES_ARG(test->name));
    return exists ? read_single(call, parts->at[ARG_VALUE], test) : OK;
}

static enum status read_expected(struct call *call, const struct json *from,
                                 struct legacy_test *test) {
    struct args parts;
    spec_bind(&shape_expected, from, &parts);
    bool listed = args_has(&parts, ARG_ATTRIBUTE_VALUE_LIST);
    if (listed && args_has(&parts, ARG_VALUE))
        return call_invalid(call,
                            PARAMETERS "Value and AttributeValueList cannot be used together for "
                                       "Attribute: %.*s",
                            BYTES_ARG(test->name));
    if (args_has(&parts, ARG_COMPARISON_OPERATOR))
        return read_compared(call, &parts, test);
    if (listed)
        return call_invalid(call,
                            PARAMETERS "AttributeValueList can only be used with a "
                                       "ComparisonOperator for Attribute: %.*s",
                            BYTES_ARG(test->name));
    return read_existing(call, &parts, test);
}

/* --- QueryFilter, ScanFilter, KeyConditions --- */

static enum status read_condition(struct call *call, const struct json *from,
                                  struct legacy_test *test) {
    struct args parts;
    spec_bind(&shape_condition, from, &parts);
    legacy_op_named(args_text(&parts, ARG_COMPARISON_OPERATOR), &test->op);
    const struct json *list = parts.at[ARG_ATTRIBUTE_VALUE_LIST];
    return list == NULL ? OK : read_list(call, list, test);
}

typedef enum status read_test(struct call *call, const struct json *from, struct legacy_test *test);

static enum status read_tests(struct call *call, const struct json *map, read_test *read,
                              struct legacy_test **out) {
    struct legacy_test *tests = ARENA_ARRAY(call->arena, struct legacy_test, map->count);
    for (uint32_t i = 0; i < map->count; i++) {
        tests[i].name = map->members[i].name;
        enum status status = expressions_check_name(call, tests[i].name);
        if (status == OK)
            status = read(call, &map->members[i].value, &tests[i]);
        if (status != OK)
            return status;
    }
    *out = tests;
    return OK;
}

/* A map of tests joined by ConditionalOperator: Expected has a form of its own. */
static enum status read_joined(struct call *call, const struct args *args, enum arg arg,
                               struct condition **out) {
    *out = NULL;
    const struct json *map = args->at[arg];
    bool joined = args_has(args, ARG_CONDITIONAL_OPERATOR);
    if (joined && (map == NULL || map->count == 0))
        return call_invalid(call, "ConditionalOperator cannot be used without Filter or Expected");
    if (joined && map->count == 1)
        return call_invalid(call, "ConditionalOperator can only be used when Filter or "
                                  "Expected has two or more elements");
    if (map == NULL || map->count == 0)
        return OK;
    struct legacy_test *tests;
    read_test *read = arg == ARG_EXPECTED ? read_expected : read_condition;
    enum status status = read_tests(call, map, read, &tests);
    if (status != OK)
        return status;
    struct legacy_tests joined_tests = {
        .tests = tests,
        .count = map->count,
        .any = bytes_equal(args_text(args, ARG_CONDITIONAL_OPERATOR), BYTES("OR")),
    };
    return legacy_condition(&joined_tests, (struct scope){call->arena, &call->failure}, out);
}

enum status legacy_expected(struct call *call, const struct args *args, struct condition **out) {
    return read_joined(call, args, ARG_EXPECTED, out);
}

enum status legacy_filter(struct call *call, const struct args *args, enum arg arg,
                          struct condition **out) {
    return read_joined(call, args, arg, out);
}

enum status legacy_key_conditions(struct call *call, const struct args *args,
                                  struct key_condition *out) {
    const struct json *map = args->at[ARG_KEY_CONDITIONS];
    struct legacy_test *tests;
    enum status status = read_tests(call, map, read_condition, &tests);
    if (status != OK)
        return status;
    return legacy_key_condition(tests, map->count, (struct scope){call->arena, &call->failure},
                                out);
}

/* --- AttributeUpdates --- */

static enum status read_update(struct call *call, const struct json *from,
                               struct legacy_change *change) {
    struct args parts;
    spec_bind(&shape_attribute_update, from, &parts);
    struct bytes action = args_text(&parts, ARG_ACTION);
    change->action = LEGACY_PUT;
    if (bytes_equal(action, BYTES("ADD")))
        change->action = LEGACY_ADD;
    else if (bytes_equal(action, BYTES("DELETE")))
        change->action = LEGACY_DELETE;
    if (!args_has(&parts, ARG_VALUE))
        return OK;
    struct value *value = ARENA_NEW(call->arena, struct value);
    change->value = value;
    return attribute_read(parts.at[ARG_VALUE], (struct scope){call->arena, &call->failure}, value);
}

enum status legacy_attribute_updates(struct call *call, const struct args *args,
                                     struct update **out) {
    *out = NULL;
    const struct json *map = args->at[ARG_ATTRIBUTE_UPDATES];
    if (map == NULL || map->count == 0)
        return OK;
    struct legacy_change *changes = ARENA_ARRAY(call->arena, struct legacy_change, map->count);
    for (uint32_t i = 0; i < map->count; i++) {
        changes[i].name = map->members[i].name;
        enum status status = expressions_check_name(call, changes[i].name);
        if (status == OK)
            status = read_update(call, &map->members[i].value, &changes[i]);
        if (status != OK)
            return status;
    }
    return legacy_update(changes, map->count, (struct scope){call->arena, &call->failure}, out);
}

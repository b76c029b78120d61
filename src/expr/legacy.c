#include "expr/legacy.h"

#include "expr/function.h"
#include "expr/parse.h"
#include "expr/update.h"

#define BAD_VALUES "One or more parameter values were invalid: "

enum {
    TYPES_ALL = ~0u,
    TYPES_IN_CONTAINER = TYPES_ORDERED | TYPE_MASK(VALUE_BOOL) | TYPE_MASK(VALUE_NULL),
    COUNT_ANY = UINT32_MAX, /* one or more */
};

static const struct {
    struct bytes name;
    uint32_t count;
    unsigned types;
    bool indexable;
    enum key_op key_op;
} operators[] = {
    [LEGACY_EQ] = {BYTES("EQ"), 1, TYPES_ALL, true, KEY_EQ},
    [LEGACY_NE] = {BYTES("NE"), 1, TYPES_ALL, false, 0},
    [LEGACY_LE] = {BYTES("LE"), 1, TYPES_ORDERED, true, KEY_LE},
    [LEGACY_LT] = {BYTES("LT"), 1, TYPES_ORDERED, true, KEY_LT},
    [LEGACY_GE] = {BYTES("GE"), 1, TYPES_ORDERED, true, KEY_GE},
    [LEGACY_GT] = {BYTES("GT"), 1, TYPES_ORDERED, true, KEY_GT},
    [LEGACY_NOT_NULL] = {BYTES("NOT_NULL"), 0, TYPES_ALL, false, 0},
    [LEGACY_NULL] = {BYTES("NULL"), 0, TYPES_ALL, false, 0},
    [LEGACY_CONTAINS] = {BYTES("CONTAINS"), 1, TYPES_IN_CONTAINER, false, 0},
    [LEGACY_NOT_CONTAINS] = {BYTES("NOT_CONTAINS"), 1, TYPES_IN_CONTAINER, false, 0},
    [LEGACY_BEGINS_WITH] = {BYTES("BEGINS_WITH"), 1, TYPE_MASK(VALUE_S) | TYPE_MASK(VALUE_B), true,
                            KEY_BEGINS},
    [LEGACY_IN] = {BYTES("IN"), COUNT_ANY, TYPES_ORDERED, false, 0},
    [LEGACY_BETWEEN] = {BYTES("BETWEEN"), 2, TYPES_ORDERED, true, KEY_BETWEEN},
};

bool legacy_op_named(struct bytes name, enum legacy_op *out) {
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (bytes_equal(operators[i].name, name)) {
            *out = (enum legacy_op)i;
            return true;
        }
    }
    return false;
}

/* --- tests --- */

static enum status check_test(const struct legacy_test *test, struct scope in) {
    struct bytes name = operators[test->op].name;
    uint32_t count = operators[test->op].count;
    if (count == COUNT_ANY ? test->count == 0 : test->count != count)
        return failure_set(in.failure, in.arena, INVALID,
                           BAD_VALUES "Invalid number of argument(s) for the %.*s "
                                      "ComparisonOperator",
                           BYTES_ARG(name));
    for (uint32_t i = 1; i < test->count; i++)
        if (test->values[i].type != test->values[0].type)
            return failure_set(in.failure, in.arena, INVALID,
                               BAD_VALUES "AttributeValues inside AttributeValueList must be of "
                                          "same type");
    for (uint32_t i = 0; i < test->count; i++)
        if ((operators[test->op].types & TYPE_MASK(test->values[i].type)) == 0)
            return failure_set(in.failure, in.arena, INVALID,
                               BAD_VALUES "ComparisonOperator %.*s is not valid for %s "
                                          "AttributeValue type",
                               BYTES_ARG(name), value_type_name(test->values[i].type));
    if (test->op == LEGACY_BETWEEN && value_compare(&test->values[0], &test->values[1]) > 0)
        return failure_set(in.failure, in.arena, INVALID,
                           "The BETWEEN condition was provided a range where the lower bound is "
                           "greater than the upper bound");
    return OK;
}

static struct path path_of_name(struct arena *arena, struct bytes name) {
    struct step *step = ARENA_NEW(arena, struct step);
    step->name = name;
    return (struct path){step, 1};
}

/* A node whose children are the attribute and the test's values. */
static struct node *test_operands(struct arena *arena, const struct legacy_test *test,
                                  enum node_type type) {
    struct node *node = node_new(arena, type);
    struct node_list list = node_list_of(node);
    struct node *attribute = node_new(arena, NODE_PATH);
    attribute->path = path_of_name(arena, test->name);
    node_list_add(&list, attribute);
    for (uint32_t i = 0; i < test->count; i++) {
        struct node *value = node_new(arena, NODE_VALUE);
        value->value = &test->values[i];
        node_list_add(&list, value);
    }
    return node;
}

static struct node *test_call(struct arena *arena, const struct legacy_test *test,
                              enum function function) {
    struct node *node = test_operands(arena, test, NODE_FUNCTION);
    node->function = function;
    return node;
}

/* An absent attribute does not "not contain". */
static struct node *test_not_contains(struct arena *arena, const struct legacy_test *test) {
    struct node *both = node_new(arena, NODE_AND), *negation = node_new(arena, NODE_NOT);
    struct node_list list = node_list_of(both);
    struct legacy_test there = {.name = test->name};
    node_list_add(&list, test_call(arena, &there, FUNCTION_ATTRIBUTE_EXISTS));
    negation->first = test_call(arena, test, FUNCTION_CONTAINS);
    negation->count = 1;
    node_list_add(&list, negation);
    return both;
}

static struct node *test_node(struct arena *arena, const struct legacy_test *test) {
    switch (test->op) {
    case LEGACY_EQ:
        return test_operands(arena, test, NODE_EQ);
    case LEGACY_NE:
        return test_operands(arena, test, NODE_NE);
    case LEGACY_LE:
        return test_operands(arena, test, NODE_LE);
    case LEGACY_LT:
        return test_operands(arena, test, NODE_LT);
    case LEGACY_GE:
        return test_operands(arena, test, NODE_GE);
    case LEGACY_GT:
        return test_operands(arena, test, NODE_GT);
    case LEGACY_IN:
        return test_operands(arena, test, NODE_IN);
    case LEGACY_BETWEEN:
        return test_operands(arena, test, NODE_BETWEEN);
    case LEGACY_NOT_NULL:
        return test_call(arena, test, FUNCTION_ATTRIBUTE_EXISTS);
    case LEGACY_NULL:
        return test_call(arena, test, FUNCTION_ATTRIBUTE_NOT_EXISTS);
    case LEGACY_BEGINS_WITH:
        return test_call(arena, test, FUNCTION_BEGINS_WITH);
    case LEGACY_CONTAINS:
        return test_call(arena, test, FUNCTION_CONTAINS);
    case LEGACY_NOT_CONTAINS:
        break;
    }
    return test_not_contains(arena, test);
}

enum status legacy_condition(const struct legacy_tests *tests, struct scope in,
                             struct condition **out) {
    struct condition *condition = ARENA_NEW(in.arena, struct condition);
    /* Nothing to test holds. */
    condition->root = node_new(in.arena, tests->any && tests->count > 0 ? NODE_OR : NODE_AND);
    struct node_list list = node_list_of(condition->root);
    for (size_t i = 0; i < tests->count; i++) {
        enum status status = check_test(&tests->tests[i], in);
        if (status != OK)
            return status;
        node_list_add(&list, test_node(in.arena, &tests->tests[i]));
    }
    *out = condition;
    return OK;
}

enum status legacy_key_condition(const struct legacy_test *tests, size_t count, struct scope in,
                                 struct key_condition *out) {
    for (size_t i = 0; i < count; i++) {
        enum status status = check_test(&tests[i], in);
        if (status != OK)
            return status;
    }
    if (count == 0 || count > KEY_TESTS_MAX)
        return failure_set(in.failure, in.arena, INVALID,
                           "Conditions can be of length 1 or 2 only");
    for (size_t i = 0; i < count; i++) {
        const struct legacy_test *test = &tests[i];
        if (!operators[test->op].indexable)
            return failure_set(in.failure, in.arena, INVALID,
                               "Attempted conditional constraint is not an indexable operation");
        out->tests[i] = (struct key_test){
            .name = test->name, .op = operators[test->op].key_op, .low = test->values[0]};
        if (test->op == LEGACY_BETWEEN)
            out->tests[i].high = test->values[1];
    }
    out->count = (unsigned)count;
    return OK;
}

/* --- changes --- */

static enum status check_change(const struct legacy_change *change, struct scope in) {
    if (change->value == NULL) {
        if (change->action == LEGACY_DELETE)
            return OK;
        return failure_set(in.failure, in.arena, INVALID,
                           BAD_VALUES "Only DELETE action is allowed when no attribute value is "
                                      "specified");
    }
    enum value_type type = change->value->type;
    if (change->action == LEGACY_DELETE && !value_is_set(type))
        return failure_set(in.failure, in.arena, INVALID,
                           BAD_VALUES "DELETE action with value is not supported for the type %s",
                           value_type_name(type));
    if (change->action == LEGACY_ADD && !value_is_set(type) && type != VALUE_N && type != VALUE_L)
        return failure_set(in.failure, in.arena, INVALID,
                           BAD_VALUES "ADD action is not supported for the type %s",
                           value_type_name(type));
    return OK;
}

static enum action_type action_of(const struct legacy_change *change) {
    switch (change->action) {
    case LEGACY_PUT:
        return ACTION_SET;
    case LEGACY_ADD:
        return ACTION_ADD;
    case LEGACY_DELETE:
        break;
    }
    return change->value == NULL ? ACTION_REMOVE : ACTION_DELETE;
}

enum status legacy_update(const struct legacy_change *changes, size_t count, struct scope in,
                          struct update **out) {
    struct update *update = ARENA_NEW(in.arena, struct update);
    update->legacy = true;
    for (size_t i = 0; i < count; i++) {
        enum status status = check_change(&changes[i], in);
        if (status != OK)
            return status;
        struct action *action = update_add(update, in.arena, action_of(&changes[i]));
        action->path = path_of_name(in.arena, changes[i].name);
        if (changes[i].value != NULL) {
            action->value = node_new(in.arena, NODE_VALUE);
            action->value->value = changes[i].value;
        }
    }
    update_fill_set(update, in.arena);
    path_set_sort(&update->set);
    *out = update;
    return OK;
}

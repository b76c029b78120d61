/* INSERT, UPDATE, DELETE and EXISTS: one action each, on the one item whose whole key is named. */
#include "api/partiql/ql_plan.h"

#define NO_KEY    "Where clause does not contain a mandatory equality on all key attributes"
#define NO_EXISTS "EXISTS() must contain a single item read with additional condition"

/* attribute_exists or attribute_not_exists of the table's first key: of the item itself. */
static struct node *presence(const struct ql_planner *planner, struct bytes function) {
    struct arena *arena = planner->context.arena;
    struct expr_step *step = ARENA_NEW(arena, struct expr_step);
    step->name = planner->schema->keys.parts[0].name;
    struct node *path = build_path(arena, &(struct expr_path){step, 1});
    return build_call(arena, function, &path, 1);
}

static enum status set_condition(const struct ql_planner *planner, struct node *root,
                                 struct ql_plan *out) {
    struct condition *condition = NULL;
    enum status status = build_condition(
        root, (struct scope){planner->context.arena, planner->context.failure}, &condition);
    out->action.condition = condition;
    return status;
}

/* --- INSERT --- */

static enum status plan_insert(const struct ql_planner *planner, struct ql_plan *out) {
    const struct item *item = &planner->statement->item;
    const struct key_schema *keys = &planner->schema->keys;
    struct pair *pairs = ARENA_ARRAY(planner->context.arena, struct pair, KEY_PARTS_MAX);
    unsigned count = key_schema_count(keys);
    for (unsigned i = 0; i < count; i++) {
        const struct value *value = item_get(item, keys->parts[i].name);
        if (value == NULL)
            return ql_refuse_plan(planner, "Key attribute should be present in the item: Key %.*s",
                                  BYTES_ARG(keys->parts[i].name));
        enum status status = ql_check_key_type(planner, &keys->parts[i], value);
        if (status != OK)
            return status;
        pairs[i] = (struct pair){keys->parts[i].name, *value};
    }
    out->key = (struct item){pairs, value_sort_pairs(pairs, count)};
    out->action.kind = ACTION_PUT;
    out->action.item = *item;
    return set_condition(planner, presence(planner, BYTES("attribute_not_exists")), out);
}

/* --- the key in a WHERE --- */

static void drop_test(struct ql_tests *tests, uint32_t at) {
    tests->count--;
    memmove(&tests->at[at], &tests->at[at + 1], sizeof(struct ql_node *) * (tests->count - at));
}

/* Takes the equality of one key attribute out of the tests, as often as it is said. */
static enum status take_key(const struct ql_planner *planner, struct ql_tests *tests,
                            const struct key_part *part, struct pair *out) {
    uint32_t at = 0;
    const struct value *value = ql_equality(tests, part->name, &at);
    if (value == NULL)
        return ql_refuse_plan(planner, NO_KEY);
    enum status status = ql_check_key_type(planner, part, value);
    if (status != OK)
        return status;
    *out = (struct pair){part->name, *value};
    drop_test(tests, at);
    while ((value = ql_equality(tests, part->name, &at)) != NULL) {
        if (!value_equal(value, &out->value))
            return ql_refuse_plan(planner,
                                  "Multiple conditions on same key %.*s. Only single item "
                                  "Update/Insert/Delete are supported",
                                  BYTES_ARG(part->name));
        drop_test(tests, at);
    }
    return OK;
}

static enum status take_keys(const struct ql_planner *planner, struct ql_tests *tests,
                             struct ql_plan *out) {
    const struct key_schema *keys = &planner->schema->keys;
    unsigned count = key_schema_count(keys);
    struct pair *pairs = ARENA_ARRAY(planner->context.arena, struct pair, count);
    for (unsigned i = 0; i < count; i++) {
        enum status status = take_key(planner, tests, &keys->parts[i], &pairs[i]);
        if (status != OK)
            return status;
    }
    out->key = (struct item){pairs, value_sort_pairs(pairs, count)};
    out->action.item = out->key;
    return OK;
}

/* --- conditions --- */

/* What is updated or checked must be there. What is deleted need not be: nothing happens then. */
static enum status plan_condition(const struct ql_planner *planner, const struct ql_tests *tests,
                                  struct ql_plan *out) {
    struct arena *arena = planner->context.arena;
    bool deletes = planner->statement->kind == QL_DELETE;
    out->conditional = tests->count > 0;
    if (deletes && tests->count == 0)
        return OK;
    struct node *operands[2];
    uint32_t count = 1;
    operands[0] =
        presence(planner, deletes ? BYTES("attribute_not_exists") : BYTES("attribute_exists"));
    if (tests->count > 0)
        operands[count++] = ql_all(arena, tests->at, tests->count);
    struct node *root =
        count == 1 ? operands[0]
                   : build_operator(arena, deletes ? BUILD_OR : BUILD_AND, operands, count);
    return set_condition(planner, root, out);
}

static enum status plan_update(const struct ql_planner *planner, struct ql_plan *out) {
    struct update *update = NULL;
    enum status status = ql_update(&planner->context, planner->statement, &update);
    out->action.update = update;
    return status;
}

enum status ql_plan_write(const struct ql_planner *planner, struct ql_plan *out) {
    static const enum action_kind kinds[] = {
        [QL_UPDATE] = ACTION_UPDATE, [QL_DELETE] = ACTION_DELETE, [QL_EXISTS] = ACTION_CHECK};
    enum ql_kind kind = planner->statement->kind;
    out->action.table = planner->schema->name;
    if (kind == QL_INSERT)
        return plan_insert(planner, out);
    out->action.kind = kinds[kind];
    struct ql_tests tests = ql_conjuncts(planner->context.arena, planner->statement->where);
    enum status status = take_keys(planner, &tests, out);
    if (kind == QL_EXISTS &&
        (planner->statement->index.size != 0 ||
         (status == OK ? tests.count == 0
                       : bytes_equal(planner->context.failure->text, BYTES(NO_KEY)))))
        return ql_refuse_plan(planner, NO_EXISTS);
    if (status == OK)
        status = plan_condition(planner, &tests, out);
    if (status == OK && kind == QL_UPDATE)
        status = plan_update(planner, out);
    return status;
}

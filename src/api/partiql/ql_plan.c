/* From statements to requests: what reading and writing have in common. */
#include "api/partiql/ql_plan.h"

enum ql_kind ql_kind(const struct ql_statement *statement) {
    return statement->kind;
}

struct bytes ql_table(const struct ql_statement *statement) {
    return statement->table;
}

struct bytes ql_index(const struct ql_statement *statement) {
    return statement->index;
}

enum ql_returning ql_returning(const struct ql_statement *statement) {
    return statement->returning;
}

enum status ql_refuse_plan(const struct ql_planner *planner, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct bytes text = arena_vprintf(planner->context.arena, format, args);
    va_end(args);
    *planner->context.failure = (struct failure){INVALID, text};
    return INVALID;
}

/* --- taking a WHERE apart --- */

static uint32_t count_conjuncts(const struct ql_node *node) {
    if (node->type != QL_AND)
        return 1;
    uint32_t count = 0;
    for (const struct ql_node *child = node->first; child != NULL; child = child->next)
        count += count_conjuncts(child);
    return count;
}

static void take_conjuncts(struct ql_node *node, struct ql_tests *out) {
    if (node->type != QL_AND) {
        out->at[out->count++] = node;
        return;
    }
    for (struct ql_node *child = node->first; child != NULL; child = child->next)
        take_conjuncts(child, out);
}

struct ql_tests ql_conjuncts(struct arena *arena, struct ql_node *where) {
    struct ql_tests tests = {0};
    if (where == NULL)
        return tests;
    tests.at = ARENA_ARRAY(arena, struct ql_node *, count_conjuncts(where));
    take_conjuncts(where, &tests);
    return tests;
}

/* --- tests of keys --- */

static bool is_name(const struct ql_node *node) {
    return node->type == QL_PATH && node->path.count == 1;
}

/* `mirrored`: the value stands on the left. */
static bool comparison_op(enum ql_node_type type, bool mirrored, enum key_op *out) {
    switch (type) {
    case QL_EQ:
        *out = KEY_EQ;
        return true;
    case QL_LT:
        *out = mirrored ? KEY_GT : KEY_LT;
        return true;
    case QL_LE:
        *out = mirrored ? KEY_GE : KEY_LE;
        return true;
    case QL_GT:
        *out = mirrored ? KEY_LT : KEY_GT;
        return true;
    case QL_GE:
        *out = mirrored ? KEY_LE : KEY_GE;
        return true;
    default:
        return false;
    }
}

bool ql_key_test(const struct ql_node *node, struct key_test *out) {
    const struct ql_node *first = node->first, *second = first != NULL ? first->next : NULL;
    *out = (struct key_test){0};
    if (second == NULL)
        return false;
    bool mirrored = first->type == QL_VALUE && is_name(second);
    const struct ql_node *name = mirrored ? second : first, *low = mirrored ? first : second;
    if (!is_name(name) || low->type != QL_VALUE)
        return false;
    out->name = name->path.steps[0].name;
    out->low = low->value;
    if (node->type == QL_BETWEEN) {
        if (mirrored || low->next->type != QL_VALUE)
            return false;
        out->op = KEY_BETWEEN;
        out->high = low->next->value;
        return true;
    }
    if (node->type == QL_CALL) {
        out->op = KEY_BEGINS;
        return !mirrored && bytes_equal(node->text, BYTES("begins_with"));
    }
    return comparison_op(node->type, mirrored, &out->op);
}

const struct value *ql_equality(const struct ql_tests *tests, struct bytes name, uint32_t *at) {
    struct key_test test;
    for (; *at < tests->count; ++*at) {
        const struct ql_node *node = tests->at[*at];
        if (ql_key_test(node, &test) && test.op == KEY_EQ && bytes_equal(test.name, name))
            return node->first->type == QL_VALUE ? &node->first->value : &node->first->next->value;
    }
    return NULL;
}

enum status ql_check_key_type(const struct ql_planner *planner, const struct key_part *part,
                              const struct value *value) {
    if (value->type == part->type)
        return OK;
    return ql_refuse_plan(planner,
                          "Key attribute's data type should match its data type in table's "
                          "schema: Key %.*s",
                          BYTES_ARG(part->name));
}

enum status ql_plan(const struct ql_statement *statement, const struct table_schema *schema,
                    struct scope in, struct ql_plan *out) {
    struct ql_planner planner = {statement, schema, &schema->keys, {in.arena, in.failure}};
    *out = (struct ql_plan){.statement = statement};
    if (statement->kind != QL_SELECT)
        return ql_plan_write(&planner, out);
    if (statement->index.size != 0) {
        const struct index_schema *index = table_schema_index(schema, statement->index);
        if (index == NULL)
            return ql_refuse_plan(&planner, "The table does not have the specified index: %.*s",
                                  BYTES_ARG(statement->index));
        planner.keys = &index->keys;
    }
    return ql_plan_select(&planner, out);
}

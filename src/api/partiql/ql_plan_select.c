/* SELECT: which pages to read.
 *
 * The WHERE is taken apart into branches, each a conjunction that names every partition attribute
 * by '='; IN and OR make several of one. Branches of the same partition are read together, so no
 * item is met twice. If some part of the WHERE names no partition, it is a scan. */
#include "api/partiql/ql_plan.h"

#include "base/limits.h"

struct branches {
    const struct ql_planner *planner;
    struct ql_tests at[LIMIT_STATEMENT_QUERIES];
    uint32_t count;
};

/* --- branches --- */

static bool expand(struct branches *branches, const struct ql_tests *tests, unsigned depth);

/* The tests with number `at` replaced by what stands between the ANDs of `by`. */
static struct ql_tests with_replaced(struct arena *arena, const struct ql_tests *tests, uint32_t at,
                                     struct ql_node *by) {
    struct ql_tests more = ql_conjuncts(arena, by);
    struct ql_tests all = {ARENA_ARRAY(arena, struct ql_node *, tests->count + more.count), 0};
    for (uint32_t i = 0; i < tests->count; i++)
        if (i != at)
            all.at[all.count++] = tests->at[i];
    for (uint32_t i = 0; i < more.count; i++)
        all.at[all.count++] = more.at[i];
    return all;
}

static struct ql_node *equality_of(struct arena *arena, const struct ql_node *in,
                                   const struct ql_node *value) {
    struct ql_node *node = ARENA_NEW(arena, struct ql_node);
    struct ql_node *operands = ARENA_ARRAY(arena, struct ql_node, 2);
    operands[0] = *in->first;
    operands[1] = *value;
    operands[0].next = &operands[1];
    operands[1].next = NULL;
    *node = (struct ql_node){.type = QL_EQ, .count = 2, .text = BYTES("=")};
    node->first = operands;
    node->last = &operands[1];
    return node;
}

static bool is_list_of_values(const struct ql_node *list) {
    for (const struct ql_node *node = list->first; node != NULL; node = node->next)
        if (node->type != QL_VALUE)
            return false;
    return true;
}

/* name IN [values] */
static bool is_choice(const struct ql_node *node, struct bytes name) {
    return node->type == QL_IN && node->first->type == QL_PATH && node->first->path.count == 1 &&
           bytes_equal(node->first->path.steps[0].name, name) &&
           is_list_of_values(node->first->next);
}

/* Whether the attribute can only have values that the condition names. */
static bool names_values_of(const struct ql_node *node, struct bytes name) {
    struct key_test test;
    if (node->type != QL_AND && node->type != QL_OR)
        return is_choice(node, name) ||
               (ql_key_test(node, &test) && test.op == KEY_EQ && bytes_equal(test.name, name));
    for (const struct ql_node *child = node->first; child != NULL; child = child->next)
        if (names_values_of(child, name) != (node->type == QL_OR))
            return node->type == QL_AND;
    return node->type == QL_OR;
}

/* A branch for each value of the IN or each side of the OR that stands at `at`. */
static bool split_branches(struct branches *branches, const struct ql_tests *tests, uint32_t at,
                           unsigned depth) {
    struct arena *arena = branches->planner->context.arena;
    const struct ql_node *node = tests->at[at];
    bool choice = node->type == QL_IN;
    struct ql_node *child = choice ? node->first->next->first : node->first;
    for (; child != NULL; child = child->next) {
        struct ql_tests one =
            with_replaced(arena, tests, at, choice ? equality_of(arena, node, child) : child);
        if (!expand(branches, &one, depth + 1))
            return false;
    }
    return true;
}

/* Adds the branches of a conjunction; false if it does not name a partition, or too many. */
static bool expand(struct branches *branches, const struct ql_tests *tests, unsigned depth) {
    const struct key_schema *keys = branches->planner->keys;
    for (unsigned i = 0; i < keys->partition_count; i++) {
        uint32_t at = 0;
        struct bytes name = keys->parts[i].name;
        if (ql_equality(tests, name, &at) != NULL)
            continue;
        for (at = 0; at < tests->count && !names_values_of(tests->at[at], name); at++)
            ;
        return at < tests->count && depth < LIMIT_STATEMENT_DEPTH &&
               split_branches(branches, tests, at, depth);
    }
    if (branches->count == LIMIT_STATEMENT_QUERIES)
        return false;
    branches->at[branches->count++] = *tests;
    return true;
}

/* --- one query --- */

struct query {
    const struct ql_planner *planner;
    struct key_condition *keys;
    struct ql_tests rest; /* what the key condition does not say */
};

static void take_test(struct query *query, uint32_t at) {
    query->rest.count--;
    memmove(&query->rest.at[at], &query->rest.at[at + 1],
            sizeof(struct ql_node *) * (query->rest.count - at));
}

/* The test of the attribute by '='; else by anything else. */
static bool find_sort_test(const struct query *query, struct bytes name, struct key_test *out,
                           uint32_t *at) {
    bool found = false;
    for (uint32_t i = 0; i < query->rest.count; i++) {
        struct key_test test;
        if (!ql_key_test(query->rest.at[i], &test) || !bytes_equal(test.name, name) ||
            (found && test.op != KEY_EQ))
            continue;
        *out = test;
        *at = i;
        found = true;
        if (test.op == KEY_EQ)
            return true;
    }
    return found;
}

static enum status take_sort(struct query *query) {
    const struct key_schema *keys = query->planner->keys;
    for (unsigned i = keys->partition_count; i < key_schema_count(keys); i++) {
        struct key_test test;
        uint32_t at = 0;
        if (!find_sort_test(query, keys->parts[i].name, &test, &at))
            return OK;
        enum status status = ql_check_key_type(query->planner, &keys->parts[i], &test.low);
        if (status == OK && test.op == KEY_BETWEEN)
            status = ql_check_key_type(query->planner, &keys->parts[i], &test.high);
        if (status != OK)
            return status;
        query->keys->tests[query->keys->count++] = test;
        take_test(query, at);
        if (test.op != KEY_EQ)
            return OK;
    }
    return OK;
}

static enum status take_partition(struct query *query) {
    const struct key_schema *keys = query->planner->keys;
    for (unsigned i = 0; i < keys->partition_count; i++) {
        uint32_t at = 0;
        const struct value *value = ql_equality(&query->rest, keys->parts[i].name, &at);
        enum status status = ql_check_key_type(query->planner, &keys->parts[i], value);
        if (status != OK)
            return status;
        query->keys->tests[query->keys->count++] =
            (struct key_test){.name = keys->parts[i].name, .op = KEY_EQ, .low = *value};
        take_test(query, at);
    }
    return OK;
}

static struct ql_tests copy_tests(struct arena *arena, const struct ql_tests *tests) {
    struct ql_tests copy = {ARENA_ARRAY(arena, struct ql_node *, tests->count), tests->count};
    memcpy(copy.at, tests->at, sizeof(struct ql_node *) * tests->count);
    return copy;
}

/* The branches of one partition, by their positions. */
struct branch_group {
    const struct branches *branches;
    uint32_t members[LIMIT_STATEMENT_QUERIES];
    uint32_t count;
};

/* Branches of one partition: one as it is; several as a filter on the whole partition. */
static enum status plan_query(const struct ql_planner *planner, const struct branch_group *group,
                              struct page_request *out) {
    const struct ql_tests *branches = group->branches->at;
    uint32_t count = group->count;
    struct arena *arena = planner->context.arena;
    struct key_condition *keys = ARENA_NEW(arena, struct key_condition);
    struct query query = {planner, keys, copy_tests(arena, &branches[group->members[0]])};
    enum status status = take_partition(&query);
    struct node *filter = NULL;
    if (status == OK && count == 1) {
        status = take_sort(&query);
        if (query.rest.count > 0)
            filter = ql_all(arena, query.rest.at, query.rest.count);
    } else if (status == OK) {
        struct node **parts = ARENA_ARRAY(arena, struct node *, count);
        for (uint32_t i = 0; i < count; i++) {
            const struct ql_tests *tests = &branches[group->members[i]];
            parts[i] = ql_all(arena, tests->at, tests->count);
        }
        filter = build_operator(arena, BUILD_OR, parts, count);
    }
    out->keys = keys;
    struct condition *condition = NULL;
    if (status == OK && filter != NULL)
        status =
            build_condition(filter, (struct scope){arena, planner->context.failure}, &condition);
    out->filter = condition;
    return status;
}

/* --- all queries --- */

static bool same_partition(const struct ql_planner *planner, const struct ql_tests *a,
                           const struct ql_tests *b) {
    for (unsigned i = 0; i < planner->keys->partition_count; i++) {
        uint32_t at_a = 0, at_b = 0;
        struct bytes name = planner->keys->parts[i].name;
        if (!value_equal(ql_equality(a, name, &at_a), ql_equality(b, name, &at_b)))
            return false;
    }
    return true;
}

static enum status plan_queries(const struct ql_planner *planner, const struct branches *branches,
                                struct ql_plan *out) {
    bool done[LIMIT_STATEMENT_QUERIES] = {false};
    struct branch_group group = {.branches = branches};
    out->pages = ARENA_ARRAY(planner->context.arena, struct page_request, branches->count);
    for (uint32_t i = 0; i < branches->count; i++) {
        group.count = 0;
        for (uint32_t j = i; j < branches->count; j++) {
            if (done[j] || !same_partition(planner, &branches->at[i], &branches->at[j]))
                continue;
            group.members[group.count++] = j;
            done[j] = true;
        }
        if (group.count == 0)
            continue;
        enum status status = plan_query(planner, &group, &out->pages[out->page_count]);
        if (status != OK)
            return status;
        out->page_count++;
    }
    return OK;
}

/* --- ORDER BY --- */

static int compare_pages(const struct page_request *a, const struct page_request *b) {
    return value_compare(&a->keys->tests[0].low, &b->keys->tests[0].low);
}

/* By insertion: there are few. */
static void sort_pages(struct ql_plan *plan, bool descending) {
    for (uint32_t i = 1; i < plan->page_count; i++) {
        struct page_request page = plan->pages[i];
        uint32_t at = i;
        for (; at > 0; at--) {
            int order = compare_pages(&plan->pages[at - 1], &page);
            if (descending ? order >= 0 : order <= 0)
                break;
            plan->pages[at] = plan->pages[at - 1];
        }
        plan->pages[at] = page;
    }
}

static bool is_part(const struct key_part *parts, unsigned count, struct bytes name) {
    for (unsigned i = 0; i < count; i++)
        if (bytes_equal(parts[i].name, name))
            return true;
    return false;
}

static enum status plan_order(const struct ql_planner *planner, struct ql_plan *out) {
    const struct ql_statement *statement = planner->statement;
    const struct key_schema *keys = planner->keys;
    bool sorted = false;
    for (uint32_t i = 0; i < statement->order_count; i++) {
        const struct ql_order *order = &statement->order[i];
        if (!key_schema_has(keys, order->name))
            return ql_refuse_plan(planner,
                                  "Variable reference %.*s in ORDER BY clause must be part of the "
                                  "primary key",
                                  BYTES_ARG(order->name));
        if (!out->query)
            return ql_refuse_plan(planner, "Must have at least one non-optional hash key condition "
                                           "in WHERE clause when using ORDER BY clause.");
        if (is_part(keys->parts, keys->partition_count, order->name)) {
            sort_pages(out, order->descending);
            continue;
        }
        for (uint32_t p = 0; !sorted && p < out->page_count; p++)
            out->pages[p].backward = order->descending;
        sorted = true;
    }
    return OK;
}

/* --- what is shown --- */

struct bytes ql_path_name(const struct expr_path *path, struct arena *arena) {
    uint32_t at = path->count - 1;
    while (path->steps[at].is_index)
        at--;
    struct bytes name = path->steps[at].name;
    for (at++; at < path->count; at++)
        name = arena_printf(arena, "%.*s[%u]", BYTES_ARG(name), path->steps[at].index);
    return name;
}

static struct projection *plan_projection(const struct ql_planner *planner) {
    const struct ql_statement *statement = planner->statement;
    struct arena *arena = planner->context.arena;
    if (statement->path_count == 0)
        return NULL;
    struct bytes *names = ARENA_ARRAY(arena, struct bytes, statement->path_count);
    size_t count = 0;
    for (uint32_t i = 0; i < statement->path_count; i++) {
        struct bytes name = statement->paths[i].steps[0].name;
        bool known = false;
        for (size_t j = 0; j < count; j++)
            known |= bytes_equal(names[j], name);
        if (!known)
            names[count++] = name;
    }
    return projection_of_names(names, count, arena);
}

struct item ql_show(const struct ql_statement *statement, const struct item *item,
                    struct arena *arena) {
    bool nested = false;
    for (uint32_t i = 0; i < statement->path_count; i++)
        nested |= statement->paths[i].count > 1;
    if (!nested)
        return *item;
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, statement->path_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < statement->path_count; i++) {
        const struct value *value = expr_path_find(&statement->paths[i], item);
        if (value != NULL)
            pairs[count++] = (struct pair){ql_path_name(&statement->paths[i], arena), *value};
    }
    return (struct item){pairs, value_sort_pairs(pairs, count)};
}

/* --- the whole --- */

/* Whether the one query is of one item by its key, which is then the get's. */
static void plan_get(const struct ql_planner *planner, struct ql_plan *out) {
    const struct key_condition *keys = out->pages[0].keys;
    unsigned count = key_schema_count(&planner->schema->keys);
    if (out->page_count != 1 || planner->statement->index.size != 0 || keys->count != count ||
        out->pages[0].filter != NULL)
        return;
    struct pair *pairs = ARENA_ARRAY(planner->context.arena, struct pair, count);
    for (unsigned i = 0; i < count; i++) {
        if (keys->tests[i].op != KEY_EQ)
            return;
        pairs[i] = (struct pair){keys->tests[i].name, keys->tests[i].low};
    }
    out->single = true;
    out->get = (struct get_request){
        .table = out->pages[0].table,
        .key = {pairs, value_sort_pairs(pairs, count)},
        .projection = out->pages[0].projection,
    };
}

enum status ql_plan_select(const struct ql_planner *planner, struct ql_plan *out) {
    struct arena *arena = planner->context.arena;
    const struct ql_statement *statement = planner->statement;
    struct condition *where = NULL;
    enum status status = OK;
    if (statement->where != NULL)
        status = build_condition(ql_translate(arena, statement->where),
                                 (struct scope){arena, planner->context.failure}, &where);
    if (status != OK)
        return status;
    struct branches *branches = ARENA_NEW(arena, struct branches);
    branches->planner = planner;
    struct ql_tests tests = ql_conjuncts(arena, statement->where);
    out->query = expand(branches, &tests, 0);
    if (out->query) {
        status = plan_queries(planner, branches, out);
    } else {
        out->pages = ARENA_NEW(arena, struct page_request);
        out->pages[0].filter = where;
        out->page_count = 1;
    }
    if (status == OK)
        status = plan_order(planner, out);
    if (status != OK)
        return status;
    struct projection *projection = plan_projection(planner);
    for (uint32_t i = 0; i < out->page_count; i++) {
        out->pages[i].table = planner->schema->name;
        out->pages[i].index = statement->index;
        out->pages[i].projection = projection;
        out->pages[i].filter_keys = true;
    }
    if (out->query)
        plan_get(planner, out);
    return OK;
}

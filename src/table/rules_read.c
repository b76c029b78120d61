/* The rules of queries and scans: key conditions, start keys, filters, what may be selected. */
#include "base/buf.h"
#include "table/rules.h"

#define INVALID_PREFIX "One or more parameter values were invalid: "

static const struct key_schema *keys_of(const struct rules_context *rules,
                                        const struct index_schema *index) {
    return index == NULL ? &rules->schema->keys : &index->keys;
}

/* --- key conditions --- */

static const struct key_test *test_named(const struct key_condition *condition, struct bytes name) {
    for (unsigned i = 0; i < condition->count; i++)
        if (bytes_equal(condition->tests[i].name, name))
            return &condition->tests[i];
    return NULL;
}

static enum status missed(const struct rules_context *rules, const struct key_part *part) {
    return failure_set(rules->failure, rules->arena, INVALID,
                       "Query condition missed key schema element: %.*s", BYTES_ARG(part->name));
}

static enum status check_empty(const struct rules_context *rules, const struct index_schema *index,
                               const struct key_part *part, const struct value *value) {
    if (value->type == VALUE_N || value->bytes.size != 0)
        return OK;
    const char *kind = value->type == VALUE_B ? "binary" : "string";
    if (index == NULL)
        return failure_set(rules->failure, rules->arena, INVALID,
                           RULES_EMPTY_KEY
                           "The AttributeValue for a "
                           "key attribute cannot contain an empty %s value. Key: %.*s",
                           kind, BYTES_ARG(part->name));
    return failure_set(rules->failure, rules->arena, INVALID,
                       RULES_EMPTY_KEY
                       "A value specified for a "
                       "secondary index key is not supported. The AttributeValue for a key "
                       "attribute cannot contain an empty %s value. IndexName: %.*s, IndexKey: "
                       "%.*s",
                       kind, BYTES_ARG(index->name), BYTES_ARG(part->name));
}

static enum status check_operand(const struct rules_context *rules,
                                 const struct index_schema *index, unsigned at,
                                 const struct value *value) {
    const struct key_schema *keys = keys_of(rules, index);
    const struct key_part *part = &keys->parts[at];
    bool sort = at >= keys->partition_count;
    if (value->type != part->type)
        return rules_refuse(rules,
                            INVALID_PREFIX "Condition parameter type does not match schema type");
    if (part->type != VALUE_N && !sort && value->bytes.size > LIMIT_PARTITION_KEY_SIZE)
        return rules_refuse(rules, INVALID_PREFIX
                            "Size of hashkey has exceeded the maximum size limit of2048 bytes");
    if (part->type != VALUE_N && sort && value->bytes.size > LIMIT_SORT_KEY_SIZE)
        return rules_refuse(rules,
                            INVALID_PREFIX "Aggregated size of all range keys has exceeded the "
                                           "size limit of 1024 bytes");
    return check_empty(rules, index, part, value);
}

static enum status check_operands(const struct rules_context *rules,
                                  const struct index_schema *index, unsigned at,
                                  const struct key_test *test) {
    enum status status = check_operand(rules, index, at, &test->low);
    if (status == OK && test->op == KEY_BETWEEN)
        status = check_operand(rules, index, at, &test->high);
    return status;
}

/* The sort attributes: by '=' from the left, then at most one range. */
static enum status take_sort(const struct rules_context *rules, const struct index_schema *index,
                             const struct key_condition *condition, struct key_range *out) {
    const struct key_schema *keys = keys_of(rules, index);
    unsigned taken = keys->partition_count;
    for (unsigned i = keys->partition_count; i < key_schema_count(keys); i++) {
        const struct key_test *test = test_named(condition, keys->parts[i].name);
        if (test == NULL)
            return taken < condition->count ? missed(rules, &keys->parts[i]) : OK;
        enum status status = check_operands(rules, index, i, test);
        if (status != OK)
            return status;
        taken++;
        if (test->op == KEY_EQ) {
            out->equal[out->equal_count++] = test->low;
            continue;
        }
        out->ranged = true;
        out->op = test->op;
        out->low = test->low;
        out->high = test->high;
        break;
    }
    if (taken < condition->count)
        return rules_refuse(rules, "Query key condition not supported");
    return OK;
}

enum status rules_check_range(const struct rules_context *rules, const struct index_schema *index,
                              const struct key_condition *condition, struct key_range *out) {
    const struct key_schema *keys = keys_of(rules, index);
    *out = (struct key_range){0};
    if (condition->count > 2 && key_schema_count(keys) <= 2)
        return rules_refuse(rules, "Conditions can be of length 1 or 2 only");
    if (condition->count > key_schema_count(keys))
        return rules_refuse(rules, "Query key condition not supported");
    for (unsigned i = 0; i < keys->partition_count; i++) {
        const struct key_test *test = test_named(condition, keys->parts[i].name);
        if (test == NULL)
            return missed(rules, &keys->parts[i]);
        enum status status = check_operands(rules, index, i, test);
        if (status != OK)
            return status;
        if (test->op != KEY_EQ)
            return rules_refuse(rules, "Query key condition not supported");
        out->partition[i] = test->low;
    }
    return take_sort(rules, index, condition, out);
}

/* --- filters and projections --- */

/* Attribute names gathered from an expression that an index does not show. */
struct unseen {
    const struct table_schema *schema;
    const struct index_schema *index;
    struct buf names; /* "a, b" */
};

static bool note_unseen(struct bytes name, void *context) {
    struct unseen *unseen = context;
    if (rules_shows(unseen->schema, unseen->index, name))
        return true;
    if (unseen->names.size != 0)
        buf_lit(&unseen->names, ", ");
    buf_put(&unseen->names, name);
    return true;
}

static enum status check_unseen(const struct rules_context *rules, struct unseen *unseen,
                                const char *before, const char *after) {
    enum status status = OK;
    if (unseen->names.size != 0)
        status = failure_set(
            rules->failure, rules->arena, INVALID, INVALID_PREFIX "%s %.*s %s [%.*s]", before,
            BYTES_ARG(unseen->index->name), after, BYTES_ARG(buf_bytes(&unseen->names)));
    buf_release(&unseen->names);
    return status;
}

static bool differs(struct bytes name, void *context) {
    return !bytes_equal(name, *(const struct bytes *)context);
}

enum status rules_check_filter_keys(const struct rules_context *rules,
                                    const struct index_schema *index,
                                    const struct condition *filter, bool legacy) {
    const struct key_schema *keys = keys_of(rules, index);
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        struct bytes name = keys->parts[i].name;
        if (!condition_visit(filter, differs, &name))
            return failure_set(rules->failure, rules->arena, INVALID,
                               "%s can only contain non-primary key attributes: Primary key "
                               "attribute: %.*s",
                               legacy ? "QueryFilter" : "Filter Expression", BYTES_ARG(name));
    }
    return OK;
}

enum status rules_check_filter_shown(const struct rules_context *rules,
                                     const struct index_schema *index,
                                     const struct condition *filter, bool fetch) {
    if (index == NULL || fetch)
        return OK;
    struct unseen unseen = {rules->schema, index, {0}};
    condition_visit(filter, note_unseen, &unseen);
    return check_unseen(rules, &unseen, "Secondary index",
                        "does not project one or more filter attributes:");
}

static bool shows_all(struct bytes name, void *context) {
    const struct unseen *unseen = context;
    return rules_shows(unseen->schema, unseen->index, name);
}

enum status rules_check_consistent(const struct rules_context *rules,
                                   const struct index_schema *index,
                                   const struct page_request *request, bool *fetch) {
    const struct projection *projection = request->projection;
    *fetch = false;
    if (index == NULL)
        return OK;
    if (!index->local && request->consistent)
        return rules_refuse(rules,
                            "Consistent reads are not supported on global secondary indexes");
    if (index->projected == PROJECTED_ALL || !index->local)
        return OK;
    struct unseen unseen = {rules->schema, index, {0}};
    *fetch = request->select == SELECT_ALL ||
             (projection != NULL && !projection_visit(projection, shows_all, &unseen));
    return OK;
}

enum status rules_check_select(const struct rules_context *rules, const struct index_schema *index,
                               const struct page_request *request) {
    if (index == NULL || index->projected == PROJECTED_ALL || index->local)
        return OK;
    if (request->select == SELECT_ALL)
        return failure_set(rules->failure, rules->arena, INVALID,
                           INVALID_PREFIX
                           "Select type ALL_ATTRIBUTES is not supported for global secondary "
                           "index %.*s because its projection type is not ALL",
                           BYTES_ARG(index->name));
    if (request->projection == NULL)
        return OK;
    struct unseen unseen = {rules->schema, index, {0}};
    projection_visit(request->projection, note_unseen, &unseen);
    return check_unseen(rules, &unseen, "Global secondary index", "does not project");
}

/* --- start keys --- */

static bool in_range(const struct key_range *range, const struct value *value) {
    int low = value_compare(value, &range->low);
    switch (range->op) {
    case KEY_EQ:
        return low == 0;
    case KEY_LT:
        return low < 0;
    case KEY_LE:
        return low <= 0;
    case KEY_GT:
        return low > 0;
    case KEY_GE:
        return low >= 0;
    case KEY_BETWEEN:
        return low >= 0 && value_compare(value, &range->high) <= 0;
    case KEY_BEGINS:
        return bytes_starts(value->bytes, range->low.bytes);
    }
    return false;
}

static bool sort_matches(const struct key_schema *keys, const struct key_range *range,
                         const struct item *start) {
    const struct key_part *parts = keys->parts + keys->partition_count;
    for (unsigned i = 0; i < range->equal_count; i++)
        if (!value_equal(item_get(start, parts[i].name), &range->equal[i]))
            return false;
    return !range->ranged || in_range(range, item_get(start, parts[range->equal_count].name));
}

static enum status check_bounds(const struct rules_context *rules, const struct key_schema *keys,
                                const struct key_range *range, const struct item *start) {
    bool sorted = range->ranged || range->equal_count != 0;
    if (sorted && !sort_matches(keys, range, start))
        return rules_refuse(rules,
                            "The provided starting key does not match the range key predicate");
    for (unsigned i = 0; i < keys->partition_count; i++)
        if (!value_equal(item_get(start, keys->parts[i].name), &range->partition[i]))
            return rules_refuse(rules,
                                sorted ? "The query can return at most one row and cannot be "
                                         "restarted"
                                       : "The provided starting key is outside query boundaries "
                                         "based on provided conditions");
    return OK;
}

/* The parts that decide the order: all there, rightly typed and not empty. */
static enum status check_start_keys(const struct rules_context *rules,
                                    const struct index_schema *index, const struct item *start) {
    const struct key_schema *keys = keys_of(rules, index);
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        const struct value *value = item_get(start, keys->parts[i].name);
        if (value == NULL)
            return rules_refuse(rules, "The provided starting key is invalid");
        if (value->type != keys->parts[i].type)
            return rules_refuse(rules, "The provided key element does not match the schema");
        enum status status = check_empty(rules, index, &keys->parts[i], value);
        if (status != OK)
            return status;
    }
    return OK;
}

static enum status check_start_item(const struct rules_context *rules, const struct item *start) {
    struct item key = rules_key_of(rules->schema, NULL, start, rules->arena);
    struct failure failure = {0};
    struct rules_context inner = {rules->schema, rules->arena, &failure};
    if (rules_check_key(&inner, &key) == OK)
        return OK;
    return failure_set(rules->failure, rules->arena, INVALID,
                       "The provided starting key is invalid: %.*s", BYTES_ARG(failure.text));
}

static unsigned start_size(const struct table_schema *schema, const struct index_schema *index) {
    unsigned count = key_schema_count(&schema->keys);
    for (unsigned i = 0; index != NULL && i < key_schema_count(&index->keys); i++)
        count += !key_schema_has(&schema->keys, index->keys.parts[i].name);
    return count;
}

enum status rules_check_start(const struct rules_context *rules, const struct index_schema *index,
                              const struct key_range *range, const struct item *start) {
    enum status status = OK;
    if (start->count != start_size(rules->schema, index))
        return rules_refuse(rules, range == NULL && index == NULL
                                       ? "The provided starting key is invalid: The provided key "
                                         "element does not match the schema"
                                       : "The provided starting key is invalid");
    if (range != NULL || index != NULL)
        status = check_start_keys(rules, index, start);
    if (status == OK)
        status = check_start_item(rules, start);
    if (status == OK && range != NULL)
        status = check_bounds(rules, keys_of(rules, index), range, start);
    return status;
}

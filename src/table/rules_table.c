/* The rules of a table's making: keys, definitions and indexes that agree with one another. */
#include "base/buf.h"
#include "table/rules.h"

#define INVALID_PREFIX "One or more parameter values were invalid: "

static void list_parts(struct buf *to, const struct key_part *parts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            buf_lit(to, ", ");
        buf_put(to, parts[i].name);
    }
}

static bool defined(const struct table_schema *schema, struct bytes name) {
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        if (bytes_equal(schema->attributes[i].name, name))
            return true;
    return false;
}

/* "<before> [a, b]<between> [c, d]". */
static enum status refuse_lists(const struct rules_context *rules, const char *format,
                                struct buf *first, struct buf *second) {
    struct buf text = {0};
    buf_lit(&text, INVALID_PREFIX);
    for (const char *at = format; *at != '\0'; at++) {
        if (*at == '1')
            buf_put(&text, buf_bytes(first));
        else if (*at == '2')
            buf_put(&text, buf_bytes(second));
        else
            buf_byte(&text, (uint8_t)*at);
    }
    failure_set(rules->failure, rules->arena, INVALID, "%.*s", BYTES_ARG(buf_bytes(&text)));
    buf_release(&text);
    buf_release(first);
    buf_release(second);
    return INVALID;
}

/* Each key attribute is defined and none is named twice. */
static enum status check_keys(const struct rules_context *rules, const struct key_schema *keys) {
    unsigned count = key_schema_count(keys);
    for (unsigned i = 0; i < count; i++) {
        if (defined(rules->schema, keys->parts[i].name))
            continue;
        struct buf used = {0}, definitions = {0};
        list_parts(&used, keys->parts, count);
        list_parts(&definitions, rules->schema->attributes, rules->schema->attribute_count);
        return refuse_lists(rules,
                            "Some index key attributes are not defined in AttributeDefinitions. "
                            "Keys: [1], AttributeDefinitions: [2]",
                            &used, &definitions);
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < i; j++)
            if (bytes_equal(keys->parts[i].name, keys->parts[j].name))
                return rules_refuse(rules, count == 2
                                               ? "Both the Hash Key and the Range Key element in "
                                                 "the KeySchema have the same name"
                                               : "The KeySchema contains multiple key attributes "
                                                 "with the same name");
    return OK;
}

static enum status check_table_keys(const struct rules_context *rules) {
    const struct table_schema *schema = rules->schema;
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (bytes_equal(schema->attributes[i].name, schema->attributes[j].name))
                return failure_set(rules->failure, rules->arena, INVALID,
                                   "Attribute Name is duplicated: %.*s",
                                   BYTES_ARG(schema->attributes[i].name));
    if (key_schema_count(&schema->keys) > schema->attribute_count)
        return rules_refuse(rules,
                            "Invalid KeySchema: Some index key attribute have no definition");
    enum status status = check_keys(rules, &schema->keys);
    if (status == OK && schema->index_count == 0 &&
        key_schema_count(&schema->keys) != schema->attribute_count)
        return rules_refuse(rules, INVALID_PREFIX
                            "Number of attributes in KeySchema does not exactly match number of "
                            "attributes defined in AttributeDefinitions");
    return status;
}

static enum status check_projection(const struct rules_context *rules,
                                    const struct index_schema *index) {
    static const char *const names[] = {
        [PROJECTED_ALL] = "ALL", [PROJECTED_KEYS] = "KEYS_ONLY", [PROJECTED_INCLUDED] = "INCLUDE"};
    bool takes = index->projected == PROJECTED_INCLUDED;
    if (takes != (index->included_count != 0))
        return failure_set(rules->failure, rules->arena, INVALID,
                           INVALID_PREFIX "ProjectionType is %s, but NonKeyAttributes is %s",
                           names[index->projected], takes ? "not specified" : "specified");
    for (uint32_t i = 0; i < index->included_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (bytes_equal(index->included[i], index->included[j]))
                return failure_set(rules->failure, rules->arena, INVALID,
                                   INVALID_PREFIX "Duplicate element in NonKeyAttributes: %.*s",
                                   BYTES_ARG(index->included[i]));
    return OK;
}

static enum status check_local(const struct rules_context *rules,
                               const struct index_schema *index) {
    struct bytes own = index->keys.parts[0].name, table = rules->schema->keys.parts[0].name;
    if (index->keys.sort_count == 0)
        return failure_set(rules->failure, rules->arena, INVALID,
                           INVALID_PREFIX "Index KeySchema does not have a range key for index: "
                                          "%.*s",
                           BYTES_ARG(index->name));
    if (!bytes_equal(own, table))
        return failure_set(rules->failure, rules->arena, INVALID,
                           INVALID_PREFIX
                           "Index KeySchema does not have the same leading hash key as table "
                           "KeySchema for index: %.*s. index hash key: %.*s, table hash key: %.*s",
                           BYTES_ARG(index->name), BYTES_ARG(own), BYTES_ARG(table));
    return OK;
}

enum status rules_check_index(const struct rules_context *rules, const struct index_schema *index) {
    enum status status = check_keys(rules, &index->keys);
    if (status == OK && index->local)
        status = check_local(rules, index);
    if (status == OK)
        status = check_projection(rules, index);
    return status;
}

/* The indexes of one kind; local ones come first, and share the names of those before them. */
static enum status check_indexes(const struct rules_context *rules, bool local, unsigned *count) {
    const struct table_schema *schema = rules->schema;
    for (uint32_t i = 0; i < schema->index_count; i++) {
        const struct index_schema *index = &schema->indexes[i];
        if (index->local != local)
            continue;
        if (local && schema->keys.sort_count == 0)
            return rules_refuse(rules, INVALID_PREFIX
                                "Table KeySchema does not have a range key, which is required when "
                                "specifying a LocalSecondaryIndex");
        enum status status = rules_check_index(rules, index);
        if (status != OK)
            return status;
        for (uint32_t j = 0; j < schema->index_count; j++) {
            const struct index_schema *other = &schema->indexes[j];
            bool before = other->local == local ? j < i : other->local;
            if (before && bytes_equal(other->name, index->name))
                return failure_set(rules->failure, rules->arena, INVALID,
                                   INVALID_PREFIX "Duplicate index name: %.*s",
                                   BYTES_ARG(index->name));
        }
        *count += 1;
    }
    return OK;
}

/* Counts the definition of `name` as used. */
static bool is_used(const struct table_schema *schema, struct bytes name) {
    if (key_schema_has(&schema->keys, name))
        return true;
    for (uint32_t i = 0; i < schema->index_count; i++)
        if (key_schema_has(&schema->indexes[i].keys, name))
            return true;
    return false;
}

static enum status check_unused(const struct rules_context *rules) {
    const struct table_schema *schema = rules->schema;
    struct key_part *used = ARENA_ARRAY(rules->arena, struct key_part, schema->attribute_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        if (is_used(schema, schema->attributes[i].name))
            used[count++] = schema->attributes[i];
    if (count == schema->attribute_count)
        return OK;
    struct buf definitions = {0}, keys = {0};
    list_parts(&definitions, schema->attributes, schema->attribute_count);
    list_parts(&keys, used, count);
    return refuse_lists(rules,
                        "Some AttributeDefinitions are not used. AttributeDefinitions: [1], keys "
                        "used: [2]",
                        &definitions, &keys);
}

static enum status check_counts(const struct rules_context *rules, unsigned locals,
                                unsigned globals) {
    if (locals > LIMIT_LOCAL_INDEXES)
        return rules_refuse(rules, INVALID_PREFIX
                            "Number of LocalSecondaryIndexes exceeds per-table limit of 5");
    if (globals > LIMIT_GLOBAL_INDEXES)
        return rules_refuse(rules, INVALID_PREFIX
                            "GlobalSecondaryIndex count exceeds the per-table limit of 20");
    uint32_t included = 0;
    for (uint32_t i = 0; i < rules->schema->index_count; i++)
        included += rules->schema->indexes[i].included_count;
    if (included > LIMIT_INCLUDED_ATTRIBUTES)
        return rules_refuse(
            rules, INVALID_PREFIX
            "Number of attributes projected into all of the secondary indexes exceeds "
            "the limit of 100");
    return OK;
}

enum status rules_check_table(const struct rules_context *rules) {
    unsigned locals = 0, globals = 0;
    enum status status = check_table_keys(rules);
    if (status == OK)
        status = check_indexes(rules, true, &locals);
    if (status == OK)
        status = check_indexes(rules, false, &globals);
    if (status == OK)
        status = check_counts(rules, locals, globals);
    if (status == OK)
        status = check_unused(rules);
    return status;
}

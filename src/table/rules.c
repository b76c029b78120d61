/* The rules of items and keys: what may be written. */
#include "table/rules.h"

#include "value/number.h"

#include <math.h>

#define INVALID_PREFIX "One or more parameter values were invalid: "
#define EMPTY_PREFIX   RULES_EMPTY_KEY

static bool is_empty(const struct value *value) {
    return value->type != VALUE_N && value->bytes.size == 0;
}

static const char *kind_of(const struct value *value) {
    return value->type == VALUE_B ? "binary" : "string";
}

/* Bytes that count toward the limit of a key; numbers are always small enough. */
static size_t key_size(const struct value *value) {
    return value->type == VALUE_N ? 0 : value->bytes.size;
}

static enum status check_key_sizes(const struct rules_context *rules, size_t partition,
                                   size_t sort) {
    if (partition > LIMIT_PARTITION_KEY_SIZE)
        return rules_refuse(rules, INVALID_PREFIX
                            "Size of hashkey has exceeded the maximum size limit of2048 bytes");
    if (sort > LIMIT_SORT_KEY_SIZE)
        return rules_refuse(rules, INVALID_PREFIX
                            "Aggregated size of all range keys has exceeded the size limit of 1024 "
                            "bytes");
    return OK;
}

/* --- the table's own keys --- */

static enum status check_part(const struct rules_context *rules, const struct key_part *part,
                              bool sort, const struct value *value) {
    if (is_empty(value))
        return failure_set(rules->failure, rules->arena, INVALID,
                           EMPTY_PREFIX "The AttributeValue for a key attribute cannot contain an "
                                        "empty %s value. Key: %.*s",
                           kind_of(value), BYTES_ARG(part->name));
    return check_key_sizes(rules, sort ? 0 : key_size(value), sort ? key_size(value) : 0);
}

enum status rules_check_key(const struct rules_context *rules, const struct item *key) {
    const struct key_schema *keys = &rules->schema->keys;
    unsigned count = key_schema_count(keys);
    if (key->count != count)
        return rules_refuse(rules, "The provided key element does not match the schema");
    for (unsigned i = 0; i < count; i++) {
        const struct value *value = item_get(key, keys->parts[i].name);
        if (value == NULL || value->type != keys->parts[i].type)
            return rules_refuse(rules, "The provided key element does not match the schema");
        enum status status = check_part(rules, &keys->parts[i], i != 0, value);
        if (status != OK)
            return status;
    }
    return OK;
}

static enum status check_item_keys(const struct rules_context *rules, const struct item *item) {
    const struct key_schema *keys = &rules->schema->keys;
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        const struct key_part *part = &keys->parts[i];
        const struct value *value = item_get(item, part->name);
        if (value == NULL)
            return failure_set(rules->failure, rules->arena, INVALID,
                               INVALID_PREFIX "Missing the key %.*s in the item",
                               BYTES_ARG(part->name));
        if (value->type != part->type)
            return failure_set(rules->failure, rules->arena, INVALID,
                               INVALID_PREFIX "Type mismatch for key %.*s expected: %s actual: %s",
                               BYTES_ARG(part->name), value_type_name(part->type),
                               value_type_name(value->type));
        enum status status = check_part(rules, part, i != 0, value);
        if (status != OK)
            return status;
    }
    return OK;
}

/* --- keys of indexes --- */

/* What is wrong with an attribute as a key of an index. */
enum key_fault { KEY_FINE, KEY_MISTYPED, KEY_EMPTY, KEY_TOO_LARGE };

struct index_fault {
    enum key_fault fault;
    const struct index_schema *index;
    const struct key_part *part;
    const struct value *value;
    bool sort; /* KEY_TOO_LARGE: which half */
};

static struct index_fault index_fault(const struct index_schema *index, const struct item *item) {
    size_t sizes[2] = {0, 0};
    for (unsigned i = 0; i < key_schema_count(&index->keys); i++) {
        const struct key_part *part = &index->keys.parts[i];
        const struct value *value = item_get(item, part->name);
        struct index_fault at = {KEY_FINE, index, part, value, i >= index->keys.partition_count};
        if (value == NULL)
            continue; /* the item is not in this index, but what it has must still fit */
        if (value->type != part->type)
            at.fault = KEY_MISTYPED;
        else if (is_empty(value))
            at.fault = KEY_EMPTY;
        else if ((sizes[at.sort] += key_size(value)) >
                 (size_t)(at.sort ? LIMIT_SORT_KEY_SIZE : LIMIT_PARTITION_KEY_SIZE))
            at.fault = KEY_TOO_LARGE;
        if (at.fault != KEY_FINE)
            return at;
    }
    return (struct index_fault){KEY_FINE, NULL, NULL, NULL, false};
}

/* The first fault: global indexes are looked at before local ones, as clients see it. */
static struct index_fault find_index_fault(const struct table_schema *schema,
                                           const struct item *item) {
    struct index_fault fault = {KEY_FINE, NULL, NULL, NULL, false};
    for (int local = 0; local < 2; local++)
        for (uint32_t i = 0; i < schema->index_count && fault.fault == KEY_FINE; i++)
            if (schema->indexes[i].local == (local != 0))
                fault = index_fault(&schema->indexes[i], item);
    return fault;
}

static enum status refuse_type(const struct rules_context *rules, const struct index_schema *index,
                               const struct key_part *part, const struct value *value) {
    return failure_set(rules->failure, rules->arena, INVALID,
                       INVALID_PREFIX
                       "Type mismatch for Index Key %.*s Expected: %s Actual: %s IndexName: %.*s",
                       BYTES_ARG(part->name), value_type_name(part->type),
                       value_type_name(value->type), BYTES_ARG(index->name));
}

enum status rules_check_item(const struct rules_context *rules, const struct item *item) {
    enum status status = check_item_keys(rules, item);
    if (status != OK)
        return status;
    struct index_fault at = find_index_fault(rules->schema, item);
    switch (at.fault) {
    case KEY_MISTYPED:
        return refuse_type(rules, at.index, at.part, at.value);
    case KEY_EMPTY:
        return failure_set(rules->failure, rules->arena, INVALID,
                           EMPTY_PREFIX "A value specified for a secondary index key is not "
                                        "supported. The AttributeValue for a key attribute cannot "
                                        "contain an empty %s value. IndexName: %.*s, IndexKey: "
                                        "%.*s",
                           kind_of(at.value), BYTES_ARG(at.index->name), BYTES_ARG(at.part->name));
    case KEY_TOO_LARGE:
        return check_key_sizes(rules, at.sort ? 0 : SIZE_MAX, at.sort ? SIZE_MAX : 0);
    case KEY_FINE:
        break;
    }
    if (item_size(item) > LIMIT_ITEM_SIZE)
        return rules_refuse(rules, "Item size has exceeded the maximum allowed size");
    return OK;
}

enum status rules_check_updated(const struct rules_context *rules, const struct item *item) {
    struct index_fault at = find_index_fault(rules->schema, item);
    switch (at.fault) {
    case KEY_MISTYPED:
        return rules_refuse(rules,
                            "The update expression attempted to update the secondary index key to "
                            "unsupported type");
    case KEY_EMPTY:
        return failure_set(rules->failure, rules->arena, INVALID,
                           EMPTY_PREFIX
                           "The update expression attempted to update a secondary index key to a "
                           "value that is not supported. The AttributeValue for a key attribute "
                           "cannot contain an empty %s value.",
                           kind_of(at.value));
    case KEY_TOO_LARGE:
        return rules_refuse(rules,
                            "The update expression attempted to update the secondary index key "
                            "beyond allowed size limits");
    case KEY_FINE:
        break;
    }
    if (item_size(item) > LIMIT_ITEM_SIZE)
        return rules_refuse(rules, "Item size to update has exceeded the maximum allowed size");
    return OK;
}

/* --- updates and paths --- */

static enum status refuse_nested(const struct rules_context *rules, const char *what,
                                 struct bytes name) {
    return failure_set(rules->failure, rules->arena, INVALID,
                       "Key attributes must be scalars; list random access '[]' and map lookup "
                       "'.' are not allowed: %s: %.*s",
                       what, BYTES_ARG(name));
}

static bool differs(struct bytes name, void *context) {
    return !bytes_equal(name, *(const struct bytes *)context);
}

static enum status check_update_of_index(const struct rules_context *rules,
                                         const struct index_schema *index,
                                         const struct update *update) {
    for (unsigned i = 0; i < key_schema_count(&index->keys); i++) {
        const struct key_part *part = &index->keys.parts[i];
        const struct value *value = update_literal(update, part->name);
        if (value != NULL && value->type != part->type)
            return refuse_type(rules, index, part, value);
        if (update_nests(update, part->name))
            return refuse_nested(rules, "IndexKey", part->name);
    }
    return OK;
}

enum status rules_check_update(const struct rules_context *rules, const struct update *update) {
    const struct table_schema *schema = rules->schema;
    for (unsigned i = 0; i < key_schema_count(&schema->keys); i++) {
        struct bytes name = schema->keys.parts[i].name;
        if (!update_visit(update, differs, &name))
            return failure_set(rules->failure, rules->arena, INVALID,
                               INVALID_PREFIX "Cannot update attribute %.*s. This attribute is "
                                              "part of the key",
                               BYTES_ARG(name));
    }
    enum status status = OK;
    for (int local = 0; local < 2; local++)
        for (uint32_t i = 0; i < schema->index_count && status == OK; i++)
            if (schema->indexes[i].local == (local != 0))
                status = check_update_of_index(rules, &schema->indexes[i], update);
    return status;
}

static enum status check_nested(const struct rules_context *rules, const struct key_schema *keys,
                                const struct projection *projection,
                                const struct condition *filter) {
    const char *what = keys == &rules->schema->keys ? "Key" : "IndexKey";
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        struct bytes name = keys->parts[i].name;
        if ((projection != NULL && projection_nests(projection, name)) ||
            (filter != NULL && condition_nests(filter, name)))
            return refuse_nested(rules, what, name);
    }
    return OK;
}

enum status rules_check_paths(const struct rules_context *rules,
                              const struct projection *projection, const struct condition *filter) {
    const struct table_schema *schema = rules->schema;
    if (projection == NULL && filter == NULL)
        return OK;
    enum status status = check_nested(rules, &schema->keys, projection, filter);
    for (uint32_t i = 0; i < schema->index_count && status == OK; i++)
        status = check_nested(rules, &schema->indexes[i].keys, projection, filter);
    return status;
}

/* --- what an index holds --- */

bool rules_shows(const struct table_schema *schema, const struct index_schema *index,
                 struct bytes name) {
    if (index->projected == PROJECTED_ALL || key_schema_has(&index->keys, name) ||
        key_schema_has(&schema->keys, name))
        return true;
    for (uint32_t i = 0; i < index->included_count; i++)
        if (bytes_equal(index->included[i], name))
            return true;
    return false;
}

struct item rules_project(const struct table_schema *schema, const struct index_schema *index,
                          const struct item *item, struct arena *arena) {
    if (index->projected == PROJECTED_ALL)
        return *item;
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, item->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < item->count; i++)
        if (rules_shows(schema, index, item->pairs[i].name))
            pairs[count++] = item->pairs[i];
    return (struct item){pairs, count};
}

size_t rules_shown_size(const struct table_schema *schema, const struct index_schema *index,
                        const struct item *item) {
    size_t size = 0;
    for (uint32_t i = 0; i < item->count; i++)
        if (rules_shows(schema, index, item->pairs[i].name))
            size += item->pairs[i].name.size + value_size(&item->pairs[i].value);
    return size;
}

bool rules_indexed(const struct index_schema *index, const struct item *item) {
    for (unsigned i = 0; i < key_schema_count(&index->keys); i++)
        if (item_get(item, index->keys.parts[i].name) == NULL)
            return false;
    return index_fault(index, item).fault == KEY_FINE;
}

struct item rules_key_of(const struct table_schema *schema, const struct index_schema *index,
                         const struct item *item, struct arena *arena) {
    unsigned most = key_schema_count(&schema->keys) + KEY_PARTS_MAX;
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, most);
    uint32_t count = 0;
    for (uint32_t i = 0; i < item->count; i++)
        if (key_schema_has(&schema->keys, item->pairs[i].name) ||
            (index != NULL && key_schema_has(&index->keys, item->pairs[i].name)))
            pairs[count++] = item->pairs[i];
    return (struct item){pairs, count};
}

/* --- capacity --- */

double rules_read_units(size_t size, bool consistent) {
    size_t steps = size == 0 ? 1 : (size + 4095) / 4096;
    return consistent ? (double)steps : (double)steps / 2;
}

double rules_write_units(size_t old_size, size_t new_size) {
    size_t size = old_size > new_size ? old_size : new_size;
    size_t steps = size == 0 ? 1 : (size + 1023) / 1024;
    return (double)steps;
}

/* --- expiry --- */

bool rules_time_of(const struct value *value, uint64_t *ms) {
    if (value->type != VALUE_N)
        return false;
    double seconds = number_to_double(value->bytes);
    if (!(seconds > 0 && seconds < 1e15))
        return false;
    *ms = (uint64_t)ceil(seconds * 1000);
    return true;
}

bool rules_expires(const struct item *item, struct bytes attribute, uint64_t *ms) {
    const struct value *value = item_get(item, attribute);
    return value != NULL && rules_time_of(value, ms);
}

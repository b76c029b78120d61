/* The rules of keys and items that follow from a table's schema, with the texts clients know.
 * Pure; every engine applies them. */
#ifndef GT_TABLE_RULES_H
#define GT_TABLE_RULES_H

#include "expr/expr.h"
#include "table/items.h"

/* How faults of empty keys begin: they are faults of a request, whatever it is part of. */
#define RULES_EMPTY_KEY "One or more parameter values are not valid. "

struct rules_context {
    const struct table_schema *schema;
    struct arena *arena;
    struct failure *failure;
};
/* Refuses with that sentence. For the files of the rules. */
static inline enum status rules_refuse(const struct rules_context *rules, const char *text) {
    return failure_set(rules->failure, rules->arena, INVALID, "%s", text);
}

/* An item to put: has each key attribute with the right type, not empty and within its size;
 * attributes that are keys of an index have the right type and are not empty; total size. */
enum status rules_check_item(const struct rules_context *rules, const struct item *item);
/* A key: exactly the key attributes, each of the right type ("The provided key element does not
 * match the schema"). */
enum status rules_check_key(const struct rules_context *rules, const struct item *key);
/* The item an update made: its size, and the index keys. */
enum status rules_check_updated(const struct rules_context *rules, const struct item *item);
/* An update must not write key attributes, nor inside the keys of an index, nor give those a value
 * of another type. Seen without the item. */
enum status rules_check_update(const struct rules_context *rules, const struct update *update);

/* A key condition made to fit a key schema: partition values in order, then sort values by '=',
 * then at most one range. `index` NULL: the table's own keys. */
struct key_range {
    struct value partition[LIMIT_INDEX_PARTITION_PARTS];
    struct value equal[LIMIT_INDEX_SORT_PARTS];
    unsigned equal_count;
    bool ranged;
    enum key_op op; /* of the range, on sort part number equal_count */
    struct value low, high;
};
enum status rules_check_range(const struct rules_context *rules, const struct index_schema *index,
                              const struct key_condition *condition, struct key_range *out);
/* A filter of a query must not name the key attributes of what is queried: the table (`index` NULL)
 * or the index. `legacy`: it came as a QueryFilter, which the sentence then names. */
enum status rules_check_filter_keys(const struct rules_context *rules,
                                    const struct index_schema *index,
                                    const struct condition *filter, bool legacy);
/* An index must project every attribute that a filter names, unless the whole items are fetched. */
enum status rules_check_filter_shown(const struct rules_context *rules,
                                     const struct index_schema *index,
                                     const struct condition *filter, bool fetch);
/* Keys are scalars: no path may go inside one. Either may be NULL. */
enum status rules_check_paths(const struct rules_context *rules,
                              const struct projection *projection, const struct condition *filter);
/* The exclusive start key: keys of the index and of the table, no more; within the range for a
 * query (`range` NULL: a scan). */
enum status rules_check_start(const struct rules_context *rules, const struct index_schema *index,
                              const struct key_range *range, const struct item *start);
/* ConsistentRead against the index. *fetch: the whole items are asked for and a local index does
 * not show them. */
enum status rules_check_consistent(const struct rules_context *rules,
                                   const struct index_schema *index,
                                   const struct page_request *request, bool *fetch);
/* Select and projection against what a global index holds: told after the faults of keys, start
 * key and filter, as DynamoDB does. */
enum status rules_check_select(const struct rules_context *rules, const struct index_schema *index,
                               const struct page_request *request);

/* Whether an index shows the attribute. */
bool rules_shows(const struct table_schema *schema, const struct index_schema *index,
                 struct bytes name);
/* What an index shows of an item. */
struct item rules_project(const struct table_schema *schema, const struct index_schema *index,
                          const struct item *item, struct arena *arena);
/* The size of what an index shows of an item. */
size_t rules_shown_size(const struct table_schema *schema, const struct index_schema *index,
                        const struct item *item);
/* Whether the item is in the index: it has each key attribute, and each may be a key. */
bool rules_indexed(const struct index_schema *index, const struct item *item);
/* The attributes of the key schema (and, for an index, of the table) out of an item. */
struct item rules_key_of(const struct table_schema *schema, const struct index_schema *index,
                         const struct item *item, struct arena *arena);

/* When the item ends, in milliseconds since 1970: what its attribute says in seconds, fractions and
 * all. False if it has none, or one of another type, or one that is no time. */
bool rules_expires(const struct item *item, struct bytes attribute, uint64_t *ms);
/* The time that the attribute's value tells, likewise. */
bool rules_time_of(const struct value *value, uint64_t *ms);
/* How long ago an item may have ended and still be taken away for it. */
#define EXPIRY_PAST_MS (5 * INT64_C(365) * 24 * 60 * 60 * 1000)

/* A new table's schema: that keys and definitions agree, projections, limits. A key attribute that
 * has no definition comes with type VALUE_NONE. */
enum status rules_check_table(const struct rules_context *rules);
/* Checks one index of the schema likewise, when it is added to a table. */
enum status rules_check_index(const struct rules_context *rules, const struct index_schema *index);
/* Capacity units. */
double rules_read_units(size_t size, bool consistent);
double rules_write_units(size_t old_size, size_t new_size);

#endif

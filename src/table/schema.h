/* What a table is made of: its name, its keys, its indexes, its settings. Plain data; all
 * pointers are borrowed from whoever made it (a request's arena, or the engine's own copy). */
#ifndef GT_TABLE_SCHEMA_H
#define GT_TABLE_SCHEMA_H

#include "base/limits.h"
#include "base/status.h"
#include "value/value.h"

enum { KEY_PARTS_MAX = LIMIT_INDEX_PARTITION_PARTS + LIMIT_INDEX_SORT_PARTS };

struct key_part {
    struct bytes name;
    enum value_type type; /* S, N or B */
};

/* Partition attributes first, then sort attributes. A table has one and at most one; a global
 * index up to four of each. */
struct key_schema {
    struct key_part parts[KEY_PARTS_MAX];
    uint8_t partition_count;
    uint8_t sort_count;
};

static inline unsigned key_schema_count(const struct key_schema *keys) {
    return (unsigned)keys->partition_count + keys->sort_count;
}
/* Whether the attribute is one of the keys. */
bool key_schema_has(const struct key_schema *keys, struct bytes name);

enum projected { PROJECTED_ALL, PROJECTED_KEYS, PROJECTED_INCLUDED };

struct throughput {
    int64_t read;
    int64_t write;
};

/* Capacity settings are kept and told, and never throttle. Zero or -1: not set. */
struct capacity_settings {
    struct throughput provisioned;
    struct throughput on_demand_max; /* 0: not set; -1: explicitly no limit */
    struct throughput warm;
};

struct index_schema {
    struct bytes name;
    bool local;
    struct key_schema keys;
    enum projected projected;
    const struct bytes *included; /* PROJECTED_INCLUDED: attribute names, as given */
    uint32_t included_count;
    struct capacity_settings capacity;
};

enum billing { BILLING_PROVISIONED, BILLING_ON_DEMAND };
enum stream_view { STREAM_OFF, STREAM_KEYS, STREAM_NEW, STREAM_OLD, STREAM_BOTH };

/* Clients name tags by text without NUL; what begins with it is a front end's own, is told with the
 * tags and does not count against LIMIT_TAGS. */
#define TAG_OWN "\0"
/* One that is named TAG_OF_INDEX "<index>" is about a global index, and goes with it. */
#define TAG_OF_INDEX TAG_OWN "index/"

struct tag {
    struct bytes key;
    struct bytes value;
};

struct table_schema {
    struct bytes name;
    struct key_part *attributes; /* AttributeDefinitions, in the order given */
    uint32_t attribute_count;
    struct key_schema keys;
    struct index_schema *indexes; /* local and global, in the order given */
    uint32_t index_count;
    enum billing billing;
    struct capacity_settings capacity;
    enum stream_view stream;
    struct bytes expiry; /* the attribute with the second an item ends at; empty: items stay */
    bool deletion_protection;
    struct bytes table_class; /* empty: the standard one */
    bool encrypted;           /* encryption settings as told, e.g. by a key of one's own */
    struct bytes encryption_key;
    struct tag *tags;
    uint32_t tag_count;
};

const struct index_schema *table_schema_index(const struct table_schema *schema, struct bytes name);

/* Leaves out the tag of an index that goes; the array stays as it is. */
void table_schema_drop_index_tag(struct table_schema *schema, struct bytes index,
                                 struct arena *arena);

/* Deep copy into the arena. */
struct table_schema table_schema_copy(struct arena *arena, const struct table_schema *schema);
/* As bytes, for the catalogue; damaged bytes are DAMAGED. Decoding borrows strings. */
struct buf;
void table_schema_encode(const struct table_schema *schema, struct buf *to);
enum status table_schema_decode(struct bytes from, struct arena *arena, struct table_schema *out);

enum part_status { PART_CREATING, PART_ACTIVE, PART_UPDATING, PART_DELETING };

struct index_state {
    enum part_status status;
    bool backfilling;
    uint64_t item_count;
    uint64_t size;
};

/* A table as it stands now. */
struct table_description {
    struct table_schema schema;
    struct bytes id; /* 36 characters, a UUID */
    enum part_status status;
    int64_t created_ms;
    uint64_t item_count;
    uint64_t size;
    const struct index_state *indexes; /* one for each of schema.indexes */
    int64_t billing_changed_ms;        /* when it last became on-demand; 0: never */
    int64_t capacity_raised_ms;        /* 0: never */
    int64_t capacity_lowered_ms;
    uint32_t capacity_lowered_today;
    int64_t stream_since_ms; /* when the present stream was switched on; 0: never */
};

#endif

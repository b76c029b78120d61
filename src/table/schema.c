/* Schemas as bytes, for the catalogue. Copying a schema is encoding and decoding it: one walk over
 * the fields each way, so that a new field cannot be forgotten by a third.
 *
 *   schema   := format:byte name attributes keys indexes settings tags
 *   name     := counted bytes                          (as all names and texts)
 *   attributes := count:varint part*
 *   part     := name type:byte
 *   keys     := partitions:byte sorts:byte part*
 *   indexes  := count:varint (name local:byte keys projected:byte count:varint name* capacity)*
 *   settings := billing:byte capacity stream:byte protected:byte class encrypted:byte key expiry
 *   capacity := six u64
 *   tags     := count:varint (key value)*
 *
 * Format 1 had no expiry.
 */
#include "table/schema.h"

#include "base/buf.h"

#include <assert.h>

enum { SCHEMA_FORMAT = 2, SCHEMA_FORMAT_1 = 1 };

bool key_schema_has(const struct key_schema *keys, struct bytes name) {
    unsigned count = key_schema_count(keys);
    for (unsigned i = 0; i < count; i++) {
        struct bytes part = keys->parts[i].name;
        /* without a call where the first bytes tell */
        if (part.size == name.size &&
            (part.size == 0 || (part.data[0] == name.data[0] && bytes_equal(part, name))))
            return true;
    }
    return false;
}

const struct index_schema *table_schema_index(const struct table_schema *schema,
                                              struct bytes name) {
    for (uint32_t i = 0; i < schema->index_count; i++)
        if (bytes_equal(schema->indexes[i].name, name))
            return &schema->indexes[i];
    return NULL;
}

void table_schema_drop_index_tag(struct table_schema *schema, struct bytes index,
                                 struct arena *arena) {
    struct bytes prefix = BYTES(TAG_OF_INDEX);
    struct tag *kept = ARENA_ARRAY(arena, struct tag, schema->tag_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < schema->tag_count; i++) {
        struct bytes key = schema->tags[i].key;
        if (!bytes_starts(key, prefix) || !bytes_equal(bytes_skip(key, prefix.size), index))
            kept[count++] = schema->tags[i];
    }
    schema->tags = kept;
    schema->tag_count = count;
}

/* --- writing --- */

static void put_part(struct buf *to, const struct key_part *part) {
    buf_counted(to, part->name);
    buf_byte(to, (uint8_t)part->type);
}

static void put_keys(struct buf *to, const struct key_schema *keys) {
    buf_byte(to, keys->partition_count);
    buf_byte(to, keys->sort_count);
    for (unsigned i = 0; i < key_schema_count(keys); i++)
        put_part(to, &keys->parts[i]);
}

static void put_throughput(struct buf *to, const struct throughput *throughput) {
    buf_u64(to, (uint64_t)throughput->read);
    buf_u64(to, (uint64_t)throughput->write);
}

static void put_capacity(struct buf *to, const struct capacity_settings *capacity) {
    put_throughput(to, &capacity->provisioned);
    put_throughput(to, &capacity->on_demand_max);
    put_throughput(to, &capacity->warm);
}

static void put_index(struct buf *to, const struct index_schema *index) {
    buf_counted(to, index->name);
    buf_byte(to, index->local);
    put_keys(to, &index->keys);
    buf_byte(to, (uint8_t)index->projected);
    buf_varint(to, index->included_count);
    for (uint32_t i = 0; i < index->included_count; i++)
        buf_counted(to, index->included[i]);
    put_capacity(to, &index->capacity);
}

void table_schema_encode(const struct table_schema *schema, struct buf *to) {
    buf_byte(to, SCHEMA_FORMAT);
    buf_counted(to, schema->name);
    buf_varint(to, schema->attribute_count);
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        put_part(to, &schema->attributes[i]);
    put_keys(to, &schema->keys);
    buf_varint(to, schema->index_count);
    for (uint32_t i = 0; i < schema->index_count; i++)
        put_index(to, &schema->indexes[i]);
    buf_byte(to, (uint8_t)schema->billing);
    put_capacity(to, &schema->capacity);
    buf_byte(to, (uint8_t)schema->stream);
    buf_byte(to, schema->deletion_protection);
    buf_counted(to, schema->table_class);
    buf_byte(to, schema->encrypted);
    buf_counted(to, schema->encryption_key);
    buf_counted(to, schema->expiry);
    buf_varint(to, schema->tag_count);
    for (uint32_t i = 0; i < schema->tag_count; i++) {
        buf_counted(to, schema->tags[i].key);
        buf_counted(to, schema->tags[i].value);
    }
}

/* --- reading --- */

static bool take_bool(struct bytes *in, bool *out) {
    uint8_t byte;
    if (!take_u8(in, &byte) || byte > 1)
        return false;
    *out = byte != 0;
    return true;
}

/* A small number that names something; false if it is over `last`. */
static bool take_choice(struct bytes *in, unsigned last, unsigned *out) {
    uint8_t byte;
    if (!take_u8(in, &byte) || byte > last)
        return false;
    *out = byte;
    return true;
}

/* How many things follow; each takes a byte at least, so damaged counts cannot ask for much. */
static bool take_count(struct bytes *in, uint32_t *out) {
    uint64_t count;
    if (!take_varint(in, &count) || count > in->size)
        return false;
    *out = (uint32_t)count;
    return true;
}

static bool take_part(struct bytes *in, struct key_part *out) {
    unsigned type;
    if (!take_counted(in, &out->name) || !take_choice(in, VALUE_B, &type) || type == VALUE_NONE)
        return false;
    out->type = (enum value_type)type;
    return true;
}

static bool take_keys(struct bytes *in, struct key_schema *out) {
    if (!take_u8(in, &out->partition_count) || !take_u8(in, &out->sort_count))
        return false;
    if (out->partition_count == 0 || out->partition_count > LIMIT_INDEX_PARTITION_PARTS ||
        out->sort_count > LIMIT_INDEX_SORT_PARTS)
        return false;
    for (unsigned i = 0; i < key_schema_count(out); i++)
        if (!take_part(in, &out->parts[i]))
            return false;
    return true;
}

static bool take_throughput(struct bytes *in, struct throughput *out) {
    uint64_t read, write;
    if (!take_u64(in, &read) || !take_u64(in, &write))
        return false;
    *out = (struct throughput){(int64_t)read, (int64_t)write};
    return true;
}

static bool take_capacity(struct bytes *in, struct capacity_settings *out) {
    return take_throughput(in, &out->provisioned) && take_throughput(in, &out->on_demand_max) &&
           take_throughput(in, &out->warm);
}

static bool take_index(struct bytes *in, struct arena *arena, struct index_schema *out) {
    unsigned projected;
    if (!take_counted(in, &out->name) || !take_bool(in, &out->local) ||
        !take_keys(in, &out->keys) || !take_choice(in, PROJECTED_INCLUDED, &projected) ||
        !take_count(in, &out->included_count))
        return false;
    out->projected = (enum projected)projected;
    struct bytes *included = ARENA_ARRAY(arena, struct bytes, out->included_count);
    out->included = included;
    for (uint32_t i = 0; i < out->included_count; i++)
        if (!take_counted(in, &included[i]))
            return false;
    return take_capacity(in, &out->capacity);
}

static bool take_lists(struct bytes *in, struct arena *arena, struct table_schema *out) {
    if (!take_count(in, &out->attribute_count))
        return false;
    out->attributes = ARENA_ARRAY(arena, struct key_part, out->attribute_count);
    for (uint32_t i = 0; i < out->attribute_count; i++)
        if (!take_part(in, &out->attributes[i]))
            return false;
    if (!take_keys(in, &out->keys) || !take_count(in, &out->index_count) ||
        out->index_count > LIMIT_GLOBAL_INDEXES + LIMIT_LOCAL_INDEXES)
        return false;
    out->indexes = ARENA_ARRAY(arena, struct index_schema, out->index_count);
    for (uint32_t i = 0; i < out->index_count; i++)
        if (!take_index(in, arena, &out->indexes[i]))
            return false;
    return true;
}

static bool take_settings(struct bytes *in, unsigned format, struct table_schema *out) {
    unsigned billing, stream;
    if (!take_choice(in, BILLING_ON_DEMAND, &billing) || !take_capacity(in, &out->capacity) ||
        !take_choice(in, STREAM_BOTH, &stream) || !take_bool(in, &out->deletion_protection) ||
        !take_counted(in, &out->table_class) || !take_bool(in, &out->encrypted) ||
        !take_counted(in, &out->encryption_key) ||
        (format > SCHEMA_FORMAT_1 && !take_counted(in, &out->expiry)))
        return false;
    out->billing = (enum billing)billing;
    out->stream = (enum stream_view)stream;
    return true;
}

static bool take_tags(struct bytes *in, struct arena *arena, struct table_schema *out) {
    if (!take_count(in, &out->tag_count))
        return false;
    out->tags = ARENA_ARRAY(arena, struct tag, out->tag_count);
    for (uint32_t i = 0; i < out->tag_count; i++)
        if (!take_counted(in, &out->tags[i].key) || !take_counted(in, &out->tags[i].value))
            return false;
    return true;
}

enum status table_schema_decode(struct bytes from, struct arena *arena, struct table_schema *out) {
    struct table_schema schema = {0};
    uint8_t format;
    if (!take_u8(&from, &format) || format < SCHEMA_FORMAT_1 || format > SCHEMA_FORMAT ||
        !take_counted(&from, &schema.name) || !take_lists(&from, arena, &schema) ||
        !take_settings(&from, format, &schema) || !take_tags(&from, arena, &schema) ||
        from.size != 0)
        return DAMAGED;
    *out = schema;
    return OK;
}

struct table_schema table_schema_copy(struct arena *arena, const struct table_schema *schema) {
    struct buf buf = {0};
    table_schema_encode(schema, &buf);
    struct table_schema copy;
    enum status status = table_schema_decode(arena_copy(arena, buf_bytes(&buf)), arena, &copy);
    assert(status == OK);
    (void)status;
    buf_release(&buf);
    return copy;
}

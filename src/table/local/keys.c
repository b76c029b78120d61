/* Where things stand: the keys of items in the store and of entries in index trees.
 *
 * Both begin with a hash of the partition, so that partitions are spread evenly over the order and
 * a range of hashes is a fair share of a scan. Parts are in the order-preserving encoding
 * of value/key.h, the same in both, so that an entry's table keys are copied, not decoded. */
#include "table/local/local_int.h"

#include <assert.h>

enum { HASH_SIZE = 4, TABLE_SIZE = 4, TIME_SIZE = 8 };

static void set_hash(struct buf *to, size_t at, size_t partition_at) {
    struct bytes partition = bytes_of(to->data + partition_at, to->size - partition_at);
    uint32_t hash = (uint32_t)(bytes_hash(partition, 0) >> 32);
    for (unsigned i = 0; i < HASH_SIZE; i++)
        to->data[at + i] = (uint8_t)(hash >> (24 - 8 * i));
}

/* Appends the hash and the partition parts. */
static void put_partition(struct buf *to, const struct value *const *values, unsigned count) {
    size_t at = to->size;
    buf_u32(to, 0);
    for (unsigned i = 0; i < count; i++)
        key_put(to, values[i]);
    set_hash(to, at, at + HASH_SIZE);
}

static void put_table_keys(struct buf *to, const struct table_schema *schema,
                           const struct item *item) {
    const struct key_schema *keys = &schema->keys;
    const struct value *partition = item_get(item, keys->parts[0].name);
    put_partition(to, &partition, 1);
    if (keys->sort_count != 0)
        key_put(to, item_get(item, keys->parts[1].name));
}

void keys_put_item(struct buf *to, const struct table *table, const struct table_schema *schema,
                   const struct item *item) {
    buf_u32(to, table->id);
    put_table_keys(to, schema, item);
}

void keys_put_partition(struct buf *to, const struct table *table, const struct value *partition) {
    buf_u32(to, table->id);
    put_partition(to, &partition, 1);
}

void keys_prepare_index(struct index *index, const struct table_schema *schema) {
    const struct key_schema *keys = &schema->keys;
    if (index->schema == NULL)
        return;
    index->adds_partition = !key_schema_has(&index->schema->keys, keys->parts[0].name);
    index->adds_sort =
        keys->sort_count != 0 && !key_schema_has(&index->schema->keys, keys->parts[1].name);
}

/* The key attributes of the index, if the item has them all and they may be keys. An item from
 * before the index was made may have attributes that could not be written now: it is left out. */
static bool take_values(const struct index_schema *index, const struct item *item,
                        const struct value **values) {
    size_t sizes[2] = {0, 0};
    for (unsigned i = 0; i < key_schema_count(&index->keys); i++) {
        const struct value *value = item_get(item, index->keys.parts[i].name);
        if (value == NULL || value->type != index->keys.parts[i].type || value->bytes.size == 0)
            return false;
        sizes[i >= index->keys.partition_count] += value->type == VALUE_N ? 0 : value->bytes.size;
        values[i] = value;
    }
    return sizes[0] <= LIMIT_PARTITION_KEY_SIZE && sizes[1] <= LIMIT_SORT_KEY_SIZE;
}

static bool put_time(struct buf *to, const struct table_schema *schema, const struct index *index,
                     const struct item *item) {
    uint64_t ms;
    if (!rules_expires(item, index->expiry, &ms))
        return false;
    buf_u64(to, ms);
    put_table_keys(to, schema, item);
    return true;
}

bool keys_put_entry(struct buf *to, const struct table_schema *schema, const struct index *index,
                    const struct item *item) {
    if (index->schema == NULL)
        return put_time(to, schema, index, item);
    const struct key_schema *keys = &index->schema->keys;
    const struct value *values[KEY_PARTS_MAX];
    unsigned count = key_schema_count(keys);
    if (!take_values(index->schema, item, values))
        return false;
    put_partition(to, values, keys->partition_count);
    for (unsigned i = keys->partition_count; i < count; i++)
        key_put(to, values[i]);
    if (index->adds_partition)
        key_put(to, item_get(item, schema->keys.parts[0].name));
    if (index->adds_sort)
        key_put(to, item_get(item, schema->keys.parts[1].name));
    return true;
}

/* An entry taken apart: where each part is, with the name it has. */
struct entry_part {
    const struct key_part *part;
    struct bytes bytes;
};

static bool take_span(struct bytes *from, const struct key_part *part, struct entry_part *out) {
    size_t span = key_span(*from, part->type);
    if (span == 0)
        return false;
    *out = (struct entry_part){part, bytes_of(from->data, span)};
    *from = bytes_skip(*from, span);
    return true;
}

/* The parts of an entry, in order. Returns how many. */
static unsigned parts_of(const struct table_schema *schema, const struct index *index,
                         const struct key_part **parts) {
    const struct key_schema *keys = &index->schema->keys;
    unsigned count = key_schema_count(keys);
    for (unsigned i = 0; i < count; i++)
        parts[i] = &keys->parts[i];
    if (index->adds_partition)
        parts[count++] = &schema->keys.parts[0];
    if (index->adds_sort)
        parts[count++] = &schema->keys.parts[1];
    return count;
}

/* The number of parts, or 0 if the bytes are no entry of this index. */
static unsigned split_entry(const struct table_schema *schema, const struct index *index,
                            struct bytes entry, struct entry_part *parts) {
    const struct key_part *wanted[ENTRY_PARTS_MAX];
    unsigned count = parts_of(schema, index, wanted);
    if (entry.size < HASH_SIZE)
        return 0;
    entry = bytes_skip(entry, HASH_SIZE);
    for (unsigned i = 0; i < count; i++)
        if (!take_span(&entry, wanted[i], &parts[i]))
            return 0;
    return entry.size == 0 ? count : 0;
}

size_t keys_entry_span(const struct index *index, struct bytes entry, unsigned sort_parts) {
    const struct key_schema *keys = &index->schema->keys;
    size_t at = HASH_SIZE;
    for (unsigned i = 0; i < keys->partition_count + sort_parts; i++) {
        size_t span = entry.size <= at ? 0 : key_span(bytes_skip(entry, at), keys->parts[i].type);
        if (span == 0)
            return 0;
        at += span;
    }
    return at;
}

static struct bytes part_named(const struct entry_part *parts, unsigned count, struct bytes name) {
    for (unsigned i = 0; i < count; i++)
        if (bytes_equal(parts[i].part->name, name))
            return parts[i].bytes;
    return (struct bytes){0};
}

enum status keys_entry_to_item(struct buf *to, const struct table *table,
                               const struct table_schema *schema, const struct index *index,
                               struct bytes entry) {
    struct entry_part parts[ENTRY_PARTS_MAX];
    unsigned count = split_entry(schema, index, entry, parts);
    if (count == 0)
        return DAMAGED;
    buf_u32(to, table->id);
    size_t at = to->size;
    buf_u32(to, 0);
    buf_put(to, part_named(parts, count, schema->keys.parts[0].name));
    set_hash(to, at, at + HASH_SIZE);
    if (schema->keys.sort_count != 0)
        buf_put(to, part_named(parts, count, schema->keys.parts[1].name));
    return OK;
}

void keys_shape(struct entry_shape *shape, const struct table_schema *schema,
                const struct index *index, struct arena *arena) {
    const struct key_part *parts[ENTRY_PARTS_MAX];
    shape->count = parts_of(schema, index, parts);
    for (unsigned i = 0; i < shape->count; i++) {
        shape->names[i] = arena_copy(arena, parts[i]->name); /* the table may go first */
        shape->types[i] = parts[i]->type;
        shape->slots[i] = 0;
        for (unsigned j = 0; j < shape->count; j++)
            shape->slots[i] += bytes_compare(parts[j]->name, parts[i]->name) < 0;
    }
}

enum status keys_entry_decode(const struct entry_shape *shape, struct bytes entry,
                              struct arena *arena, struct item *out) {
    struct pair *pairs = arena_alloc(arena, shape->count * sizeof(*pairs));
    if (entry.size < HASH_SIZE)
        return DAMAGED;
    entry = bytes_skip(entry, HASH_SIZE);
    for (unsigned i = 0; i < shape->count; i++) {
        struct pair *pair = &pairs[shape->slots[i]];
        pair->name = shape->names[i];
        if (key_take(&entry, shape->types[i], arena, &pair->value) != OK)
            return DAMAGED;
    }
    *out = (struct item){pairs, shape->count};
    return entry.size == 0 ? OK : DAMAGED;
}

bool keys_time_of(struct bytes entry, uint64_t *ms) {
    return take_u64(&entry, ms);
}

enum status keys_time_decode(const struct table_schema *schema, struct bytes entry,
                             struct arena *arena, struct item *out) {
    unsigned count = key_schema_count(&schema->keys);
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, count);
    if (entry.size < TIME_SIZE + HASH_SIZE)
        return DAMAGED;
    entry = bytes_skip(entry, TIME_SIZE + HASH_SIZE);
    for (unsigned i = 0; i < count; i++) {
        pairs[i].name = schema->keys.parts[i].name;
        if (key_take(&entry, schema->keys.parts[i].type, arena, &pairs[i].value) != OK)
            return DAMAGED;
    }
    *out = (struct item){pairs, value_sort_pairs(pairs, count)};
    return entry.size == 0 ? OK : DAMAGED;
}

static void make_after(struct buf *to, size_t start) {
    bool made = key_after_prefix(to, start);
    assert(made); /* a partition's encoding has a byte that is not 0xff */
    (void)made;
}

/* Narrows [low, high), which are both the same partition and equal parts, by the range. */
static void narrow(struct buf *low, struct buf *high, size_t high_start,
                   const struct key_range *range) {
    switch (range->op) {
    case KEY_EQ:
        key_put(low, &range->low);
        key_put(high, &range->low);
        make_after(high, high_start);
        break;
    case KEY_LT:
        key_put(high, &range->low);
        break;
    case KEY_LE:
        key_put(high, &range->low);
        make_after(high, high_start);
        break;
    case KEY_GT:
    case KEY_GE:
        key_put(low, &range->low);
        make_after(high, high_start);
        break;
    case KEY_BETWEEN:
        key_put(low, &range->low);
        key_put(high, &range->high);
        make_after(high, high_start);
        break;
    case KEY_BEGINS:
        key_put_prefix(low, &range->low);
        key_put_prefix(high, &range->low);
        make_after(high, high_start);
        break;
    }
}

void keys_put_bounds(struct buf *low, struct buf *high, const struct table *table,
                     const struct table_schema *schema, const struct index *index,
                     const struct key_range *range) {
    const struct key_schema *keys = index == NULL ? &schema->keys : &index->schema->keys;
    const struct value *values[LIMIT_INDEX_PARTITION_PARTS];
    size_t low_start = low->size, high_start = high->size;
    if (index == NULL)
        buf_u32(low, table->id);
    for (unsigned i = 0; i < keys->partition_count; i++)
        values[i] = &range->partition[i];
    put_partition(low, values, keys->partition_count);
    for (unsigned i = 0; i < range->equal_count; i++)
        key_put(low, &range->equal[i]);
    buf_append(high, low->data + low_start, low->size - low_start);
    if (!range->ranged) {
        make_after(high, high_start);
        return;
    }
    narrow(low, high, high_start, range);
    if (range->op == KEY_GT)
        make_after(low, low_start);
}

bool keys_put_bound(struct buf *to, const struct table_schema *schema, const struct index *index,
                    const struct bound *bound) {
    const struct key_part *parts[ENTRY_PARTS_MAX];
    const struct value *values[ENTRY_PARTS_MAX];
    unsigned all = parts_of(schema, index, parts), count = 0;
    unsigned partition = index->schema->keys.partition_count;
    unsigned own = key_schema_count(&index->schema->keys);
    size_t start = to->size;
    for (; count < all; count++) {
        values[count] = item_get(&bound->at, parts[count]->name);
        if (values[count] == NULL)
            break;
        if (values[count]->type != parts[count]->type || values[count]->bytes.size == 0)
            return false;
    }
    if (count < partition || count != bound->at.count || (count > own && count < all))
        return false;
    put_partition(to, values, partition);
    for (unsigned i = partition; i < count; i++)
        key_put(to, values[i]);
    if (bound->after)
        make_after(to, start);
    return true;
}

void keys_put_segment(struct buf *low, struct buf *high, const struct table *table,
                      const struct index *index, uint32_t segment, uint32_t segments) {
    uint64_t from = ((uint64_t)segment << 32) / segments;
    uint64_t to = (((uint64_t)segment + 1) << 32) / segments;
    if (index == NULL)
        buf_u32(low, table->id);
    buf_u32(low, (uint32_t)from);
    if (to <= UINT32_MAX) {
        if (index == NULL)
            buf_u32(high, table->id);
        buf_u32(high, (uint32_t)to);
    } else if (index == NULL)
        buf_u32(high, table->id + 1);
}

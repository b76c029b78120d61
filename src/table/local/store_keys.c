/* The keys of items in the store and of entries in index trees.
 *
 * Both begin with a hash of the partition, so that partitions are spread evenly over the order and
 * a range of hashes is a fair share of a scan. Parts are in the order-preserving encoding
 * of value/key.h, the same in both, so that an entry's table keys are copied, not decoded. */
#include "table/local/local_int.h"

#include <assert.h>

enum { HASH_SIZE = KEYS_HASH_SIZE, TIME_SIZE = 8 };

static void set_hash(struct buf *to, size_t at, size_t partition_at) {
    struct bytes partition = bytes_of(to->data + partition_at, to->size - partition_at);
    uint32_t hash = (uint32_t)(hash_stable(partition, 0) >> 32);
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

void keys_put_entry_partition(struct buf *to, struct bytes begin, struct bytes rest) {
    size_t at = to->size;
    buf_u32(to, 0);
    buf_put(to, begin);
    buf_put(to, rest);
    set_hash(to, at, at + HASH_SIZE);
}

size_t keys_partition_span(const struct table_schema *schema, struct bytes key) {
    size_t head = KEYS_TABLE_SIZE + HASH_SIZE;
    return head + key_span(bytes_skip(key, head), schema->keys.parts[0].type);
}

/* Where the entry has the table's keys: its own or, behind them, the table's. */
static void find_table_parts(struct entry_shape *shape, const struct key_schema *keys) {
    for (unsigned i = 0; i < shape->count; i++)
        for (unsigned j = 0; j < key_schema_count(keys); j++)
            if (bytes_equal(shape->parts[i].name, keys->parts[j].name))
                shape->table_parts[j] = i;
}

void keys_prepare_index(struct index *index, const struct table_schema *schema) {
    const struct key_schema *keys = &schema->keys;
    struct entry_shape *shape = &index->shape;
    if (index->schema == NULL)
        return;
    unsigned count = key_schema_count(&index->schema->keys);
    for (unsigned i = 0; i < count; i++)
        shape->parts[i] = index->schema->keys.parts[i];
    if (!key_schema_has(&index->schema->keys, keys->parts[0].name))
        shape->parts[count++] = keys->parts[0];
    if (keys->sort_count != 0 && !key_schema_has(&index->schema->keys, keys->parts[1].name))
        shape->parts[count++] = keys->parts[1];
    shape->count = count;
    shape->partition_count = index->schema->keys.partition_count;
    shape->own_count = key_schema_count(&index->schema->keys);
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = 0; j < count; j++)
            shape->slots[i] += bytes_compare(shape->parts[j].name, shape->parts[i].name) < 0;
        shape->sorted[shape->slots[i]] = shape->parts[i].name;
    }
    find_table_parts(shape, keys);
    index->has_entry_hash = !index->schema->local && index->schema->projected == PROJECTED_KEYS &&
                            shape->partition_count == 1 && shape->own_count > 1 &&
                            bytes_equal(shape->parts[0].name, keys->parts[0].name) &&
                            shape->count == shape->own_count + 1;
}

/* Whether these are the parts of an entry. An item from before the index was made may have
 * attributes that could not be written now: it is left out. */
static bool are_parts(const struct entry_shape *shape, const struct value *const *values) {
    size_t sizes[2] = {0, 0};
    for (unsigned i = 0; i < shape->own_count; i++) {
        const struct value *value = values[i];
        if (value == NULL || value->type != shape->parts[i].type || value->bytes.size == 0)
            return false;
        sizes[i >= shape->partition_count] += value->type == VALUE_N ? 0 : value->bytes.size;
    }
    return sizes[0] <= LIMIT_PARTITION_KEY_SIZE && sizes[1] <= LIMIT_SORT_KEY_SIZE;
}

static void put_parts(struct buf *to, const struct entry_shape *shape,
                      const struct value *const *values, unsigned count) {
    put_partition(to, values, shape->partition_count);
    for (unsigned i = shape->partition_count; i < count; i++)
        key_put(to, values[i]);
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

/* Finds the parts of the item's entry; false if it is not in the index. */
static bool find_parts(const struct entry_shape *shape, const struct item *item,
                       const struct value **values) {
    const struct value *found[ENTRY_PARTS_MAX];
    if (!item_get_all(item, shape->sorted, shape->count, found))
        return false;
    for (unsigned i = 0; i < shape->count; i++)
        values[i] = found[shape->slots[i]];
    return are_parts(shape, values);
}

bool keys_has_entry(const struct index *index, const struct item *item) {
    const struct value *values[ENTRY_PARTS_MAX];
    return find_parts(&index->shape, item, values);
}

bool keys_put_entry(struct buf *to, const struct table_schema *schema, const struct index *index,
                    const struct item *item) {
    if (index->schema == NULL)
        return put_time(to, schema, index, item);
    const struct value *values[ENTRY_PARTS_MAX];
    if (!find_parts(&index->shape, item, values))
        return false;
    put_parts(to, &index->shape, values, index->shape.count);
    return true;
}

size_t keys_shown_size(const struct table_schema *schema, const struct index *index,
                       const struct item *item, struct arena *arena) {
    const struct entry_shape *shape = &index->shape;
    const struct value *found[ENTRY_PARTS_MAX];
    if (index->schema == NULL)
        return 0;
    if (index->schema->projected == PROJECTED_ALL)
        return item_size(item);
    if (index->schema->projected == PROJECTED_KEYS &&
        item_get_all(item, shape->sorted, shape->count, found)) {
        size_t size = 0;
        for (unsigned i = 0; i < shape->count; i++)
            size += shape->sorted[i].size + value_size(found[i]);
        return size;
    }
    struct item shown = rules_project(schema, index->schema, item, arena);
    return item_size(&shown);
}

bool keys_put_sorted(struct buf *to, const struct index *index, const struct value *values) {
    const struct entry_shape *shape = &index->shape;
    const struct value *parts[ENTRY_PARTS_MAX];
    for (unsigned i = 0; i < shape->count; i++)
        parts[i] = &values[shape->slots[i]];
    if (!are_parts(shape, parts))
        return false;
    put_parts(to, shape, parts, shape->count);
    return true;
}

bool keys_put_extracted(struct buf *to, const struct index *index, const struct key_source *from) {
    const struct entry_shape *shape = &index->shape;
    const struct value *const *values = from->values;
    uint64_t ms;
    if (index->schema == NULL) {
        if (values[0] == NULL || !rules_time_of(values[0], &ms))
            return false;
        buf_u64(to, ms);
        buf_put(to, bytes_skip(from->key, KEYS_TABLE_SIZE));
        return true;
    }
    if (!are_parts(shape, values))
        return false;
    if (!index->has_entry_hash) {
        put_parts(to, shape, values, shape->count);
        return true;
    }
    /* What the item's key has of it is copied. */
    buf_append(to, from->key.data + KEYS_TABLE_SIZE, from->span - KEYS_TABLE_SIZE);
    for (unsigned i = 1; i < shape->own_count; i++)
        key_put(to, values[i]);
    buf_put(to, bytes_skip(from->key, from->span));
    return true;
}

/* Takes an entry apart. False if the bytes are no entry of this index. */
static inline bool split_entry(const struct entry_shape *shape, struct bytes entry,
                               struct bytes *parts) {
    if (entry.size < HASH_SIZE)
        return false;
    entry = bytes_skip(entry, HASH_SIZE);
    for (unsigned i = 0; i < shape->count; i++) {
        size_t span = key_span(entry, shape->parts[i].type);
        if (span == 0)
            return false;
        parts[i] = bytes_of(entry.data, span);
        entry = bytes_skip(entry, span);
    }
    return entry.size == 0;
}

size_t keys_entry_span(const struct index *index, struct bytes entry, unsigned sort_parts) {
    const struct entry_shape *shape = &index->shape;
    size_t at = HASH_SIZE;
    for (unsigned i = 0; i < shape->partition_count + sort_parts; i++) {
        size_t span = entry.size <= at ? 0 : key_span(bytes_skip(entry, at), shape->parts[i].type);
        if (span == 0)
            return 0;
        at += span;
    }
    return at;
}

enum status keys_entry_to_item(struct buf *to, const struct key_order *order, struct bytes entry) {
    const struct entry_shape *shape = &order->index->shape;
    struct bytes parts[ENTRY_PARTS_MAX];
    if (!split_entry(shape, entry, parts))
        return DAMAGED;
    buf_u32(to, order->table->id);
    size_t at = to->size;
    buf_u32(to, 0);
    buf_put(to, parts[shape->table_parts[0]]);
    set_hash(to, at, at + HASH_SIZE);
    if (order->schema->keys.sort_count != 0)
        buf_put(to, parts[shape->table_parts[1]]);
    return OK;
}

void keys_shape(struct entry_shape *out, const struct index *index, struct arena *arena) {
    size_t size = 0;
    *out = index->shape;
    for (unsigned i = 0; i < out->count; i++)
        size += out->parts[i].name.size;
    uint8_t *to = arena_alloc(arena, size);
    for (unsigned i = 0; i < out->count; i++) {
        struct bytes *name = &out->parts[i].name;
        memcpy(to, name->data, name->size);
        name->data = to;
        to += name->size;
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
        pair->name = shape->parts[i].name;
        if (key_take(&entry, shape->parts[i].type, arena, &pair->value) != OK)
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

void keys_put_bounds(struct buf *low, struct buf *high, const struct key_order *order,
                     const struct key_range *range) {
    const struct key_schema *keys =
        order->index == NULL ? &order->schema->keys : &order->index->schema->keys;
    const struct value *values[LIMIT_INDEX_PARTITION_PARTS];
    size_t low_start = low->size, high_start = high->size;
    if (order->index == NULL)
        buf_u32(low, order->table->id);
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

bool keys_put_bound(struct buf *to, const struct index *index, const struct bound *bound) {
    const struct entry_shape *shape = &index->shape;
    const struct value *values[ENTRY_PARTS_MAX];
    unsigned count = 0;
    size_t start = to->size;
    for (; count < shape->count; count++) {
        const struct key_part *part = &shape->parts[count];
        values[count] = item_get(&bound->at, part->name);
        if (values[count] == NULL)
            break;
        if (values[count]->type != part->type || values[count]->bytes.size == 0)
            return false;
    }
    if (count < shape->partition_count || count != bound->at.count ||
        (count > shape->own_count && count < shape->count))
        return false;
    put_parts(to, shape, values, count);
    if (bound->after)
        make_after(to, start);
    return true;
}

void keys_put_segment(struct buf *low, struct buf *high, const struct key_order *order,
                      struct scan_segment segment) {
    uint32_t count = segment.count == 0 ? 1 : segment.count;
    uint64_t from = ((uint64_t)segment.at << 32) / count;
    uint64_t to = (((uint64_t)segment.at + 1) << 32) / count;
    bool items = order->index == NULL;
    if (items)
        buf_u32(low, order->table->id);
    buf_u32(low, (uint32_t)from);
    if (to <= UINT32_MAX) {
        if (items)
            buf_u32(high, order->table->id);
        buf_u32(high, (uint32_t)to);
    } else if (items)
        buf_u32(high, order->table->id + 1);
}

#include "table/local/covering.h"

#include <assert.h>

struct index *covering_index(const struct table *table) {
    for (unsigned i = 0; i < table->index_count; i++)
        if (table->indexes[i]->entry_hash != NULL && table->indexes[i]->tree != NULL)
            return table->indexes[i];
    return NULL;
}

/* The next candidate that covers its item; empty if there is none. */
static struct bytes next_covering(struct entry_search *search, struct arena *arena) {
    struct bytes entry;
    do {
        if (!entry_search_next(search, arena, &entry))
            return (struct bytes){0}; /* it is too long to be kept, or there may be such a one */
    } while (entry.size != 0 && !search->walk.covers);
    return entry;
}

/* Looks the first candidates up in the trees, those of one tree abreast. */
static void check_first(struct covering_lookup *lookups, size_t count, bool *has) {
    struct bytes entries[COVERING_MANY];
    uint64_t ranks[COVERING_MANY];
    for (size_t from = 0, to; from < count; from = to) {
        const struct index *index = lookups[from].index;
        for (to = from; to < count && lookups[to].index == index; to++)
            entries[to - from] = lookups[to].entry;
        tree_find_many(index->tree, entries, to - from, ranks, has + from);
    }
}

static void find_some(struct covering_lookup *lookups, size_t count) {
    struct entry_search searches[COVERING_MANY];
    struct head_hash last = {0};
    bool fits[COVERING_MANY], has[COVERING_MANY];
    for (size_t i = 0; i < count; i++)
        fits[i] = entry_search_begin(&searches[i], lookups[i].index, lookups[i].key, &last);
    for (size_t i = 0; i < count; i++)
        if (fits[i])
            entry_search_seek(&searches[i]);
    for (size_t i = 0; i < count; i++)
        lookups[i].entry =
            fits[i] ? next_covering(&searches[i], lookups[i].arena) : (struct bytes){0};
    check_first(lookups, count, has);
    for (size_t i = 0; i < count; i++)
        while (lookups[i].entry.size != 0 && !has[i]) {
            lookups[i].entry = next_covering(&searches[i], lookups[i].arena);
            has[i] =
                lookups[i].entry.size != 0 && tree_has(lookups[i].index->tree, lookups[i].entry);
        }
}

void covering_find(struct covering_lookup *lookups, size_t count) {
    for (size_t i = 0; i < count; i += COVERING_MANY)
        find_some(lookups + i, count - i < COVERING_MANY ? count - i : COVERING_MANY);
}

/* Whether the bytes that the entry and the key in the store have in common are the same. */
static bool entry_is_of(const struct index *index, struct bytes entry, struct bytes key) {
    struct bytes rest = bytes_skip(key, KEYS_TABLE_SIZE);
    size_t head = keys_entry_span(index, rest, 0);
    struct bytes tail = bytes_skip(rest, head);
    return head != 0 && entry.size > rest.size && memcmp(entry.data, rest.data, head) == 0 &&
           memcmp(entry.data + entry.size - tail.size, tail.data, tail.size) == 0;
}

/* Whether a part of a key says that value, with no byte escaped. */
static bool part_is(struct bytes part, const struct value *value) {
    struct bytes bytes = value->bytes;
    if (value->type == VALUE_N)
        return bytes_equal(part, bytes);
    return part.size == bytes.size + 1 && part.data[bytes.size] == 0 &&
           memcmp(part.data, bytes.data, bytes.size) == 0;
}

/* The values of a covered item in the order of the index's parts. False if it has other names, or
 * values of other types. */
static bool find_values(const struct entry_shape *shape, const struct item *item,
                        const struct value **values) {
    assert(shape->count > 0);
    for (unsigned i = 0; i < shape->count; i++) {
        const struct pair *pair = &item->pairs[shape->slots[i]];
        if (!bytes_equal(pair->name, shape->parts[i].name) ||
            pair->value.type != shape->parts[i].type)
            return false;
        values[i] = &pair->value;
    }
    return true;
}

/* The entry of an item whose keys stand in its key as they are: they are copied from there. */
static bool put_by_key(struct buf *to, const struct index *index, struct bytes key,
                       const struct value *const *values) {
    const struct entry_shape *shape = &index->shape;
    size_t partition = keys_entry_span(index, bytes_skip(key, KEYS_TABLE_SIZE), 0);
    struct key_source source = {key, KEYS_TABLE_SIZE + partition, values};
    size_t at = KEYS_TABLE_SIZE + KEYS_HASH_SIZE;
    return partition != 0 && part_is(bytes_of(key.data + at, source.span - at), values[0]) &&
           part_is(bytes_skip(key, source.span), values[shape->count - 1]) &&
           keys_put_extracted(to, index, &source);
}

/* The attributes of a covered item are those of the entry, and an attribute has the same type in
 * all indexes of a table. keys_put_entry() leaves out what has a wrong type or is empty, but for
 * the table's sort key, the last part; and nothing in a short entry is too long for any index. */
bool covering_put_entry(struct buf *to, const struct index *index, struct bytes key,
                        const struct item *item) {
    const struct value *values[ENTRY_PARTS_MAX];
    size_t start = to->size;
    if (!covering_covers(index, item) || !find_values(&index->shape, item, values))
        return false;
    bool by_key = put_by_key(to, index, key, values);
    if (!by_key && !keys_put_entry(to, NULL, index, item))
        return false;
    struct bytes entry = bytes_of(to->data + start, to->size - start);
    if (entry.size <= LIMIT_SORT_KEY_SIZE && (by_key || entry_is_of(index, entry, key)))
        return true;
    to->size = start;
    return false;
}

/* Looks up the codes of the names, which never change. False if a name has none. */
static bool look_up_codes(struct index *index, struct names *names) {
    const struct entry_shape *shape = &index->shape;
    index->coded = true;
    for (unsigned i = 0; i < shape->count; i++) {
        index->codes[i] = names_intern(names, shape->sorted[i]);
        index->coded &= index->codes[i] != NAMES_FULL;
    }
    return index->coded;
}

void covering_encode(struct local *local, struct index *index, const struct item *item,
                     struct buf *to) {
    if (index->coded || look_up_codes(index, local->names))
        item_encode_coded(item, index->codes, to);
    else
        item_encode(item, local->names, to);
}

/* A copy of the names of the index's parts, one after the other. */
static uint8_t *copy_names(const struct entry_shape *shape, struct arena *arena) {
    size_t size = 0;
    for (unsigned i = 0; i < shape->count; i++)
        size += shape->parts[i].name.size;
    uint8_t *names = arena_alloc(arena, size), *to = names;
    for (unsigned i = 0; i < shape->count; i++) {
        memcpy(to, shape->parts[i].name.data, shape->parts[i].name.size);
        to += shape->parts[i].name.size;
    }
    return names;
}

enum status covering_item(const struct index *index, struct bytes entry, struct arena *arena,
                          struct item *out) {
    const struct entry_shape *shape = &index->shape;
    enum status status = keys_entry_decode(shape, entry, arena, out);
    if (status != OK)
        return status;
    const uint8_t *names = copy_names(shape, arena);
    for (unsigned i = 0; i < shape->count; i++) {
        struct bytes *name = &((struct pair *)out->pairs)[shape->slots[i]].name;
        *name = bytes_of(names, name->size);
        names += name->size;
    }
    return OK;
}

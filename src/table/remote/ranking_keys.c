/* Keys of the index `ranks`, and ranges of them. */
#include "table/remote/ranking_keys.h"

#include "table/rules.h"
#include "value/key.h"

#define PK BYTES_INIT("PK")
#define SK BYTES_INIT("SK")
#define BYTES_INIT(literal) \
    { (const uint8_t *)(literal), sizeof(literal) - 1 }

enum { SORT_PARTS = 3, KEY_PARTS = 4 };

const struct index_schema ranking_index = {
    .name = BYTES_INIT("ranks"),
    .keys = {.parts = {{PK, VALUE_S},
                       {BYTES_INIT("score"), VALUE_N},
                       {BYTES_INIT("subscore"), VALUE_N},
                       {BYTES_INIT("tie"), VALUE_N}},
             .partition_count = 1,
             .sort_count = SORT_PARTS},
    .projected = PROJECTED_KEYS,
};

const struct table_schema ranking_table = {
    .keys = {.parts = {{PK, VALUE_S}, {SK, VALUE_S}}, .partition_count = 1, .sort_count = 1},
};

/* The parts of an index key, after the partition. */
static const struct key_part *part_at(unsigned at) {
    return at < SORT_PARTS ? &ranking_index.keys.parts[1 + at] : &ranking_table.keys.parts[1];
}

static struct bytes text_of(const struct item *item, struct bytes name) {
    const struct value *value = item_get(item, name);
    return value != NULL && value->type == VALUE_S ? value->bytes : (struct bytes){0};
}

struct bytes ranking_partition_of(const struct item *item) {
    return text_of(item, ranking_table.keys.parts[0].name);
}

struct bytes ranking_member_of(const struct item *item) {
    return text_of(item, ranking_table.keys.parts[1].name);
}

/* --- keys --- */

static struct bytes kept(struct buf *key, struct arena *arena) {
    struct bytes copy = arena_copy(arena, buf_bytes(key));
    buf_release(key);
    return copy;
}

/* Appends the leading parts that the item has. Returns how many, or -1 if one is of another type.
 */
static int put_parts(struct buf *to, const struct item *item) {
    int count = 0;
    for (; count < KEY_PARTS; count++) {
        const struct key_part *part = part_at((unsigned)count);
        const struct value *value = item_get(item, part->name);
        if (value == NULL)
            break;
        if (value->type != part->type || value->bytes.size == 0)
            return -1;
        key_put(to, value);
    }
    return count;
}

struct bytes ranking_key_of(const struct item *item, struct arena *arena) {
    struct buf key = {0};
    if (put_parts(&key, item) == KEY_PARTS)
        return kept(&key, arena);
    buf_release(&key);
    return (struct bytes){0};
}

enum status ranking_entry_of(struct bytes partition, struct bytes key, struct arena *arena,
                             struct item *out) {
    struct value values[KEY_PARTS];
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, KEY_PARTS + 1);
    for (unsigned i = 0; i < KEY_PARTS; i++)
        if (key_take(&key, part_at(i)->type, arena, &values[i]) != OK)
            return DAMAGED;
    if (key.size != 0)
        return DAMAGED;
    /* in the order of their names: PK, SK, score, subscore, tie */
    pairs[0] = (struct pair){ranking_table.keys.parts[0].name, value_string(partition)};
    pairs[1] = (struct pair){part_at(3)->name, values[3]};
    for (unsigned i = 0; i < SORT_PARTS; i++)
        pairs[2 + i] = (struct pair){part_at(i)->name, values[i]};
    *out = (struct item){pairs, KEY_PARTS + 1};
    return OK;
}

/* --- ranges --- */

/* The least key after all that begin with this one. */
static struct bytes key_after(struct buf *key, struct arena *arena) {
    if (!key_after_prefix(key, 0))
        buf_clear(key);
    return kept(key, arena);
}

static struct buf key_of_equals(const struct key_range *range) {
    struct buf key = {0};
    for (unsigned i = 0; i < range->equal_count; i++)
        key_put(&key, &range->equal[i]);
    return key;
}

/* The key of the equal parts and, if not NULL, one more. */
static struct bytes edge(const struct key_range *range, const struct value *more, bool after,
                         struct arena *arena) {
    struct buf key = key_of_equals(range);
    if (more != NULL)
        key_put(&key, more);
    return after ? key_after(&key, arena) : kept(&key, arena);
}

static void set_edges(const struct key_range *range, struct arena *arena,
                      struct ranking_range *out) {
    const struct value *low = NULL, *high = NULL;
    bool low_after = false, high_after = true;
    if (range->ranged) {
        enum key_op op = range->op;
        if (op != KEY_LT && op != KEY_LE)
            low = &range->low;
        if (op == KEY_EQ || op == KEY_LT || op == KEY_LE)
            high = &range->low;
        if (op == KEY_BETWEEN)
            high = &range->high;
        low_after = op == KEY_GT;
        high_after = op != KEY_LT;
    }
    out->low = edge(range, low, low_after, arena);
    if (range->equal_count != 0 || high != NULL)
        out->high = edge(range, high, high_after, arena);
}

static enum status narrow_by_bound(const struct bound *bound, bool high, struct scope in,
                                   struct ranking_range *out) {
    struct buf key = {0};
    if (bound->at.count == 0)
        return OK;
    int parts = put_parts(&key, &bound->at);
    if (parts < 0 || (uint32_t)parts + 1 != bound->at.count) {
        buf_release(&key);
        return failure_set(in.failure, in.arena, INVALID,
                           "The provided bound does not match the schema of the index");
    }
    struct bytes at = bound->after ? key_after(&key, in.arena) : kept(&key, in.arena);
    if (high && at.size != 0 && (out->high.size == 0 || bytes_compare(at, out->high) < 0))
        out->high = at;
    if (high && at.size == 0 && !bound->after)
        out->empty = true;
    if (!high && bytes_compare(at, out->low) > 0)
        out->low = at;
    return OK;
}

static enum status apply_start(const struct page_request *request, struct scope in,
                               struct ranking_range *out) {
    if (request->start == NULL)
        return OK;
    struct bytes key = ranking_key_of(request->start, in.arena);
    if (key.size == 0)
        return failure_set(in.failure, in.arena, INVALID, "The provided starting key is invalid");
    ranking_range_after(out, key, request->backward, in.arena);
    return OK;
}

void ranking_range_after(struct ranking_range *range, struct bytes key, bool backward,
                         struct arena *arena) {
    if (backward) {
        range->high = key;
        return;
    }
    uint8_t *next = arena_alloc(arena, key.size + 1);
    memcpy(next, key.data, key.size);
    next[key.size] = 0; /* the least key after it */
    range->low = bytes_of(next, key.size + 1);
}

enum status ranking_range_of(const struct page_request *request, struct scope in,
                             struct ranking_range *out) {
    struct rules_context rules = {&ranking_table, in.arena, in.failure};
    struct key_range range;
    *out = (struct ranking_range){0};
    if (request->keys == NULL)
        return failure_set(in.failure, in.arena, UNSUPPORTED,
                           "This server's ranking is kept board by board, so the index ranks can "
                           "be queried and not scanned");
    enum status status = rules_check_range(&rules, &ranking_index, request->keys, &range);
    if (status == OK && request->start != NULL)
        status = rules_check_start(&rules, &ranking_index, &range, request->start);
    if (status != OK)
        return status;
    out->partition = range.partition[0].bytes;
    set_edges(&range, in.arena, out);
    status = narrow_by_bound(&request->low, false, in, out);
    if (status == OK)
        status = narrow_by_bound(&request->high, true, in, out);
    if (status == OK)
        status = apply_start(request, in, out);
    if (out->low.size != 0 && out->high.size != 0 && bytes_compare(out->low, out->high) >= 0)
        out->empty = true;
    return status;
}

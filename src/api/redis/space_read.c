/* Sorted sets as the table has them: each question is one of the index `ranks`. */
#include "api/redis/space_int.h"

/* ---- places ---- */

struct bytes ranked_place(const struct ranked *entry, struct arena *arena) {
    const struct bytes parts[] = {entry->points.score, entry->points.subscore, entry->tie,
                                  entry->key};
    size_t size = 0;
    for (int i = 0; i < 4; i++)
        size += parts[i].size;
    uint8_t *place = arena_alloc(arena, size), *to = place;
    for (int i = 0; i < 4; i++) {
        if (parts[i].size != 0)
            memcpy(to, parts[i].data, parts[i].size);
        to += parts[i].size;
    }
    return bytes_of(place, size);
}

bool edge_is_after(const struct edge *edge, struct bytes place, struct arena *arena) {
    struct ranked at = {edge->key, edge->points, edge->tie};
    struct bytes prefix = ranked_place(&at, arena);
    /* Only a whole place is ended by its key, which says nothing of its own end. */
    bool inside = edge->key.size != 0 ? bytes_equal(place, prefix) : bytes_starts(place, prefix);
    return inside ? edge->after : bytes_compare(place, prefix) < 0;
}

/* ---- pages ---- */

static void put_pair(struct pair *pair, struct bytes name, enum value_type type,
                     struct bytes bytes) {
    *pair = (struct pair){name, {.type = type, .bytes = bytes}};
}

static struct bound bound_of(const struct zset *zset, const struct edge *edge,
                             struct arena *arena) {
    if (edge == NULL || edge->points.score.size == 0)
        return (struct bound){0};
    struct pair *pairs = arena_alloc(arena, 5 * sizeof(*pairs));
    uint32_t count = 0;
    put_pair(&pairs[count++], GAME_PK, VALUE_S, zset->board->pk);
    if (edge->key.size != 0)
        put_pair(&pairs[count++], GAME_SK, VALUE_S, edge->key);
    put_pair(&pairs[count++], GAME_SCORE, VALUE_N, edge->points.score);
    if (edge->points.subscore.size != 0)
        put_pair(&pairs[count++], GAME_SUBSCORE, VALUE_N, edge->points.subscore);
    if (edge->tie.size != 0)
        put_pair(&pairs[count++], GAME_TIE, VALUE_N, edge->tie);
    return (struct bound){{pairs, count}, edge->after};
}

static enum status page(struct redis_call *call, const struct zset *zset,
                        const struct window *window, enum select select, struct page_reply *out) {
    const struct game *game = call->face->game;
    struct key_condition keys;
    keys.count = 1;
    keys.tests[0] =
        (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(zset->board->pk)};
    struct page_request request = {.table = game->table,
                                   .index = GAME_RANKS,
                                   .keys = &keys,
                                   .backward = window->reverse,
                                   .limit = window->limit > UINT32_MAX ? UINT32_MAX
                                                                       : (uint32_t)window->limit,
                                   .select = select,
                                   .low = bound_of(zset, window->low, call->arena),
                                   .high = bound_of(zset, window->high, call->arena),
                                   .skip = window->skip,
                                   .skip_end = window->skip_end,
                                   .whole = true};
    return engine_page(game->engine, &request, call->arena, &call->failure, out);
}

enum status table_count(struct redis_call *call, const struct zset *zset,
                        const struct window *window, uint64_t *out) {
    struct page_reply reply;
    *out = 0;
    if (zset->empty)
        return OK;
    enum status status = page(call, zset, window, SELECT_COUNT, &reply);
    if (status == OK)
        *out = reply.count;
    return status;
}

static struct bytes attribute(const struct item *item, uint32_t expected, struct bytes name) {
    if (expected < item->count && bytes_equal(item->pairs[expected].name, name))
        return item->pairs[expected].value.bytes;
    const struct value *value = item_get(item, name);
    return value != NULL ? value->bytes : (struct bytes){0};
}

/* What the index shows has five attributes, of which names tell the order. */
static struct ranked ranked_of(const struct item *item) {
    return (struct ranked){
        .key = attribute(item, 1, GAME_SK),
        .points = {attribute(item, 2, GAME_SCORE), attribute(item, 3, GAME_SUBSCORE)},
        .tie = attribute(item, 4, GAME_TIE)};
}

enum status table_list(struct redis_call *call, const struct zset *zset,
                       const struct window *window, struct ranked **out, size_t *count) {
    struct page_reply reply;
    *count = 0;
    if (zset->empty)
        return OK;
    enum status status = page(call, zset, window, SELECT_DEFAULT, &reply);
    if (status != OK)
        return status;
    *out = arena_alloc(call->arena, reply.count * sizeof(**out));
    *count = reply.count;
    for (size_t i = 0; i < reply.count; i++)
        (*out)[i] = ranked_of(&reply.items[i]);
    return OK;
}

/* ---- members ---- */

enum status table_places(struct redis_call *call, const struct zset *zset,
                         const struct bytes *members, size_t count, bool ranks,
                         struct standing_at *out) {
    const struct game *game = call->face->game;
    struct item *keys = arena_alloc(call->arena, count * sizeof(*keys));
    struct place *places = arena_alloc(call->arena, count * sizeof(*places));
    struct failure failure;
    size_t asked = 0;
    for (size_t i = 0; i < count && !zset->empty; i++) {
        struct bytes key;
        out[i].found = entry_key_of(members[i], call->arena, &failure, &key) == OK;
        if (out[i].found) /* else it is too long to be anywhere */
            keys[asked++] = game_key(call->arena, zset->board->pk, key);
    }
    for (size_t i = 0; i < count && zset->empty; i++)
        out[i].found = false;
    if (asked == 0)
        return OK;
    struct place_request request = {.table = game->table,
                                    .index = GAME_RANKS,
                                    .keys = keys,
                                    .count = asked,
                                    .entries_only = !ranks};
    enum status status = engine_places(game->engine, &request, call->arena, &call->failure, places);
    if (status != OK)
        return status;
    const struct place *place = places;
    for (size_t i = 0; i < count; i++) {
        if (!out[i].found)
            continue;
        out[i].found = place->found;
        out[i].before = place->before;
        out[i].after = place->after;
        if (place->found)
            out[i].entry = ranked_of(&place->entry);
        place++;
    }
    return OK;
}

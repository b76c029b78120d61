#include "game/keyspace/key_fields.h"

#include "base/random.h"
#include "base/utf8.h"
#include "game/board/entry.h"
#include "game/keyspace/key_garbage.h"
#include "game/record.h"

#include <inttypes.h>

enum {
    PREFIX_SIZE = 2 + KEY_GENERATION_SIZE + 1, /* F#<generation># */
};

struct bytes key_generation_new(struct arena *arena) {
    uint64_t number;
    random_secure(&number, sizeof(number));
    return arena_printf(arena, "%016" PRIx64, number);
}

/* ---- names ---- */

struct bytes key_field_sort_key(struct bytes generation, struct bytes key, struct arena *arena) {
    uint8_t *to = arena_alloc(arena, PREFIX_SIZE + key.size);
    memcpy(to, "F#", 2);
    memcpy(to + 2, generation.data, KEY_GENERATION_SIZE);
    to[PREFIX_SIZE - 1] = '#';
    if (key.size != 0)
        memcpy(to + PREFIX_SIZE, key.data, key.size);
    return bytes_of(to, PREFIX_SIZE + key.size);
}

struct bytes key_field_of_sort_key(struct bytes sort_key) {
    return sort_key.size < PREFIX_SIZE ? (struct bytes){0} : bytes_skip(sort_key, PREFIX_SIZE);
}

bool key_field_name(struct bytes name, struct arena *arena, struct bytes *out) {
    enum { KEY_MAX = LIMIT_SORT_KEY_SIZE - PREFIX_SIZE };
    struct failure unused;
    return name.size <= LIMIT_KEY_FIELD &&
           entry_key_of(name, (struct scope){arena, &unused}, out) == OK && out->size <= KEY_MAX;
}

/* ---- items ---- */

struct item key_field_item_key(const struct key_generation *of, struct bytes key,
                               struct arena *arena) {
    return game_key(arena, of->address->pk, key_field_sort_key(of->name, key, arena));
}

struct item key_field_item(const struct key_generation *of, const struct key_field *field,
                           struct arena *arena) {
    struct record record = record_of(arena);
    record_string(&record, GAME_PK, of->address->pk);
    record_string(&record, GAME_SK, key_field_sort_key(of->name, field->key, arena));
    if (field->value.data != NULL)
        record_put(&record, BYTES("value"),
                   (struct value){.type = utf8_valid(field->value) ? VALUE_S : VALUE_B,
                                  .bytes = field->value});
    if (field->expires_ms != 0)
        record_int(&record, BYTES("expiresAt"), field->expires_ms);
    return record_item(&record);
}

void key_field_read(const struct item *item, struct key_field *out) {
    const struct value *value = item_get(item, BYTES("value"));
    bool text = value != NULL && (value->type == VALUE_S || value->type == VALUE_B);
    out->value = text ? value->bytes : (struct bytes){0};
    out->expires_ms = item_int(item, BYTES("expiresAt"));
}

/* ---- actions ---- */

struct action key_field_put_action(const struct key_generation *of, const struct key_field *field,
                                   struct arena *arena) {
    return (struct action){
        .kind = ACTION_PUT, .table = of->game->table, .item = key_field_item(of, field, arena)};
}

struct action key_field_delete_action(const struct key_generation *of, struct bytes key,
                                      struct arena *arena) {
    return (struct action){.kind = ACTION_DELETE,
                           .table = of->game->table,
                           .item = key_field_item_key(of, key, arena)};
}

struct action key_garbage_action(const struct key_generation *of, struct arena *arena) {
    return key_garbage_note(
        of->game, &(struct key_garbage){.id = of->name, .partition = of->address->pk}, arena);
}

/* ---- reading ---- */

enum status key_fields_get(const struct key_generation *of, const struct key_field_lookup *lookup,
                           struct scope in) {
    struct get_request *requests = ARENA_ARRAY(in.arena, struct get_request, lookup->count);
    struct get_reply *replies = arena_alloc(in.arena, lookup->count * sizeof(*replies));
    for (size_t i = 0; i < lookup->count; i++)
        requests[i] =
            (struct get_request){.table = of->game->table,
                                 .key = key_field_item_key(of, lookup->list[i].key, in.arena),
                                 .consistent = true};
    enum status status = engine_get_many(of->game->engine, requests, lookup->count, in, replies);
    for (size_t i = 0; i < lookup->count && status == OK; i++) {
        lookup->found[i] = replies[i].found;
        if (replies[i].found)
            key_field_read(&replies[i].item, &lookup->list[i]);
    }
    return status;
}

/* The sort keys of a partition from `low` to `high`, both included. */
static enum status read_range(struct game *game, struct bytes pk, const struct key_test *sort,
                              struct scope in, struct page_request *request,
                              struct page_reply *out) {
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(pk)};
    keys.tests[1] = *sort;
    request->table = game->table;
    request->keys = &keys;
    request->consistent = true;
    return engine_page(game->engine, request, in, out);
}

/* The generation's sort keys are those from "F#<generation>#" to before "F#<generation>$". */
static struct key_test generation_test(const struct key_generation *of, struct bytes after,
                                       struct arena *arena) {
    struct bytes begin = key_field_sort_key(of->name, after, arena);
    if (after.size == 0)
        return (struct key_test){.name = GAME_SK, .op = KEY_BEGINS, .low = value_string(begin)};
    uint8_t *end = arena_alloc(arena, PREFIX_SIZE);
    memcpy(end, begin.data, PREFIX_SIZE);
    end[PREFIX_SIZE - 1] = '#' + 1;
    uint8_t *next = arena_alloc(arena, begin.size + 1); /* the next key after `after` */
    memcpy(next, begin.data, begin.size);
    next[begin.size] = 0;
    return (struct key_test){.name = GAME_SK,
                             .op = KEY_BETWEEN,
                             .low = value_string(bytes_of(next, begin.size + 1)),
                             .high = value_string(bytes_of(end, PREFIX_SIZE))};
}

enum status key_fields_page(const struct key_generation *of, struct scope in,
                            struct key_field_page *page) {
    struct key_test test = generation_test(of, page->after, in.arena);
    struct page_request request = {.limit = (uint32_t)page->limit,
                                   .whole = page->limit == 0,
                                   .skip = page->skip,
                                   .nonblocking = page->nonblocking,
                                   .brief = page->brief};
    struct page_reply reply;
    enum status status = read_range(of->game, of->address->pk, &test, in, &request, &reply);
    if (status != OK)
        return status;
    page->list = arena_alloc(in.arena, (reply.count + 1) * sizeof(*page->list));
    page->count = (size_t)reply.count;
    page->more = reply.more;
    for (size_t i = 0; i < page->count; i++) {
        page->list[i].key = key_field_of_sort_key(item_string(&reply.items[i], GAME_SK));
        key_field_read(&reply.items[i], &page->list[i]);
    }
    return OK;
}

#include "game/board/board_count.h"

#include "game/board/board_generation.h"
#include "game/board/board_int.h"
#include "game/board/entry.h"
#include "game/record.h"

#include <inttypes.h>

enum {
    PAGE = 250,
    LOOKED_AT_ONCE = 1000,
    SPANS_AT_ONCE = 500, /* a commit waits while they are counted */
};

void board_count_add_odd(struct board_count *count, struct bytes key) {
    size_t size = sizeof(*count->odd);
    if (count->odd_count == count->odd_room) {
        size_t room = count->odd_room == 0 ? 16 : count->odd_room * 2;
        count->odd = arena_grow(count->in.arena, count->odd, count->odd_room * size, room * size);
        count->odd_room = room;
    }
    count->odd[count->odd_count++] = key;
}

enum status board_count_look(struct board_count *count, size_t more) {
    count->looked += more;
    if (!count->nonblocking || count->looked <= LOOKED_AT_ONCE)
        return OK;
    return failure_set(count->in.failure, count->in.arena, WOULD_BLOCK,
                       "There are many boards to look at");
}

/* --- names of partitions --- */

/* The partitions that begin so, of boards whose names, from there on, are in the list. */
static struct partition_names names_of(const struct board_count *count, struct bytes begin,
                                       struct bytes list) {
    return (struct partition_names){.table = count->game->table,
                                    .index = GAME_RANKS,
                                    .prefix = begin,
                                    .list_index = GAME_GSI1,
                                    .list = list,
                                    .nonblocking = count->nonblocking};
}

static struct partition_names counted_names(const struct board_count *count) {
    return names_of(count, BYTES(BOARD), BYTES("INSTANCES"));
}

enum status board_count_spans(const struct board_count *count, struct name_span *spans,
                              size_t span_count) {
    struct partition_names names = counted_names(count);
    enum status status = OK;
    for (size_t at = 0; at < span_count && status == OK; at += SPANS_AT_ONCE) {
        size_t left = span_count - at;
        status = engine_partitions_count(count->game->engine, &names, count->in, spans + at,
                                         left < SPANS_AT_ONCE ? left : SPANS_AT_ONCE);
    }
    return status;
}

enum status board_count_has_instance(const struct board_count *count, struct bytes key, bool *out) {
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI1PK"), .op = KEY_EQ, .low = value_string(BYTES("INSTANCES"))};
    keys.tests[1] =
        (struct key_test){.name = BYTES("GSI1SK"), .op = KEY_EQ, .low = value_string(key)};
    struct page_request request = {
        .table = count->game->table, .index = GAME_GSI1, .keys = &keys, .select = SELECT_COUNT};
    struct page_reply reply = {0};
    enum status status = engine_page(count->game->engine, &request, count->in, &reply);
    *out = reply.count != 0;
    return status;
}

static struct bytes joined(struct bytes before, struct bytes name, struct arena *arena) {
    uint8_t *joined = arena_alloc(arena, before.size + name.size + 1);
    if (before.size != 0)
        memcpy(joined, before.data, before.size);
    if (name.size != 0)
        memcpy(joined + before.size, name.data, name.size);
    return bytes_of(joined, before.size + name.size);
}

struct name_span board_count_span_of(struct bytes key, struct arena *arena) {
    return (struct name_span){.low = key, .high = joined(key, bytes_of("", 1), arena)};
}

/* How the names of a list become keys: without their first bytes, and behind others. */
struct to_keys {
    struct bytes before;
    size_t skip;
};

static enum status add_names(struct board_count *count, const struct partition_names *names,
                             struct name_span span, struct to_keys to) {
    struct partition_list list = {.more = true};
    struct arena *arena = count->in.arena;
    enum status status = OK;
    while (status == OK && list.more) {
        status = engine_partitions_list(count->game->engine, names, &span, PAGE, count->in, &list);
        for (size_t i = 0; status == OK && i < list.count; i++) {
            struct bytes key = list.names[i];
            key = key.size < to.skip ? (struct bytes){0} : bytes_skip(key, to.skip);
            if (to.before.size != 0)
                key = joined(to.before, key, arena);
            board_count_add_odd(count, key);
        }
        if (status == OK && list.more)
            span.low = board_count_span_of(list.names[list.count - 1], arena).high;
        if (status == OK)
            status = board_count_look(count, list.count);
    }
    return status;
}

enum status board_count_find_listed(struct board_count *count, struct bytes begin,
                                    struct bytes list) {
    struct bytes whole = record_join(count->in.arena, BOARD, begin);
    struct partition_names names = names_of(count, whole, list);
    return add_names(count, &names, (struct name_span){0}, (struct to_keys){.before = begin});
}

enum status board_count_find_span(struct board_count *count, const struct name_span *span) {
    struct partition_names names = counted_names(count);
    return add_names(count, &names, *span, (struct to_keys){0});
}

static enum status find_generations(struct board_count *count) {
    struct partition_names names = names_of(count, BYTES(GENERATION), (struct bytes){0});
    return add_names(count, &names, (struct name_span){0},
                     (struct to_keys){.skip = BOARD_GENERATION_SIZE + 1});
}

/* --- those that are gone --- */

static const struct projection *keys_alone(struct arena *arena) {
    static const struct bytes names[] = {
        {(const uint8_t *)"PK", 2}, {(const uint8_t *)"GSI1SK", 6}, {(const uint8_t *)"GSI2SK", 6}};
    return projection_of_names(names, sizeof(names) / sizeof(names[0]), arena);
}

/* Adds the boards of a partition of GSI2, those before `end` or, if that is empty, all. */
static enum status find_gone(struct board_count *count, struct bytes partition, struct bytes end) {
    struct listing listing = {.index = GAME_GSI2,
                              .partition_name = BYTES("GSI2PK"),
                              .partition = partition,
                              .sort_name = BYTES("GSI2SK"),
                              .before = end,
                              .limit = PAGE,
                              .projection = keys_alone(count->in.arena)};
    struct page_reply page = {.more = true};
    enum status status = OK;
    while (status == OK && page.more) {
        status = board_page(count->game, &listing, count->in, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++) {
            listing.after = item_string(&page.items[i], listing.sort_name);
            if (end.size != 0 && bytes_compare(listing.after, end) >= 0)
                return OK;
            board_count_add_odd(count, item_string(&page.items[i], BYTES("GSI1SK")));
        }
        listing.before = (struct bytes){0};
        if (status == OK)
            status = board_count_look(count, page.count);
    }
    return status;
}

/* --- those of definitions --- */

/* Adds the instances with keys from `low` to `high`, without entries too: the name may be that of
 * another instance by now, which has some. */
static enum status find_instances(struct board_count *count, const struct entry_key_range *range) {
    struct key_condition keys = {.count = 2};
    struct page_reply page = {0};
    struct item start;
    enum status status = OK;
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI1PK"), .op = KEY_EQ, .low = value_string(BYTES("INSTANCES"))};
    keys.tests[1] = (struct key_test){.name = BYTES("GSI1SK"),
                                      .op = KEY_BETWEEN,
                                      .low = value_string(range->low),
                                      .high = value_string(range->high)};
    struct page_request request = {.table = count->game->table,
                                   .index = GAME_GSI1,
                                   .keys = &keys,
                                   .limit = PAGE,
                                   .projection = keys_alone(count->in.arena),
                                   .select = SELECT_SPECIFIC};
    do {
        start = page.last_key;
        request.start = page.more ? &start : NULL;
        status = engine_page(count->game->engine, &request, count->in, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++)
            board_count_add_odd(count, item_string(&page.items[i], BYTES("GSI1SK")));
        if (status == OK)
            status = board_count_look(count, page.count + 1);
    } while (status == OK && page.more);
    return status;
}

/* The names ID, ID/SCOPE and ID@PERIOD, whatever the scope and the period. */
static enum status find_of_id(struct board_count *count, struct bytes id) {
    static const char *const ends[] = {"/", "@"};
    struct arena *arena = count->in.arena;
    enum status status = OK;
    if (!board_is_id(id))
        return OK;
    board_count_add_odd(count, id);
    for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct entry_key_range ranges[ENTRY_KEY_RANGES];
        entry_keys_beginning(joined(id, bytes_str(ends[i]), arena), arena, ranges);
        for (unsigned j = 0; j < ENTRY_KEY_RANGES && status == OK; j++)
            status = find_instances(count, &ranges[j]);
    }
    return status;
}

static enum status find_defined(struct board_count *count) {
    struct listing listing = {.index = GAME_GSI1,
                              .partition_name = BYTES("GSI1PK"),
                              .partition = BYTES("BOARDS"),
                              .sort_name = BYTES("GSI1SK"),
                              .limit = PAGE,
                              .projection = keys_alone(count->in.arena)};
    struct page_reply page = {.more = true};
    enum status status = OK;
    while (status == OK && page.more) {
        status = board_page(count->game, &listing, count->in, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++) {
            struct bytes pk = item_string(&page.items[i], GAME_PK);
            listing.after = item_string(&page.items[i], listing.sort_name);
            if (bytes_starts(pk, BYTES(BOARDDEF)))
                status = find_of_id(count, bytes_skip(pk, sizeof(BOARDDEF) - 1));
        }
    }
    return status;
}

enum status board_count_find_odd(struct board_count *count, int64_t now_ms) {
    struct bytes now = arena_printf(count->in.arena, "%020" PRId64, now_ms + 1);
    enum status status = find_generations(count);
    if (status == OK)
        status = find_gone(count, BYTES("EXPIRING"), now);
    if (status == OK)
        status = find_gone(count, BYTES("CLEARING"), (struct bytes){0});
    return status == OK ? find_defined(count) : status;
}

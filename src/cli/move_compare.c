#include "cli/move_compare.h"

#include "base/clock.h"
#include "base/limits.h"
#include "game/arena_pair.h"
#include "game/game.h"
#include "game/record.h"
#include "json/attribute.h"

enum {
    COMPARE_PAGE = 1000,
    CATCH_UP_US = 1000 * 1000, /* between two looks at the stream */
    FEW_KEYS = 200,            /* that are left for when nobody writes */
    ROUNDS_MAX = 5,            /* of comparing what was told, before that */
};

/* --- sets of keys --- */

void move_keys_init(struct move_keys *keys) {
    *keys = (struct move_keys){0};
    arena_init(&keys->arena);
}

void move_keys_release(struct move_keys *keys) {
    map_release(&keys->set);
    arena_release(&keys->arena);
}

void move_keys_add(struct move_keys *keys, const struct item *key) {
    struct buf text = {0};
    attribute_write_item(&text, key);
    if (map_get(&keys->set, buf_bytes(&text)) == NULL) {
        keys->full |= keys->set.count >= LIMIT_MOVE_KEYS;
        if (!keys->full) {
            struct item *copy = ARENA_NEW(&keys->arena, struct item);
            *copy = item_copy(&keys->arena, key);
            map_put(&keys->set, arena_copy(&keys->arena, buf_bytes(&text)), copy);
        }
    }
    buf_release(&text);
}

void move_comparison_init(struct move_comparison *on) {
    move_keys_init(&on->pending);
    on->catch_up.told = &on->pending;
}

void move_comparison_release(struct move_comparison *on) {
    move_keys_release(&on->pending);
}

/* --- looking up --- */

/* At most LIMIT_BATCH_GETS keys, and what one side has under them. */
struct looked_up {
    struct item *keys;
    size_t count;
    struct get_reply *replies;
};

static struct looked_up look_up_room(struct arena *arena) {
    return (struct looked_up){.keys = ARENA_ARRAY(arena, struct item, LIMIT_BATCH_GETS),
                              .replies = ARENA_ARRAY(arena, struct get_reply, LIMIT_BATCH_GETS)};
}

static enum status look_up(struct engine *engine, struct bytes table, struct looked_up *some,
                           struct scope in) {
    struct get_request *requests = ARENA_ARRAY(in.arena, struct get_request, LIMIT_BATCH_GETS);
    for (size_t i = 0; i < some->count; i++)
        requests[i] =
            (struct get_request){.table = table, .key = some->keys[i], .consistent = true};
    return some->count == 0 ? OK
                            : engine_get_many(engine, requests, some->count, in, some->replies);
}

static enum status stopped(struct scope in) {
    return failure_set(in.failure, in.arena, STOPPING,
                       "stopped; the same command goes on from here");
}

/* --- all items of a side --- */

/* One way of the comparison: items of `from` are looked up at `at`. */
struct compare_pass {
    struct move_comparison *on;
    struct engine *from, *at;
    const char *what;
    uint64_t items;
};

/* Up to LIMIT_BATCH_GETS items of the page from *next on. */
static enum status compare_some(struct compare_pass *pass, const struct page_reply *page,
                                uint64_t *next, struct scope in) {
    struct move_comparison *on = pass->on;
    struct looked_up some = look_up_room(in.arena);
    const struct item **items = ARENA_ARRAY(in.arena, const struct item *, LIMIT_BATCH_GETS);
    for (; *next < page->count && some.count < LIMIT_BATCH_GETS; ++*next) {
        const struct item *item = &page->items[*next];
        if (on->catch_up.stays(item))
            continue;
        items[some.count] = item;
        some.keys[some.count++] =
            game_key(in.arena, item_string(item, GAME_PK), item_string(item, GAME_SK));
    }
    enum status status = look_up(pass->at, on->catch_up.table, &some, in);
    for (size_t i = 0; status == OK && i < some.count; i++)
        if (!some.replies[i].found || !item_equal(&some.replies[i].item, items[i]))
            move_keys_add(&on->pending, &some.keys[i]);
    pass->items += some.count;
    return status;
}

static enum status compare_page(struct compare_pass *pass, const struct item *start,
                                struct scope in, struct page_reply *page) {
    struct page_request request = {.table = pass->on->catch_up.table,
                                   .consistent = true,
                                   .limit = COMPARE_PAGE,
                                   .start = start->count != 0 ? start : NULL};
    enum status status = engine_page(pass->from, &request, in, page);
    for (uint64_t next = 0; status == OK && next < page->count;)
        status = compare_some(pass, page, &next, in);
    return status;
}

/* Carries over what the stream has if some time has passed since the last time. */
static enum status catch_up_at_times(struct move_comparison *on, int64_t *last_us,
                                     struct scope in) {
    if (clock_ticks_us() - *last_us < CATCH_UP_US)
        return OK;
    enum status status = move_live_catch_up(on->live, &on->catch_up, in);
    *last_us = clock_ticks_us();
    return status;
}

static enum status compare_all(struct compare_pass *pass, struct scope in) {
    struct move_comparison *on = pass->on;
    struct arena_pair arenas;
    struct item start = {0};
    struct page_reply page = {.more = true};
    int64_t last_us = clock_ticks_us();
    enum status status = OK;
    arena_pair_init(&arenas);
    progress_start(on->progress, pass->what, "items");
    while (status == OK && page.more && !on->pending.full) {
        struct failure failure = {0};
        status =
            compare_page(pass, &start, (struct scope){arena_pair_next(&arenas), &failure}, &page);
        if (status != OK)
            failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(failure.text));
        else if (atomic_load(on->catch_up.stop))
            status = stopped(in);
        else
            status = catch_up_at_times(on, &last_us, in);
        start = page.more ? page.last_key : (struct item){0};
        progress_show(on->progress, pass->items, 0);
    }
    progress_end(on->progress, pass->items);
    arena_pair_release(&arenas);
    return status;
}

/* --- what is pending --- */

/* Up to LIMIT_BATCH_GETS keys of the set, from *at on, on both sides. */
static enum status compare_keys(struct move_comparison *on, const struct move_keys *keys,
                                size_t *at, struct scope in) {
    struct looked_up here = look_up_room(in.arena), there = look_up_room(in.arena);
    const struct map_slot *slot;
    while (here.count < LIMIT_BATCH_GETS && (slot = map_next(&keys->set, at)) != NULL)
        here.keys[here.count++] = *(const struct item *)slot->value;
    there.keys = here.keys;
    there.count = here.count;
    enum status status = look_up(on->source, on->catch_up.table, &here, in);
    if (status == OK)
        status = look_up(on->catch_up.target, on->catch_up.table, &there, in);
    for (size_t i = 0; status == OK && i < here.count; i++) {
        const struct get_reply *one = &here.replies[i], *other = &there.replies[i];
        if (one->found != other->found || (one->found && !item_equal(&one->item, &other->item)))
            move_keys_add(&on->pending, &here.keys[i]);
    }
    return status;
}

/* Compares what was pending; what differs is pending again, with what the stream tells from now on.
 */
static enum status compare_round(struct move_comparison *on, struct scope in) {
    struct move_keys keys = on->pending;
    struct arena arena;
    enum status status = OK;
    size_t at = 0;
    arena_init(&arena);
    move_keys_init(&on->pending);
    for (size_t done = 0; status == OK && done < keys.set.count; done += LIMIT_BATCH_GETS) {
        struct failure failure = {0};
        status = compare_keys(on, &keys, &at, (struct scope){&arena, &failure});
        if (status != OK)
            failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(failure.text));
        else if (atomic_load(on->catch_up.stop))
            status = stopped(in);
        arena_reset(&arena);
    }
    arena_release(&arena);
    move_keys_release(&keys);
    return status;
}

enum status move_compare_ahead(struct move_comparison *on, struct scope in) {
    struct compare_pass there = {on, on->source, on->catch_up.target, "comparing", 0};
    struct compare_pass back = {on, on->catch_up.target, on->source, "comparing back", 0};
    enum status status = compare_all(&there, in);
    on->items = there.items;
    if (status == OK)
        status = compare_all(&back, in);
    for (unsigned i = 0; status == OK && i < ROUNDS_MAX && !on->pending.full; i++) {
        status = move_live_catch_up(on->live, &on->catch_up, in);
        if (status != OK || on->pending.set.count <= FEW_KEYS)
            break;
        status = compare_round(on, in);
    }
    return status;
}

enum status move_compare_pending(struct move_comparison *on, struct scope in, bool *same) {
    on->last = on->pending.set.count;
    enum status status = compare_round(on, in);
    *same = status == OK && on->pending.set.count == 0;
    return status;
}

/* gametable move: a game from a data folder to a table of DynamoDB, and back.
 *
 * Both sides are engines, and one loop serves both ways: a page of all items is read here and
 * written there. Where it is is written down after each page, so a move that was interrupted goes
 * on; an item that is there already as it should be is not written again. At the end both sides are
 * read once more and compared: how many items, and a sum of their hashes, which does not ask for an
 * order.
 *
 * Without --live no server may have the data folder open, and none should write to the table
 * meanwhile. With it (move_live.h) the servers go on: what they write while items are copied is
 * carried over from the stream and both sides are compared (move_compare.h), and they are read-only
 * for the last of it. What belongs to one side only stays there: tokens of requests, and how far
 * its stream was read. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cli/cmd_copies.h"
#include "cli/commands.h"
#include "cli/help_texts.h"
#include "cli/move_compare.h"
#include "cli/progress.h"
#include "cli/serve_engine.h"
#include "game/game.h"
#include "table/engine.h"
#include "value/codec.h"
#include "json/attribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MOVE_PAGE = 1000,
    POSITION_MAX = 16 * 1024,
    EARLY_MS = 2 * 60 * 1000, /* of the stream before a move began: clocks differ, and some
                                 endpoints tell the minute */
    COMPARE_TRIES = 3,
};

/* One side's items: how many, and the sum of their hashes. */
struct move_sum {
    uint64_t items, low, high;
};

struct moving {
    struct settings settings;
    enum engine_choice to; /* from the other one */
    struct engine *source, *target;
    struct bytes table;
    char *position; /* the file that says how far it is */
    const atomic_bool *stop;
    struct arena arena; /* of the whole move */
    struct failure failure;
    struct progress progress;
    uint64_t moved, total;
    struct move_live live;
    char *since;        /* the file that says when a live move began */
    uint64_t caught_up; /* items that were written meanwhile */
};

/* --- how far it is --- */

static bool read_position(struct moving *on, struct item *start) {
    struct bytes text;
    struct json json;
    size_t at;
    struct scope in = {&on->arena, &on->failure};
    return files_get(on->position, POSITION_MAX, &on->arena, &text) == 0 &&
           json_parse(text, &on->arena, &json, &at) == OK &&
           attribute_read_item(&json, in, start) == OK && start->count != 0;
}

static enum status write_position(struct moving *on, const struct item *last) {
    struct buf text = {0};
    attribute_write_item(&text, last);
    int result = files_put(on->position, buf_bytes(&text));
    buf_release(&text);
    if (result == 0)
        return OK;
    return failure_set(&on->failure, &on->arena, IO_FAILED, "cannot write %s", on->position);
}

/* --- reading one side --- */

/* What only one side has a use for. */
static bool stays(const struct item *item) {
    const struct value *partition = item_get(item, GAME_PK);
    return partition == NULL || partition->type != VALUE_S ||
           bytes_starts(partition->bytes, BYTES("TOKEN#")) ||
           bytes_equal(partition->bytes, BYTES("KEEPER"));
}

static enum status read_page(struct moving *on, struct engine *engine, const struct item *start,
                             struct arena *arena, struct page_reply *out) {
    struct page_request request = {.table = on->table,
                                   .consistent = true,
                                   .limit = MOVE_PAGE,
                                   .start = start->count != 0 ? start : NULL};
    struct failure failure = {0};
    enum status status = engine_page(engine, &request, (struct scope){arena, &failure}, out);
    if (status != OK)
        return failure_set(&on->failure, &on->arena, status, "%.*s", BYTES_ARG(failure.text));
    return OK;
}

static bool is_stopped(struct moving *on) {
    if (!atomic_load(on->stop))
        return false;
    failure_set(&on->failure, &on->arena, STOPPING, "stopped; the same command goes on from here");
    return true;
}

/* --- moving --- */

static enum status write_page(struct moving *on, const struct page_reply *page,
                              struct arena *arena) {
    struct action *actions = ARENA_ARRAY(arena, struct action, page->count + 1);
    struct change change = {
        .kind = CHANGE_WRITE, .arena = arena, .actions = actions, .divisible = true};
    for (uint64_t i = 0; i < page->count; i++)
        if (!stays(&page->items[i]))
            actions[change.action_count++] = (struct action){
                .kind = ACTION_PUT, .by_owner = true, .table = on->table, .item = page->items[i]};
    enum status status = change.action_count != 0 ? engine_submit_wait(on->target, &change) : OK;
    on->moved += change.action_count;
    if (status != OK)
        return failure_set(&on->failure, &on->arena, status, "%.*s",
                           BYTES_ARG(change.failure.text));
    return OK;
}

static enum status move_items(struct moving *on) {
    struct item start = {0};
    struct arena arena;
    struct page_reply page = {.more = true};
    enum status status = OK;
    read_position(on, &start);
    arena_init(&arena);
    progress_start(&on->progress, "moving", "items");
    while (status == OK && page.more && !is_stopped(on)) {
        status = read_page(on, on->source, &start, &arena, &page);
        if (status == OK)
            status = write_page(on, &page, &arena);
        if (status == OK && page.more) {
            start = item_copy(&on->arena, &page.last_key);
            status = write_position(on, &start);
        }
        progress_show(&on->progress, on->moved, on->total);
        arena_reset(&arena);
    }
    progress_end(&on->progress, on->moved);
    arena_release(&arena);
    return on->failure.status;
}

/* --- while it is served --- */

/* When the move began, by this machine's clock, with what clocks may differ by. Written down before
 * the first item is read, so that one that goes on carries over the same. */
static enum status find_since(struct moving *on, int64_t *out) {
    struct bytes text;
    char digits[32];
    if (files_get(on->since, POSITION_MAX, &on->arena, &text) == 0 && text.size != 0) {
        *out = strtoll((const char *)arena_str(&on->arena, text), NULL, 10);
        return OK;
    }
    *out = clock_now_ms() - EARLY_MS;
    int size = snprintf(digits, sizeof(digits), "%lld", (long long)*out);
    if (files_put(on->since, bytes_of(digits, (size_t)size)) == 0)
        return OK;
    return failure_set(&on->failure, &on->arena, IO_FAILED, "cannot write %s", on->since);
}

static enum status follow_source(struct moving *on) {
    int64_t since_ms;
    enum status status = find_since(on, &since_ms);
    if (status == OK)
        on->live.follower = remote_follower_new(on->source, since_ms);
    return status;
}

static struct move_catch_up catch_up_of(struct moving *on) {
    return (struct move_catch_up){on->target, on->table, stays, on->stop, &on->caught_up, NULL};
}

static enum status catch_up(struct moving *on, const struct move_catch_up *with, const char *what) {
    struct scope in = {&on->arena, &on->failure};
    progress_start(&on->progress, what, "items");
    enum status status = move_live_catch_up(&on->live, with, in);
    progress_end(&on->progress, on->caught_up);
    return status == OK && is_stopped(on) ? STOPPING : status;
}

static enum status compare_sides(struct moving *on);

/* What could not be compared before. If that was too much to remember, all of it. */
static enum status compare_last(struct moving *on, struct move_comparison *comparison) {
    struct scope in = {&on->arena, &on->failure};
    bool same = false;
    if (comparison->pending.full)
        return compare_sides(on);
    enum status status = move_compare_pending(comparison, in, &same);
    if (status != OK)
        return status;
    if (!same)
        return failure_set(in.failure, in.arena, DAMAGED,
                           "the sides differ in %zu items. If something wrote to them past the "
                           "servers meanwhile, stop it and move again; items that were there "
                           "before the move stay there",
                           comparison->pending.set.count);
    printf("both sides are the same: %llu items were compared, and %llu of them while nothing was "
           "written\n",
           (unsigned long long)comparison->items, (unsigned long long)comparison->last);
    return OK;
}

/* The last of the stream while nobody writes, and what has to be compared then. */
static enum status finish_read_only(struct moving *on, struct move_comparison *comparison) {
    enum status status = OK;
    for (unsigned i = 0; i < COMPARE_TRIES && status == OK; i++) {
        status = catch_up(on, &comparison->catch_up, "catching up, read-only");
        if (status == OK)
            status = compare_last(on, comparison);
        if (status != DAMAGED || i + 1 == COMPARE_TRIES)
            break;
        on->failure = (struct failure){0}; /* a stream may be a moment behind its table */
        status = OK;
        sleep(1);
    }
    return status;
}

/* Until nothing is missing and both sides have been compared; then the rest while nobody writes. */
static enum status finish_compared(struct moving *on, struct move_comparison *comparison) {
    struct scope in = {&on->arena, &on->failure};
    struct move_catch_up before = catch_up_of(on); /* the keys of this need not be remembered */
    enum status status = catch_up(on, &before, "catching up");
    if (status == OK)
        status = move_compare_ahead(comparison, in);
    if (status == OK)
        status = move_live_read_only(&on->live, true, in);
    return status == OK ? finish_read_only(on, comparison) : status;
}

static enum status finish_live(struct moving *on) {
    struct move_comparison comparison = {.source = on->source,
                                         .live = &on->live,
                                         .catch_up = catch_up_of(on),
                                         .progress = &on->progress};
    move_comparison_init(&comparison);
    enum status status = finish_compared(on, &comparison);
    move_comparison_release(&comparison);
    if (status == OK) {
        printf("the servers it comes from have been read-only for %.1f s, and stay so: stop them\n",
               (double)(clock_ticks_us() - on->live.since_us) / 1e6);
        return OK;
    }
    struct failure ignored = {0};
    if (on->live.since_us != 0)
        move_live_read_only(&on->live, false, (struct scope){&on->arena, &ignored});
    return status;
}

/* --- comparing --- */

static void add_item(struct move_sum *sum, const struct item *item) {
    struct buf encoded = {0};
    attribute_write_item(&encoded, item);
    uint64_t low = hash_stable(buf_bytes(&encoded), 1), high = hash_stable(buf_bytes(&encoded), 2);
    sum->high += high + (sum->low + low < low);
    sum->low += low;
    sum->items++;
    buf_release(&encoded);
}

static enum status sum_items(struct moving *on, struct engine *engine, const char *what,
                             struct move_sum *out) {
    struct arena arena, keys[2];
    struct item start = {0};
    struct page_reply page = {.more = true};
    enum status status = OK;
    *out = (struct move_sum){0};
    arena_init(&arena);
    arena_init(&keys[0]);
    arena_init(&keys[1]);
    progress_start(&on->progress, what, "items");
    for (unsigned turn = 0; status == OK && page.more && !is_stopped(on); turn ^= 1) {
        status = read_page(on, engine, &start, &arena, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++)
            if (!stays(&page.items[i]))
                add_item(out, &page.items[i]);
        arena_reset(&keys[turn]);
        start = item_copy(&keys[turn], &page.last_key);
        progress_show(&on->progress, out->items, on->moved);
        arena_reset(&arena);
    }
    progress_end(&on->progress, out->items);
    arena_release(&arena);
    arena_release(&keys[0]);
    arena_release(&keys[1]);
    return on->failure.status;
}

static enum status compare_sides(struct moving *on) {
    struct move_sum here, there;
    enum status status = sum_items(on, on->source, "reading what was moved", &here);
    if (status == OK)
        status = sum_items(on, on->target, "comparing", &there);
    if (status != OK)
        return status;
    if (here.items == there.items && here.low == there.low && here.high == there.high) {
        printf("%llu items are on both sides, and are the same\n", (unsigned long long)here.items);
        return OK;
    }
    return failure_set(&on->failure, &on->arena, DAMAGED,
                       "the sides differ: %llu items here, %llu there. If something wrote to them "
                       "meanwhile, stop it and move again; items that were there before the move "
                       "stay there",
                       (unsigned long long)here.items, (unsigned long long)there.items);
}

/* --- opening both sides --- */

static enum status open_side(struct moving *on, enum engine_choice which, struct engine **out) {
    struct settings settings = on->settings;
    settings.engine = which;
    settings.memory = false;
    settings.durability = STORE_SYNC_NONE; /* closing it syncs */
    return serve_engine_open(&settings, (struct scope){&on->arena, &on->failure}, out);
}

static enum status find_source(struct moving *on) {
    struct table_description about;
    struct scope in = {&on->arena, &on->failure};
    enum status status = engine_describe(on->source, on->table, in, &about);
    if (status == NO_TABLE)
        return failure_set(in.failure, in.arena, NO_TABLE, "there is no table %.*s to move",
                           BYTES_ARG(on->table));
    on->total = status == OK ? about.item_count : 0;
    return status;
}

/* Makes the table, without its stream: what is moved did not just happen, so plays are not counted
 * again. The server that opens it next switches that on. */
static enum status make_table(struct moving *on) {
    struct table_schema schema = game_table_schema(on->table, &on->arena);
    schema.stream = STREAM_OFF;
    struct change change = {
        .kind = CHANGE_CREATE_TABLE, .arena = &on->arena, .table = on->table, .schema = &schema};
    enum status status = engine_submit_wait(on->target, &change);
    on->failure = change.failure;
    return status;
}

static enum status find_target(struct moving *on) {
    struct item start;
    struct page_reply page;
    struct table_description about;
    struct failure absent = {0};
    enum status status =
        engine_describe(on->target, on->table, (struct scope){&on->arena, &absent}, &about);
    if (status == NO_TABLE)
        return make_table(on);
    if (status != OK) {
        on->failure = absent;
        return status;
    }
    if (read_position(on, &start))
        return OK; /* a move goes on */
    start = (struct item){0};
    status = read_page(on, on->target, &start, &on->arena, &page);
    for (uint64_t i = 0; status == OK && i < page.count; i++)
        if (!stays(&page.items[i]))
            return failure_set(&on->failure, &on->arena, INVALID,
                               "the table %.*s is there already, and has items: delete it first, "
                               "if nobody needs them",
                               BYTES_ARG(on->table));
    return status;
}

/* A data folder that is served is read through its server. */
static enum status open_source(struct moving *on) {
    if (on->to == ENGINE_DYNAMODB && on->live.urls != NULL)
        return move_live_open(&on->live, on->settings.game_table,
                              (struct scope){&on->arena, &on->failure}, &on->source);
    return open_side(on, on->to == ENGINE_DYNAMODB ? ENGINE_LOCAL : ENGINE_DYNAMODB, &on->source);
}

static enum status run_move(struct moving *on) {
    enum status status = open_source(on);
    if (status == OK)
        status = open_side(on, on->to, &on->target);
    if (status == OK)
        status = find_source(on);
    if (status == OK)
        status = find_target(on);
    if (status == OK && on->live.urls != NULL)
        status = follow_source(on);
    if (status == OK)
        status = move_items(on);
    if (status == OK)
        status = on->live.urls != NULL ? finish_live(on) : compare_sides(on);
    if (status == OK) {
        unlink(on->position);
        unlink(on->since);
    }
    return status;
}

static void close_sides(struct moving *on) {
    if (on->live.follower != NULL)
        remote_follower_free(on->live.follower);
    if (on->target != NULL)
        engine_close(on->target);
    if (on->source != NULL)
        engine_close(on->source);
}

/* --- the command --- */

static bool read_sides(const char *from, const char *to, enum engine_choice *out) {
    *out = strcmp(to, "dynamodb") == 0 ? ENGINE_DYNAMODB : ENGINE_LOCAL;
    return (strcmp(from, "local") == 0 && strcmp(to, "dynamodb") == 0) ||
           (strcmp(from, "dynamodb") == 0 && strcmp(to, "local") == 0);
}

/* Takes --live, --key and --cacert, which are no settings of a server, out of the words; returns
 * how many are left. */
static int take_live(struct move_live *live, int argc, char **argv) {
    const struct {
        const char *name;
        const char **value;
    } own[] = {{"--live", &live->urls}, {"--key", &live->key}, {"--cacert", &live->cacert}};
    int left = 0;
    for (int i = 0; i < argc; i++) {
        size_t at = 0;
        while (at < 3 && strcmp(argv[i], own[at].name) != 0)
            at++;
        if (at < 3 && i + 1 < argc)
            *own[at].value = argv[++i];
        else
            argv[left++] = argv[i];
    }
    return left;
}

int command_move(int argc, char **argv) {
    struct moving on = {0};
    if (argc < 2 || !read_sides(argv[0], argv[1], &on.to))
        return help_usage("move");
    on.live.key = getenv("GAMETABLE_KEY");
    int count = take_live(&on.live, argc - 2, argv + 2);
    arena_init(&on.arena);
    enum status status =
        settings_read(count, argv + 2, (struct scope){&on.arena, &on.failure}, &on.settings);
    if (status == OK) {
        on.table = bytes_str(on.settings.game_table);
        on.stop = copies_catch_signals();
        on.position =
            files_join(on.settings.data, on.to == ENGINE_DYNAMODB ? "move-to-dynamodb.json"
                                                                  : "move-from-dynamodb.json");
        on.since = files_join(on.settings.data, "move-since");
        status = run_move(&on);
        close_sides(&on);
        mem_free(on.position);
        mem_free(on.since);
    }
    int result = status == OK ? 0 : copies_failed(&on.failure);
    arena_release(&on.arena);
    return result;
}

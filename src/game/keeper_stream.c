/* Reading the table's stream: plays that ended go to stats, boards that began or changed are
 * watched.
 *
 *   PK KEEPER  SK STATS    stream N (label), at L of N (by shard), gaps N
 *
 * The item says from where on plays have not been counted, and is written in the commit that counts
 * them, if it still says what was read: so each is counted once, whoever counts and whatever stops
 * in between. Every keeper reads all of the stream for what it watches, and counts only what is
 * not before the item's position.
 *
 * What is written here stands in the stream, too. A position is therefore not written for its own
 * sake, but with plays, or when much was passed over or it is long ago. */
#include "base/clock.h"
#include "game/keeper_int.h"
#include "game/record.h"
#include "value/number.h"

enum { READ_RECORDS = 500, PAGES_AT_ONCE = 400 };
#define STORE_AFTER     UINT64_C(500000)                 /* records passed over */
#define STORE_AFTER_US  (INT64_C(60) * 60 * 1000 * 1000) /* an hour */
#define POSITION_PK     BYTES("KEEPER")
#define POSITION_SK     BYTES("STATS")
#define POSITION_STREAM BYTES("stream")
#define POSITION_AT     BYTES("at")
#define POSITION_GAPS   BYTES("gaps")

/* --- the position's item --- */

static struct stats_position read_position(const struct item *item) {
    struct stats_position position = {.stored = item->count != 0,
                                      .label_ms = item_int(item, POSITION_STREAM)};
    const struct value *list = item_get(item, POSITION_AT);
    for (uint32_t i = 0; list != NULL && list->type == VALUE_L && i < list->count; i++) {
        int64_t at = 0;
        if (i < STREAM_SHARDS && list->elements[i].type == VALUE_N &&
            number_to_int(list->elements[i].bytes, &at))
            position.at[i] = (uint64_t)at;
    }
    return position;
}

/* A step from one position to the next, for the function that takes it. */
struct step {
    struct stats_position from, to;
    uint64_t gaps;
};

/* Before anything was stored all are the same: the beginning. */
static bool same_position(const struct stats_position *a, const struct stats_position *b) {
    if (!a->stored || !b->stored)
        return a->stored == b->stored;
    return a->label_ms == b->label_ms && memcmp(a->at, b->at, sizeof(a->at)) == 0;
}

static enum status take_step(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    const struct step *step = action->user;
    struct stats_position now = read_position(old);
    struct record record = record_of(arena);
    struct value *at = ARENA_ARRAY(arena, struct value, STREAM_SHARDS);
    if (!same_position(&now, &step->from))
        return failure_set(&action->failure, arena, CONFLICT, "Another keeper was first");
    for (unsigned i = 0; i < STREAM_SHARDS; i++)
        at[i] = value_int(arena, (int64_t)step->to.at[i]);
    record_string(&record, GAME_PK, POSITION_PK);
    record_string(&record, GAME_SK, POSITION_SK);
    record_int(&record, POSITION_STREAM, step->to.label_ms);
    record_put(&record, POSITION_AT,
               (struct value){.type = VALUE_L, .count = STREAM_SHARDS, .elements = at});
    record_int(&record, POSITION_GAPS, item_int(old, POSITION_GAPS) + (int64_t)step->gaps);
    *new = record_item(&record);
    return OK;
}

/* Moves the stored position on, together with the batch (NULL: alone). CONFLICT: it is not what we
 * took it for. */
static enum status store_position(struct keeper *keeper, const struct stats_position *to,
                                  const struct stats_batch *batch, struct arena *arena) {
    struct keeper_reader *reader = &keeper->reader;
    struct game *game = keeper->game;
    struct step step = {.from = reader->stored, .to = *to, .gaps = reader->gaps};
    size_t count = batch != NULL ? batch->action_count : 0;
    struct action *actions = ARENA_ARRAY(arena, struct action, count + 1);
    if (count != 0)
        memcpy(actions, batch->actions, count * sizeof(*actions));
    actions[count] = (struct action){.kind = ACTION_COMPUTE,
                                     .table = game->table,
                                     .item = game_key(arena, POSITION_PK, POSITION_SK),
                                     .compute = take_step,
                                     .user = &step};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = arena, .actions = actions, .action_count = count + 1};
    enum status status = game_wait(game, &change);
    if (status == OK) {
        reader->stored = *to;
        reader->stored.stored = true;
        reader->gaps = 0;
        reader->stored_us = clock_ticks_us();
    }
    return status;
}

/* --- which stream --- */

static enum status get_position(struct keeper *keeper, struct arena *arena,
                                struct stats_position *out) {
    struct failure failure;
    struct get_reply reply;
    struct get_request request = {.table = keeper->game->table,
                                  .key = game_key(arena, POSITION_PK, POSITION_SK),
                                  .consistent = true};
    enum status status = engine_get(keeper->game->engine, &request, arena, &failure, &reply);
    if (status == OK)
        *out = read_position(&reply.item);
    return status;
}

/* The table's first stream after the label. NOT_FOUND: there is none. */
static enum status next_stream(struct keeper *keeper, int64_t label_ms, struct arena *arena,
                               struct stream_info *out) {
    struct stream_list_request request = {.table = keeper->game->table, .limit = 1};
    struct stream_list list;
    if (label_ms != 0) {
        request.after_table = keeper->game->table;
        request.after_label_ms = label_ms;
    }
    enum status status = engine_streams(keeper->game->engine, &request, arena, &list);
    if (status == OK && list.count == 0)
        return NOT_FOUND;
    if (status == OK)
        *out = list.streams[0];
    return status;
}

static struct stats_position start_of(const struct stream_info *stream) {
    struct stats_position position = {.label_ms = stream->label_ms};
    memcpy(position.at, stream->kept, sizeof(position.at));
    return position;
}

static void note_gap(struct keeper *keeper) {
    keeper->reader.gaps++;
    keeper->figures.gaps++;
    keeper->walk = true;
}

/* Begins at the stored position, or with the first stream there is. */
static enum status load(struct keeper *keeper, struct arena *arena) {
    struct keeper_reader *reader = &keeper->reader;
    struct stats_position position;
    struct stream_info stream;
    enum status status = get_position(keeper, arena, &position);
    if (status != OK)
        return status;
    reader->stored = position;
    if (!position.stored) {
        status = next_stream(keeper, 0, arena, &stream);
        if (status != OK)
            return status;
        reader->stored = start_of(&stream);
        reader->stored.stored = false;
    }
    memcpy(reader->at, reader->stored.at, sizeof(reader->at));
    /* What another keeper has counted is not read here: boards among it have to be looked for. */
    keeper->walk = true;
    reader->loaded = true;
    reader->ended = false;
    reader->stored_us = clock_ticks_us();
    return OK;
}

/* The stream has been read to its end, or is no more: on to the next. */
static enum status change_stream(struct keeper *keeper, bool lost, struct arena *arena) {
    struct keeper_reader *reader = &keeper->reader;
    struct stream_info stream;
    enum status status = next_stream(keeper, reader->stored.label_ms, arena, &stream);
    if (status != OK)
        return status;
    if (lost)
        note_gap(keeper);
    struct stats_position to = start_of(&stream);
    /* If nothing was counted yet there is nothing to step from. */
    if (reader->stored.stored)
        status = store_position(keeper, &to, NULL, arena);
    else
        reader->stored = to;
    if (status == OK) {
        memcpy(reader->at, to.at, sizeof(to.at));
        reader->ended = false;
    } else
        reader->loaded = false;
    return status == CONFLICT ? OK : status;
}

/* --- one page --- */

static void watch_record(struct keeper *keeper, const struct stream_record *record) {
    struct bytes pk = item_string(&record->keys, GAME_PK);
    if (bytes_starts(pk, BYTES("INSTANCE#")) && record->has_new)
        keeper_watch(keeper, &record->new);
    else if (bytes_starts(pk, BYTES("BOARDDEF#")) && record->event == STREAM_MODIFY &&
             keeper_walk(keeper, bytes_skip(pk, BYTES("BOARDDEF#").size)) != OK)
        keeper->walk = true;
}

/* Another keeper moved the position: it is read again, and what it counted is not counted here. */
static enum status look_again(struct keeper *keeper, struct arena *arena) {
    struct keeper_reader *reader = &keeper->reader;
    struct stats_position now;
    enum status status = get_position(keeper, arena, &now);
    if (status != OK)
        return status;
    if (now.label_ms != reader->stored.label_ms)
        reader->loaded = false;
    else
        reader->stored = now;
    return OK;
}

/* Counts the plays of the page. */
static enum status count_plays(struct keeper *keeper, unsigned shard,
                               const struct stream_read_reply *page, struct arena *arena) {
    struct keeper_reader *reader = &keeper->reader;
    while (reader->loaded) {
        struct stats_batch batch;
        struct stats_position to = reader->stored;
        for (unsigned i = 0; i < STREAM_SHARDS; i++)
            if (reader->at[i] > to.at[i])
                to.at[i] = reader->at[i];
        uint64_t from = reader->stored.at[shard];
        stats_prepare(keeper->game, page->records, page->count, from, arena, &batch);
        bool late = reader->gaps != 0 || page->next > from + STORE_AFTER ||
                    (page->next > from && clock_ticks_us() - reader->stored_us > STORE_AFTER_US);
        if (batch.plays == 0 && !late)
            return OK;
        if (page->next > to.at[shard])
            to.at[shard] = page->next;
        enum status status = store_position(keeper, &to, &batch, arena);
        if (status == OK)
            keeper->figures.plays += batch.plays;
        if (status == INVALID) {
            /* An item that cannot be: without it, so that the rest is not held up for ever. */
            status = store_position(keeper, &to, NULL, arena);
            keeper->figures.plays_skipped += status == OK ? batch.plays : 0;
        }
        if (status != CONFLICT)
            return status;
        status = look_again(keeper, arena);
        if (status != OK)
            return status;
    }
    return OK;
}

static enum status jump(struct keeper *keeper, unsigned shard, struct arena *arena) {
    struct keeper_reader *reader = &keeper->reader;
    struct stream_info stream;
    struct failure failure;
    enum status status = engine_stream(keeper->game->engine, keeper->game->table,
                                       reader->stored.label_ms, arena, &failure, &stream);
    if (status != OK)
        return status;
    note_gap(keeper);
    reader->at[shard] = stream.kept[shard];
    return OK;
}

/* *more: there may be more to read. */
static enum status read_page(struct keeper *keeper, unsigned shard, bool *more, bool *ended) {
    static const struct bytes wanted[] = {{(const uint8_t *)"PLAYER#", 7},
                                          {(const uint8_t *)"INSTANCE#", 9},
                                          {(const uint8_t *)"BOARDDEF#", 9}};
    struct keeper_reader *reader = &keeper->reader;
    struct arena arena;
    struct failure failure;
    struct stream_read_reply page;
    struct stream_read_request request = {.table = keeper->game->table,
                                          .label_ms = reader->stored.label_ms,
                                          .shard = shard,
                                          .from = reader->at[shard],
                                          .limit = READ_RECORDS,
                                          .partitions = wanted,
                                          .partition_count = 3};
    arena_init(&arena);
    enum status status =
        engine_stream_read(keeper->game->engine, &request, &arena, &failure, &page);
    if (status == OK && page.trimmed) {
        *more = true;
        status = jump(keeper, shard, &arena);
    } else if (status == OK) {
        status = count_plays(keeper, shard, &page, &arena);
        for (size_t i = 0; status == OK && i < page.count; i++)
            watch_record(keeper, &page.records[i]);
        if (status == OK)
            reader->at[shard] = page.next;
        *more = !page.caught_up;
        *ended = page.ended;
    }
    arena_release(&arena);
    return status;
}

/* --- all of it --- */

static enum status read_shards(struct keeper *keeper, unsigned *pages, bool *ended) {
    enum status status = OK;
    *ended = true;
    for (unsigned shard = 0; shard < STREAM_SHARDS && status == OK; shard++) {
        bool more = true, shard_ended = false;
        while (more && status == OK && keeper->reader.loaded && *pages > 0 &&
               !keeper_stopping(keeper)) {
            --*pages;
            status = read_page(keeper, shard, &more, &shard_ended);
        }
        *ended = *ended && shard_ended;
    }
    return status;
}

static enum status read_some(struct keeper *keeper, struct arena *arena) {
    enum status status = OK;
    unsigned pages = PAGES_AT_ONCE;
    bool ended = true;
    while (status == OK && ended && pages > 0 && !keeper_stopping(keeper)) {
        if (!keeper->reader.loaded)
            status = load(keeper, arena);
        if (status == OK)
            status = read_shards(keeper, &pages, &ended);
        if (status == OK && !keeper->reader.loaded)
            ended = true;
        else if (status == NO_RESOURCE || (status == OK && ended)) {
            bool lost = status == NO_RESOURCE && !keeper->reader.ended;
            keeper->reader.ended = true;
            status = change_stream(keeper, lost, arena);
            ended = true;
        }
    }
    return status == NOT_FOUND ? OK : status;
}

void keeper_read(struct keeper *keeper) {
    struct arena arena;
    arena_init(&arena);
    enum status status = read_some(keeper, &arena);
    if (status != OK) {
        keeper->figures.failures++;
        keeper->reader.loaded = false;
    }
    arena_release(&arena);
}

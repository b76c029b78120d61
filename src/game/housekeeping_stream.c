/* Reading the table's stream: plays that ended are added to stats, names that changed are written
 * into entries, and instances of boards that are new or have changed are scheduled.
 *
 *   PK KEEPER  SK STATS    stream N (label), at L of N (by shard), gaps N
 *
 * The item says from where on plays have not been counted, and is written in the commit that counts
 * them, if it still says what was read: so each is counted once, whoever counts and whatever stops
 * in between. Every server reads all of the stream to schedule boards, and counts only plays that
 * are not before the item's position.
 *
 * Writing the position is itself a record of the stream. It is therefore written only together with
 * plays, or after very many records or a long time without any: what a start reads once more is
 * bounded (housekeeping_position_is_late()). */
#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "game/housekeeping_int.h"
#include "game/player/player_finders.h"
#include "game/player/player_names.h"
#include "game/record.h"
#include "table/engine.h"
#include "value/number.h"

enum { READ_RECORDS = LIMIT_HOUSEKEEPING_RECORDS, PAGES_AT_ONCE = LIMIT_HOUSEKEEPING_PAGES };
#define POSITION_PK     BYTES("KEEPER")
#define POSITION_SK     BYTES("STATS")
#define POSITION_STREAM BYTES("stream")
#define POSITION_AT     BYTES("at")
#define POSITION_GAPS   BYTES("gaps")

/* --- the position's item --- */

bool housekeeping_position_is_late(uint64_t passed, int64_t since_us) {
    return (passed > HOUSEKEEPING_STORE_RECORDS && since_us > HOUSEKEEPING_STORE_APART_US) ||
           (passed != 0 && since_us > HOUSEKEEPING_STORE_AFTER_US);
}

static struct housekeeping_position read_position(const struct item *item) {
    struct housekeeping_position position = {.stored = item->count != 0,
                                             .label_ms = item_int(item, POSITION_STREAM)};
    const struct value *list = item_get(item, POSITION_AT);
    for (uint32_t i = 0; list != NULL && list->type == VALUE_L && i < list->count; i++) {
        int64_t at = 0;
        if (i < STREAM_SHARDS_MAX && list->elements[i].type == VALUE_N &&
            number_to_int(list->elements[i].bytes, &at))
            position.at[i] = (uint64_t)at;
    }
    return position;
}

/* What advance_position() is given: the position that has to be stored, and the one to store. */
struct position_step {
    struct housekeeping_position from, to;
    uint64_t gaps;
};

/* Positions that are not stored are equal: both are the beginning. */
static bool same_position(const struct housekeeping_position *a,
                          const struct housekeeping_position *b) {
    if (!a->stored || !b->stored)
        return a->stored == b->stored;
    return a->label_ms == b->label_ms && memcmp(a->at, b->at, sizeof(a->at)) == 0;
}

static enum status advance_position(struct action *action, const struct item *old,
                                    struct arena *arena, struct item *new) {
    const struct position_step *step = action->user;
    struct housekeeping_position now = read_position(old);
    struct record record = record_of(arena);
    struct value *at = ARENA_ARRAY(arena, struct value, STREAM_SHARDS_MAX);
    if (!same_position(&now, &step->from))
        return failure_set(&action->failure, arena, CONFLICT, "Another server was first");
    for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
        at[i] = value_int(arena, (int64_t)step->to.at[i]);
    record_string(&record, GAME_PK, POSITION_PK);
    record_string(&record, GAME_SK, POSITION_SK);
    record_int(&record, POSITION_STREAM, step->to.label_ms);
    record_put(&record, POSITION_AT,
               (struct value){.type = VALUE_L, .count = STREAM_SHARDS_MAX, .elements = at});
    record_int(&record, POSITION_GAPS, item_int(old, POSITION_GAPS) + (int64_t)step->gaps);
    *new = record_item(&record);
    return OK;
}

/* Advances the stored position in one commit with the batch (NULL: alone). CONFLICT if another
 * server has advanced it. */
static enum status store_position(struct housekeeping *housekeeping,
                                  const struct housekeeping_position *to,
                                  const struct player_stats_batch *batch, struct arena *arena) {
    struct housekeeping_reader *reader = &housekeeping->reader;
    struct game *game = housekeeping->game;
    struct position_step step = {.from = reader->stored, .to = *to, .gaps = reader->gaps};
    size_t count = batch != NULL ? batch->action_count : 0;
    struct action *actions = ARENA_ARRAY(arena, struct action, count + 1);
    if (count != 0)
        memcpy(actions, batch->actions, count * sizeof(*actions));
    actions[count] = game_compute_action(game, game_key(arena, POSITION_PK, POSITION_SK),
                                         advance_position, &step);
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

static enum status get_position(struct housekeeping *housekeeping, struct arena *arena,
                                struct housekeeping_position *out) {
    struct failure failure;
    struct get_reply reply;
    struct get_request request = {.table = housekeeping->game->table,
                                  .key = game_key(arena, POSITION_PK, POSITION_SK),
                                  .consistent = true};
    enum status status =
        engine_get(housekeeping->game->engine, &request, (struct scope){arena, &failure}, &reply);
    if (status == OK)
        *out = read_position(&reply.item);
    return status;
}

/* The table's first stream after the label. NOT_FOUND: there is none. */
static enum status next_stream(struct housekeeping *housekeeping, int64_t label_ms,
                               struct arena *arena, struct stream_info *out) {
    struct stream_list_request request = {.table = housekeeping->game->table, .limit = 1};
    struct stream_list list;
    if (label_ms != 0) {
        request.after_table = housekeeping->game->table;
        request.after_label_ms = label_ms;
    }
    enum status status = engine_streams(housekeeping->game->engine, &request, arena, &list);
    if (status == OK && list.count == 0)
        return NOT_FOUND;
    if (status == OK)
        *out = list.streams[0];
    return status;
}

static struct housekeeping_position start_of(const struct stream_info *stream) {
    struct housekeeping_position position = {.label_ms = stream->label_ms};
    memcpy(position.at, stream->kept, sizeof(position.at));
    return position;
}

static void note_gap(struct housekeeping *housekeeping) {
    housekeeping->reader.gaps++;
    housekeeping->counters.gaps++;
    housekeeping->rescan = true;
}

/* What profiles became in the part of the stream that is lost is found by looking at all. */
static enum status look_for_players(struct housekeeping *housekeeping, struct arena *arena) {
    struct failure failure;
    housekeeping->finders_filled = false;
    return player_finders_refill(housekeeping->game, (struct scope){arena, &failure});
}

/* Begins at the stored position, or with the first stream there is. */
static enum status start_reading(struct housekeeping *housekeeping, struct arena *arena) {
    struct housekeeping_reader *reader = &housekeeping->reader;
    struct housekeeping_position position;
    struct stream_info stream;
    enum status status = get_position(housekeeping, arena, &position);
    if (status != OK)
        return status;
    reader->stored = position;
    if (!position.stored) {
        status = next_stream(housekeeping, 0, arena, &stream);
        if (status != OK)
            return status;
        reader->stored = start_of(&stream);
        reader->stored.stored = false;
    }
    memcpy(reader->at, reader->stored.at, sizeof(reader->at));
    /* Records that another server has counted are not read here, so boards in them are searched. */
    housekeeping->rescan = true;
    reader->loaded = true;
    reader->ended = false;
    reader->stored_us = clock_ticks_us();
    return OK;
}

/* The stream has been read to its end, or was trimmed (lost): goes on with the table's next one. */
static enum status change_stream(struct housekeeping *housekeeping, bool lost,
                                 struct arena *arena) {
    struct housekeeping_reader *reader = &housekeeping->reader;
    struct stream_info stream;
    enum status status = next_stream(housekeeping, reader->stored.label_ms, arena, &stream);
    if (status != OK)
        return status;
    if (lost) {
        note_gap(housekeeping);
        status = look_for_players(housekeeping, arena);
        if (status != OK)
            return status;
    }
    struct housekeeping_position to = start_of(&stream);
    /* If nothing was counted yet there is nothing to step from. */
    if (reader->stored.stored)
        status = store_position(housekeeping, &to, NULL, arena);
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

static void watch_record(struct housekeeping *housekeeping, const struct stream_record *record) {
    struct bytes pk = item_string(&record->keys, GAME_PK);
    if (bytes_starts(pk, BYTES("INSTANCE#")) && record->has_new)
        housekeeping_schedule(housekeeping, &record->new);
    else if (bytes_starts(pk, BYTES("BOARDDEF#")) && record->event == STREAM_MODIFY &&
             housekeeping_scan_boards(housekeeping, bytes_skip(pk, BYTES("BOARDDEF#").size)) != OK)
        housekeeping->rescan = true;
}

/* Another server has advanced the position: it is read again, and what that one counted is skipped.
 */
static enum status reload_position(struct housekeeping *housekeeping, struct arena *arena) {
    struct housekeeping_reader *reader = &housekeeping->reader;
    struct housekeeping_position now;
    enum status status = get_position(housekeeping, arena, &now);
    if (status != OK)
        return status;
    if (now.label_ms != reader->stored.label_ms)
        reader->loaded = false;
    else
        reader->stored = now;
    return OK;
}

/* Adds the plays of the page to stats. */
static enum status count_plays(struct housekeeping *housekeeping, unsigned shard,
                               const struct stream_read_reply *page, struct arena *arena) {
    struct housekeeping_reader *reader = &housekeeping->reader;
    while (reader->loaded) {
        struct housekeeping_position to = reader->stored;
        for (unsigned i = 0; i < STREAM_SHARDS_MAX; i++)
            if (reader->at[i] > to.at[i])
                to.at[i] = reader->at[i];
        uint64_t from = reader->stored.at[shard];
        struct player_stats_batch batch = {
            .records = page->records, .record_count = page->count, .from = from};
        player_stats_prepare(housekeeping->game, &batch, arena);
        uint64_t passed = page->next > from ? page->next - from : 0;
        bool late = reader->gaps != 0 ||
                    housekeeping_position_is_late(passed, clock_ticks_us() - reader->stored_us);
        if (batch.plays == 0 && !late)
            return OK;
        if (page->next > to.at[shard])
            to.at[shard] = page->next;
        enum status status = store_position(housekeeping, &to, &batch, arena);
        if (status == OK)
            housekeeping->counters.plays += batch.plays;
        if (status == INVALID) {
            /* Some stats cannot be written, say because an item is too large: the page is skipped,
             * so that it does not hold up the rest for ever. */
            status = store_position(housekeeping, &to, NULL, arena);
            housekeeping->counters.plays_skipped += status == OK ? batch.plays : 0;
        }
        if (status != CONFLICT)
            return status;
        status = reload_position(housekeeping, arena);
        if (status != OK)
            return status;
    }
    return OK;
}

/* Writes names of profiles that changed into the players' entries, once for each player of the
 * page. This comes before the position is stored, so after a crash it is done again. */
static enum status follow_names(struct housekeeping *housekeeping,
                                const struct stream_read_reply *page, struct arena *arena) {
    struct map done = {0};
    struct failure failure = {0};
    enum status status = OK;
    for (size_t i = 0; status == OK && i < page->count; i++) {
        struct bytes pk = item_string(&page->records[i].keys, GAME_PK);
        if (!player_names_changed(&page->records[i]) || map_get(&done, pk) != NULL)
            continue;
        map_put(&done, pk, &page->records[i]);
        status = player_names_follow(housekeeping->game, pk, (struct scope){arena, &failure});
    }
    map_release(&done);
    return status;
}

/* Makes the players whose profiles the page is about findable by what these say now. */
static enum status follow_finders(struct housekeeping *housekeeping,
                                  const struct stream_read_reply *page, struct arena *arena) {
    struct bytes *partitions = ARENA_ARRAY(arena, struct bytes, page->count + 1);
    struct map seen = {0};
    struct failure failure = {0};
    size_t count = 0;
    for (size_t i = 0; i < page->count; i++) {
        struct bytes pk = item_string(&page->records[i].keys, GAME_PK);
        if (!player_finders_changed(&page->records[i]) || map_get(&seen, pk) != NULL)
            continue;
        map_put(&seen, pk, &page->records[i]);
        partitions[count++] = pk;
    }
    map_release(&seen);
    return player_finders_follow(housekeeping->game, partitions, count,
                                 (struct scope){arena, &failure});
}

static enum status skip_gap(struct housekeeping *housekeeping, unsigned shard,
                            struct arena *arena) {
    struct housekeeping_reader *reader = &housekeeping->reader;
    struct stream_info stream;
    struct failure failure;
    struct stream_id id = {housekeeping->game->table, reader->stored.label_ms};
    enum status status =
        engine_stream(housekeeping->game->engine, &id, (struct scope){arena, &failure}, &stream);
    if (status != OK)
        return status;
    note_gap(housekeeping);
    reader->at[shard] = stream.kept[shard];
    return look_for_players(housekeeping, arena);
}

/* A page of records is counted in one commit. */
static size_t read_at_once(const struct game *game) {
    size_t most = engine_actions_max(game->engine) / 2;
    return most < READ_RECORDS ? most : READ_RECORDS;
}

/* Reads and handles one page of a shard. *more: there may be more to read; *ended: the shard has
 * been read to its end. */
static enum status read_stream_page(struct housekeeping *housekeeping, unsigned shard, bool *more,
                                    bool *ended) {
    static const struct bytes wanted[] = {{(const uint8_t *)"PLAYER#", 7},
                                          {(const uint8_t *)"INSTANCE#", 9},
                                          {(const uint8_t *)"BOARDDEF#", 9}};
    struct housekeeping_reader *reader = &housekeeping->reader;
    struct arena arena;
    struct failure failure;
    struct stream_read_reply page;
    struct stream_read_request request = {.table = housekeeping->game->table,
                                          .label_ms = reader->stored.label_ms,
                                          .shard = shard,
                                          .from = reader->at[shard],
                                          .limit = read_at_once(housekeeping->game),
                                          .partitions = wanted,
                                          .partition_count = 3};
    arena_init(&arena);
    enum status status = engine_stream_read(housekeeping->game->engine, &request,
                                            (struct scope){&arena, &failure}, &page);
    if (status == OK && page.trimmed) {
        *more = true;
        status = skip_gap(housekeeping, shard, &arena);
    } else if (status == OK) {
        status = follow_names(housekeeping, &page, &arena);
        if (status == OK)
            status = follow_finders(housekeeping, &page, &arena);
        if (status == OK)
            status = count_plays(housekeeping, shard, &page, &arena);
        for (size_t i = 0; status == OK && i < page.count; i++)
            watch_record(housekeeping, &page.records[i]);
        if (status == OK)
            reader->at[shard] = page.next;
        *more = !page.caught_up;
        *ended = page.ended;
    }
    arena_release(&arena);
    return status;
}

/* --- all of it --- */

static enum status read_shards(struct housekeeping *housekeeping, unsigned *pages, bool *ended) {
    enum status status = OK;
    *ended = true;
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX && status == OK; shard++) {
        bool more = true, shard_ended = false;
        while (more && status == OK && housekeeping->reader.loaded && *pages > 0 &&
               !housekeeping_is_stopping(housekeeping)) {
            --*pages;
            status = read_stream_page(housekeeping, shard, &more, &shard_ended);
        }
        *ended = *ended && shard_ended;
    }
    return status;
}

static enum status read_streams(struct housekeeping *housekeeping, struct arena *arena) {
    enum status status = OK;
    unsigned pages = PAGES_AT_ONCE;
    bool ended = true;
    while (status == OK && ended && pages > 0 && !housekeeping_is_stopping(housekeeping)) {
        if (!housekeeping->reader.loaded)
            status = start_reading(housekeeping, arena);
        if (status == OK)
            status = read_shards(housekeeping, &pages, &ended);
        if (status == OK && !housekeeping->reader.loaded)
            ended = true;
        else if (status == NO_RESOURCE || (status == OK && ended)) {
            bool lost = status == NO_RESOURCE && !housekeeping->reader.ended;
            housekeeping->reader.ended = true;
            status = change_stream(housekeeping, lost, arena);
            ended = true;
        }
    }
    return status == NOT_FOUND ? OK : status;
}

void housekeeping_read_stream(struct housekeeping *housekeeping) {
    struct arena arena;
    arena_init(&arena);
    enum status status = read_streams(housekeeping, &arena);
    if (status != OK) {
        housekeeping->counters.failures++;
        housekeeping->reader.loaded = false;
    }
    arena_release(&arena);
}

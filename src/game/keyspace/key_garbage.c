#include "game/keyspace/key_garbage.h"

#include "base/clock.h"
#include "base/limits.h"
#include "game/board/board_generation.h"
#include "game/keyspace/key_fields.h"
#include "game/record.h"

#define GARBAGE BYTES("KEYGARBAGE")

enum {
    GARBAGE_STEP = 125, /* items deleted in one commit */
    NOTES_PAGE = 200,
};

/* ---- notes ---- */

struct action key_garbage_note(struct game *game, const struct key_garbage *garbage,
                               struct arena *arena) {
    struct record record = record_of(arena);
    record_string(&record, GAME_PK, GARBAGE);
    record_string(&record, GAME_SK, garbage->id);
    record_string(&record, BYTES("key"), garbage->partition);
    record_flag(&record, BYTES("entries"), garbage->entries);
    record_flag(&record, BYTES("staged"), garbage->staged);
    if (garbage->after_ms != 0)
        record_int(&record, BYTES("after"), garbage->after_ms);
    return (struct action){.kind = ACTION_PUT, .table = game->table, .item = record_item(&record)};
}

static enum status remove_note(struct action *action, const struct item *old, struct arena *arena,
                               struct item *new) {
    if (old->count == 0)
        return failure_set(&action->failure, arena, CONDITION_FAILED,
                           "What was written for the key has been deleted: try again");
    *new = (struct item){0};
    return OK;
}

struct action key_garbage_unnote(struct game *game, struct bytes id, struct arena *arena) {
    return game_compute_action(game, game_key(arena, GARBAGE, id), remove_note, NULL);
}

/* ---- collecting ---- */

/* Some of the items that a note is about. */
struct collecting {
    struct game *game;
    const struct item *note;
    struct change change;
    struct bytes up_to; /* the last key whose item is deleted */
    bool last;          /* there are no others */
};

/* No key changes by it, so no version is raised. */
static void add_delete(struct collecting *collecting, struct item key) {
    struct change *change = &collecting->change;
    change->actions[change->action_count++] = (struct action){.kind = ACTION_DELETE,
                                                              .by_owner = true,
                                                              .keeps_version = true,
                                                              .table = collecting->game->table,
                                                              .item = key};
}

static enum status add_fields(struct collecting *collecting, struct scope in) {
    struct key_address address = {.pk = item_string(collecting->note, BYTES("key"))};
    struct key_generation of = {collecting->game, &address, item_string(collecting->note, GAME_SK)};
    struct key_field_page page = {.after = collecting->up_to, .limit = GARBAGE_STEP};
    enum status status = OK;
    if (of.name.size == KEY_GENERATION_SIZE && address.pk.size != 0)
        status = key_fields_page(&of, in, &page);
    for (size_t i = 0; i < page.count && status == OK; i++)
        add_delete(collecting, key_field_item_key(&of, page.list[i].key, in.arena));
    if (page.count != 0)
        collecting->up_to = page.list[page.count - 1].key;
    collecting->last = !page.more;
    return status;
}

static enum status add_entries(struct collecting *collecting, struct scope in) {
    static const struct bytes names[] = {{(const uint8_t *)"PK", 2}, {(const uint8_t *)"SK", 2}};
    struct game *game = collecting->game;
    struct bytes pk = item_string(collecting->note, BYTES("key"));
    struct key_condition keys = {.count = collecting->up_to.size != 0 ? 2 : 1};
    struct page_reply page = {0};
    keys.tests[0] = (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(pk)};
    keys.tests[1] =
        (struct key_test){.name = GAME_SK, .op = KEY_GT, .low = value_string(collecting->up_to)};
    struct page_request request = {.table = game->table,
                                   .keys = &keys,
                                   .consistent = true,
                                   .limit = GARBAGE_STEP,
                                   .projection = projection_of_names(names, 2, in.arena)};
    enum status status = engine_page(game->engine, &request, in, &page);
    for (size_t i = 0; i < page.count && status == OK; i++)
        add_delete(collecting, game_key(in.arena, pk, item_string(&page.items[i], GAME_SK)));
    if (page.count != 0)
        collecting->up_to = item_string(&page.items[page.count - 1], GAME_SK);
    collecting->last = !page.more;
    return status;
}

/* How far it is: the store reads over deleted keys until they are compacted, so the next step does
 * not begin with the first again. */
static void add_progress(struct collecting *collecting, struct arena *arena) {
    struct change *change = &collecting->change;
    struct value up_to = value_string(collecting->up_to);
    change->actions[change->action_count++] =
        (struct action){.kind = ACTION_PUT,
                        .table = collecting->game->table,
                        .item = item_with(arena, collecting->note, BYTES("upTo"), &up_to)};
}

/* What the board's item says of the partition is put right with the last entries. */
static void add_last(struct collecting *collecting, struct arena *arena) {
    struct change *change = &collecting->change;
    const struct item *note = collecting->note;
    struct bytes pk = item_string(note, BYTES("key"));
    add_delete(collecting, game_key(arena, GARBAGE, item_string(note, GAME_SK)));
    if (item_bool(note, BYTES("entries")) && board_partition_generation(pk).size == 0)
        change->actions[change->action_count++] =
            board_unlitter_action(collecting->game, board_partition_key(pk), arena);
}

static enum status collect(struct game *game, const struct item *note, struct scope in) {
    struct collecting collecting = {
        .game = game, .note = note, .up_to = item_string(note, BYTES("upTo"))};
    struct change *change = &collecting.change;
    *change = (struct change){.kind = CHANGE_WRITE, .arena = in.arena};
    change->actions = ARENA_ARRAY(in.arena, struct action, GARBAGE_STEP + 2);
    enum status status = item_bool(note, BYTES("entries")) ? add_entries(&collecting, in)
                                                           : add_fields(&collecting, in);
    if (status != OK)
        return status;
    if (collecting.last)
        add_last(&collecting, in.arena);
    else
        add_progress(&collecting, in.arena);
    status = game_wait(game, change);
    if (status != OK && change->failure.status != OK)
        *in.failure = change->failure;
    return status;
}

static bool is_due(const struct game *game, const struct item *note) {
    int64_t after_ms = item_int(note, BYTES("after"));
    bool is_old =
        item_bool(note, BYTES("staged")) && after_ms < game->opened_ms + LIMIT_GENERATION_LEASE_MS;
    return is_old || after_ms <= clock_now_ms();
}

enum status key_garbage_step(struct game *game, struct scope in, bool *more) {
    struct key_condition keys = {.count = 1};
    struct page_reply notes = {0};
    struct item start = {0};
    keys.tests[0] = (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(GARBAGE)};
    struct page_request request = {
        .table = game->table, .keys = &keys, .consistent = true, .limit = NOTES_PAGE};
    enum status status;
    *more = false;
    do {
        start = notes.last_key;
        request.start = notes.more ? &start : NULL;
        status = engine_page(game->engine, &request, in, &notes);
        for (uint64_t i = 0; i < notes.count && status == OK && !*more; i++)
            if (is_due(game, &notes.items[i])) {
                *more = true;
                status = collect(game, &notes.items[i], in);
            }
    } while (status == OK && notes.more && !*more);
    return status;
}

/* ---- listing ---- */

static bool is_of_board(const struct item *note) {
    struct bytes pk = item_string(note, BYTES("key"));
    return item_bool(note, BYTES("entries")) && board_partition_generation(pk).size == 0 &&
           board_partition_key(pk).size != 0;
}

enum status key_garbage_boards(struct game *game, const struct item *after, struct scope in,
                               struct garbage_boards *out) {
    struct key_condition keys = {.count = 1};
    struct page_reply notes = {0};
    keys.tests[0] = (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(GARBAGE)};
    struct page_request request = {.table = game->table,
                                   .keys = &keys,
                                   .consistent = true,
                                   .limit = NOTES_PAGE,
                                   .start = after};
    enum status status = engine_page(game->engine, &request, in, &notes);
    *out = (struct garbage_boards){.keys = ARENA_ARRAY(in.arena, struct bytes, notes.count + 1),
                                   .looked = notes.count,
                                   .more = notes.more,
                                   .last = notes.last_key};
    for (uint64_t i = 0; status == OK && i < notes.count; i++)
        if (is_of_board(&notes.items[i]))
            out->keys[out->count++] =
                board_partition_key(item_string(&notes.items[i], BYTES("key")));
    return status;
}

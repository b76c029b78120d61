/* Deleting a board's entries: of a small board in one commit, of a large one in many.
 *
 * A large board is marked first: from that commit on it reads as empty and refuses writes. Then its
 * entries are deleted, and at last the mark, or the item with it. What a crash interrupts is found
 * by its mark (GSI2 CLEARING) and finished by housekeeping. */
#include "base/clock.h"
#include "base/limits.h"
#include "game/board/board_generation.h"
#include "game/board/board_int.h"
#include "game/board/entry.h"
#include "game/board/entry_removals.h"
#include "game/record.h"
#include "table/engine.h"

enum {
    CLEAR_AT_ONCE_MAX = LIMIT_CLEARED_ENTRIES,
    DELETES_PER_COMMIT = LIMIT_CLEARED_STEP,
    INSTANCES_PER_PAGE = 100
};

struct clearing {
    struct game *game;
    const struct board *board;
    bool keep_item;
    struct bytes after; /* entries up to this key have been deleted */
};

/* Reads up to `limit` keys of entries from the table itself, so those of hidden members too. */
static enum status read_entry_keys(const struct clearing *clearing, size_t limit, struct scope in,
                                   struct page_reply *out) {
    static const struct bytes names[] = {{(const uint8_t *)"PK", 2}, {(const uint8_t *)"SK", 2}};
    struct listing listing = {.partition_name = GAME_PK,
                              .partition = clearing->board->pk,
                              .sort_name = GAME_SK,
                              .after = clearing->after,
                              .limit = limit,
                              .projection = projection_of_names(names, 2, in.arena)};
    return board_page(clearing->game, &listing, in, out);
}

/* Fills in the change that deletes the page's entries, with room for one more action. */
static enum status fill_deletes(const struct clearing *clearing, const struct page_reply *page,
                                struct change *change) {
    struct entry_removals removals = {
        .game = clearing->game, .arena = change->arena, .failure = &change->failure};
    struct action *actions = ARENA_ARRAY(change->arena, struct action, page->count + 1);
    size_t count = 0;
    enum status status = OK;
    for (; count < page->count && status == OK; count++)
        status = entry_removals_add(&removals, clearing->board,
                                    item_string(&page->items[count], GAME_SK), &actions[count]);
    size_t more = status == OK ? entry_removals_count(&removals) : 0;
    if (more != 0)
        actions = arena_grow(change->arena, actions, (count + 1) * sizeof(*actions),
                             (count + 1 + more) * sizeof(*actions));
    entry_removals_finish(&removals, more != 0 ? actions + count : NULL);
    change->actions = actions;
    change->action_count = count + more;
    return status;
}

/* --- all at once --- */

/* Whether a board that had expired was written to since and is alive again. */
static bool was_renewed(const struct clearing *clearing, const struct item *state) {
    int64_t expires_ms = clearing->board->expires_ms;
    return expires_ms != 0 && expires_ms <= clock_now_ms() &&
           item_int(state, BYTES("expiresAt")) != expires_ms;
}

static enum status read_state(const struct clearing *clearing, struct scope in, struct item *out) {
    struct get_request request = {
        .table = clearing->game->table,
        .key = game_key(in.arena, board_state_partition(clearing->board, in.arena), BYTES("STATE")),
        .consistent = true};
    struct get_reply reply;
    enum status status = engine_get(clearing->game->engine, &request, in, &reply);
    *out = status == OK ? reply.item : (struct item){0};
    return status;
}

/* Each entry may take others with it, of cross-game boards. */
static size_t at_once_max(const struct game *game) {
    size_t most = engine_actions_max(game->engine) / 4;
    return most < CLEAR_AT_ONCE_MAX ? most : CLEAR_AT_ONCE_MAX;
}

static enum status prepare_clear(struct change *change) {
    const struct clearing *clearing = change->actions[0].user;
    struct page_reply page;
    struct item state;
    enum status status =
        read_state(clearing, (struct scope){change->arena, &change->failure}, &state);
    if (status != OK || was_renewed(clearing, &state)) {
        change->action_count = 0;
        return status;
    }
    status = read_entry_keys(clearing, at_once_max(clearing->game),
                             (struct scope){change->arena, &change->failure}, &page);
    if (status != OK)
        return status;
    if (page.more)
        return failure_set(&change->failure, change->arena, LIMIT_EXCEEDED, "too many at once");
    status = fill_deletes(clearing, &page, change);
    if (status == OK && !clearing->keep_item && item_get(&state, BOARD_LITTERED) == NULL)
        change->actions[change->action_count++] = (struct action){
            .kind = ACTION_DELETE,
            .by_owner = true,
            .table = clearing->game->table,
            .item = game_key(change->arena, board_state_partition(clearing->board, change->arena),
                             BYTES("STATE"))};
    return status;
}

static enum status clear_at_once(struct clearing *clearing, struct scope in) {
    struct action first = {.user = clearing};
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = in.arena,
                            .actions = &first,
                            .prepare = prepare_clear,
                            .all_or_nothing = true};
    enum status status = game_wait(clearing->game, &change);
    *in.failure = change.failure;
    return status;
}

/* --- one commit after the other --- */

static enum status mark_clearing(struct action *action, const struct item *old, struct arena *arena,
                                 struct item *new) {
    const struct clearing *clearing = action->user;
    if (old->count == 0 || item_get(old, BYTES("clearing")) != NULL)
        return OK;
    if (was_renewed(clearing, old))
        return CONDITION_FAILED;
    struct value what = value_string(clearing->keep_item ? BYTES("entries") : BYTES("board"));
    struct value list = value_string(BYTES("CLEARING"));
    struct value key = value_string(item_string(old, BYTES("GSI1SK")));
    *new = item_with(arena, old, BYTES("clearing"), &what);
    *new = item_with(arena, new, BYTES("GSI2PK"), &list);
    *new = item_with(arena, new, BYTES("GSI2SK"), &key);
    return OK;
}

/* Restores the item, or deletes it. The mark says which, since clearing may be finished by another
 * caller than the one that began it. */
static enum status unmark_clearing(struct action *action, const struct item *old,
                                   struct arena *arena, struct item *new) {
    const struct clearing *clearing = action->user;
    if (bytes_equal(item_string(old, BYTES("clearing")), BYTES("board")) &&
        item_get(old, BOARD_LITTERED) == NULL) {
        *new = (struct item){0};
        return OK;
    }
    if (old->count == 0 || item_get(old, BYTES("clearing")) == NULL)
        return OK;
    struct record index_keys = record_of(arena);
    *new = item_with(arena, old, BYTES("clearing"), NULL);
    *new = item_with(arena, new, BYTES("GSI2PK"), NULL);
    *new = item_with(arena, new, BYTES("GSI2SK"), NULL);
    board_put_index_keys(&index_keys, clearing->board, item_int(old, BYTES("expiresAt")));
    for (uint32_t i = 0; i < index_keys.count; i++)
        *new = item_with(arena, new, index_keys.pairs[i].name, &index_keys.pairs[i].value);
    return OK;
}

static enum status compute_state(struct clearing *clearing, action_compute *compute,
                                 struct scope in) {
    struct action action = {
        .kind = ACTION_COMPUTE,
        .table = clearing->game->table,
        .item =
            game_key(in.arena, board_state_partition(clearing->board, in.arena), BYTES("STATE")),
        .compute = compute,
        .user = clearing};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = in.arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(clearing->game, &change);
    *in.failure = change.failure;
    return status;
}

/* Deletes one page of entries. It goes on after the last one deleted, since the store reads over
 * deleted keys until they are compacted. */
static enum status clear_some(struct clearing *clearing, struct board_clear_progress *progress,
                              struct scope in) {
    struct page_reply page;
    clearing->after = buf_bytes(&progress->after);
    enum status status = read_entry_keys(clearing, DELETES_PER_COMMIT, in, &page);
    progress->done = status != OK || page.count == 0;
    if (progress->done)
        return status;
    struct change change = {.kind = CHANGE_WRITE, .arena = in.arena, .divisible = true};
    status = fill_deletes(clearing, &page, &change);
    if (status == OK)
        status = game_wait(clearing->game, &change);
    *in.failure = change.failure;
    buf_clear(&progress->after);
    buf_put(&progress->after, item_string(&page.items[page.count - 1], GAME_SK));
    return status;
}

static enum status clear_in_steps(struct clearing *clearing, struct scope in) {
    struct arena work;
    struct board_clear_progress progress = {0};
    enum status status = compute_state(clearing, mark_clearing, in);
    arena_init(&work);
    while (status == OK && !progress.done) {
        int64_t begun_us = clock_ticks_us();
        status = clear_some(clearing, &progress, (struct scope){&work, in.failure});
        if (status != OK)
            in.failure->text = arena_copy(in.arena, in.failure->text);
        arena_reset(&work);
        if (!progress.done)
            clock_give_way(begun_us);
    }
    arena_release(&work);
    buf_release(&progress.after);
    return status == OK ? compute_state(clearing, unmark_clearing, in) : status;
}

void board_clear_action(struct game *game, const struct board *board, struct arena *arena,
                        struct action *out) {
    struct clearing *clearing = ARENA_NEW(arena, struct clearing);
    *clearing = (struct clearing){.game = game, .board = board};
    *out = (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item =
                               game_key(arena, board_state_partition(board, arena), BYTES("STATE")),
                           .compute = mark_clearing,
                           .user = clearing};
}

enum status board_clear_step(struct game *game, const struct board *board,
                             struct board_clear_progress *progress, struct scope in) {
    struct clearing clearing = {.game = game, .board = board};
    enum status status = clear_some(&clearing, progress, in);
    if (status == OK && progress->done)
        status = compute_state(&clearing, unmark_clearing, in);
    return status;
}

void board_delete_action(struct game *game, const struct board *board, struct arena *arena,
                         struct action *out) {
    *out = (struct action){
        .kind = ACTION_DELETE,
        .by_owner = true,
        .table = game->table,
        .item = game_key(arena, board_state_partition(board, arena), BYTES("STATE"))};
}

enum status board_clear(struct game *game, const struct board *board, bool keep_item,
                        struct scope in) {
    struct clearing clearing = {.game = game, .board = board, .keep_item = keep_item};
    if (board->clearing)
        return clear_in_steps(&clearing, in);
    enum status status = clear_at_once(&clearing, in);
    if (status != LIMIT_EXCEEDED)
        return status;
    *in.failure = (struct failure){0};
    status = clear_in_steps(&clearing, in);
    if (status == CONDITION_FAILED)
        *in.failure = (struct failure){0};
    return status == CONDITION_FAILED ? OK : status;
}

/* --- boards as a whole --- */

/* Finds the instance with its definition, which says what it is a source of; without it if the
 * definition cannot be used. */
static enum status find_to_clear(struct game *game, struct bytes name, struct scope in,
                                 const struct board **out) {
    if (board_find(game, name, in, out) == OK) {
        if (bytes_equal((*out)->instance, name))
            return OK;
        board_drop(*out);
    }
    *in.failure = (struct failure){0};
    return board_find_instance(game, name, in, out);
}

static enum status clear_named(struct game *game, struct bytes name, struct scope in) {
    const struct board *board;
    enum status status = find_to_clear(game, name, in, &board);
    if (status != OK)
        return status;
    status = board_clear(game, board, false, in);
    board_drop(board);
    return status;
}

/* Instances that are being cleared are not listed any more, so this ends. */
static enum status clear_instances(struct game *game, struct bytes id, struct scope in) {
    struct list_range range = {.of = id, .limit = INSTANCES_PER_PAGE};
    struct instance_list list;
    enum status status;
    do {
        status = board_instances(game, &range, in, &list);
        for (size_t i = 0; i < list.count && status == OK; i++)
            status = clear_named(game, list.names[i], in);
    } while (status == OK && list.count != 0);
    return status;
}

/* Deletes the definition and its FEEDS# items, at its sources and its own. */
static enum status delete_definition(struct game *game, const struct board_rules *rules,
                                     struct scope in) {
    struct bytes pk = record_join(in.arena, BOARDDEF, rules->id);
    size_t count = 0, most = 1 + rules->source_count + rules->feed_count;
    struct action *actions = ARENA_ARRAY(in.arena, struct action, most);
    actions[count++].item = game_key(in.arena, pk, BYTES("META"));
    for (uint32_t i = 0; i < rules->source_count; i++)
        actions[count++].item =
            game_key(in.arena, record_join(in.arena, BOARDDEF, rules->sources[i]),
                     record_join(in.arena, FEEDS, rules->id));
    for (uint32_t i = 0; i < rules->feed_count; i++)
        actions[count++].item =
            game_key(in.arena, pk, record_join(in.arena, FEEDS, rules->feeds[i]));
    for (size_t i = 0; i < count; i++) {
        actions[i].kind = ACTION_DELETE;
        actions[i].table = game->table;
    }
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = in.arena,
                            .actions = actions,
                            .action_count = count,
                            .all_or_nothing = true};
    enum status status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}

enum status board_remove(struct game *game, struct bytes id, struct scope in) {
    struct board_rules rules;
    enum status status = board_is_id(id) ? board_definition_read(game, id, in, &rules)
                                         : board_rules_get(game, id, in, &rules);
    if (status == INVALID) { /* a definition that cannot be read can still be removed */
        rules = (struct board_rules){.id = id};
        status = OK;
    }
    if (status == OK)
        status = clear_instances(game, id, in);
    if (status == OK)
        status = delete_definition(game, &rules, in);
    /* Scores may have been submitted before the definition was gone. */
    return status == OK ? clear_instances(game, id, in) : status;
}

#include "game/board/entry_removals.h"

#include "base/buf.h"
#include "base/clock.h"
#include "game/board/board_int.h"
#include "game/board/entry_int.h"
#include "game/record.h"

/* A cross-game board that the source's board feeds, in the same scope and its present period. */
struct fed_board {
    struct bytes pk;
    struct board_rules rules; /* only those that entry_combine_parts() reads */
    int64_t ends_ms;
};

/* An entry of a source that is deleted; `gone` is set by the action that deletes it. */
struct source_removal {
    struct source_removal *next;
    struct bytes id; /* of the source */
    const bool *gone;
};

/* An entry of a cross-game board that loses parts. */
struct part_removal {
    struct part_removal *next;
    const struct fed_board *board;
    struct bytes key;
    struct source_removal *sources;
};

/* --- on the engine's thread --- */

static enum status delete_entry(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    bool *gone = action->user;
    (void)arena;
    *gone = old->count != 0;
    *new = (struct item){0};
    return OK;
}

static struct item parts_left(const struct part_removal *removal, const struct value *parts,
                              struct arena *arena) {
    struct item left = {parts->pairs, parts->count};
    for (const struct source_removal *source = removal->sources; source != NULL;
         source = source->next)
        if (*source->gone && item_get(&left, source->id) != NULL)
            left = item_with(arena, &left, source->id, NULL);
    return left;
}

static enum status remove_parts(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    const struct part_removal *removal = action->user;
    const struct value *parts = item_map(old, ENTRY_PARTS);
    struct points points;
    bool hidden;
    if (parts == NULL || clock_now_ms() >= removal->board->ends_ms ||
        !entry_points(old, &points, &hidden))
        return OK;
    struct item left = parts_left(removal, parts, arena);
    struct value map = {.type = VALUE_M, .count = left.count, .pairs = left.pairs};
    if (left.count == parts->count)
        return OK;
    if (left.count == 0)
        *new = (struct item){0};
    else if (entry_combine_parts(&removal->board->rules, &map, arena, &points)) {
        struct entry_ranking ranking = {points, entry_tie_of(old), hidden};
        *new = entry_with_points(old, &ranking, arena);
        *new = item_with(arena, new, ENTRY_PARTS, &map);
    }
    return OK;
}

/* --- finding cross-game boards --- */

static void copy_fed(const struct board *board, struct arena *arena, struct fed_board *out) {
    *out = (struct fed_board){.pk = arena_copy(arena, board->pk),
                              .rules = {.order = board->rules.order,
                                        .combine = board->rules.combine,
                                        .tie = board->rules.tie},
                              .ends_ms = board->period.ends_ms};
}

/* Finds a cross-game board; one that was removed meanwhile, or is between seasons, is passed over.
 */
static enum status find_fed(struct entry_removals *removals, struct bytes id, struct bytes scope) {
    const struct board *board;
    struct failure failure = {0};
    struct board_name name = {.id = id, .scope = scope};
    enum status status = board_find(removals->game, board_name_join(&name, removals->arena),
                                    (struct scope){removals->arena, &failure}, &board);
    if (status == INVALID || status == NOT_FOUND)
        return OK;
    if (status != OK) {
        *removals->failure = failure;
        return status;
    }
    if (board->rules.source_count != 0)
        copy_fed(board, removals->arena, &removals->fed[removals->fed_count++]);
    board_drop(board);
    return OK;
}

static enum status find_all_fed(struct entry_removals *removals, const struct board *board) {
    const struct board_rules *rules = &board->rules;
    enum status status = OK;
    removals->source = board;
    removals->fed = ARENA_ARRAY(removals->arena, struct fed_board, rules->feed_count);
    removals->fed_count = 0;
    for (uint32_t i = 0; status == OK && i < rules->feed_count; i++)
        status = find_fed(removals, rules->feeds[i], board->scope);
    return status;
}

/* --- the change --- */

static bool is_present(const struct board *board) {
    int64_t now_ms = clock_now_ms();
    return board->period.starts_ms <= now_ms && now_ms < board->period.ends_ms;
}

static struct part_removal *removal_of(struct entry_removals *removals, const struct fed_board *fed,
                                       struct bytes key) {
    struct buf text = {0};
    buf_counted(&text, fed->pk);
    buf_put(&text, key);
    struct part_removal *removal = map_get(&removals->by_entry, buf_bytes(&text));
    if (removal == NULL) {
        removal = ARENA_NEW(removals->arena, struct part_removal);
        *removal = (struct part_removal){.board = fed, .key = key};
        map_put(&removals->by_entry, arena_copy(removals->arena, buf_bytes(&text)), removal);
        if (removals->count++ == 0)
            removals->end = &removals->first;
        *removals->end = removal;
        removals->end = &removal->next;
    }
    buf_release(&text);
    return removal;
}

static void note_source(struct entry_removals *removals, struct bytes key, const bool *gone) {
    struct bytes id = arena_copy(removals->arena, removals->source->rules.id);
    for (size_t i = 0; i < removals->fed_count; i++) {
        struct part_removal *removal = removal_of(removals, &removals->fed[i], key);
        struct source_removal *source = ARENA_NEW(removals->arena, struct source_removal);
        *source = (struct source_removal){removal->sources, id, gone};
        removal->sources = source;
    }
}

enum status entry_removals_add(struct entry_removals *removals, const struct board *board,
                               struct bytes key, struct action *out) {
    struct game *game = removals->game;
    enum status status = OK;
    *out = (struct action){.kind = ACTION_DELETE,
                           .by_owner = true,
                           .table = game->table,
                           .item = game_key(removals->arena, board->pk, key)};
    if (board->rules.feed_count == 0 || !is_present(board))
        return OK;
    if (removals->source != board)
        status = find_all_fed(removals, board);
    if (status != OK || removals->fed_count == 0)
        return status;
    bool *gone = ARENA_NEW(removals->arena, bool);
    out->kind = ACTION_COMPUTE;
    out->compute = delete_entry;
    out->user = gone;
    note_source(removals, key, gone);
    return OK;
}

size_t entry_removals_count(const struct entry_removals *removals) {
    return removals->count;
}

void entry_removals_finish(struct entry_removals *removals, struct action *out) {
    struct arena *arena = removals->arena;
    for (struct part_removal *removal = removals->first; removal != NULL && out != NULL;
         removal = removal->next)
        *out++ = (struct action){.kind = ACTION_COMPUTE,
                                 .table = removals->game->table,
                                 .item = game_key(arena, removal->board->pk, removal->key),
                                 .compute = remove_parts,
                                 .user = removal};
    map_release(&removals->by_entry);
}

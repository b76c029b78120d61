/* Housekeeping of boards: periods that have ended are sealed, sealed ones removed when their life
 * is over, boards that have expired removed, and interrupted clearing finished.
 *
 * When an instance is next due is in a heap in memory, filled by one scan of all instances at the
 * start and by the table's stream after that; plain boards that expire, and clearing, are found by
 * an index. The heap says when to look at an instance, not what to do: it is read again then.
 *
 * Runs on housekeeping's thread, or in tests on the caller's, with housekeeping->work held. */
#include "base/clock.h"
#include "base/mem.h"
#include "game/arena_pair.h"
#include "game/board/board_generation.h"
#include "game/board/board_int.h"
#include "game/board/entry.h"
#include "game/housekeeping_int.h"
#include "game/record.h"
#include "table/engine.h"
#include "table/inprocess.h"

#include <inttypes.h>

enum {
    WALK_PAGE = 500,
    ENDING_PAGE = 100,
    AGAIN_MS = 1000, /* a failure is tried again after so long */
};
/* Clearing that has made no progress for so long is taken over. */
#define STALLED_US (INT64_C(10) * 1000 * 1000)

/* --- scheduling --- */

void housekeeping_schedule(struct housekeeping *housekeeping, const struct item *state) {
    struct arena *arena = &housekeeping->arena;
    int64_t ends_ms = item_int(state, BYTES("endsAt")),
            sealed_ms = item_int(state, BYTES("sealedAt"));
    int64_t expires_ms = item_int(state, BYTES("expiresAt")), at_ms = INT64_MAX;
    if (ends_ms != 0)
        at_ms = sealed_ms != 0 ? sealed_ms : ends_ms;
    if (expires_ms != 0 && expires_ms < at_ms)
        at_ms = expires_ms;
    /* A plain board's expiry is found by the index. */
    if (at_ms == INT64_MAX || item_get(state, BYTES("board")) == NULL ||
        item_get(state, BYTES("clearing")) != NULL)
        return;
    struct bytes key = item_string(state, BYTES("GSI1SK"));
    if (key.size != 0)
        due_heap_push(&housekeeping->dues, at_ms, entry_member_of(key, arena));
}

enum status housekeeping_scan_boards(struct housekeeping *housekeeping, struct bytes board) {
    struct arena_pair arenas;
    struct list_range range = {.of = board, .limit = WALK_PAGE};
    enum status status = OK;
    bool more = true;
    arena_pair_init(&arenas);
    while (status == OK && more && !housekeeping_is_stopping(housekeeping)) {
        struct arena *arena = arena_pair_next(&arenas);
        struct failure failure;
        struct instance_list list;
        status =
            board_instances(housekeeping->game, &range, (struct scope){arena, &failure}, &list);
        for (size_t i = 0; status == OK && i < list.count; i++)
            housekeeping_schedule(housekeeping, &list.states[i]);
        more = status == OK && list.more && list.count != 0;
        if (more)
            range.after = list.names[list.count - 1];
    }
    arena_pair_release(&arenas);
    return status;
}

/* --- sealing and removing --- */

enum status housekeeping_clear_board(struct housekeeping *housekeeping, const struct board *board,
                                     struct failure *failure) {
    enum status status = board_clear(housekeeping->game, board, false,
                                     (struct scope){&housekeeping->arena, failure});
    if (status == OK)
        housekeeping->counters.removed++;
    return status;
}

/* Marks an instance that has expired for clearing, unless it was written again before the commit:
 * then it is a new board of the same name. */
struct ending {
    struct action mark; /* of board_clear_action() */
    int64_t expires_ms, sealed_ms;
    bool marked; /* by this commit */
};

static enum status end_instance(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    struct ending *ending = action->user;
    ending->marked = old->count != 0 && item_get(old, BYTES("clearing")) == NULL &&
                     item_int(old, BYTES("expiresAt")) == ending->expires_ms &&
                     item_int(old, BYTES("sealedAt")) == ending->sealed_ms;
    return ending->marked ? ending->mark.compute(&ending->mark, old, arena, new) : OK;
}

enum status housekeeping_remove_board(struct housekeeping *housekeeping, const struct board *board,
                                      struct failure *failure) {
    struct ending ending = {.expires_ms = board->expires_ms, .sealed_ms = board->sealed_ms};
    const struct board *marked;
    board_clear_action(housekeeping->game, board, &housekeeping->arena, &ending.mark);
    struct action action = ending.mark;
    action.compute = end_instance;
    action.user = &ending;
    struct change change = {
        .kind = CHANGE_WRITE, .arena = &housekeeping->arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(housekeeping->game, &change);
    *failure = change.failure;
    if (status != OK || !ending.marked)
        return status;
    status = board_find(housekeeping->game, board->instance,
                        (struct scope){&housekeeping->arena, failure}, &marked);
    if (status != OK)
        return status;
    status = marked->clearing ? housekeeping_clear_board(housekeeping, marked, failure) : OK;
    board_drop(marked);
    return status;
}

static enum status seal_board(struct housekeeping *housekeeping, const struct board *board,
                              struct failure *failure) {
    bool sealed = false;
    enum status status = board_seal(housekeeping->game, board,
                                    (struct scope){&housekeeping->arena, failure}, &sealed);
    housekeeping->counters.sealed += sealed;
    return status;
}

/* When a sealed period is to be removed; INT64_MAX: never. */
static int64_t life_ends(const struct board *board) {
    int64_t life_s = board->rules.period_life_s, ends_ms = board->period.ends_ms;
    if (life_s <= 0 || life_s > (INT64_MAX - ends_ms) / 1000)
        return INT64_MAX;
    return ends_ms + life_s * 1000;
}

/* Where the ranking is apart from the items, an entry of the last moment may come to it after the
 * period was sealed: the final standings are computed again a little later. */
static enum status look_again(struct housekeeping *housekeeping, const struct board *board,
                              int64_t now_ms, int64_t *next_ms) {
    struct failure failure = {0};
    struct board_finals finals = {
        .game = housekeeping->game, .arena = &housekeeping->arena, .failure = &failure};
    enum status status = OK;
    int64_t again_ms = (board->sealed_ms != 0 ? board->sealed_ms : now_ms) + LIMIT_SEAL_AGAIN_MS;
    if (now_ms < again_ms && again_ms < *next_ms)
        *next_ms = again_ms;
    else if (board->sealed_ms != 0 && now_ms < again_ms + LIMIT_SEAL_CHECKED_MS) {
        status = board_finals_open(&finals, &board->pk, 1);
        if (status == OK)
            status = board_finals_refresh(&finals);
        board_finals_close(&finals);
    }
    return status;
}

/* Does what is due for the instance, and schedules what is due next. */
static enum status maintain_board(struct housekeeping *housekeeping, const struct board *board,
                                  int64_t now_ms, struct failure *failure) {
    enum status status = OK;
    int64_t ends_ms = board->period.ends_ms, next_ms = ends_ms;
    int64_t grace_ms = engine_may_block(housekeeping->game->engine) && ends_ms != INT64_MAX
                           ? LIMIT_SEAL_GRACE_MS
                           : 0;
    if (!board->exists || board->clearing)
        return OK;
    if (board->expires_ms != 0 && board->expires_ms <= now_ms)
        return housekeeping_remove_board(housekeeping, board, failure);
    if (ends_ms + grace_ms <= now_ms) {
        next_ms = life_ends(board);
        if (board->sealed_ms == 0)
            status = seal_board(housekeeping, board, failure);
        else if (next_ms <= now_ms)
            return housekeeping_remove_board(housekeeping, board, failure);
        if (grace_ms != 0)
            status = look_again(housekeeping, board, now_ms, &next_ms);
    } else if (grace_ms != 0 && ends_ms <= now_ms)
        next_ms = ends_ms + grace_ms;
    if (board->expires_ms != 0 && board->expires_ms < next_ms)
        next_ms = board->expires_ms;
    if (status == OK && next_ms != INT64_MAX && !board->rules.plain)
        due_heap_push(&housekeeping->dues, next_ms, board->instance);
    return status;
}

/* Nothing is due for an instance that cannot be found: its board was removed or changed. */
static enum status maintain_named(struct housekeeping *housekeeping, struct bytes name,
                                  int64_t now_ms) {
    struct failure failure = {0};
    const struct board *board;
    enum status status = board_find(housekeeping->game, name,
                                    (struct scope){&housekeeping->arena, &failure}, &board);
    if (status != OK)
        return status == INVALID || status == NOT_FOUND ? OK : status;
    status = bytes_equal(board->instance, name)
                 ? maintain_board(housekeeping, board, now_ms, &failure)
                 : OK;
    board_drop(board);
    return status;
}

static void maintain_due(struct housekeeping *housekeeping, int64_t now_ms) {
    struct bytes name;
    while (!housekeeping_is_stopping(housekeeping) &&
           due_heap_pop(&housekeeping->dues, now_ms, &housekeeping->arena, &name)) {
        if (maintain_named(housekeeping, name, now_ms) != OK) {
            housekeeping->counters.failures++;
            due_heap_push(&housekeeping->dues, now_ms + AGAIN_MS, name);
        }
        arena_reset(&housekeeping->arena);
    }
}

/* --- plain boards, by the index --- */

static struct bytes name_of(struct housekeeping *housekeeping, const struct item *state) {
    return entry_member_of(item_string(state, BYTES("GSI1SK")), &housekeeping->arena);
}

/* Removes plain boards that have expired. */
static enum status end_plain(struct housekeeping *housekeeping, int64_t now_ms) {
    struct listing listing = {.index = GAME_GSI2,
                              .partition_name = BYTES("GSI2PK"),
                              .partition = BYTES("EXPIRING"),
                              .sort_name = BYTES("GSI2SK"),
                              .limit = ENDING_PAGE};
    struct page_reply page;
    bool more = true;
    enum status status = OK;
    while (more && status == OK && !housekeeping_is_stopping(housekeeping)) {
        struct failure failure;
        listing.before = arena_printf(&housekeeping->arena, "%020" PRId64, now_ms + 1);
        uint64_t removed = housekeeping->counters.removed;
        status = board_page(housekeeping->game, &listing,
                            (struct scope){&housekeeping->arena, &failure}, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++)
            status = maintain_named(housekeeping, name_of(housekeeping, &page.items[i]), now_ms);
        more = status == OK && page.more && housekeeping->counters.removed > removed;
        arena_reset(&housekeeping->arena);
    }
    return status;
}

/* --- interrupted clearing ---
 *
 * The caller that began usually finishes, and two at once could delete what was written after the
 * first was done. So only clearing that was under way when housekeeping started is taken over at
 * once, since its caller is gone; later, clearing whose partition has not changed for a while. */

void housekeeping_free_clearing(struct housekeeping *housekeeping) {
    for (size_t i = 0; i < housekeeping->clearing_count; i++)
        mem_free((void *)(uintptr_t)housekeeping->clearing[i].instance.data);
    housekeeping->clearing_count = 0;
}

static const struct clearing_note *find_note(const struct housekeeping *housekeeping,
                                             struct bytes instance) {
    for (size_t i = 0; i < housekeeping->clearing_count; i++)
        if (bytes_equal(housekeeping->clearing[i].instance, instance))
            return &housekeeping->clearing[i];
    return NULL;
}

static struct clearing_note make_note(struct housekeeping *housekeeping, const struct item *state) {
    struct bytes key = item_string(state, BYTES("GSI1SK"));
    const struct clearing_note *before = find_note(housekeeping, key);
    struct value partition = value_string(board_partition_of_state(state, &housekeeping->arena));
    uint8_t *copy = mem_alloc(key.size + 1);
    memcpy(copy, key.data, key.size);
    struct clearing_note note = {
        .instance = bytes_of(copy, key.size),
        .partition_version = engine_partition_version(housekeeping->game->engine,
                                                      housekeeping->game->table, &partition),
        .since_us = clock_ticks_us()};
    if (before != NULL && before->partition_version == note.partition_version)
        note.since_us = before->since_us;
    return note;
}

static enum status resume_clearing(struct housekeeping *housekeeping, struct bytes key) {
    struct failure failure = {0};
    const struct board *board;
    struct bytes name = entry_member_of(key, &housekeeping->arena);
    enum status status = board_find(housekeeping->game, name,
                                    (struct scope){&housekeeping->arena, &failure}, &board);
    if (status != OK)
        return status;
    if (board->clearing)
        status = housekeeping_clear_board(housekeeping, board, &failure);
    board_drop(board);
    return status;
}

enum status housekeeping_resume_clearing(struct housekeeping *housekeeping) {
    struct clearing_note notes[CLEARING_NOTES];
    struct listing listing = {.index = GAME_GSI2,
                              .partition_name = BYTES("GSI2PK"),
                              .partition = BYTES("CLEARING"),
                              .limit = CLEARING_NOTES};
    struct page_reply page = {0};
    struct failure failure;
    size_t count = 0;
    enum status status = board_page(housekeeping->game, &listing,
                                    (struct scope){&housekeeping->arena, &failure}, &page);
    if (status != OK)
        return status;
    for (uint64_t i = 0; i < page.count; i++)
        notes[count++] = make_note(housekeeping, &page.items[i]);
    housekeeping_free_clearing(housekeeping);
    memcpy(housekeeping->clearing, notes, count * sizeof(*notes));
    housekeeping->clearing_count = count;
    for (size_t i = 0; i < count && status == OK && !housekeeping_is_stopping(housekeeping); i++)
        if (!housekeeping->clearing_checked || clock_ticks_us() - notes[i].since_us >= STALLED_US)
            status = resume_clearing(housekeeping, notes[i].instance);
    housekeeping->clearing_checked = status == OK;
    arena_reset(&housekeeping->arena);
    return status;
}

/* --- all of it --- */

void housekeeping_run_boards(struct housekeeping *housekeeping) {
    int64_t now_ms = clock_now_ms();
    if (housekeeping->rescan && housekeeping_scan_boards(housekeeping, (struct bytes){0}) == OK)
        housekeeping->rescan = false;
    arena_reset(&housekeeping->arena);
    maintain_due(housekeeping, now_ms);
    if (end_plain(housekeeping, now_ms) != OK || housekeeping_resume_clearing(housekeeping) != OK)
        housekeeping->counters.failures++;
}

#include "game/player/player_names.h"

#include "game/arena_pair.h"
#include "game/board/entry.h"
#include "game/housekeeping_int.h"
#include "game/player/player_entries.h"
#include "game/player/player_int.h"
#include "game/record.h"

#define PLAYER_PREFIX BYTES("PLAYER#")
#define ENTRY_NAME    BYTES("name")

bool player_names_changed(const struct stream_record *record) {
    return record->has_new && bytes_starts(item_string(&record->keys, GAME_PK), PLAYER_PREFIX) &&
           bytes_equal(item_string(&record->keys, GAME_SK), PROFILE_SK) &&
           !bytes_equal(item_string(&record->new, PROFILE_NAME),
                        record->has_old ? item_string(&record->old, PROFILE_NAME)
                                        : (struct bytes){0});
}

/* --- functions that run on the writer's thread --- */

/* The profile as the commit finds it: read_name() fills it in, write_name() uses it. */
struct profile_seen {
    bool there;
    struct bytes name;
};

static enum status read_name(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    struct profile_seen *seen = action->user;
    (void)new;
    seen->there = old->count != 0;
    seen->name = arena_copy(arena, item_string(old, PROFILE_NAME));
    return OK;
}

static enum status write_name(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const struct profile_seen *seen = action->user;
    struct value name = value_string(seen->name);
    if (old->count != 0 && seen->there && !bytes_equal(item_string(old, ENTRY_NAME), seen->name))
        *new = item_with(arena, old, ENTRY_NAME, seen->name.size != 0 ? &name : NULL);
    return OK;
}

/* --- a page of entries --- */

/* One run of player_names_follow(). */
struct following {
    struct game *game;
    struct bytes partition;
    struct failure failure;
};

static enum status write_names(struct following *following, const struct player_entries_page *page,
                               struct arena *arena) {
    struct profile_seen seen = {0};
    struct action *actions = ARENA_ARRAY(arena, struct action, page->count + 1);
    actions[0] = game_compute_action(
        following->game, game_key(arena, following->partition, PROFILE_SK), read_name, &seen);
    for (size_t i = 0; i < page->count; i++)
        actions[i + 1] = game_compute_action(following->game,
                                             game_key(arena, item_string(&page->items[i], GAME_PK),
                                                      item_string(&page->items[i], GAME_SK)),
                                             write_name, &seen);
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = arena,
                            .actions = actions,
                            .action_count = page->count + 1,
                            .divisible = true};
    enum status status = game_wait(following->game, &change);
    following->failure = change.failure;
    return status;
}

/* Writes the name into the page's entries, then into the final standings of sealed boards, which
 * have copies of the names. */
static enum status follow_page(struct following *following, const struct player_entries_page *page,
                               struct arena *arena) {
    struct board_finals finals = {
        .game = following->game, .arena = arena, .failure = &following->failure};
    if (page->count == 0)
        return OK;
    enum status status = write_names(following, page, arena);
    if (status == OK)
        status = board_finals_open(&finals, player_entries_partitions(page, arena), page->count);
    if (status == OK)
        status = board_finals_refresh(&finals);
    board_finals_close(&finals);
    return status;
}

enum status player_names_follow(struct game *game, struct bytes partition, struct scope in) {
    struct following following = {.game = game, .partition = partition};
    struct bytes id = entry_member_of(bytes_skip(partition, PLAYER_PREFIX.size), in.arena);
    struct player_entries_cursor cursor = {.game = game, .id = id};
    struct player_entries_page page;
    struct arena_pair arenas;
    enum status status = OK;
    arena_pair_init(&arenas);
    while (status == OK && !cursor.by_board) {
        struct arena *page_arena = arena_pair_next(&arenas);
        status =
            player_entries_next(&cursor, (struct scope){page_arena, &following.failure}, &page);
        if (status == OK)
            status = follow_page(&following, &page, page_arena);
    }
    if (status != OK)
        failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(following.failure.text));
    arena_pair_release(&arenas);
    return status;
}

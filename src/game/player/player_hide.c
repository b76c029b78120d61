/* Hiding a player.
 *
 *  1. One commit sets the profile's flag and the player's item in the set of hidden players
 *     (hidden_players.h). From then on all new entries are hidden: submissions read the flag
 *     (player_hidden_action), other writes the set.
 *  2. One more commit is waited for: writes that were prepared before the flag was visible are
 *     committed by then.
 *  3. Every entry that is there is hidden or shown as the flag says in that commit.
 *
 * So hiding and showing at the same time, or during submissions, end as the flag does, and what a
 * crash left half done is completed by hiding the player again.
 */
#include "game/arena_pair.h"
#include "game/board/entry_int.h"
#include "game/housekeeping_int.h"
#include "game/player/hidden_players.h"
#include "game/player/player.h"
#include "game/player/player_entries.h"
#include "game/player/player_int.h"
#include "game/record.h"

/* --- the flag --- */

static enum status read_hidden_flag(struct action *action, const struct item *old,
                                    struct arena *arena, struct item *new) {
    bool *hidden = action->user;
    (void)arena;
    (void)new;
    *hidden = player_profile_hidden(old);
    return OK;
}

bool player_profile_hidden(const struct item *profile) {
    return item_bool(profile, PROFILE_HIDDEN);
}

struct bytes player_profile_name(const struct item *profile) {
    return item_string(profile, PROFILE_NAME);
}

struct action player_hidden_action(struct game *game, struct bytes id, bool *hidden,
                                   struct arena *arena) {
    return game_compute_action(game, game_key(arena, player_pk(arena, id), PROFILE_SK),
                               read_hidden_flag, hidden);
}

/* What set_flag() is given. */
struct flag {
    struct bytes id;
    bool hidden;
};

/* A player without a profile can be hidden, too: the item made for that is deleted when it is
 * shown. */
static enum status set_flag(struct action *action, const struct item *old, struct arena *arena,
                            struct item *new) {
    const struct flag *flag = action->user;
    if (item_bool(old, PROFILE_HIDDEN) == flag->hidden)
        return OK;
    if (!flag->hidden) {
        bool made = item_get(old, PROFILE_CREATED) != NULL;
        *new = made ? item_with(arena, old, PROFILE_HIDDEN, NULL) : (struct item){0};
        return OK;
    }
    struct bytes key = bytes_skip(item_string(&action->item, GAME_PK), BYTES("PLAYER#").size);
    struct value id = value_string(key), hidden = value_bool(true);
    *new = item_with(arena, old->count != 0 ? old : &action->item, BYTES("id"), &id);
    *new = item_with(arena, new, PROFILE_HIDDEN, &hidden);
    return OK;
}

static enum status write_flag(struct game *game, const struct flag *flag, struct scope in) {
    struct bytes key;
    enum status status = entry_key_of(flag->id, in, &key);
    if (status != OK)
        return status;
    struct item profile = game_key(in.arena, player_pk(in.arena, flag->id), PROFILE_SK);
    struct action actions[2] = {
        game_compute_action(game, profile, set_flag, (void *)(uintptr_t)flag),
        hidden_players_action(game, key, flag->hidden, in.arena),
    };
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = in.arena,
                            .actions = actions,
                            .action_count = 2,
                            .all_or_nothing = true};
    status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}

/* Waits until all writes that the writer's thread has prepared by now are visible, by submitting a
 * change that writes nothing: changes complete in order. */
static enum status wait_for_writes(struct game *game, struct bytes id, struct scope in) {
    bool hidden;
    struct action action = player_hidden_action(game, id, &hidden, in.arena);
    struct change change = {
        .kind = CHANGE_WRITE, .arena = in.arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}

/* --- the entries --- */

static const struct bytes ranked[3] = {
    {(const uint8_t *)"score", 5}, {(const uint8_t *)"subscore", 8}, {(const uint8_t *)"tie", 3}};

static struct item hide_entry(const struct item *old, struct arena *arena) {
    struct value *numbers = ARENA_ARRAY(arena, struct value, 3);
    struct value list = {.type = VALUE_L, .count = 3, .elements = numbers};
    struct item item = *old;
    for (int i = 0; i < 3; i++) {
        const struct value *number = item_get(old, ranked[i]);
        numbers[i] = number != NULL ? *number : value_int(arena, 0);
        item = item_with(arena, &item, ranked[i], NULL);
    }
    return item_with(arena, &item, ENTRY_HIDDEN, &list);
}

static struct item show_entry(const struct item *old, const struct value *numbers,
                              struct arena *arena) {
    struct item item = item_with(arena, old, ENTRY_HIDDEN, NULL);
    for (int i = 0; i < 3; i++)
        item = item_with(arena, &item, ranked[i], &numbers[i]);
    return item;
}

static enum status apply_hidden_flag(struct action *action, const struct item *old,
                                     struct arena *arena, struct item *new) {
    const bool *hidden = action->user;
    const struct value *list = item_get(old, ENTRY_HIDDEN);
    bool is_hidden = list != NULL && list->type == VALUE_L && list->count == 3;
    if (*hidden && !is_hidden && item_get(old, GAME_SCORE) != NULL)
        *new = hide_entry(old, arena);
    if (!*hidden && is_hidden)
        *new = show_entry(old, list->elements, arena);
    return OK;
}

struct action player_hide_entry_action(struct game *game, const struct item *entry,
                                       const bool *hidden, struct arena *arena) {
    struct item key = game_key(arena, item_string(entry, GAME_PK), item_string(entry, GAME_SK));
    return game_compute_action(game, key, apply_hidden_flag, (void *)(uintptr_t)hidden);
}

/* Computes the final standings of sealed boards on the page anew, without hidden players. */
static enum status refresh_finals(struct game *game, const struct player_entries_page *page,
                                  struct scope in) {
    struct board_finals finals = {.game = game, .arena = in.arena, .failure = in.failure};
    enum status status =
        board_finals_open(&finals, player_entries_partitions(page, in.arena), page->count);
    if (status == OK)
        status = board_finals_refresh(&finals);
    board_finals_close(&finals);
    return status;
}

static enum status apply_hidden_flag_to_page(struct game *game, struct bytes id,
                                             const struct player_entries_page *page,
                                             struct scope in) {
    bool hidden = false;
    struct action *actions = ARENA_ARRAY(in.arena, struct action, page->count + 1);
    if (page->count == 0)
        return OK;
    actions[0] = player_hidden_action(game, id, &hidden, in.arena);
    for (size_t i = 0; i < page->count; i++)
        actions[i + 1] = player_hide_entry_action(game, &page->items[i], &hidden, in.arena);
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = in.arena,
                            .actions = actions,
                            .action_count = page->count + 1,
                            .divisible = true};
    enum status status = game_wait(game, &change);
    *in.failure = change.failure;
    return status == OK ? refresh_finals(game, page, in) : status;
}

enum status player_hide(struct game *game, struct bytes id, bool hidden, struct scope in) {
    struct arena_pair arenas;
    struct player_entries_cursor cursor = {.game = game, .id = id};
    struct player_entries_page page;
    struct failure fault = {0};
    enum status status = player_check_member(id, in);
    if (status != OK)
        return status;
    arena_pair_init(&arenas);
    status = write_flag(game, &(struct flag){id, hidden},
                        (struct scope){arena_pair_next(&arenas), &fault});
    hidden_players_refresh(game);
    if (status == OK)
        status = wait_for_writes(game, id, (struct scope){arena_pair_next(&arenas), &fault});
    while (status == OK && !cursor.ended) {
        struct arena *page_arena = arena_pair_next(&arenas);
        status = player_entries_next(&cursor, (struct scope){page_arena, &fault}, &page);
        if (status == OK)
            status = apply_hidden_flag_to_page(game, id, &page, (struct scope){page_arena, &fault});
    }
    if (status != OK)
        failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(fault.text));
    arena_pair_release(&arenas);
    return status;
}

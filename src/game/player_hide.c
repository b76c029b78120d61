/* Hiding a player. The profile's flag comes first, and the list of those who are hidden (hidden.h);
 * from then on whatever is submitted is hidden (player_hidden_action), and what is written by score
 * alone, and each entry that is there is made to say what the flag says at the
 * moment of the commit. So hiding and showing at once, or with submissions, end as the flag does,
 * and what a crash left half done is finished by asking again. */
#include "game/entry_int.h"
#include "game/hidden.h"
#include "game/play_int.h"
#include "game/player.h"
#include "game/player_walk.h"
#include "game/record.h"
#include "game/turns.h"

/* --- the flag --- */

static enum status look(struct action *action, const struct item *old, struct arena *arena,
                        struct item *new) {
    bool *hidden = action->user;
    (void)arena;
    (void)new;
    *hidden = item_bool(old, PROFILE_HIDDEN);
    return OK;
}

void player_hidden_action(struct game *game, struct bytes id, struct arena *arena, bool *hidden,
                          struct action *out) {
    *out = (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = game_key(arena, player_pk(arena, id), PROFILE_SK),
                           .compute = look,
                           .user = hidden};
}

struct flag {
    struct bytes id;
    bool hidden;
};

/* A player without a profile can be hidden, too: what is made for that goes when it is shown. */
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
    struct value id = value_string(flag->id), hidden = value_bool(true);
    *new = item_with(arena, old->count != 0 ? old : &action->item, BYTES("id"), &id);
    *new = item_with(arena, new, PROFILE_HIDDEN, &hidden);
    return OK;
}

static enum status write_flag(struct game *game, const struct flag *flag, struct arena *arena,
                              struct failure *failure) {
    struct bytes key;
    enum status status = entry_key_of(flag->id, arena, failure, &key);
    if (status != OK)
        return status;
    struct action actions[2] = {
        {.kind = ACTION_COMPUTE,
         .table = game->table,
         .item = game_key(arena, player_pk(arena, flag->id), PROFILE_SK),
         .compute = set_flag,
         .user = (void *)(uintptr_t)flag},
    };
    hidden_action(game, key, flag->hidden, arena, &actions[1]);
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = arena,
                            .actions = actions,
                            .action_count = 2,
                            .all_or_nothing = true};
    status = game_wait(game, &change);
    *failure = change.failure;
    if (status != OK)
        hidden_again(game);
    return status;
}

/* --- the entries --- */

static const struct bytes ranked[3] = {
    {(const uint8_t *)"score", 5}, {(const uint8_t *)"subscore", 8}, {(const uint8_t *)"tie", 3}};

static struct item hide(const struct item *old, struct arena *arena) {
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

static struct item show(const struct item *old, const struct value *numbers, struct arena *arena) {
    struct item item = item_with(arena, old, ENTRY_HIDDEN, NULL);
    for (int i = 0; i < 3; i++)
        item = item_with(arena, &item, ranked[i], &numbers[i]);
    return item;
}

static enum status turn_entry(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const bool *hidden = action->user;
    const struct value *list = item_get(old, ENTRY_HIDDEN);
    bool is_hidden = list != NULL && list->type == VALUE_L && list->count == 3;
    if (*hidden && !is_hidden && item_get(old, GAME_SCORE) != NULL)
        *new = hide(old, arena);
    if (!*hidden && is_hidden)
        *new = show(old, list->elements, arena);
    return OK;
}

static enum status turn_entries(struct game *game, struct bytes id, const struct player_page *page,
                                struct arena *arena, struct failure *failure) {
    bool hidden = false;
    struct action *actions = ARENA_ARRAY(arena, struct action, page->count + 1);
    if (page->count == 0)
        return OK;
    player_hidden_action(game, id, arena, &hidden, &actions[0]);
    for (size_t i = 0; i < page->count; i++)
        actions[i + 1] =
            (struct action){.kind = ACTION_COMPUTE,
                            .table = game->table,
                            .item = game_key(arena, item_string(&page->items[i], GAME_PK),
                                             item_string(&page->items[i], GAME_SK)),
                            .compute = turn_entry,
                            .user = &hidden};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = arena, .actions = actions, .action_count = page->count + 1};
    enum status status = game_wait(game, &change);
    *failure = change.failure;
    return status;
}

enum status player_hide(struct game *game, struct bytes id, bool hidden, struct arena *arena,
                        struct failure *failure) {
    struct turns turns;
    struct player_place place = {0};
    struct player_page page;
    struct failure fault = {0};
    enum status status = player_check_id(id, arena, failure);
    if (status != OK)
        return status;
    turns_init(&turns);
    status = write_flag(game, &(struct flag){id, hidden}, turns_next(&turns), &fault);
    while (status == OK && !place.ended) {
        struct arena *turn = turns_next(&turns);
        status = player_walk(game, id, &place, turn, &fault, &page);
        if (status == OK)
            status = turn_entries(game, id, &page, turn, &fault);
    }
    if (status != OK)
        failure_set(failure, arena, status, "%.*s", BYTES_ARG(fault.text));
    turns_release(&turns);
    return status;
}

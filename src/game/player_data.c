/* All of a player's data: told, and taken away.
 *
 * Pages of an export: the player's own partition, then the owner of its e-mail address, then its
 * entries. What a page ends at says which part it was of:
 *
 *   {PK PLAYER#<id>, SK}                 its own partition
 *   {GSI1PK PLAYER#<id>[, ...]}          its entries, by the index
 *   {PK INSTANCE#<name>, SK STATE}       its entries, by board
 */
#include "game/hidden.h"
#include "game/keeper_int.h"
#include "game/play_int.h"
#include "game/player.h"
#include "game/player_walk.h"
#include "game/record.h"
#include "game/turns.h"

enum { OWN_PAGE = 200 };

#define OWNER    BYTES("OWNER")
#define INSTANCE BYTES("INSTANCE#")

static enum status own_page(struct game *game, struct bytes id, const struct item *start,
                            struct arena *arena, struct failure *failure, struct page_reply *out) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] =
        (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(player_pk(arena, id))};
    struct page_request request = {
        .table = game->table, .keys = &keys, .consistent = true, .limit = OWN_PAGE, .start = start};
    return engine_page(game->engine, &request, arena, failure, out);
}

static struct item owner_key(struct arena *arena, struct bytes email) {
    return game_key(arena, record_join(arena, "EMAIL#", email), OWNER);
}

/* --- telling --- */

/* Adds the owner of the e-mail address to the page, if there is one. */
static enum status add_owner(struct game *game, struct bytes id, struct arena *arena,
                             struct failure *failure, struct page_reply *out) {
    struct player player;
    struct get_reply reply;
    enum status status = player_get(game, id, arena, failure, &player);
    if (status != OK || player.email.size == 0)
        return status == NOT_FOUND ? OK : status;
    struct get_request request = {
        .table = game->table, .key = owner_key(arena, player.email), .consistent = true};
    status = engine_get(game->engine, &request, arena, failure, &reply);
    if (status != OK || !reply.found)
        return status;
    struct item *items = ARENA_ARRAY(arena, struct item, out->count + 1);
    memcpy(items, out->items, out->count * sizeof(*items));
    items[out->count++] = reply.item;
    out->items = items;
    return OK;
}

static enum status export_own(struct game *game, struct bytes id, const struct item *after,
                              struct arena *arena, struct failure *failure,
                              struct page_reply *out) {
    enum status status = own_page(game, id, after, arena, failure, out);
    if (status != OK || out->more)
        return status;
    struct record next = record_of(arena);
    record_string(&next, BYTES("GSI1PK"), player_pk(arena, id));
    out->more = true;
    out->last_key = record_item(&next);
    return add_owner(game, id, arena, failure, out);
}

static enum status read_place(struct bytes id, const struct item *after, struct arena *arena,
                              struct failure *failure, struct player_place *out) {
    struct bytes pk = item_string(after, GAME_PK), partition = item_string(after, BYTES("GSI1PK"));
    *out = (struct player_place){0};
    if (partition.size == 0) {
        out->by_board = true;
        out->instance = entry_member_of(bytes_skip(pk, INSTANCE.size), arena);
    } else if (!bytes_equal(partition, player_pk(arena, id)))
        return failure_set(failure, arena, INVALID, "The cursor is of another player's data");
    else if (after->count > 1)
        out->after = *after;
    return OK;
}

static enum status write_place(const struct player_place *place, struct arena *arena,
                               struct failure *failure, struct page_reply *out) {
    struct bytes key = {0};
    enum status status = OK;
    out->more = !place->ended;
    out->last_key = place->after;
    if (place->by_board && place->instance.size != 0)
        status = entry_key_of(place->instance, arena, failure, &key);
    if (place->by_board)
        out->last_key = game_key(arena, record_join(arena, "INSTANCE#", key), BYTES("STATE"));
    return status;
}

static enum status export_entries(struct game *game, struct bytes id, const struct item *after,
                                  struct arena *arena, struct failure *failure,
                                  struct page_reply *out) {
    struct player_place place;
    struct player_page page;
    enum status status = read_place(id, after, arena, failure, &place);
    if (status == OK)
        status = player_walk(game, id, &place, arena, failure, &page);
    if (status != OK)
        return status;
    *out = (struct page_reply){.items = page.items, .count = page.count, .scanned = page.count};
    return write_place(&place, arena, failure, out);
}

enum status player_export(struct game *game, struct bytes id, const struct item *after,
                          struct arena *arena, struct failure *failure, struct page_reply *out) {
    enum status status = player_check_id(id, arena, failure);
    if (status != OK)
        return status;
    if (after != NULL && (item_string(after, BYTES("GSI1PK")).size != 0 ||
                          bytes_starts(item_string(after, GAME_PK), INSTANCE)))
        return export_entries(game, id, after, arena, failure, out);
    return export_own(game, id, after, arena, failure, out);
}

/* --- taking away --- */

struct erasing {
    struct game *game;
    struct bytes id;
    uint64_t count;
    struct failure failure;
};

static enum status commit(struct erasing *erasing, struct action *actions, size_t count,
                          struct arena *arena) {
    struct change change = {
        .kind = CHANGE_WRITE, .arena = arena, .actions = actions, .action_count = count};
    if (count == 0)
        return OK;
    enum status status = game_wait(erasing->game, &change);
    erasing->failure = change.failure;
    for (size_t i = 0; status == OK && i < count; i++)
        if (actions[i].had_old && actions[i].new.count == 0)
            erasing->count++;
    return status;
}

static struct action removal(struct erasing *erasing, const struct item *item,
                             struct arena *arena) {
    return (struct action){
        .kind = ACTION_DELETE,
        .table = erasing->game->table,
        .item = game_key(arena, item_string(item, GAME_PK), item_string(item, GAME_SK))};
}

/* Entries go, and from the final standings of boards the name of whom they were. */
static enum status erase_entries(struct erasing *erasing, const struct player_page *page,
                                 struct arena *arena) {
    size_t count = 0;
    struct action *actions =
        ARENA_ARRAY(arena, struct action, page->count + page->boards.count + 1);
    for (size_t i = 0; i < page->count; i++)
        actions[count++] = removal(erasing, &page->items[i], arena);
    for (size_t i = 0; i < page->boards.count; i++)
        if (keeper_final_has(&page->boards.states[i], erasing->id))
            keeper_final_forget(erasing->game, &page->boards.states[i], erasing->id, arena,
                                &actions[count++]);
    return commit(erasing, actions, count, arena);
}

/* All but the profile, which says where the rest is. *start: after it; then where to go on, count 0
 * at the end. */
static enum status erase_own(struct erasing *erasing, struct arena *arena, struct item *start) {
    struct page_reply page;
    enum status status = own_page(erasing->game, erasing->id, start->count != 0 ? start : NULL,
                                  arena, &erasing->failure, &page);
    if (status != OK)
        return status;
    *start = page.more ? page.last_key : (struct item){0};
    size_t count = 0;
    struct action *actions = ARENA_ARRAY(arena, struct action, page.count + 1);
    for (uint64_t i = 0; i < page.count; i++)
        if (!bytes_equal(item_string(&page.items[i], GAME_SK), PROFILE_SK))
            actions[count++] = removal(erasing, &page.items[i], arena);
    return commit(erasing, actions, count, arena);
}

/* The profile goes if its e-mail address is still the one whose owner goes with it. */
static enum status remove_profile(struct action *action, const struct item *old,
                                  struct arena *arena, struct item *new) {
    const struct player *player = action->user;
    if (!bytes_equal(item_string(old, PROFILE_EMAIL), player->email))
        return failure_set(&action->failure, arena, CONFLICT,
                           "The player was changed at the same moment. Try again.");
    *new = (struct item){0};
    return OK;
}

static enum status remove_owner(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    const struct player *player = action->user;
    (void)arena;
    if (bytes_equal(item_string(old, BYTES("player")), player->id))
        *new = (struct item){0};
    return OK;
}

static enum status erase_profile(struct erasing *erasing, struct arena *arena) {
    struct game *game = erasing->game;
    struct player player;
    enum status status = player_get(game, erasing->id, arena, &erasing->failure, &player);
    if (status != OK)
        return status == NOT_FOUND ? OK : status;
    player.id = erasing->id;
    struct bytes key;
    size_t count = 1;
    status = entry_key_of(player.id, arena, &erasing->failure, &key);
    if (status != OK)
        return status;
    struct action actions[3] = {
        {.kind = ACTION_COMPUTE,
         .table = game->table,
         .item = game_key(arena, player_pk(arena, player.id), PROFILE_SK),
         .compute = remove_profile,
         .user = &player},
    };
    if (player.email.size != 0)
        actions[count++] = (struct action){.kind = ACTION_COMPUTE,
                                           .table = game->table,
                                           .item = owner_key(arena, player.email),
                                           .compute = remove_owner,
                                           .user = &player};
    if (player.hidden)
        hidden_action(game, key, false, arena, &actions[count++]);
    status = commit(erasing, actions, count, arena);
    if (status != OK && player.hidden)
        hidden_again(game);
    return status;
}

static enum status erase_all(struct erasing *erasing, struct turns *turns) {
    struct player_place place = {0};
    struct player_page page;
    enum status status = OK;
    while (status == OK && !place.ended) {
        struct arena *arena = turns_next(turns);
        status = player_walk(erasing->game, erasing->id, &place, arena, &erasing->failure, &page);
        if (status == OK)
            status = erase_entries(erasing, &page, arena);
    }
    struct item start = {0};
    if (status != OK)
        return status;
    do
        status = erase_own(erasing, turns_next(turns), &start);
    while (status == OK && start.count != 0);
    return status == OK ? erase_profile(erasing, turns_next(turns)) : status;
}

enum status player_erase(struct game *game, struct bytes id, struct arena *arena,
                         struct failure *failure, uint64_t *count) {
    struct erasing erasing = {.game = game, .id = id};
    struct turns turns;
    enum status status = player_check_id(id, arena, failure);
    if (status != OK)
        return status;
    turns_init(&turns);
    status = erase_all(&erasing, &turns);
    if (status != OK)
        failure_set(failure, arena, status, "%.*s", BYTES_ARG(erasing.failure.text));
    turns_release(&turns);
    *count = erasing.count;
    return status;
}

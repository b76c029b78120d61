/* Exporting and erasing all of a player's data.
 *
 * An export has the items of the player's own partition (without those that only help to find it,
 * which repeat its profile), then the claim on its e-mail address, then
 * its seats in rooms, then its entries. The key at which a page ends says in which part it ended:
 *
 *   {PK PLAYER#<id>, SK}                 its own partition
 *   {GSI1PK PLAYER#<id>, GSI1SK ROOM#[...]}   its seats
 *   {GSI1PK PLAYER#<id>[, ...]}          its entries, by the index
 *   {PK INSTANCE#<name>, SK STATE}       its entries, by board
 */
#include "game/arena_pair.h"
#include "game/housekeeping_int.h"
#include "game/player/hidden_players.h"
#include "game/player/player.h"
#include "game/player/player_entries.h"
#include "game/player/player_finders.h"
#include "game/player/player_int.h"
#include "game/record.h"
#include "game/room/room_seats.h"

enum { OWN_PAGE = 200 };

#define INSTANCE BYTES("INSTANCE#")

static enum status own_page(struct game *game, const struct player_export_request *own,
                            struct scope in, struct page_reply *out) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){
        .name = GAME_PK, .op = KEY_EQ, .low = value_string(player_pk(in.arena, own->id))};
    struct page_request request = {.table = game->table,
                                   .keys = &keys,
                                   .consistent = true,
                                   .limit = OWN_PAGE,
                                   .start = own->after};
    return engine_page(game->engine, &request, in, out);
}

/* --- exporting --- */

/* Adds the claim on the e-mail address (PK EMAIL#<e-mail> SK OWNER) to the page, if there is one.
 */
static enum status add_owner(struct game *game, struct bytes id, struct scope in,
                             struct page_reply *out) {
    struct player player;
    struct get_reply reply;
    enum status status = player_get(game, id, in, &player);
    if (status != OK || player.email.size == 0)
        return status == NOT_FOUND ? OK : status;
    struct get_request request = {
        .table = game->table, .key = player_email_key(in.arena, player.email), .consistent = true};
    status = engine_get(game->engine, &request, in, &reply);
    if (status != OK || !reply.found)
        return status;
    struct item *items = ARENA_ARRAY(in.arena, struct item, out->count + 1);
    memcpy(items, out->items, out->count * sizeof(*items));
    items[out->count++] = reply.item;
    out->items = items;
    return OK;
}

static void drop_finders(struct page_reply *page) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < page->count; i++)
        if (!player_finders_has(&page->items[i]))
            page->items[kept++] = page->items[i];
    page->count = kept;
}

static enum status export_own(struct game *game, const struct player_export_request *request,
                              struct scope in, struct page_reply *out) {
    enum status status = own_page(game, request, in, out);
    if (status == OK)
        drop_finders(out);
    if (status != OK || out->more)
        return status;
    struct record next = record_of(in.arena);
    record_string(&next, BYTES("GSI1PK"), player_pk(in.arena, request->id));
    record_string(&next, BYTES("GSI1SK"), ROOM_SEATS_PREFIX);
    out->more = true;
    out->last_key = record_item(&next);
    return add_owner(game, request->id, in, out);
}

static enum status check_partition(const struct player_export_request *request, struct scope in) {
    if (bytes_equal(item_string(request->after, BYTES("GSI1PK")), player_pk(in.arena, request->id)))
        return OK;
    return failure_set(in.failure, in.arena, INVALID, "The cursor is of another player's data");
}

/* A page of seats; after the last one the cursor is that of the entries. */
static enum status export_seats(struct game *game, const struct player_export_request *request,
                                struct scope in, struct page_reply *out) {
    struct room_seats_query query = {.game = game, .player = request->id, .limit = OWN_PAGE};
    if (item_string(request->after, BYTES("GSI1SK")).size > ROOM_SEATS_PREFIX.size)
        query.after = request->after;
    enum status status = check_partition(request, in);
    if (status == OK)
        status = room_seats_page(&query, in, out);
    if (status != OK || out->more)
        return status;
    struct record next = record_of(in.arena);
    record_string(&next, BYTES("GSI1PK"), player_pk(in.arena, request->id));
    out->more = true;
    out->last_key = record_item(&next);
    return OK;
}

/* Where the walk through the entries goes on. */
static enum status read_cursor(const struct player_export_request *request, struct scope in,
                               struct player_entries_cursor *out) {
    const struct item *after = request->after;
    struct bytes pk = item_string(after, GAME_PK), partition = item_string(after, BYTES("GSI1PK"));
    if (partition.size == 0) {
        out->by_board = true;
        out->instance = entry_member_of(bytes_skip(pk, INSTANCE.size), in.arena);
        return OK;
    }
    if (after->count > 1)
        out->after = *after;
    return check_partition(request, in);
}

static enum status write_cursor(const struct player_entries_cursor *cursor, struct scope in,
                                struct page_reply *out) {
    struct bytes key = {0};
    enum status status = OK;
    out->more = !cursor->ended;
    out->last_key = cursor->after;
    if (cursor->by_board && cursor->instance.size != 0)
        status = entry_key_of(cursor->instance, in, &key);
    if (cursor->by_board)
        out->last_key = game_key(in.arena, record_join(in.arena, "INSTANCE#", key), BYTES("STATE"));
    return status;
}

static enum status export_entries(struct game *game, const struct player_export_request *request,
                                  struct scope in, struct page_reply *out) {
    struct player_entries_cursor cursor = {.game = game, .id = request->id};
    struct player_entries_page page;
    enum status status = read_cursor(request, in, &cursor);
    if (status == OK)
        status = player_entries_next(&cursor, in, &page);
    if (status != OK)
        return status;
    *out = (struct page_reply){.items = page.items, .count = page.count, .scanned = page.count};
    return write_cursor(&cursor, in, out);
}

enum status player_export(struct game *game, const struct player_export_request *request,
                          struct scope in, struct page_reply *out) {
    const struct item *after = request->after;
    enum status status = player_check_member(request->id, in);
    if (status != OK)
        return status;
    if (after != NULL && bytes_starts(item_string(after, BYTES("GSI1SK")), ROOM_SEATS_PREFIX))
        return export_seats(game, request, in, out);
    if (after != NULL && (item_string(after, BYTES("GSI1PK")).size != 0 ||
                          bytes_starts(item_string(after, GAME_PK), INSTANCE)))
        return export_entries(game, request, in, out);
    return export_own(game, request, in, out);
}

/* --- erasing --- */

struct erasing {
    struct game *game;
    struct bytes id, key; /* key: entry_key_of() the id */
    uint64_t count;       /* items deleted so far */
    struct failure failure;
};

static enum status commit_erase(struct erasing *erasing, struct action *actions, size_t count,
                                struct arena *arena) {
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = arena,
                            .actions = actions,
                            .action_count = count,
                            .divisible = true};
    if (count == 0)
        return OK;
    enum status status = game_wait(erasing->game, &change);
    erasing->failure = change.failure;
    for (size_t i = 0; status == OK && i < count; i++)
        if (actions[i].had_old && actions[i].new.count == 0 &&
            !player_finders_has(&actions[i].item))
            erasing->count++;
    return status;
}

static struct action delete_action(struct erasing *erasing, const struct item *item,
                                   struct arena *arena) {
    return (struct action){
        .kind = ACTION_DELETE,
        .by_owner = true,
        .table = erasing->game->table,
        .item = game_key(arena, item_string(item, GAME_PK), item_string(item, GAME_SK))};
}

/* Takes the page's entries on sealed boards out of the ranking, and computes those boards' final
 * standings anew. Only then are the entries deleted: if this is interrupted, the entries are still
 * there to be found when the player is erased again. */
static enum status unrank_sealed(struct erasing *erasing, const struct player_entries_page *page,
                                 struct arena *arena) {
    static const bool hidden = true;
    struct board_finals finals = {
        .game = erasing->game, .arena = arena, .failure = &erasing->failure};
    struct action *actions = ARENA_ARRAY(arena, struct action, page->count + 1);
    struct change change = {
        .kind = CHANGE_WRITE, .arena = arena, .actions = actions, .divisible = true};
    enum status status =
        board_finals_open(&finals, player_entries_partitions(page, arena), page->count);
    for (size_t i = 0; status == OK && finals.count != 0 && i < page->count; i++)
        if (board_finals_has(&finals, item_string(&page->items[i], GAME_PK)))
            actions[change.action_count++] =
                player_hide_entry_action(erasing->game, &page->items[i], &hidden, arena);
    if (change.action_count != 0) {
        status = game_wait(erasing->game, &change);
        erasing->failure = change.failure;
    }
    if (status == OK)
        status = board_finals_refresh(&finals);
    board_finals_close(&finals);
    return status;
}

/* Computes final standings anew of boards that were sealed while the entries were deleted, and of
 * those that named the player. */
static enum status refresh_sealed(struct erasing *erasing, const struct bytes *partitions,
                                  size_t count, struct arena *arena) {
    struct board_finals finals = {
        .game = erasing->game, .arena = arena, .failure = &erasing->failure};
    enum status status = board_finals_open(&finals, partitions, count);
    if (status == OK)
        status = board_finals_refresh(&finals);
    board_finals_close(&finals);
    return status;
}

/* Deletes the page's entries, and the player's name from final standings that have it. */
static enum status erase_entries(struct erasing *erasing, const struct player_entries_page *page,
                                 struct arena *arena) {
    size_t count = 0, most = page->count + page->boards.count + 1;
    struct action *actions = ARENA_ARRAY(arena, struct action, most);
    struct bytes *partitions = ARENA_ARRAY(arena, struct bytes, most);
    enum status status = unrank_sealed(erasing, page, arena);
    if (status != OK)
        return status;
    for (size_t i = 0; i < page->count; i++) {
        partitions[count] = item_string(&page->items[i], GAME_PK);
        actions[count++] = delete_action(erasing, &page->items[i], arena);
    }
    for (size_t i = 0; i < page->boards.count; i++) {
        const struct item *state = &page->boards.states[i];
        if (!board_final_has(state, erasing->key))
            continue;
        partitions[count] = record_join(arena, "BOARD#", item_string(state, BYTES("GSI1SK")));
        actions[count++] = board_final_forget_action(erasing->game, state, erasing->key, arena);
    }
    status = commit_erase(erasing, actions, count, arena);
    return status == OK ? refresh_sealed(erasing, partitions, count, arena) : status;
}

/* Deletes a page of the player's own partition after *start (count 0: the first), without the
 * profile, which is needed to the last; sets *start to where the next page begins, count 0 at the
 * end. */
static enum status erase_own(struct erasing *erasing, struct arena *arena, struct item *start) {
    struct player_export_request own = {.id = erasing->id,
                                        .after = start->count != 0 ? start : NULL};
    struct page_reply page;
    enum status status =
        own_page(erasing->game, &own, (struct scope){arena, &erasing->failure}, &page);
    if (status != OK)
        return status;
    *start = page.more ? page.last_key : (struct item){0};
    size_t count = 0;
    struct action *actions = ARENA_ARRAY(arena, struct action, page.count + 1);
    for (uint64_t i = 0; i < page.count; i++)
        if (!bytes_equal(item_string(&page.items[i], GAME_SK), PROFILE_SK))
            actions[count++] = delete_action(erasing, &page.items[i], arena);
    return commit_erase(erasing, actions, count, arena);
}

/* Deletes the profile, if its e-mail address is still the one whose claim is deleted with it. */
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
    enum status status =
        player_get(game, erasing->id, (struct scope){arena, &erasing->failure}, &player);
    if (status != OK)
        return status == NOT_FOUND ? OK : status;
    size_t count = 0;
    struct action actions[3];
    struct item key = game_key(arena, player_pk(arena, player.id), PROFILE_SK);
    actions[count++] = game_compute_action(game, key, remove_profile, &player);
    if (player.email.size != 0)
        actions[count++] =
            game_compute_action(game, player_email_key(arena, player.email), remove_owner, &player);
    if (player.hidden)
        actions[count++] = hidden_players_action(game, erasing->key, false, arena);
    status = commit_erase(erasing, actions, count, arena);
    hidden_players_refresh(game);
    return status;
}

/* Comes first, since leaving a room may end a match, which writes scores and records. */
static enum status erase_seats(struct erasing *erasing, struct arena *arena) {
    struct room_seats_query query = {
        .game = erasing->game, .player = erasing->id, .limit = OWN_PAGE};
    uint64_t left = 0;
    enum status status = room_seats_leave(&query, (struct scope){arena, &erasing->failure}, &left);
    erasing->count += left;
    return status;
}

static enum status erase_all(struct erasing *erasing, struct arena_pair *arenas) {
    struct player_entries_cursor cursor = {.game = erasing->game, .id = erasing->id};
    struct player_entries_page page;
    enum status status = erase_seats(erasing, arena_pair_next(arenas));
    while (status == OK && !cursor.ended) {
        struct arena *arena = arena_pair_next(arenas);
        status = player_entries_next(&cursor, (struct scope){arena, &erasing->failure}, &page);
        if (status == OK)
            status = erase_entries(erasing, &page, arena);
    }
    struct item start = {0};
    if (status != OK)
        return status;
    do
        status = erase_own(erasing, arena_pair_next(arenas), &start);
    while (status == OK && start.count != 0);
    return status == OK ? erase_profile(erasing, arena_pair_next(arenas)) : status;
}

enum status player_erase(struct game *game, struct bytes id, struct scope in, uint64_t *count) {
    struct erasing erasing = {.game = game, .id = id};
    struct arena_pair arenas;
    enum status status = entry_key_of(id, in, &erasing.key);
    if (status != OK)
        return status;
    arena_pair_init(&arenas);
    status = erase_all(&erasing, &arenas);
    if (status != OK)
        failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(erasing.failure.text));
    arena_pair_release(&arenas);
    *count = erasing.count;
    return status;
}

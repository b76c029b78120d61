#include "game/player/player_finders.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "expr/expr.h"
#include "game/arena_pair.h"
#include "game/board/entry.h"
#include "game/player/player_int.h"
#include "game/record.h"

#define PLAYER_PREFIX BYTES("PLAYER#")

/* --- what a player is found by --- */

static bool ends_word(uint8_t c) {
    return c == ' ' || c == '-' || c == '_' || c == '.';
}

/* The name from its next word after `at` on; empty if that was the last. */
static struct bytes next_word(struct bytes name) {
    size_t at = 0;
    while (at < name.size && !ends_word(name.data[at]))
        at++;
    while (at < name.size && ends_word(name.data[at]))
        at++;
    return bytes_skip(name, at);
}

void player_finders(const struct item *profile, struct arena *arena,
                    struct finder out[FINDERS_MAX]) {
    bool is = item_get(profile, PROFILE_CREATED) != NULL || item_get(profile, PROFILE_NAME) != NULL;
    struct bytes id = is ? utf8_lower(item_string(profile, BYTES("id")), arena) : (struct bytes){0};
    struct bytes email = is ? item_string(profile, PROFILE_EMAIL) : (struct bytes){0};
    struct bytes name = is ? utf8_lower(item_string(profile, PROFILE_NAME), arena) : id;
    size_t count = 0;
    out[count++] = (struct finder){BYTES("FIND#ID"), id};
    for (int i = 0; i < LIMIT_PLAYER_NAME_WORDS; i++) {
        out[count++] = (struct finder){arena_printf(arena, "FIND#NAME#%d", i), name};
        name = next_word(name);
    }
    out[count++] = (struct finder){BYTES("FIND#EMAIL"), email};
    static const char *const kinds[] = {"ID#", "NAME#", "EMAIL#"};
    for (size_t i = 0; i < count; i++)
        if (out[i].key.size != 0)
            out[i].key = record_join(arena, kinds[i == 0 ? 0 : i + 1 == count ? 2 : 1], out[i].key);
}

bool player_finders_has(const struct item *item) {
    return bytes_starts(item_string(item, GAME_SK), BYTES("FIND#")) &&
           bytes_starts(item_string(item, GAME_PK), PLAYER_PREFIX);
}

bool player_finders_changed(const struct stream_record *record) {
    static const struct item none;
    const struct item *old = record->has_old ? &record->old : &none;
    const struct item *new = record->has_new ? &record->new : &none;
    return bytes_starts(item_string(&record->keys, GAME_PK), PLAYER_PREFIX) &&
           bytes_equal(item_string(&record->keys, GAME_SK), PROFILE_SK) &&
           !(record->has_old && record->has_new &&
             bytes_equal(item_string(old, PROFILE_NAME), item_string(new, PROFILE_NAME)) &&
             bytes_equal(item_string(old, PROFILE_EMAIL), item_string(new, PROFILE_EMAIL)) &&
             bytes_equal(item_string(old, BYTES("id")), item_string(new, BYTES("id"))) &&
             (item_get(old, PROFILE_CREATED) != NULL) == (item_get(new, PROFILE_CREATED) != NULL));
}

/* --- writing them: functions that run on the writer's thread --- */

/* One player: see_profile() fills in the rest, write_finder() uses it. */
struct found_player {
    struct bytes partition;
    struct finder finders[FINDERS_MAX];
};

/* Which of a player's finders an action is about. */
struct finder_write {
    const struct found_player *player;
    size_t which;
};

static enum status see_profile(struct action *action, const struct item *old, struct arena *arena,
                               struct item *new) {
    struct found_player *player = action->user;
    (void)new;
    player_finders(old, arena, player->finders);
    for (size_t i = 0; i < FINDERS_MAX; i++) /* the item does not outlive the action */
        player->finders[i].key = arena_copy(arena, player->finders[i].key);
    return OK;
}

static enum status write_finder(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    const struct finder_write *write = action->user;
    struct bytes key = write->player->finders[write->which].key;
    struct record record = record_of(arena);
    if (bytes_equal(item_string(old, BYTES("GSI2SK")), key))
        return OK;
    if (key.size != 0) {
        record_string(&record, GAME_PK, item_string(&action->item, GAME_PK));
        record_string(&record, GAME_SK, item_string(&action->item, GAME_SK));
        record_string(&record, BYTES("GSI2PK"), FINDERS_PARTITION);
        record_string(&record, BYTES("GSI2SK"), key);
    }
    *new = record_item(&record);
    return OK;
}

/* --- following --- */

enum { PLAYERS_AT_ONCE = LIMIT_FINDERS_PLAYERS };

/* Adds the actions of one player; returns how many. */
static size_t add_actions(struct game *game, struct found_player *player, struct action *to,
                          struct arena *arena) {
    struct finder_write *writes = ARENA_ARRAY(arena, struct finder_write, FINDERS_MAX);
    static const struct item none;
    size_t count = 0;
    player_finders(&none, arena, player->finders); /* for their sort keys */
    to[count++] = game_compute_action(game, game_key(arena, player->partition, PROFILE_SK),
                                      see_profile, player);
    for (size_t i = 0; i < FINDERS_MAX; i++) {
        writes[i] = (struct finder_write){player, i};
        to[count++] =
            game_compute_action(game, game_key(arena, player->partition, player->finders[i].sk),
                                write_finder, &writes[i]);
    }
    return count;
}

static enum status follow_some(struct game *game, const struct bytes *partitions, size_t count,
                               struct scope in) {
    struct found_player *players = ARENA_ARRAY(in.arena, struct found_player, count);
    struct action *actions = ARENA_ARRAY(in.arena, struct action, count * (FINDERS_MAX + 1));
    struct change change = {
        .kind = CHANGE_WRITE, .arena = in.arena, .actions = actions, .divisible = true};
    for (size_t i = 0; i < count; i++) {
        players[i] = (struct found_player){.partition = partitions[i]};
        change.action_count +=
            add_actions(game, &players[i], actions + change.action_count, in.arena);
    }
    enum status status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}

enum status player_finders_follow(struct game *game, const struct bytes *partitions, size_t count,
                                  struct scope in) {
    enum status status = OK;
    while (status == OK && count != 0) {
        size_t some = count < PLAYERS_AT_ONCE ? count : PLAYERS_AT_ONCE;
        status = follow_some(game, partitions, some, in);
        partitions += some;
        count -= some;
    }
    return status;
}

/* --- profiles that were there before ---
 *
 *   PK KEEPER  SK FINDERS   done B, or after PK and SK of the last item scanned, by N and until N:
 *                           which server is at it, and until when others leave it alone
 */

enum { FILL_PAGE = 2000, FILL_STEP_MS = 100, FILL_LEASE_MS = 30000 };

#define FILL_DONE     BYTES("done")
#define FILL_AFTER_PK BYTES("afterPK")
#define FILL_AFTER_SK BYTES("afterSK")
#define FILL_BY       BYTES("by")
#define FILL_UNTIL    BYTES("until")

/* A step of the scan: what the item says, and what it is to say after it. */
struct filling {
    struct game *game;
    struct arena *arena;
    struct failure *failure;
    int64_t by, now_ms; /* which server this is */
    bool begin;         /* only claim it: the position stays what the item says */
    bool mine, done;
    struct item after; /* count 0: from the first */
};

static enum status write_position(struct action *action, const struct item *old,
                                  struct arena *arena, struct item *new) {
    struct filling *filling = action->user;
    struct record record = record_of(arena);
    bool taken = item_int(old, FILL_UNTIL) > filling->now_ms;
    filling->mine = !item_bool(old, FILL_DONE) && (!taken || item_int(old, FILL_BY) == filling->by);
    if (!filling->mine)
        return OK;
    if (filling->begin && item_string(old, FILL_AFTER_PK).size != 0)
        filling->after = game_key(arena, arena_copy(arena, item_string(old, FILL_AFTER_PK)),
                                  arena_copy(arena, item_string(old, FILL_AFTER_SK)));
    record_string(&record, GAME_PK, item_string(&action->item, GAME_PK));
    record_string(&record, GAME_SK, item_string(&action->item, GAME_SK));
    record_flag(&record, FILL_DONE, filling->done);
    if (!filling->done) {
        record_string(&record, FILL_AFTER_PK, item_string(&filling->after, GAME_PK));
        record_string(&record, FILL_AFTER_SK, item_string(&filling->after, GAME_SK));
        record_int(&record, FILL_BY, filling->by);
        record_int(&record, FILL_UNTIL, filling->now_ms + FILL_LEASE_MS);
    }
    *new = record_item(&record);
    return OK;
}

static struct item position_key(struct arena *arena) {
    return game_key(arena, BYTES("KEEPER"), BYTES("FINDERS"));
}

static enum status store_filling(struct filling *filling) {
    struct action action =
        game_compute_action(filling->game, position_key(filling->arena), write_position, filling);
    struct change change = {
        .kind = CHANGE_WRITE, .arena = filling->arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(filling->game, &change);
    *filling->failure = change.failure;
    return status;
}

/* Reads a page of the table after filling->after and makes the finders of the profiles in it. */
static enum status fill_page(struct filling *filling, struct scope in) {
    const struct bytes names[] = {GAME_PK, GAME_SK};
    struct page_request request = {.table = filling->game->table,
                                   .limit = FILL_PAGE,
                                   .start = filling->after.count != 0 ? &filling->after : NULL,
                                   .projection = projection_of_names(names, 2, in.arena),
                                   .select = SELECT_SPECIFIC};
    struct page_reply page;
    enum status status = engine_page(filling->game->engine, &request, in, &page);
    if (status != OK)
        return status;
    struct bytes *partitions = ARENA_ARRAY(in.arena, struct bytes, page.count + 1);
    size_t count = 0;
    for (uint64_t i = 0; i < page.count; i++) {
        struct bytes pk = item_string(&page.items[i], GAME_PK);
        if (bytes_starts(pk, PLAYER_PREFIX) &&
            bytes_equal(item_string(&page.items[i], GAME_SK), PROFILE_SK))
            partitions[count++] = pk;
    }
    status = player_finders_follow(filling->game, partitions, count, in);
    filling->done = !page.more;
    filling->after = page.more ? page.last_key : (struct item){0};
    return status;
}

/* Whether all has been found once: then one get is all that is done. */
static enum status is_filled(struct game *game, struct scope in, bool *done) {
    struct get_reply reply;
    struct get_request request = {
        .table = game->table, .key = position_key(in.arena), .consistent = true};
    enum status status = engine_get(game->engine, &request, in, &reply);
    *done = status == OK && reply.found && item_bool(&reply.item, FILL_DONE);
    return status;
}

static enum status fill_for_a_while(struct filling *filling) {
    struct arena_pair arenas;
    int64_t from_us = clock_ticks_us();
    enum status status;
    arena_pair_init(&arenas);
    do
        status = fill_page(filling, (struct scope){arena_pair_next(&arenas), filling->failure});
    while (status == OK && !filling->done &&
           clock_ticks_us() - from_us < INT64_C(1000) * FILL_STEP_MS);
    if (filling->after.count != 0)
        filling->after = game_key(
            filling->arena, arena_copy(filling->arena, item_string(&filling->after, GAME_PK)),
            arena_copy(filling->arena, item_string(&filling->after, GAME_SK)));
    arena_pair_release(&arenas);
    return status;
}

enum status player_finders_fill(struct game *game, int64_t by, struct scope in, bool *done) {
    struct filling filling = {.game = game,
                              .arena = in.arena,
                              .failure = in.failure,
                              .by = by,
                              .now_ms = clock_now_ms(),
                              .begin = true};
    enum status status = is_filled(game, in, done);
    if (status != OK || *done)
        return status;
    status = store_filling(&filling);
    if (status == OK && filling.mine)
        status = fill_for_a_while(&filling);
    if (status != OK || !filling.mine)
        return status;
    filling.begin = false;
    status = store_filling(&filling);
    *done = status == OK && filling.mine && filling.done;
    return status;
}

enum status player_finders_refill(struct game *game, struct scope in) {
    struct action action = {.kind = ACTION_DELETE,
                            .by_owner = true,
                            .table = game->table,
                            .item = position_key(in.arena)};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = in.arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}

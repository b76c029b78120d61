/* Reading plays: one, those of a player, those of a game. */
#include "base/ulid.h"
#include "game/play.h"
#include "game/play_int.h"
#include "game/record.h"

enum status play_read(const struct item *item, struct play *out) {
    struct bytes pk = item_string(item, GAME_PK), sk = item_string(item, GAME_SK);
    *out = (struct play){.game = item_string(item, PLAY_GAME),
                         .started_ms = item_int(item, PLAY_STARTED),
                         .ended_ms = item_int(item, PLAY_ENDED),
                         .score = item_number(item, PLAY_SCORE),
                         .meta = item_map(item, PLAY_META)};
    if (!bytes_starts(pk, BYTES("PLAYER#")) || !bytes_starts(sk, BYTES("PLAY#")))
        return DAMAGED;
    out->player = bytes_skip(pk, BYTES("PLAYER#").size);
    out->id = bytes_skip(sk, BYTES("PLAY#").size);
    return ulid_valid(out->id) ? OK : DAMAGED;
}

enum status play_get(struct game *game, struct bytes player, struct bytes id, struct arena *arena,
                     struct failure *failure, struct play *out) {
    struct get_reply reply = {0};
    enum status status = player_check_id(player, arena, failure);
    if (status != OK)
        return status;
    if (ulid_valid(id)) {
        struct get_request request = {
            .table = game->table,
            .key = game_key(arena, player_pk(arena, player), play_sk(arena, id)),
            .consistent = true};
        status = engine_get(game->engine, &request, arena, failure, &reply);
    }
    if (status != OK)
        return status;
    if (!reply.found)
        return failure_set(failure, arena, NOT_FOUND, "There is no such play session");
    if (play_read(&reply.item, out) != OK)
        return failure_set(failure, arena, DAMAGED, "The play session cannot be read");
    return OK;
}

/* Asks for one more than wanted, to know whether there is more. */
static enum status read_page(struct game *game, struct page_request *page, size_t limit,
                             struct arena *arena, struct failure *failure, struct play_list *out) {
    struct page_reply reply;
    page->table = game->table;
    page->backward = true;
    page->limit = (uint32_t)limit + 1;
    enum status status = engine_page(game->engine, page, arena, failure, &reply);
    if (status != OK)
        return status;
    size_t count = reply.count < limit ? (size_t)reply.count : limit;
    *out = (struct play_list){.plays = ARENA_ARRAY(arena, struct play, count + 1),
                              .more = reply.more || reply.count > limit};
    for (size_t i = 0; i < count; i++)
        if (play_read(&reply.items[i], &out->plays[out->count]) == OK)
            out->count++;
    return OK;
}

static enum status check_before(struct bytes before, struct arena *arena, struct failure *failure) {
    if (before.size == 0 || ulid_valid(before))
        return OK;
    return failure_set(failure, arena, INVALID, "That is not the id of a play session");
}

enum status play_list_player(struct game *game, struct bytes player, struct bytes before,
                             size_t limit, struct arena *arena, struct failure *failure,
                             struct play_list *out) {
    enum status status = player_check_id(player, arena, failure);
    if (status == OK)
        status = check_before(before, arena, failure);
    if (status != OK)
        return status;
    struct bytes pk = player_pk(arena, player);
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(pk)};
    keys.tests[1] =
        (struct key_test){.name = GAME_SK, .op = KEY_BEGINS, .low = value_string(BYTES("PLAY#"))};
    struct item start = game_key(arena, pk, play_sk(arena, before));
    struct page_request page = {
        .keys = &keys, .consistent = true, .start = before.size != 0 ? &start : NULL};
    return read_page(game, &page, limit, arena, failure, out);
}

enum status play_list_game(struct game *game, struct bytes game_id, struct bytes before,
                           size_t limit, struct arena *arena, struct failure *failure,
                           struct play_list *out) {
    enum status status = play_check_game(game_id, arena, failure);
    if (status == OK)
        status = check_before(before, arena, failure);
    if (status != OK)
        return status;
    struct bytes partition = record_join(arena, "PLAYGAME#", game_id);
    struct key_condition keys = {.count = before.size != 0 ? 2 : 1};
    keys.tests[0] =
        (struct key_test){.name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(partition)};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI2SK"), .op = KEY_LT, .low = value_string(play_sk(arena, before))};
    struct page_request page = {.keys = &keys, .index = GAME_GSI2};
    return read_page(game, &page, limit, arena, failure, out);
}

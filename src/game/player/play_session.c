/* Play sessions: opening and ending them, reading them, and their tokens. */
#include "game/player/play_session.h"

#include "base/clock.h"
#include "base/ulid.h"
#include "game/player/player_int.h"
#include "game/record.h"
#include "game/sign.h"

struct bytes play_sk(struct arena *arena, struct bytes id) {
    return record_join(arena, "PLAY#", id);
}

static bool name_letter(uint8_t c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '-';
}

enum status play_check_game(struct bytes id, struct scope in) {
    bool fits = id.size >= 1 && id.size <= 128;
    for (size_t i = 0; fits && i < id.size; i++)
        fits = name_letter(id.data[i]);
    if (fits)
        return OK;
    return failure_set(in.failure, in.arena, INVALID,
                       "A game is named by 1 to 128 letters, digits and any of _ . : -");
}

/* --- opening --- */

static struct item open_item(const struct play *play, struct arena *arena) {
    struct record record = record_of(arena);
    struct bytes sk = play_sk(arena, play->id);
    record_string(&record, GAME_PK, player_pk(arena, play->player));
    record_string(&record, GAME_SK, sk);
    record_string(&record, BYTES("GSI2PK"), record_join(arena, "PLAYGAME#", play->game));
    record_string(&record, BYTES("GSI2SK"), sk);
    record_string(&record, PLAY_GAME, play->game);
    record_int(&record, PLAY_STARTED, play->started_ms);
    record_string(&record, PLAY_STATUS, PLAY_IS_OPEN);
    record_value(&record, PLAY_META, play->meta);
    return record_item(&record);
}

static void set_single_action(struct change *change, const struct action *action) {
    change->kind = CHANGE_WRITE;
    change->actions = ARENA_NEW(change->arena, struct action);
    change->actions[0] = *action;
    change->action_count = 1;
}

enum status play_open_prepare(struct game *game, struct play *play, struct change *change,
                              struct failure *failure) {
    struct arena *arena = change->arena;
    enum status status = player_check_id(play->player, (struct scope){arena, failure});
    if (status == OK)
        status = play_check_game(play->game, (struct scope){arena, failure});
    if (status != OK)
        return status;
    char *id = arena_alloc(arena, ULID_SIZE);
    play->started_ms = clock_now_ms();
    ulid_make(play->started_ms, id);
    play->id = bytes_of(id, ULID_SIZE);
    struct buf token = {0};
    play_token_put(game, play, &token);
    play->token = arena_copy(arena, buf_bytes(&token));
    buf_release(&token);
    set_single_action(
        change,
        &(struct action){.kind = ACTION_PUT, .table = game->table, .item = open_item(play, arena)});
    return OK;
}

/* --- ending --- */

/* What end_play() is given, in the arena of the change. */
struct ending {
    struct play play;
    bool by_token; /* whoever has the token is told DENIED, whatever is wrong with the play */
};

static enum status refuse_end(struct action *action, struct arena *arena, bool there) {
    const struct ending *ending = action->user;
    if (!there)
        return failure_set(&action->failure, arena, ending->by_token ? DENIED : NOT_FOUND,
                           "There is no play session %.*s of this player",
                           BYTES_ARG(ending->play.id));
    if (ending->by_token)
        return failure_set(&action->failure, arena, DENIED,
                           "The token of play session %.*s was already used",
                           BYTES_ARG(ending->play.id));
    return failure_set(&action->failure, arena, DUPLICATE, "Play session %.*s has already ended",
                       BYTES_ARG(ending->play.id));
}

static struct item with_attribute(struct arena *arena, const struct item *item, struct bytes name,
                                  struct value value) {
    return item_with(arena, item, name, &value);
}

static enum status end_play(struct action *action, const struct item *old, struct arena *arena,
                            struct item *new) {
    const struct ending *ending = action->user;
    const struct play *ended = &ending->play;
    if (old->count == 0 || !bytes_equal(item_string(old, PLAY_STATUS), PLAY_IS_OPEN))
        return refuse_end(action, arena, old->count != 0);
    int64_t lasted_ms = ended->ended_ms - item_int(old, PLAY_STARTED);
    *new = with_attribute(arena, old, PLAY_STATUS, value_string(PLAY_IS_ENDED));
    *new = with_attribute(arena, new, PLAY_ENDED, value_int(arena, ended->ended_ms));
    *new =
        with_attribute(arena, new, PLAY_DURATION, value_int(arena, lasted_ms > 0 ? lasted_ms : 0));
    if (ended->score.size != 0)
        *new = with_attribute(arena, new, PLAY_SCORE, value_number(ended->score));
    if (ended->meta != NULL)
        *new = with_attribute(arena, new, PLAY_META, *ended->meta);
    return OK;
}

static struct action end_action(struct game *game, const struct ending *given,
                                struct arena *arena) {
    struct ending *ending = ARENA_NEW(arena, struct ending);
    *ending = *given;
    struct item key =
        game_key(arena, player_pk(arena, given->play.player), play_sk(arena, given->play.id));
    return game_compute_action(game, key, end_play, ending);
}

struct action play_end_action(struct game *game, const struct play *ended, struct arena *arena) {
    return end_action(game, &(struct ending){*ended, .by_token = true}, arena);
}

enum status play_end_prepare(struct game *game, const struct play *ended, struct change *change,
                             struct failure *failure) {
    struct arena *arena = change->arena;
    struct ending ending = {.play = *ended};
    enum status status = player_check_id(ended->player, (struct scope){arena, failure});
    if (status != OK)
        return status;
    if (!ulid_valid(ended->id))
        return failure_set(failure, arena, NOT_FOUND, "There is no such play session");
    ending.play.ended_ms = clock_now_ms();
    struct action action = end_action(game, &ending, arena);
    set_single_action(change, &action);
    return OK;
}

/* --- reading: one, those of a player, those of a game --- */

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

enum status play_get(struct game *game, struct play_key key, struct scope in, struct play *out) {
    struct get_reply reply = {0};
    enum status status = player_check_member(key.player, in);
    if (status != OK)
        return status;
    if (ulid_valid(key.id)) {
        struct get_request request = {
            .table = game->table,
            .key = game_key(in.arena, player_pk(in.arena, key.player), play_sk(in.arena, key.id)),
            .consistent = true};
        status = engine_get(game->engine, &request, in, &reply);
    }
    if (status != OK)
        return status;
    if (!reply.found)
        return failure_set(in.failure, in.arena, NOT_FOUND, "There is no such play session");
    if (play_read(&reply.item, out) != OK)
        return failure_set(in.failure, in.arena, DAMAGED, "The play session cannot be read");
    return OK;
}

/* The plays of the page, which was asked for with one more than wanted (page->limit), to know
 * whether there is more. */
static enum status read_plays_page(struct game *game, struct page_request *page, struct scope in,
                                   struct play_list *out) {
    struct page_reply reply;
    size_t limit = page->limit - 1;
    page->table = game->table;
    page->backward = true;
    enum status status = engine_page(game->engine, page, in, &reply);
    if (status != OK)
        return status;
    size_t count = reply.count < limit ? (size_t)reply.count : limit;
    *out = (struct play_list){.plays = ARENA_ARRAY(in.arena, struct play, count + 1),
                              .more = reply.more || reply.count > limit};
    for (size_t i = 0; i < count; i++)
        if (play_read(&reply.items[i], &out->plays[out->count]) == OK)
            out->count++;
    return OK;
}

static enum status check_before(struct bytes before, struct scope in) {
    if (before.size == 0 || ulid_valid(before))
        return OK;
    return failure_set(in.failure, in.arena, INVALID, "That is not the id of a play session");
}

enum status play_list_player(struct game *game, const struct play_list_request *request,
                             struct scope in, struct play_list *out) {
    struct bytes before = request->before;
    enum status status = player_check_member(request->of, in);
    if (status == OK)
        status = check_before(before, in);
    if (status != OK)
        return status;
    struct bytes pk = player_pk(in.arena, request->of);
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(pk)};
    keys.tests[1] =
        (struct key_test){.name = GAME_SK, .op = KEY_BEGINS, .low = value_string(BYTES("PLAY#"))};
    struct item start = game_key(in.arena, pk, play_sk(in.arena, before));
    struct page_request page = {.keys = &keys,
                                .consistent = true,
                                .limit = (uint32_t)request->limit + 1,
                                .start = before.size != 0 ? &start : NULL};
    return read_plays_page(game, &page, in, out);
}

enum status play_list_game(struct game *game, const struct play_list_request *request,
                           struct scope in, struct play_list *out) {
    struct bytes before = request->before;
    enum status status = play_check_game(request->of, in);
    if (status == OK)
        status = check_before(before, in);
    if (status != OK)
        return status;
    struct bytes partition = record_join(in.arena, "PLAYGAME#", request->of);
    struct key_condition keys = {.count = before.size != 0 ? 2 : 1};
    keys.tests[0] =
        (struct key_test){.name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(partition)};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI2SK"), .op = KEY_LT, .low = value_string(play_sk(in.arena, before))};
    struct page_request page = {
        .keys = &keys, .index = GAME_GSI2, .limit = (uint32_t)request->limit + 1};
    return read_plays_page(game, &page, in, out);
}

/* --- tokens --- */

/* The payload of a token is the play's ULID (16 bytes), then player and game, each with its length.
 * When the play started is in the ULID. */
void play_token_put(const struct game *game, const struct play *play, struct buf *to) {
    struct buf payload = {0};
    ulid_pack(play->id, buf_reserve(&payload, ULID_RAW_SIZE));
    payload.size += ULID_RAW_SIZE;
    buf_counted(&payload, play->player);
    buf_counted(&payload, play->game);
    sign_put((struct sign_key){game->settings.secret, "play"}, buf_bytes(&payload), to);
    buf_release(&payload);
}

enum status play_token_read(const struct game *game, struct bytes token, struct scope in,
                            struct play *out) {
    struct bytes payload, raw;
    char *id = arena_alloc(in.arena, ULID_SIZE);
    *out = (struct play){.id = bytes_of(id, ULID_SIZE)};
    if (sign_read((struct sign_key){game->settings.secret, "play"}, token, in.arena, &payload) !=
            OK ||
        !take_bytes(&payload, ULID_RAW_SIZE, &raw) || !take_counted(&payload, &out->player) ||
        !take_counted(&payload, &out->game) || payload.size != 0)
        return failure_set(in.failure, in.arena, DENIED,
                           "The token is not one of a play session of this server");
    ulid_unpack(raw.data, id);
    out->started_ms = ulid_time_ms(out->id);
    return OK;
}

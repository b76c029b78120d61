/* Opening and ending plays. */
#include "game/play.h"

#include "base/clock.h"
#include "base/ulid.h"
#include "game/play_int.h"
#include "game/record.h"

struct bytes play_sk(struct arena *arena, struct bytes id) {
    return record_join(arena, "PLAY#", id);
}

static bool name_letter(uint8_t c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '-';
}

enum status play_check_game(struct bytes id, struct arena *arena, struct failure *failure) {
    bool fits = id.size >= 1 && id.size <= 128;
    for (size_t i = 0; fits && i < id.size; i++)
        fits = name_letter(id.data[i]);
    if (fits)
        return OK;
    return failure_set(failure, arena, INVALID,
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

static void one_action(struct change *change, const struct action *action) {
    change->kind = CHANGE_WRITE;
    change->actions = ARENA_NEW(change->arena, struct action);
    change->actions[0] = *action;
    change->action_count = 1;
}

enum status play_open_prepare(struct game *game, struct bytes player, struct bytes game_id,
                              const struct value *meta, struct change *change,
                              struct failure *failure, struct play *out, struct bytes *token) {
    struct arena *arena = change->arena;
    enum status status = player_check_id(player, arena, failure);
    if (status == OK)
        status = play_check_game(game_id, arena, failure);
    if (status != OK)
        return status;
    char *id = arena_alloc(arena, ULID_SIZE);
    int64_t now_ms = clock_now_ms();
    ulid_make(now_ms, id);
    struct play play = {.id = bytes_of(id, ULID_SIZE),
                        .player = player,
                        .game = game_id,
                        .started_ms = now_ms,
                        .meta = meta};
    struct buf signed_token = {0};
    play_token_put(game, &play, &signed_token);
    *token = arena_copy(arena, buf_bytes(&signed_token));
    buf_release(&signed_token);
    one_action(change, &(struct action){.kind = ACTION_PUT,
                                        .table = game->table,
                                        .item = open_item(&play, arena)});
    *out = play;
    return OK;
}

/* --- ending --- */

/* What ends a play, for the function that does it. */
struct ending {
    struct bytes id, score;
    const struct value *meta;
    int64_t now_ms;
    bool by_token; /* whoever ends it shows the token: another word for what is wrong */
};

static enum status refuse(struct action *action, struct arena *arena, bool there) {
    const struct ending *ending = action->user;
    if (!there)
        return failure_set(&action->failure, arena, ending->by_token ? DENIED : NOT_FOUND,
                           "There is no play session %.*s of this player", BYTES_ARG(ending->id));
    if (ending->by_token)
        return failure_set(&action->failure, arena, DENIED,
                           "The token of play session %.*s was already used",
                           BYTES_ARG(ending->id));
    return failure_set(&action->failure, arena, DUPLICATE, "Play session %.*s has already ended",
                       BYTES_ARG(ending->id));
}

static struct item with(struct arena *arena, const struct item *item, struct bytes name,
                        struct value value) {
    return item_with(arena, item, name, &value);
}

static enum status end_play(struct action *action, const struct item *old, struct arena *arena,
                            struct item *new) {
    const struct ending *ending = action->user;
    if (old->count == 0 || !bytes_equal(item_string(old, PLAY_STATUS), PLAY_IS_OPEN))
        return refuse(action, arena, old->count != 0);
    int64_t lasted_ms = ending->now_ms - item_int(old, PLAY_STARTED);
    *new = with(arena, old, PLAY_STATUS, value_string(PLAY_IS_ENDED));
    *new = with(arena, new, PLAY_ENDED, value_int(arena, ending->now_ms));
    *new = with(arena, new, PLAY_DURATION, value_int(arena, lasted_ms > 0 ? lasted_ms : 0));
    if (ending->score.size != 0)
        *new = with(arena, new, PLAY_SCORE, value_number(ending->score));
    if (ending->meta != NULL)
        *new = with(arena, new, PLAY_META, *ending->meta);
    return OK;
}

static struct action end_action(struct game *game, struct bytes player, struct arena *arena,
                                const struct ending *told) {
    struct ending *ending = ARENA_NEW(arena, struct ending);
    *ending = *told;
    return (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item =
                               game_key(arena, player_pk(arena, player), play_sk(arena, told->id)),
                           .compute = end_play,
                           .user = ending};
}

void play_end_action(struct game *game, const struct play *play, struct bytes score, int64_t now_ms,
                     struct arena *arena, struct action *out) {
    *out = end_action(game, play->player, arena,
                      &(struct ending){play->id, score, NULL, now_ms, true});
}

enum status play_end_prepare(struct game *game, struct bytes player, struct bytes id,
                             struct bytes score, const struct value *meta, struct change *change,
                             struct failure *failure) {
    struct arena *arena = change->arena;
    enum status status = player_check_id(player, arena, failure);
    if (status != OK)
        return status;
    if (!ulid_valid(id))
        return failure_set(failure, arena, NOT_FOUND, "There is no such play session");
    struct action action =
        end_action(game, player, arena, &(struct ending){id, score, meta, clock_now_ms(), false});
    one_action(change, &action);
    return OK;
}

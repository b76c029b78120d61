/* The token of a player: when it ends (8 bytes), then the player's id. */
#include "game/play_int.h"
#include "game/player.h"
#include "game/record.h"
#include "game/sign.h"

struct bytes player_pk(struct arena *arena, struct bytes id) {
    return record_join(arena, "PLAYER#", id);
}

enum status player_check_id(struct bytes id, struct arena *arena, struct failure *failure) {
    struct bytes key = {0};
    struct failure ignored;
    /* The key of its entries says whose they are only where a member is its own key. */
    bool fits = id.size >= 1 && id.size <= PLAYER_ID_MAX &&
                entry_key_of(id, arena, &ignored, &key) == OK && bytes_equal(id, key);
    for (size_t i = 0; fits && i < id.size; i++)
        fits = id.data[i] >= 0x20 && id.data[i] != 0x7f;
    if (fits)
        return OK;
    return failure_set(failure, arena, INVALID,
                       "A player's id is 1 to %d bytes of text without control characters",
                       PLAYER_ID_MAX);
}

void player_token(const struct game *game, struct bytes id, int64_t expires_ms, struct buf *to) {
    struct buf payload = {0};
    buf_u64(&payload, (uint64_t)expires_ms);
    buf_put(&payload, id);
    sign_put(game->settings.secret, "player", buf_bytes(&payload), to);
    buf_release(&payload);
}

enum status player_token_read(const struct game *game, struct bytes token, int64_t now_ms,
                              struct arena *arena, struct failure *failure, struct bytes *id) {
    struct bytes payload;
    uint64_t expires_ms;
    if (sign_read(game->settings.secret, "player", token, arena, &payload) != OK ||
        !take_u64(&payload, &expires_ms) || payload.size == 0)
        return failure_set(failure, arena, DENIED, "The token is not a player's of this server");
    if ((int64_t)expires_ms <= now_ms)
        return failure_set(failure, arena, DENIED, "The player's token has ended");
    *id = payload;
    return OK;
}

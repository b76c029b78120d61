/* The token of a play: its ULID (16 bytes), player and game (counted). When it started is in the
 * ULID. */
#include "base/ulid.h"
#include "game/play.h"
#include "game/play_int.h"
#include "game/sign.h"

void play_token_put(const struct game *game, const struct play *play, struct buf *to) {
    struct buf payload = {0};
    ulid_pack(play->id, buf_reserve(&payload, ULID_RAW_SIZE));
    payload.size += ULID_RAW_SIZE;
    buf_counted(&payload, play->player);
    buf_counted(&payload, play->game);
    sign_put(game->settings.secret, "play", buf_bytes(&payload), to);
    buf_release(&payload);
}

enum status play_token_read(const struct game *game, struct bytes token, struct arena *arena,
                            struct failure *failure, struct play *out) {
    struct bytes payload, raw;
    char *id = arena_alloc(arena, ULID_SIZE);
    *out = (struct play){.id = bytes_of(id, ULID_SIZE)};
    if (sign_read(game->settings.secret, "play", token, arena, &payload) != OK ||
        !take_bytes(&payload, ULID_RAW_SIZE, &raw) || !take_counted(&payload, &out->player) ||
        !take_counted(&payload, &out->game) || payload.size != 0)
        return failure_set(failure, arena, DENIED,
                           "The token is not one of a play session of this server");
    ulid_unpack(raw.data, id);
    out->started_ms = ulid_time_ms(out->id);
    return OK;
}

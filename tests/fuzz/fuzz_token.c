/* Tokens of plays, players and seats, and invitations to rooms.
 *
 * Checked: nothing that was not signed is ever taken (the secret is not in the input), faults have
 * a text; and whatever the input, signed by us it is read back as it was, and with any one bit
 * turned it is refused. */
#include "game/player/play_session.h"
#include "game/player/player.h"
#include "game/room/room.h"
#include "game/shown_text.h"
#include "game/sign.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static const struct game game = {
    .settings.secret = {(const uint8_t *)"tz8Jm3pQv0aWcXe5RnYb7LhDk2GsUf4o", 32}};

static void refuse(struct bytes token, struct arena *arena) {
    struct failure failure = {0};
    struct play play;
    struct bytes id;
    struct player_token_request request = {.token = token};
    CHECK(play_token_read(&game, token, (struct scope){arena, &failure}, &play) == DENIED);
    CHECK(failure.text.size != 0);
    failure = (struct failure){0};
    CHECK(player_token_read(&game, &request, (struct scope){arena, &failure}, &id) == DENIED);
    CHECK(failure.text.size != 0);
    struct room_token seat;
    struct room_invitation invitation;
    CHECK(room_token_read(&game, token, (struct scope){arena, &failure}, &seat) == DENIED);
    CHECK(room_invitation_read(&game, token, (struct scope){arena, &failure}, &invitation) ==
          DENIED);
}

/* A name as others see it is seen so by them. */
static void show(struct bytes text, struct arena *arena) {
    struct bytes shown = shown_text(text, arena);
    CHECK(shown.size <= text.size);
    CHECK(bytes_equal(shown_text(shown, arena), shown));
}

/* A payload of ours that says anything at all must not hurt its readers. */
static void read_signed(const char *purpose, struct bytes payload, struct arena *arena) {
    struct buf token = {0};
    struct failure failure = {0};
    struct bytes back, id;
    struct play play;
    struct sign_key key = {game.settings.secret, purpose};
    sign_put(key, payload, &token);
    CHECK(sign_read(key, buf_bytes(&token), arena, &back) == OK);
    CHECK(bytes_equal(back, payload));
    play_token_read(&game, buf_bytes(&token), (struct scope){arena, &failure}, &play);
    struct player_token_request request = {.token = buf_bytes(&token)};
    player_token_read(&game, &request, (struct scope){arena, &failure}, &id);
    struct room_token seat;
    struct room_invitation invitation;
    room_token_read(&game, buf_bytes(&token), (struct scope){arena, &failure}, &seat);
    room_invitation_read(&game, buf_bytes(&token), (struct scope){arena, &failure}, &invitation);
    size_t at = payload.size != 0 ? payload.data[0] % token.size : 0;
    token.data[at] ^= 1;
    refuse(buf_bytes(&token), arena);
    buf_release(&token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    arena_init(&arena);
    struct bytes text = arena_copy(&arena, bytes_of(data, size)); /* its end is watched */
    refuse(text, &arena);
    show(text, &arena);
    if (size <= SIGN_PAYLOAD_MAX) {
        read_signed("play", text, &arena);
        read_signed("seat", text, &arena);
        read_signed("invitation", text, &arena);
        read_signed("player", text, &arena);
    }
    arena_release(&arena);
    return 0;
}

/* Credentials as HTTP requests and AUTH show them: lines of the input are the Authorization header,
 * ID:SECRET of the query, a player's and a seat's token.
 *
 * Checked: nobody becomes a key whose secret the input does not have (in plain or in base64), and
 * nobody a player, since no token of the input is signed; faults have a text; a stranger may do
 * nothing but what strangers may. */
#include "api/access_control.h"
#include "base/base64.h"
#include "base/mem.h"
#include "json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

#define SECRET "0123456789abcdef"

static const struct game game = {
    .settings.secret = {(const uint8_t *)"tz8Jm3pQv0aWcXe5RnYb7LhDk2GsUf4o", 32}};
static struct keys *keys;

static void make_keys(void) {
    struct arena arena;
    struct failure failure;
    struct keyring *ring = keyring_new();
    arena_init(&arena);
    CHECK(keyring_read(ring,
                       BYTES("{\"keys\":[{\"id\":\"k\",\"secret\":\"" SECRET
                             "\",\"tables\":[\"*\"],\"allow\":[\"all\"]}]}"),
                       "keys", (struct scope){&arena, &failure}) == OK);
    arena_release(&arena);
    keys = keys_new(ring);
}

static struct bytes take_line(struct bytes *rest) {
    size_t end = bytes_find(*rest, BYTES("\n"));
    struct bytes line = bytes_of(rest->data, end == SIZE_MAX ? rest->size : end);
    *rest = bytes_skip(*rest, line.size + (end != SIZE_MAX));
    return line;
}

/* The header's words, as they are and decoded. */
static bool has_secret(struct bytes text, struct arena *arena) {
    if (bytes_find(text, BYTES(SECRET)) != SIZE_MAX)
        return true;
    for (size_t i = 0; i < text.size; i++) {
        struct bytes decoded;
        if (base64_read(bytes_skip(text, i), arena, &decoded) &&
            bytes_find(decoded, BYTES(SECRET)) != SIZE_MAX)
            return true;
    }
    return false;
}

static void find(const struct credentials *shown, struct arena *arena) {
    struct failure failure = {0};
    struct caller caller;
    struct caller_lookup lookup = {keys, &game, arena, &failure};
    struct touch touch = {TOUCHES_GAME, ACCESS_READ, BYTES("game")};
    enum status status = caller_find(&lookup, shown, &caller);
    CHECK(status == OK || (status == DENIED && failure.text.size != 0));
    CHECK(caller.player.size == 0 && caller.room.size == 0 && !caller.open);
    if (caller.key != NULL)
        CHECK(has_secret(shown->authorization, arena) || has_secret(shown->pair, arena));
    else
        CHECK(access_decide(&caller, &touch) == DENIAL_UNKNOWN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct caller caller = {0};
    if (keys == NULL)
        make_keys();
    arena_init(&arena);
    struct bytes rest = arena_copy(&arena, bytes_of(data, size)); /* its end is watched */
    struct credentials shown = {.authorization = take_line(&rest)};
    shown.pair = take_line(&rest);
    shown.player_token = take_line(&rest);
    shown.seat_token = take_line(&rest);
    find(&shown, &arena);
    bool known = caller_find_secret(keys, shown.authorization, shown.pair, &caller);
    CHECK(known ==
          (bytes_equal(shown.pair, BYTES(SECRET)) &&
           (shown.authorization.size == 0 || bytes_equal(shown.authorization, BYTES("k")))));
    arena_release(&arena);
    return 0;
}

#include "api/rest/who.h"

#include "api/rest/route.h"
#include "base/clock.h"
#include "game/player.h"

#include <openssl/crypto.h>
#include <strings.h>

static bool has_scheme(struct bytes header, const char *scheme, struct bytes *rest) {
    size_t size = strlen(scheme);
    if (header.size <= size || header.data[size] != ' ' ||
        strncasecmp((const char *)header.data, scheme, size) != 0)
        return false;
    *rest = bytes_skip(header, size + 1);
    while (rest->size != 0 && rest->data[0] == ' ')
        *rest = bytes_skip(*rest, 1);
    return true;
}

/* The key of "id:secret"; NULL if it is none of ours. Takes as long wherever a secret differs. */
static const struct access_key *key_of(const struct keyring *ring, struct bytes pair) {
    size_t colon = bytes_find(pair, BYTES(":"));
    if (colon == SIZE_MAX)
        return NULL;
    const struct access_key *key = keyring_find(ring, bytes_of(pair.data, colon));
    struct bytes secret = bytes_skip(pair, colon + 1);
    if (key == NULL || key->secret.size != secret.size ||
        CRYPTO_memcmp(key->secret.data, secret.data, secret.size) != 0)
        return NULL;
    return key;
}

static bool is_key(const struct keyring *ring, struct bytes pair) {
    size_t colon = bytes_find(pair, BYTES(":"));
    return colon != SIZE_MAX && keyring_find(ring, bytes_of(pair.data, colon)) != NULL;
}

static enum status take_token(struct rest_call *call, struct bytes token) {
    call->who.client = true;
    return player_token_read(call->game, token, clock_now_ms(), call->arena, &call->failure,
                             &call->who.player);
}

/* By the Authorization header; `bearer` is what a key's place has that is no key. */
static enum status find_key(struct rest_call *call, struct bytes *bearer) {
    const struct keyring *ring =
        call->rest->settings.keys == NULL ? NULL : keys_now(call->rest->settings.keys);
    struct bytes header = http_header(call->exchange, "Authorization"), pair;
    bool basic = has_scheme(header, "Basic", &pair);
    if (!basic && !has_scheme(header, "Bearer", &pair))
        return header.size == 0 || ring == NULL
                   ? OK
                   : rest_fail(call, DENIED, "Authorization is taken as Bearer ID:SECRET or Basic");
    if (basic && !base64_read(pair, call->arena, &pair))
        return rest_fail(call, DENIED, "the Basic credentials are not base64");
    if (ring != NULL && (basic || is_key(ring, pair))) {
        call->who.key = key_of(ring, pair);
        if (call->who.key == NULL)
            return rest_fail(call, DENIED, "there is no such key");
        call->who.client = call->who.key->client;
    } else if (!basic && bytes_find(pair, BYTES(":")) == SIZE_MAX)
        *bearer = pair;
    else if (ring != NULL)
        return rest_fail(call, DENIED, "there is no such key");
    return OK;
}

static enum status identify(struct rest_call *call) {
    struct bytes bearer = {0}, token = http_header(call->exchange, "X-Player-Token");
    enum status status = find_key(call, &bearer);
    if (status == OK && (token.size != 0 || bearer.size != 0))
        status = take_token(call, token.size != 0 ? token : bearer);
    return status;
}

static enum status check_key(struct rest_call *call, unsigned access) {
    const struct access_key *key = call->who.key;
    bool allowed = key->client ? access_key_serves(key, access, call->game->table)
                               : access_key_allows(key, access, call->game->table);
    if (allowed && key->partition_count == 0)
        return OK;
    if (key->partition_count != 0)
        return rest_fail(call, DENIED,
                         "this key is kept to some partitions, and boards are more than those");
    return rest_fail(call, DENIED, "this key may not %s the table %.*s",
                     access == ACCESS_READ ? "read" : "write", BYTES_ARG(call->game->table));
}

enum status who_check(struct rest_call *call, bool *known) {
    const struct route *route = call->route;
    unsigned access = (route->flags & ROUTE_WRITES) != 0 ? ACCESS_WRITE : ACCESS_READ;
    *known = true;
    if (route->may == MAY_ALL)
        return OK;
    enum status status = identify(call);
    bool named = call->who.key != NULL || call->who.player.size != 0;
    if (status != OK || (call->rest->settings.keys != NULL && !named)) {
        *known = false;
        if (status == OK)
            rest_fail(call, DENIED,
                      "say who you are: Authorization: Bearer ID:SECRET, or a "
                      "player's token");
        return DENIED;
    }
    if (call->who.key != NULL && check_key(call, access) != OK)
        return DENIED;
    if (call->who.client && route->may == MAY_SERVER)
        return rest_fail(call, DENIED, "this is for a server's key, not for a client");
    if (call->who.client && route->may == MAY_PLAYER && call->who.player.size == 0)
        return rest_fail(call, DENIED,
                         "a client does this for the player whose token it sends in "
                         "X-Player-Token");
    return OK;
}

enum status rest_own(struct rest_call *call, struct bytes player) {
    if (!call->who.client || bytes_equal(call->who.player, player))
        return OK;
    return rest_fail(call, DENIED, "this token is not of that player");
}

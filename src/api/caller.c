#include "api/caller.h"

#include "base/base64.h"
#include "base/clock.h"
#include "game/player/player.h"
#include "json/json.h"

#include <openssl/crypto.h>
#include <strings.h>

static bool is_secret(const struct access_key *key, struct bytes secret) {
    return key->secret.size == secret.size &&
           CRYPTO_memcmp(key->secret.data, secret.data, secret.size) == 0;
}

/* --- HTTP --- */

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

static enum status deny(const struct caller_lookup *lookup, const char *sentence) {
    return failure_set(lookup->failure, lookup->arena, DENIED, "%s", sentence);
}

/* By "id:secret". Without keys whatever is shown is as good as nothing. */
static enum status find_pair(const struct caller_lookup *lookup, struct bytes pair,
                             struct caller *caller) {
    size_t colon = bytes_find(pair, BYTES(":"));
    if (caller->open)
        return OK;
    const struct access_key *key =
        colon == SIZE_MAX ? NULL : keyring_find(caller->ring, bytes_of(pair.data, colon));
    if (key == NULL || !is_secret(key, bytes_skip(pair, colon + 1)))
        return deny(lookup, "there is no such key");
    access_key_used(key);
    caller->key = key;
    return OK;
}

/* By the Authorization header. A Bearer that is no pair is a player's token: *token. */
static enum status find_authorization(const struct caller_lookup *lookup, struct bytes header,
                                      struct caller *caller, struct bytes *token) {
    struct bytes text;
    if (has_scheme(header, "Basic", &text)) {
        if (!base64_read(text, lookup->arena, &text))
            return deny(lookup, "the Basic credentials are not base64");
        return find_pair(lookup, text, caller);
    }
    if (has_scheme(header, "Bearer", &text)) {
        if (bytes_find(text, BYTES(":")) != SIZE_MAX)
            return find_pair(lookup, text, caller);
        *token = text;
        return OK;
    }
    if (header.size == 0 || caller->open)
        return OK;
    return deny(lookup, "Authorization is taken as Bearer ID:SECRET or Basic");
}

static enum status find_player(const struct caller_lookup *lookup, struct bytes token,
                               struct caller *caller) {
    if (lookup->game == NULL)
        return deny(lookup, "this server knows no players");
    struct player_token_request request = {.token = token, .now_ms = clock_now_ms()};
    return player_token_read(lookup->game, &request, (struct scope){lookup->arena, lookup->failure},
                             &caller->player);
}

static enum status find_seat(const struct caller_lookup *lookup, struct bytes token,
                             struct caller *caller) {
    struct room_token seat;
    if (lookup->game == NULL ||
        room_token_read(lookup->game, token, (struct scope){lookup->arena, lookup->failure},
                        &seat) != OK)
        return deny(lookup, "the token is not that of a seat in this room");
    caller->room = seat.code;
    caller->player = seat.player;
    caller->joined_ms = seat.joined_ms;
    return OK;
}

/* Guests are for servers that ask everybody else who they are. */
static enum status find_invitation(const struct caller_lookup *lookup, struct bytes token,
                                   struct caller *caller) {
    if (caller->open)
        return OK;
    if (lookup->game == NULL || !lookup->game->settings.guests)
        return deny(lookup, "this server lets no guests in");
    return room_invitation_read(lookup->game, token, (struct scope){lookup->arena, lookup->failure},
                                &caller->invitation);
}

/* A caller that has shown nothing yet: open if the server has no keys. */
static struct caller start_with(const struct keys *keys) {
    return keys == NULL ? (struct caller){.open = true} : (struct caller){.ring = keys_now(keys)};
}

/* By the console's cookie. None is no fault; one without its token, for what changes something, is:
 * it would be another page's doing. */
static enum status find_session(const struct caller_lookup *lookup,
                                const struct http_exchange *exchange, struct caller *caller) {
    struct console_session session;
    if (caller->open || lookup->sessions == NULL || exchange == NULL ||
        !console_session_find(lookup->sessions, exchange, &session))
        return OK;
    if (!console_session_proved(&session, exchange))
        return deny(lookup, "what the console changes carries its token in X-Console-Token");
    access_key_used(session.key);
    caller->key = session.key;
    caller->console = true;
    return OK;
}

static bool is_unknown(const struct caller *caller) {
    return caller->key == NULL && caller->player.size == 0;
}

enum status caller_find(const struct caller_lookup *lookup, const struct credentials *credentials,
                        struct caller *out) {
    struct bytes token = {0};
    *out = start_with(lookup->keys);
    if (credentials->seat_token.size != 0)
        return find_seat(lookup, credentials->seat_token, out);
    enum status status = find_authorization(lookup, credentials->authorization, out, &token);
    if (status == OK && credentials->pair.size != 0)
        status = find_pair(lookup, credentials->pair, out);
    if (credentials->player_token.size != 0)
        token = credentials->player_token;
    if (status == OK && token.size != 0)
        status = find_player(lookup, token, out);
    if (status == OK && is_unknown(out))
        status = find_session(lookup, credentials->exchange, out);
    if (status == OK && credentials->invitation.size != 0 && is_unknown(out))
        status = find_invitation(lookup, credentials->invitation, out);
    if (status != OK) /* a right key beside a wrong token is nobody, too */
        *out = (struct caller){0};
    return status;
}

bool caller_find_console(const struct caller_lookup *lookup, const struct http_exchange *exchange,
                         struct caller *out) {
    struct caller found = start_with(lookup->keys);
    if (http_header(exchange, "X-Console-Token").size == 0 ||
        http_header(exchange, "Authorization").size != 0)
        return false;
    if (!found.open && (find_session(lookup, exchange, &found) != OK || found.key == NULL))
        return false;
    *out = found;
    return true;
}

/* --- signatures --- */

const char *caller_find_signed(const struct caller_lookup *lookup,
                               const struct signature_settings *settings,
                               const struct http_exchange *exchange, struct caller *out) {
    struct signature signature;
    *out = start_with(lookup->keys);
    const char *exception =
        signature_read(exchange, (struct scope){lookup->arena, lookup->failure}, &signature);
    if (exception != NULL || out->open)
        return exception;
    struct signature_settings with_keys = *settings;
    with_keys.ring = out->ring;
    exception = signature_verify(exchange, &with_keys,
                                 (struct scope){lookup->arena, lookup->failure}, &signature);
    out->key = signature.key;
    if (exception == NULL && signature.key != NULL)
        access_key_used(signature.key);
    return exception;
}

enum http_admission caller_admit_signed(const struct caller_lookup *lookup,
                                        const struct signature_settings *settings,
                                        const struct http_exchange *exchange) {
    struct scope in = {lookup->arena, lookup->failure};
    struct signature_settings with_keys = *settings;
    struct signature signature;
    if (lookup->keys == NULL)
        return HTTP_TAKE_BODY;
    with_keys.ring = keys_now(lookup->keys);
    if (signature_read(exchange, in, &signature) != NULL ||
        signature_verify_head(exchange, &with_keys, in, &signature) != NULL)
        return HTTP_WITHOUT_BODY;
    return signature.proved_by_head ? HTTP_TAKE_BODY : HTTP_TAKE_UNPROVED;
}

/* --- connections that stay --- */

bool caller_find_secret(const struct keys *keys, struct bytes id, struct bytes secret,
                        struct caller *out) {
    const struct keyring *ring = keys_now(keys);
    const struct access_key *found = NULL;
    for (size_t i = 0; i < ring->count; i++) {
        const struct access_key *key = ring->keys[i];
        if ((id.size == 0 || bytes_equal(key->id, id)) && is_secret(key, secret))
            found = key;
    }
    if (found == NULL)
        return false;
    access_key_used(found);
    *out = (struct caller){.ring = ring, .key = found};
    return true;
}

void caller_refresh(const struct keys *keys, struct caller *caller) {
    const struct keyring *now = keys == NULL ? NULL : keys_now(keys);
    if (now == caller->ring && caller->open == (keys == NULL))
        return;
    const struct access_key *old = caller->key;
    *caller = start_with(keys);
    if (old == NULL || caller->open)
        return;
    const struct access_key *key = keyring_find(now, old->id);
    if (key != NULL && is_secret(key, old->secret))
        caller->key = key;
}

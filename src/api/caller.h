/* Who asks, found from what a request or a connection shows. The one place that compares secrets
 * and reads tokens; what the caller may do is decided by access_control.h.
 *
 *     SigV4 signature           DynamoDB requests               caller_find_signed()
 *     Bearer ID:SECRET, Basic   REST, live, /admin              caller_find()
 *     X-Player-Token, Bearer    a player's token, beside a key  caller_find()
 *     a seat's token            a room, live                    caller_find()
 *     an invitation             a room, as a guest              caller_find()
 *     AUTH, HELLO               a Redis connection              caller_find_secret()
 *     the console's cookie      the console's own pages         caller_find(), ..._console()
 *
 * Secrets are compared in the same time wherever they differ. A caller is plain memory that
 * borrows: its key lives as long as `struct keys` does, a player's and room's name as long as the
 * arena. Any thread.
 */
#ifndef GT_API_CALLER_H
#define GT_API_CALLER_H

#include "api/access_keys.h"
#include "api/console_sessions.h"
#include "api/signature.h"
#include "game/game.h"
#include "game/room/room.h"

/* Zero: a stranger. */
struct caller {
    bool open;                         /* the server has no keys, so nobody is asked who they are */
    const struct keyring *ring;        /* in which the key was found */
    const struct access_key *key;      /* NULL: none was shown */
    bool console;                      /* by a session of the console */
    struct bytes player;               /* of the token that was shown; empty: none */
    struct bytes room;                 /* of the seat's token that was shown; empty: none */
    int64_t joined_ms;                 /* when that seat was taken */
    struct room_invitation invitation; /* that was shown, and nothing else; no code: none */
};

/* What came with an HTTP request. Everything may be empty. */
struct credentials {
    struct bytes authorization; /* the header */
    struct bytes pair;          /* ID:SECRET from elsewhere */
    struct bytes player_token;
    struct bytes seat_token; /* then nothing else is looked at */
    struct bytes invitation; /* looked at if there is nothing else */
    /* Whose session of the console counts if there is nothing else; NULL: none does. */
    const struct http_exchange *exchange;
};

/* Whom to ask, and where what is found lives. `keys` NULL: there are none. `game` NULL: no token is
 * good. */
struct caller_lookup {
    const struct keys *keys;
    const struct game *game;
    struct arena *arena;
    struct failure *failure;
    struct console_sessions *sessions; /* of the console; NULL: there are none */
};

/* Fills in the caller. Showing nothing is no fault: *out is then a stranger, or open. DENIED, with
 * a sentence, for what is shown and wrong, and *out is a stranger. */
enum status caller_find(const struct caller_lookup *lookup, const struct credentials *credentials,
                        struct caller *out);

/* The caller of a DynamoDB request that carries X-Console-Token instead of a signature: whose
 * session of the console it is, or anybody on a server without keys. False if it is none: then it
 * has to be signed. */
bool caller_find_console(const struct caller_lookup *lookup, const struct http_exchange *exchange,
                         struct caller *out);

/* What is to become of the body of a DynamoDB request, by its head: it is not taken from whom
 * caller_find_signed() would refuse for the head alone. Without keys every one is taken. */
enum http_admission caller_admit_signed(const struct caller_lookup *lookup,
                                        const struct signature_settings *settings,
                                        const struct http_exchange *exchange);

/* The caller of a DynamoDB request. With keys it must be signed by one of them; without, carrying a
 * signature of anybody's is enough. NULL, or the name of the exception with its text in the
 * failure. */
const char *caller_find_signed(const struct caller_lookup *lookup,
                               const struct signature_settings *settings,
                               const struct http_exchange *exchange, struct caller *out);

/* The key of that id and secret; an empty id: whichever has the secret. False, and *out is left as
 * it was, if there is none. */
bool caller_find_secret(const struct keys *keys, struct bytes id, struct bytes secret,
                        struct caller *out);
/* For a caller that was found some time ago, or a zero one: looks again if the keys were replaced
 * since. Its key may have other rights now, or be gone, which makes it a stranger. Costs one
 * comparison if the keys are the same. */
void caller_refresh(const struct keys *keys, struct caller *caller);

#endif

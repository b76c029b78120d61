/* Signed tokens: a payload that a client keeps for us, and that is refused when it comes back
 * changed. Any thread.
 *
 *   token := payload "." signature      both URL-safe base64 without padding
 *   signature := HMAC-SHA256(secret, purpose 0x00 payload)
 *
 * The purpose is signed with the payload, so a token that was made for one purpose is refused for
 * another. A payload is not secret: whoever has the token can read it.
 */
#ifndef GT_GAME_SIGN_H
#define GT_GAME_SIGN_H

#include "base/buf.h"
#include "base/limits.h"
#include "base/status.h"

enum { SIGN_TOKEN_MAX = LIMIT_SIGNED_TOKEN, SIGN_PAYLOAD_MAX = LIMIT_SIGNED_PAYLOAD };

/* What a token is signed with; borrows both. */
struct sign_key {
    struct bytes secret;
    const char *purpose; /* at most 31 characters */
};

/* Appends the token. The payload has at most SIGN_PAYLOAD_MAX bytes. */
void sign_put(struct sign_key key, struct bytes payload, struct buf *to);
/* The payload of a token that sign_put() made with that key, in the arena. DENIED, without a text,
 * if the token is not one. The signatures are compared in constant time. */
enum status sign_read(struct sign_key key, struct bytes token, struct arena *arena,
                      struct bytes *payload);

#endif

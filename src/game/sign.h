/* Signed tokens: a few bytes that come back from outside as they were, or are refused.
 *
 *   token := payload "." signature      both URL-safe base64 without padding
 *   signature := HMAC-SHA256(secret, purpose 0x00 payload)
 *
 * The purpose is part of what is signed, so that a token made for one thing is none for another.
 * A payload is not secret: whoever has the token can read it.
 */
#ifndef GT_GAME_SIGN_H
#define GT_GAME_SIGN_H

#include "base/buf.h"
#include "base/status.h"

enum { SIGN_TOKEN_MAX = 1024, SIGN_PAYLOAD_MAX = 512 };

/* Appends the token. `purpose` has no NUL in it; the payload at most SIGN_PAYLOAD_MAX bytes. */
void sign_put(struct bytes secret, const char *purpose, struct bytes payload, struct buf *to);
/* The payload of a token that sign_put() made with that secret and purpose, in the arena; DENIED,
 * without a text, if it is none. Takes the same time wherever the signature differs. */
enum status sign_read(struct bytes secret, const char *purpose, struct bytes token,
                      struct arena *arena, struct bytes *payload);

#endif

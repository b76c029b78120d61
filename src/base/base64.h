/* Base64 (RFC 4648). Each run of bytes has one spelling: bits of the last letter that no byte takes
 * must be zero, and nothing but letters is skipped or taken. Any thread. */
#ifndef GT_BASE_BASE64_H
#define GT_BASE_BASE64_H

#include "base/arena.h"
#include "base/buf.h"

/* With "+/" and padding, as attribute values of type B use it. What is read is in the arena. */
void base64_put(struct buf *to, struct bytes bytes);
bool base64_valid(struct bytes text);
bool base64_read(struct bytes text, struct arena *arena, struct bytes *out);

/* With "-_" and no padding: safe in a URL, for tokens and cursors. */
void base64url_put(struct buf *to, struct bytes bytes);
bool base64url_read(struct bytes text, struct arena *arena, struct bytes *out);

#endif

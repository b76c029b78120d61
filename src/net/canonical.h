/* A request in the one form that both who signs it and who verifies it arrive at.
 *
 *     POST                          the method
 *     /                             the path: dot segments resolved, every other byte %-encoded
 *     A=1&B=2                       the query: decoded, encoded, sorted; without the signature
 *     host:example.com              each signed header, in order: name, its values trimmed,
 *     x-amz-date:20150830T123600Z   runs of blanks closed up, several joined by commas
 *                                   (an empty line)
 *     host;x-amz-date               their names
 *     e3b0...b855                   the SHA-256 of the body
 */
#ifndef GT_NET_CANONICAL_H
#define GT_NET_CANONICAL_H

#include "base/buf.h"
#include "net/http.h"

/* Appends all lines but the last, ending in a newline. False when a signed header is not in the
 * request, their names are not in strict order, or the query has more than 512 parameters. */
bool canonical_head(struct buf *to, const struct http_exchange *exchange,
                    struct bytes signed_headers);

void canonical_path(struct buf *to, struct bytes path);
bool canonical_query(struct buf *to, struct bytes query);
bool canonical_headers(struct buf *to, const struct http_exchange *exchange,
                       struct bytes signed_headers);

/* The value of a parameter of the query, decoded, its name compared without case; false if it is
 * not there. Of several the first. */
bool query_get(struct bytes query, struct bytes name, struct arena *arena, struct bytes *out);
/* What stands before the first `separator`, which is taken away with it; all of it when there is
 * none. False at the end. */
bool bytes_cut(struct bytes *from, char separator, struct bytes *out);

#endif

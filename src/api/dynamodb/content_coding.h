/* Content codings of bodies, both ways: gzip and deflate, as HTTP names them. */
#ifndef GT_API_DYNAMODB_CONTENT_CODING_H
#define GT_API_DYNAMODB_CONTENT_CODING_H

#include "base/arena.h"
#include "base/status.h"

enum coding { CODING_NONE, CODING_GZIP, CODING_DEFLATE, CODING_UNKNOWN };

/* What a Content-Encoding header names; an empty one and "identity" are CODING_NONE. */
enum coding coding_named(struct bytes name);
/* The best that an Accept-Encoding header takes: gzip before deflate, and neither if it gives them
 * a weight of 0. "x-gzip" is not "gzip". */
enum coding coding_accepted(struct bytes header);

/* The bytes in that coding (gzip or deflate), fast rather than small. Good until the thread's next
 * call. Any thread; each keeps its compressors and a buffer of its own. */
struct bytes coding_pack(enum coding coding, struct bytes plain);

struct coding_packed {
    enum coding coding;
    struct bytes bytes;
    size_t most; /* bytes that it may come to */
};
/* Unpacks into the arena. gzip may have several members, one after the other; deflate may come
 * with or without the zlib header. PARSE_FAILED if it is not of that coding; LIMIT_EXCEEDED if it
 * comes to more than `most` bytes. */
enum status coding_unpack(const struct coding_packed *packed, struct arena *arena,
                          struct bytes *out);

#endif

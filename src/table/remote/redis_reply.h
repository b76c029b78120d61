/* What a Redis server answers: RESP replies out of bytes, versions 2 and 3.
 *
 * Bytes arrive in any pieces. A scan finds where a reply ends without looking at a byte twice, and
 * only then is the reply read, once, into an arena; its strings are borrowed from the bytes:
 *
 *     struct redis_scan scan = {0};
 *     redis_scan(&scan, bytes)        WOULD_BLOCK: call again with these and more. OK: scan.size
 *                                     bytes are the reply
 *     redis_reply_read(bytes, ...)    the reply itself
 *
 * Replies come from a server that is trusted with ranks and not with memory: lengths, counts and
 * nesting are bounded (limits.h), and what is beyond them or malformed is PARSE_FAILED.
 */
#ifndef GT_TABLE_REMOTE_REDIS_REPLY_H
#define GT_TABLE_REMOTE_REDIS_REPLY_H

#include "base/status.h"

enum redis_type { REDIS_NULL, REDIS_TEXT, REDIS_STATUS, REDIS_ERROR, REDIS_INT, REDIS_ARRAY };

struct redis_reply {
    enum redis_type type;
    struct bytes text; /* TEXT, STATUS, ERROR (its code is the first word) */
    int64_t number;    /* INT; a boolean is 0 or 1 */
    struct redis_reply *elements;
    size_t count; /* ARRAY; a map has its keys and values by turns */
};

struct redis_scan {
    size_t size;    /* of the reply, when it is whole */
    size_t at;      /* where the next line begins */
    size_t looked;  /* up to here there is no line end */
    size_t pending; /* replies that are still to come, beyond the present one */
    bool begun;
};

/* OK, WOULD_BLOCK or PARSE_FAILED. Set it to zero for the next reply. */
enum status redis_scan(struct redis_scan *scan, struct bytes bytes);
/* Reads the whole reply that `bytes` begin with. OK or PARSE_FAILED. */
enum status redis_reply_read(struct bytes bytes, struct arena *arena, struct redis_reply *out);

/* Whether it is an error of that code: "NOSCRIPT". */
bool redis_reply_is_error(const struct redis_reply *reply, struct bytes code);
/* The number of an INT, or of a TEXT that is one; 0 for all else. */
int64_t redis_reply_number(const struct redis_reply *reply);

#endif

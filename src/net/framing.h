/* Where the parts of a request begin and end, as strictly as RFC 9112 lets a server be.
 *
 * The parser that reads a request (http-parser) forgives much: lines that end in LF alone, values
 * that go on in the next line, any byte for the LF behind a chunk's size. Behind a proxy that reads
 * such a request in another way, what one of the two takes for a body is the other's next request.
 * So every byte passes here before the parser sees it, and whatever is not exactly as the standard
 * writes it is refused.
 *
 * Both checks go on where they stopped, however the bytes are cut. They return NULL, or a sentence
 * about what is wrong. Plain memory; zero is the beginning. Private to net/.
 */
#ifndef GT_NET_FRAMING_H
#define GT_NET_FRAMING_H

#include "base/bytes.h"

/* The lines of a head. */
struct head_framing {
    size_t line; /* where the first line begins that is not checked yet */
    bool begun;  /* the request line has been seen */
    size_t end;  /* where the head ends, once its empty line is there; 0: not yet */
};

/* `bytes` is all there is of the request, from its first byte on. */
const char *head_framing_check(struct head_framing *framing, struct bytes bytes);

enum chunk_state {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER_BEGIN, /* of a line */
    CHUNK_TRAILER_NAME,
    CHUNK_TRAILER_VALUE,
    CHUNK_TRAILER_LF,
    CHUNK_LAST_LF,
    CHUNK_DONE,
};

/* The chunks of a body. */
struct chunk_framing {
    enum chunk_state state;
    unsigned digits; /* of the size that is being read */
    uint64_t size;   /* that size, and then what is left of the data */
    uint64_t total;  /* of all sizes so far */
    size_t body_max; /* what it may be: set before the first byte. More shows before it arrives, */
    bool too_large;  /* and is what was wrong */
    size_t extra;    /* bytes of extensions and trailers */
};

/* The next bytes of the body; *used of them belong to it, the rest to the next request. */
const char *chunk_framing_take(struct chunk_framing *framing, struct bytes bytes, size_t *used);

#endif

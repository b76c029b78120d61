/* Compression of bodies, both ways. */
#ifndef GT_API_DYNAMODB_GZIP_H
#define GT_API_DYNAMODB_GZIP_H

#include "base/arena.h"
#include "base/status.h"

/* The bytes as gzip, fast rather than small. Good until the thread's next call. Any thread; each
 * keeps a compressor and a buffer of its own. */
struct bytes gzip_pack(struct bytes plain);

/* Unpacks gzip or zlib data into the arena. PARSE_FAILED if it is neither; LIMIT_EXCEEDED if it
 * comes to more than `most` bytes. */
enum status gzip_unpack(struct bytes packed, size_t most, struct arena *arena, struct bytes *out);

#endif

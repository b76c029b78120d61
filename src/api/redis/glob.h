/* Glob patterns as of KEYS and SCAN: * is any run of bytes, ? any byte, [abc] [a-c] [^a] a byte of
 * a class, \x the byte x itself. */
#ifndef GT_API_REDIS_GLOB_H
#define GT_API_REDIS_GLOB_H

#include "base/bytes.h"

/* Takes at most the product of both lengths in time. `fold` ignores case. */
bool glob_matches(struct bytes pattern, struct bytes text, bool fold);

#endif

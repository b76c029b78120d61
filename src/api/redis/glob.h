/* Patterns of names: * any run, ? any byte, [abc] [a-c] [^a] one of a class, \x the byte x itself.
 */
#ifndef GT_API_REDIS_GLOB_H
#define GT_API_REDIS_GLOB_H

#include "base/bytes.h"

/* Costs at most the product of both lengths. `fold`: without case. */
bool glob_matches(struct bytes pattern, struct bytes text, bool fold);

#endif

/* Draws numbers at random, for commands that pick members: ZRANDMEMBER, HRANDFIELD, SPOP. Any
 * thread; what is drawn is in the arena. */
#ifndef GT_API_REDIS_RANDOM_DRAW_H
#define GT_API_REDIS_RANDOM_DRAW_H

#include "base/arena.h"

/* `count` different numbers below `size`, each set of them as likely as any other, in no order. */
uint64_t *draw_different(struct arena *arena, uint64_t size, uint64_t count);
/* `count` numbers below `size`, which may repeat. */
uint64_t *draw_any(struct arena *arena, uint64_t size, uint64_t count);

#endif

/* Random numbers: a fast generator that tests can seed, and the system's own for secrets. */
#ifndef GT_BASE_RANDOM_H
#define GT_BASE_RANDOM_H

#include "base/bytes.h"

/* xoshiro256**. Not secret. One owner at a time. */
struct random {
    uint64_t state[4];
};

void random_seed(struct random *random, uint64_t seed);
uint64_t random_next(struct random *random);
/* Uniform in 0 .. below-1; below > 0. */
uint64_t random_below(struct random *random, uint64_t below);

/* Fills from the system's secure source. Any thread. */
void random_secure(void *to, size_t size);

#endif

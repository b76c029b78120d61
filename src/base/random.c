#include "base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* splitmix64 spreads one word over the whole state. */
void random_seed(struct random *random, uint64_t seed) {
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15;
        uint64_t word = seed;
        word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
        word = (word ^ word >> 27) * 0x94d049bb133111eb;
        random->state[i] = word ^ word >> 31;
    }
}

static uint64_t rotate(uint64_t word, int by) {
    return word << by | word >> (64 - by);
}

uint64_t random_next(struct random *random) {
    uint64_t *s = random->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t random_below(struct random *random, uint64_t below) {
    return (uint64_t)(((unsigned __int128)random_next(random) * below) >> 64);
}

void random_secure(void *to, size_t size) {
    uint8_t *at = to;
    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0) {
            fprintf(stderr, "gametable: the system gives no random numbers\n");
            abort();
        }
        at += got;
        size -= (size_t)got;
    }
}

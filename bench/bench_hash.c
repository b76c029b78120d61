/* What the hash of a key costs in a table in memory: the keyed one beside the stable one, each step
 * waiting for the one before, as a look-up does.
 *
 *   bench_hash [rounds]     default 1000000; prints the best of 7 runs in processor time
 */
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint8_t text[128];

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double cost(uint64_t (*hash)(struct bytes b, uint64_t seed), size_t size, long rounds) {
    double best = 0;
    uint64_t last = 0;
    for (int run = 0; run < 7; run++) {
        double began = cpu_ns();
        for (long i = 0; i < rounds; i++)
            last = hash(bytes_of(text + (last & 7), size), 1);
        double took = (cpu_ns() - began) / (double)rounds;
        if (run == 0 || took < best)
            best = took;
    }
    return best;
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {5, 12, 20, 36, 48, 100};
    long rounds = argc > 1 ? atol(argv[1]) : 1000000;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * 7);
    printf("%8s %10s %10s\n", "bytes", "stable", "keyed");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        printf("%8zu %7.1f ns %7.1f ns\n", sizes[i], cost(hash_stable, sizes[i], rounds),
               cost(hash_keyed, sizes[i], rounds));
    return 0;
}

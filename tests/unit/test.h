/* What every unit test includes: cmocka in the order it wants. */
#ifndef GT_TEST_H
#define GT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The seed of a model test: from SEED in the environment, else fresh; printed so that a failure
 * can be replayed with `SEED=... build/unit/.../test_x`. */
static inline uint64_t test_seed(void) {
    const char *given = getenv("SEED");
    uint64_t seed = 0;
    if (given != NULL)
        seed = strtoull(given, NULL, 0);
    else {
        FILE *source = fopen("/dev/urandom", "rb");
        if (source == NULL || fread(&seed, 4, 1, source) != 1)
            seed = 1;
        if (source != NULL)
            fclose(source);
    }
    printf("SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

#define assert_bytes_equal(a, b)                                      \
    do {                                                              \
        struct bytes left_ = (a), right_ = (b);                       \
        assert_int_equal(left_.size, right_.size);                    \
        if (left_.size != 0)                                          \
            assert_memory_equal(left_.data, right_.data, left_.size); \
    } while (0)

#endif

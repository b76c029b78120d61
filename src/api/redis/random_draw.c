#include "api/redis/random_draw.h"

#include "base/map.h"
#include "base/random.h"

static struct random seeded_random(void) {
    struct random random;
    uint64_t seed;
    random_secure(&seed, sizeof(seed));
    random_seed(&random, seed);
    return random;
}

/* By Floyd's algorithm: draws below a bound that grows by one each time, and takes the bound itself
 * if the drawn number is there already. Then they are shuffled. */
uint64_t *draw_different(struct arena *arena, uint64_t size, uint64_t count) {
    struct random random = seeded_random();
    struct map seen = {0};
    uint64_t *drawn = arena_alloc(arena, (size_t)count * sizeof(*drawn));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t top = size - count + i;
        drawn[i] = random_below(&random, top + 1);
        if (map_get(&seen, bytes_of(&drawn[i], sizeof(*drawn))) != NULL)
            drawn[i] = top;
        map_put(&seen, bytes_of(&drawn[i], sizeof(*drawn)), &drawn[i]);
    }
    map_release(&seen);
    for (uint64_t i = count; i > 1; i--) {
        uint64_t other = random_below(&random, i), number = drawn[i - 1];
        drawn[i - 1] = drawn[other];
        drawn[other] = number;
    }
    return drawn;
}

uint64_t *draw_any(struct arena *arena, uint64_t size, uint64_t count) {
    struct random random = seeded_random();
    uint64_t *drawn = arena_alloc(arena, (size_t)count * sizeof(*drawn));
    for (uint64_t i = 0; i < count; i++)
        drawn[i] = random_below(&random, size);
    return drawn;
}

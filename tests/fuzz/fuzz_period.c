/* The first byte chooses a timeframe, the rest is the name of a period: refused, or the period that
 * its first and its last moment are in. */
#include "game/board/period.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct season season = {{(const uint8_t *)"summer", 6}, 0, 1000};
    struct timing timing = {.seasons = &season, .season_count = 1};
    struct arena arena;
    struct failure failure;
    struct period period, same;
    if (size == 0)
        return 0;
    arena_init(&arena);
    timing.frame = (enum timeframe)(data[0] % 6);
    struct bytes name = bytes_of(data + 1, size - 1);
    require(zone_find((struct bytes){0}, BYTES("UTC"), (struct scope){&arena, &failure},
                      &timing.zone) == OK);
    if (period_named(&timing, name, &arena, &period) == OK && period.name.size != 0) {
        require(bytes_equal(period.name, name));
        require(period_at(&timing, period.starts_ms, &arena, &same) == OK);
        require(bytes_equal(same.name, name) && same.ends_ms == period.ends_ms);
        require(period_at(&timing, period.ends_ms - 1, &arena, &same) == OK);
        require(bytes_equal(same.name, name) && same.starts_ms == period.starts_ms);
    }
    (void)timeframe_named(name);
    /* Names of zones lead nowhere but into their folder, which is not there. */
    require(zone_find(BYTES("/nonexistent"), name, (struct scope){&arena, &failure},
                      &timing.zone) != OK ||
            name.size == 0 || bytes_equal(name, BYTES("UTC")));
    arena_release(&arena);
    return 0;
}

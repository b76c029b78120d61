/* A time zone's file of any bytes: refused, or a zone whose days follow one another. */
#include "game/board/period.h"
#include "game/board/time_zone.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

static void check_at(const struct zone *zone, int64_t at, struct arena *arena) {
    struct timing timing = {.frame = FRAME_DAILY, .zone = zone};
    struct period period, next;
    struct zone_change change;
    int offset = zone_offset_s(zone, at * 1000);
    require(offset > -2 * ZONE_OFFSET_MAX && offset < 2 * ZONE_OFFSET_MAX);
    if (zone_change_before(zone, at, &change))
        require(change.at <= at);
    if (period_at(&timing, at * 1000, arena, &period) != OK)
        return;
    require(period.starts_ms <= at * 1000 && at * 1000 < period.ends_ms);
    if (period_at(&timing, period.ends_ms, arena, &next) == OK)
        require(next.starts_ms == period.ends_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct zone zone;
    arena_init(&arena);
    if (zone_read(bytes_of(data, size), &arena, &zone) == OK) {
        check_at(&zone, 0, &arena);
        check_at(&zone, INT64_C(1763294400), &arena);
        check_at(&zone, INT64_C(4102444800), &arena);
        if (zone.count != 0)
            check_at(&zone, zone.changes[zone.count / 2].at % (INT64_C(1) << 40), &arena);
    }
    arena_release(&arena);
    return 0;
}

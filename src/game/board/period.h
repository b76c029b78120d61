/* The periods after which a board starts over. A period is named by its start in the board's time
 * zone, so that every computation of it, after a restart or on another server too, gives the same.
 *
 *   hourly   2026-11-16T13     daily   2026-11-16     weekly   2026-W47 (ISO)
 *   monthly  2026-11           season  its own name   all-time no name
 */
#ifndef GT_GAME_BOARD_PERIOD_H
#define GT_GAME_BOARD_PERIOD_H

#include "base/status.h"

enum timeframe { FRAME_ALL, FRAME_HOURLY, FRAME_DAILY, FRAME_WEEKLY, FRAME_MONTHLY, FRAME_SEASON };

struct season {
    struct bytes name;
    int64_t starts_ms, ends_ms;
};

struct period {
    struct bytes name;          /* empty: all-time */
    int64_t starts_ms, ends_ms; /* [starts, ends); all-time: 0 and INT64_MAX */
};

/* A time zone's rules, read from the system's files ("Europe/Berlin", "UTC"). Shared, kept until
 * the process ends. INVALID if there is none of that name. Any thread. */
struct zone;
enum status zone_find(struct bytes folder, struct bytes name, struct scope in,
                      const struct zone **out);
/* The zone's offset from UTC at a time, in seconds, positive to the east. */
int zone_offset_s(const struct zone *zone, int64_t at_ms);

/* The period that contains the time. NOT_FOUND: between seasons. Names live in the arena. */
struct timing {
    enum timeframe frame;
    const struct zone *zone;
    const struct season *seasons; /* in order of time, not overlapping */
    size_t season_count;
};
enum status period_at(const struct timing *timing, int64_t at_ms, struct arena *arena,
                      struct period *out);
/* The period of that name. NOT_FOUND if no period can have it. */
enum status period_named(const struct timing *timing, struct bytes name, struct arena *arena,
                         struct period *out);

/* "all-time", "hourly", ..., and back; -1 for any other word. */
const char *timeframe_name(enum timeframe frame);
int timeframe_named(struct bytes name);

#endif

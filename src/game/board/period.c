/* Periods: from a time to the name of its period, and back.
 *
 * Local clocks are set back and forth, so a local time may occur twice or not at all. A boundary is
 * the first time at which the local clock has reached it. So an hour that occurs twice is one
 * period of two hours, a day on which the clock is set back has 25, an hour or day that is skipped
 * has no period, and every point in time is in exactly one period. */
#include "game/board/period.h"

#include "game/board/time_zone.h"

#include <string.h>

enum { HOUR_S = 3600, DAY_S = 24 * HOUR_S, YEAR_MIN = 1, YEAR_MAX = 9999 };

static const char *const frames[] = {"all-time", "hourly", "daily", "weekly", "monthly", "season"};

const char *timeframe_name(enum timeframe frame) {
    return frames[frame];
}

int timeframe_named(struct bytes name) {
    for (int i = 0; i < (int)(sizeof(frames) / sizeof(frames[0])); i++)
        if (bytes_equal(name, bytes_str(frames[i])))
            return i;
    return -1;
}

static int64_t floor_div(int64_t number, int64_t by) {
    return number / by - (number % by < 0);
}

static int64_t floor_to(int64_t number, int64_t step) {
    return floor_div(number, step) * step;
}

/* --- local time --- */

/* The latest local time that the clock has shown by then: what it shows, or what it showed when it
 * was last set back. This never decreases. */
static int64_t latest_local(const struct zone *zone, int64_t at) {
    int64_t most = at + zone_offset_at(zone, at);
    struct zone_change change;
    for (int64_t look = at; zone_change_before(zone, look, &change); look = change.at - 1) {
        if (at - change.at > 2 * ZONE_OFFSET_MAX)
            break;
        int64_t before = change.at - 1 + zone_offset_at(zone, change.at - 1);
        if (before > most)
            most = before;
    }
    return most;
}

/* The first time at which the local clock has reached `local`. */
static int64_t first_time_of(const struct zone *zone, int64_t local) {
    int64_t low = local - ZONE_OFFSET_MAX, high = local + ZONE_OFFSET_MAX;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (latest_local(zone, middle) >= local)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* --- boundaries, as local times --- */

/* The Monday of the week. */
static int64_t week_of(int64_t days) {
    return days - (weekday_of_days(days) + 6) % 7;
}

static int64_t boundary_before(enum timeframe frame, int64_t local) {
    int64_t days = floor_div(local, DAY_S), year;
    int month, day;
    switch (frame) {
    case FRAME_HOURLY:
        return floor_to(local, HOUR_S);
    case FRAME_WEEKLY:
        return week_of(days) * DAY_S;
    case FRAME_MONTHLY:
        date_of_days(days, &year, &month, &day);
        return (days - day + 1) * DAY_S;
    default:
        return days * DAY_S;
    }
}

static int64_t boundary_after(enum timeframe frame, int64_t boundary) {
    switch (frame) {
    case FRAME_HOURLY:
        return boundary + HOUR_S;
    case FRAME_WEEKLY:
        return boundary + 7 * DAY_S;
    case FRAME_MONTHLY:
        return boundary_before(frame, boundary + 31 * DAY_S);
    default:
        return boundary + DAY_S;
    }
}

/* Weeks belong to the year that has their Thursday. */
static struct bytes week_name(int64_t monday, struct arena *arena) {
    int64_t year;
    int month, day;
    date_of_days(monday + 3, &year, &month, &day);
    int week = (int)((monday + 3 - days_of_date(year, 1, 1)) / 7) + 1;
    return arena_printf(arena, "%04d-W%02d", (int)year, week);
}

static struct bytes boundary_name(enum timeframe frame, int64_t boundary, struct arena *arena) {
    int64_t days = floor_div(boundary, DAY_S), year;
    int month, day;
    date_of_days(days, &year, &month, &day);
    switch (frame) {
    case FRAME_HOURLY:
        return arena_printf(arena, "%04d-%02d-%02dT%02d", (int)year, month, day,
                            (int)((boundary - days * DAY_S) / HOUR_S));
    case FRAME_WEEKLY:
        return week_name(days, arena);
    case FRAME_MONTHLY:
        return arena_printf(arena, "%04d-%02d", (int)year, month);
    default:
        return arena_printf(arena, "%04d-%02d-%02d", (int)year, month, day);
    }
}

/* Whether all of the period has a year of four digits. */
static bool in_range(int64_t boundary) {
    return boundary >= days_of_date(YEAR_MIN, 1, 8) * DAY_S &&
           boundary < days_of_date(YEAR_MAX, 12, 25) * DAY_S;
}

/* --- periods --- */

static enum status season_of(const struct season *season, struct arena *arena, struct period *out) {
    *out = (struct period){arena_copy(arena, season->name), season->starts_ms, season->ends_ms};
    return OK;
}

static struct period whole_time(void) {
    return (struct period){.ends_ms = INT64_MAX};
}

static enum status period_from(const struct timing *timing, int64_t boundary, struct bytes name,
                               struct period *out) {
    int64_t starts = first_time_of(timing->zone, boundary);
    int64_t ends = first_time_of(timing->zone, boundary_after(timing->frame, boundary));
    if (starts == ends)
        return NOT_FOUND;
    *out = (struct period){name, starts * 1000, ends * 1000};
    return OK;
}

enum status period_at(const struct timing *timing, int64_t at_ms, struct arena *arena,
                      struct period *out) {
    if (timing->frame == FRAME_ALL) {
        *out = whole_time();
        return OK;
    }
    if (timing->frame == FRAME_SEASON) {
        for (size_t i = 0; i < timing->season_count; i++)
            if (timing->seasons[i].starts_ms <= at_ms && at_ms < timing->seasons[i].ends_ms)
                return season_of(&timing->seasons[i], arena, out);
        return NOT_FOUND;
    }
    int64_t at = floor_div(at_ms, 1000);
    if (!in_range(at))
        return NOT_FOUND;
    int64_t boundary = boundary_before(timing->frame, latest_local(timing->zone, at));
    return period_from(timing, boundary, boundary_name(timing->frame, boundary, arena), out);
}

/* A number of so many digits. */
static bool take_digits(struct bytes *in, size_t count, int *out) {
    int number = 0;
    if (in->size < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (in->data[i] < '0' || in->data[i] > '9')
            return false;
        number = number * 10 + (in->data[i] - '0');
    }
    *in = bytes_skip(*in, count);
    *out = number;
    return true;
}

static bool take_char(struct bytes *in, char wanted) {
    if (in->size == 0 || in->data[0] != (uint8_t)wanted)
        return false;
    *in = bytes_skip(*in, 1);
    return true;
}

/* The boundary that might have the name. That it does is for boundary_name() to say. */
static bool boundary_named(enum timeframe frame, struct bytes name, int64_t *out) {
    int year, month = 1, day = 1, hour = 0, week;
    if (!take_digits(&name, 4, &year) || !take_char(&name, '-'))
        return false;
    if (frame == FRAME_WEEKLY) {
        if (!take_char(&name, 'W') || !take_digits(&name, 2, &week))
            return false;
        *out = (week_of(days_of_date(year, 1, 4)) + 7 * (week - 1)) * DAY_S;
        return true;
    }
    if (!take_digits(&name, 2, &month) || month < 1 || month > 12)
        return false;
    if (frame != FRAME_MONTHLY && (!take_char(&name, '-') || !take_digits(&name, 2, &day)))
        return false;
    if (frame == FRAME_HOURLY && (!take_char(&name, 'T') || !take_digits(&name, 2, &hour)))
        return false;
    *out = days_of_date(year, month, day) * DAY_S + hour * HOUR_S;
    return true;
}

enum status period_named(const struct timing *timing, struct bytes name, struct arena *arena,
                         struct period *out) {
    int64_t boundary;
    if (timing->frame == FRAME_ALL) {
        *out = whole_time();
        return name.size == 0 ? OK : NOT_FOUND;
    }
    if (timing->frame == FRAME_SEASON) {
        for (size_t i = 0; i < timing->season_count; i++)
            if (bytes_equal(timing->seasons[i].name, name))
                return season_of(&timing->seasons[i], arena, out);
        return NOT_FOUND;
    }
    if (!boundary_named(timing->frame, name, &boundary) || !in_range(boundary))
        return NOT_FOUND;
    struct bytes own = boundary_name(timing->frame, boundary, arena);
    return bytes_equal(own, name) ? period_from(timing, boundary, own, out) : NOT_FOUND;
}

/* Private to game/board: time zones, for the boundaries of periods (period.h).
 *
 * A zone's file lists the times at which its UTC offset changed, and for the time after the last of
 * them a rule such as "CET-1CEST,M3.5.0,M10.5.0/3". All times are in seconds since 1970. */
#ifndef GT_GAME_BOARD_TIME_ZONE_H
#define GT_GAME_BOARD_TIME_ZONE_H

#include "base/limits.h"
#include "base/status.h"

enum {
    ZONE_NAME_MAX = LIMIT_ZONE_NAME,
    ZONE_FILE_MAX = LIMIT_ZONE_FILE,
    ZONE_OFFSET_MAX = 26 * 60 * 60
};

/* The day of a year on which a rule changes, and when on that day, by the clock before it. */
struct zone_day {
    enum { DAY_OF_MONTH_WEEK, DAY_WITHOUT_LEAP, DAY_WITH_LEAP } kind;
    int month, week, weekday; /* Mm.w.d: the w-th such weekday, 5 the last; 0 is Sunday */
    int day;                  /* Jn: 1 to 365, never the 29th of February; n: 0 to 365 */
    int time_s;               /* of the day; may be negative, or past it */
};

struct zone_rule {
    bool given;
    bool changes; /* there is another offset for a part of the year */
    int offset_s, summer_s;
    struct zone_day begins, ends; /* of summer time, whose offset is summer_s */
};

struct zone {
    int first_s; /* the offset before all changes */
    struct zone_change {
        int64_t at;
        int offset_s; /* from then on */
    } * changes;
    size_t count;
    struct zone_rule rule; /* after the last of them */
};

/* Reads a file's bytes; DAMAGED if they are not a zone's. The changes are in the arena. */
enum status zone_read(struct bytes file, struct arena *arena, struct zone *out);
/* Reads the rule at a file's end. False if it is malformed. Empty text leaves `given` false. */
bool zone_rule_read(struct bytes text, struct zone_rule *out);
/* The offset by the rule at a time. */
int zone_rule_offset(const struct zone_rule *rule, int64_t at);
/* The last change by the rule at or before a time; false if there is none within two years. */
bool zone_rule_change(const struct zone_rule *rule, int64_t at, struct zone_change *out);

/* The offset at a time, and the last change of it at or before that; false: there was none. */
int zone_offset_at(const struct zone *zone, int64_t at);
bool zone_change_before(const struct zone *zone, int64_t at, struct zone_change *out);

/* Days since 1970 of a date, any year; and back. Months 1 to 12, days 1 to 31. */
int64_t days_of_date(int64_t year, int month, int day);
void date_of_days(int64_t days, int64_t *year, int *month, int *day);
/* 0 is Sunday. */
int weekday_of_days(int64_t days);

#endif

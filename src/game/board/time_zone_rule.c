/* The POSIX rule at the end of a zone's file: std offset [dst [offset] [,start[/time],end[/time]]].
 */
#include "game/board/time_zone.h"

enum { DAY_S = 24 * 60 * 60 };

/* --- reading --- */

static bool take_char(struct bytes *in, char wanted) {
    if (in->size == 0 || in->data[0] != (uint8_t)wanted)
        return false;
    *in = bytes_skip(*in, 1);
    return true;
}

static bool take_number(struct bytes *in, int most, int *out) {
    int number = 0;
    size_t count = 0;
    for (; count < in->size && in->data[count] >= '0' && in->data[count] <= '9'; count++) {
        number = number * 10 + (in->data[count] - '0');
        if (number > most)
            return false;
    }
    *in = bytes_skip(*in, count);
    *out = number;
    return count > 0;
}

static bool is_letter(uint8_t byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

/* Letters, or anything in <>. */
static bool take_name(struct bytes *in) {
    size_t count = 0;
    if (take_char(in, '<')) {
        while (count < in->size && in->data[count] != '>')
            count++;
        *in = bytes_skip(*in, count);
        return take_char(in, '>');
    }
    while (count < in->size && is_letter(in->data[count]))
        count++;
    *in = bytes_skip(*in, count);
    return count > 0;
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(struct bytes *in, int hours_max, int *out) {
    int sign = take_char(in, '-') ? -1 : 1, hours, minutes = 0, seconds = 0;
    if (sign == 1)
        take_char(in, '+');
    if (!take_number(in, hours_max, &hours))
        return false;
    if (take_char(in, ':') &&
        (!take_number(in, 59, &minutes) || (take_char(in, ':') && !take_number(in, 59, &seconds))))
        return false;
    *out = sign * (hours * 3600 + minutes * 60 + seconds);
    return true;
}

static bool take_day(struct bytes *in, struct zone_day *out) {
    *out = (struct zone_day){.time_s = 2 * 3600};
    if (take_char(in, 'M')) {
        out->kind = DAY_OF_MONTH_WEEK;
        if (!take_number(in, 12, &out->month) || out->month < 1 || !take_char(in, '.') ||
            !take_number(in, 5, &out->week) || out->week < 1 || !take_char(in, '.') ||
            !take_number(in, 6, &out->weekday))
            return false;
    } else if (take_char(in, 'J')) {
        out->kind = DAY_WITHOUT_LEAP;
        if (!take_number(in, 365, &out->day) || out->day < 1)
            return false;
    } else {
        out->kind = DAY_WITH_LEAP;
        if (!take_number(in, 365, &out->day))
            return false;
    }
    return !take_char(in, '/') || take_time(in, 167, &out->time_s);
}

bool zone_rule_read(struct bytes text, struct zone_rule *out) {
    struct zone_rule rule = {.given = true};
    *out = (struct zone_rule){0};
    if (text.size == 0)
        return true;
    if (!take_name(&text) || !take_time(&text, 24, &rule.offset_s))
        return false;
    rule.offset_s = -rule.offset_s; /* it is told as hours west */
    if (text.size != 0) {
        rule.changes = true;
        rule.summer_s = rule.offset_s + 3600;
        if (!take_name(&text) || text.size == 0)
            return false;
        if (text.data[0] != ',') {
            if (!take_time(&text, 24, &rule.summer_s))
                return false;
            rule.summer_s = -rule.summer_s;
        }
        if (!take_char(&text, ',') || !take_day(&text, &rule.begins) || !take_char(&text, ',') ||
            !take_day(&text, &rule.ends))
            return false;
    }
    *out = rule;
    return text.size == 0;
}

/* --- the calendar, in eras of 400 years that begin with March --- */

int64_t days_of_date(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void date_of_days(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t of_era = days - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int of_year = (int)(of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100));
    int shifted = (5 * of_year + 2) / 153;
    *day = of_year - (153 * shifted + 2) / 5 + 1;
    *month = shifted < 10 ? shifted + 3 : shifted - 9;
    *year = year_of_era + era * 400 + (*month <= 2);
}

int weekday_of_days(int64_t days) {
    int64_t weekday = (days + 4) % 7;
    return (int)(weekday < 0 ? weekday + 7 : weekday);
}

/* --- changes by the rule --- */

static int64_t day_in_year(const struct zone_day *day, int64_t year) {
    int64_t first = days_of_date(year, 1, 1);
    bool leap = days_of_date(year + 1, 1, 1) - first == 366;
    if (day->kind == DAY_WITH_LEAP)
        return first + day->day;
    if (day->kind == DAY_WITHOUT_LEAP)
        return first + day->day - 1 + (leap && day->day >= 60);
    int64_t month = days_of_date(year, day->month, 1);
    int64_t next =
        day->month == 12 ? days_of_date(year + 1, 1, 1) : days_of_date(year, day->month + 1, 1);
    int64_t at = month + (day->weekday - weekday_of_days(month) + 7) % 7 + 7 * (day->week - 1);
    return at < next ? at : at - 7;
}

static void take_if_later(const struct zone_change *change, int64_t at, struct zone_change *best,
                          bool *found) {
    /* Where summer time begins just as the last one ends, the beginning comes second: it goes on.
     */
    if (change->at <= at && (!*found || change->at >= best->at))
        *best = *change, *found = true;
}

bool zone_rule_change(const struct zone_rule *rule, int64_t at, struct zone_change *out) {
    int64_t year;
    int month, day;
    bool found = false;
    if (!rule->changes)
        return false;
    date_of_days((at >= 0 ? at : at - DAY_S + 1) / DAY_S, &year, &month, &day);
    for (int64_t y = year - 1; y <= year + 1; y++) {
        struct zone_change ends = {day_in_year(&rule->ends, y) * DAY_S + rule->ends.time_s -
                                       rule->summer_s,
                                   rule->offset_s};
        struct zone_change begins = {day_in_year(&rule->begins, y) * DAY_S + rule->begins.time_s -
                                         rule->offset_s,
                                     rule->summer_s};
        bool ends_first = ends.at <= begins.at;
        take_if_later(ends_first ? &ends : &begins, at, out, &found);
        take_if_later(ends_first ? &begins : &ends, at, out, &found);
    }
    return found;
}

int zone_rule_offset(const struct zone_rule *rule, int64_t at) {
    struct zone_change change;
    return zone_rule_change(rule, at, &change) ? change.offset_s : rule->offset_s;
}

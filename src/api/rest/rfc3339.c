#include "api/rest/rfc3339.h"

#include <time.h>

/* Takes exactly `count` digits. */
static bool take_digits(struct bytes *from, size_t count, int *out) {
    *out = 0;
    if (from->size < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (from->data[i] < '0' || from->data[i] > '9')
            return false;
        *out = *out * 10 + (from->data[i] - '0');
    }
    *from = bytes_skip(*from, count);
    return true;
}

static bool take_sign(struct bytes *from, char sign) {
    if (from->size == 0 || from->data[0] != (uint8_t)sign)
        return false;
    *from = bytes_skip(*from, 1);
    return true;
}

static int days_of(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* ":SS[.mmm]"; both may be missing. */
static bool take_seconds(struct bytes *from, int *seconds, int *ms) {
    int digit, scale = 100;
    *seconds = *ms = 0;
    if (!take_sign(from, ':'))
        return true;
    if (!take_digits(from, 2, seconds) || *seconds > 59)
        return false;
    if (!take_sign(from, '.'))
        return true;
    if (!take_digits(from, 1, &digit))
        return false;
    do {
        *ms += digit * scale;
        scale /= 10;
    } while (take_digits(from, 1, &digit));
    return true;
}

/* "Z", "+01:00"; in minutes east. */
static bool take_zone(struct bytes *from, int *minutes) {
    int hours, rest;
    bool east = take_sign(from, '+'), west = !east && take_sign(from, '-');
    *minutes = 0;
    if (!east && !west)
        return take_sign(from, 'Z') || take_sign(from, 'z');
    if (!take_digits(from, 2, &hours) || !take_sign(from, ':') || !take_digits(from, 2, &rest) ||
        hours > 23 || rest > 59)
        return false;
    *minutes = (hours * 60 + rest) * (east ? 1 : -1);
    return true;
}

bool rfc3339_read(struct bytes text, int64_t *out) {
    int year, month, day, hour, minute, second, ms, zone;
    if (!take_digits(&text, 4, &year) || !take_sign(&text, '-') || !take_digits(&text, 2, &month) ||
        !take_sign(&text, '-') || !take_digits(&text, 2, &day))
        return false;
    if (!(take_sign(&text, 'T') || take_sign(&text, 't')) || !take_digits(&text, 2, &hour) ||
        !take_sign(&text, ':') || !take_digits(&text, 2, &minute) ||
        !take_seconds(&text, &second, &ms) || !take_zone(&text, &zone) || text.size != 0)
        return false;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_of(year, month) ||
        hour > 23 || minute > 59)
        return false;
    struct tm parts = {.tm_year = year - 1900,
                       .tm_mon = month - 1,
                       .tm_mday = day,
                       .tm_hour = hour,
                       .tm_min = minute,
                       .tm_sec = second};
    *out = ((int64_t)timegm(&parts) - zone * 60) * 1000 + ms;
    return *out >= 0;
}

void rfc3339_put(struct buf *to, int64_t ms) {
    const int64_t last = INT64_C(253402300799999); /* of the year 9999 */
    ms = ms < 0 ? 0 : ms > last ? last : ms;
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    buf_printf(to, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", parts.tm_year + 1900,
               parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
               (int)(ms % 1000));
}

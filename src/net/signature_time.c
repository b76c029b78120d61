/* The times of signatures: read and written on every request, so by hand. */
#include "net/sigv4.h"

struct civil_time {
    int year, month, day, hour, minute, second;
};

/* Days since 1970 of a date in the Gregorian calendar, by counting from March: the leap day is then
 * the last of its year. */
static int64_t days_of(int year, int month, int day) {
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t m = month <= 2 ? month + 9 : month - 3;
    return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

static bool seconds_of(const struct civil_time *at, int64_t *out) {
    if (at->year < 1970 || at->month < 1 || at->month > 12 || at->day < 1 || at->day > 31 ||
        at->hour > 23 || at->minute > 59 || at->second > 60)
        return false;
    int64_t minutes =
        days_of(at->year, at->month, at->day) * 1440 + at->hour * 60 + (int64_t)at->minute;
    *out = minutes * 60 + at->second;
    return true;
}

static bool number_at(const uint8_t *text, int digits, int *out) {
    int number = 0;
    for (int i = 0; i < digits; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (text[i] - '0');
    }
    *out = number;
    return true;
}

static bool read_basic(struct bytes text, struct civil_time *out) {
    const uint8_t *t = text.data;
    return text.size == 16 && t[8] == 'T' && t[15] == 'Z' && number_at(t, 4, &out->year) &&
           number_at(t + 4, 2, &out->month) && number_at(t + 6, 2, &out->day) &&
           number_at(t + 9, 2, &out->hour) && number_at(t + 11, 2, &out->minute) &&
           number_at(t + 13, 2, &out->second);
}

/* "Sun, 30 Aug 2015 12:36:00 GMT" */
static bool read_http(struct bytes text, struct civil_time *out) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const uint8_t *t = text.data;
    if (text.size != 29 || memcmp(t + 3, ", ", 2) != 0 || memcmp(t + 25, " GMT", 4) != 0)
        return false;
    out->month = 0;
    for (int i = 0; i < 12; i++)
        if (memcmp(t + 8, months + (size_t)i * 3, 3) == 0)
            out->month = i + 1;
    return number_at(t + 5, 2, &out->day) && number_at(t + 12, 4, &out->year) &&
           number_at(t + 17, 2, &out->hour) && number_at(t + 20, 2, &out->minute) &&
           number_at(t + 23, 2, &out->second);
}

bool signature_time_read(struct bytes text, int64_t *out) {
    struct civil_time at;
    return (read_basic(text, &at) || read_http(text, &at)) && seconds_of(&at, out);
}

static void put_digits(char *to, int digits, int64_t number) {
    while (digits-- > 0) {
        to[digits] = (char)('0' + number % 10);
        number /= 10;
    }
}

void signature_time_write(int64_t seconds, char out[16]) {
    int64_t z = seconds / 86400 + 719468, left = seconds % 86400;
    int64_t era = z / 146097, of_era = z % 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    put_digits(out + 6, 2, of_year - (153 * month + 2) / 5 + 1);
    month = month < 10 ? month + 3 : month - 9;
    put_digits(out, 4, year + era * 400 + (month <= 2));
    put_digits(out + 4, 2, month);
    put_digits(out + 9, 2, left / 3600);
    put_digits(out + 11, 2, left / 60 % 60);
    put_digits(out + 13, 2, left % 60);
    out[8] = 'T';
    out[15] = 'Z';
}

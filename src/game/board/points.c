/* Doubles as exact decimals, and back. */
#include "game/board/points.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Doubles from here on, and below here, are stored by their bits (points.h). */
#define LARGE 1e125
#define SMALL 1e-130

/* Of number encodings: the byte that is zero, how 1e100 changes the first one, and what that is at
 * least for a positive integer times 1e100. */
enum { ZERO_BYTE = 0x80, SCALE = 50, SCALED_LEAST = 0x81 + 64 + SCALE };
/* Numbers of so few bytes have at most 14 digits: two that differ are two doubles. */
enum { SHORT_NUMBER = 8 };

/* Any decimal of so few digits is the only one that short of its double: the shortest. */
#define UNIQUE 1e15
enum { FRACTION_MAX = 6 }; /* digits after the point that are tried before the general way */

/* The encodings (number.h) of 0 and of 38 nines at the greatest exponent. */
static const uint8_t zero[] = {0x80};
static const uint8_t most[] = {0xff, 0xc7, 0xc7, 0xc7, 0xc7, 0xc7, 0xc7, 0xc7, 0xc7, 0xc7,
                               0xc7, 0xc7, 0xc7, 0xc7, 0xc7, 0xc7, 0xc7, 0xc7, 0xc7, 0xc6};
static const uint8_t least[] = {0x00, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38,
                                0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x39};

struct bytes points_zero(void) {
    return bytes_of(zero, sizeof(zero));
}

struct bytes points_least(void) {
    return bytes_of(least, sizeof(least));
}

/* Text of an integer with the point before its last `places` digits. */
static size_t put_scaled(char *to, int64_t number, int places) {
    char digits[24];
    int count = 0;
    size_t size = 0;
    uint64_t magnitude = number < 0 ? (uint64_t)-number : (uint64_t)number;
    for (; magnitude != 0 || count <= places; magnitude /= 10)
        digits[count++] = (char)('0' + magnitude % 10);
    if (number < 0)
        to[size++] = '-';
    while (count > 0) {
        if (count == places)
            to[size++] = '.';
        to[size++] = digits[--count];
    }
    return size;
}

/* A number of few digits is an integer once it is scaled, and the integer divided by the scale,
 * which rounds once and rightly, is the number again. */
static size_t put_short(char *to, double x) {
    double scale = 10;
    for (int places = 1; places <= FRACTION_MAX; places++, scale *= 10) {
        double scaled = nearbyint(x * scale);
        if (fabs(scaled) >= UNIQUE)
            break;
        if (scaled / scale == x)
            return put_scaled(to, (int64_t)scaled, places);
    }
    return 0;
}

/* The fewest digits that read back as x; 17 always do. */
static size_t put_shortest(char *to, size_t room, double x) {
    for (int digits = 15;; digits++) {
        int size = snprintf(to, room, "%.*g", digits, x);
        if (digits == 17 || strtod(to, NULL) == x)
            return (size_t)size;
    }
}

static struct bytes bits_of(struct arena *arena, double x) {
    double magnitude = fabs(x);
    int64_t bits;
    memcpy(&bits, &magnitude, sizeof(bits));
    return number_from_int(arena, x < 0 ? -bits : bits);
}

/* Times 1e100 is another exponent, which is the first byte (number.h); of negative numbers its
 * complement. */
static struct bytes scale_up(struct arena *arena, struct bytes integer) {
    struct bytes scaled = arena_copy(arena, integer);
    uint8_t *first = (uint8_t *)(uintptr_t)scaled.data;
    *first = (uint8_t)(*first > ZERO_BYTE ? *first + SCALE : *first - SCALE);
    return scaled;
}

/* The integer of which scale_up() made the number; false if it made none of it. */
static bool scale_down(struct bytes scaled, int64_t *out) {
    uint8_t number[NUMBER_MAX_SIZE];
    if (scaled.size > sizeof(number) ||
        (scaled.data[0] < SCALED_LEAST && scaled.data[0] > (uint8_t)~SCALED_LEAST))
        return false;
    memcpy(number, scaled.data, scaled.size);
    number[0] = (uint8_t)(number[0] > ZERO_BYTE ? number[0] - SCALE : number[0] + SCALE);
    return number_to_int(bytes_of(number, scaled.size), out);
}

struct points points_of_double(struct arena *arena, double x) {
    char text[40];
    struct points points = {.subscore = points_zero()};
    double magnitude = fabs(x);
    assert(!isnan(x));
    if (magnitude < 0x1p53 && x == (double)(int64_t)x) {
        points.score = x == 0 ? points_zero() : number_from_int(arena, (int64_t)x);
        return points;
    }
    if (magnitude >= LARGE)
        return (struct points){x < 0 ? bytes_of(least, sizeof(least))
                                     : bytes_of(most, sizeof(most)),
                               bits_of(arena, x)};
    if (magnitude < SMALL)
        return (struct points){points_zero(), scale_up(arena, bits_of(arena, x))};
    size_t size = put_short(text, x);
    if (size == 0)
        size = put_shortest(text, sizeof(text), x);
    enum number_fault fault = number_read(arena, bytes_of(text, size), &points.score);
    assert(fault == NUMBER_OK);
    return points;
}

static double double_of_bits(int64_t bits) {
    uint64_t magnitude = bits < 0 ? 0 - (uint64_t)bits : (uint64_t)bits;
    double x;
    memcpy(&x, &magnitude, sizeof(x));
    return x;
}

double points_to_double(const struct points *points) {
    bool large = bytes_equal(points->score, bytes_of(most, sizeof(most))) ||
                 bytes_equal(points->score, bytes_of(least, sizeof(least)));
    bool none = bytes_equal(points->score, points_zero());
    int64_t bits = 0;
    if ((large && number_to_int(points->subscore, &bits)) ||
        (none && scale_down(points->subscore, &bits))) {
        double x = double_of_bits(bits);
        if (large ? x >= LARGE && !isnan(x) : x < SMALL)
            return bits < 0 ? -x : x;
    }
    return number_to_double(points->score);
}

int points_compare(const struct points *a, const struct points *b) {
    int order = bytes_compare(a->score, b->score);
    return order != 0 ? order : bytes_compare(a->subscore, b->subscore);
}

int points_compare_doubles(const struct points *a, const struct points *b) {
    int order = bytes_compare(a->score, b->score);
    if (order != 0 && a->score.size <= SHORT_NUMBER && b->score.size <= SHORT_NUMBER)
        return order;
    if (order == 0 && bytes_equal(a->subscore, b->subscore))
        return 0;
    double x = points_to_double(a), y = points_to_double(b);
    return (x > y) - (x < y);
}

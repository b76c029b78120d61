#include "api/redis/redis_float.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 5 * 1024 }; /* the largest long double has 4,933 digits */

bool float_read(struct bytes text, long double *out) {
    char copy[TEXT_MAX], *end;
    if (text.size == 0 || text.size >= sizeof(copy) || isspace(text.data[0]))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    errno = 0;
    long double number = strtold(copy, &end);
    if (end != copy + text.size || isnan(number) ||
        (errno == ERANGE && (isinf(number) || fpclassify(number) == FP_ZERO)))
        return false;
    *out = number;
    return true;
}

struct bytes float_text(long double number, struct arena *arena) {
    char text[TEXT_MAX];
    size_t size = (size_t)snprintf(text, sizeof(text), "%.17Lf", number);
    while (text[size - 1] == '0')
        size--;
    if (text[size - 1] == '.')
        size--;
    struct bytes digits = bytes_of(text, size);
    return bytes_equal(digits, BYTES("-0")) ? BYTES("0") : arena_copy(arena, digits);
}

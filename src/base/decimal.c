#include "base/decimal.h"

#include <assert.h>
#include <string.h>

char *decimal_put(int64_t number, char *end) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    while (rest >= 100) {
        end -= 2;
        memcpy(end, &pairs[rest % 100 * 2], 2);
        rest /= 100;
    }
    if (rest >= 10) {
        end -= 2;
        memcpy(end, &pairs[rest * 2], 2);
    } else
        *--end = (char)('0' + rest);
    if (number < 0)
        *--end = '-';
    return end;
}

struct bytes decimal_text(struct arena *arena, struct bytes prefix, int64_t number) {
    char text[DECIMAL_PREFIX + DECIMAL_MAX], *end = text + sizeof(text);
    char *begin = decimal_put(number, end) - prefix.size;
    assert(prefix.size <= DECIMAL_PREFIX);
    if (prefix.size != 0)
        memcpy(begin, prefix.data, prefix.size);
    return arena_copy(arena, bytes_of(begin, (size_t)(end - begin)));
}

#include "api/redis/glob.h"

#include <ctype.h>

static int folded(uint8_t byte, bool fold) {
    return fold ? tolower(byte) : byte;
}

/* Whether the byte is in the class that begins at *at, behind its '['. *at is left on the class's
 * last byte; a class without ']' reaches to the end of the pattern. */
static bool in_class(struct bytes p, size_t *at, int byte, bool fold) {
    size_t i = *at;
    bool negated = i < p.size && p.data[i] == '^', found = false;
    if (negated)
        i++;
    for (; i < p.size && p.data[i] != ']'; i++) {
        if (p.data[i] == '\\' && i + 1 < p.size)
            found |= folded(p.data[++i], fold) == byte;
        else if (i + 2 < p.size && p.data[i + 1] == '-') {
            int low = folded(p.data[i], fold), high = folded(p.data[i + 2], fold);
            found |= low <= high ? byte >= low && byte <= high : byte >= high && byte <= low;
            i += 2;
        } else
            found |= folded(p.data[i], fold) == byte;
    }
    *at = i < p.size ? i : p.size - 1;
    return found != negated;
}

/* Whether the element of the pattern at *at, which is no star, matches the byte; *at moves behind
 * it. */
static bool element_matches(struct bytes p, size_t *at, uint8_t byte, bool fold) {
    size_t i = *at;
    bool fits = true;
    if (p.data[i] == '[') {
        i++;
        fits = in_class(p, &i, folded(byte, fold), fold);
    } else if (p.data[i] != '?') {
        if (p.data[i] == '\\' && i + 1 < p.size)
            i++;
        fits = folded(p.data[i], fold) == folded(byte, fold);
    }
    *at = i + 1;
    return fits;
}

bool glob_matches(struct bytes pattern, struct bytes text, bool fold) {
    size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;
    while (t < text.size) {
        size_t next = p;
        if (p < pattern.size && pattern.data[p] == '*') {
            star = ++p;
            resume = t;
        } else if (p < pattern.size && element_matches(pattern, &next, text.data[t], fold)) {
            p = next;
            t++;
        } else if (star != SIZE_MAX) { /* the last star takes one more */
            p = star;
            t = ++resume;
        } else
            return false;
    }
    while (p < pattern.size && pattern.data[p] == '*')
        p++;
    return p == pattern.size;
}

#include "json/json.h"
#include "json/scan.h"

bool utf8_valid(struct bytes text) {
    const uint8_t *at = text.data, *end = text.data + text.size;
    while (at < end) {
        size_t size = *at < 0x80 ? 1 : scan_utf8(at, end);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

/* Names from outside that become paths. */
#include "api/transfer/transfer.h"

static bool is_letter(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool transfer_bucket_valid(struct bytes name) {
    if (name.size == 0 || name.size > 255 || !is_letter(name.data[0]) ||
        !is_letter(name.data[name.size - 1]))
        return false;
    for (size_t i = 0; i < name.size; i++)
        if (!is_letter(name.data[i]) && memchr(".-_", name.data[i], 3) == NULL)
            return false;
    return true;
}

/* The part up to the next slash. */
static bool part_valid(struct bytes part) {
    if (part.size == 0 || part.size > 255 || bytes_equal(part, BYTES(".")) ||
        bytes_equal(part, BYTES("..")))
        return false;
    for (size_t i = 0; i < part.size; i++)
        if (part.data[i] < ' ' || part.data[i] == 0x7f)
            return false;
    return true;
}

bool transfer_prefix_valid(struct bytes prefix) {
    if (prefix.size > 1024)
        return false;
    while (prefix.size != 0) {
        size_t end = bytes_find(prefix, BYTES("/"));
        bool last = end == SIZE_MAX;
        if (!part_valid(bytes_of(prefix.data, last ? prefix.size : end)))
            return false;
        prefix = bytes_skip(prefix, last ? prefix.size : end + 1);
    }
    return true;
}

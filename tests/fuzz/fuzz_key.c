/* The first byte chooses types; the rest is taken apart as a key, which must put together again to
 * the same bytes, and is split in two strings whose keys must order as they do. */
#include "value/key.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

static void check_damaged(struct bytes bytes, unsigned types, struct arena *arena) {
    struct buf key = {0};
    struct bytes rest = bytes;
    struct value part;
    for (;; types /= 3) {
        enum value_type type = (enum value_type)(VALUE_S + types % 3);
        size_t span = key_span(rest, type), left = rest.size;
        if (key_take(&rest, type, arena, &part) != OK)
            break;
        require(left - rest.size == span);
        key_put(&key, &part);
    }
    require(bytes_equal(buf_bytes(&key), bytes_of(bytes.data, bytes.size - rest.size)));
    buf_release(&key);
}

static void check_order(struct bytes a, struct bytes b) {
    struct value left = {.type = VALUE_B, .bytes = a}, right = {.type = VALUE_B, .bytes = b};
    struct buf one = {0}, two = {0};
    key_put(&one, &left);
    key_put(&two, &right);
    int wanted = bytes_compare(a, b), order = bytes_compare(buf_bytes(&one), buf_bytes(&two));
    require((wanted > 0) == (order > 0) && (wanted < 0) == (order < 0));
    buf_clear(&two);
    key_put_prefix(&two, &right);
    require(bytes_starts(buf_bytes(&one), buf_bytes(&two)) == bytes_starts(a, b));
    if (key_after_prefix(&two, 0) && bytes_starts(a, b))
        require(bytes_compare(buf_bytes(&one), buf_bytes(&two)) < 0);
    buf_release(&one);
    buf_release(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    if (size == 0)
        return 0;
    struct bytes rest = bytes_of(data + 1, size - 1);
    size_t half = rest.size / 2;
    arena_init(&arena);
    check_damaged(rest, data[0], &arena);
    check_order(bytes_of(rest.data, half), bytes_skip(rest, half));
    arena_release(&arena);
    return 0;
}

/* A run of bytes somebody else owns: a pointer and a length that travel together.
 *
 * `struct bytes` never owns memory and never ends in NUL. Its zero value is the empty run.
 * It is passed by value. Whoever made the memory says how long it lives.
 */
#ifndef GT_BASE_BYTES_H
#define GT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t size;
};

/* The bytes of a string literal, without its NUL. */
#define BYTES(literal) ((struct bytes){(const uint8_t *)("" literal), sizeof(literal) - 1})

/* For printf: `printf("%.*s", BYTES_ARG(b))`. */
#define BYTES_ARG(b) (int)(b).size, (const char *)(b).data

static inline struct bytes bytes_of(const void *data, size_t size) {
    return (struct bytes){(const uint8_t *)data, size};
}

/* The bytes of a NUL-terminated string; borrowed from it. */
static inline struct bytes bytes_str(const char *text) {
    return bytes_of(text, strlen(text));
}

static inline bool bytes_equal(struct bytes a, struct bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Order by unsigned bytes, a prefix before what it begins; <0, 0 or >0. */
static inline int bytes_compare(struct bytes a, struct bytes b) {
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter == 0 ? 0 : memcmp(a.data, b.data, shorter);
    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

static inline bool bytes_starts(struct bytes whole, struct bytes prefix) {
    return whole.size >= prefix.size &&
           (prefix.size == 0 || memcmp(whole.data, prefix.data, prefix.size) == 0);
}

/* Eight bytes from `from` on as a number in the same order; what is not there counts as zeros. */
static inline uint64_t bytes_word(struct bytes b, size_t from) {
    uint64_t word = 0;
    if (b.size >= from + 8) {
        memcpy(&word, b.data + from, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        return word;
    }
    for (size_t i = from; i < b.size; i++)
        word |= (uint64_t)b.data[i] << (56 - 8 * (i - from));
    return word;
}

/* What is left of `b` after its first `count` bytes; count <= b.size. Of nothing, which may have no
 * data, nothing is left: C knows no sum of a null pointer and 0. */
static inline struct bytes bytes_skip(struct bytes b, size_t count) {
    return count == 0 ? b : (struct bytes){b.data + count, b.size - count};
}

/* The position of `part` in `whole`, or SIZE_MAX. The empty part is at 0. */
size_t bytes_find(struct bytes whole, struct bytes part);

#endif

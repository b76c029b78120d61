#include "base/key_sort.h"

enum { BYTES_OF_WORD = 8, VALUES = 256 };

size_t key_shared(struct bytes first, struct bytes key, size_t shared) {
    if (key.size < shared)
        shared = key.size;
    size_t same = 0;
    if (shared == 0 || memcmp(first.data, key.data, shared) == 0)
        return shared;
    while (first.data[same] == key.data[same])
        same++;
    return same;
}

/* Deals them out by one byte of their words after the other, from the last on; those that all have
 * the same leave everything where it is. */
struct key_word *key_words_sort(struct key_word *words, struct key_word *spare, size_t count) {
    uint32_t starts[BYTES_OF_WORD][VALUES] = {0};
    for (size_t i = 0; i < count; i++)
        for (unsigned byte = 0; byte < BYTES_OF_WORD; byte++)
            starts[byte][words[i].word >> 8 * byte & 0xff]++;
    for (unsigned byte = 0; byte < BYTES_OF_WORD && count != 0; byte++) {
        uint32_t *start = starts[byte], before = 0;
        if (start[words[0].word >> 8 * byte & 0xff] == count)
            continue;
        for (unsigned i = 0; i < VALUES; i++) {
            uint32_t next = before + start[i];
            start[i] = before;
            before = next;
        }
        for (size_t i = 0; i < count; i++)
            spare[start[words[i].word >> 8 * byte & 0xff]++] = words[i];
        struct key_word *last = words;
        words = spare;
        spare = last;
    }
    return words;
}

/* Sorting many keys that begin alike, as those of one partition do: by the eight bytes behind what
 * all have in common, which tell most of them apart, without another look at the keys. */
#ifndef GT_BASE_KEY_SORT_H
#define GT_BASE_KEY_SORT_H

#include "base/bytes.h"

/* From so many on it is quicker than comparing. */
enum { KEY_SORT_MANY = 512 };

/* The word of a key (bytes_word(), behind what all have in common), and which key it is. */
struct key_word {
    uint64_t word;
    uint32_t at;
};

/* How much of the first `shared` bytes of `first` the key has as well. */
size_t key_shared(struct bytes first, struct bytes key, size_t shared);

/* Sorts by the words; what has the same stays in order. `count` of them stand at `words`, and
 * `spare` has room for as many. Returns the one of both where they are then. */
struct key_word *key_words_sort(struct key_word *words, struct key_word *spare, size_t count);

#endif

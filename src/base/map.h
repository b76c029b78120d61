/* A hash map from bytes to a pointer. Open addressing, linear probes, deletion by shifting back,
 * so that a miss costs one or two cache lines. Keys are borrowed: the value usually holds them.
 * Not thread-safe: many readers or one writer. Zero is an empty map. */
#ifndef GT_BASE_MAP_H
#define GT_BASE_MAP_H

#include "base/bytes.h"

struct map_slot {
    uint64_t hash; /* 0 marks a free slot */
    struct bytes key;
    void *value;
};

struct map {
    struct map_slot *slots;
    size_t room; /* a power of two, or 0 */
    size_t count;
};

void map_release(struct map *map);
/* NULL when the key is not there. */
void *map_get(const struct map *map, struct bytes key);
/* Sets key to value and returns what it replaced, or NULL. `key` must outlive the entry. */
void *map_put(struct map *map, struct bytes key, void *value);
/* Removes the key and returns its value, or NULL. */
void *map_del(struct map *map, struct bytes key);
/* Walks all entries in no order: start with *at = 0; NULL at the end. Do not change the map. */
struct map_slot *map_next(const struct map *map, size_t *at);

#endif

#include "base/map.h"

#include "base/hash.h"
#include "base/mem.h"

static uint64_t hash_of(struct bytes key) {
    uint64_t hash = hash_keyed(key, 0x6d6170);
    return hash == 0 ? 1 : hash;
}

void map_release(struct map *map) {
    mem_free(map->slots);
    *map = (struct map){0};
}

/* The slot that holds the key, or the free slot where it would go. Needs a free slot. */
static struct map_slot *map_find(const struct map *map, uint64_t hash, struct bytes key) {
    size_t at = hash & (map->room - 1);
    for (;; at = (at + 1) & (map->room - 1)) {
        struct map_slot *slot = &map->slots[at];
        if (slot->hash == 0 || (slot->hash == hash && bytes_equal(slot->key, key)))
            return slot;
    }
}

static void map_grow(struct map *map) {
    struct map old = *map;
    map->room = old.room == 0 ? 16 : old.room * 2;
    map->slots = mem_zalloc(map->room * sizeof(*map->slots));
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i].hash != 0)
            *map_find(map, old.slots[i].hash, old.slots[i].key) = old.slots[i];
    mem_free(old.slots);
}

void *map_get(const struct map *map, struct bytes key) {
    if (map->count == 0)
        return NULL;
    return map_find(map, hash_of(key), key)->value;
}

void *map_put(struct map *map, struct bytes key, void *value) {
    if ((map->count + 1) * 4 > map->room * 3)
        map_grow(map);
    uint64_t hash = hash_of(key);
    struct map_slot *slot = map_find(map, hash, key);
    void *old = slot->value;
    if (slot->hash == 0)
        map->count++;
    *slot = (struct map_slot){hash, key, value};
    return old;
}

/* Moves later entries of the probe run back over the hole, so that no marker is needed. */
static void close_hole(struct map *map, size_t hole) {
    size_t mask = map->room - 1;
    for (size_t at = (hole + 1) & mask; map->slots[at].hash != 0; at = (at + 1) & mask) {
        size_t home = map->slots[at].hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole] = (struct map_slot){0};
}

void *map_del(struct map *map, struct bytes key) {
    if (map->count == 0)
        return NULL;
    struct map_slot *slot = map_find(map, hash_of(key), key);
    if (slot->hash == 0)
        return NULL;
    void *old = slot->value;
    close_hole(map, (size_t)(slot - map->slots));
    map->count--;
    return old;
}

struct map_slot *map_next(const struct map *map, size_t *at) {
    while (*at < map->room) {
        struct map_slot *slot = &map->slots[(*at)++];
        if (slot->hash != 0)
            return slot;
    }
    return NULL;
}

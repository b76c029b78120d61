#include "api/redis/scan_cursors.h"

#include "base/mem.h"
#include "base/random.h"

void scan_cursors_init(struct scan_cursors *cursors) {
    pthread_mutex_init(&cursors->mutex, NULL);
    cursors->ring = NULL;
    random_secure(&cursors->last, sizeof(cursors->last));
    cursors->last >>= 24; /* some clients keep cursors in a double */
}

void scan_cursors_release(struct scan_cursors *cursors) {
    for (size_t i = 0; cursors->ring != NULL && i < SCAN_CURSORS_KEPT; i++)
        mem_free((void *)cursors->ring[i].owner.data);
    mem_free(cursors->ring);
    pthread_mutex_destroy(&cursors->mutex);
}

uint64_t scan_cursors_keep(struct scan_cursors *cursors, struct bytes owner, struct bytes place) {
    uint8_t *copy = mem_alloc(owner.size + place.size + 1);
    memcpy(copy, owner.data, owner.size);
    memcpy(copy + owner.size, place.data, place.size);
    pthread_mutex_lock(&cursors->mutex);
    if (cursors->ring == NULL)
        cursors->ring = mem_zalloc(SCAN_CURSORS_KEPT * sizeof(*cursors->ring));
    uint64_t number = ++cursors->last;
    struct scan_cursor *cursor = &cursors->ring[number % SCAN_CURSORS_KEPT];
    uint8_t *old = (uint8_t *)cursor->owner.data;
    cursor->number = number;
    cursor->owner = bytes_of(copy, owner.size);
    cursor->place = bytes_of(copy + owner.size, place.size);
    pthread_mutex_unlock(&cursors->mutex);
    mem_free(old);
    return number;
}

struct bytes scan_cursors_find(struct scan_cursors *cursors, uint64_t number, struct bytes owner,
                               struct arena *arena) {
    struct bytes place = {0};
    pthread_mutex_lock(&cursors->mutex);
    if (cursors->ring != NULL && number != 0) {
        const struct scan_cursor *cursor = &cursors->ring[number % SCAN_CURSORS_KEPT];
        if (cursor->number == number && bytes_equal(cursor->owner, owner))
            place = arena_copy(arena, cursor->place);
    }
    pthread_mutex_unlock(&cursors->mutex);
    return place;
}

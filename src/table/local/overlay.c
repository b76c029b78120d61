/* What a group came to, by item: the last word on each, found by its store key. */
#include "table/local/writer.h"

#include "base/mem.h"

enum { ROOM_MIN = 128 };

static size_t find(const struct overlay *overlay, uint64_t hash, struct bytes key) {
    size_t mask = overlay->room - 1, at = hash & mask;
    for (const struct effect *effect; (effect = overlay->slots[at]) != NULL; at = (at + 1) & mask)
        if (effect->hash == hash && bytes_equal(effect->key, key))
            break;
    return at;
}

static void grow(struct overlay *overlay) {
    struct effect **old = overlay->slots;
    size_t old_room = overlay->room;
    overlay->room = old_room == 0 ? ROOM_MIN : old_room * 2;
    overlay->slots = mem_zalloc(overlay->room * sizeof(struct effect *));
    for (size_t i = 0; i < old_room; i++)
        if (old[i] != NULL)
            overlay->slots[find(overlay, old[i]->hash, old[i]->key)] = old[i];
    mem_free(old);
}

struct effect *overlay_get(const struct overlay *overlay, uint64_t hash, struct bytes key) {
    return overlay->count == 0 ? NULL : overlay->slots[find(overlay, hash, key)];
}

void overlay_add(struct overlay *overlay, struct effect *effect) {
    if (overlay->count * 2 >= overlay->room)
        grow(overlay);
    overlay->slots[find(overlay, effect->hash, effect->key)] = effect;
    overlay->count++;
}

/* Those that follow are probably as large as this one was: the room is kept for them, unless it is
 * far too much. */
void overlay_clear(struct overlay *overlay) {
    if (overlay->room > ROOM_MIN && overlay->count < overlay->room / 16)
        overlay_release(overlay);
    else if (overlay->count != 0)
        memset(overlay->slots, 0, overlay->room * sizeof(struct effect *));
    overlay->count = 0;
}

void overlay_release(struct overlay *overlay) {
    mem_free(overlay->slots);
    *overlay = (struct overlay){0};
}

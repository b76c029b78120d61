#include "api/redis/seen_versions.h"

#include "base/clock.h"

struct seen_slot {
    uint32_t slot;
    bool used;
    uint64_t version;
};

/* The place of the slot: where it is, or the free one where it would be. */
static struct seen_slot *find(const struct seen_versions *seen, uint32_t slot) {
    size_t mask = seen->room - 1, at = slot & mask;
    while (seen->table[at].used && seen->table[at].slot != slot)
        at = (at + 1) & mask;
    return &seen->table[at];
}

static void grow(struct seen_versions *seen, struct arena *arena) {
    enum { FIRST_ROOM = 16 };
    struct seen_versions old = *seen;
    seen->room = old.room == 0 ? FIRST_ROOM : 2 * old.room;
    seen->table = ARENA_ARRAY(arena, struct seen_slot, seen->room);
    for (size_t i = 0; i < old.room; i++)
        if (old.table[i].used)
            *find(seen, old.table[i].slot) = old.table[i];
}

void seen_add(struct seen_versions *seen, struct partition_seen version, struct arena *arena) {
    if (2 * seen->count >= seen->room)
        grow(seen, arena);
    struct seen_slot *at = find(seen, version.slot);
    if (at->used) {
        if (version.version < at->version)
            at->version = version.version; /* it has to be as it was the first time */
        return;
    }
    *at = (struct seen_slot){.slot = version.slot, .used = true, .version = version.version};
    seen->count++;
}

void seen_ends(struct seen_versions *seen, int64_t at_ms) {
    if (at_ms != 0 && (seen->until_ms == 0 || at_ms < seen->until_ms))
        seen->until_ms = at_ms;
}

bool seen_is_current(const struct seen_versions *seen, struct engine *engine) {
    if (seen->until_ms != 0 && seen->until_ms <= clock_now_ms())
        return false;
    for (size_t i = 0; i < seen->room; i++) {
        const struct seen_slot *at = &seen->table[i];
        if (at->used && engine_partition_changed(engine, at->slot, at->version))
            return false;
    }
    return true;
}

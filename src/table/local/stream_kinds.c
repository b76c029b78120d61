#include "table/local/stream_kinds.h"

enum {
    PARTITION_AT = 8, /* in an item's key: behind the table and the hash (store_keys.c) */
    KIND_MAX = 16,    /* bytes that are looked at; further on no '#' is found */
};

/* The slot of the kind that the name begins with, and whether it is whole, so that all names that
 * begin with these bytes are of it. The bytes before '#' are in a key as they are in the name, but
 * for 0 and 1, at which the kind ends here. */
struct kind {
    unsigned slot;
    bool whole;
};

static struct kind kind_of(struct bytes name) {
    uint32_t hash = 2166136261; /* FNV-1a */
    struct kind kind = {.whole = false};
    for (size_t i = 0; i < name.size && i < KIND_MAX && name.data[i] > 1 && !kind.whole; i++) {
        hash = (hash ^ name.data[i]) * 16777619;
        kind.whole = name.data[i] == '#';
    }
    kind.slot = (hash ^ hash >> 15) % STREAM_KINDS;
    return kind;
}

void stream_kinds_note(struct stream_kinds *kinds, struct bytes item_key, uint64_t sequence) {
    _Atomic(uint64_t) *last = &kinds->last[kind_of(bytes_skip(item_key, PARTITION_AT)).slot];
    /* A commit that failed may have had higher numbers. */
    if (atomic_load_explicit(last, memory_order_relaxed) < sequence)
        atomic_store_explicit(last, sequence, memory_order_relaxed);
}

bool stream_kinds_lack(const struct stream_kinds *kinds, uint64_t from,
                       const struct bytes *prefixes, size_t count) {
    bool lack = count != 0 && from >= kinds->since;
    for (size_t i = 0; i < count && lack; i++) {
        struct kind kind = kind_of(prefixes[i]);
        lack = kind.whole &&
               atomic_load_explicit(&kinds->last[kind.slot], memory_order_relaxed) < from;
    }
    return lack;
}

/* The inside of counted*.c. */
#ifndef GT_TABLE_LOCAL_COUNTED_INT_H
#define GT_TABLE_LOCAL_COUNTED_INT_H

#include "table/local/counted.h"

/* What the set's map knows a tree by. Two partitions may have the same. */
struct counted_id {
    uint64_t owner; /* the table's number, or the index's address */
    uint32_t parts; /* 0: items */
    uint32_t hash;  /* of the partition */
};

/* An item that was written or deleted while the tree was being built. */
struct counted_note {
    struct counted_note *next;
    bool present;
    uint32_t size;
    uint8_t key[];
};

struct counted {
    struct counted_id id;
    struct counted *same;          /* the next with the same id */
    struct counted *newer, *older; /* whole ones, by when they were last used */
    struct counted *next;          /* of those sent away */
    const struct index *index;     /* NULL: items */
    bool whole;
    bool gone;         /* out of the set while it is being built: the builder frees it */
    bool saved;        /* the store knows of it */
    struct tree *tree; /* items: NULL until all were read */
    size_t memory;     /* as it was last counted in */
    struct buf from;   /* groups that are being built: from here on */
    struct counted_note *notes, **notes_end;
    uint32_t prefix_size;
    uint8_t prefix[];
};

enum { COUNTED_REFUSED = 16, COUNTED_KEY_ROOM = 512 };

struct counted_set {
    pthread_mutex_t lock;
    pthread_cond_t built; /* a build has ended, well or not */
    struct map map;       /* id -> struct counted, a list */
    struct counted *newest, *oldest;
    struct counted *sent_away;
    uint64_t count;              /* whole ones */
    uint64_t group_count;        /* of groups, whole or not */
    atomic_uint_fast64_t memory; /* of all, also of what is being built */
    atomic_size_t any;           /* how many there are, whole or not */
    atomic_bool stop, closing;
    /* What did not fit, by its hash, and until when it is not tried again. */
    struct {
        uint64_t hash;
        int64_t until_us;
    } refused[COUNTED_REFUSED];
    unsigned refused_next;
    int64_t again_us; /* for how long */
    /* for the store */
    bool unsaved;
    struct counted *unsave; /* gone, but the store still knows of them */
    int64_t save_at_us;
    int64_t save_every_us;
    /* the thread of a start */
    pthread_t thread;
    bool started;
    struct arena arena;
    struct bytes *wanted;
    size_t wanted_count;
};

static inline struct bytes counted_prefix(const struct counted *counted) {
    return bytes_of(counted->prefix, counted->prefix_size);
}

/* --- under set->lock --- */

struct counted_id counted_id_of(const struct counted_what *what);
struct counted *counted_lookup(const struct counted_set *set, const struct counted_id *id,
                               struct bytes prefix);
/* Adds one that is about to be built. */
struct counted *counted_add(struct counted_set *set, const struct counted_what *what);
/* Takes it out. One that is being built is left to its builder, another one is sent away. */
void counted_remove(struct counted_set *set, struct counted *counted);
/* Called by the builder: it is whole from now on. */
void counted_finish(struct counted_set *set, struct counted *counted);
/* Brings the sum of memory up to date. */
void counted_charge(struct counted_set *set, struct counted *counted, size_t memory);
/* Sends others away until the memory is enough. False: it is not, and there is nobody left. */
bool counted_make_room(struct local *local);

/* --- without --- */

/* Frees one that nobody sees. */
void counted_delete(struct counted_set *set, struct counted *counted);
/* Frees those that were sent away. The caller has held moment for writing since. */
void counted_delete_all(struct counted_set *set);

/* Both build the tree of one that was added; false if it cannot be. */
bool counted_build_items(struct local *local, struct counted *counted, struct view *view);
bool counted_build_groups(struct local *local, struct counted *counted);

#endif

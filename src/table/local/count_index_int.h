/* Private to count_index*.c. */
#ifndef GT_TABLE_LOCAL_COUNT_INDEX_INT_H
#define GT_TABLE_LOCAL_COUNT_INDEX_INT_H

#include "table/local/count_index.h"

/* The key of a count index in the set's map. Two partitions may have the same: then they are told
 * apart by their prefixes. */
struct count_index_id {
    uint64_t owner; /* the table's number, or the index's address */
    uint32_t parts; /* 0: items */
    uint32_t hash;  /* of the partition; of names: how many bytes of `prefix` theirs begin with */
    uint64_t list;  /* of names: the address of the index that lists them */
};

/* An item that was written or deleted while the tree was being built. */
struct count_index_note {
    struct count_index_note *next;
    bool present;
    uint32_t size;
    uint8_t key[];
};

struct count_index {
    struct count_index_id id;
    struct count_index *same;          /* the next with the same id */
    struct count_index *newer, *older; /* whole ones, by when they were last used */
    struct count_index *next;          /* in the list of evicted ones, or of those to be */
    struct count_index *next_names;    /* in set->names */
    const struct index *index;         /* NULL: items */
    const struct index *list; /* of names: which other index has them; NULL: all are meant */
    bool whole;
    bool gone;         /* out of the set while it is being built: the builder frees it */
    bool saved;        /* the store knows of it */
    struct tree *tree; /* items: NULL until all were read */
    size_t memory;     /* its part of the set's memory */
    struct buf from;   /* groups: what stands before this has been built */
    struct count_index_note *notes, **notes_end;
    uint32_t prefix_size;
    uint8_t prefix[];
};

enum { COUNT_INDEX_REFUSED = 16, COUNT_INDEX_KEY_ROOM = 512 };

struct count_index_set {
    pthread_mutex_t lock;
    pthread_cond_t built; /* a build has ended, well or not */
    struct map map;       /* id -> struct count_index, a list */
    struct count_index *newest, *oldest;
    struct count_index *evicted;
    uint64_t count;              /* whole ones */
    uint64_t group_count;        /* of groups, whole or not */
    struct count_index *names;   /* of names, whole or not: a list */
    atomic_uint_fast64_t memory; /* of all, also of what is being built */
    atomic_size_t item_count;    /* how many there are of items, whole or not, */
    atomic_size_t entry_count;   /* and of groups and names */
    atomic_bool stop, closing;
    /* What did not fit, by its hash, and until when it is not tried again. */
    struct {
        uint64_t hash;
        int64_t until_us;
    } refused[COUNT_INDEX_REFUSED];
    unsigned refused_next;
    int64_t again_us; /* for how long */
    /* for the store */
    bool unsaved;
    struct count_index *unsave; /* gone, but the store still knows of them */
    int64_t save_at_us;
    int64_t save_every_us;
    /* the thread of a start */
    pthread_t thread;
    bool started;
    struct arena arena;
    struct bytes *wanted;
    size_t wanted_count;
};

static inline struct bytes count_index_prefix(const struct count_index *count_index) {
    return bytes_of(count_index->prefix, count_index->prefix_size);
}

/* --- under set->lock --- */

struct count_index_id count_index_id_of(const struct count_index_target *target);
struct count_index *count_index_lookup(const struct count_index_set *set,
                                       const struct count_index_id *id, struct bytes prefix);
/* Adds one that is about to be built. */
struct count_index *count_index_add(struct count_index_set *set,
                                    const struct count_index_target *target);
/* Takes it out. One that is being built is left to its builder, any other is evicted. */
void count_index_remove(struct count_index_set *set, struct count_index *count_index);
/* Called by the builder: it is whole from now on. */
void count_index_finish(struct count_index_set *set, struct count_index *count_index);
/* Sets its memory and brings the set's sum up to date. */
void count_index_charge(struct count_index_set *set, struct count_index *count_index,
                        size_t memory);
/* Evicts others until all fits into the memory. False: it does not, and none is left to evict. */
bool count_index_make_room(struct local *local);

static inline bool count_index_is_of_groups(const struct count_index *count_index) {
    return count_index->id.parts != 0 && count_index->id.parts != COUNT_INDEX_NAMES;
}
/* Whether an entry of the index begins so. The caller holds state_lock. */
bool count_index_has(const struct index *index, struct bytes begin);
/* Whether an entry moved within its partition: then no partition came or went. */
bool count_index_stays(const struct index *index, struct bytes gone, struct bytes come);
/* For a tree of names: an entry of its index, or of the one that lists the names, went or came. The
 * caller holds state_lock for writing. (count_index_names.c) */
void count_index_partition_changed(struct count_index *count_index, struct bytes gone,
                                   struct bytes come);
void count_index_list_changed(struct count_index *count_index, struct bytes gone,
                              struct bytes come);

/* --- without set->lock --- */

/* Frees one that no other thread can reach. */
void count_index_delete(struct count_index_set *set, struct count_index *count_index);
/* Frees those that were evicted, their trees by the reclaimer. The caller has held state_lock for
 * writing since. */
void count_index_delete_evicted(struct count_index_set *set, struct reclaimer *reclaimer);

/* Both build the tree of one that was added; false if it cannot be. */
bool count_index_build_items(struct local *local, struct count_index *count_index,
                             struct snapshot *snapshot);
bool count_index_build_entries(struct local *local, struct count_index *count_index);
/* Builds the next few names, and moves count_index->from. The caller holds state_lock. False: there
 * are no more. (count_index_names.c) */
bool count_index_build_names(struct count_index *count_index);
enum { COUNT_INDEX_PIECE = 512 /* groups or names built under one hold of state_lock */ };

#endif

#include "table/local/index_walk.h"

#include "base/mem.h"

#include <stdlib.h>

/* What a walk tells of an entry that changed ahead of it. */
struct undo {
    struct bytes entry;
    size_t order; /* in which the writer noted them */
    bool put;
};

struct index_walk {
    struct index_walk *next; /* in index->walks */
    struct local *local;
    struct index *index;
    bool backward;
    bool linked; /* it is in that list */
    /* Read by the writer under state_lock held for writing, changed by the reader under state_lock
     * held for reading: the entry that was copied last, and the last one of the range. */
    struct buf at, last;
    struct buf notes; /* the writer's: a byte that tells a put, then the entry, counted */
    size_t note_count;
    bool broken;

    struct buf copied; /* entries, counted */
    /* while they are listed */
    struct bytes left;  /* of `copied` */
    struct undo *undos; /* the first of each entry, in the order of the walk */
    size_t undo_count, undo_at;
};

/* In the order of the walk. */
static int compare_entries(const struct index_walk *walk, struct bytes a, struct bytes b) {
    int order = bytes_compare(a, b);
    return walk->backward ? -order : order;
}

/* ---- notes ---- */

static void note_change(struct index_walk *walk, struct bytes entry, bool put) {
    if (walk->broken || compare_entries(walk, entry, buf_bytes(&walk->at)) <= 0 ||
        compare_entries(walk, entry, buf_bytes(&walk->last)) > 0)
        return;
    if (walk->notes.size + entry.size > LIMIT_WALK_NOTES) {
        walk->broken = true;
        return;
    }
    buf_byte(&walk->notes, put);
    buf_counted(&walk->notes, entry);
    walk->note_count++;
}

void index_walks_note(struct index *index, struct bytes entry, bool put) {
    for (struct index_walk *walk = index->walks; walk != NULL; walk = walk->next)
        note_change(walk, entry, put);
}

static int compare_undos(const void *left, const void *right) {
    const struct undo *a = left, *b = right;
    int order = bytes_compare(a->entry, b->entry);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

/* Keeps the first of each entry. */
static size_t drop_repeats(struct undo *undos, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !bytes_equal(undos[kept - 1].entry, undos[i].entry))
            undos[kept++] = undos[i];
    return kept;
}

static void turn_undos(struct undo *undos, size_t count) {
    for (size_t i = 0; i < count / 2; i++) {
        struct undo other = undos[i];
        undos[i] = undos[count - 1 - i];
        undos[count - 1 - i] = other;
    }
}

/* The walk is over: its notes are sorted, so that they can be listed along with the entries. */
static void read_notes(struct index_walk *walk) {
    struct bytes left = buf_bytes(&walk->notes);
    uint8_t put;
    walk->left = buf_bytes(&walk->copied);
    if (walk->note_count == 0)
        return;
    walk->undos = mem_alloc(walk->note_count * sizeof(*walk->undos));
    for (size_t i = 0; i < walk->note_count; i++) {
        struct undo *undo = &walk->undos[i];
        undo->order = i;
        if (!take_u8(&left, &put) || !take_counted(&left, &undo->entry))
            break;
        undo->put = put != 0;
        walk->undo_count++;
    }
    qsort(walk->undos, walk->undo_count, sizeof(*walk->undos), compare_undos);
    walk->undo_count = drop_repeats(walk->undos, walk->undo_count);
    if (walk->backward)
        turn_undos(walk->undos, walk->undo_count);
}

/* ---- slices; under state_lock ---- */

static void link_walk(struct index_walk *walk) {
    pthread_mutex_lock(&walk->local->walks_lock);
    walk->next = walk->index->walks;
    walk->index->walks = walk;
    walk->linked = true;
    pthread_mutex_unlock(&walk->local->walks_lock);
}

static void unlink_walk(struct index_walk *walk) {
    pthread_mutex_lock(&walk->local->walks_lock);
    struct index_walk **link = &walk->index->walks;
    while (*link != walk)
        link = &(*link)->next;
    *link = walk->next;
    walk->linked = false;
    pthread_mutex_unlock(&walk->local->walks_lock);
}

/* Copies entries from where the cursor stands. Returns whether there are more in the range. */
static bool copy_slice(struct index_walk *walk, struct tree_cursor *cursor) {
    size_t count = 0;
    bool more = cursor->valid;
    for (; more && count < LIMIT_WALK_SLICE; count++) {
        struct bytes entry = tree_key(cursor);
        if (compare_entries(walk, entry, buf_bytes(&walk->last)) > 0)
            return false;
        if (count + 1 == LIMIT_WALK_SLICE) {
            buf_clear(&walk->at);
            buf_put(&walk->at, entry);
        }
        buf_counted(&walk->copied, entry);
        more = walk->backward ? tree_prev(cursor) : tree_next(cursor);
    }
    return more;
}

static void put_key_at(struct buf *to, struct tree_cursor *cursor, const struct tree *tree,
                       uint64_t rank) {
    if (tree_seek_rank(cursor, tree, rank))
        buf_put(to, tree_key(cursor));
}

struct index_walk *index_walk_begin(struct local *local, const struct index *index,
                                    const struct index_walk_range *range) {
    struct index_walk *walk = mem_zalloc(sizeof(*walk));
    struct tree_cursor cursor = {0};
    walk->local = local;
    walk->index = (struct index *)index;
    walk->backward = range->backward;
    put_key_at(&walk->last, &cursor, index->tree, range->backward ? range->from : range->to - 1);
    put_key_at(&walk->at, &cursor, index->tree, range->backward ? range->to - 1 : range->from);
    if (copy_slice(walk, &cursor))
        link_walk(walk);
    else
        read_notes(walk);
    tree_cursor_release(&cursor);
    return walk;
}

/* Stands behind the entry that was copied last. */
static void seek_on(struct index_walk *walk, struct tree_cursor *cursor) {
    const struct tree *tree = walk->index->tree;
    if (walk->backward) {
        tree_seek_before(cursor, tree, buf_bytes(&walk->at));
        return;
    }
    buf_byte(&walk->at, 0); /* the least key after it */
    tree_seek(cursor, tree, buf_bytes(&walk->at));
    walk->at.size--;
}

enum status index_walk_step(struct index_walk *walk, bool *done) {
    struct tree_cursor cursor = {0};
    *done = !walk->linked;
    if (*done)
        return OK;
    buf_reserve(&walk->copied, walk->copied.size / 4); /* not while others wait */
    pthread_rwlock_rdlock(&walk->local->state_lock);
    walk->broken = walk->broken || walk->index->tree == NULL;
    if (!walk->broken) {
        seek_on(walk, &cursor);
        *done = !copy_slice(walk, &cursor);
    }
    if (walk->broken || *done)
        unlink_walk(walk);
    pthread_rwlock_unlock(&walk->local->state_lock);
    tree_cursor_release(&cursor);
    if (walk->broken)
        return BUSY;
    if (*done)
        read_notes(walk);
    return OK;
}

/* ---- listing ---- */

/* The next entry that was copied, which stays where it is. */
static bool peek_copied(const struct index_walk *walk, struct bytes *entry) {
    struct bytes left = walk->left;
    return take_counted(&left, entry);
}

bool index_walk_next(struct index_walk *walk, struct bytes *entry) {
    for (;;) {
        struct bytes copied;
        bool any = peek_copied(walk, &copied);
        const struct undo *undo =
            walk->undo_at < walk->undo_count ? &walk->undos[walk->undo_at] : NULL;
        int order = undo == NULL ? -1 : any ? compare_entries(walk, copied, undo->entry) : 1;
        if (!any && undo == NULL)
            return false;
        if (order <= 0)
            take_counted(&walk->left, entry);
        if (order < 0)
            return true;
        walk->undo_at++;
        *entry = undo->entry;
        if (!undo->put)
            return true;
    }
}

void index_walk_free(struct index_walk *walk) {
    if (walk->linked) {
        pthread_rwlock_rdlock(&walk->local->state_lock);
        unlink_walk(walk);
        pthread_rwlock_unlock(&walk->local->state_lock);
    }
    buf_release(&walk->at);
    buf_release(&walk->last);
    buf_release(&walk->notes);
    buf_release(&walk->copied);
    mem_free(walk->undos);
    mem_free(walk);
}

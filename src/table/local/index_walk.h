/* A walk over very many entries of an index, as of one commit, in slices.
 *
 * Copying a million entries takes a good part of a second. Under one hold of `state_lock` the
 * writer would wait for all of it, and, since the lock prefers writers, all other readers behind
 * the writer. So the entries are copied a slice at a time, with the lock free in between.
 *
 * The list is nevertheless that of the commit at which the walk began. The tree changes in place,
 * so the writer leaves undo notes: of each entry that it adds or removes ahead of the walk. In the
 * end an entry of which there is a note is listed if, and only if, the first note says that it was
 * removed, because then it was there at the beginning.
 *
 * A walk belongs to one reader, which holds a reference to the table. If the index is dropped, or
 * there are too many notes, the walk breaks off with BUSY.
 */
#ifndef GT_TABLE_LOCAL_INDEX_WALK_H
#define GT_TABLE_LOCAL_INDEX_WALK_H

#include "table/local/local_int.h"

struct index_walk;

/* Which entries: those with the ranks from `from` up to, but not including, `to`. */
struct index_walk_range {
    uint64_t from, to;
    bool backward; /* listed from the last one down */
};

/* Begins a walk and copies its first slice. The caller holds state_lock for reading; there is at
 * least one entry in the range. */
struct index_walk *index_walk_begin(struct local *local, const struct index *index,
                                    const struct index_walk_range *range);
/* Copies the next slice; *done after the last. Takes state_lock for reading for as long as that
 * lasts. BUSY if the walk has broken off. */
enum status index_walk_step(struct index_walk *walk, bool *done);
/* After the last slice: the entries in their order. False at the end. The bytes are the walk's. */
bool index_walk_next(struct index_walk *walk, struct bytes *entry);
/* At any time. Takes state_lock for reading if the walk is not over. */
void index_walk_free(struct index_walk *walk);

/* By the writer, which holds state_lock for writing: the entry was added or removed. */
void index_walks_note(struct index *index, struct bytes entry, bool put);

#endif

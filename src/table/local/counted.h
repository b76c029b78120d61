/* Counted partitions: trees that are made because somebody counts, and that may go again.
 *
 * An index is a counted tree, so it tells how many of its entries stand between two bounds. A
 * table's own order is the store's, which cannot count; nor can an index count its groups (entries
 * whose first sort attributes are equal). The first count of many of either makes a tree:
 *
 *   items    of a partition of a table: their keys in the store
 *   groups   of a partition of an index: what the entries of each begin with
 *
 * From then on each commit keeps it right. Together with the indexes the trees stay within the
 * memory for indexes: the one that was used least recently goes first. An index never goes for one.
 *
 * Who looks at what:
 *   1. The set (which trees there are, their order, the notes) is under `lock` alone.
 *   2. A tree that is whole is read by who found it while holding `moment` for reading, and changed
 *      by the writer while it holds `moment` for writing. Found means: under the same hold.
 *   3. A tree that is sent away is freed by the writer after it has held `moment` for writing once
 *      more: then nobody reads it.
 *   4. A tree of items is built from a view by the thread that asked. The view is taken and the
 *      build announced under one hold of `moment`; from there on commits leave notes, which
 *      are played before the tree is called whole. Others who ask wait for it.
 *   5. A tree of groups is built from the index's tree, a piece under each hold of `moment`;
 *      commits tell it of each group they touch, built already or not.
 */
#ifndef GT_TABLE_LOCAL_COUNTED_H
#define GT_TABLE_LOCAL_COUNTED_H

#include "table/local/local_int.h"

/* What is no more than this is counted one by one. */
enum { COUNTED_FEW = 512 };

struct counted_what {
    const struct table *table;
    const struct index *index; /* NULL: the items of the table itself */
    unsigned parts;            /* of an index: how many sort attributes make a group; from 1 on */
    struct bytes prefix;       /* what the partition's keys or entries begin with */
};

/* The tree, or NULL if there is none that is whole. The caller holds moment for reading. */
const struct tree *counted_find(struct local *local, const struct counted_what *what);
/* Makes the tree, or waits for who is making it. The caller holds no lock and no view, but the
 * table. False if there will be none: it does not fit into the memory, or what it is of has gone.
 */
bool counted_make(struct local *local, const struct counted_what *what);

/* --- the writer's; it holds moment for writing --- */

/* Whether there is anything to tell. */
bool counted_any(const struct local *local);
/* An item was written, or deleted. */
void counted_item(struct local *local, struct bytes key, bool present);
/* Entries of an index went or came (either may be empty); its tree has changed already. */
void counted_move(struct local *local, const struct index *index, struct bytes gone,
                  struct bytes come);
/* Sends away what no longer fits. */
void counted_fit(struct local *local);
/* Forgets all trees of a table, or of an index. */
void counted_forget_table(struct local *local, const struct table *table);
void counted_forget_index(struct local *local, const struct index *index);

/* --- coming and going --- */

struct counted_set *counted_new(void);
void counted_free(struct counted_set *set);
/* Before a recovery takes moment: ends what is being built. Until counted_resume(), nothing is. */
void counted_pause(struct local *local);
/* In a recovery, under moment held for writing: all trees go. */
void counted_clear(struct local *local);
void counted_resume(struct local *local);

/* Which partitions of tables are counted is kept in the store, a little later than it happens. A
 * start makes their trees again, on a thread of its own: first it reads which, */
enum status counted_load(struct local *local, struct arena *arena, struct failure *failure);
/* and then, with everything else in place, begins. */
void counted_start(struct local *local);
/* Ends that thread and everything that is being built. */
void counted_stop(struct local *local);
/* A writer_job: writes what changed, frees what was sent away. */
int64_t counted_run(struct local *local);
/* Writes all that is left, when the writer has ended. */
void counted_save(struct local *local);

void counted_figures(const struct local *local, struct engine_figures *out);

#endif

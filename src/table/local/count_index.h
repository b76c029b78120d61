/* Count indexes: counted trees that are made on demand for partitions whose items or groups are
 * counted, and that are evicted when memory is short.
 *
 * An index is a counted tree, so it tells how many of its entries stand between two bounds. A
 * table's own order is the store's, which cannot count; nor can an index count its groups (entries
 * whose first sort attributes are equal). The first count of many of either makes a tree:
 *
 *   items    of a partition of a table: their keys in the store
 *   groups   of a partition of an index: what the entries of each begin with
 *   names    of the partitions of an index, all or those that another index lists (ranking.h)
 *
 * From then on each commit keeps it right. Together with the indexes the trees stay within the
 * memory for indexes: the one that was used least recently is evicted first. An index is never
 * dropped to make room for one.
 *
 * Who looks at what:
 *   1. The set (which trees there are, their order, the notes) is under `lock` alone.
 *   2. A tree that is whole is read under the same hold of `state_lock` for reading under which it
 *      was found, and changed by the thread that commits under `state_lock` held for writing.
 *   3. A tree that is evicted is freed by the writer after it has held `state_lock` for writing
 * once more: then nobody reads it.
 *   4. A tree of items is built from a snapshot by the thread that asked. The snapshot is taken and
 *      the build announced under one hold of `state_lock`; from there on commits leave notes, which
 *      are replayed before the tree is called whole. Others who ask wait for it.
 *   5. A tree of groups is built from the index's tree, a piece under each hold of `state_lock`;
 *      commits tell it of each group they touch, built already or not. So is a tree of names; an
 *      entry that comes and goes within a partition that has others is not looked at.
 */
#ifndef GT_TABLE_LOCAL_COUNT_INDEX_H
#define GT_TABLE_LOCAL_COUNT_INDEX_H

#include "table/local/local_int.h"

/* Up to so many are counted one by one, without a count index. */
enum { COUNT_INDEX_FEW = 512 };

struct count_index_target {
    const struct table *table;
    const struct index *index; /* NULL: the items of the table itself */
    unsigned parts; /* of an index: how many sort attributes make a group, from 1 on; or NAMES: */
    struct bytes prefix;      /* what the partition's keys or entries begin with. Of names: what the
                                 partitions begin with, `begins` bytes of it, and then what the entries
                                 of `list` begin with */
    const struct index *list; /* the index that lists the names; NULL: all are meant */
    uint32_t begins;
};
enum { COUNT_INDEX_NAMES = 255 };

/* The tree, or NULL if there is none that is whole. The caller holds state_lock for reading. */
const struct tree *count_index_find(struct local *local, const struct count_index_target *target);
/* Makes the tree, or waits for the thread that is making it. The caller holds a reference to the
 * table, but no lock and no snapshot. False if there will be none: it does not fit into the memory,
 * or what it is of has gone.
 */
bool count_index_make(struct local *local, const struct count_index_target *target);

/* --- for the thread that commits, which holds state_lock for writing --- */

/* Whether there are any count indexes: of items, so that the next need be called; of entries, so
 * that the one after it need be. */
bool count_index_any_items(const struct local *local);
bool count_index_any_entries(const struct local *local);
/* An item was written, or deleted. */
void count_index_item_changed(struct local *local, struct bytes key, bool present);
/* Entries of an index went or came (either may be empty); its tree has changed already. */
void count_index_entry_changed(struct local *local, const struct index *index, struct bytes gone,
                               struct bytes come);
/* Evicts count indexes until the rest fits into the memory for indexes. */
void count_index_fit(struct local *local);
/* Forgets all trees of a table, or of an index. */
void count_index_forget_table(struct local *local, const struct table *table);
void count_index_forget_index(struct local *local, const struct index *index);

/* --- start, recovery and stop --- */

struct count_index_set *count_index_new(void);
void count_index_free(struct count_index_set *set);
/* Called before a recovery takes state_lock: ends all builds. None begins until
 * count_index_resume(). */
void count_index_pause(struct local *local);
/* In a recovery, under state_lock held for writing: frees all trees. */
void count_index_clear(struct local *local);
void count_index_resume(struct local *local);

/* The store remembers which partitions of tables have a count index, a little later than they get
 * it, and a start makes them again. This reads which they are. */
enum status count_index_load(struct local *local, struct scope in);
/* Starts the thread that makes them, when the engine is ready to be read. */
void count_index_start(struct local *local);
/* Ends that thread and all builds. */
void count_index_stop(struct local *local);
/* A writer_job: writes to the store what changed, and frees evicted trees. */
int64_t count_index_run(struct local *local);
/* Writes what is left, when the writer has ended. */
void count_index_save(struct local *local);

void count_index_figures(const struct local *local, struct engine_figures *out);

#endif

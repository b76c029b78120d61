/* Picking index keys out of stored items: what a build does ten million times.
 *
 * An item is looked through once for the attributes that any of the indexes sorts by; the rest is
 * passed over. Only if an index shows more of it than keys, and has it, is the item decoded. */
#ifndef GT_TABLE_LOCAL_PICK_H
#define GT_TABLE_LOCAL_PICK_H

#include "table/local/local_int.h"

enum { PICKS_MAX = TREES_MAX * ENTRY_PARTS_MAX };

/* Which attributes are wanted, and by whom. Made once; then read by all. */
struct picks {
    const struct build *build;
    struct bytes names[PICKS_MAX];
    unsigned count;
    struct item_picks items;
    unsigned slots[TREES_MAX][ENTRY_PARTS_MAX]; /* of each index's parts, among the names */
    unsigned parts[TREES_MAX];
    bool sizes[TREES_MAX]; /* the values at hand tell how much the index shows */
};

void picks_init(struct picks *picks, const struct build *build);

/* One item, being looked at. The key and the bytes are the caller's, while it is. */
struct picked {
    struct bytes key, stored;
    size_t span; /* of the partition in the key */
    struct value values[PICKS_MAX];
    struct item whole; /* if it was needed */
    bool decoded;
};

/* DAMAGED. */
enum status picks_take(const struct picks *picks, struct picked *item, struct arena *arena);
/* The item's entry in index number `at`; false if it has none. */
bool picks_put(const struct picks *picks, const struct picked *item, unsigned at, struct buf *to);
/* How much that index shows of an item that is in it. */
enum status picks_shown(const struct picks *picks, struct picked *item, unsigned at,
                        struct arena *arena, size_t *out);
/* How large the item is. */
enum status picks_measure(const struct picks *picks, struct picked *item, struct arena *arena,
                          size_t *out);

#endif

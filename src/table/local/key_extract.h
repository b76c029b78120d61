/* Picking index keys out of stored items: what a build does ten million times.
 *
 * An item is looked through once for the attributes that any of the indexes sorts by; the rest is
 * passed over. Only if an index shows more of it than keys, and has it, is the item decoded. */
#ifndef GT_TABLE_LOCAL_KEY_EXTRACT_H
#define GT_TABLE_LOCAL_KEY_EXTRACT_H

#include "table/local/local_int.h"

enum { EXTRACT_MAX = TREES_MAX * ENTRY_PARTS_MAX };

/* Which attributes are wanted, and by whom. Made once; then used by all. */
struct key_extractor {
    const struct index_build *build;
    struct bytes names[EXTRACT_MAX];
    unsigned count;
    struct item_extractor items;
    unsigned slots[TREES_MAX][ENTRY_PARTS_MAX]; /* of each index's parts, among the names */
    unsigned parts[TREES_MAX];
    bool sizes[TREES_MAX]; /* the values at hand tell how much the index shows */
};

void key_extractor_init(struct key_extractor *extractor, const struct index_build *build);

/* One item that is being looked at. The caller sets its key and its stored bytes, which stay the
 * caller's; key_extractor_read() sets the rest. */
struct extracted_item {
    struct bytes key, stored;
    struct arena *arena; /* what is decoded of it goes here */
    size_t span;         /* so many bytes of the key are its partition */
    struct value values[EXTRACT_MAX];
    struct item whole; /* all of it, if `decoded` */
    bool decoded;
};

/* DAMAGED. */
enum status key_extractor_read(struct key_extractor *extractor, struct extracted_item *item,
                               struct arena *arena);
/* The item's entry in index number `at`; false if it has none. */
bool key_extractor_put_entry(const struct key_extractor *extractor,
                             const struct extracted_item *item, unsigned at, struct buf *to);
/* Whether that entry covers its item (covering.h). */
bool key_extractor_covers(const struct key_extractor *extractor, const struct extracted_item *item,
                          unsigned at);
/* How much that index shows of an item that is in it. */
enum status key_extractor_shown_size(const struct key_extractor *extractor,
                                     struct extracted_item *item, unsigned at, size_t *out);
/* How large the item is. */
enum status key_extractor_item_size(const struct key_extractor *extractor,
                                    struct extracted_item *item, size_t *out);

#endif

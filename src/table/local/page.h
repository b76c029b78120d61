/* A page of a query or scan while it is being made. Private to page*.c. */
#ifndef GT_TABLE_LOCAL_PAGE_H
#define GT_TABLE_LOCAL_PAGE_H

#include "table/local/index_walk.h"

enum { PAGE_KEY_ROOM = 256 }; /* bytes of most keys */

/* A range of the table that the cache may have (page_range.c). */
struct page_range {
    struct hashed_key key; /* in the cache */
    uint64_t writes;       /* to its partition, when the page was begun */
    bool keeps;            /* what is read is gathered for the cache, in */
    struct buf kept;
    bool found; /* the items are these: */
    struct bytes items;
};

struct page {
    struct local *local;
    const struct page_request *request;
    struct arena *arena; /* of the request */
    struct failure *failure;
    struct page_reply *reply;

    struct table *table; /* with a reference */
    const struct table_schema *schema;
    const struct index *index; /* NULL: the table itself. Its tree only under state_lock. */
    struct snapshot *snapshot; /* with a reference */
    bool fetch;                /* whole items through a local index that does not show them */
    struct buf low, high;      /* what is left to read: [low, high); an empty high is no bound */
    uint64_t skip;             /* items of the table to leave out from `low` on */
    struct page_range range;

    struct arena scratch;            /* emptied after each item */
    size_t room;                     /* of reply->items */
    size_t size;                     /* bytes evaluated, as the table or index shows them; of a */
    size_t read;                     /* `whole` page none are counted, but those read are */
    double fetched;                  /* units for items fetched from the table */
    uint64_t item_count, table_size; /* of the table, for the cost of a count */
};

/* Whether items need not be kept: only their number was asked for. */
static inline bool page_counts(const struct page *page) {
    return page->request->select == SELECT_COUNT;
}
/* The order that the page is read in. */
static inline struct key_order page_order(const struct page *page) {
    return (struct key_order){page->table, page->schema, page->index};
}
/* Where an item is decoded: the request's memory, or scratch if nobody will see it. */
static inline struct arena *page_arena(struct page *page) {
    return page_counts(page) || page->request->visit != NULL ? &page->scratch : page->arena;
}

/* Whether an index's entries say all that is asked for, so that no item is read. */
static inline bool page_entries_suffice(const struct page *page) {
    return page->index != NULL && page->index->schema->projected == PROJECTED_KEYS && !page->fetch;
}

/* Whether items are handed over as they are stored: nothing has to look into them. */
static inline bool page_passes(const struct page *page) {
    const struct page_request *request = page->request;
    return request->visit_stored != NULL && request->filter == NULL &&
           request->projection == NULL && !page->fetch &&
           (page->index == NULL || page->index->schema->projected == PROJECTED_ALL);
}

/* Whether a query's entries are shown as the keys they are made of: nothing looks at an item. */
static inline bool page_shows_keys(const struct page *page) {
    const struct page_request *request = page->request;
    return request->visit_keys != NULL && request->keys != NULL && request->whole &&
           request->filter == NULL && request->projection == NULL && page_entries_suffice(page);
}

/* Hands over one item as it is stored. The page ends with it if it is the `last`, or *full. */
enum status page_pass(struct page *page, struct bytes stored, bool last, bool *full);
/* Evaluates one item: `shown` is what the table or index holds of it and counts by, `item` what
 * filter and projection see. True when the page is full. */
bool page_take(struct page *page, const struct item *shown, const struct item *item);
/* WOULD_BLOCK, with its words, if the page is to be brief and has looked at many items already. */
enum status page_check_brief(const struct page *page);
/* Ends the page after this item, with a key to go on from. */
void page_stop(struct page *page, const struct item *shown);

/* Short ranges of a table (page_range.c). Looks whether the cache has the page's; the caller holds
 * state_lock. */
bool page_range_find(struct page *page);
/* Shows its items. */
enum status page_range_read(struct page *page);
/* Gathers an item that was read from the store, if the range is to be kept. */
void page_range_add(struct page *page, struct bytes stored);
/* All were read: gives them to the cache. The page still holds its snapshot. */
void page_range_keep(struct page *page);

/* An index: entries copied out of the tree while state_lock is held, then their items. */
struct page_entries {
    struct bytes *entries;
    size_t count;
    bool truncated; /* more follow, though neither limit nor page size was reached for certain */
    struct index_walk *walk; /* not NULL: too many to be copied under one hold of the lock, so that
                                they are read by this, and `entries` is empty */
};
void page_copy_entries(struct page *page, struct page_entries *out);
enum status page_read_index(struct page *page, const struct page_entries *entries);
/* How many entries there are from low to high; state_lock is held. */
uint64_t page_count_entries(const struct page *page);

/* Counts (page_count.c). Answers if a number is asked for that can be told while state_lock is
 * held. */
bool page_answer_count(struct page *page);
/* Whether a number of items of the table's own order is asked for, which must be whole. */
bool page_counts_range(const struct page *page);
/* Counts them at the snapshot. *many: there are too many to count one by one, nothing was answered,
 * and a count index should be made first. With `at_once` they are counted in any case. */
enum status page_count_range(struct page *page, bool at_once, bool *many);
/* A query of the table that skips items: moves `low` over them if there is a count index to tell
 * where that is. state_lock is held. */
void page_skip_by_index(struct page *page);
/* Whether there are so many left to skip that a count index should be made first. */
bool page_skips_many(const struct page *page);
/* Makes the count index of the page's partition. The caller holds no snapshot. */
void page_make_count_index(struct page *page);

#endif

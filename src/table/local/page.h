/* A page of a query or scan while it is being made. Private to page*.c. */
#ifndef GT_TABLE_LOCAL_PAGE_H
#define GT_TABLE_LOCAL_PAGE_H

#include "table/local/local_int.h"

enum { PAGE_KEY_ROOM = 256 }; /* bytes of most keys */

struct page {
    struct local *local;
    const struct page_request *request;
    struct arena *arena; /* of the request */
    struct failure *failure;
    struct page_reply *reply;

    struct table *table; /* with a reference */
    const struct table_schema *schema;
    const struct index *index; /* NULL: the table itself. Its tree only under moment. */
    struct view *view;         /* with a reference */
    bool fetch;                /* whole items through a local index that does not show them */
    struct buf low, high;      /* what is left to read: [low, high); an empty high is no bound */

    struct arena scratch;            /* emptied after each item */
    size_t room;                     /* of reply->items */
    size_t size;                     /* bytes evaluated, as the table or index shows them */
    double fetched;                  /* units for items fetched from the table */
    uint64_t item_count, table_size; /* of the table, for the cost of a count */
};

/* Whether items need not be kept: only their number was asked for. */
static inline bool page_counts(const struct page *page) {
    return page->request->select == SELECT_COUNT;
}
/* Where an item is decoded: the request's memory, or scratch if nobody will see it. */
static inline struct arena *page_arena(struct page *page) {
    return page_counts(page) ? &page->scratch : page->arena;
}

/* Whether an index's entries say all that is asked for, so that no item is read. */
static inline bool page_entries_tell(const struct page *page) {
    return page->index != NULL && page->index->schema->projected == PROJECTED_KEYS && !page->fetch;
}

/* Evaluates one item: `shown` is what the table or index holds of it and counts by, `item` what
 * filter and projection see. True when the page is full. */
bool page_take(struct page *page, const struct item *shown, const struct item *item);
/* Ends the page after this item, with a key to go on from. */
void page_stop(struct page *page, const struct item *shown);

/* The table's own order: reads the store from low to high, or back. */
enum status page_read_table(struct page *page);

/* An index: entries copied out of the tree while moment is held, then their items. */
struct page_entries {
    struct bytes *entries;
    size_t count;
    bool cut; /* more follow, though neither limit nor page size was reached for certain */
};
void page_copy_entries(struct page *page, struct page_entries *out);
enum status page_read_index(struct page *page, const struct page_entries *entries);
/* How many entries there are from low to high; moment is held. */
uint64_t page_count_entries(const struct page *page);

/* Counts (page_count.c). Answers if a number is asked for that can be told while moment is held. */
bool page_tell_count(struct page *page);
/* Whether a number of items of the table's own order is asked for, which must be whole. */
bool page_counts_range(const struct page *page);
/* Counts them at the view. *many: nothing was answered, a tree should be made first; unless
 * `at_once`. */
enum status page_count_range(struct page *page, bool at_once, bool *many);
/* Makes it. No view is held. */
void page_make_counted(struct page *page);

#endif

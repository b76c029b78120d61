/* Counts: Select=COUNT without a filter is a number, not a page; and items that are skipped.
 *
 * An index's tree tells it, and so does a count index (count_index.h). A partition of the table
 * that has none is counted item by item as long as there are few; if there are many, its count
 * index is made and asked instead. If there is no memory for that, all keys are walked. */
#include "table/local/count_index.h"
#include "table/local/page.h"

/* Whether the request is for a number of the whole of something. */
static bool is_plain_count(const struct page *page) {
    const struct page_request *request = page->request;
    return page_counts(page) && request->filter == NULL && request->limit == 0 &&
           !request->strict_paging;
}

bool page_counts_range(const struct page *page) {
    return is_plain_count(page) && page->index == NULL && page->request->keys != NULL;
}

static struct count_index_target partition_of(const struct page *page) {
    struct bytes low = buf_bytes(&page->low);
    size_t size = keys_partition_span(page->schema, low);
    return (struct count_index_target){.table = page->table, .prefix = bytes_of(low.data, size)};
}

/* `count` of those that are `size` bytes together; what reading them would have cost is their
 * share. */
static void set_count(struct page *page, uint64_t count, uint64_t all, uint64_t size) {
    page->reply->count = page->reply->scanned = count;
    page->size = all == 0 ? 0 : (size_t)((double)size * ((double)count / (double)all));
}

static bool count_by_index(struct page *page) {
    struct count_index_target target = partition_of(page);
    const struct tree *tree = count_index_find(page->local, &target);
    if (tree == NULL)
        return false;
    uint64_t low = tree_rank(tree, buf_bytes(&page->low));
    uint64_t high = tree_rank(tree, buf_bytes(&page->high));
    set_count(page, high > low ? high - low : 0, page->table->item_count, page->table->size);
    return true;
}

bool page_answer_count(struct page *page) {
    const struct page_request *request = page->request;
    const struct table *table = page->table;
    if (!is_plain_count(page))
        return false;
    if (page->index != NULL) {
        set_count(page, page_count_entries(page), tree_count(page->index->tree), page->index->size);
        return true;
    }
    if (request->keys != NULL) {
        page->item_count = table->item_count;
        page->table_size = table->size;
        return count_by_index(page);
    }
    if (request->start != NULL || request->segments > 1)
        return false;
    set_count(page, table->item_count, table->item_count, table->size);
    return true;
}

/* Reads each item, to tell what that costs; *many: it stopped because there are too many. */
static enum status count_few(struct page *page, struct store_iter *iter, bool *many) {
    struct page_reply *reply = page->reply;
    enum status status = OK;
    for (bool on = store_iter_first(iter); on && status == OK; on = store_iter_next(iter)) {
        struct item item;
        if (reply->count == COUNT_INDEX_FEW || page->size >= LIMIT_PAGE_SIZE) {
            *many = true;
            return OK;
        }
        status = item_decode(store_iter_value(iter), page->local->names, &page->scratch, &item);
        if (status == OK)
            page->size += item_size(&item);
        reply->count++;
        arena_reset(&page->scratch);
    }
    reply->scanned = reply->count;
    return status == OK ? store_iter_status(iter) : status;
}

static enum status count_all(struct page *page, struct store_iter *iter) {
    uint64_t count = 0;
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter))
        count++;
    set_count(page, count, page->item_count, page->table_size);
    return store_iter_status(iter);
}

enum status page_count_range(struct page *page, bool at_once, bool *many) {
    *many = false;
    if (bytes_compare(buf_bytes(&page->low), buf_bytes(&page->high)) >= 0)
        return OK;
    struct store_iter *iter =
        snapshot_iter_get(page->snapshot, buf_bytes(&page->low), buf_bytes(&page->high));
    enum status status = count_few(page, iter, many);
    if (status == OK && *many && at_once) {
        *many = false;
        status = count_all(page, iter);
    }
    snapshot_iter_put(page->snapshot, iter);
    return status;
}

void page_skip_by_index(struct page *page) {
    struct count_index_target target = partition_of(page);
    const struct tree *tree = count_index_find(page->local, &target);
    struct tree_cursor cursor = {0};
    page->skip = page->request->skip;
    if (tree == NULL)
        return;
    uint64_t rank = tree_rank(tree, buf_bytes(&page->low));
    bool found = page->skip <= tree_count(tree) && rank + page->skip <= tree_count(tree) &&
                 tree_seek_rank(&cursor, tree, rank + page->skip);
    struct bytes to = found ? tree_key(&cursor) : buf_bytes(&page->high);
    buf_clear(&page->low);
    buf_put(&page->low, to);
    page->skip = 0;
    tree_cursor_release(&cursor);
}

bool page_skips_many(const struct page *page) {
    return page->skip > COUNT_INDEX_FEW;
}

void page_make_count_index(struct page *page) {
    struct count_index_target target = partition_of(page);
    count_index_make(page->local, &target);
}

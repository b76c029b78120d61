/* Pages in the table's own order, straight from the store. */
#include "table/local/page.h"

static enum status take_stored(struct page *page, struct bytes stored, bool *full) {
    struct item item;
    if (!page_counts(page))
        stored = arena_copy(page->arena, stored); /* the iterator moves on */
    enum status status = item_decode(stored, page->local->names, page_arena(page), &item);
    if (status == OK)
        *full = page_take(page, &item, &item);
    return status;
}

enum status page_read_table(struct page *page) {
    bool backward = page->request->backward, full = false;
    if (bytes_compare(buf_bytes(&page->low), buf_bytes(&page->high)) >= 0)
        return OK;
    struct store_iter *iter =
        view_iterate(page->view, buf_bytes(&page->low), buf_bytes(&page->high));
    enum status status = OK;
    bool more = backward ? store_iter_last(iter) : store_iter_first(iter);
    while (more) {
        status = take_stored(page, store_iter_value(iter), &full);
        if (status != OK || full)
            break;
        more = backward ? store_iter_prev(iter) : store_iter_next(iter);
    }
    if (status == OK && !more)
        status = store_iter_status(iter);
    view_iterated(page->view, iter);
    return status;
}

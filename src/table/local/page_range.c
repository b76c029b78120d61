/* Short ranges of a partition that are asked for again and again, such as the players of a room:
 * the cache of items keeps them as they are stored, one behind the other, so that asking once more
 * neither seeks nor merges anything.
 *
 * A range stands under its bounds, behind a table's number that no table has, and begins with how
 * often its partition had been written when the snapshot was taken that it was read at. Whoever
 * finds it compares that with the number of now, holding state_lock: if they are the same, no
 * commit has touched the partition in between, and the range is what the current snapshot has. */
#include "table/local/page.h"

/* Only pages that show items as they are stored. Backward ones mostly want the first few of many,
 * and what was not read to its end is not kept. */
static bool is_range(const struct page *page) {
    return page_passes(page) && page->request->keys != NULL && !page->request->backward &&
           page->skip == 0;
}

/* no_table:u32 low_size:u32 low high */
static struct hashed_key range_key(const struct page *page) {
    struct bytes low = buf_bytes(&page->low), high = buf_bytes(&page->high);
    size_t size = 2 * sizeof(uint32_t) + low.size + high.size;
    struct buf key = buf_in(arena_alloc(page->arena, size), size);
    buf_u32(&key, UINT32_MAX);
    buf_u32(&key, (uint32_t)low.size);
    buf_put(&key, low);
    buf_put(&key, high);
    return hashed_key_of(buf_bytes(&key));
}

bool page_range_find(struct page *page) {
    struct page_range *range = &page->range;
    struct cache *cache = page->local->cache;
    uint64_t writes;
    if (!is_range(page))
        return false;
    range->key = range_key(page);
    range->writes = cache_partition_writes(cache, buf_bytes(&page->low));
    range->items = cache_get(cache, range->key, UINT64_MAX, page->arena);
    range->found = take_u64(&range->items, &writes) && writes == range->writes;
    if (!range->found && cache_range_returns(cache, range->key.hash, range->writes)) {
        range->keeps = true;
        buf_u64(&range->kept, range->writes);
    }
    return range->found;
}

enum status page_range_read(struct page *page) {
    struct bytes stored;
    enum status status = OK;
    bool full = false;
    while (status == OK && !full && take_counted(&page->range.items, &stored))
        status = page_pass(page, stored, false, &full);
    return status;
}

void page_range_add(struct page *page, struct bytes stored) {
    struct page_range *range = &page->range;
    if (range->keeps && range->kept.size + stored.size > LIMIT_RANGE_CACHED)
        range->keeps = false;
    if (range->keeps)
        buf_counted(&range->kept, stored);
}

void page_range_keep(struct page *page) {
    const struct page_range *range = &page->range;
    if (range->keeps)
        cache_put_range(page->local->cache, range->key, buf_bytes(&range->kept));
}

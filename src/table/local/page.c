/* Queries and scans: which items, in which order, how many.
 *
 * What to read becomes a range of keys, [low, high), in the store or in an index's tree; the start
 * key only narrows it. Everything a page shows is of one snapshot. */
#include "table/local/page.h"

enum { ROOM_FIRST_MAX = 1024 };

/* --- one item --- */

static void keep_item(struct page *page, const struct item *item) {
    struct page_reply *reply = page->reply;
    if (reply->count == page->room) {
        uint32_t limit = page->request->limit;
        size_t first = limit != 0 && limit < ROOM_FIRST_MAX ? limit : 16;
        size_t more = page->room == 0 ? first : page->room * 2;
        reply->items = arena_grow(page->arena, reply->items, page->room * sizeof(struct item),
                                  more * sizeof(struct item));
        page->room = more;
    }
    const struct projection *projection = page->request->projection;
    reply->items[reply->count] =
        projection == NULL ? *item : projection_apply(projection, item, page->arena);
}

static void visit_item(struct page *page, const struct item *item) {
    const struct page_request *request = page->request;
    struct item shown = *item;
    if (request->projection != NULL)
        shown = projection_apply(request->projection, item, &page->scratch);
    request->visit(request->user, &shown);
}

static bool is_full(const struct page *page) {
    const struct page_request *request = page->request;
    return page->size >= LIMIT_PAGE_SIZE ||
           (request->limit != 0 && page->reply->scanned == request->limit);
}

/* Counts an item of that size. */
static void page_read(struct page *page, size_t size) {
    page->read += size;
    if (!page->request->whole)
        page->size += size;
}

enum status page_pass(struct page *page, struct bytes stored, bool last, bool *full) {
    const struct page_request *request = page->request;
    struct item item;
    enum status status = OK;
    size_t size = request->visit_stored(request->user, page->local->names, stored);
    if (size == 0)
        return DAMAGED;
    page->reply->scanned++;
    page->reply->count++;
    page_read(page, size);
    *full = is_full(page);
    if (*full || last) {
        status = item_decode(stored, page->local->names, &page->scratch, &item);
        if (status == OK)
            page_stop(page, &item);
    }
    arena_reset(&page->scratch);
    return status;
}

bool page_take(struct page *page, const struct item *shown, const struct item *item) {
    const struct page_request *request = page->request;
    page->reply->scanned++;
    page_read(page, item_size(shown));
    if (request->filter == NULL || condition_holds(request->filter, item, &page->scratch)) {
        if (request->visit != NULL)
            visit_item(page, item);
        else if (!page_counts(page))
            keep_item(page, item);
        page->reply->count++;
    }
    bool full = is_full(page);
    if (full)
        page_stop(page, shown);
    arena_reset(&page->scratch);
    return full;
}

void page_stop(struct page *page, const struct item *shown) {
    struct item key = *shown;
    if (!page_entries_suffice(page))
        key = rules_key_of(page->schema, page->index == NULL ? NULL : page->index->schema, shown,
                           page->arena);
    page->reply->more = true;
    /* Counting works in scratch memory, which goes away with the item. */
    page->reply->last_key = page_arena(page) == &page->scratch ? item_copy(page->arena, &key) : key;
}

/* --- which items --- */

static const struct index_schema *index_schema_of(const struct page *page) {
    return page->index == NULL ? NULL : page->index->schema;
}

/* Narrows what there is to read by the bounds. They stay within the partition: what lies outside of
 * it is outside of the range of the condition already. */
static enum status apply_bounds(struct page *page) {
    const struct page_request *request = page->request;
    const struct bound *bounds[] = {&request->low, &request->high};
    for (unsigned i = 0; i < 2; i++) {
        if (bounds[i]->at.count == 0)
            continue;
        uint8_t memory[PAGE_KEY_ROOM];
        struct buf at = buf_in(memory, sizeof(memory)), *bound = i == 0 ? &page->low : &page->high;
        if (!keys_put_bound(&at, page->index, bounds[i]))
            return failure_set(page->failure, page->arena, INVALID,
                               "The provided bound does not match the schema of the index");
        int order = bytes_compare(buf_bytes(&at), buf_bytes(bound));
        if (i == 0 ? order > 0 : order < 0) {
            buf_clear(bound);
            buf_put(bound, buf_bytes(&at));
        }
        buf_release(&at);
    }
    return OK;
}

static bool has_bounds(const struct page_request *request) {
    return request->low.at.count != 0 || request->high.at.count != 0 || request->skip_end != 0 ||
           (request->skip != 0 && request->index.size != 0);
}

/* Whether it is a query of the table itself that leaves out items. */
static bool skips_items(const struct page *page) {
    const struct page_request *request = page->request;
    return request->skip != 0 && page->index == NULL && request->keys != NULL && !request->backward;
}

/* The start key in place of the bound it stands nearer to. */
static enum status apply_start(struct page *page) {
    const struct page_request *request = page->request;
    uint8_t memory[PAGE_KEY_ROOM];
    struct buf at = buf_in(memory, sizeof(memory));
    if (page->index == NULL)
        keys_put_item(&at, page->table, page->schema, request->start);
    else
        keys_put_entry(&at, page->schema, page->index, request->start);
    bool outside =
        bytes_compare(buf_bytes(&at), buf_bytes(&page->low)) < 0 ||
        (page->high.size != 0 && bytes_compare(buf_bytes(&at), buf_bytes(&page->high)) >= 0);
    if (outside) { /* of a query it was checked already */
        buf_release(&at);
        return failure_set(page->failure, page->arena, INVALID,
                           "The provided starting key is invalid: Invalid ExclusiveStartKey. "
                           "Please use ExclusiveStartKey with correct Segment. TotalSegments: %u "
                           "Segment: %u",
                           request->segments, request->segment);
    }
    struct buf *bound = request->backward ? &page->high : &page->low;
    buf_clear(bound);
    buf_put(bound, buf_bytes(&at));
    if (!request->backward)
        buf_byte(bound, 0); /* the least key after it */
    buf_release(&at);
    return OK;
}

static enum status set_query(struct page *page, const struct rules_context *rules) {
    const struct page_request *request = page->request;
    const struct index_schema *index = index_schema_of(page);
    struct key_order order = page_order(page);
    struct key_range range;
    enum status status = rules_check_range(rules, index, request->keys, &range);
    if (status == OK && request->start != NULL)
        status = rules_check_start(rules, index, &range, request->start);
    if (status == OK && request->filter != NULL && !request->filter_keys)
        status = rules_check_filter_keys(rules, index, request->filter, request->filter_legacy);
    if (status == OK && request->filter != NULL)
        status = rules_check_filter_shown(rules, index, request->filter, page->fetch);
    if (status == OK)
        keys_put_bounds(&page->low, &page->high, &order, &range);
    return status;
}

static enum status set_scan(struct page *page, const struct rules_context *rules) {
    const struct page_request *request = page->request;
    struct key_order order = page_order(page);
    enum status status = OK;
    if (request->start != NULL)
        status = rules_check_start(rules, index_schema_of(page), NULL, request->start);
    if (status == OK)
        keys_put_segment(&page->low, &page->high, &order,
                         (struct scan_segment){request->segment, request->segments});
    return status;
}

static enum status set_bounds(struct page *page) {
    const struct page_request *request = page->request;
    struct rules_context rules = {page->schema, page->arena, page->failure};
    const struct index_schema *index = index_schema_of(page);
    enum status status = rules_check_consistent(&rules, index, request, &page->fetch);
    if (status == OK)
        status = request->keys != NULL ? set_query(page, &rules) : set_scan(page, &rules);
    if (status == OK)
        status = rules_check_select(&rules, index, request);
    if (status == OK)
        status = rules_check_paths(&rules, request->projection, request->filter);
    bool bounded = has_bounds(request) || (request->skip != 0 && !skips_items(page));
    if (status == OK && bounded && (page->index == NULL || request->keys == NULL))
        status = failure_set(page->failure, page->arena, INVALID,
                             "Only queries of an index have bounds");
    if (status == OK && request->start != NULL)
        status = apply_start(page);
    if (status == OK && has_bounds(request))
        status = apply_bounds(page);
    return status;
}

enum status page_check_brief(const struct page *page) {
    if (!page->request->brief ||
        (page->reply->scanned <= LIMIT_PAGE_BRIEF && page->read <= LIMIT_BATCH_BRIEF))
        return OK;
    return failure_set(page->failure, page->arena, WOULD_BLOCK,
                       "There are many items to look at. Try again soon.");
}

/* --- the table's own order, straight from the store --- */

static enum status take_stored(struct page *page, struct bytes stored, bool *full) {
    struct item item;
    if (page_passes(page))
        return page_pass(page, stored, false, full);
    if (page_arena(page) == page->arena)
        stored = arena_copy(page->arena, stored); /* the iterator moves on */
    enum status status = item_decode(stored, page->local->names, page_arena(page), &item);
    if (status == OK)
        *full = page_take(page, &item, &item);
    return status;
}

static enum status read_table(struct page *page) {
    bool backward = page->request->backward, full = false;
    if (bytes_compare(buf_bytes(&page->low), buf_bytes(&page->high)) >= 0)
        return OK;
    struct store_iter *iter =
        snapshot_iter_get(page->snapshot, buf_bytes(&page->low), buf_bytes(&page->high));
    enum status status = OK;
    bool more = backward ? store_iter_last(iter) : store_iter_first(iter);
    for (; more && page->skip != 0; page->skip--)
        more = store_iter_next(iter);
    while (more) {
        page_range_add(page, store_iter_value(iter));
        status = take_stored(page, store_iter_value(iter), &full);
        if (status == OK && !full)
            status = page_check_brief(page);
        if (status != OK || full)
            break;
        more = backward ? store_iter_prev(iter) : store_iter_next(iter);
    }
    if (status == OK && !more)
        status = store_iter_status(iter);
    if (status == OK && !more)
        page_range_keep(page);
    snapshot_iter_put(page->snapshot, iter);
    return status;
}

/* --- the page --- */

/* A scan of a whole table on demand, in one page: the service has such a table in four parts and
 * charges a unit for each at least. */
static bool is_whole_scan(const struct page *page) {
    const struct page_request *request = page->request;
    return request->keys == NULL && page->index == NULL && request->start == NULL &&
           request->segments <= 1 && !page->reply->more &&
           page->schema->billing == BILLING_ON_DEMAND;
}

static void set_usage(struct page *page) {
    struct usage *usage = &page->reply->usage;
    double units = rules_read_units(page->size, page->request->consistent);
    double least = is_whole_scan(page) ? rules_read_units(4 * 4096, page->request->consistent) : 0;
    if (units < least)
        units = least;
    *usage = (struct usage){.table = page->fetched};
    if (page->index == NULL) {
        usage->table = units;
        return;
    }
    usage->indexes = ARENA_NEW(page->arena, struct index_usage);
    usage->index_count = 1;
    usage->indexes[0] = (struct index_usage){arena_copy(page->arena, page->index->schema->name),
                                             page->index->schema->local, units};
}

/* What can be told at once, and all that is to be read under state_lock. *answered: that was all.
 */
static enum status read_under_lock(struct page *page, struct page_entries *entries,
                                   bool *answered) {
    const struct page_request *request = page->request;
    enum status status = OK;
    *answered = false;
    page->table = local_table(page->local, request->table);
    if (page->table == NULL)
        return failure_set(page->failure, page->arena, NO_TABLE, "Requested resource not found");
    table_ref(page->table);
    page->schema = page->table->schema;
    if (request->index.size != 0)
        status = local_index(page->table, request->index,
                             (struct scope){page->arena, page->failure}, &page->index);
    if (status == OK)
        status = set_bounds(page);
    if (status != OK)
        return status;
    *answered = page_answer_count(page);
    if (*answered)
        return OK;
    if (skips_items(page))
        page_skip_by_index(page);
    if (page->index != NULL)
        page_copy_entries(page, entries);
    else if (page_range_find(page))
        return OK;
    if (!page_entries_suffice(page))
        page->snapshot = snapshot_hold(page->local);
    return OK;
}

/* *many: see page_count_range() and page_skips_many(). */
static enum status read_once(struct page *page, bool at_once, bool *many) {
    struct page_entries entries = {0};
    bool answered;
    *many = false;
    pthread_rwlock_rdlock(&page->local->state_lock);
    enum status status = read_under_lock(page, &entries, &answered);
    pthread_rwlock_unlock(&page->local->state_lock);
    if (status != OK || answered)
        return status;
    if (page_skips_many(page) && !at_once) {
        *many = true;
        return OK;
    }
    if (page_counts_range(page))
        status = page_count_range(page, at_once, many);
    else if (page->range.found)
        status = page_range_read(page);
    else
        status = page->index == NULL ? read_table(page) : page_read_index(page, &entries);
    if (entries.walk != NULL)
        index_walk_free(entries.walk);
    if (status == OK || status == BUSY || status == WOULD_BLOCK) /* their words are there already */
        return status;
    return local_fault(status, (struct scope){page->arena, page->failure});
}

static void page_release(struct page *page) {
    if (page->snapshot != NULL)
        snapshot_drop(page->snapshot);
    if (page->table != NULL)
        table_unref(page->table);
    page->snapshot = NULL;
    page->table = NULL;
}

static enum status read_page(struct page *page) {
    bool many;
    enum status status = read_once(page, false, &many);
    if (status != OK || !many)
        return status;
    if (page->request->nonblocking) {
        page->size = page->read = 0;
        *page->reply = (struct page_reply){0};
        return failure_set(page->failure, page->arena, WOULD_BLOCK,
                           "This has to be counted first. Try again soon.");
    }
    snapshot_drop(page->snapshot);
    page->snapshot = NULL;
    page_make_count_index(page);
    page_release(page);
    buf_clear(&page->low);
    buf_clear(&page->high);
    page->size = page->read = 0;
    *page->reply = (struct page_reply){0};
    return read_once(page, true, &many);
}

enum status local_page(struct engine *engine, const struct page_request *request, struct scope in,
                       struct page_reply *out) {
    uint8_t memory[2][PAGE_KEY_ROOM];
    struct page page = {.local = (struct local *)engine,
                        .request = request,
                        .arena = in.arena,
                        .failure = in.failure,
                        .reply = out,
                        .low = buf_in(memory[0], PAGE_KEY_ROOM),
                        .high = buf_in(memory[1], PAGE_KEY_ROOM)};
    *out = (struct page_reply){0};
    arena_init(&page.scratch);
    enum status status = read_page(&page);
    if (status == OK)
        set_usage(&page);
    page_release(&page);
    arena_release(&page.scratch);
    buf_release(&page.low);
    buf_release(&page.high);
    buf_release(&page.range.kept);
    return status;
}

/* Queries and scans: which items, in which order, how many.
 *
 * What to read becomes a range of keys, [low, high), in the store or in an index's tree; the start
 * key only narrows it. Everything a page shows is of one moment. */
#include "table/local/page.h"

enum { ROOM_FIRST_MAX = 1024 };

/* --- one item --- */

static void keep(struct page *page, const struct item *item) {
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

bool page_take(struct page *page, const struct item *shown, const struct item *item) {
    const struct page_request *request = page->request;
    page->reply->scanned++;
    if (!request->whole)
        page->size += item_size(shown);
    if (request->filter == NULL || condition_holds(request->filter, item, &page->scratch)) {
        if (!page_counts(page))
            keep(page, item);
        page->reply->count++;
    }
    bool full = page->size >= LIMIT_PAGE_SIZE ||
                (request->limit != 0 && page->reply->scanned == request->limit);
    if (full)
        page_stop(page, shown);
    arena_reset(&page->scratch);
    return full;
}

void page_stop(struct page *page, const struct item *shown) {
    struct item key = *shown;
    if (!page_entries_tell(page))
        key = rules_key_of(page->schema, page->index == NULL ? NULL : page->index->schema, shown,
                           page->arena);
    page->reply->more = true;
    /* Counting works in scratch memory, which goes away with the item. */
    page->reply->last_key = page_counts(page) ? item_copy(page->arena, &key) : key;
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
    return request->low.at.count != 0 || request->high.at.count != 0 || request->skip != 0 ||
           request->skip_end != 0;
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
    struct key_range range;
    enum status status =
        rules_check_range(rules, index, request->keys, request->keys_legacy, &range);
    if (status == OK && request->start != NULL)
        status = rules_check_start(rules, index, &range, request->start);
    if (status == OK && request->filter != NULL && request->filter_keys)
        status = rules_check_filter_shown(rules, index, request->filter, page->fetch);
    else if (status == OK && request->filter != NULL)
        status =
            rules_check_filter(rules, index, request->filter, request->filter_legacy, page->fetch);
    if (status == OK)
        keys_put_bounds(&page->low, &page->high, page->table, page->schema, page->index, &range);
    return status;
}

static enum status set_scan(struct page *page, const struct rules_context *rules) {
    const struct page_request *request = page->request;
    enum status status = OK;
    if (request->start != NULL)
        status = rules_check_start(rules, index_schema_of(page), NULL, request->start);
    if (status == OK)
        keys_put_segment(&page->low, &page->high, page->table, page->index, request->segment,
                         request->segments == 0 ? 1 : request->segments);
    return status;
}

static enum status set_bounds(struct page *page) {
    const struct page_request *request = page->request;
    struct rules_context rules = {page->schema, page->arena, page->failure};
    enum status status = rules_check_select(&rules, index_schema_of(page), request->select,
                                            request->consistent, request->projection, &page->fetch);
    if (status == OK)
        status = request->keys != NULL ? set_query(page, &rules) : set_scan(page, &rules);
    if (status == OK)
        status = rules_check_paths(&rules, request->projection, request->filter);
    if (status == OK && has_bounds(request) && (page->index == NULL || request->keys == NULL))
        status = failure_set(page->failure, page->arena, INVALID,
                             "Only queries of an index have bounds");
    if (status == OK && request->start != NULL)
        status = apply_start(page);
    if (status == OK && has_bounds(request))
        status = apply_bounds(page);
    return status;
}

/* --- the page --- */

static void set_usage(struct page *page) {
    struct usage *usage = &page->reply->usage;
    double units = rules_read_units(page->size, page->request->consistent);
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

/* What can be told at once, and all that is to be read under moment. *told: it is done. */
static enum status look(struct page *page, struct page_entries *entries, bool *told) {
    const struct page_request *request = page->request;
    enum status status = OK;
    *told = false;
    page->table = local_table(page->local, request->table);
    if (page->table == NULL)
        return failure_set(page->failure, page->arena, NO_TABLE, "Requested resource not found");
    table_ref(page->table);
    page->schema = page->table->schema;
    if (request->index.size != 0)
        status = local_index(page->table, request->index, page->arena, page->failure, &page->index);
    if (status == OK)
        status = set_bounds(page);
    if (status != OK)
        return status;
    *told = page_tell_count(page);
    if (*told)
        return OK;
    if (page->index != NULL)
        page_copy_entries(page, entries);
    if (!page_entries_tell(page))
        page->view = view_hold(page->local);
    return OK;
}

/* *many: see page_count_range(). */
static enum status read_once(struct page *page, bool at_once, bool *many) {
    struct page_entries entries;
    bool told;
    *many = false;
    pthread_rwlock_rdlock(&page->local->moment);
    enum status status = look(page, &entries, &told);
    pthread_rwlock_unlock(&page->local->moment);
    if (status != OK || told)
        return status;
    if (page_counts_range(page))
        status = page_count_range(page, at_once, many);
    else
        status = page->index == NULL ? page_read_table(page) : page_read_index(page, &entries);
    return status == OK ? OK : local_fault(status, page->arena, page->failure);
}

static void let_go(struct page *page) {
    if (page->view != NULL)
        view_drop(page->view);
    if (page->table != NULL)
        table_unref(page->table);
    page->view = NULL;
    page->table = NULL;
}

static enum status read_page(struct page *page) {
    bool many;
    enum status status = read_once(page, false, &many);
    if (status != OK || !many)
        return status;
    if (page->request->prompt) {
        page->size = 0;
        *page->reply = (struct page_reply){.later = true};
        return OK;
    }
    view_drop(page->view);
    page->view = NULL;
    page_make_counted(page);
    let_go(page);
    buf_clear(&page->low);
    buf_clear(&page->high);
    page->size = 0;
    *page->reply = (struct page_reply){0};
    return read_once(page, true, &many);
}

enum status local_page(struct engine *engine, const struct page_request *request,
                       struct arena *arena, struct failure *failure, struct page_reply *out) {
    uint8_t memory[2][PAGE_KEY_ROOM];
    struct page page = {.local = (struct local *)engine,
                        .request = request,
                        .arena = arena,
                        .failure = failure,
                        .reply = out,
                        .low = buf_in(memory[0], PAGE_KEY_ROOM),
                        .high = buf_in(memory[1], PAGE_KEY_ROOM)};
    *out = (struct page_reply){0};
    arena_init(&page.scratch);
    enum status status = read_page(&page);
    if (status == OK)
        set_usage(&page);
    let_go(&page);
    arena_release(&page.scratch);
    buf_release(&page.low);
    buf_release(&page.high);
    return status;
}

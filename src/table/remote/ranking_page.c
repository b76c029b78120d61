/* Pages of the index `ranks`: windows of a board by rank, score or place. */
#include "base/limits.h"
#include "table/remote/ranking_int.h"
#include "table/rules.h"

struct ranks_page {
    struct remote_ranking *ranking;
    const struct page_request *request;
    struct page_reply *out;
    struct scope in;
    struct ranking_range range;
    uint64_t skip; /* still to be left out where the page begins */
    size_t room;   /* of out->items */
    size_t size;   /* of what was read */
    bool full;
    struct arena slice; /* of pages that are shown and not kept */
};

static struct rank_range range_of(const struct ranks_page *page, uint32_t limit) {
    const struct page_request *request = page->request;
    return (struct rank_range){.partition = page->range.partition,
                               .low = page->range.low,
                               .high = page->range.high,
                               .skip = page->skip,
                               .skip_end = request->skip_end,
                               .limit = limit,
                               .backward = request->backward};
}

/* Where a slice is read to. */
static struct arena *slice_arena(struct ranks_page *page) {
    return page->request->visit != NULL ? &page->slice : page->in.arena;
}

static enum status read_range(struct ranks_page *page, struct rank_range *range) {
    struct remote_ranking *ranking = page->ranking;
    struct scope in = {slice_arena(page), page->in.failure};
    enum status status = rank_store_range(&ranking->store, range, in);
    if (status == BEING_BUILT) {
        ranking_builder_await(ranking->builder, range->partition);
        status = rank_store_range(&ranking->store, range, in);
    }
    if (status == IO_FAILED || status == BUSY) {
        struct bytes why = page->in.failure->text;
        return failure_set(page->in.failure, page->in.arena, BEING_BUILT,
                           "Ranks are not known at the moment (%.*s): ask again soon",
                           BYTES_ARG(why));
    }
    return status;
}

static void keep(struct ranks_page *page, const struct item *item) {
    struct page_reply *out = page->out;
    const struct projection *projection = page->request->projection;
    if (out->count == page->room) {
        size_t more = page->room == 0 ? 32 : page->room * 2;
        out->items = arena_grow(page->in.arena, out->items, page->room * sizeof(*out->items),
                                more * sizeof(*out->items));
        page->room = more;
    }
    out->items[out->count] =
        projection == NULL ? *item : projection_apply(projection, item, page->in.arena);
}

static void take_item(struct ranks_page *page, const struct item *item) {
    const struct page_request *request = page->request;
    struct page_reply *out = page->out;
    out->scanned++;
    if (!request->whole)
        page->size += item_size(item);
    if (request->filter == NULL || condition_holds(request->filter, item, slice_arena(page))) {
        if (request->visit != NULL)
            request->visit(request->user, item);
        else if (request->select != SELECT_COUNT)
            keep(page, item);
        out->count++;
    }
    page->full =
        page->size >= LIMIT_PAGE_SIZE || (request->limit != 0 && out->scanned == request->limit);
    if (page->full) {
        out->more = true;
        out->last_key = item_copy(page->in.arena, item);
    }
}

static enum status take_keys(struct ranks_page *page, const struct rank_range *range) {
    for (size_t i = 0; i < range->count && !page->full; i++) {
        struct item item;
        if (ranking_entry_of(range->partition, range->keys[i], slice_arena(page), &item) != OK)
            return failure_set(page->in.failure, page->in.arena, DAMAGED,
                               "An entry of the ranking is damaged");
        take_item(page, &item);
    }
    return OK;
}

/* Reads slice after slice; each goes on after the last entry of the one before. */
static enum status take_slices(struct ranks_page *page) {
    const struct page_request *request = page->request;
    enum status status = OK;
    for (bool last = false; !last && !page->full && status == OK;) {
        uint64_t left = request->limit != 0 ? request->limit - page->out->scanned : UINT64_MAX;
        struct rank_range range =
            range_of(page, left < LIMIT_RANK_SLICE ? (uint32_t)left : LIMIT_RANK_SLICE);
        status = read_range(page, &range);
        if (status != OK)
            break;
        status = take_keys(page, &range);
        last = range.count < range.limit || range.total == range.count;
        page->skip = 0;
        if (range.count != 0 && !last)
            ranking_range_after(&page->range,
                                arena_copy(page->in.arena, range.keys[range.count - 1]),
                                request->backward, page->in.arena);
        arena_reset(&page->slice);
    }
    return status;
}

static bool is_plain_count(const struct page_request *request) {
    return request->select == SELECT_COUNT && request->filter == NULL && request->limit == 0 &&
           request->visit == NULL && !request->strict_paging;
}

static enum status count_only(struct ranks_page *page) {
    struct rank_range range = range_of(page, 0);
    range.count_only = true;
    enum status status = read_range(page, &range);
    page->out->count = page->out->scanned = range.total;
    return status;
}

static void set_usage(const struct ranks_page *page) {
    struct index_usage *usage = ARENA_NEW(page->in.arena, struct index_usage);
    *usage = (struct index_usage){.name = ranking_index.name,
                                  .units = rules_read_units(page->size, false)};
    page->out->usage = (struct usage){.indexes = usage, .index_count = 1};
}

enum status remote_ranking_page(struct remote_ranking *ranking, const struct page_request *request,
                                struct scope in, struct page_reply *out) {
    struct ranks_page page = {
        .ranking = ranking, .request = request, .out = out, .in = in, .skip = request->skip};
    arena_init(&page.slice);
    *out = (struct page_reply){0};
    enum status status = ranking_range_of(request, in, &page.range);
    if (status == OK && !page.range.empty)
        status = is_plain_count(request) ? count_only(&page) : take_slices(&page);
    if (status == OK && !request->whole)
        set_usage(&page);
    if (status != OK) /* the sentence may be in the slice */
        in.failure->text = arena_copy(in.arena, in.failure->text);
    arena_release(&page.slice);
    return status;
}

/* Pages through an index. The tree is looked at only while moment is held: the entries that the
 * page may need are copied out, and the view of the same moment is taken with them. Then their
 * items are read at that view, without any lock, from the cache or the store. */
#include "table/local/page.h"

/* The least bytes an entry's item can have beyond the entry's own: the names of its keys. */
static size_t names_size(const struct page *page) {
    const struct key_schema *keys = &page->index->schema->keys;
    size_t size = 0;
    for (unsigned i = 0; i < key_schema_count(keys); i++)
        size += keys->parts[i].name.size;
    return size;
}

/* Which entries stand from low to high and are not skipped, by rank: [from, to). */
struct span {
    uint64_t from, to;
};

static struct span span_of(const struct page *page) {
    const struct page_request *request = page->request;
    const struct tree *tree = page->index->tree;
    struct span span = {.from = tree_rank(tree, buf_bytes(&page->low))};
    span.to = page->high.size == 0 ? tree_count(tree) : tree_rank(tree, buf_bytes(&page->high));
    uint64_t count = span.to > span.from ? span.to - span.from : 0;
    if (count <= request->skip || count - request->skip <= request->skip_end)
        return (struct span){0};
    span.from += request->backward ? request->skip_end : request->skip;
    span.to -= request->backward ? request->skip : request->skip_end;
    return span;
}

/* Stands on the page's first entry; *count is how many there can be at most. */
static bool first_entry(const struct page *page, struct tree_cursor *cursor, uint64_t *count) {
    const struct page_request *request = page->request;
    const struct tree *tree = page->index->tree;
    *count = request->limit == 0 ? UINT64_MAX : request->limit;
    if (request->skip != 0 || request->skip_end != 0) {
        struct span span = span_of(page);
        uint64_t all = span.to - span.from;
        if (all < *count)
            *count = all;
        return all != 0 &&
               tree_seek_rank(cursor, tree, request->backward ? span.to - 1 : span.from);
    }
    if (!request->backward)
        return tree_seek(cursor, tree, buf_bytes(&page->low));
    return page->high.size == 0 ? tree_seek_last(cursor, tree)
                                : tree_seek_before(cursor, tree, buf_bytes(&page->high));
}

static bool within(const struct page *page, struct bytes entry) {
    if (page->request->backward)
        return bytes_compare(entry, buf_bytes(&page->low)) >= 0;
    return page->high.size == 0 || bytes_compare(entry, buf_bytes(&page->high)) < 0;
}

static void add_entry(struct page *page, struct page_entries *out, size_t *room,
                      struct bytes entry) {
    if (out->count == *room) {
        size_t more = *room == 0 ? 32 : *room * 2;
        out->entries = arena_grow(page->arena, out->entries, *room * sizeof(struct bytes),
                                  more * sizeof(struct bytes));
        *room = more;
    }
    out->entries[out->count++] = arena_copy(page->arena, entry);
}

void page_copy_entries(struct page *page, struct page_entries *out) {
    size_t names = names_size(page), size = 0, room = 0;
    uint64_t count;
    uint8_t memory[PAGE_KEY_ROOM];
    struct tree_cursor cursor = {.key = buf_in(memory, sizeof(memory))};
    *out = (struct page_entries){0};
    for (bool more = first_entry(page, &cursor, &count); more;
         more = page->request->backward ? tree_prev(&cursor) : tree_next(&cursor)) {
        struct bytes entry = tree_key(&cursor);
        if (out->count == count || !within(page, entry))
            break;
        if (size >= LIMIT_PAGE_SIZE && !page->request->whole) {
            out->cut = true;
            break;
        }
        add_entry(page, out, &room, entry);
        size += entry.size + names;
    }
    tree_cursor_release(&cursor);
}

uint64_t page_count_entries(const struct page *page) {
    struct span span = span_of(page);
    return span.to - span.from;
}

/* The item an entry points at. An entry without its item is damage. */
static enum status read_item(struct page *page, struct bytes entry, struct buf *key,
                             struct item *out) {
    struct bytes stored;
    buf_clear(key);
    enum status status = keys_entry_to_item(key, page->table, page->schema, page->index, entry);
    if (status == OK)
        status = local_read(page->local, page->view, buf_bytes(key), page_arena(page), &stored);
    if (status == OK)
        status = item_decode(stored, page->local->names, page_arena(page), out);
    return status == NOT_FOUND ? DAMAGED : status;
}

static enum status take_entry(struct page *page, struct bytes entry,
                              const struct entry_shape *shape, struct buf *key, bool last,
                              bool *full) {
    struct item whole, shown;
    enum status status;
    if (page_entries_tell(page)) {
        status = keys_entry_decode(shape, entry, page_arena(page), &shown);
        whole = shown;
    } else {
        status = read_item(page, entry, key, &whole);
        if (status == OK)
            shown = rules_project(page->schema, page->index->schema, &whole, page_arena(page));
    }
    if (status != OK)
        return status;
    if (page->fetch)
        page->fetched += rules_read_units(item_size(&whole), page->request->consistent);
    *full = page_take(page, &shown, page->fetch ? &whole : &shown);
    if (!*full && last)
        page_stop(page, &shown);
    return OK;
}

enum status page_read_index(struct page *page, const struct page_entries *entries) {
    struct buf key = {0};
    struct entry_shape shape;
    enum status status = OK;
    bool full = false;
    if (page_entries_tell(page))
        keys_shape(&shape, page->index, page->arena);
    for (size_t i = 0; i < entries->count && status == OK && !full; i++) {
        bool last = entries->cut && i + 1 == entries->count;
        status = take_entry(page, entries->entries[i], &shape, &key, last, &full);
    }
    buf_release(&key);
    return status;
}

/* Pages through an index. The tree is looked at only while state_lock is held: the entries that the
 * page may need are copied out, and the current snapshot is taken with them. Then their items are
 * read at that snapshot, without any lock, from the cache or the store. */
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

/* Whether the page is of so many entries that they are copied in slices. Those that need items as
 * well are not: who holds a snapshot must not wait for state_lock. */
static bool begin_walk(struct page *page, struct page_entries *out) {
    const struct page_request *request = page->request;
    if (!request->whole || !page_entries_suffice(page) ||
        (request->limit != 0 && request->limit <= LIMIT_WALK_SLICE))
        return false;
    struct span span = span_of(page);
    uint64_t count = span.to - span.from;
    if (request->limit != 0 && request->limit < count)
        count = request->limit;
    if (count <= LIMIT_WALK_SLICE)
        return false;
    struct index_walk_range range = {span.from, span.from + count, request->backward};
    if (request->backward)
        range.from = span.to - count, range.to = span.to;
    out->walk = index_walk_begin(page->local, page->index, &range);
    return true;
}

void page_copy_entries(struct page *page, struct page_entries *out) {
    size_t names = names_size(page), size = 0, room = 0;
    uint64_t count;
    uint8_t memory[PAGE_KEY_ROOM];
    struct tree_cursor cursor = {.key = buf_in(memory, sizeof(memory))};
    *out = (struct page_entries){0};
    if (begin_walk(page, out))
        return;
    for (bool more = first_entry(page, &cursor, &count); more;
         more = page->request->backward ? tree_prev(&cursor) : tree_next(&cursor)) {
        struct bytes entry = tree_key(&cursor);
        if (out->count == count || !within(page, entry))
            break;
        if (size >= LIMIT_PAGE_SIZE && !page->request->whole) {
            out->truncated = true;
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

/* The items of an index's entries, while they are read one after the other. */
struct entry_reader {
    struct page *page;
    struct buf key;           /* in the store, of the item that is being read */
    size_t head;              /* bytes of the partition that all entries begin with; 0: not known */
    struct entry_shape shape; /* set if the entries say all that is asked for */
};

/* Reads the item that an entry points at, as it is stored. An entry without its item is damage. */
static enum status read_stored(struct entry_reader *reader, struct bytes entry, struct bytes *out) {
    struct page *page = reader->page;
    struct buf *key = &reader->key;
    struct key_order order = page_order(page);
    buf_clear(key);
    enum status status = keys_entry_to_item(key, &order, entry);
    if (status == OK)
        status =
            snapshot_read(page->snapshot, hashed_key_of(buf_bytes(key)), page_arena(page), out);
    return status == NOT_FOUND ? DAMAGED : status;
}

static enum status read_item(struct entry_reader *reader, struct bytes entry, struct item *out) {
    struct page *page = reader->page;
    struct bytes stored;
    enum status status = read_stored(reader, entry, &stored);
    return status == OK ? item_decode(stored, page->local->names, page_arena(page), out) : status;
}

static enum status pass_entry(struct entry_reader *reader, struct bytes entry, bool last,
                              bool *full) {
    struct bytes stored;
    enum status status = read_stored(reader, entry, &stored);
    return status == OK ? page_pass(reader->page, stored, last, full) : status;
}

/* Shows the keys that an entry is made of, after those of its partition. */
static enum status show_keys(struct entry_reader *reader, struct bytes entry, bool *full) {
    struct page *page = reader->page;
    const struct entry_shape *shape = &page->index->shape;
    struct bytes keys[ENTRY_PARTS_MAX];
    enum status status = OK;
    if (reader->head == 0)
        reader->head = keys_entry_span(page->index, entry, 0);
    struct bytes rest = bytes_skip(entry, reader->head);
    for (unsigned i = shape->partition_count; i < shape->count && status == OK; i++)
        status = key_take_bytes(&rest, shape->parts[i].type, &page->scratch,
                                &keys[i - shape->partition_count]);
    if (status != OK || reader->head == 0 || rest.size != 0)
        return DAMAGED;
    page->request->visit_keys(page->request->user, keys);
    arena_reset(&page->scratch);
    page->reply->count++;
    *full = ++page->reply->scanned == page->request->limit;
    page->reply->more = *full;
    return OK;
}

/* Adds the entry's item to the page. The page ends with it if it is the last, or *full. */
static enum status take_entry(struct entry_reader *reader, struct bytes entry, bool last,
                              bool *full) {
    struct page *page = reader->page;
    struct item whole, shown;
    enum status status;
    if (page_shows_keys(page))
        return show_keys(reader, entry, full);
    if (page_passes(page))
        return pass_entry(reader, entry, last, full);
    if (page_entries_suffice(page)) {
        status = keys_entry_decode(&reader->shape, entry, page_arena(page), &shown);
        whole = shown;
    } else {
        status = read_item(reader, entry, &whole);
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

/* The entries of a page that is read in slices. */
static enum status take_walked(struct entry_reader *reader, struct index_walk *walk) {
    struct page *page = reader->page;
    struct bytes entry;
    bool done = false, full = false;
    enum status status = OK;
    while (status == OK && !done)
        status = index_walk_step(walk, &done);
    if (status != OK)
        return failure_set(page->failure, page->arena, status,
                           "The index was changed while it was read. Try again soon.");
    while (status == OK && !full && index_walk_next(walk, &entry)) {
        /* Items refer to the entry's bytes, which go away with the walk. */
        if (page_arena(page) == page->arena)
            entry = arena_copy(page->arena, entry);
        status = take_entry(reader, entry, false, &full);
        if (status == OK && !full)
            status = page_check_brief(page);
    }
    return status;
}

enum status page_read_index(struct page *page, const struct page_entries *entries) {
    struct entry_reader reader;
    enum status status = OK;
    bool full = false;
    reader.page = page; /* the shape is large, and seldom used: it is not cleared */
    reader.key = (struct buf){0};
    reader.head = 0;
    if (page_entries_suffice(page) && !page_shows_keys(page))
        keys_shape(&reader.shape, page->index, page->arena);
    for (size_t i = 0; i < entries->count && status == OK && !full; i++) {
        bool last = entries->truncated && i + 1 == entries->count;
        status = take_entry(&reader, entries->entries[i], last, &full);
        if (status == OK && !full)
            status = page_check_brief(page);
    }
    if (entries->walk != NULL)
        status = take_walked(&reader, entries->walk);
    buf_release(&reader.key);
    return status;
}

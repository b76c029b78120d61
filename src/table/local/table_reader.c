#include "table/local/table_reader.h"

#include "base/mem.h"
#include "table/local/local_int.h"

struct reader {
    struct table_reader base; /* first: the interface's handle */
    struct local local;       /* as much of an engine as reading needs */
    struct arena arena;       /* what `about` points at */
    const struct table *table;
    struct buf low, high;
    struct store_iter *iter;
    bool begun;
    void (*closed)(void *context);
    void *context;
};

/* The item's bytes are copied: what is decoded points into them. */
static enum status reader_next(struct table_reader *base, struct arena *arena, struct item *out) {
    struct reader *reader = (struct reader *)base;
    bool more = reader->begun ? store_iter_next(reader->iter) : store_iter_first(reader->iter);
    reader->begun = true;
    if (!more) {
        enum status status = store_iter_status(reader->iter);
        return status == OK ? NOT_FOUND : status;
    }
    struct bytes stored = arena_copy(arena, store_iter_value(reader->iter));
    return item_decode(stored, reader->local.names, arena, out);
}

static void reader_restart(struct table_reader *base) {
    ((struct reader *)base)->begun = false;
}

static void reader_free(struct reader *reader) {
    if (reader->iter != NULL)
        store_iter_close(reader->iter);
    catalogue_clear(&reader->local);
    names_free(reader->local.names);
    store_close(reader->local.store);
    buf_release(&reader->low);
    buf_release(&reader->high);
    arena_release(&reader->arena);
    mem_free(reader);
}

static void reader_close(struct table_reader *base) {
    struct reader *reader = (struct reader *)base;
    void (*closed)(void *) = reader->closed;
    void *context = reader->context;
    reader_free(reader);
    if (closed != NULL)
        closed(context);
}

static enum status find_table(struct reader *reader, struct bytes name, struct scope in) {
    reader->table = map_get(&reader->local.tables, name);
    if (reader->table == NULL)
        return failure_set(in.failure, in.arena, NO_TABLE, "Table not found: %.*s",
                           BYTES_ARG(name));
    if (reader->table->loading)
        return failure_set(in.failure, in.arena, TABLE_IN_USE, "Table is being created: %.*s",
                           BYTES_ARG(name));
    struct table_description *about = &reader->base.about;
    table_describe(reader->table, &reader->arena, about);
    about->indexes = NULL;
    return OK;
}

static void open_iter(struct reader *reader) {
    keys_put_segment(&reader->low, &reader->high, &(struct key_order){.table = reader->table},
                     (struct scan_segment){0});
    struct store_range range = {.family = STORE_ITEMS,
                                .low = buf_bytes(&reader->low),
                                .high = buf_bytes(&reader->high),
                                .bulk = true};
    reader->iter = store_iter_open(reader->local.store, &range);
}

enum status reader_open(const struct reader_source *source, struct scope in,
                        struct table_reader **out) {
    struct reader *reader = mem_zalloc(sizeof(*reader));
    struct store_settings store = {.path = source->path, .must_exist = true, .read_only = true};
    reader->base = (struct table_reader){
        .next = reader_next, .restart = reader_restart, .close = reader_close};
    reader->local.names = names_new();
    reader->local.next_table_id = 1;
    arena_init(&reader->arena);
    enum status status = store_open(&store, in, &reader->local.store);
    if (status == OK)
        status = catalogue_load_tables(&reader->local, in);
    if (status == OK)
        status = find_table(reader, source->table, in);
    if (status != OK) {
        reader_free(reader);
        return status;
    }
    open_iter(reader);
    reader->closed = source->closed;
    reader->context = source->context;
    *out = &reader->base;
    return OK;
}

enum status local_read_folder(const char *path, struct bytes table, struct scope in,
                              struct table_reader **out) {
    struct reader_source source = {.path = path, .table = table};
    return reader_open(&source, in, out);
}

/* Checking a data folder that no server has open.
 *
 * One walk over all items in the store's order: each belongs to a table of the catalogue, decodes,
 * and stands where its own keys say. Then the counts, and each index is built as a start would.
 * Another walk over the streams: each record belongs to a stream and decodes. And all that the
 * store's log holds. */
#include "table/local/local_int.h"

enum { PROGRESS_EVERY = 10000, SHOWN_KEY_BYTES = 48 };

struct verify {
    const struct verify_settings *settings;
    struct verify_report *report;
    struct local local; /* as much of an engine as reading needs */
    struct arena *arena;
    struct arena scratch; /* emptied after each item */
    struct buf key;
    uint64_t total;

    /* the table the walk is in; NULL in one that the catalogue does not know */
    struct table *table;
    uint32_t table_id;
    bool in_table;
    uint64_t item_count, size, table_faults;
};

static void report_fault(struct verify *verify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void report_fault(struct verify *verify, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct bytes sentence = arena_vprintf(&verify->scratch, format, args);
    va_end(args);
    verify->report->faults++;
    verify->table_faults++;
    if (verify->settings->found != NULL)
        verify->settings->found(sentence, verify->settings->context);
}

static void progress(struct verify *verify) {
    if (verify->settings->progress != NULL)
        verify->settings->progress(verify->report->items, verify->total, verify->settings->context);
}

static struct bytes hex(struct verify *verify, struct bytes key) {
    struct buf text = {0};
    for (size_t i = 0; i < key.size && i < SHOWN_KEY_BYTES; i++)
        buf_printf(&text, "%02x", key.data[i]);
    if (key.size > SHOWN_KEY_BYTES)
        buf_lit(&text, "...");
    struct bytes copy = arena_copy(&verify->scratch, buf_bytes(&text));
    buf_release(&text);
    return copy;
}

static struct bytes table_name(const struct table *table) {
    const struct table_schema *schema = table->schema;
    return schema->name;
}

/* --- one item --- */

static bool has_keys(const struct table_schema *schema, const struct item *item) {
    for (unsigned i = 0; i < key_schema_count(&schema->keys); i++) {
        const struct value *value = item_get(item, schema->keys.parts[i].name);
        if (value == NULL || value->type != schema->keys.parts[i].type)
            return false;
    }
    return true;
}

static void check_item(struct verify *verify, struct bytes key, struct bytes stored) {
    const struct table_schema *schema = verify->table->schema;
    struct item item;
    verify->item_count++;
    if (item_decode(stored, verify->local.names, &verify->scratch, &item) != OK) {
        report_fault(verify, "Table %.*s: the item at %.*s cannot be decoded.",
                     BYTES_ARG(schema->name), BYTES_ARG(hex(verify, key)));
        return;
    }
    verify->size += item_size(&item);
    buf_clear(&verify->key);
    if (has_keys(schema, &item))
        keys_put_item(&verify->key, verify->table, schema, &item);
    if (!bytes_equal(buf_bytes(&verify->key), key))
        report_fault(verify, "Table %.*s: the item at %.*s has other keys than its place says.",
                     BYTES_ARG(schema->name), BYTES_ARG(hex(verify, key)));
}

/* --- one table --- */

static void check_counts(struct verify *verify, const struct table *table, uint64_t count,
                         uint64_t size) {
    struct bytes name = table_name(table);
    if (count != table->item_count)
        report_fault(verify, "Table %.*s has %llu items, but its record says %llu.",
                     BYTES_ARG(name), (unsigned long long)count,
                     (unsigned long long)table->item_count);
    else if (size != table->size)
        report_fault(verify, "Table %.*s has %llu bytes of items, but its record says %llu.",
                     BYTES_ARG(name), (unsigned long long)size, (unsigned long long)table->size);
}

static void check_indexes(struct verify *verify, struct table *table) {
    struct failure failure = {0};
    struct store_snapshot *snapshot = store_snapshot_take(verify->local.store);
    struct index_build build = {.local = &verify->local,
                                .table = table,
                                .schema = table->schema,
                                .snapshot = snapshot,
                                .indexes = table->indexes,
                                .index_count = table->index_count};
    enum status status = index_build_run(&build, (struct scope){&verify->scratch, &failure});
    store_snapshot_release(verify->local.store, snapshot);
    if (status != OK)
        report_fault(verify, "Table %.*s: its indexes cannot be built: %.*s.",
                     BYTES_ARG(table_name(table)), BYTES_ARG(failure.text));
    for (unsigned i = 0; i < table->index_count; i++) {
        if (table->indexes[i]->tree == NULL)
            continue;
        verify->report->indexes++;
        verify->report->index_entries += tree_count(table->indexes[i]->tree);
        index_empty(table->indexes[i]);
    }
}

/* What the walk has seen of a table is compared when it leaves it. */
static void leave_table(struct verify *verify) {
    if (!verify->in_table)
        return;
    verify->in_table = false;
    if (verify->table == NULL) {
        report_fault(verify,
                     "There are items of a table that the catalogue does not know (number %u).",
                     verify->table_id);
        return;
    }
    check_counts(verify, verify->table, verify->item_count, verify->size);
    atomic_store(&verify->table->gone, true); /* seen: those that are not have no items */
    if (verify->table_faults == 0 && verify->table->index_count != 0)
        check_indexes(verify, verify->table);
    arena_reset(&verify->scratch);
}

static void enter_table(struct verify *verify, uint32_t id) {
    size_t at = 0;
    leave_table(verify);
    verify->table = NULL;
    for (struct map_slot *slot; (slot = map_next(&verify->local.tables, &at)) != NULL;)
        if (((struct table *)slot->value)->id == id)
            verify->table = slot->value;
    verify->table_id = id;
    verify->in_table = true;
    verify->item_count = verify->size = verify->table_faults = 0;
}

/* --- streams --- */

static const struct stream *find_stream(const struct verify *verify, uint32_t table,
                                        int64_t label_ms) {
    const struct streams *streams = &verify->local.streams;
    for (size_t i = 0; i < streams->count; i++)
        if (streams->at[i]->table == table && streams->at[i]->info.label_ms == label_ms)
            return streams->at[i];
    return NULL;
}

/* A stored bundle of records. */
struct stored_bundle {
    const struct stream *stream;
    struct bytes key;
};

static void check_record(struct verify *verify, const struct stored_bundle *bundle,
                         uint64_t sequence, struct bytes stored) {
    const struct stream *stream = bundle->stream;
    struct record_reader reader = {&stream->info.keys, verify->local.names, &verify->scratch};
    struct stream_record record = {0};
    if (stream_record_read(stored, &reader, &record) != OK)
        report_fault(verify, "Table %.*s: the stream's record %llu at %.*s cannot be decoded.",
                     BYTES_ARG(stream->info.table), (unsigned long long)sequence,
                     BYTES_ARG(hex(verify, bundle->key)));
    else if (sequence >= verify->local.streams.next)
        report_fault(verify,
                     "Table %.*s: the stream's record %llu at %.*s has a number not yet given.",
                     BYTES_ARG(stream->info.table), (unsigned long long)sequence,
                     BYTES_ARG(hex(verify, bundle->key)));
    verify->report->stream_records++;
    arena_reset(&verify->scratch);
}

static void check_bundle(struct verify *verify, const struct stored_bundle *bundle, uint64_t last,
                         struct bytes stored) {
    struct bundle_iter from = bundle_read(stored, last);
    struct bytes record;
    uint64_t sequence;
    enum status status;
    while ((status = bundle_next(&from, &sequence, &record)) == OK)
        check_record(verify, bundle, sequence, record);
    if (status == DAMAGED)
        report_fault(verify, "Table %.*s: the stream's records at %.*s cannot be told apart.",
                     BYTES_ARG(bundle->stream->info.table), BYTES_ARG(hex(verify, bundle->key)));
}

/* Reads the records from the log. In a folder that is a copy they may be gone: then they count as
 * trimmed. */
static void check_logged(struct verify *verify, const struct stored_bundle *bundle, uint64_t last,
                         struct store_iter *iter) {
    struct bytes stored;
    enum status status = store_iter_load(iter, &stored);
    if (status == OK)
        check_bundle(verify, bundle, last, stored);
    else if (status != NOT_FOUND)
        report_fault(verify, "Table %.*s: the stream's records at %.*s cannot be read (%s).",
                     BYTES_ARG(bundle->stream->info.table), BYTES_ARG(hex(verify, bundle->key)),
                     status_name(status));
}

/* Tells of an iterator that did not come to its end: which file, and where in it. */
static void report_end(struct verify *verify, const char *what, const struct store_iter *iter) {
    if (store_iter_status(iter) != OK)
        report_fault(verify, "The %s cannot be read to the end (%s): %.*s.", what,
                     status_name(store_iter_status(iter)),
                     BYTES_ARG(store_iter_why(iter, &verify->scratch)));
}

/* `stream` is that of what stands before, which is usually this one's too. */
static const struct stream *check_stored(struct verify *verify, struct store_iter *iter,
                                         const struct stream *stream) {
    struct stream_position last;
    struct bytes key = store_iter_key(iter);
    if (!stream_key_read(key, &last)) {
        report_fault(verify, "There is a stream's record with a key that is no key.");
        return stream;
    }
    if (stream == NULL || stream->table != last.table || stream->info.label_ms != last.label_ms)
        stream = find_stream(verify, last.table, last.label_ms);
    if (stream == NULL)
        report_fault(verify, "The record at %.*s is of a stream that the catalogue does not know.",
                     BYTES_ARG(hex(verify, key)));
    else
        check_logged(verify, &(struct stored_bundle){stream, key}, last.sequence, iter);
    return stream;
}

static void check_streams(struct verify *verify) {
    struct store_range range = {.family = STORE_STREAM, .bulk = true};
    struct store_iter *iter = store_iter_open(verify->local.store, &range);
    const struct stream *stream = NULL;
    for (bool more = store_iter_first(iter); more; more = store_iter_next(iter))
        stream = check_stored(verify, iter, stream);
    report_end(verify, "streams", iter);
    store_iter_close(iter);
}

/* --- everything --- */

static enum status check_items(struct verify *verify) {
    struct store_range range = {.family = STORE_ITEMS, .bulk = true};
    struct store_iter *iter = store_iter_open(verify->local.store, &range);
    for (bool more = store_iter_first(iter); more; more = store_iter_next(iter)) {
        struct bytes key = store_iter_key(iter), rest = key;
        uint32_t id = 0;
        if (!take_u32(&rest, &id))
            report_fault(verify, "There is an item with a key that is no key.");
        if (!verify->in_table || id != verify->table_id)
            enter_table(verify, id);
        if (verify->table != NULL)
            check_item(verify, key, store_iter_value(iter));
        if (++verify->report->items % PROGRESS_EVERY == 0)
            progress(verify);
        arena_reset(&verify->scratch);
    }
    enum status status = store_iter_status(iter);
    report_end(verify, "items", iter);
    store_iter_close(iter);
    leave_table(verify);
    return status;
}

static void check_empty_tables(struct verify *verify) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&verify->local.tables, &at)) != NULL;) {
        const struct table *table = slot->value;
        if (!atomic_load(&table->gone))
            check_counts(verify, table, 0, 0);
        if (!atomic_load(&table->gone))
            verify->report->indexes += table->index_count;
    }
}

static void report_log_fault(void *user, struct bytes sentence) {
    report_fault(user, "%.*s", BYTES_ARG(sentence));
}

static void check_log(struct verify *verify) {
    struct failure failure = {0};
    struct store_verify log = {.fault = report_log_fault, .user = verify};
    store_verify(verify->local.store, &log, (struct scope){verify->arena, &failure});
}

static void check_folder(struct verify *verify) {
    struct failure failure = {0};
    size_t at = 0;
    check_log(verify);
    enum status status = catalogue_load(&verify->local, (struct scope){verify->arena, &failure});
    if (status != OK) {
        report_fault(verify, "%.*s", BYTES_ARG(failure.text));
        return;
    }
    verify->report->tables = verify->local.tables.count;
    for (struct map_slot *slot; (slot = map_next(&verify->local.tables, &at)) != NULL;)
        verify->total += ((struct table *)slot->value)->item_count;
    progress(verify);
    if (check_items(verify) == OK)
        check_empty_tables(verify);
    check_streams(verify);
    progress(verify);
}

enum status local_verify(const struct verify_settings *settings, struct scope in,
                         struct verify_report *out) {
    struct verify verify = {.settings = settings, .report = out, .arena = in.arena};
    struct store_settings store = {.path = settings->path, .must_exist = true, .read_only = true};
    *out = (struct verify_report){0};
    enum status status = store_open(&store, in, &verify.local.store);
    if (status != OK)
        return status;
    verify.local.names = names_new();
    verify.local.tokens = tokens_new();
    verify.local.next_table_id = 1;
    arena_init(&verify.scratch);
    check_folder(&verify);
    catalogue_clear(&verify.local);
    names_free(verify.local.names);
    tokens_free(verify.local.tokens);
    store_close(verify.local.store);
    arena_release(&verify.scratch);
    buf_release(&verify.key);
    return OK;
}

/* The catalogue: which tables there are, as records in the store's meta family (the keys are in
 * local_int.h). A table's record:
 *
 *   format:byte   id (counted)   created_ms billing_changed_ms capacity_raised_ms
 *   capacity_lowered_ms capacity_lowered_today stream_since_ms (varints)   schema (counted)
 *
 * A record of counts: items:varint size:varint. */
#include "table/local/writer.h"

enum { TABLE_FORMAT = 1 };

/* --- keys --- */

static struct bytes id_key(uint8_t kind, uint32_t id, uint8_t *room) {
    room[0] = kind;
    for (unsigned i = 0; i < 4; i++)
        room[1 + i] = (uint8_t)(id >> (24 - 8 * i));
    return bytes_of(room, 5);
}

static struct bytes name_key(int code, uint8_t *room) {
    room[0] = 'n';
    room[1] = (uint8_t)(code >> 8);
    room[2] = (uint8_t)code;
    return bytes_of(room, 3);
}

/* --- writing --- */

void catalogue_put_table(struct store_batch *batch, const struct table *table,
                         const struct table_schema *schema, const struct table_description *about) {
    struct buf record = {0}, encoded = {0};
    uint8_t key[5];
    buf_byte(&record, TABLE_FORMAT);
    buf_counted(&record, about->id);
    buf_varint(&record, (uint64_t)about->created_ms);
    buf_varint(&record, (uint64_t)about->billing_changed_ms);
    buf_varint(&record, (uint64_t)about->capacity_raised_ms);
    buf_varint(&record, (uint64_t)about->capacity_lowered_ms);
    buf_varint(&record, about->capacity_lowered_today);
    buf_varint(&record, (uint64_t)about->stream_since_ms);
    table_schema_encode(schema, &encoded);
    buf_counted(&record, buf_bytes(&encoded));
    store_put(batch, STORE_META, id_key('t', table->id, key), buf_bytes(&record));
    buf_release(&encoded);
    buf_release(&record);
}

void catalogue_put_counts(struct store_batch *batch, const struct table *table, uint64_t count,
                          uint64_t size) {
    struct buf record = {0};
    uint8_t key[5];
    buf_varint(&record, count);
    buf_varint(&record, size);
    store_put(batch, STORE_META, id_key('c', table->id, key), buf_bytes(&record));
    buf_release(&record);
}

void catalogue_del_table(struct store_batch *batch, const struct table *table) {
    uint8_t key[5], low[5], high[5];
    store_del(batch, STORE_META, id_key('t', table->id, key));
    store_del(batch, STORE_META, id_key('c', table->id, key));
    store_del(batch, STORE_META, id_key('l', table->id, key));
    store_del_range(batch, STORE_ITEMS, bytes_skip(id_key(0, table->id, low), 1),
                    bytes_skip(id_key(0, table->id + 1, high), 1));
}

void catalogue_put_loading(struct store_batch *batch, const struct table *table, bool loading) {
    uint8_t key[5];
    if (loading)
        store_put(batch, STORE_META, id_key('l', table->id, key), (struct bytes){0});
    else
        store_del(batch, STORE_META, id_key('l', table->id, key));
}

void catalogue_put_next_id(struct store_batch *batch, uint32_t next) {
    uint8_t value[5];
    store_put(batch, STORE_META, BYTES("i"), bytes_skip(id_key(0, next, value), 1));
}

void catalogue_put_names(struct store_batch *batch, const struct local *local, int count) {
    for (int code = local->names_stored; code < count; code++) {
        uint8_t key[3];
        store_put(batch, STORE_META, name_key(code, key), names_get(local->names, code));
    }
}

/* --- loading --- */

struct loading {
    struct local *local;
    struct arena *arena;
    struct failure *failure;
};

static enum status damaged(const struct loading *loading, const char *what) {
    return failure_set(loading->failure, loading->arena, DAMAGED,
                       "The catalogue is damaged (%s). Restore the data folder from a backup.",
                       what);
}

static enum status load_name(const struct loading *loading, struct bytes key, struct bytes value) {
    struct local *local = loading->local;
    uint16_t code;
    key = bytes_skip(key, 1);
    if (!take_u16(&key, &code) || code != local->names_stored)
        return damaged(loading, "names are missing");
    /* A recovery finds those it knew before. */
    bool known = code < names_count(local->names);
    if (known ? !bytes_equal(names_get(local->names, code), value)
              : !names_restore(local->names, code, value))
        return damaged(loading, "a name cannot be read");
    local->names_stored = code + 1;
    return OK;
}

static bool take_ms(struct bytes *in, int64_t *out) {
    uint64_t number;
    if (!take_varint(in, &number))
        return false;
    *out = (int64_t)number;
    return true;
}

static bool take_about(struct bytes *in, struct table_description *about) {
    uint8_t format;
    uint64_t lowered_today;
    if (!take_u8(in, &format) || format != TABLE_FORMAT || !take_counted(in, &about->id) ||
        !take_ms(in, &about->created_ms) || !take_ms(in, &about->billing_changed_ms) ||
        !take_ms(in, &about->capacity_raised_ms) || !take_ms(in, &about->capacity_lowered_ms) ||
        !take_varint(in, &lowered_today) || !take_ms(in, &about->stream_since_ms))
        return false;
    about->capacity_lowered_today = (uint32_t)lowered_today;
    return true;
}

static enum status load_table(const struct loading *loading, struct bytes key, struct bytes value) {
    struct local *local = loading->local;
    struct table_description about = {.status = PART_ACTIVE};
    struct table_schema schema;
    struct bytes encoded;
    uint32_t id;
    key = bytes_skip(key, 1);
    if (!take_u32(&key, &id) || !take_about(&value, &about) || !take_counted(&value, &encoded) ||
        table_schema_decode(encoded, loading->arena, &schema) != OK ||
        schema.index_count > INDEXES_MAX || map_get(&local->tables, schema.name) != NULL)
        return damaged(loading, "a table's record cannot be read");
    struct table *table = table_new(id, &schema);
    table->reclaimer = local->reclaimer;
    table->about = about;
    table->about.id = arena_copy(&table->arena, about.id);
    const struct table_schema *kept = table->schema;
    map_put(&local->tables, kept->name, table);
    if (id >= local->next_table_id)
        local->next_table_id = id + 1;
    return OK;
}

static enum status load_next_id(const struct loading *loading, struct bytes key,
                                struct bytes value) {
    (void)key;
    uint32_t next;
    if (!take_u32(&value, &next))
        return damaged(loading, "the next table's number cannot be read");
    if (next > loading->local->next_table_id)
        loading->local->next_table_id = next;
    return OK;
}

static enum status load_token(const struct loading *loading, struct bytes key, struct bytes value) {
    if (tokens_load(loading->local->tokens, key, value) != OK)
        return damaged(loading, "a transaction's token cannot be read");
    return OK;
}

static enum status load_loading(const struct loading *loading, struct bytes key,
                                struct bytes value) {
    (void)value;
    size_t at = 0;
    uint32_t id = 0;
    key = bytes_skip(key, 1);
    if (!take_u32(&key, &id))
        return damaged(loading, "a table's mark cannot be read");
    for (struct map_slot *slot; (slot = map_next(&loading->local->tables, &at)) != NULL;) {
        struct table *table = slot->value;
        if (table->id != id)
            continue;
        table->loading = true;
        table->about.status = PART_CREATING;
    }
    return OK;
}

typedef enum status load_record(const struct loading *loading, struct bytes key,
                                struct bytes value);

/* Calls `load` for each record of the kind. */
static enum status load_all(const struct loading *loading, uint8_t kind, load_record *load) {
    uint8_t low = kind, high = (uint8_t)(kind + 1);
    struct store_range range = {
        .family = STORE_META, .low = bytes_of(&low, 1), .high = bytes_of(&high, 1)};
    struct store_iter *iter = store_iter_open(loading->local->store, &range);
    enum status status = OK;
    for (bool on = store_iter_first(iter); on && status == OK; on = store_iter_next(iter))
        status = load(loading, store_iter_key(iter), store_iter_value(iter));
    if (status == OK && store_iter_status(iter) != OK)
        status = failure_set(loading->failure, loading->arena, store_iter_status(iter),
                             "The catalogue cannot be read.");
    store_iter_close(iter);
    return status;
}

static enum status load_counts(const struct loading *loading) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&loading->local->tables, &at)) != NULL;) {
        struct table *table = slot->value;
        uint8_t key[5];
        struct bytes value;
        enum status status = store_get(loading->local->store,
                                       &(struct store_key){STORE_META, id_key('c', table->id, key)},
                                       loading->arena, &value);
        if (status == IO_FAILED)
            return failure_set(loading->failure, loading->arena, status,
                               "The catalogue cannot be read.");
        if (status != OK || !take_varint(&value, &table->item_count) ||
            !take_varint(&value, &table->size))
            return damaged(loading, "a table's counts cannot be read");
    }
    return OK;
}

enum status catalogue_load_tables(struct local *local, struct scope in) {
    struct loading loading = {local, in.arena, in.failure};
    local->names_stored = 0;
    enum status status = load_all(&loading, 'n', load_name);
    if (status == OK)
        status = load_all(&loading, 't', load_table);
    if (status == OK)
        status = load_all(&loading, 'l', load_loading);
    if (status == OK)
        status = load_counts(&loading);
    return status;
}

enum status catalogue_load(struct local *local, struct scope in) {
    struct loading loading = {local, in.arena, in.failure};
    enum status status = catalogue_load_tables(local, in);
    if (status == OK)
        status = load_all(&loading, 'i', load_next_id);
    if (status == OK) {
        tokens_clear(local->tokens);
        status = load_all(&loading, 'k', load_token);
    }
    if (status == OK)
        status = streams_load(local, in);
    return status;
}

static struct table *find_loading(const struct local *local) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;)
        if (((struct table *)slot->value)->loading)
            return slot->value;
    return NULL;
}

enum status catalogue_drop_loading(struct local *local, struct scope in) {
    enum status status = OK;
    for (struct table *table; status == OK && (table = find_loading(local)) != NULL;) {
        struct store_batch *batch = store_batch_new(local->store);
        catalogue_del_table(batch, table);
        struct stream_switch turn =
            stream_switch_plan(local, batch, &(struct schema_replacement){.table = table});
        status = store_write(local->store, batch, in);
        store_batch_free(batch);
        stream_switch_commit(local, table, &turn);
        const struct table_schema *schema = table->schema;
        map_del(&local->tables, schema->name);
        table_unref(table);
    }
    return status;
}

void catalogue_clear(struct local *local) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        struct table *table = slot->value;
        atomic_store(&table->gone, true);
        table_unref(table);
    }
    map_release(&local->tables);
    streams_release(&local->streams);
}

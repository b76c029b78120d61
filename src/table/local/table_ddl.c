/* Making and deleting tables, and their tags. Each is one commit of its own, between groups. */
#include "table/local/count_index.h"
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/random.h"

enum status table_ddl_write(struct local *local, struct change *change, struct store_batch *batch) {
    enum status status =
        store_write(local->store, batch, (struct scope){change->arena, &change->failure});
    if (status == OK)
        atomic_fetch_add_explicit(&local->commits, 1, memory_order_relaxed);
    return status;
}

struct table *table_ddl_find(struct local *local, struct change *change) {
    struct table *table = map_get(&local->tables, change->table);
    if (table == NULL)
        failure_set(&change->failure, change->arena, NO_TABLE,
                    "Requested resource not found: Table: %.*s not found",
                    BYTES_ARG(change->table));
    else if (table->loading && !change->loading) {
        failure_set(&change->failure, change->arena, TABLE_IN_USE,
                    "Attempt to change a resource which is still in use: Table is being created: "
                    "%.*s",
                    BYTES_ARG(change->table));
        table = NULL;
    }
    return table;
}

/* Describes the table in the change. */
static void describe(struct table *table, struct change *change) {
    change->description = ARENA_NEW(change->arena, struct table_description);
    table_describe(table, change->arena, change->description);
}

/* --- making --- */

static struct bytes make_id(struct arena *arena) {
    uint8_t r[16];
    random_secure(r, sizeof(r));
    r[6] = (uint8_t)((r[6] & 0x0f) | 0x40);
    r[8] = (uint8_t)((r[8] & 0x3f) | 0x80);
    return arena_printf(
        arena, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", r[0], r[1],
        r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]);
}

static struct table *make_table(struct local *local, const struct table_schema *schema) {
    struct table *table = table_new(local->next_table_id++, schema);
    struct table_description *about = &table->about;
    table->reclaimer = local->reclaimer;
    partition_filter_begin(&table->partition_filter, 0);
    about->id = make_id(&table->arena);
    about->created_ms = clock_now_ms();
    if (schema->billing == BILLING_ON_DEMAND)
        about->billing_changed_ms = about->created_ms;
    if (schema->stream != STREAM_OFF)
        about->stream_since_ms = streams_label(local, schema->name);
    for (unsigned i = 0; i < table->index_count; i++) {
        index_begin(table->indexes[i], 0);
        table->indexes[i]->status = PART_ACTIVE;
    }
    if (table->expiry != NULL) {
        index_begin(table->expiry, 0);
        table->expiry->status = PART_ACTIVE;
    }
    return table;
}

static enum status create_table(struct local *local, struct change *change) {
    struct bytes name = change->schema->name;
    if (map_get(&local->tables, name) != NULL)
        return failure_set(&change->failure, change->arena, TABLE_IN_USE,
                           "Table already exists: %.*s", BYTES_ARG(name));
    if (local->tables.count >= LIMIT_TABLES)
        return failure_set(&change->failure, change->arena, LIMIT_EXCEEDED,
                           "Subscriber limit exceeded: There is a limit of %d tables",
                           LIMIT_TABLES);
    struct table *table = make_table(local, change->schema);
    const struct table_schema *schema = table->schema;
    struct store_batch *batch = store_batch_new(local->store);
    catalogue_put_table(batch, table, schema, &table->about);
    catalogue_put_counts(batch, table, 0, 0);
    if (change->loading)
        catalogue_put_loading(batch, table, true);
    catalogue_put_next_id(batch, local->next_table_id);
    struct schema_replacement created = {.table = table, .schema = schema, .about = &table->about};
    struct stream_switch turn = stream_switch_plan(local, batch, &created);
    enum status status = table_ddl_write(local, change, batch);
    store_batch_free(batch);
    if (status != OK) {
        stream_switch_cancel(&turn);
        table_unref(table);
        return status;
    }
    table->loading = change->loading;
    if (change->loading)
        table->about.status = PART_CREATING;
    pthread_rwlock_wrlock(&local->state_lock);
    pthread_rwlock_wrlock(&local->tables_lock);
    map_put(&local->tables, schema->name, table);
    pthread_rwlock_unlock(&local->tables_lock);
    stream_switch_commit(local, table, &turn);
    local_sum_memory(local);
    partition_version_raise_all(local, local->snapshot->commit + 1);
    snapshot_advance(local);
    pthread_rwlock_unlock(&local->state_lock);
    describe(table, change);
    return OK;
}

/* --- deleting --- */

static enum status delete_table(struct local *local, struct change *change) {
    struct table *table = table_ddl_find(local, change);
    if (table == NULL)
        return change->failure.status;
    if (table->schema->deletion_protection)
        return failure_set(&change->failure, change->arena, INVALID,
                           "Resource cannot be deleted as it is currently protected against "
                           "deletion. Disable deletion protection first.");
    if (backfill_runs(local, table))
        return failure_set(&change->failure, change->arena, TABLE_IN_USE,
                           "Attempt to change a resource which is still in use: Table is being "
                           "updated: %.*s",
                           BYTES_ARG(change->table));
    struct store_batch *batch = store_batch_new(local->store);
    catalogue_del_table(batch, table);
    struct stream_switch turn =
        stream_switch_plan(local, batch, &(struct schema_replacement){.table = table});
    enum status status = table_ddl_write(local, change, batch);
    store_batch_free(batch);
    if (status != OK)
        return status;
    describe(table, change);
    if (table->expiry != NULL)
        backfill_cancel(local, table->expiry);
    pthread_rwlock_wrlock(&local->state_lock);
    pthread_rwlock_wrlock(&local->tables_lock);
    map_del(&local->tables, change->table);
    pthread_rwlock_unlock(&local->tables_lock);
    stream_switch_commit(local, table, &turn);
    atomic_store(&table->gone, true);
    count_index_forget_table(local, table);
    local_sum_memory(local);
    partition_version_raise_all(local, local->snapshot->commit + 1);
    snapshot_advance(local);
    pthread_rwlock_unlock(&local->state_lock);
    table_unref(table);
    return OK;
}

/* --- a table that was loaded --- */

static enum status finish_loading(struct local *local, struct change *change) {
    struct table *table = map_get(&local->tables, change->table);
    if (table == NULL || !table->loading)
        return failure_set(&change->failure, change->arena, NO_TABLE,
                           "The table is not being loaded");
    struct store_batch *batch = store_batch_new(local->store);
    catalogue_put_loading(batch, table, false);
    enum status status = table_ddl_write(local, change, batch);
    store_batch_free(batch);
    if (status != OK)
        return status;
    pthread_rwlock_wrlock(&local->state_lock);
    pthread_rwlock_wrlock(&local->tables_lock);
    table->loading = false;
    pthread_rwlock_unlock(&local->tables_lock);
    table->about.status = PART_ACTIVE;
    partition_version_raise_all(local, local->snapshot->commit + 1);
    snapshot_advance(local);
    pthread_rwlock_unlock(&local->state_lock);
    describe(table, change);
    return OK;
}

/* --- tags --- */

static void set_tag(struct table_schema *schema, const struct tag *tag) {
    for (uint32_t i = 0; i < schema->tag_count; i++)
        if (bytes_equal(schema->tags[i].key, tag->key)) {
            schema->tags[i].value = tag->value;
            return;
        }
    schema->tags[schema->tag_count++] = *tag;
}

static void remove_tag(struct table_schema *schema, struct bytes key) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < schema->tag_count; i++)
        if (!bytes_equal(schema->tags[i].key, key))
            schema->tags[kept++] = schema->tags[i];
    schema->tag_count = kept;
}

static uint32_t count_client_tags(const struct table_schema *schema) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < schema->tag_count; i++)
        count += !bytes_starts(schema->tags[i].key, BYTES(TAG_OWN));
    return count;
}

static enum status change_tags(struct local *local, struct change *change) {
    struct table *table = table_ddl_find(local, change);
    if (table == NULL)
        return NO_TABLE;
    const struct table_schema *now = table->schema;
    struct table_schema next = *now;
    next.tags = ARENA_ARRAY(change->arena, struct tag, now->tag_count + change->tag_count + 1);
    for (uint32_t i = 0; i < now->tag_count; i++)
        next.tags[i] = now->tags[i];
    for (size_t i = 0; i < change->tag_count; i++)
        set_tag(&next, &change->tags[i]);
    for (size_t i = 0; i < change->untag_count; i++)
        remove_tag(&next, change->untag[i]);
    if (count_client_tags(&next) > LIMIT_TAGS)
        return failure_set(&change->failure, change->arena, INVALID,
                           "Too many tags: a table can have at most %d", LIMIT_TAGS);
    return table_ddl_replace(
        local, change,
        &(struct schema_replacement){
            .table = table, .schema = &next, .about = &table->about, .dropped = -1});
}

/* --- expiry --- */

static enum status check_expiry(const struct table_schema *now, struct change *change) {
    if (now->expiry.size == 0)
        return change->expires ? OK
                               : failure_set(&change->failure, change->arena, INVALID,
                                             "TimeToLive is already disabled");
    if (!bytes_equal(now->expiry, change->expiry))
        return failure_set(&change->failure, change->arena, INVALID,
                           "TimeToLive is active on a different AttributeName: current "
                           "AttributeName is %.*s",
                           BYTES_ARG(now->expiry));
    return change->expires ? failure_set(&change->failure, change->arena, INVALID,
                                         "TimeToLive is already enabled")
                           : OK;
}

static enum status change_expiry(struct local *local, struct change *change) {
    struct table *table = table_ddl_find(local, change);
    if (table == NULL)
        return NO_TABLE;
    struct table_schema next = *table->schema;
    enum status status = check_expiry(&next, change);
    if (status != OK)
        return status;
    const struct index *before = table->expiry;
    next.expiry = change->expires ? change->expiry : (struct bytes){0};
    status = table_ddl_replace(
        local, change,
        &(struct schema_replacement){
            .table = table, .schema = &next, .about = &table->about, .dropped = -1});
    if (status == OK && before != NULL)
        backfill_cancel(local, before);
    return status;
}

/* --- a new schema in the place of the old --- */

/* What it has in memory goes now; it stays itself, for those who have found it. */
static void retire_index(struct table *table, struct index *gone) {
    index_retire(gone, table->reclaimer);
    gone->retired = table->retired;
    table->retired = gone;
}

/* A table has an expiry tree as long as it has an attribute that says when items expire. */
static void replace_expiry(struct table *table, const struct table_schema *schema) {
    if (table->expiry != NULL && schema->expiry.size == 0) {
        retire_index(table, table->expiry);
        table->expiry = NULL;
    } else if (table->expiry == NULL && schema->expiry.size != 0) {
        table->expiry = index_new_expiry(schema->expiry);
        table->expiry->status = PART_CREATING;
        table->expiry->backfilling = true;
    }
}

/* The caller holds state_lock for writing. */
static void install_schema(struct local *local, const struct schema_replacement *with,
                           const struct table_schema *schema) {
    struct table *table = with->table;
    if (with->dropped >= 0) {
        unsigned at = (unsigned)with->dropped;
        struct index *gone = table->indexes[at];
        for (unsigned i = at + 1; i < table->index_count; i++)
            table->indexes[i - 1] = table->indexes[i];
        table->index_count--;
        count_index_forget_index(local, gone);
        retire_index(table, gone);
    }
    replace_expiry(table, schema);
    if (with->adds) {
        struct index *index = index_new(schema, &schema->indexes[schema->index_count - 1]);
        index->status = PART_CREATING;
        index->backfilling = true;
        table->indexes[table->index_count++] = index;
    }
    table->about = *with->about;
    atomic_store(&table->schema, schema);
}

enum status table_ddl_replace(struct local *local, struct change *change,
                              const struct schema_replacement *with) {
    struct table *table = with->table;
    bool expired = table->expiry != NULL;
    struct store_batch *batch = store_batch_new(local->store);
    catalogue_put_table(batch, table, with->schema, with->about);
    struct stream_switch turn = stream_switch_plan(local, batch, with);
    enum status status = table_ddl_write(local, change, batch);
    store_batch_free(batch);
    if (status != OK) {
        stream_switch_cancel(&turn);
        return status;
    }
    struct table_schema *kept = ARENA_NEW(&table->arena, struct table_schema);
    *kept = table_schema_copy(&table->arena, with->schema);
    pthread_rwlock_wrlock(&local->state_lock);
    install_schema(local, with, kept);
    stream_switch_commit(local, table, &turn);
    local_sum_memory(local);
    snapshot_advance(local);
    pthread_rwlock_unlock(&local->state_lock);
    if (with->adds)
        backfill_start(local, table, table->indexes[table->index_count - 1]);
    if (!expired && table->expiry != NULL)
        backfill_start(local, table, table->expiry);
    describe(table, change);
    return OK;
}

void table_ddl_execute(struct local *local, struct change *change) {
    switch (change->kind) {
    case CHANGE_CREATE_TABLE:
        create_table(local, change);
        break;
    case CHANGE_DELETE_TABLE:
        delete_table(local, change);
        break;
    case CHANGE_UPDATE_TABLE:
        alter_table(local, change);
        break;
    case CHANGE_TAGS:
        change_tags(local, change);
        break;
    case CHANGE_LOADED:
        finish_loading(local, change);
        break;
    case CHANGE_EXPIRY:
        change_expiry(local, change);
        break;
    case CHANGE_ADD_RULES:
        write_rules_add(local, change->write_rules);
        break;
    case CHANGE_DROP_RULES:
        write_rules_drop(local, change->write_rules);
        break;
    case CHANGE_EXPIRE:
        expiry_run_all(local, change);
        break;
    case CHANGE_WRITE:
        break;
    }
}

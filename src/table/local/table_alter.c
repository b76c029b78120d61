/* Changing a table's settings and indexes: the schema that an alteration makes of the present one,
 * checked, then put in its place by table_ddl_replace(). */
#include "table/local/writer.h"

#include "base/clock.h"

#define INVALID_PREFIX "One or more parameter values were invalid: "

struct altering {
    struct local *local;
    struct change *change;
    const struct alteration *by;
    struct table *table;
    const struct table_schema *now;
    struct table_schema next; /* shares what it does not change */
    struct table_description about;
    int dropped;
};

static enum status refuse_alteration(struct altering *alter, const char *text) {
    return failure_set(&alter->change->failure, alter->change->arena, INVALID, "%s", text);
}

static enum status refuse_limit(struct altering *alter) {
    return failure_set(&alter->change->failure, alter->change->arena, LIMIT_EXCEEDED,
                       "Subscriber limit exceeded: Only 1 online index can be created or deleted "
                       "simultaneously per table");
}

/* --- capacity --- */

static bool is_set(const struct throughput *throughput) {
    return throughput->read != 0 || throughput->write != 0;
}

static bool is_equal(const struct throughput *a, const struct throughput *b) {
    return a->read == b->read && a->write == b->write;
}

static void take_capacity(struct capacity_settings *to, const struct capacity_settings *from) {
    if (is_set(&from->provisioned))
        to->provisioned = from->provisioned;
    if (from->on_demand_max.read != 0)
        to->on_demand_max.read = from->on_demand_max.read;
    if (from->on_demand_max.write != 0)
        to->on_demand_max.write = from->on_demand_max.write;
    if (from->warm.read != 0)
        to->warm.read = from->warm.read;
    if (from->warm.write != 0)
        to->warm.write = from->warm.write;
}

static enum status check_mode(struct altering *alter, const struct throughput *asked) {
    if (is_set(asked) && alter->next.billing == BILLING_ON_DEMAND)
        return refuse_alteration(
            alter,
            INVALID_PREFIX "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
                           "BillingMode is PAY_PER_REQUEST");
    return OK;
}

/* `index` empty: the table's own. */
static enum status refuse_same(struct altering *alter, struct bytes index,
                               const struct throughput *t) {
    struct arena *arena = alter->change->arena;
    struct bytes what = BYTES("the table"), of = BYTES("the table");
    if (index.size != 0) {
        what = arena_printf(arena, "the index %.*s", BYTES_ARG(index));
        of = arena_printf(arena, "index %.*s", BYTES_ARG(index));
    }
    return failure_set(
        &alter->change->failure, arena, INVALID,
        "The provisioned throughput for %.*s will not change. The requested value equals the "
        "current value. Current ReadCapacityUnits provisioned for %.*s: %lld. Requested "
        "ReadCapacityUnits: %lld. Current WriteCapacityUnits provisioned for %.*s: %lld. Requested "
        "WriteCapacityUnits: %lld. ",
        BYTES_ARG(what), BYTES_ARG(of), (long long)t->read, (long long)t->read, BYTES_ARG(of),
        (long long)t->write, (long long)t->write);
}

static void note_capacity(struct altering *alter, const struct throughput *was,
                          const struct throughput *is) {
    struct table_description *about = &alter->about;
    int64_t now = clock_now_ms(), day = 24 * 60 * 60 * 1000;
    if (is->read > was->read || is->write > was->write)
        about->capacity_raised_ms = now;
    if (is->read < was->read || is->write < was->write) {
        if (about->capacity_lowered_ms / day != now / day)
            about->capacity_lowered_today = 0;
        about->capacity_lowered_ms = now;
        about->capacity_lowered_today++;
    }
}

static enum status alter_capacity(struct altering *alter) {
    const struct capacity_settings *asked = alter->by->capacity;
    if (asked == NULL)
        return OK;
    enum status status = check_mode(alter, &asked->provisioned);
    if (status != OK)
        return status;
    const struct throughput *was = &alter->now->capacity.provisioned;
    if (is_set(&asked->provisioned)) {
        if (alter->now->billing == BILLING_PROVISIONED && is_equal(was, &asked->provisioned))
            return refuse_same(alter, (struct bytes){0}, was);
        if (alter->now->billing == BILLING_PROVISIONED)
            note_capacity(alter, was, &asked->provisioned);
    }
    take_capacity(&alter->next.capacity, asked);
    return OK;
}

static enum status alter_billing(struct altering *alter) {
    const struct alteration *by = alter->by;
    if (by->billing == NULL)
        return OK;
    alter->next.billing = *by->billing;
    if (*by->billing == BILLING_PROVISIONED) {
        if (by->capacity == NULL || !is_set(&by->capacity->provisioned))
            return refuse_alteration(alter,
                                     INVALID_PREFIX "ProvisionedThroughput must be specified when "
                                                    "BillingMode is PROVISIONED");
        return OK;
    }
    if (alter->now->billing == BILLING_ON_DEMAND)
        return OK;
    alter->about.billing_changed_ms = clock_now_ms();
    alter->next.capacity.provisioned = (struct throughput){0};
    for (uint32_t i = 0; i < alter->next.index_count; i++)
        alter->next.indexes[i].capacity.provisioned = (struct throughput){0};
    return OK;
}

/* --- capacity of indexes --- */

static struct index_schema *index_named(struct table_schema *schema, struct bytes name) {
    for (uint32_t i = 0; i < schema->index_count; i++)
        if (bytes_equal(schema->indexes[i].name, name))
            return &schema->indexes[i];
    return NULL;
}

static enum status alter_index(struct altering *alter, struct bytes name,
                               const struct capacity_settings *asked) {
    struct index_schema *index = index_named(&alter->next, name);
    if (index == NULL || index->local)
        return failure_set(&alter->change->failure, alter->change->arena, NO_TABLE,
                           "Requested resource not found");
    enum status status = check_mode(alter, &asked->provisioned);
    if (status != OK)
        return status;
    if (alter->now->billing == BILLING_PROVISIONED && is_set(&asked->provisioned) &&
        is_equal(&asked->provisioned, &index->capacity.provisioned))
        return refuse_same(alter, name, &asked->provisioned);
    take_capacity(&index->capacity, asked);
    return OK;
}

/* A table that becomes provisioned needs a throughput for each of its global indexes. */
static enum status check_provisioned(struct altering *alter) {
    if (alter->next.billing != BILLING_PROVISIONED || alter->now->billing == BILLING_PROVISIONED)
        return OK;
    struct buf missing = {0};
    for (uint32_t i = 0; i < alter->next.index_count; i++) {
        const struct index_schema *index = &alter->next.indexes[i];
        if (index->local || is_set(&index->capacity.provisioned))
            continue;
        if (missing.size != 0)
            buf_byte(&missing, ',');
        buf_put(&missing, index->name);
    }
    if (missing.size == 0)
        return OK;
    enum status status =
        failure_set(&alter->change->failure, alter->change->arena, INVALID,
                    INVALID_PREFIX "ProvisionedThroughput must be specified for index: %.*s",
                    BYTES_ARG(buf_bytes(&missing)));
    buf_release(&missing);
    return status;
}

static enum status alter_indexes(struct altering *alter) {
    for (uint32_t i = 0; i < alter->by->update_index_count; i++) {
        enum status status = alter_index(alter, alter->by->update_indexes[i].name,
                                         &alter->by->update_indexes[i].capacity);
        if (status != OK)
            return status;
    }
    return check_provisioned(alter);
}

/* --- settings --- */

static enum status alter_stream(struct altering *alter) {
    const enum stream_view *stream = alter->by->stream;
    if (stream == NULL)
        return OK;
    if (*stream != STREAM_OFF && alter->now->stream != STREAM_OFF)
        return failure_set(&alter->change->failure, alter->change->arena, INVALID,
                           "Table already has an enabled stream: TableName: %.*s",
                           BYTES_ARG(alter->now->name));
    if (*stream == STREAM_OFF && alter->now->stream == STREAM_OFF)
        return failure_set(&alter->change->failure, alter->change->arena, INVALID,
                           "Table has no stream to disable: TableName: %.*s",
                           BYTES_ARG(alter->now->name));
    alter->next.stream = *stream;
    if (*stream != STREAM_OFF)
        alter->about.stream_since_ms = streams_label(alter->local, alter->now->name);
    return OK;
}

static void alter_settings(struct altering *alter) {
    const struct alteration *by = alter->by;
    if (by->deletion_protection != NULL)
        alter->next.deletion_protection = *by->deletion_protection;
    if (by->table_class != NULL)
        alter->next.table_class = *by->table_class;
    if (by->encrypted != NULL) {
        alter->next.encrypted = *by->encrypted;
        alter->next.encryption_key = by->encryption_key;
    }
}

/* --- adding and dropping an index --- */

static struct key_part *definition(struct table_schema *schema, struct bytes name) {
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        if (bytes_equal(schema->attributes[i].name, name))
            return &schema->attributes[i];
    return NULL;
}

/* "key{a:S:HASH}": an attribute as part of the first key that has it. */
static struct bytes key_element(const struct altering *alter, const struct table_schema *schema,
                                const struct key_part *part) {
    const struct key_schema *keys = &schema->keys;
    for (uint32_t i = 0; i < schema->index_count && !key_schema_has(keys, part->name); i++)
        keys = &schema->indexes[i].keys;
    bool hash = false;
    for (unsigned i = 0; i < keys->partition_count; i++)
        hash |= bytes_equal(keys->parts[i].name, part->name);
    return arena_printf(alter->change->arena, "key{%.*s:%s:%s}", BYTES_ARG(part->name),
                        value_type_name(part->type), hash ? "HASH" : "RANGE");
}

static enum status refuse_redefined(struct altering *alter, const struct key_part *known,
                                    const struct key_part *given) {
    const struct table_schema added = {.keys = alter->by->add_index->keys};
    struct bytes was = key_element(alter, &alter->next, known);
    struct bytes is = key_element(alter, &added, given);
    return failure_set(&alter->change->failure, alter->change->arena, INVALID,
                       INVALID_PREFIX
                       "Attributes cannot be redefined. Please check that your attribute has the "
                       "same type as previously defined. Existing schema: Schema:[SchemaElement: "
                       "%.*s] New schema: Schema:[SchemaElement: %.*s]",
                       BYTES_ARG(was), BYTES_ARG(is));
}

/* The definitions there were, then those that came with the request. */
static enum status add_definitions(struct altering *alter) {
    struct table_schema *next = &alter->next;
    const struct alteration *by = alter->by;
    struct key_part *parts = ARENA_ARRAY(alter->change->arena, struct key_part,
                                         next->attribute_count + by->attribute_count + 1);
    for (uint32_t i = 0; i < next->attribute_count; i++)
        parts[i] = next->attributes[i];
    next->attributes = parts;
    for (uint32_t i = 0; i < by->attribute_count; i++) {
        const struct key_part *given = &by->attributes[i];
        const struct key_part *known = definition(next, given->name);
        if (known == NULL)
            parts[next->attribute_count++] = *given;
        else if (known->type != given->type)
            return refuse_redefined(alter, known, given);
    }
    return OK;
}

static bool is_used(const struct table_schema *schema, struct bytes name) {
    bool used = key_schema_has(&schema->keys, name);
    for (uint32_t i = 0; i < schema->index_count && !used; i++)
        used = key_schema_has(&schema->indexes[i].keys, name);
    return used;
}

static void drop_definitions(struct altering *alter) {
    struct table_schema *next = &alter->next;
    uint32_t kept = 0;
    struct key_part *parts =
        ARENA_ARRAY(alter->change->arena, struct key_part, next->attribute_count + 1);
    for (uint32_t i = 0; i < next->attribute_count; i++)
        if (is_used(next, next->attributes[i].name))
            parts[kept++] = next->attributes[i];
    next->attributes = parts;
    next->attribute_count = kept;
}

static enum status check_added_capacity(struct altering *alter, const struct index_schema *index) {
    const struct throughput *given = &index->capacity.provisioned;
    if (alter->next.billing == BILLING_PROVISIONED && !is_set(given))
        return failure_set(&alter->change->failure, alter->change->arena, INVALID,
                           INVALID_PREFIX "ProvisionedThroughput must be specified for index: %.*s",
                           BYTES_ARG(index->name));
    if (alter->next.billing == BILLING_ON_DEMAND && is_set(given))
        return failure_set(&alter->change->failure, alter->change->arena, INVALID,
                           INVALID_PREFIX "ProvisionedThroughput should not be specified for "
                                          "index: %.*s when BillingMode is PAY_PER_REQUEST",
                           BYTES_ARG(index->name));
    return OK;
}

static enum status add_index(struct altering *alter) {
    const struct index_schema *add = alter->by->add_index;
    struct table_schema *next = &alter->next;
    if (index_named(next, add->name) != NULL)
        return refuse_alteration(alter, "Attempting to create an index which already exists");
    enum status status = check_added_capacity(alter, add);
    if (status == OK)
        status = add_definitions(alter);
    if (status != OK)
        return status;
    struct index_schema *index = &next->indexes[next->index_count++];
    *index = *add;
    index->local = false;
    for (unsigned i = 0; i < key_schema_count(&index->keys); i++) {
        const struct key_part *known = definition(next, index->keys.parts[i].name);
        if (known != NULL)
            index->keys.parts[i].type = known->type;
    }
    return rules_check_table(&(struct rules_context){
        .schema = next, .arena = alter->change->arena, .failure = &alter->change->failure});
}

static enum status drop_index(struct altering *alter) {
    struct table_schema *next = &alter->next;
    struct index_schema *index = index_named(next, alter->by->drop_index);
    if (index == NULL || index->local)
        return failure_set(&alter->change->failure, alter->change->arena, NO_TABLE,
                           "Requested resource not found");
    alter->dropped = (int)(index - next->indexes);
    table_schema_drop_index_tag(next, alter->by->drop_index, alter->change->arena);
    for (uint32_t i = (uint32_t)alter->dropped + 1; i < next->index_count; i++)
        next->indexes[i - 1] = next->indexes[i];
    next->index_count--;
    drop_definitions(alter);
    return OK;
}

/* One index comes or goes at a time; one that is being built may be dropped. */
static enum status alter_which_indexes(struct altering *alter) {
    bool adds = alter->by->add_index != NULL, drops = alter->by->drop_index.size != 0;
    if (adds && drops)
        return refuse_limit(alter);
    if (adds && backfill_runs(alter->local, alter->table))
        return refuse_limit(alter);
    if (adds)
        return add_index(alter);
    return drops ? drop_index(alter) : OK;
}

/* --- the whole --- */

static enum status make_next(struct altering *alter) {
    struct table_schema *next = &alter->next;
    struct index_schema *indexes =
        ARENA_ARRAY(alter->change->arena, struct index_schema, next->index_count + 1);
    for (uint32_t i = 0; i < next->index_count; i++)
        indexes[i] = next->indexes[i];
    next->indexes = indexes;
    enum status status = alter_billing(alter);
    if (status == OK)
        status = alter_capacity(alter);
    if (status == OK)
        status = alter_indexes(alter);
    if (status == OK)
        status = alter_stream(alter);
    if (status == OK)
        status = alter_which_indexes(alter);
    alter_settings(alter);
    return status;
}

enum status alter_table(struct local *local, struct change *change) {
    struct table *table = table_ddl_find(local, change);
    if (table == NULL)
        return NO_TABLE;
    struct altering alter = {.local = local,
                             .change = change,
                             .by = change->alteration,
                             .table = table,
                             .now = table->schema,
                             .next = *table->schema,
                             .about = table->about,
                             .dropped = -1};
    enum status status = make_next(&alter);
    if (status != OK)
        return status;
    const struct index *dropped = alter.dropped < 0 ? NULL : table->indexes[alter.dropped];
    status = table_ddl_replace(local, change,
                               &(struct schema_replacement){.table = table,
                                                            .schema = &alter.next,
                                                            .about = &alter.about,
                                                            .dropped = alter.dropped,
                                                            .adds = alter.by->add_index != NULL});
    if (status == OK && dropped != NULL)
        backfill_cancel(local, dropped);
    return status;
}

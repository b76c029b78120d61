#include "api/dynamodb/describe.h"

#include "base/hash.h"

#include "api/dynamodb/ddb_stream_name.h"

#include <time.h>

/* What a new on-demand table can take at once, as DynamoDB reports it. */
enum { WARM_READS = 12000, WARM_WRITES = 4000 };

struct writer {
    struct call *call;
    struct buf *to;
    const struct table_description *table;
    const struct table_schema *schema;
    enum describe_as as;
};

static void put_text(struct buf *to, struct bytes name, struct bytes text) {
    reply_name(to, name);
    json_put_string(to, text);
}

static void put_int(struct buf *to, struct bytes name, int64_t number) {
    reply_name(to, name);
    json_put_int(to, number);
}

/* Seconds since 1970; nothing if it never happened. */
static void put_time(struct buf *to, struct bytes name, int64_t ms) {
    if (ms == 0)
        return;
    reply_name(to, name);
    json_put_double(to, (double)ms / 1000.0);
}

static struct bytes status_text(enum part_status status) {
    switch (status) {
    case PART_CREATING:
        return BYTES("CREATING");
    case PART_UPDATING:
        return BYTES("UPDATING");
    case PART_DELETING:
        return BYTES("DELETING");
    case PART_ACTIVE:
        break;
    }
    return BYTES("ACTIVE");
}

/* --- keys and projections --- */

static void put_definitions(const struct writer *w) {
    REPLY_NAME(w->to, "AttributeDefinitions");
    buf_byte(w->to, '[');
    for (uint32_t i = 0; i < w->schema->attribute_count; i++) {
        const struct key_part *part = &w->schema->attributes[i];
        buf_put(w->to, i == 0 ? BYTES("{") : BYTES(",{"));
        put_text(w->to, BYTES("AttributeName"), part->name);
        put_text(w->to, BYTES("AttributeType"), bytes_str(value_type_name(part->type)));
        buf_byte(w->to, '}');
    }
    buf_byte(w->to, ']');
}

static void put_keys(struct buf *to, const struct key_schema *keys) {
    REPLY_NAME(to, "KeySchema");
    buf_byte(to, '[');
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        bool partition = i < keys->partition_count;
        buf_put(to, i == 0 ? BYTES("{") : BYTES(",{"));
        put_text(to, BYTES("AttributeName"), keys->parts[i].name);
        put_text(to, BYTES("KeyType"), partition ? BYTES("HASH") : BYTES("RANGE"));
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

static void put_projection(struct buf *to, const struct index_schema *index) {
    static const char *const names[] = {
        [PROJECTED_ALL] = "ALL", [PROJECTED_KEYS] = "KEYS_ONLY", [PROJECTED_INCLUDED] = "INCLUDE"};
    REPLY_NAME(to, "Projection");
    buf_byte(to, '{');
    put_text(to, BYTES("ProjectionType"), bytes_str(names[index->projected]));
    if (index->included_count != 0) {
        REPLY_NAME(to, "NonKeyAttributes");
        for (uint32_t i = 0; i < index->included_count; i++) {
            buf_byte(to, i == 0 ? '[' : ',');
            json_put_string(to, index->included[i]);
        }
        buf_byte(to, ']');
    }
    buf_byte(to, '}');
}

void describe_keys(struct buf *to, const struct key_schema *keys) {
    put_keys(to, keys);
}

void describe_projection(struct buf *to, const struct index_schema *index) {
    put_projection(to, index);
}

/* --- capacity --- */

static void put_units(struct buf *to, const struct throughput *units) {
    put_int(to, BYTES("ReadCapacityUnits"), units->read);
    put_int(to, BYTES("WriteCapacityUnits"), units->write);
    buf_byte(to, '}');
}

static void put_on_demand(struct buf *to, const struct throughput *most) {
    if (most->read == 0 && most->write == 0)
        return;
    REPLY_NAME(to, "OnDemandThroughput");
    buf_byte(to, '{');
    put_int(to, BYTES("MaxReadRequestUnits"), most->read == 0 ? -1 : most->read);
    put_int(to, BYTES("MaxWriteRequestUnits"), most->write == 0 ? -1 : most->write);
    buf_byte(to, '}');
}

static int64_t warm_units(int64_t asked, int64_t provisioned, int64_t otherwise) {
    if (asked > 0)
        return asked;
    return provisioned > 0 ? provisioned : otherwise;
}

/* The answer to CreateTable tells of it only if it was asked for. */
static void put_warm(const struct writer *w, const struct capacity_settings *capacity) {
    if (w->as == DESCRIBE_CREATING && capacity->warm.read == 0 && capacity->warm.write == 0)
        return;
    REPLY_NAME(w->to, "WarmThroughput");
    buf_byte(w->to, '{');
    put_int(w->to, BYTES("ReadUnitsPerSecond"),
            warm_units(capacity->warm.read, capacity->provisioned.read, WARM_READS));
    put_int(w->to, BYTES("WriteUnitsPerSecond"),
            warm_units(capacity->warm.write, capacity->provisioned.write, WARM_WRITES));
    put_text(w->to, BYTES("Status"),
             w->as == DESCRIBE_CREATING ? BYTES("CREATING") : BYTES("ACTIVE"));
    buf_byte(w->to, '}');
}

static void put_capacity(const struct writer *w) {
    REPLY_NAME(w->to, "ProvisionedThroughput");
    buf_byte(w->to, '{');
    put_time(w->to, BYTES("LastIncreaseDateTime"), w->table->capacity_raised_ms);
    put_time(w->to, BYTES("LastDecreaseDateTime"), w->table->capacity_lowered_ms);
    put_int(w->to, BYTES("NumberOfDecreasesToday"), w->table->capacity_lowered_today);
    put_units(w->to, &w->schema->capacity.provisioned);
    put_on_demand(w->to, &w->schema->capacity.on_demand_max);
    put_warm(w, &w->schema->capacity);
}

static void put_billing(const struct writer *w) {
    bool on_demand = w->schema->billing == BILLING_ON_DEMAND;
    if (!on_demand && w->table->billing_changed_ms == 0)
        return;
    REPLY_NAME(w->to, "BillingModeSummary");
    buf_byte(w->to, '{');
    put_text(w->to, BYTES("BillingMode"),
             on_demand ? BYTES("PAY_PER_REQUEST") : BYTES("PROVISIONED"));
    if (w->as != DESCRIBE_CREATING)
        put_time(w->to, BYTES("LastUpdateToPayPerRequestDateTime"), w->table->billing_changed_ms);
    buf_byte(w->to, '}');
}

/* --- indexes --- */

static void put_arn(const struct writer *w, struct bytes name, struct bytes kind,
                    struct bytes part) {
    reply_name(w->to, name);
    buf_byte(w->to, '"');
    call_put_arn(w->call, w->to, w->schema->name);
    buf_put(w->to, kind);
    buf_put(w->to, part);
    buf_byte(w->to, '"');
}

static void put_global(const struct writer *w, const struct index_schema *index,
                       const struct index_state *state) {
    enum part_status status = w->as == DESCRIBE_CREATING ? PART_CREATING : state->status;
    put_text(w->to, BYTES("IndexStatus"), status_text(status));
    if (state->backfilling)
        buf_lit(w->to, ",\"Backfilling\":true");
    REPLY_NAME(w->to, "ProvisionedThroughput");
    buf_lit(w->to, "{\"NumberOfDecreasesToday\":0");
    put_units(w->to, &index->capacity.provisioned);
    put_on_demand(w->to, &index->capacity.on_demand_max);
    put_warm(w, &index->capacity);
}

static void put_index(const struct writer *w, uint32_t at) {
    const struct index_schema *index = &w->schema->indexes[at];
    const struct index_state *state = &w->table->indexes[at];
    put_text(w->to, BYTES("IndexName"), index->name);
    put_keys(w->to, &index->keys);
    put_projection(w->to, index);
    if (!index->local)
        put_global(w, index, state);
    put_int(w->to, BYTES("IndexSizeBytes"), (int64_t)state->size);
    put_int(w->to, BYTES("ItemCount"), (int64_t)state->item_count);
    put_arn(w, BYTES("IndexArn"), BYTES("/index/"), index->name);
}

static void put_indexes(const struct writer *w, bool local, struct bytes heading) {
    bool any = false;
    for (uint32_t i = 0; i < w->schema->index_count; i++) {
        if (w->schema->indexes[i].local != local)
            continue;
        if (!any) {
            reply_name(w->to, heading);
            buf_byte(w->to, '[');
        } else {
            buf_byte(w->to, ',');
        }
        any = true;
        buf_byte(w->to, '{');
        put_index(w, i);
        buf_byte(w->to, '}');
    }
    if (any)
        buf_byte(w->to, ']');
}

/* --- the rest --- */

static void put_stream(const struct writer *w) {
    if (w->schema->stream != STREAM_OFF) {
        REPLY_NAME(w->to, "StreamSpecification");
        buf_lit(w->to, "{\"StreamEnabled\":true");
        put_text(w->to, BYTES("StreamViewType"), bytes_str(stream_name_view(w->schema->stream)));
        buf_byte(w->to, '}');
    }
    if (w->table->stream_since_ms != 0) {
        struct bytes label = stream_name_label(w->call->arena, w->table->stream_since_ms);
        put_text(w->to, BYTES("LatestStreamLabel"), label);
        put_arn(w, BYTES("LatestStreamArn"), BYTES("/stream/"), label);
    }
}

/* The key that an alias stands for: there is none here, but it is the same each time. */
static struct bytes aliased_key(const struct writer *w, struct bytes alias) {
    uint64_t high = hash_stable(alias, 1), low = hash_stable(alias, 2);
    return arena_printf(w->call->arena, "%08x-%04x-4%03x-a%03x-%012llx", (unsigned)(high >> 32),
                        (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff),
                        (unsigned)(low >> 52), (unsigned long long)(low & 0xffffffffffff));
}

/* Keys are told by the ARN of the key, however they were named. */
static struct bytes key_arn(const struct writer *w) {
    struct bytes key = w->schema->encryption_key;
    struct bytes region = call_region(w->call), account = call_account(w->call);
    if (bytes_starts(key, BYTES("arn:")))
        return key;
    if (bytes_starts(key, BYTES("alias/")))
        key = aliased_key(w, key);
    else if (bytes_starts(key, BYTES("key/")))
        key = bytes_skip(key, 4);
    return arena_printf(w->call->arena, "arn:aws:kms:%.*s:%.*s:key/%.*s", BYTES_ARG(region),
                        BYTES_ARG(account), BYTES_ARG(key));
}

static void put_encryption(const struct writer *w) {
    if (!w->schema->encrypted)
        return;
    struct bytes key = key_arn(w);
    REPLY_NAME(w->to, "SSEDescription");
    buf_lit(w->to, "{\"Status\":\"ENABLED\",\"SSEType\":\"KMS\"");
    put_text(w->to, BYTES("KMSMasterKeyArn"), key);
    buf_byte(w->to, '}');
}

static void put_settings(const struct writer *w) {
    put_stream(w);
    put_encryption(w);
    if (w->schema->table_class.size != 0) {
        REPLY_NAME(w->to, "TableClassSummary");
        buf_byte(w->to, '{');
        put_text(w->to, BYTES("TableClass"), w->schema->table_class);
        buf_byte(w->to, '}');
    }
    REPLY_NAME(w->to, "DeletionProtectionEnabled");
    buf_put(w->to, w->schema->deletion_protection ? BYTES("true") : BYTES("false"));
}

static enum part_status table_status(const struct writer *w) {
    switch (w->as) {
    case DESCRIBE_CREATING:
        return PART_CREATING;
    case DESCRIBE_UPDATING:
        return PART_UPDATING;
    case DESCRIBE_DELETING:
        return PART_DELETING;
    case DESCRIBE_NOW:
        break;
    }
    return w->table->status;
}

void describe_table(struct call *call, struct bytes name, const struct table_description *table,
                    enum describe_as as) {
    struct writer w = {call, call->reply, table, &table->schema, as};
    buf_byte(w.to, '{');
    reply_name(w.to, name);
    buf_byte(w.to, '{');
    put_text(w.to, BYTES("TableName"), w.schema->name);
    put_text(w.to, BYTES("TableStatus"), status_text(table_status(&w)));
    if (w.as != DESCRIBE_DELETING) {
        put_definitions(&w);
        put_keys(w.to, &w.schema->keys);
        put_time(w.to, BYTES("CreationDateTime"), table->created_ms);
    }
    put_capacity(&w);
    put_billing(&w);
    put_int(w.to, BYTES("TableSizeBytes"), (int64_t)table->size);
    put_int(w.to, BYTES("ItemCount"), (int64_t)table->item_count);
    put_arn(&w, BYTES("TableArn"), (struct bytes){0}, (struct bytes){0});
    put_text(w.to, BYTES("TableId"), table->id);
    put_indexes(&w, true, BYTES("LocalSecondaryIndexes"));
    if (w.as != DESCRIBE_DELETING) /* DynamoDB deletes the indexes first */
        put_indexes(&w, false, BYTES("GlobalSecondaryIndexes"));
    put_settings(&w);
    buf_lit(w.to, "}}");
}

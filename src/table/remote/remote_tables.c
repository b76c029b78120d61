/* Tables at the endpoint: describing, listing, making and altering them as far as the game does. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "table/remote/remote_parts.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define RANKS BYTES("ranks")

/* Schemas are kept for good, each in an arena of its own: few tables are asked for, and a schema
 * that was handed out must stay. */
struct known_table {
    struct arena arena;
    struct table_schema schema;
    int64_t at_us;
    struct known_table *before; /* replaced by this one */
};

struct remote_tables {
    pthread_mutex_t lock;
    struct map known;
};

struct remote_tables *remote_tables_new(void) {
    struct remote_tables *tables = mem_zalloc(sizeof(*tables));
    pthread_mutex_init(&tables->lock, NULL);
    return tables;
}

static void free_known(struct known_table *known) {
    while (known != NULL) {
        struct known_table *before = known->before;
        arena_release(&known->arena);
        mem_free(known);
        known = before;
    }
}

void remote_tables_free(struct remote_tables *tables) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&tables->known, &at)) != NULL;)
        free_known(slot->value);
    map_release(&tables->known);
    pthread_mutex_destroy(&tables->lock);
    mem_free(tables);
}

bool remote_is_game(const struct remote *remote, struct bytes table) {
    return bytes_equal(table, remote->table);
}

bool remote_is_ranks(const struct remote *remote, struct bytes table, struct bytes index) {
    return bytes_equal(index, RANKS) && remote_is_game(remote, table);
}

/* --- reading a description --- */

static struct bytes text_of(const struct json *object, struct bytes name) {
    const struct json *text = json_get(object, name);
    return text != NULL && text->type == JSON_STRING ? text->text : (struct bytes){0};
}

static double number_of(const struct json *object, struct bytes name) {
    const struct json *number = json_get(object, name);
    char text[40] = "0";
    if (number != NULL && number->type == JSON_NUMBER && number->text.size < sizeof(text)) {
        memcpy(text, number->text.data, number->text.size);
        text[number->text.size] = '\0';
    }
    return strtod(text, NULL);
}

static bool is_true(const struct json *object, struct bytes name) {
    const struct json *truth = json_get(object, name);
    return truth != NULL && truth->type == JSON_TRUE;
}

static enum value_type type_of(const struct table_schema *schema, struct bytes name) {
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        if (bytes_equal(schema->attributes[i].name, name))
            return schema->attributes[i].type;
    return VALUE_NONE;
}

static void read_attributes(const struct json *list, struct arena *arena,
                            struct table_schema *out) {
    uint32_t count = list != NULL && list->type == JSON_ARRAY ? list->count : 0;
    out->attributes = ARENA_ARRAY(arena, struct key_part, count + 1);
    out->attribute_count = count;
    for (uint32_t i = 0; i < count; i++)
        out->attributes[i] = (struct key_part){
            text_of(&list->elements[i], BYTES("AttributeName")),
            value_type_named(text_of(&list->elements[i], BYTES("AttributeType")))};
}

static struct key_schema read_keys(const struct json *list, const struct table_schema *schema) {
    struct key_schema keys = {0};
    uint32_t count = list != NULL && list->type == JSON_ARRAY ? list->count : 0;
    for (uint32_t i = 0; i < count && i < KEY_PARTS_MAX; i++) {
        struct bytes name = text_of(&list->elements[i], BYTES("AttributeName"));
        bool hash = bytes_equal(text_of(&list->elements[i], BYTES("KeyType")), BYTES("HASH"));
        keys.parts[i] = (struct key_part){name, type_of(schema, name)};
        keys.partition_count = (uint8_t)(keys.partition_count + hash);
        keys.sort_count = (uint8_t)(keys.sort_count + !hash);
    }
    return keys;
}

static enum part_status status_named(struct bytes name) {
    if (bytes_equal(name, BYTES("CREATING")))
        return PART_CREATING;
    if (bytes_equal(name, BYTES("UPDATING")))
        return PART_UPDATING;
    return bytes_equal(name, BYTES("DELETING")) ? PART_DELETING : PART_ACTIVE;
}

static void read_projection(const struct json *from, struct arena *arena,
                            struct index_schema *out) {
    const struct json *projection = json_get(from, BYTES("Projection"));
    const struct json *names = json_get(projection, BYTES("NonKeyAttributes"));
    struct bytes type = text_of(projection, BYTES("ProjectionType"));
    out->projected = bytes_equal(type, BYTES("KEYS_ONLY")) ? PROJECTED_KEYS
                     : bytes_equal(type, BYTES("INCLUDE")) ? PROJECTED_INCLUDED
                                                           : PROJECTED_ALL;
    uint32_t count = names != NULL && names->type == JSON_ARRAY ? names->count : 0;
    struct bytes *included = ARENA_ARRAY(arena, struct bytes, count + 1);
    for (uint32_t i = 0; i < count; i++)
        included[i] = names->elements[i].text;
    out->included = included;
    out->included_count = count;
}

/* Appends the indexes of a list; the schema has room for them. */
static void read_indexes(const struct json *list, bool local, struct arena *arena,
                         struct table_description *out) {
    struct table_schema *schema = &out->schema;
    struct index_state *states = (struct index_state *)(uintptr_t)out->indexes;
    for (uint32_t i = 0; list != NULL && list->type == JSON_ARRAY && i < list->count; i++) {
        const struct json *from = &list->elements[i];
        struct index_schema *index = &schema->indexes[schema->index_count];
        *index =
            (struct index_schema){.name = text_of(from, BYTES("IndexName")),
                                  .local = local,
                                  .keys = read_keys(json_get(from, BYTES("KeySchema")), schema)};
        read_projection(from, arena, index);
        states[schema->index_count++] = (struct index_state){
            .status = local ? PART_ACTIVE : status_named(text_of(from, BYTES("IndexStatus"))),
            .backfilling = is_true(from, BYTES("Backfilling")),
            .item_count = (uint64_t)number_of(from, BYTES("ItemCount")),
            .size = (uint64_t)number_of(from, BYTES("IndexSizeBytes"))};
    }
}

static enum stream_view view_named(struct bytes name) {
    static const struct {
        const char *name;
        enum stream_view view;
    } views[] = {{"KEYS_ONLY", STREAM_KEYS},
                 {"NEW_IMAGE", STREAM_NEW},
                 {"OLD_IMAGE", STREAM_OLD},
                 {"NEW_AND_OLD_IMAGES", STREAM_BOTH}};
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        if (bytes_equal(name, bytes_str(views[i].name)))
            return views[i].view;
    return STREAM_OFF;
}

/* "2026-11-17T01:58:53.123" in milliseconds; the name of a stream. */
static int64_t label_ms(struct bytes label) {
    struct tm at = {0};
    char text[32];
    if (label.size < 19 || label.size >= sizeof(text))
        return 0;
    memcpy(text, label.data, label.size);
    text[label.size] = '\0';
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &at);
    if (end == NULL)
        return 0;
    return (int64_t)timegm(&at) * 1000 + (*end == '.' ? strtol(end + 1, NULL, 10) : 0);
}

static uint32_t length_of(const struct json *list) {
    return list != NULL && list->type == JSON_ARRAY ? list->count : 0;
}

/* The index that the ranking has in place of the endpoint. */
static void add_ranks(struct table_description *out, struct arena *arena) {
    static const struct key_part scores[] = {{{(const uint8_t *)"score", 5}, VALUE_N},
                                             {{(const uint8_t *)"subscore", 8}, VALUE_N},
                                             {{(const uint8_t *)"tie", 3}, VALUE_N}};
    struct table_schema *schema = &out->schema;
    struct index_state *states = (struct index_state *)(uintptr_t)out->indexes;
    struct index_schema *index = &schema->indexes[schema->index_count];
    struct key_part *all = ARENA_ARRAY(arena, struct key_part, schema->attribute_count + 3);
    memcpy(all, schema->attributes, schema->attribute_count * sizeof(*all));
    *index = (struct index_schema){.name = RANKS, .projected = PROJECTED_KEYS};
    index->keys.parts[0] = schema->keys.parts[0];
    index->keys.partition_count = 1;
    index->keys.sort_count = 3;
    for (unsigned i = 0; i < 3; i++) {
        index->keys.parts[i + 1] = scores[i];
        if (type_of(schema, scores[i].name) == VALUE_NONE)
            all[schema->attribute_count++] = scores[i];
    }
    schema->attributes = all;
    states[schema->index_count++] = (struct index_state){.status = PART_ACTIVE};
}

static void read_table(struct remote *remote, const struct json *table, struct arena *arena,
                       struct table_description *out) {
    const struct json *local = json_get(table, BYTES("LocalSecondaryIndexes"));
    const struct json *global = json_get(table, BYTES("GlobalSecondaryIndexes"));
    const struct json *stream = json_get(table, BYTES("StreamSpecification"));
    uint32_t room = length_of(local) + length_of(global) + 1;
    *out = (struct table_description){.id = text_of(table, BYTES("TableId")),
                                      .status = status_named(text_of(table, BYTES("TableStatus"))),
                                      .indexes = ARENA_ARRAY(arena, struct index_state, room)};
    struct table_schema *schema = &out->schema;
    schema->name = text_of(table, BYTES("TableName"));
    schema->indexes = ARENA_ARRAY(arena, struct index_schema, room);
    read_attributes(json_get(table, BYTES("AttributeDefinitions")), arena, schema);
    schema->keys = read_keys(json_get(table, BYTES("KeySchema")), schema);
    read_indexes(local, true, arena, out);
    read_indexes(global, false, arena, out);
    bool on_demand =
        bytes_equal(text_of(json_get(table, BYTES("BillingModeSummary")), BYTES("BillingMode")),
                    BYTES("PAY_PER_REQUEST"));
    schema->billing = on_demand ? BILLING_ON_DEMAND : BILLING_PROVISIONED;
    if (is_true(stream, BYTES("StreamEnabled")))
        schema->stream = view_named(text_of(stream, BYTES("StreamViewType")));
    schema->deletion_protection = is_true(table, BYTES("DeletionProtectionEnabled"));
    out->created_ms = (int64_t)(number_of(table, BYTES("CreationDateTime")) * 1000);
    out->item_count = (uint64_t)number_of(table, BYTES("ItemCount"));
    out->size = (uint64_t)number_of(table, BYTES("TableSizeBytes"));
    out->stream_since_ms = label_ms(text_of(table, BYTES("LatestStreamLabel")));
    if (remote_is_game(remote, schema->name) && table_schema_index(schema, RANKS) == NULL)
        add_ranks(out, arena);
}

/* --- asking --- */

static enum status ask_table(struct remote *remote, const char *target, struct bytes table,
                             struct scope in, struct json *out) {
    struct buf body = {0};
    buf_lit(&body, "{\"TableName\":");
    json_put_string(&body, table);
    buf_byte(&body, '}');
    struct transport_request request = {.target = target, .body = buf_bytes(&body)};
    enum status status = remote_ask(remote, &request, in);
    buf_release(&body);
    *out = request.json;
    return status;
}

static enum status read_expiry(struct remote *remote, struct table_schema *schema,
                               struct scope in) {
    struct json answer;
    enum status status = ask_table(remote, "DescribeTimeToLive", schema->name, in, &answer);
    const struct json *about = json_get(&answer, BYTES("TimeToLiveDescription"));
    struct bytes state = text_of(about, BYTES("TimeToLiveStatus"));
    if (status == OK &&
        (bytes_equal(state, BYTES("ENABLED")) || bytes_equal(state, BYTES("ENABLING"))))
        schema->expiry = text_of(about, BYTES("AttributeName"));
    return status;
}

static void remember(struct remote *remote, const struct table_schema *schema) {
    struct remote_tables *tables = remote->tables;
    struct known_table *known = mem_zalloc(sizeof(*known));
    arena_init(&known->arena);
    known->schema = table_schema_copy(&known->arena, schema);
    known->at_us = clock_ticks_us();
    pthread_mutex_lock(&tables->lock);
    /* Taken out first: the map keeps the key it had. */
    known->before = map_del(&tables->known, known->schema.name);
    map_put(&tables->known, known->schema.name, known);
    pthread_mutex_unlock(&tables->lock);
}

static enum status describe(struct engine *engine, struct bytes table, struct scope in,
                            struct table_description *out) {
    struct remote *remote = remote_of(engine);
    struct json answer;
    enum status status = ask_table(remote, "DescribeTable", table, in, &answer);
    const struct json *about = status == OK ? json_get(&answer, BYTES("Table")) : NULL;
    if (status == OK && about == NULL)
        return remote_odd_answer(in);
    if (status != OK)
        return status;
    read_table(remote, about, in.arena, out);
    return read_expiry(remote, &out->schema, in);
}

static const struct table_schema *find_known(struct remote *remote, struct bytes table) {
    struct remote_tables *tables = remote->tables;
    pthread_mutex_lock(&tables->lock);
    const struct known_table *known = map_get(&tables->known, table);
    /* The game's own table stays as the game has made it. */
    bool good =
        known != NULL && (remote_is_game(remote, table) ||
                          clock_ticks_us() - known->at_us < LIMIT_REMOTE_TABLE_MS * INT64_C(1000));
    pthread_mutex_unlock(&tables->lock);
    return good ? &known->schema : NULL;
}

enum status remote_schema(struct remote *remote, struct bytes table, struct scope in,
                          const struct table_schema **out) {
    struct table_description about;
    *out = find_known(remote, table);
    if (*out != NULL)
        return OK;
    enum status status = describe(&remote->engine, table, in, &about);
    if (status != OK)
        return status;
    remember(remote, &about.schema);
    *out = find_known(remote, table);
    return *out != NULL ? OK : remote_odd_answer(in);
}

static enum status list(struct engine *engine, const struct list_request *request,
                        struct arena *arena, struct name_list *out) {
    struct failure failure = {0};
    struct buf body = {0};
    buf_byte(&body, '{');
    if (request->after.size != 0) {
        buf_lit(&body, "\"ExclusiveStartTableName\":");
        json_put_string(&body, request->after);
        buf_byte(&body, ',');
    }
    buf_printf(&body, "\"Limit\":%zu}", request->limit < 100 ? request->limit : 100);
    struct transport_request ask = {.target = "ListTables", .body = buf_bytes(&body)};
    enum status status = remote_ask(remote_of(engine), &ask, (struct scope){arena, &failure});
    buf_release(&body);
    const struct json *names = status == OK ? json_get(&ask.json, BYTES("TableNames")) : NULL;
    *out = (struct name_list){.names = ARENA_ARRAY(arena, struct bytes, length_of(names) + 1),
                              .count = length_of(names)};
    for (uint32_t i = 0; names != NULL && i < out->count; i++)
        out->names[i] = names->elements[i].text;
    out->more = status == OK && json_get(&ask.json, BYTES("LastEvaluatedTableName")) != NULL;
    return status;
}

const struct table_ops remote_table_ops = {.describe = describe, .list = list};

/* --- making and altering --- */

static void put_key_schema(struct buf *body, const struct key_schema *keys) {
    buf_lit(body, "\"KeySchema\":[");
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        buf_printf(body, "%s{\"AttributeName\":", i != 0 ? "," : "");
        json_put_string(body, keys->parts[i].name);
        buf_printf(body, ",\"KeyType\":\"%s\"}", i < keys->partition_count ? "HASH" : "RANGE");
    }
    buf_byte(body, ']');
}

static void put_index(struct buf *body, const struct index_schema *index) {
    buf_lit(body, "{\"IndexName\":");
    json_put_string(body, index->name);
    buf_byte(body, ',');
    put_key_schema(body, &index->keys);
    buf_printf(body, ",\"Projection\":{\"ProjectionType\":\"%s\"}}",
               index->projected == PROJECTED_KEYS ? "KEYS_ONLY" : "ALL");
}

/* Every attribute that is a key of the table or of an index that is made must be defined, and no
 * other. */
static bool is_key(const struct table_schema *schema, struct bytes name, bool without_ranks) {
    bool found = key_schema_has(&schema->keys, name);
    for (uint32_t i = 0; i < schema->index_count && !found; i++)
        found = !(without_ranks && bytes_equal(schema->indexes[i].name, RANKS)) &&
                key_schema_has(&schema->indexes[i].keys, name);
    return found;
}

static void put_definitions(struct buf *body, const struct key_part *parts, uint32_t count,
                            const struct table_schema *of) {
    bool first = true;
    buf_lit(body, "\"AttributeDefinitions\":[");
    for (uint32_t i = 0; i < count; i++) {
        if (of != NULL && !is_key(of, parts[i].name, true))
            continue;
        buf_printf(body, "%s{\"AttributeName\":", first ? "" : ",");
        json_put_string(body, parts[i].name);
        buf_printf(body, ",\"AttributeType\":\"%s\"}", value_type_name(parts[i].type));
        first = false;
    }
    buf_byte(body, ']');
}

static void put_schema(struct buf *body, const struct table_schema *schema) {
    bool first = true;
    buf_lit(body, "{\"TableName\":");
    json_put_string(body, schema->name);
    buf_byte(body, ',');
    put_definitions(body, schema->attributes, schema->attribute_count, schema);
    buf_byte(body, ',');
    put_key_schema(body, &schema->keys);
    buf_lit(body, ",\"BillingMode\":\"PAY_PER_REQUEST\",\"GlobalSecondaryIndexes\":[");
    for (uint32_t i = 0; i < schema->index_count; i++) {
        if (bytes_equal(schema->indexes[i].name, RANKS))
            continue;
        if (!first)
            buf_byte(body, ',');
        put_index(body, &schema->indexes[i]);
        first = false;
    }
    buf_byte(body, ']');
    if (schema->stream != STREAM_OFF)
        buf_lit(body, ",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":"
                      "\"NEW_AND_OLD_IMAGES\"}");
    buf_byte(body, '}');
}

/* Waits until the table and its indexes may be used. */
static enum status await_active(struct remote *remote, struct bytes table, struct scope in,
                                struct table_description *out) {
    int64_t until_us = clock_ticks_us() + INT64_C(120) * 1000 * 1000;
    struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    for (;;) {
        enum status status = describe(&remote->engine, table, in, out);
        if (status != OK && status != NO_TABLE)
            return status;
        if (status == OK && out->status == PART_ACTIVE)
            return OK;
        if (clock_ticks_us() > until_us)
            return failure_set(in.failure, in.arena, IO_FAILED,
                               "the table %.*s does not become active at the endpoint",
                               BYTES_ARG(table));
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < 500 * 1000 * 1000 ? pause.tv_nsec * 2 : pause.tv_nsec;
    }
}

static enum status send_change(struct remote *remote, struct change *change, const char *target,
                               const struct buf *body) {
    struct scope in = {change->arena, &change->failure};
    struct transport_request request = {.target = target, .body = buf_bytes(body)};
    enum status status = remote_ask(remote, &request, in);
    /* Another node may have made it at the same time, or an attempt before this one did. */
    if (status == TABLE_IN_USE && change->kind == CHANGE_CREATE_TABLE) {
        change->failure = (struct failure){0};
        return OK;
    }
    return status;
}

static enum status create_table(struct remote *remote, struct change *change, struct buf *body) {
    struct scope in = {change->arena, &change->failure};
    put_schema(body, change->schema);
    enum status status = send_change(remote, change, "CreateTable", body);
    return status == OK ? await_active(remote, change->table, in, change->description) : status;
}

static enum status update_table(struct remote *remote, struct change *change, struct buf *body) {
    const struct alteration *alteration = change->alteration;
    struct scope in = {change->arena, &change->failure};
    bool ranks = alteration->add_index != NULL && bytes_equal(alteration->add_index->name, RANKS);
    if (ranks && remote_is_game(remote, change->table))
        return describe(&remote->engine, change->table, in, change->description);
    buf_lit(body, "{\"TableName\":");
    json_put_string(body, change->table);
    if (alteration->add_index != NULL) {
        buf_byte(body, ',');
        put_definitions(body, alteration->attributes, alteration->attribute_count, NULL);
        buf_lit(body, ",\"GlobalSecondaryIndexUpdates\":[{\"Create\":");
        put_index(body, alteration->add_index);
        buf_lit(body, "}]");
    }
    if (alteration->stream != NULL)
        buf_lit(body, ",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":"
                      "\"NEW_AND_OLD_IMAGES\"}");
    buf_byte(body, '}');
    enum status status = send_change(remote, change, "UpdateTable", body);
    return status == OK ? await_active(remote, change->table, in, change->description) : status;
}

static enum status set_expiry(struct remote *remote, struct change *change, struct buf *body) {
    struct scope in = {change->arena, &change->failure};
    buf_lit(body, "{\"TableName\":");
    json_put_string(body, change->table);
    buf_lit(body, ",\"TimeToLiveSpecification\":{\"AttributeName\":");
    json_put_string(body, change->expiry);
    buf_printf(body, ",\"Enabled\":%s}}", change->expires ? "true" : "false");
    enum status status = send_change(remote, change, "UpdateTimeToLive", body);
    if (status == INVALID) { /* another node was first: then it is as wanted */
        struct table_description about = {0};
        struct failure failure = {0};
        if (describe(&remote->engine, change->table, (struct scope){in.arena, &failure}, &about) ==
                OK &&
            bytes_equal(about.schema.expiry, change->expiry) == change->expires) {
            change->failure = (struct failure){0};
            return OK;
        }
    }
    return status;
}

void remote_change_table(struct remote *remote, struct change *change) {
    struct scope in = {change->arena, &change->failure};
    struct buf body = {0};
    change->description = ARENA_NEW(change->arena, struct table_description);
    switch (change->kind) {
    case CHANGE_CREATE_TABLE:
        create_table(remote, change, &body);
        break;
    case CHANGE_UPDATE_TABLE:
        update_table(remote, change, &body);
        break;
    case CHANGE_EXPIRY:
        set_expiry(remote, change, &body);
        break;
    case CHANGE_EXPIRE: /* what has expired is not shown; the endpoint removes it in its time */
        change->expired = 0;
        break;
    default:
        failure_set(in.failure, in.arena, UNSUPPORTED,
                    "This server keeps its data at %s: ask it there",
                    transport_url(remote->transport));
        break;
    }
    buf_release(&body);
}

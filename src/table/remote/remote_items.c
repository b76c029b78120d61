/* Reading items by key: GetItem and BatchGetItem; remote_pages.c has Query and Scan. Projections
 * are applied here: the endpoint would bill the same for them, and the items carry versions that
 * the changes need. */
#include "base/clock.h"
#include "base/limits.h"
#include "table/remote/remote_parts.h"
#include "json/attribute.h"

_Thread_local struct remote_recording *remote_recording;

/* --- requests --- */

enum status remote_odd_answer(struct scope in) {
    return failure_set(in.failure, in.arena, IO_FAILED,
                       "the DynamoDB endpoint gave an answer that is none of DynamoDB's");
}

/* This server's own credentials are missing or refused. That is no refusal of who asked, who may
 * try again. */
static enum status refused_itself(const struct transport_request *request, struct scope in) {
    const char *todo = transport_remedy(request);
    struct bytes said = in.failure->text;
    return failure_set(in.failure, in.arena, IO_FAILED,
                       "this server cannot use its DynamoDB endpoint (%.*s)%s%s", BYTES_ARG(said),
                       todo != NULL ? ": " : "", todo != NULL ? todo : "");
}

enum status remote_ask(struct remote *remote, struct transport_request *request, struct scope in) {
    enum status status = transport_send(remote->transport, request, in);
    if (status == OK && request->status != 200)
        status = transport_fault(request, in);
    if (status == DENIED)
        return refused_itself(request, in);
    return status != OK || request->json.type == JSON_OBJECT ? status : remote_odd_answer(in);
}

/* --- by key --- */

static void put_reads(struct buf *body, const struct remote_reads *some) {
    for (size_t i = 0; i < some->count; i++) {
        if (i != 0)
            buf_byte(body, ',');
        attribute_write_item(body, &some->reads[i]->key);
    }
}

enum status remote_take_item(struct remote *remote, const struct remote_row *row, struct scope in,
                             struct remote_read *out) {
    struct item item;
    enum status status = attribute_read_item(row->json, in, &item);
    if (status != OK)
        return remote_odd_answer(in);
    out->exists = true;
    out->item = item;
    if (!remote_is_game(remote, row->table))
        return OK;
    struct remote_item received = remote_item_received(remote, &item, in.arena);
    out->item = received.item;
    out->version = received.version;
    if (remote_item_expired(remote, &out->item))
        out->item = (struct item){0};
    return OK;
}

static enum status read_one(struct remote *remote, struct bytes table, struct remote_read *read,
                            struct scope in) {
    struct buf body = {0};
    buf_lit(&body, "{\"TableName\":");
    json_put_string(&body, table);
    buf_lit(&body, ",\"ConsistentRead\":true,\"Key\":");
    attribute_write_item(&body, &read->key);
    buf_byte(&body, '}');
    struct transport_request request = {.target = "GetItem", .body = buf_bytes(&body)};
    enum status status = remote_ask(remote, &request, in);
    buf_release(&body);
    const struct json *item = status == OK ? json_get(&request.json, BYTES("Item")) : NULL;
    return item != NULL ? remote_take_item(remote, &(struct remote_row){table, item}, in, read)
                        : status;
}

static bool has_key(const struct item *item, const struct item *key) {
    for (uint32_t i = 0; i < key->count; i++) {
        const struct value *value = item_get(item, key->pairs[i].name);
        if (value == NULL || !value_equal(value, &key->pairs[i].value))
            return false;
    }
    return true;
}

static enum status take_items(struct remote *remote, const struct remote_reads *some,
                              const struct json *list, struct scope in) {
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        struct remote_read got = {0};
        struct item whole;
        if (attribute_read_item(&list->elements[i], in, &whole) != OK)
            return remote_odd_answer(in);
        struct remote_row row = {some->table, &list->elements[i]};
        enum status status = remote_take_item(remote, &row, in, &got);
        if (status != OK)
            return status;
        for (size_t at = 0; at < some->count; at++)
            if (has_key(&whole, &some->reads[at]->key)) {
                some->reads[at]->item = got.item;
                some->reads[at]->version = got.version;
                some->reads[at]->exists = true;
            }
    }
    return OK;
}

/* One BatchGetItem, and again for what it left out. */
static enum status read_batch(struct remote *remote, const struct remote_reads *some,
                              struct scope in) {
    struct buf body = {0};
    buf_lit(&body, "{\"RequestItems\":{");
    json_put_string(&body, some->table);
    buf_lit(&body, ":{\"ConsistentRead\":true,\"Keys\":[");
    put_reads(&body, some);
    buf_lit(&body, "]}}}");
    enum status status = OK;
    for (unsigned tries = 0; status == OK; tries++) {
        struct transport_request request = {.target = "BatchGetItem", .body = buf_bytes(&body)};
        status = remote_ask(remote, &request, in);
        if (status != OK)
            break;
        status = take_items(remote, some,
                            json_get(json_get(&request.json, BYTES("Responses")), some->table), in);
        const struct json *left = json_get(&request.json, BYTES("UnprocessedKeys"));
        if (status != OK || left == NULL || left->count == 0)
            break;
        if (tries == LIMIT_REMOTE_CONFLICTS)
            status = failure_set(in.failure, in.arena, BUSY,
                                 "the DynamoDB endpoint takes no more at the moment; try again "
                                 "soon");
        buf_clear(&body);
        buf_lit(&body, "{\"RequestItems\":");
        json_put(&body, left);
        buf_byte(&body, '}');
    }
    buf_release(&body);
    return status;
}

enum status remote_read_many(struct remote *remote, const struct remote_reads *some,
                             struct scope in) {
    enum status status = OK;
    for (size_t at = 0; status == OK && at < some->count; at += LIMIT_BATCH_GETS) {
        struct remote_reads batch = {some->table, some->reads + at, some->count - at};
        if (batch.count > LIMIT_BATCH_GETS)
            batch.count = LIMIT_BATCH_GETS;
        status = batch.count == 1 ? read_one(remote, some->table, batch.reads[0], in)
                                  : read_batch(remote, &batch, in);
    }
    return status;
}

/* --- what a change's `prepare` reads is remembered --- */

void remote_record_read(const struct remote_read *read) {
    struct remote_recording *recording = remote_recording;
    struct remote_read *note = ARENA_NEW(recording->arena, struct remote_read);
    *note = *read;
    note->key = item_copy(recording->arena, &read->key);
    note->item = item_copy(recording->arena, &read->item);
    note->version = arena_copy(recording->arena, read->version);
    note->seen = true;
    note->next = recording->first;
    recording->first = note;
    recording->count++;
}

/* --- get_many --- */

/* The first of the requests that asks for the same item as number `at`. */
static size_t same_as(const struct get_request *requests, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (bytes_equal(requests[i].table, requests[at].table) &&
            item_equal(&requests[i].key, &requests[at].key))
            return i;
    return at;
}

static enum status check_get(struct remote *remote, const struct get_request *request,
                             struct scope in) {
    const struct table_schema *schema;
    enum status status = remote_schema(remote, request->table, in, &schema);
    if (status != OK)
        return status;
    struct rules_context rules = {schema, in.arena, in.failure};
    status = rules_check_key(&rules, &request->key);
    return status == OK ? rules_check_paths(&rules, request->projection, NULL) : status;
}

static void fill_reply(const struct get_request *request, const struct remote_read *read,
                       struct arena *arena, struct get_reply *out) {
    *out = (struct get_reply){.found = read->item.count != 0};
    out->size = out->found ? item_size(&read->item) : 0;
    out->units = rules_read_units(out->size, true);
    if (out->found)
        out->item = request->projection != NULL
                        ? projection_apply(request->projection, &read->item, arena)
                        : read->item;
}

/* What is asked for, and what has been read of it. */
struct gets {
    const struct get_request *requests;
    struct remote_read *reads;
    size_t count;
};

/* Reads those of the requests that are on the same table as number *first, the first that was not
 * read yet; *first then is the next such. */
static enum status read_table_of(struct remote *remote, const struct gets *gets, struct scope in,
                                 size_t *first) {
    struct remote_reads some = {gets->requests[*first].table,
                                ARENA_ARRAY(in.arena, struct remote_read *, gets->count), 0};
    size_t next = gets->count;
    for (size_t i = *first; i < gets->count; i++) {
        if (gets->reads[i].seen)
            continue;
        if (!bytes_equal(gets->requests[i].table, some.table)) {
            next = next < i ? next : i;
            continue;
        }
        gets->reads[i].seen = true;
        if (same_as(gets->requests, i) == i)
            some.reads[some.count++] = &gets->reads[i];
    }
    *first = next;
    return remote_read_many(remote, &some, in);
}

static enum status get_many(struct engine *engine, const struct get_request *requests, size_t count,
                            struct scope in, struct get_reply *replies) {
    struct remote *remote = remote_of(engine);
    struct remote_read *reads = ARENA_ARRAY(in.arena, struct remote_read, count + 1);
    struct gets gets = {requests, reads, count};
    enum status status = OK;
    for (size_t i = 0; status == OK && i < count; i++) {
        status = check_get(remote, &requests[i], in);
        reads[i].key = requests[i].key;
    }
    for (size_t at = 0; status == OK && at < count;)
        status = read_table_of(remote, &gets, in, &at);
    for (size_t i = 0; status == OK && i < count; i++) {
        const struct remote_read *read = &reads[same_as(requests, i)];
        fill_reply(&requests[i], read, in.arena, &replies[i]);
        if (remote_recording != NULL && remote_is_game(remote, requests[i].table))
            remote_record_read(read);
    }
    return status;
}

const struct item_ops remote_item_ops = {.get_many = get_many, .page = remote_page};

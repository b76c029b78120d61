/* BatchGetItem and BatchWriteItem: the requests of several tables in one. */
#include "api/dynamodb/ddb_usage.h"
#include "api/dynamodb/expressions.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"

/* --- BatchGetItem --- */

static const enum arg projections[] = {ARG_PROJECTION_EXPRESSION, ARG_COUNT};
static const enum arg older_projections[] = {ARG_ATTRIBUTES_TO_GET, ARG_COUNT};
static const struct expression_rule projection_rule = {projections, older_projections};

/* The gets of one table: requests[first .. first + count - 1]. */
struct table_gets {
    const struct json_member *member; /* the table's name as given, and its parameters */
    struct bytes table;
    struct get_request model; /* what all of them have in common: everything but the key */
    size_t first, count;
    size_t taken; /* answered; the rest are unprocessed */
    double units;
};

struct batch_get {
    struct get_request requests[LIMIT_BATCH_GETS];
    struct get_reply replies[LIMIT_BATCH_GETS];
    size_t count;
    struct table_gets *tables;
    size_t table_count;
};

static enum status add_key(struct call *call, struct batch_get *batch,
                           const struct table_gets *table, const struct json *from) {
    struct get_request request = table->model;
    enum status status = call_item(call, from, &request.key);
    if (status != OK)
        return status;
    for (size_t i = table->first; i < batch->count; i++)
        if (item_equal(&batch->requests[i].key, &request.key))
            return call_invalid(call, "Provided list of item keys contains duplicates");
    if (batch->count == LIMIT_BATCH_GETS)
        return call_invalid(call, "Too many items requested for the BatchGetItem call");
    batch->requests[batch->count++] = request;
    return OK;
}

static enum status read_gets(struct call *call, struct batch_get *batch, struct table_gets *table) {
    struct projection *legacy = NULL, *projection = NULL;
    struct expr_env env;
    struct args args;
    spec_bind(&shape_keys_and_attributes, &table->member->value, &args);
    enum status status = expressions_check(call, &args, &projection_rule);
    if (status == OK)
        status = legacy_attributes_to_get(call, &args, &legacy);
    if (status == OK)
        status = expressions_env(call, &args, &env);
    if (status == OK)
        status = expressions_projection(call, &args, &env, &projection);
    if (status == OK)
        status = expr_check_unused(&env, (struct scope){call->arena, &call->failure});
    table->model = (struct get_request){
        .table = table->table,
        .consistent = args_bool(&args, ARG_CONSISTENT_READ, false),
        .projection = projection != NULL ? projection : legacy,
    };
    table->first = batch->count;
    const struct json *keys = args.at[ARG_KEYS];
    for (uint32_t i = 0; status == OK && i < keys->count; i++)
        status = add_key(call, batch, table, &keys->elements[i]);
    table->count = batch->count - table->first;
    return status;
}

static enum status read_batch_get(struct call *call, struct batch_get *batch) {
    const struct json *tables = call->args.at[ARG_REQUEST_ITEMS];
    batch->table_count = tables->count;
    batch->tables = ARENA_ARRAY(call->arena, struct table_gets, tables->count);
    for (uint32_t i = 0; i < tables->count; i++) {
        struct table_gets *table = &batch->tables[i];
        table->member = &tables->members[i];
        enum status status = call_table_name(call, table->member->name, &table->table);
        if (status == OK)
            status = read_gets(call, batch, table);
        if (status != OK)
            return status;
    }
    return OK;
}

/* Answers stop growing at 16 MB; what is past it is handed back. */
static void take_within_limit(struct batch_get *batch) {
    size_t size = 0;
    for (size_t t = 0; t < batch->table_count; t++) {
        struct table_gets *table = &batch->tables[t];
        for (; table->taken < table->count; table->taken++) {
            const struct get_reply *reply = &batch->replies[table->first + table->taken];
            if (size + reply->size > LIMIT_BATCH_SIZE)
                break;
            size += reply->size;
            table->units += reply->units;
        }
    }
}

static void put_responses(struct buf *reply, const struct batch_get *batch) {
    REPLY_NAME(reply, "Responses");
    buf_byte(reply, '{');
    for (size_t t = 0; t < batch->table_count; t++) {
        const struct table_gets *table = &batch->tables[t];
        reply_name(reply, table->member->name);
        buf_byte(reply, '[');
        bool first = true;
        for (size_t i = 0; i < table->taken; i++) {
            const struct get_reply *found = &batch->replies[table->first + i];
            if (!found->found)
                continue;
            if (!first)
                buf_byte(reply, ',');
            first = false;
            attribute_write_item(reply, &found->item);
        }
        buf_byte(reply, ']');
    }
    buf_byte(reply, '}');
}

static void put_unprocessed(struct buf *reply, const struct batch_get *batch) {
    REPLY_NAME(reply, "UnprocessedKeys");
    buf_byte(reply, '{');
    for (size_t t = 0; t < batch->table_count; t++) {
        const struct table_gets *table = &batch->tables[t];
        if (table->taken == table->count)
            continue;
        reply_name(reply, table->member->name);
        buf_byte(reply, '{');
        REPLY_NAME(reply, "Keys");
        buf_byte(reply, '[');
        for (size_t i = table->taken; i < table->count; i++) {
            if (i > table->taken)
                buf_byte(reply, ',');
            attribute_write_item(reply, &batch->requests[table->first + i].key);
        }
        buf_byte(reply, ']');
        const struct json *parameters = &table->member->value;
        for (uint32_t i = 0; i < parameters->count; i++) {
            if (bytes_equal(parameters->members[i].name, BYTES("Keys")))
                continue;
            reply_name(reply, parameters->members[i].name);
            json_put(reply, &parameters->members[i].value);
        }
        buf_byte(reply, '}');
    }
    buf_byte(reply, '}');
}

static enum status require_items(struct call *call) {
    if (call->args.at[ARG_REQUEST_ITEMS]->count != 0)
        return OK;
    return call_invalid(call, "The requestItems parameter is required for %.*s",
                        BYTES_ARG(call->operation->name));
}

enum status op_batch_get_item(struct call *call) {
    struct batch_get *batch = ARENA_NEW(call->arena, struct batch_get);
    enum status status = require_items(call);
    if (status == OK)
        status = read_batch_get(call, batch);
    batch->requests[0].brief = call_must_not_wait(call);
    if (status == OK)
        status = engine_get_many(call->engine, batch->requests, batch->count,
                                 (struct scope){call->arena, &call->failure}, batch->replies);
    if (status != OK)
        return status;
    take_within_limit(batch);
    for (size_t t = 0; t < batch->table_count; t++)
        ddb_spend(call, batch->tables[t].table,
                  (struct test_units){.read = batch->tables[t].units});
    enum usage_detail detail = usage_asked(&call->args);
    buf_byte(call->reply, '{');
    put_responses(call->reply, batch);
    put_unprocessed(call->reply, batch);
    if (detail != USAGE_NONE) {
        REPLY_NAME(call->reply, "ConsumedCapacity");
        for (size_t t = 0; t < batch->table_count; t++) {
            struct usage usage = {.table = batch->tables[t].units};
            buf_byte(call->reply, t == 0 ? '[' : ',');
            usage_write(call->reply, batch->tables[t].table, &usage, detail);
        }
        buf_byte(call->reply, ']');
    }
    buf_byte(call->reply, '}');
    return OK;
}

/* --- BatchWriteItem --- */

struct table_writes {
    struct bytes given; /* the table's name as it was written */
    struct bytes table;
    size_t first, count;
};

struct batch_write {
    struct action actions[LIMIT_BATCH_WRITES];
    size_t count;
    struct table_writes *tables;
    size_t table_count;
};

static enum status read_write(struct call *call, const struct json *from, struct action *out) {
    struct args args, inner;
    spec_bind_own(&shape_write_request, from, &args);
    const struct json *put = args.at[ARG_PUT_REQUEST], *del = args.at[ARG_DELETE_REQUEST];
    if ((put == NULL) == (del == NULL))
        return call_invalid(call, "Supplied AttributeValue has more than one datatypes set, must "
                                  "contain exactly one of the supported datatypes");
    out->kind = put != NULL ? ACTION_PUT : ACTION_DELETE;
    if (put != NULL) {
        spec_bind_own(&shape_put_request, put, &inner);
        enum status status = call_item(call, inner.at[ARG_ITEM], &out->item);
        if (status == OK && item_size(&out->item) > LIMIT_ITEM_SIZE)
            return call_invalid(call, "Item size has exceeded the maximum allowed size");
        return status;
    }
    spec_bind_own(&shape_delete_request, del, &inner);
    return call_item(call, inner.at[ARG_KEY], &out->item);
}

static enum status read_batch_write(struct call *call, struct batch_write *batch) {
    const struct json *tables = call->args.at[ARG_REQUEST_ITEMS];
    batch->table_count = tables->count;
    batch->tables = ARENA_ARRAY(call->arena, struct table_writes, tables->count);
    for (uint32_t t = 0; t < tables->count; t++) {
        const struct json_member *member = &tables->members[t];
        struct table_writes *table = &batch->tables[t];
        *table = (struct table_writes){.given = member->name, .first = batch->count};
        enum status status = call_table_name(call, member->name, &table->table);
        for (uint32_t i = 0; status == OK && i < member->value.count; i++) {
            if (batch->count == LIMIT_BATCH_WRITES)
                return call_invalid(call, "Too many items requested for the BatchWriteItem call");
            struct action *action = &batch->actions[batch->count++];
            action->table = table->table;
            status = read_write(call, &member->value.elements[i], action);
        }
        if (status != OK)
            return status;
        table->count = batch->count - table->first;
    }
    return OK;
}

static void put_usage(struct call *call, const struct batch_write *batch,
                      enum usage_detail detail) {
    REPLY_NAME(call->reply, "ConsumedCapacity");
    for (size_t t = 0; t < batch->table_count; t++) {
        const struct table_writes *table = &batch->tables[t];
        struct usage usage = {0};
        for (size_t i = 0; i < table->count; i++)
            usage_add(call->arena, &usage, &batch->actions[table->first + i].usage);
        buf_byte(call->reply, t == 0 ? '[' : ',');
        usage_write(call->reply, table->table, &usage, detail);
    }
    buf_byte(call->reply, ']');
}

static bool has_collections(const struct batch_write *batch, const struct table_writes *table) {
    return table->count > 0 && batch->actions[table->first].collection_key.size > 0;
}

static void put_collections(struct call *call, const struct batch_write *batch) {
    REPLY_NAME(call->reply, "ItemCollectionMetrics");
    buf_byte(call->reply, '{');
    for (size_t t = 0; t < batch->table_count; t++) {
        const struct table_writes *table = &batch->tables[t];
        if (!has_collections(batch, table))
            continue;
        reply_name(call->reply, table->given);
        for (size_t i = 0; i < table->count; i++) {
            const struct action *action = &batch->actions[table->first + i];
            buf_byte(call->reply, i == 0 ? '[' : ',');
            collection_write(call->reply, action->collection_key,
                             item_get(&action->item, action->collection_key),
                             action->collection_size);
        }
        buf_byte(call->reply, ']');
    }
    buf_byte(call->reply, '}');
}

/* A batch does not say what is wrong with a key, though a single put does. */
static enum status vague_fault(struct call *call, enum status status) {
    struct bytes text = call->failure.text;
    if (status == INVALID && (bytes_find(text, BYTES(": Missing the key ")) != SIZE_MAX ||
                              bytes_find(text, BYTES(": Type mismatch for key ")) != SIZE_MAX))
        return call_invalid(call, "The provided key element does not match the schema");
    return status;
}

static enum status answer_batch_write(struct call *call) {
    const struct batch_write *batch = call->state;
    enum status status = call_changed(call);
    if (status != OK)
        return vague_fault(call, status);
    bool collections = false;
    for (size_t t = 0; t < batch->table_count; t++)
        collections |= has_collections(batch, &batch->tables[t]);
    buf_lit(call->reply, "{\"UnprocessedItems\":{}");
    if (usage_asked(&call->args) != USAGE_NONE)
        put_usage(call, batch, usage_asked(&call->args));
    if (collections && collection_asked(&call->args))
        put_collections(call, batch);
    buf_byte(call->reply, '}');
    return OK;
}

enum status op_batch_write_item(struct call *call) {
    struct batch_write *batch = ARENA_NEW(call->arena, struct batch_write);
    enum status status = require_items(call);
    if (status == OK)
        status = read_batch_write(call, batch);
    if (status != OK)
        return status;
    call->state = batch;
    call->change.kind = CHANGE_WRITE;
    call->change.unordered = true;
    call->change.divisible = true;
    call->change.actions = batch->actions;
    call->change.action_count = batch->count;
    return call_then(call, answer_batch_write);
}

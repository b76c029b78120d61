#include "api/dynamodb/ddb_forward.h"

#include "api/dynamodb/ddb_answer.h"
#include "api/dynamodb/operation.h"
#include "base/limits.h"

/* --- which tables a request names --- */

struct named_tables {
    struct bytes names[LIMIT_FORWARD_TABLES];
    size_t count;
    bool too_many;
};

/* "arn:aws:dynamodb:eu-central-1:123456789012:table/NAME/stream/..." to NAME. */
static struct bytes plain_name(struct bytes name) {
    size_t at = bytes_starts(name, BYTES("arn:")) ? bytes_find(name, BYTES(":table/")) : SIZE_MAX;
    if (at == SIZE_MAX)
        return name;
    name = bytes_skip(name, at + BYTES(":table/").size);
    size_t end = bytes_find(name, BYTES("/"));
    return end == SIZE_MAX ? name : bytes_of(name.data, end);
}

static void add_name(struct named_tables *tables, struct bytes name) {
    name = plain_name(name);
    for (size_t i = 0; i < tables->count; i++)
        if (bytes_equal(tables->names[i], name))
            return;
    if (tables->count == LIMIT_FORWARD_TABLES)
        tables->too_many = true;
    else
        tables->names[tables->count++] = name;
}

static bool is_name_of_table(struct bytes member) {
    static const char *const names[] = {
        "TableName",      "TableArn",  "StreamArn", "ResourceArn",     "SourceTableName",
        "SourceTableArn", "BackupArn", "ExportArn", "TargetTableName", "GlobalTableName"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (bytes_equal(member, bytes_str(names[i])))
            return true;
    return false;
}

static void find_names(const struct json *json, struct named_tables *out);

static void find_in_member(const struct json_member *member, struct named_tables *out) {
    const struct json *value = &member->value;
    if (value->type == JSON_STRING && is_name_of_table(member->name))
        add_name(out, value->text);
    else if (value->type == JSON_OBJECT && bytes_equal(member->name, BYTES("RequestItems")))
        for (uint32_t i = 0; i < value->count; i++)
            add_name(out, value->members[i].name);
    else
        find_names(value, out);
}

/* Everywhere: an item's attribute may be called TableName, too, which only asks for more. The depth
 * was bounded when the request was read. */
static void find_names(const struct json *json, struct named_tables *out) {
    if (json->type == JSON_ARRAY)
        for (uint32_t i = 0; i < json->count; i++)
            find_names(&json->elements[i], out);
    if (json->type == JSON_OBJECT)
        for (uint32_t i = 0; i < json->count; i++)
            find_in_member(&json->members[i], out);
}

/* --- what is done here --- */

static bool is_one_of(struct bytes name, const char *const *names) {
    for (; *names != NULL; names++)
        if (bytes_equal(name, bytes_str(*names)))
            return true;
    return false;
}

static bool is_of_items(struct bytes operation) {
    static const char *const names[] = {"GetItem",
                                        "PutItem",
                                        "UpdateItem",
                                        "DeleteItem",
                                        "Query",
                                        "Scan",
                                        "BatchGetItem",
                                        "BatchWriteItem",
                                        "TransactGetItems",
                                        "TransactWriteItems",
                                        "DescribeTable",
                                        NULL};
    return is_one_of(operation, names);
}

static bool is_statement(struct bytes operation) {
    static const char *const names[] = {"ExecuteStatement", "BatchExecuteStatement",
                                        "ExecuteTransaction", NULL};
    return is_one_of(operation, names);
}

/* Whether a statement speaks of the game table: its name stands somewhere in it. */
static bool speaks_of(const struct json *json, struct bytes table) {
    if (json->type == JSON_STRING)
        return bytes_find(json->text, table) != SIZE_MAX;
    bool found = false;
    for (uint32_t i = 0; json->type == JSON_ARRAY && i < json->count && !found; i++)
        found = speaks_of(&json->elements[i], table);
    for (uint32_t i = 0; json->type == JSON_OBJECT && i < json->count && !found; i++)
        found = speaks_of(&json->members[i].value, table);
    return found;
}

bool forward_wanted(const struct call *call) {
    const struct dynamodb_forward *forward = call->frontend->settings.forward;
    struct named_tables tables = {.count = 0};
    if (forward == NULL || call->operation->touches == TOUCHES_CONNECTION)
        return false;
    if (is_statement(call->operation->name))
        return !speaks_of(&call->request, forward->game_table);
    if (!is_of_items(call->operation->name))
        return true;
    find_names(&call->request, &tables);
    for (size_t i = 0; i < tables.count; i++)
        if (!bytes_equal(tables.names[i], forward->game_table))
            return true;
    return tables.count == 0;
}

/* --- asking the key --- */

static unsigned access_of(struct bytes operation) {
    static const char *const reads[] = {
        "GetItem",    "BatchGetItem",     "Query",          "Scan", "TransactGetItems",
        "GetRecords", "GetShardIterator", "DescribeStream", NULL};
    static const char *const writes[] = {"PutItem",        "UpdateItem",         "DeleteItem",
                                         "BatchWriteItem", "TransactWriteItems", NULL};
    return is_one_of(operation, reads)    ? ACCESS_READ
           : is_one_of(operation, writes) ? ACCESS_WRITE
                                          : ACCESS_ADMIN;
}

/* A description of a table says no more than that there is one. */
static bool only_describes(struct bytes operation) {
    return bytes_starts(operation, BYTES("Describe")) || bytes_starts(operation, BYTES("List"));
}

static bool may(const struct call *call, struct bytes table) {
    struct bytes operation = call->operation->name;
    struct touch touch = {.what = TOUCHES_TABLE, .access = access_of(operation), .table = table};
    if (only_describes(operation) && touch.access == ACCESS_ADMIN)
        touch = (struct touch){.what = TOUCHES_SCHEMA, .table = table};
    return access_decide(&call->caller, &touch) == DENIAL_NONE;
}

static enum status refuse_forward(struct call *call, struct bytes table) {
    return failure_set(&call->failure, call->arena, DENIED,
                       "The key is not authorized to perform: dynamodb:%.*s on table %.*s",
                       BYTES_ARG(call->operation->name), BYTES_ARG(table));
}

static enum status check_tables(struct call *call, const struct named_tables *tables) {
    const struct dynamodb_forward *forward = call->frontend->settings.forward;
    bool writes = access_of(call->operation->name) == ACCESS_WRITE;
    if (tables->too_many)
        return call_invalid(call, "A request may name at most %d tables here",
                            LIMIT_FORWARD_TABLES);
    if (tables->count == 0 && !may(call, BYTES("*")))
        return refuse_forward(call, BYTES("*"));
    for (size_t i = 0; i < tables->count; i++) {
        if (!may(call, tables->names[i]))
            return refuse_forward(call, tables->names[i]);
        if (writes && bytes_equal(tables->names[i], forward->game_table))
            return call_invalid(call,
                                "The game's table %.*s cannot be written in one request with other "
                                "tables on this server",
                                BYTES_ARG(forward->game_table));
    }
    return OK;
}

/* --- sending --- */

/* The body as it is signed: unpacked, if it came packed. */
static struct bytes body_of(const struct call *call) {
    struct buf text = {0};
    if (http_header(call->exchange, "Content-Encoding").size == 0)
        return call->exchange->body;
    json_put(&text, &call->request);
    struct bytes copy = arena_copy(call->arena, buf_bytes(&text));
    buf_release(&text);
    return copy;
}

static bool is_of_streams(const struct call *call) {
    return operation_find_streams(call->operation->name) == call->operation;
}

static enum status send_on(struct call *call, struct dynamodb_forwarded *out) {
    const struct dynamodb_forward *forward = call->frontend->settings.forward;
    struct named_tables tables = {.count = 0};
    find_names(&call->request, &tables);
    enum status status = check_tables(call, &tables);
    if (status != OK)
        return status;
    struct bytes target =
        arena_printf(call->arena, "%s%.*s",
                     is_of_streams(call) ? "DynamoDBStreams_20120810." : "DynamoDB_20120810.",
                     BYTES_ARG(call->operation->name));
    *out = (struct dynamodb_forwarded){.target = (const char *)target.data, .body = body_of(call)};
    return forward->send(forward->context, out, (struct scope){call->arena, &call->failure});
}

void forward_call(struct call *call) {
    struct dynamodb_forwarded sent;
    if (send_on(call, &sent) == OK)
        answer_forwarded(call, sent.status, sent.answer);
    else
        answer_failure(call);
}

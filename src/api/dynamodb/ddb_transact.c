/* TransactWriteItems and TransactGetItems. */
#include "api/dynamodb/ddb_transaction.h"

#include "api/dynamodb/expressions.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"

static const enum arg none[] = {ARG_COUNT};
static const enum arg conditions[] = {ARG_CONDITION_EXPRESSION, ARG_COUNT};
static const enum arg updates[] = {ARG_UPDATE_EXPRESSION, ARG_CONDITION_EXPRESSION, ARG_COUNT};
static const enum arg projections[] = {ARG_PROJECTION_EXPRESSION, ARG_COUNT};
static const struct expression_rule condition_rule = {conditions, none};
static const struct expression_rule update_rule = {updates, none};
static const struct expression_rule projection_rule = {projections, none};

static enum status same_item(struct call *call) {
    return call_invalid(call, "Transaction request cannot include multiple operations on one item");
}

/* --- TransactWriteItems --- */

static const struct {
    enum arg arg;
    enum action_kind kind;
    const struct spec *spec;
} kinds[] = {
    {ARG_CONDITION_CHECK, ACTION_CHECK, &shape_transact_check},
    {ARG_DELETE, ACTION_DELETE, &shape_transact_delete},
    {ARG_PUT, ACTION_PUT, &shape_transact_put},
    {ARG_UPDATE, ACTION_UPDATE, &shape_transact_update},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Which of the four an element asks for, with its parameters. */
static enum status read_kind(struct call *call, const struct json *element, enum action_kind *kind,
                             struct args *out) {
    struct args args;
    int which = -1;
    spec_bind_own(&shape_transact_write, element, &args);
    for (int i = 0; i < KINDS; i++) {
        if (!args_has(&args, kinds[i].arg))
            continue;
        if (which >= 0)
            return call_invalid(call, "TransactItems can only contain one of Check, Put, Update or "
                                      "Delete");
        which = i;
    }
    if (which < 0)
        return call_invalid(call, "Invalid Request: TransactWriteRequest should contain Delete or "
                                  "Put or Update request");
    *kind = kinds[which].kind;
    spec_bind(kinds[which].spec, args.at[kinds[which].arg], out);
    return OK;
}

static enum status read_expressions(struct call *call, const struct args *args,
                                    struct action *action, size_t *size) {
    struct condition *condition = NULL;
    struct update *update = NULL;
    struct expr_env env;
    enum status status = expressions_env(call, args, &env);
    if (status == OK)
        status = expressions_update(call, args, &env, &update);
    if (status == OK)
        status = expressions_condition(call, args, &env, &condition);
    if (status == OK)
        status = expr_check_unused(&env, (struct scope){call->arena, &call->failure});
    if (status != OK)
        return status;
    for (size_t i = 0; i < env.value_count; i++)
        *size += value_size(&env.values[i].value);
    action->condition = condition;
    action->update = update;
    return OK;
}

static enum status read_action(struct call *call, const struct json *element,
                               struct transaction *transaction, size_t *size) {
    struct action *action = &transaction->actions[transaction->count];
    struct args args;
    enum status status = read_kind(call, element, &action->kind, &args);
    if (status != OK)
        return status;
    bool put = action->kind == ACTION_PUT;
    transaction->old_on_failure[transaction->count++] =
        bytes_equal(args_text(&args, ARG_RETURN_VALUES_ON_FAILURE), BYTES("ALL_OLD"));
    status = expressions_check(call, &args,
                               action->kind == ACTION_UPDATE ? &update_rule : &condition_rule);
    if (status == OK)
        status = call_table_name(call, args_text(&args, ARG_TABLE_NAME), &action->table);
    if (status == OK)
        status = call_item(call, args.at[put ? ARG_ITEM : ARG_KEY], &action->item);
    if (status != OK)
        return status;
    size_t item = item_size(&action->item);
    if (put && item > LIMIT_ITEM_SIZE)
        return call_invalid(call, "Item size has exceeded the maximum allowed size");
    *size += item;
    return read_expressions(call, &args, action, size);
}

static bool has_collections(const struct transaction *transaction) {
    for (size_t i = 0; i < transaction->count; i++)
        if (transaction->actions[i].collection_key.size != 0)
            return true;
    return false;
}

/* {"table":[...]}; each table once, where it is first named. */
static void put_collections(struct call *call, const struct transaction *transaction) {
    struct buf *reply = call->reply;
    REPLY_NAME(reply, "ItemCollectionMetrics");
    buf_byte(reply, '{');
    for (size_t i = 0; i < transaction->count; i++) {
        const struct action *first = &transaction->actions[i];
        bool told = first->collection_key.size == 0;
        for (size_t j = 0; j < i && !told; j++)
            told = bytes_equal(transaction->actions[j].table, first->table);
        if (told)
            continue;
        reply_name(reply, first->table);
        for (size_t j = i; j < transaction->count; j++) {
            const struct action *action = &transaction->actions[j];
            if (!bytes_equal(action->table, first->table))
                continue;
            buf_byte(reply, j == i ? '[' : ',');
            collection_write(reply, action->collection_key,
                             item_get(&action->item, action->collection_key),
                             action->collection_size);
        }
        buf_byte(reply, ']');
    }
    buf_byte(reply, '}');
}

static enum status answer_write(struct call *call) {
    const struct transaction *transaction = call->state;
    enum status status = transaction_changed(call, transaction);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    transaction_put_usage(call, transaction);
    if (collection_asked(&call->args) && has_collections(transaction))
        put_collections(call, transaction);
    buf_byte(call->reply, '}');
    return OK;
}

enum status op_transact_write_items(struct call *call) {
    const struct json *list = call->args.at[ARG_TRANSACT_ITEMS];
    struct transaction *transaction = transaction_new(call->arena, list->count);
    size_t size = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        enum status status = read_action(call, &list->elements[i], transaction, &size);
        if (status != OK)
            return status;
    }
    if (size > LIMIT_TRANSACT_SIZE)
        return call_invalid(call, "Transaction payload size cannot exceed 4MB. Payload Size: %zu",
                            size);
    call->state = transaction;
    transaction_submit(call, transaction, list);
    return call_then(call, answer_write);
}

/* --- TransactGetItems --- */

struct transact_get {
    struct get_request requests[LIMIT_TRANSACT_ITEMS];
    struct get_reply replies[LIMIT_TRANSACT_ITEMS];
    size_t count;
};

static enum status read_get(struct call *call, const struct json *element,
                            struct transact_get *gets) {
    struct get_request *request = &gets->requests[gets->count++];
    struct projection *projection = NULL;
    struct expr_env env;
    struct args args;
    spec_bind_own(&shape_transact_get, element, &args);
    const struct json *get = args.at[ARG_GET];
    spec_bind(&shape_transact_get_one, get, &args);
    enum status status = expressions_check(call, &args, &projection_rule);
    if (status == OK)
        status = call_table_name(call, args_text(&args, ARG_TABLE_NAME), &request->table);
    if (status == OK)
        status = call_item(call, args.at[ARG_KEY], &request->key);
    if (status == OK)
        status = expressions_env(call, &args, &env);
    if (status == OK)
        status = expressions_projection(call, &args, &env, &projection);
    if (status == OK)
        status = expr_check_unused(&env, (struct scope){call->arena, &call->failure});
    request->projection = projection;
    request->consistent = true;
    return status;
}

static enum status check_same(struct call *call, const struct transact_get *gets) {
    for (size_t i = 1; i < gets->count; i++)
        for (size_t j = 0; j < i; j++)
            if (item_equal(&gets->requests[i].key, &gets->requests[j].key) &&
                bytes_equal(gets->requests[i].table, gets->requests[j].table))
                return same_item(call);
    return OK;
}

/* A key that does not fit its table cancels the transaction: which one it was is found by asking
 * for each by itself. */
static enum status cancel_gets(struct call *call, const struct transact_get *gets) {
    struct transaction *transaction = transaction_new(call->arena, gets->count);
    struct get_reply reply;
    transaction->count = gets->count;
    for (size_t i = 0; i < gets->count; i++) {
        struct failure failure = {0};
        if (engine_get(call->engine, &gets->requests[i], (struct scope){call->arena, &failure},
                       &reply) == INVALID)
            transaction->actions[i].failure = failure;
    }
    return transaction_cancelled(call, transaction);
}

static void put_get_usage(struct call *call, const struct transact_get *gets) {
    struct transaction *transaction = transaction_new(call->arena, gets->count);
    transaction->count = gets->count;
    for (size_t i = 0; i < gets->count; i++) {
        transaction->actions[i].table = gets->requests[i].table;
        transaction->actions[i].usage.table = gets->replies[i].units;
    }
    call->change.repeated = true; /* it only read */
    transaction_put_usage(call, transaction);
}

static enum status answer_get(struct call *call, const struct transact_get *gets) {
    struct buf *reply = call->reply;
    size_t size = 0;
    for (size_t i = 0; i < gets->count; i++) {
        size += gets->replies[i].size;
        ddb_spend(call, gets->requests[i].table,
                  (struct test_units){.read = 2 * gets->replies[i].units});
    }
    if (size > LIMIT_TRANSACT_SIZE)
        return call_invalid(call, "Payload in response is too large: the items of a transaction "
                                  "cannot exceed 4MB");
    buf_byte(reply, '{');
    REPLY_NAME(reply, "Responses");
    for (size_t i = 0; i < gets->count; i++) {
        buf_put(reply, i == 0 ? BYTES("[{") : BYTES(",{"));
        if (gets->replies[i].found) {
            REPLY_NAME(reply, "Item");
            attribute_write_item(reply, &gets->replies[i].item);
        }
        buf_byte(reply, '}');
    }
    buf_byte(reply, ']');
    if (usage_asked(&call->args) != USAGE_NONE)
        put_get_usage(call, gets);
    buf_byte(reply, '}');
    return OK;
}

enum status op_transact_get_items(struct call *call) {
    const struct json *list = call->args.at[ARG_TRANSACT_ITEMS];
    struct transact_get *gets = ARENA_NEW(call->arena, struct transact_get);
    enum status status = OK;
    for (uint32_t i = 0; i < list->count && status == OK; i++)
        status = read_get(call, &list->elements[i], gets);
    if (status == OK)
        status = check_same(call, gets);
    if (status != OK)
        return status;
    gets->requests[0].brief = call_must_not_wait(call);
    status = engine_get_many(call->engine, gets->requests, gets->count,
                             (struct scope){call->arena, &call->failure}, gets->replies);
    if (status == INVALID)
        return cancel_gets(call, gets);
    return status != OK ? status : answer_get(call, gets);
}

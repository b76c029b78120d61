#include "api/dynamodb/transact.h"

/* --- the digest --- */

static uint64_t mix(uint64_t a, uint64_t b, uint64_t seed) {
    uint64_t pair[2] = {a, b};
    return bytes_hash(bytes_of(pair, sizeof pair), seed);
}

uint64_t transaction_digest(const struct json *value, uint64_t seed) {
    uint64_t digest = value->type;
    switch (value->type) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        break;
    case JSON_NUMBER:
    case JSON_STRING:
        return mix(digest, bytes_hash(value->text, seed), seed);
    case JSON_ARRAY:
        for (uint32_t i = 0; i < value->count; i++)
            digest = mix(digest, transaction_digest(&value->elements[i], seed), seed);
        break;
    case JSON_OBJECT: /* a sum, so that the order does not matter */
        for (uint32_t i = 0; i < value->count; i++)
            digest += mix(bytes_hash(value->members[i].name, seed),
                          transaction_digest(&value->members[i].value, seed), seed);
        break;
    }
    return mix(digest, value->count, seed);
}

/* --- there --- */

void transaction_submit(struct call *call, struct transaction *transaction,
                        const struct json *asked) {
    struct change *change = &call->change;
    change->kind = CHANGE_WRITE;
    change->actions = transaction->actions;
    change->action_count = transaction->count;
    change->all_or_nothing = true;
    change->token = args_text(&call->args, ARG_CLIENT_REQUEST_TOKEN);
    if (change->token.size == 0)
        return;
    change->token_digest[0] = transaction_digest(asked, 1);
    change->token_digest[1] = transaction_digest(asked, 2);
}

/* --- and back --- */

static struct bytes reason_code(enum status status) {
    switch (status) {
    case OK:
        return BYTES("None");
    case CONDITION_FAILED:
        return BYTES("ConditionalCheckFailed");
    case DUPLICATE:
        return BYTES("DuplicateItem");
    case COLLECTION_FULL:
        return BYTES("ItemCollectionSizeLimitExceeded");
    case CONFLICT:
        return BYTES("TransactionConflict");
    default:
        return BYTES("ValidationError");
    }
}

static void put_reason(struct buf *to, const struct action *action, bool old_on_failure) {
    enum status status = action->failure.status;
    buf_byte(to, '{');
    if (status == CONDITION_FAILED && old_on_failure && action->had_old) {
        REPLY_NAME(to, "Item");
        attribute_write_item(to, &action->old);
    }
    REPLY_NAME(to, "Code");
    json_put_string(to, reason_code(status));
    if (status != OK) {
        REPLY_NAME(to, "Message");
        json_put_string(to, action->failure.text);
    }
    buf_byte(to, '}');
}

enum status transaction_cancelled(struct call *call, const struct transaction *transaction) {
    struct buf codes = {0}, reasons = {0};
    buf_lit(&reasons, ",\"CancellationReasons\":[");
    for (size_t i = 0; i < transaction->count; i++) {
        const struct action *action = &transaction->actions[i];
        if (i > 0) {
            buf_lit(&codes, ", ");
            buf_byte(&reasons, ',');
        }
        buf_put(&codes, reason_code(action->failure.status));
        put_reason(&reasons, action, transaction->old_on_failure[i]);
    }
    buf_byte(&reasons, ']');
    call->extra = arena_copy(call->arena, buf_bytes(&reasons));
    enum status status = failure_set(&call->failure, call->arena, CANCELLED,
                                     "Transaction cancelled, please refer cancellation reasons for "
                                     "specific reasons [%.*s]",
                                     (int)codes.size, (const char *)codes.data);
    buf_release(&codes);
    buf_release(&reasons);
    return status;
}

enum status transaction_changed(struct call *call, const struct transaction *transaction) {
    enum status status = call_changed(call);
    return status == CANCELLED ? transaction_cancelled(call, transaction) : status;
}

/* --- what it took --- */

static bool named_before(const struct transaction *transaction, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (bytes_equal(transaction->actions[i].table, transaction->actions[at].table))
            return true;
    return false;
}

void transaction_put_usage(struct call *call, const struct transaction *transaction) {
    enum usage_detail detail = usage_asked(&call->args);
    if (detail == USAGE_NONE)
        return;
    REPLY_NAME(call->reply, "ConsumedCapacity");
    buf_byte(call->reply, '[');
    for (size_t i = 0; i < transaction->count; i++) {
        struct usage usage = {0};
        struct bytes table = transaction->actions[i].table;
        if (named_before(transaction, i))
            continue;
        for (size_t j = i; j < transaction->count; j++)
            if (bytes_equal(transaction->actions[j].table, table)) {
                usage_add(call->arena, &usage, &transaction->actions[j].usage);
                usage_add(call->arena, &usage, &transaction->actions[j].usage);
            }
        if (i > 0)
            buf_byte(call->reply, ',');
        usage_write_as(call->reply, table, &usage, detail,
                       call->change.repeated ? "ReadCapacityUnits" : "WriteCapacityUnits");
    }
    buf_byte(call->reply, ']');
}

#include "api/dynamodb/ddb_transaction.h"

#include "table/rules.h"

/* --- the digest --- */

static struct hash_two both(uint64_t word) {
    return (struct hash_two){{word, word}};
}

static struct hash_two digest_elements(const struct json *array, struct hash_two seeds) {
    struct hash_two digest = both(JSON_ARRAY);
    for (uint32_t i = 0; i < array->count; i++)
        digest = hash_stable_words(digest, transaction_digest(&array->elements[i], seeds), seeds);
    return digest;
}

/* A sum, so that the order of the members does not matter. */
static struct hash_two digest_members(const struct json *object, struct hash_two seeds) {
    struct hash_two digest = both(JSON_OBJECT);
    for (uint32_t i = 0; i < object->count; i++) {
        const struct json_member *member = &object->members[i];
        struct hash_two one = hash_stable_words(hash_stable_two(member->name, seeds),
                                                transaction_digest(&member->value, seeds), seeds);
        digest.at[0] += one.at[0];
        digest.at[1] += one.at[1];
    }
    return digest;
}

struct hash_two transaction_digest(const struct json *value, struct hash_two seeds) {
    struct hash_two digest = both(value->type);
    if (value->type == JSON_NUMBER || value->type == JSON_STRING)
        return hash_stable_words(digest, hash_stable_two(value->text, seeds), seeds);
    if (value->type == JSON_ARRAY)
        digest = digest_elements(value, seeds);
    else if (value->type == JSON_OBJECT)
        digest = digest_members(value, seeds);
    return hash_stable_words(digest, both(value->count), seeds);
}

/* --- there --- */

struct transaction *transaction_new(struct arena *arena, size_t room) {
    struct transaction *transaction = ARENA_NEW(arena, struct transaction);
    transaction->actions = ARENA_ARRAY(arena, struct action, room);
    return transaction;
}

void transaction_submit(struct call *call, struct transaction *transaction,
                        const struct json *asked) {
    struct change *change = &call->change;
    change->kind = CHANGE_WRITE;
    change->unordered = true;
    change->actions = transaction->actions;
    change->action_count = transaction->count;
    change->all_or_nothing = true;
    change->token = args_text(&call->args, ARG_CLIENT_REQUEST_TOKEN);
    if (change->token.size == 0)
        return;
    struct hash_two digest = transaction_digest(asked, (struct hash_two){{1, 2}});
    memcpy(change->token_digest, digest.at, sizeof(change->token_digest));
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

/* An empty key is a fault of the request, not a reason to cancel; NULL if there is none. */
static const struct action *find_empty_key(const struct transaction *transaction) {
    for (size_t i = 0; i < transaction->count; i++) {
        const struct action *action = &transaction->actions[i];
        if (action->failure.status == INVALID &&
            bytes_starts(action->failure.text, BYTES(RULES_EMPTY_KEY)))
            return action;
    }
    return NULL;
}

enum status transaction_cancelled(struct call *call, const struct transaction *transaction) {
    const struct action *empty = find_empty_key(transaction);
    if (empty != NULL)
        return call_invalid(call, "%.*s", BYTES_ARG(empty->failure.text));
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
    struct usage_form form = {
        .detail = usage_asked(&call->args),
        .kind = call->change.repeated ? "ReadCapacityUnits" : "WriteCapacityUnits",
    };
    if (form.detail == USAGE_NONE)
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
        usage_write_as(call->reply, table, &usage, form);
    }
    buf_byte(call->reply, ']');
}

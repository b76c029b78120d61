/* PutItem, UpdateItem, DeleteItem: one action each, and what comes back of it. */
#include "api/dynamodb/ddb_usage.h"
#include "api/dynamodb/expressions.h"
#include "api/dynamodb/operation.h"

enum returned {
    RETURN_NONE,
    RETURN_ALL_OLD,
    RETURN_UPDATED_OLD,
    RETURN_ALL_NEW,
    RETURN_UPDATED_NEW,
};

struct write {
    struct action action;
    enum returned returned;
    bool old_on_failure;
};

static const enum arg conditions[] = {ARG_CONDITION_EXPRESSION, ARG_COUNT};
static const enum arg older_conditions[] = {ARG_EXPECTED, ARG_CONDITIONAL_OPERATOR, ARG_COUNT};
static const struct expression_rule condition_rule = {conditions, older_conditions};

static const enum arg updates[] = {ARG_UPDATE_EXPRESSION, ARG_CONDITION_EXPRESSION, ARG_COUNT};
static const enum arg older_updates[] = {ARG_ATTRIBUTE_UPDATES, ARG_EXPECTED,
                                         ARG_CONDITIONAL_OPERATOR, ARG_COUNT};
static const struct expression_rule update_rule = {updates, older_updates};

static enum returned returned_of(const struct args *args) {
    static const struct bytes names[] = {BYTES("NONE"), BYTES("ALL_OLD"), BYTES("UPDATED_OLD"),
                                         BYTES("ALL_NEW"), BYTES("UPDATED_NEW")};
    struct bytes asked = args_text(args, ARG_RETURN_VALUES);
    for (int i = RETURN_ALL_OLD; i <= RETURN_UPDATED_NEW; i++)
        if (bytes_equal(asked, names[i]))
            return (enum returned)i;
    return RETURN_NONE;
}

static struct write *write_new(struct call *call, enum action_kind kind) {
    struct write *write = ARENA_NEW(call->arena, struct write);
    write->action.kind = kind;
    write->action.table = call->table;
    write->returned = returned_of(&call->args);
    write->old_on_failure =
        bytes_equal(args_text(&call->args, ARG_RETURN_VALUES_ON_FAILURE), BYTES("ALL_OLD"));
    call->state = write;
    return write;
}

/* --- what comes back --- */

static struct item returned_item(const struct write *write, struct arena *arena) {
    const struct action *action = &write->action;
    switch (write->returned) {
    case RETURN_ALL_OLD:
        return action->had_old ? action->old : (struct item){0};
    case RETURN_UPDATED_OLD:
        return action->had_old && action->update != NULL
                   ? update_touched(action->update, &action->old, arena)
                   : (struct item){0};
    case RETURN_ALL_NEW:
        return action->new;
    case RETURN_UPDATED_NEW:
        return action->update != NULL ? update_touched(action->update, &action->new, arena)
                                      : (struct item){0};
    case RETURN_NONE:
        break;
    }
    return (struct item){0};
}

static void put_collection(struct call *call, const struct action *action) {
    const struct value *partition = item_get(&action->item, action->collection_key);
    if (!collection_asked(&call->args) || action->collection_key.size == 0 || partition == NULL)
        return;
    REPLY_NAME(call->reply, "ItemCollectionMetrics");
    collection_write(call->reply, action->collection_key, partition, action->collection_size);
}

static enum status answer_write(struct call *call) {
    struct write *write = call->state;
    struct action *action = &write->action;
    if (action->failure.status == CONDITION_FAILED && write->old_on_failure && action->had_old) {
        struct buf item = {0};
        buf_lit(&item, ",\"Item\":");
        attribute_write_item(&item, &action->old);
        call->extra = arena_copy(call->arena, buf_bytes(&item));
        buf_release(&item);
    }
    enum status status = call_changed(call);
    if (status != OK)
        return status;
    struct item item = returned_item(write, call->arena);
    enum usage_detail detail = usage_asked(&call->args);
    buf_byte(call->reply, '{');
    if (item.count > 0) {
        REPLY_NAME(call->reply, "Attributes");
        attribute_write_item(call->reply, &item);
    }
    if (detail != USAGE_NONE) {
        REPLY_NAME(call->reply, "ConsumedCapacity");
        usage_write(call->reply, call->table, &action->usage, detail);
    }
    put_collection(call, action);
    buf_byte(call->reply, '}');
    return OK;
}

static enum status submit_write(struct call *call, struct write *write) {
    call->change.kind = CHANGE_WRITE;
    call->change.unordered = true;
    call->change.actions = &write->action;
    call->change.action_count = 1;
    return call_then(call, answer_write);
}

/* --- the operations --- */

/* Put and Delete: the condition in either form. */
static enum status read_condition(struct call *call, struct write *write) {
    struct condition *legacy = NULL, *condition = NULL;
    struct expr_env env;
    enum status status = legacy_expected(call, &call->args, &legacy);
    if (status == OK)
        status = expressions_env(call, &call->args, &env);
    if (status == OK)
        status = expressions_condition(call, &call->args, &env, &condition);
    if (status == OK)
        status = expr_check_unused(&env, (struct scope){call->arena, &call->failure});
    write->action.condition = condition != NULL ? condition : legacy;
    return status;
}

enum status op_put_item(struct call *call) {
    struct write *write = write_new(call, ACTION_PUT);
    enum status status = expressions_check(call, &call->args, &condition_rule);
    if (status == OK)
        status = call_item(call, call->args.at[ARG_ITEM], &write->action.item);
    if (status != OK)
        return status;
    if (write->returned > RETURN_ALL_OLD)
        return call_invalid(call, "ReturnValues can only be ALL_OLD or NONE");
    if (item_size(&write->action.item) > LIMIT_ITEM_SIZE)
        return call_invalid(call, "Item size has exceeded the maximum allowed size");
    status = read_condition(call, write);
    return status != OK ? status : submit_write(call, write);
}

enum status op_delete_item(struct call *call) {
    struct write *write = write_new(call, ACTION_DELETE);
    enum status status = expressions_check(call, &call->args, &condition_rule);
    if (status == OK)
        status = call_item(call, call->args.at[ARG_KEY], &write->action.item);
    if (status != OK)
        return status;
    if (write->returned > RETURN_ALL_OLD)
        return call_invalid(call, "ReturnValues can only be ALL_OLD or NONE");
    status = read_condition(call, write);
    return status != OK ? status : submit_write(call, write);
}

static enum status read_update(struct call *call, struct write *write) {
    struct update *legacy = NULL, *update = NULL;
    struct condition *older_condition = NULL, *condition = NULL;
    struct expr_env env;
    const struct args *args = &call->args;
    enum status status = legacy_attribute_updates(call, args, &legacy);
    if (status == OK)
        status = legacy_expected(call, args, &older_condition);
    if (status == OK)
        status = expressions_env(call, args, &env);
    if (status == OK)
        status = expressions_update(call, args, &env, &update);
    if (status == OK)
        status = expressions_condition(call, args, &env, &condition);
    if (status == OK)
        status = expr_check_unused(&env, (struct scope){call->arena, &call->failure});
    write->action.update = update != NULL ? update : legacy;
    write->action.condition = condition != NULL ? condition : older_condition;
    return status;
}

enum status op_update_item(struct call *call) {
    struct write *write = write_new(call, ACTION_UPDATE);
    enum status status = expressions_check(call, &call->args, &update_rule);
    if (status == OK)
        status = call_item(call, call->args.at[ARG_KEY], &write->action.item);
    if (status == OK)
        status = read_update(call, write);
    return status != OK ? status : submit_write(call, write);
}

/* ExecuteTransaction: statements that are all executed or none, or that read one snapshot. */
#include "api/dynamodb/ddb_transaction.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"
#include "api/dynamodb/statement.h"

struct transaction_statements {
    struct statement at[LIMIT_TRANSACT_ITEMS];
    uint32_t count;
    struct transaction *transaction;
    struct get_request gets[LIMIT_TRANSACT_ITEMS];
    struct get_reply replies[LIMIT_TRANSACT_ITEMS];
};

static enum status invalid_at(struct call *call, uint32_t index, const char *text) {
    return call_invalid(call, "Validation failed in TransactStatements[%u]: %s", index, text);
}

/* --- reading the request --- */

static enum status parse_all(struct call *call, struct transaction_statements *all, bool *reads) {
    const struct json *list = call->args.at[ARG_TRANSACT_STATEMENTS];
    bool writes = false;
    *reads = false;
    all->transaction = transaction_new(call->arena, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        struct statement *statement = &all->at[all->count++];
        struct args args;
        spec_bind(&shape_transact_statement, &list->elements[i], &args);
        enum status status = statement_parse(call, &args, &call->failure, statement);
        if (status != OK)
            return status;
        *reads |= statement_reads(statement);
        writes |= !statement_reads(statement);
        statement->consistent = true;
    }
    if (*reads && writes)
        return call_invalid(call, "ExecuteTransaction API does not support both read and write "
                                  "operations in the same request.");
    return OK;
}

static enum status check_one(struct call *call, const struct statement *statement, uint32_t i) {
    if (statement_reads(statement) && ql_index(statement->parsed).size != 0)
        return invalid_at(call, i, "Reads on indices are not supported within transactions.");
    if (ql_returning(statement->parsed) != QL_RETURN_NONE)
        return invalid_at(call, i, "RETURNING clause is not supported in ExecuteTransaction.");
    return OK;
}

/* What a statement asks of its table's keys cancels the transaction, with its reason. */
static enum status plan_all(struct call *call, struct transaction_statements *all) {
    struct transaction *transaction = all->transaction;
    bool cancelled = false;
    transaction->count = all->count;
    for (uint32_t i = 0; i < all->count; i++) {
        struct statement *statement = &all->at[i];
        struct failure failure = {0};
        enum status status = check_one(call, statement, i);
        if (status != OK)
            return status;
        status = statement_plan(call, &failure, statement);
        if (status == INVALID && ql_kind(statement->parsed) == QL_EXISTS)
            return invalid_at(call, i, arena_str(call->arena, failure.text));
        if (status == OK && statement_reads(statement) && !statement->plan.single)
            return invalid_at(call, i,
                              "Select statements within ExecuteTransaction must specify the "
                              "primary key in the where clause.");
        if (status != OK && status != INVALID) {
            call->failure = failure;
            return status;
        }
        cancelled |= status == INVALID;
        transaction->actions[i] = statement->plan.action;
        transaction->actions[i].failure = failure;
        transaction->old_on_failure[i] = statement->old_on_failure;
    }
    return cancelled ? transaction_cancelled(call, transaction) : OK;
}

/* --- reads --- */

static void put_get_usage(struct call *call, struct transaction_statements *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        all->transaction->actions[i].table = all->gets[i].table;
        all->transaction->actions[i].usage.table = all->replies[i].units;
    }
    call->change.repeated = true; /* it only read */
    transaction_put_usage(call, all->transaction);
}

static enum status run_reads(struct call *call, struct transaction_statements *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        all->gets[i] = all->at[i].plan.get;
        for (uint32_t j = 0; j < i; j++)
            if (bytes_equal(all->gets[i].table, all->gets[j].table) &&
                item_equal(&all->gets[i].key, &all->gets[j].key))
                return call_invalid(call, "Transaction request cannot include multiple operations "
                                          "on one item");
    }
    enum status status = engine_get_many(call->engine, all->gets, all->count,
                                         (struct scope){call->arena, &call->failure}, all->replies);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"Responses\":[");
    for (uint32_t i = 0; i < all->count; i++) {
        buf_put(call->reply, i == 0 ? BYTES("{") : BYTES(",{"));
        if (all->replies[i].found) {
            struct item item = ql_show(all->at[i].parsed, &all->replies[i].item, call->arena);
            REPLY_NAME(call->reply, "Item");
            attribute_write_item(call->reply, &item);
        }
        buf_byte(call->reply, '}');
    }
    buf_byte(call->reply, ']');
    put_get_usage(call, all);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- writes --- */

static enum status answer_writes(struct call *call) {
    struct transaction_statements *all = call->state;
    for (uint32_t i = 0; i < all->count; i++)
        statement_name_fault(&all->at[i], &all->transaction->actions[i].failure, call->arena);
    enum status status = transaction_changed(call, all->transaction);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"Responses\":[]");
    transaction_put_usage(call, all->transaction);
    buf_byte(call->reply, '}');
    return OK;
}

enum status op_execute_transaction(struct call *call) {
    struct transaction_statements *all = ARENA_NEW(call->arena, struct transaction_statements);
    bool reads;
    enum status status = parse_all(call, all, &reads);
    if (status == OK)
        status = plan_all(call, all);
    if (status != OK)
        return status;
    if (reads)
        return run_reads(call, all);
    size_t size = 0;
    for (uint32_t i = 0; i < all->count; i++)
        size += item_size(&all->transaction->actions[i].item);
    if (size > LIMIT_TRANSACT_SIZE)
        return call_invalid(call, "Transaction payload size cannot exceed 4MB. Payload Size: %zu",
                            size);
    call->state = all;
    transaction_submit(call, all->transaction, call->args.at[ARG_TRANSACT_STATEMENTS]);
    return call_then(call, answer_writes);
}

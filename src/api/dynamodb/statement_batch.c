/* BatchExecuteStatement: statements that have nothing to do with each other, each with its own
 * answer or fault. All writes are handed to the engine at once, so that one commit takes them. */
#include "api/dynamodb/ddb_usage.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"
#include "api/dynamodb/statement.h"
#include "base/limits.h"

#include <stdatomic.h>

struct part {
    struct statement statement;
    struct failure failure;
    struct item item; /* to be told */
    struct usage usage;
    struct change change;
    struct arena arena; /* the engine's, while the other parts are with it too */
};

struct batch {
    struct call *call;
    struct part parts[LIMIT_BATCH_STATEMENTS];
    uint32_t count;
    bool writes;
    atomic_uint waiting; /* changes under way, and one for the submitter */
};

/* --- reading the request --- */

static void read_part(struct call *call, const struct json *from, struct part *part) {
    struct args args;
    spec_bind(&shape_batch_statement, from, &args);
    enum status status = statement_parse(call, &args, &part->failure, &part->statement);
    if (status == OK && ql_kind(part->statement.parsed) == QL_EXISTS)
        failure_set(&part->failure, call->arena, INVALID,
                    "EXISTS can only be used in ExecuteTransaction write requests.");
}

static void plan_part(struct call *call, struct part *part) {
    if (part->failure.status != OK)
        return;
    enum status status = statement_plan(call, &part->failure, &part->statement);
    if (status == OK && statement_reads(&part->statement) && !part->statement.plan.single)
        failure_set(&part->failure, call->arena, INVALID,
                    "Select statements within BatchExecuteStatement must specify the primary key "
                    "in the where clause.");
}

static const struct item *key_of(const struct part *part) {
    return statement_reads(&part->statement) ? &part->statement.plan.get.key
                                             : &part->statement.plan.key;
}

static enum status check_repeats(struct call *call, const struct batch *batch) {
    for (uint32_t i = 1; i < batch->count; i++) {
        const struct part *a = &batch->parts[i];
        for (uint32_t j = 0; a->failure.status == OK && j < i; j++) {
            const struct part *b = &batch->parts[j];
            if (b->failure.status == OK &&
                bytes_equal(statement_table(&a->statement), statement_table(&b->statement)) &&
                item_equal(key_of(a), key_of(b)))
                return call_invalid(call, "Provided list of item keys contains duplicates");
        }
    }
    return OK;
}

static enum status read_batch(struct call *call, struct batch *batch) {
    const struct json *list = call->args.at[ARG_STATEMENTS];
    bool reads = false;
    for (uint32_t i = 0; i < list->count; i++) {
        struct part *part = &batch->parts[batch->count++];
        read_part(call, &list->elements[i], part);
        if (part->failure.status == PARSE_FAILED) {
            call->failure = part->failure;
            return PARSE_FAILED;
        }
        if (part->failure.status != OK)
            continue;
        reads |= statement_reads(&part->statement);
        batch->writes |= !statement_reads(&part->statement);
    }
    if (reads && batch->writes)
        return call_invalid(call, "Read and write requests together in the same batch is not "
                                  "supported.");
    for (uint32_t i = 0; i < batch->count; i++)
        plan_part(call, &batch->parts[i]);
    return check_repeats(call, batch);
}

/* --- the answer --- */

static struct bytes error_code(enum status status) {
    switch (status) {
    case INVALID:
    case PARSE_FAILED:
    case UNSUPPORTED:
        return BYTES("ValidationError");
    case NO_TABLE:
        return BYTES("ResourceNotFound");
    case CONDITION_FAILED:
        return BYTES("ConditionalCheckFailed");
    case DUPLICATE:
        return BYTES("DuplicateItem");
    case COLLECTION_FULL:
        return BYTES("ItemCollectionSizeLimitExceeded");
    case CONFLICT:
        return BYTES("TransactionConflict");
    case DENIED:
        return BYTES("AccessDenied");
    case BUSY:
    case BEING_BUILT:
        return BYTES("ThrottlingError");
    case LIMIT_EXCEEDED:
    case MEMORY_FULL:
        return BYTES("RequestLimitExceeded");
    default:
        return BYTES("InternalServerError");
    }
}

static void put_error(struct buf *to, const struct part *part) {
    const struct action *action = &part->statement.plan.action;
    enum status status = part->failure.status;
    REPLY_NAME(to, "Error");
    buf_byte(to, '{');
    REPLY_NAME(to, "Code");
    json_put_string(to, error_code(status));
    REPLY_NAME(to, "Message");
    json_put_string(to, part->failure.text);
    if (status == CONDITION_FAILED && part->statement.old_on_failure && action->had_old) {
        REPLY_NAME(to, "Item");
        attribute_write_item(to, &action->old);
    }
    buf_byte(to, '}');
}

static void put_part(struct buf *to, const struct part *part) {
    buf_byte(to, '{');
    if (part->failure.status != OK)
        put_error(to, part);
    if (part->statement.table.schema.name.size != 0) {
        REPLY_NAME(to, "TableName");
        json_put_string(to, statement_table(&part->statement));
    }
    if (part->item.count > 0) {
        REPLY_NAME(to, "Item");
        attribute_write_item(to, &part->item);
    }
    buf_byte(to, '}');
}

static void put_usage(struct call *call, const struct batch *batch, enum usage_detail detail) {
    bool done[LIMIT_BATCH_STATEMENTS] = {false}, any = false;
    REPLY_NAME(call->reply, "ConsumedCapacity");
    buf_byte(call->reply, '[');
    for (uint32_t i = 0; i < batch->count; i++) {
        struct bytes table = statement_table(&batch->parts[i].statement);
        struct usage usage = {0};
        if (done[i] || table.size == 0)
            continue;
        for (uint32_t j = i; j < batch->count; j++) {
            if (!bytes_equal(statement_table(&batch->parts[j].statement), table))
                continue;
            usage_add(call->arena, &usage, &batch->parts[j].usage);
            done[j] = true;
        }
        if (any)
            buf_byte(call->reply, ',');
        any = true;
        usage_write(call->reply, table, &usage, detail);
    }
    buf_byte(call->reply, ']');
}

static enum status answer_batch(struct call *call, const struct batch *batch) {
    buf_lit(call->reply, "{\"Responses\":[");
    for (uint32_t i = 0; i < batch->count; i++) {
        if (i > 0)
            buf_byte(call->reply, ',');
        put_part(call->reply, &batch->parts[i]);
    }
    buf_byte(call->reply, ']');
    if (usage_asked(&call->args) != USAGE_NONE)
        put_usage(call, batch, usage_asked(&call->args));
    buf_byte(call->reply, '}');
    return OK;
}

/* --- reads --- */

static enum status run_reads(struct call *call, struct batch *batch) {
    size_t size = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (size > LIMIT_BATCH_BRIEF && call_must_not_wait(call))
            return WOULD_BLOCK;
        struct part *part = &batch->parts[i];
        struct get_reply reply;
        if (part->failure.status != OK ||
            engine_get(call->engine, &part->statement.plan.get,
                       (struct scope){call->arena, &part->failure}, &reply) != OK)
            continue;
        part->usage.table = reply.units;
        size += reply.size;
        if (reply.found)
            part->item = ql_show(part->statement.parsed, &reply.item, call->arena);
    }
    return answer_batch(call, batch);
}

/* --- writes --- */

static enum status answer_writes(struct call *call) {
    struct batch *batch = call->state;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct part *part = &batch->parts[i];
        if (part->failure.status != OK)
            continue;
        part->failure = part->change.failure;
        part->usage = part->statement.plan.action.usage;
        if (part->failure.status == OK)
            part->item =
                statement_returned(&part->statement, &part->statement.plan.action, call->arena);
        else
            statement_name_fault(&part->statement, &part->failure, call->arena);
    }
    enum status status = answer_batch(call, batch);
    for (uint32_t i = 0; i < batch->count; i++)
        arena_release(&batch->parts[i].arena);
    return status;
}

/* What was refused before has no change. */
static void submit_writes(struct call *call) {
    struct batch *batch = call->state;
    change_submit_begin(&call->written);
    for (uint32_t i = 0; i < batch->count; i++) {
        struct part *part = &batch->parts[i];
        arena_init(&part->arena);
        if (part->failure.status != OK)
            continue;
        part->change = (struct change){.kind = CHANGE_WRITE,
                                       .arena = &part->arena,
                                       .unordered = true,
                                       .actions = &part->statement.plan.action,
                                       .action_count = 1};
        change_submit_add(call->engine, &part->change, &call->written);
    }
    change_submit_end(&call->written);
}

enum status op_batch_execute_statement(struct call *call) {
    struct batch *batch = ARENA_NEW(call->arena, struct batch);
    enum status status = read_batch(call, batch);
    if (status != OK)
        return status;
    if (!batch->writes)
        return run_reads(call, batch);
    call->state = batch;
    call->submit = submit_writes;
    return call_then(call, answer_writes);
}

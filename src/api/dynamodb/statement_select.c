/* A SELECT's answer: its queries one after the other, as far as Limit and a page's size go, and a
 * token to go on from there.
 *
 * A token is base64 of
 *
 *   1 byte    2, the form of the token
 *   8 bytes   a digest of the statement and its parameters: it is good for no other
 *   4 bytes   the query to go on with
 *   the rest  the key to go on after, as JSON; or nothing, to begin with the query's first item
 */
#include "api/dynamodb/ddb_transaction.h"
#include "api/dynamodb/ddb_usage.h"
#include "api/dynamodb/statement.h"
#include "base/base64.h"
#include "base/hash.h"

enum { TOKEN_FORM = 2 };

struct resume {
    uint32_t page;
    struct item start;
    bool started; /* there is a start */
};

struct selection {
    struct call *call;
    struct statement *statement;
    uint32_t left; /* of Limit; 0: no limit */
    uint32_t written;
    double size; /* read so far, in bytes */
    struct usage usage;
    bool more;
    struct resume next;
};

/* --- tokens --- */

static uint64_t select_digest(const struct call *call) {
    uint64_t seed = hash_stable(args_text(&call->args, ARG_STATEMENT), TOKEN_FORM);
    const struct json *parameters = call->args.at[ARG_PARAMETERS];
    if (parameters == NULL)
        return seed;
    return transaction_digest(parameters, (struct hash_two){{seed, seed}}).at[0];
}

static void put_token(struct call *call, const struct resume *place) {
    struct buf token = {0};
    buf_byte(&token, TOKEN_FORM);
    buf_u64(&token, select_digest(call));
    buf_u32(&token, place->page);
    if (place->started)
        attribute_write_item(&token, &place->start);
    REPLY_NAME(call->reply, "NextToken");
    buf_byte(call->reply, '"');
    base64_put(call->reply, buf_bytes(&token));
    buf_byte(call->reply, '"');
    buf_release(&token);
}

static bool read_start(struct call *call, struct bytes text, struct resume *out) {
    struct json json;
    struct failure failure;
    size_t at;
    out->started = text.size != 0;
    return !out->started ||
           (json_parse(text, call->arena, &json, &at) == OK && json.type == JSON_OBJECT &&
            attribute_read_item(&json, (struct scope){call->arena, &failure}, &out->start) == OK);
}

static enum status read_token(struct call *call, uint32_t pages, struct resume *out) {
    struct bytes text = args_text(&call->args, ARG_NEXT_TOKEN), token;
    uint8_t form;
    uint64_t of;
    *out = (struct resume){0};
    if (text.size == 0)
        return OK;
    if (!base64_read(text, call->arena, &token) || !take_u8(&token, &form) || form != TOKEN_FORM ||
        !take_u64(&token, &of) || !take_u32(&token, &out->page))
        return call_invalid(call, "Invalid NextToken");
    if (of != select_digest(call))
        return call_invalid(call, "NextToken does not match request");
    if (out->page >= pages || !read_start(call, token, out))
        return call_invalid(call, "Invalid NextToken");
    return OK;
}

/* --- pages --- */

static void put_item(struct selection *selection, const struct item *item) {
    struct call *call = selection->call;
    struct item shown = ql_show(selection->statement->parsed, item, call->arena);
    if (selection->written++ > 0)
        buf_byte(call->reply, ',');
    attribute_write_item(call->reply, &shown);
}

static double usage_size(const struct usage *usage, bool consistent) {
    double units = usage->table;
    for (uint32_t i = 0; i < usage->index_count; i++)
        units += usage->indexes[i].units;
    return units * (consistent ? 4096 : 8192);
}

static enum status read_page(struct selection *selection, const struct resume *place) {
    struct call *call = selection->call;
    struct page_request *request = &selection->statement->plan.pages[place->page];
    struct page_reply page = {0};
    request->limit = selection->left;
    request->start = place->started ? &place->start : NULL;
    request->brief = call_must_not_wait(call);
    enum status status =
        engine_page(call->engine, request, (struct scope){call->arena, &call->failure}, &page);
    if (status != OK)
        return status;
    for (uint64_t i = 0; i < page.count; i++)
        put_item(selection, &page.items[i]);
    usage_add(call->arena, &selection->usage, &page.usage);
    selection->size += usage_size(&page.usage, request->consistent);
    bool spent = selection->left != 0 && page.scanned >= selection->left;
    if (selection->left != 0 && !spent)
        selection->left -= (uint32_t)page.scanned;
    selection->next = page.more ? (struct resume){place->page, page.last_key, true}
                                : (struct resume){.page = place->page + 1};
    selection->more = page.more || (selection->next.page < selection->statement->plan.page_count &&
                                    (spent || selection->size >= LIMIT_PAGE_SIZE));
    return OK;
}

static enum status read_pages(struct selection *selection) {
    uint32_t pages = selection->statement->plan.page_count;
    enum status status = read_token(selection->call, pages, &selection->next);
    while (status == OK && !selection->more && selection->next.page < pages) {
        struct resume place = selection->next;
        status = read_page(selection, &place);
    }
    return status;
}

/* One item by its whole key. */
static enum status read_one(struct selection *selection) {
    struct call *call = selection->call;
    struct get_reply reply;
    enum status status = engine_get(call->engine, &selection->statement->plan.get,
                                    (struct scope){call->arena, &call->failure}, &reply);
    if (status == OK && reply.found)
        put_item(selection, &reply.item);
    if (status == OK)
        selection->usage.table = reply.units;
    return status;
}

enum status statement_select(struct call *call, struct statement *statement) {
    struct selection selection = {
        .call = call,
        .statement = statement,
        .left = (uint32_t)args_int(&call->args, ARG_LIMIT, 0),
    };
    bool one = statement->plan.single && !args_has(&call->args, ARG_NEXT_TOKEN);
    buf_lit(call->reply, "{\"Items\":[");
    enum status status = one ? read_one(&selection) : read_pages(&selection);
    if (status != OK)
        return status;
    buf_byte(call->reply, ']');
    enum usage_detail detail = usage_asked(&call->args);
    if (selection.more) {
        put_token(call, &selection.next);
        if (selection.next.started) {
            REPLY_NAME(call->reply, "LastEvaluatedKey");
            attribute_write_item(call->reply, &selection.next.start);
        }
    }
    if (detail != USAGE_NONE) {
        REPLY_NAME(call->reply, "ConsumedCapacity");
        usage_write(call->reply, statement_table(statement), &selection.usage, detail);
    }
    buf_byte(call->reply, '}');
    return OK;
}

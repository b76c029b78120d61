/* GetItem, Query, Scan. */
#include "api/dynamodb/ddb_usage.h"
#include "api/dynamodb/expressions.h"
#include "api/dynamodb/operation.h"
#include "table/rules.h"

/* --- GetItem --- */

static const enum arg projections[] = {ARG_PROJECTION_EXPRESSION, ARG_COUNT};
static const enum arg older_projections[] = {ARG_ATTRIBUTES_TO_GET, ARG_COUNT};
static const struct expression_rule projection_rule = {projections, older_projections};

static enum status read_get(struct call *call, struct get_request *request) {
    const struct args *args = &call->args;
    struct projection *legacy = NULL, *projection = NULL;
    struct expr_env env;
    enum status status = expressions_check(call, args, &projection_rule);
    if (status == OK)
        status = call_item(call, args->at[ARG_KEY], &request->key);
    if (status == OK)
        status = legacy_attributes_to_get(call, args, &legacy);
    if (status == OK)
        status = expressions_env(call, args, &env);
    if (status == OK)
        status = expressions_projection(call, args, &env, &projection);
    if (status == OK)
        status = expr_check_unused(&env, (struct scope){call->arena, &call->failure});
    request->table = call->table;
    request->consistent = args_bool(args, ARG_CONSISTENT_READ, false);
    request->projection = projection != NULL ? projection : legacy;
    request->takes_stored = request->projection == NULL;
    return status;
}

/* Writes the item that was found. If it is encoded, how much that was is known only now. */
static enum status write_found(struct call *call, const struct get_request *request,
                               struct get_reply *found) {
    const struct item_encoded *stored = &found->stored;
    size_t size;
    REPLY_NAME(call->reply, "Item");
    if (stored->bytes.data == NULL) {
        attribute_write_item(call->reply, &found->item);
        return OK;
    }
    struct attribute_transcoder *by = attribute_transcoder_of_thread(stored->names, call->arena);
    if (!attribute_transcode(by, stored->bytes, call->reply, &size))
        return failure_set(&call->failure, call->arena, DAMAGED, ITEM_DAMAGED);
    found->units = rules_read_units(size, request->consistent);
    return OK;
}

enum status op_get_item(struct call *call) {
    struct get_request request = {0};
    struct get_reply found;
    enum status status = read_get(call, &request);
    if (status == OK)
        status =
            engine_get(call->engine, &request, (struct scope){call->arena, &call->failure}, &found);
    if (status != OK)
        return status;
    enum usage_detail detail = usage_asked(&call->args);
    buf_byte(call->reply, '{');
    if (found.found)
        status = write_found(call, &request, &found);
    if (status != OK)
        return status;
    ddb_spend(call, call->table, (struct test_units){.read = found.units});
    if (detail != USAGE_NONE) {
        struct usage usage = {.table = found.units};
        REPLY_NAME(call->reply, "ConsumedCapacity");
        usage_write(call->reply, call->table, &usage, detail);
    }
    buf_byte(call->reply, '}');
    return OK;
}

/* --- Query and Scan --- */

static enum select select_of(const struct args *args) {
    struct bytes text = args_text(args, ARG_SELECT);
    if (bytes_equal(text, BYTES("ALL_ATTRIBUTES")))
        return SELECT_ALL;
    if (bytes_equal(text, BYTES("ALL_PROJECTED_ATTRIBUTES")))
        return SELECT_PROJECTED;
    if (bytes_equal(text, BYTES("SPECIFIC_ATTRIBUTES")))
        return SELECT_SPECIFIC;
    if (bytes_equal(text, BYTES("COUNT")))
        return SELECT_COUNT;
    return SELECT_DEFAULT;
}

/* Select against the parameters that choose attributes. */
static enum status check_select(struct call *call, const struct page_request *request) {
    const struct args *args = &call->args;
    const char *chosen = args_has(args, ARG_ATTRIBUTES_TO_GET)       ? "AttributesToGet"
                         : args_has(args, ARG_PROJECTION_EXPRESSION) ? "ProjectionExpression"
                                                                     : NULL;
    struct bytes select = args_text(args, ARG_SELECT);
    if (chosen != NULL && select.size != 0 && request->select != SELECT_SPECIFIC)
        return call_invalid(call, "Cannot specify the %s when choosing to get %s", chosen,
                            request->select == SELECT_COUNT ? "only the Count"
                                                            : arena_str(call->arena, select));
    if (chosen == NULL && request->select == SELECT_SPECIFIC)
        return call_invalid(call, "Must specify the AttributesToGet or ProjectionExpression when "
                                  "choosing to get SPECIFIC_ATTRIBUTES");
    if (request->select == SELECT_PROJECTED && request->index.size == 0)
        return call_invalid(call, "One or more parameter values were invalid: "
                                  "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using "
                                  "an IndexName");
    return OK;
}

/* Faults of values in a start key carry a prefix, except those about numbers and duplicates. */
static enum status read_start(struct call *call, struct page_request *request) {
    const struct json *from = call->args.at[ARG_EXCLUSIVE_START_KEY];
    if (from == NULL)
        return OK;
    struct item *start = ARENA_NEW(call->arena, struct item);
    request->start = start;
    enum status status = call_item(call, from, start);
    if (status != INVALID)
        return status;
    static const struct bytes plain[] = {BYTES("contains duplicates"), BYTES("number set"),
                                         BYTES("numeric value"), BYTES("significant digits"),
                                         BYTES("number with magnitude")};
    struct bytes text = call->failure.text;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (bytes_find(text, plain[i]) != SIZE_MAX)
            return status;
    return call_invalid(call, "The provided starting key is invalid: %.*s", BYTES_ARG(text));
}

/* What Query and Scan have in common, before expressions. */
static void read_page(struct call *call, struct page_request *request) {
    const struct args *args = &call->args;
    request->table = call->table;
    request->index = args_text(args, ARG_INDEX_NAME);
    request->consistent = args_bool(args, ARG_CONSISTENT_READ, false);
    request->limit = (uint32_t)args_int(args, ARG_LIMIT, 0);
    if (call->page_max != 0 && (request->limit == 0 || request->limit > call->page_max))
        request->limit = call->page_max;
    request->select = select_of(args);
    request->strict_paging = call->frontend->settings.strict_paging;
}

/* All expressions are parsed and found to use all names and values before it is asked what the key
 * condition means. */
static enum status read_expressions(struct call *call, struct page_request *request,
                                    struct key_condition *keys) {
    const struct args *args = &call->args;
    struct condition *filter = NULL;
    struct projection *projection = NULL;
    struct node *tree = NULL;
    struct expr_env env;
    enum status status = expressions_env(call, args, &env);
    struct expr_source source = expressions_source(call, args, ARG_KEY_CONDITION_EXPRESSION, &env);
    if (status == OK && args_has(args, ARG_KEY_CONDITION_EXPRESSION))
        status = key_condition_parse_tree(&source, &tree);
    if (status == OK)
        status = expressions_filter(call, args, &env, &filter);
    if (status == OK)
        status = expressions_projection(call, args, &env, &projection);
    if (status == OK)
        status = expr_check_unused(&env, (struct scope){call->arena, &call->failure});
    if (status == OK && tree != NULL)
        status = key_condition_read(&source, tree, keys);
    if (filter != NULL)
        request->filter = filter;
    if (projection != NULL)
        request->projection = projection;
    return status;
}

/* Writes the items of a page into the reply while the engine reads them. */
struct page_writer {
    struct buf *to;
    struct arena *arena;
    struct attribute_transcoder *by; /* NULL: not asked for yet */
    bool any;
};

static void begin_item(struct page_writer *writer) {
    if (writer->any)
        buf_byte(writer->to, ',');
    writer->any = true;
}

static void write_item(void *user, const struct item *item) {
    struct page_writer *writer = user;
    begin_item(writer);
    attribute_write_item(writer->to, item);
}

static size_t write_stored(void *user, const struct names *names, struct bytes stored) {
    struct page_writer *writer = user;
    size_t size;
    begin_item(writer);
    if (writer->by == NULL)
        writer->by = attribute_transcoder_of_thread(names, writer->arena);
    return attribute_transcode(writer->by, stored, writer->to, &size) ? size : 0;
}

/* Reads the page and writes its items, if any were asked for. What was written before a failure is
 * thrown away by whoever tells of it. */
static enum status read_items(struct call *call, struct page_request *request,
                              struct page_reply *page) {
    struct scope in = {call->arena, &call->failure};
    if (request->select == SELECT_COUNT)
        return engine_page(call->engine, request, in, page);
    struct page_writer writer = {.to = call->reply, .arena = call->arena};
    request->visit = write_item;
    request->visit_stored = write_stored;
    request->user = &writer;
    REPLY_NAME(call->reply, "Items");
    buf_byte(call->reply, '[');
    enum status status = engine_page(call->engine, request, in, page);
    buf_byte(call->reply, ']');
    return status;
}

static enum status answer_page(struct call *call, struct page_request *request) {
    struct page_reply page = {0};
    struct buf *reply = call->reply;
    enum usage_detail detail = usage_asked(&call->args);
    ddb_spend(call, call->table, (struct test_units){.read = usage_total(&page.usage)});
    buf_byte(reply, '{');
    enum status status = read_items(call, request, &page);
    if (status != OK)
        return status;
    REPLY_NAME(reply, "Count");
    json_put_int(reply, (int64_t)page.count);
    REPLY_NAME(reply, "ScannedCount");
    json_put_int(reply, (int64_t)page.scanned);
    if (page.more) {
        REPLY_NAME(reply, "LastEvaluatedKey");
        attribute_write_item(reply, &page.last_key);
    }
    if (detail != USAGE_NONE) {
        REPLY_NAME(reply, "ConsumedCapacity");
        usage_write(reply, call->table, &page.usage, detail);
    }
    buf_byte(reply, '}');
    return OK;
}

/* What is wrong with older conditions is told only of a table and an index that exist. */
static enum status unless_missing(struct call *call, enum status status) {
    struct table_description table;
    struct failure missing = {0};
    struct bytes index = args_text(&call->args, ARG_INDEX_NAME);
    if (status != INVALID)
        return status;
    enum status found =
        engine_describe(call->engine, call->table, (struct scope){call->arena, &missing}, &table);
    if (found != OK && found != NO_TABLE) /* a caller who may read need not be one who may look */
        return status;
    if (found == OK && index.size != 0 && table_schema_index(&table.schema, index) == NULL)
        found = failure_set(&missing, call->arena, INVALID,
                            "The table does not have the specified index: %.*s", BYTES_ARG(index));
    if (found == NO_TABLE)
        failure_set(&missing, call->arena, NO_TABLE, "Requested resource not found");
    if (found != OK)
        call->failure = missing;
    return found != OK ? found : status;
}

static const enum arg query_expressions[] = {ARG_PROJECTION_EXPRESSION, ARG_FILTER_EXPRESSION,
                                             ARG_KEY_CONDITION_EXPRESSION, ARG_COUNT};
static const enum arg query_older[] = {ARG_ATTRIBUTES_TO_GET, ARG_QUERY_FILTER,
                                       ARG_CONDITIONAL_OPERATOR, ARG_KEY_CONDITIONS, ARG_COUNT};
static const struct expression_rule query_rule = {query_expressions, query_older};

static enum status read_query(struct call *call, struct page_request *request,
                              struct key_condition *keys) {
    const struct args *args = &call->args;
    struct condition *filter = NULL;
    struct projection *projection = NULL;
    enum status status = expressions_check(call, args, &query_rule);
    if (status == OK)
        status = unless_missing(call, legacy_filter(call, args, ARG_QUERY_FILTER, &filter));
    if (status == OK)
        status = legacy_attributes_to_get(call, args, &projection);
    if (status == OK)
        status = read_start(call, request);
    if (status != OK)
        return status;
    request->filter = filter;
    request->filter_legacy = filter != NULL;
    request->projection = projection;
    bool legacy = args_has(args, ARG_KEY_CONDITIONS);
    if (!legacy && !args_has(args, ARG_KEY_CONDITION_EXPRESSION))
        return call_invalid(call, "Either the KeyConditions or KeyConditionExpression parameter "
                                  "must be specified in the request.");
    status = read_expressions(call, request, keys);
    if (status == OK && legacy)
        status = unless_missing(call, legacy_key_conditions(call, args, keys));
    return status;
}

/* A count may need a tree that takes seconds to make, and a page may look at very many small items:
 * no loop waits for it. */
enum status op_query(struct call *call) {
    bool hurries = call_must_not_wait(call);
    struct page_request request = {.nonblocking = hurries, .brief = hurries};
    struct key_condition *keys = ARENA_NEW(call->arena, struct key_condition);
    read_page(call, &request);
    request.keys = keys;
    request.backward = !args_bool(&call->args, ARG_SCAN_INDEX_FORWARD, true);
    enum status status = read_query(call, &request, keys);
    if (status == OK && (status = check_select(call, &request)) == INVALID)
        call_count_fault(call);
    return status != OK ? status : answer_page(call, &request);
}

static const enum arg scan_expressions[] = {ARG_PROJECTION_EXPRESSION, ARG_FILTER_EXPRESSION,
                                            ARG_COUNT};
static const enum arg scan_older[] = {ARG_ATTRIBUTES_TO_GET, ARG_SCAN_FILTER,
                                      ARG_CONDITIONAL_OPERATOR, ARG_COUNT};
static const struct expression_rule scan_rule = {scan_expressions, scan_older};

static enum status read_segments(struct call *call, struct page_request *request) {
    const struct args *args = &call->args;
    int64_t segment = args_int(args, ARG_SEGMENT, 0);
    int64_t segments = args_int(args, ARG_TOTAL_SEGMENTS, 0);
    if (args_has(args, ARG_SEGMENT) && !args_has(args, ARG_TOTAL_SEGMENTS))
        return call_invalid(call, "The TotalSegments parameter is required but was not present in "
                                  "the request when Segment parameter is present");
    if (args_has(args, ARG_TOTAL_SEGMENTS) && !args_has(args, ARG_SEGMENT))
        return call_invalid(call, "The Segment parameter is required but was not present in the "
                                  "request when parameter TotalSegments is present");
    if (segments > 0 && segment >= segments)
        return call_invalid(call,
                            "The Segment parameter is zero-based and must be less than parameter "
                            "TotalSegments: Segment: %lld is not less than TotalSegments: %lld",
                            (long long)segment, (long long)segments);
    request->segment = (uint32_t)segment;
    request->segments = (uint32_t)segments;
    return OK;
}

enum status op_scan(struct call *call) {
    struct page_request request = {.brief = call_must_not_wait(call)};
    const struct args *args = &call->args;
    struct condition *filter = NULL;
    struct projection *projection = NULL;
    read_page(call, &request);
    enum status status = expressions_check(call, args, &scan_rule);
    if (status == OK)
        status = legacy_attributes_to_get(call, args, &projection);
    if (status == OK)
        status = unless_missing(call, legacy_filter(call, args, ARG_SCAN_FILTER, &filter));
    if (status == OK)
        status = read_start(call, &request);
    if (status == OK)
        status = read_segments(call, &request);
    if (status != OK)
        return status;
    request.filter = filter;
    request.filter_legacy = filter != NULL;
    request.projection = projection;
    status = read_expressions(call, &request, NULL);
    if (status == OK)
        status = check_select(call, &request);
    return status != OK ? status : answer_page(call, &request);
}

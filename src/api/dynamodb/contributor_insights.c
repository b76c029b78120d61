/* UpdateContributorInsights, DescribeContributorInsights, ListContributorInsights: whether a table
 * or a global index tells which of its keys are asked for most.
 *
 * The keys are counted for all tables, always (table/hot_keys.h); who reads them asks GET /v1/hot
 * or the console, since there is no CloudWatch here to keep rules. What is switched on or off is
 * kept with the table: a tag that no client can name says status, mode, when the rules were made
 * and when the status last changed, and that of an index goes with the index. On and off are
 * reached at once, so ENABLING and DISABLING are only ever told in the answer to the change, as the
 * service does.
 */
#include "api/dynamodb/ddb_background.h"
#include "api/dynamodb/operation.h"
#include "base/clock.h"
#include "base/limits.h"

static const struct bytes table_tag = {(const uint8_t *)TAG_OWN "insights", 9};
static const struct bytes all_keys = {(const uint8_t *)"ACCESSED_AND_THROTTLED_KEYS", 27};
static const struct bytes throttled_keys = {(const uint8_t *)"THROTTLED_KEYS", 14};

/* Of a table, or of one of its indexes. */
struct insights {
    struct bytes table, index; /* index empty: the table itself */
    bool sorted;               /* it has a sort key, which has rules of its own */
    bool enabled;
    bool throttled_only;
    int64_t made_ms, changed_ms; /* 0: it was never switched on */
};

/* --- what is kept: "ENABLED 1 1794793420307 1794793420307", the 1 for throttled keys only --- */

static struct bytes tag_name(const struct insights *insights, struct arena *arena) {
    if (insights->index.size == 0)
        return table_tag;
    struct bytes prefix = BYTES(TAG_OF_INDEX);
    uint8_t *name = arena_alloc(arena, prefix.size + insights->index.size);
    memcpy(name, prefix.data, prefix.size);
    memcpy(name + prefix.size, insights->index.data, insights->index.size);
    return bytes_of(name, prefix.size + insights->index.size);
}

static struct bytes tag_value(const struct insights *insights, struct arena *arena) {
    return arena_printf(arena, "%s %d %lld %lld", insights->enabled ? "ENABLED" : "DISABLED",
                        insights->throttled_only, (long long)insights->made_ms,
                        (long long)insights->changed_ms);
}

static struct bytes take_word(struct bytes *text) {
    size_t end = bytes_find(*text, BYTES(" "));
    struct bytes word = bytes_of(text->data, end == SIZE_MAX ? text->size : end);
    *text = bytes_skip(*text, end == SIZE_MAX ? text->size : end + 1);
    return word;
}

static int64_t take_number(struct bytes *text) {
    struct bytes word = take_word(text);
    int64_t number = 0;
    for (size_t i = 0; i < word.size && i < 18; i++)
        number = number * 10 + (word.data[i] - '0');
    return number;
}

static void read_tags(const struct table_schema *schema, struct insights *out,
                      struct arena *arena) {
    struct bytes name = tag_name(out, arena);
    for (uint32_t i = 0; i < schema->tag_count; i++) {
        struct bytes value = schema->tags[i].value;
        if (!bytes_equal(schema->tags[i].key, name))
            continue;
        out->enabled = bytes_equal(take_word(&value), BYTES("ENABLED"));
        out->throttled_only = take_number(&value) == 1;
        out->made_ms = take_number(&value);
        out->changed_ms = take_number(&value);
    }
}

/* --- finding --- */

static const struct index_schema *global_index(const struct table_schema *schema,
                                               struct bytes name) {
    const struct index_schema *index = table_schema_index(schema, name);
    return index == NULL || index->local ? NULL : index;
}

/* Of call->table and IndexName; the description is filled in, too. */
static enum status find_insights(struct call *call, struct table_description *table,
                                 struct insights *out) {
    const struct key_schema *keys = &table->schema.keys;
    *out = (struct insights){.table = call->table, .index = args_text(&call->args, ARG_INDEX_NAME)};
    enum status status = engine_describe(call->engine, call->table,
                                         (struct scope){call->arena, &call->failure}, table);
    if (status != OK)
        return status;
    if (out->index.size != 0) {
        const struct index_schema *index = global_index(&table->schema, out->index);
        if (index == NULL)
            return failure_set(&call->failure, call->arena, NO_RESOURCE,
                               "Requested resource not found: Index: %.*s not found for table: "
                               "%.*s",
                               BYTES_ARG(out->index), BYTES_ARG(call->table));
        keys = &index->keys;
    }
    out->sorted = keys->sort_count != 0;
    read_tags(&table->schema, out, call->arena);
    return OK;
}

/* --- telling --- */

static struct bytes mode_of(const struct insights *insights) {
    return insights->throttled_only ? throttled_keys : all_keys;
}

/* {"TableName":...,"ContributorInsightsMode":... without the brace that ends it. */
static void put_insights(struct buf *to, const struct insights *insights, struct bytes status) {
    buf_byte(to, '{');
    reply_text(to, BYTES("TableName"), insights->table);
    if (insights->index.size != 0)
        reply_text(to, BYTES("IndexName"), insights->index);
    reply_text(to, BYTES("ContributorInsightsStatus"), status);
    if (insights->made_ms != 0)
        reply_text(to, BYTES("ContributorInsightsMode"), mode_of(insights));
}

static struct bytes status_of(const struct insights *insights) {
    return insights->enabled ? BYTES("ENABLED") : BYTES("DISABLED");
}

/* Rules by partition key and by partition and sort key, for keys that are asked for (C) and that
 * are throttled (T), named as the service names them. */
static void put_rules(struct buf *to, const struct insights *insights) {
    static const struct {
        const char *name;
        bool sorted, accessed;
    } rules[] = {
        {"PKC", false, true}, {"SKC", true, true}, {"PKT", false, false}, {"SKT", true, false}};
    const char *between = "";
    REPLY_NAME(to, "ContributorInsightsRuleList");
    buf_byte(to, '[');
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if ((rules[i].sorted && !insights->sorted) ||
            (rules[i].accessed && insights->throttled_only))
            continue;
        buf_printf(to, "%s\"DynamoDBContributorInsights-%s-%.*s%s%.*s-%lld\"", between,
                   rules[i].name, BYTES_ARG(insights->table), insights->index.size != 0 ? "-" : "",
                   BYTES_ARG(insights->index), (long long)insights->made_ms);
        between = ",";
    }
    buf_byte(to, ']');
}

enum status op_describe_contributor_insights(struct call *call) {
    struct table_description table;
    struct insights insights;
    enum status status = find_insights(call, &table, &insights);
    if (status != OK)
        return status;
    put_insights(call->reply, &insights, status_of(&insights));
    if (insights.enabled)
        put_rules(call->reply, &insights);
    if (insights.changed_ms != 0)
        reply_time(call->reply, BYTES("LastUpdateDateTime"), insights.changed_ms);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- changing --- */

static enum status answer_updated(struct call *call) {
    const struct insights *insights = call->state;
    enum status status = call_changed(call);
    if (status != OK)
        return status;
    put_insights(call->reply, insights, insights->enabled ? BYTES("ENABLING") : BYTES("DISABLING"));
    buf_byte(call->reply, '}');
    return OK;
}

static enum status submit_insights(struct call *call, const struct insights *insights) {
    struct insights *kept = ARENA_NEW(call->arena, struct insights);
    struct tag *tag = ARENA_NEW(call->arena, struct tag);
    *kept = *insights;
    *tag = (struct tag){tag_name(kept, call->arena), tag_value(kept, call->arena)};
    call->state = kept;
    call->change.kind = CHANGE_TAGS;
    call->change.table = call->table;
    call->change.tags = tag;
    call->change.tag_count = 1;
    return call_then(call, answer_updated);
}

/* A table or index that is being made cannot be switched on yet. */
static enum status check_active(struct call *call, const struct table_description *table,
                                struct bytes index) {
    const char *what = table->status == PART_CREATING ? "TableStatus" : NULL;
    for (uint32_t i = 0; index.size != 0 && i < table->schema.index_count; i++)
        if (bytes_equal(table->schema.indexes[i].name, index) &&
            table->indexes[i].status == PART_CREATING)
            what = "IndexStatus";
    if (what == NULL)
        return OK;
    return call_invalid(call,
                        "Table or Index is not in a valid state to update Key Access Insights: %s "
                        "must be ACTIVE to enable ContributorInsights.",
                        what);
}

/* What is so already is told as it is. Rules that another mode keeps keep their names. */
enum status op_update_contributor_insights(struct call *call) {
    struct table_description table;
    struct insights now;
    bool enable =
        bytes_equal(args_text(&call->args, ARG_CONTRIBUTOR_INSIGHTS_ACTION), BYTES("ENABLE"));
    bool throttled_only =
        bytes_equal(args_text(&call->args, ARG_CONTRIBUTOR_INSIGHTS_MODE), throttled_keys);
    enum status status = find_insights(call, &table, &now);
    if (status == OK && enable)
        status = check_active(call, &table, now.index);
    if (status != OK)
        return status;
    if (enable == now.enabled && (!enable || throttled_only == now.throttled_only)) {
        put_insights(call->reply, &now, status_of(&now));
        buf_byte(call->reply, '}');
        return OK;
    }
    now.changed_ms = clock_now_ms();
    if (enable) {
        now.made_ms = now.enabled ? now.made_ms : now.changed_ms;
        now.throttled_only = throttled_only;
    }
    now.enabled = enable;
    return submit_insights(call, &now);
}

/* --- listing --- */

/* A page in the making. */
struct insights_page {
    size_t limit, count;
    struct bytes after; /* "table" or "table/index" that the page before ended with; empty: none */
    struct bytes last;  /* what was told last; "table/": all of that table */
    bool more;
};

static struct bytes entry_name(const struct insights *insights, struct arena *arena) {
    if (insights->index.size == 0)
        return insights->table;
    return arena_printf(arena, "%.*s/%.*s", BYTES_ARG(insights->table), BYTES_ARG(insights->index));
}

/* Adds what is switched on, unless an earlier page had it. */
static void add_entry(struct call *call, struct insights_page *page, const struct insights *entry) {
    struct bytes name = entry_name(entry, call->arena);
    if (page->after.size != 0) {
        if (bytes_equal(page->after, name))
            page->after = (struct bytes){0};
        return;
    }
    if (!entry->enabled || page->more)
        return;
    if (page->count == page->limit) {
        page->more = true;
        return;
    }
    if (page->count++ != 0)
        buf_byte(call->reply, ',');
    put_insights(call->reply, entry, status_of(entry));
    buf_byte(call->reply, '}');
    page->last = name;
}

/* The table first, then its indexes. */
static enum status add_table(struct call *call, struct insights_page *page, struct bytes name) {
    struct table_description table;
    enum status status =
        engine_describe(call->engine, name, (struct scope){call->arena, &call->failure}, &table);
    struct insights entry = {.table = name};
    if (status != OK)
        return status;
    read_tags(&table.schema, &entry, call->arena);
    add_entry(call, page, &entry);
    for (uint32_t i = 0; i < table.schema.index_count; i++) {
        entry = (struct insights){.table = name, .index = table.schema.indexes[i].name};
        if (table.schema.indexes[i].local)
            continue;
        read_tags(&table.schema, &entry, call->arena);
        add_entry(call, page, &entry);
    }
    page->after = (struct bytes){0}; /* an index that has gone since */
    return OK;
}

/* A table that goes meanwhile, or that the key may not see, is left out. */
static enum status add_tables(struct call *call, struct insights_page *page, struct bytes after) {
    struct list_request request = {after, LIMIT_INSIGHTS_TABLES};
    struct name_list list;
    enum status status = engine_list(call->engine, &request, call->arena, &list);
    for (size_t i = 0; status == OK && i < list.count && !page->more; i++) {
        status = add_table(call, page, list.names[i]);
        if (status == NO_TABLE || status == DENIED) {
            call->failure = (struct failure){0};
            status = OK;
        }
        if (!page->more)
            page->last = arena_printf(call->arena, "%.*s/", BYTES_ARG(list.names[i]));
    }
    page->more = page->more || (status == OK && list.more);
    return status;
}

/* Where a page ended within a table, the rest of it comes first. The token is a client's. */
static enum status add_all(struct call *call, struct insights_page *page, struct bytes token) {
    size_t slash = bytes_find(token, BYTES("/"));
    struct bytes table = bytes_of(token.data, slash == SIZE_MAX ? token.size : slash);
    enum status status = OK;
    if (table.size != 0 && slash + 1 != token.size) {
        page->after = token;
        page->last = token;
        status = add_table(call, page, table);
        if (status == NO_TABLE || status == DENIED) {
            call->failure = (struct failure){0};
            status = OK;
        }
    }
    return status == OK && !page->more ? add_tables(call, page, table) : status;
}

enum status op_list_contributor_insights(struct call *call) {
    struct bytes token = args_text(&call->args, ARG_NEXT_TOKEN);
    struct insights_page page = {.limit = (size_t)args_int(&call->args, ARG_MAX_RESULTS, 100)};
    enum status status;
    if (page.limit == 0)
        page.limit = 100;
    buf_lit(call->reply, "{\"ContributorInsightsSummaries\":[");
    if (call->table.size != 0) {
        page.after = token;
        status = add_table(call, &page, call->table);
    } else
        status = add_all(call, &page, token);
    if (status != OK)
        return status;
    buf_byte(call->reply, ']');
    if (page.more)
        reply_text(call->reply, BYTES("NextToken"), page.last);
    buf_byte(call->reply, '}');
    return OK;
}

/* Reading pages: Query and Scan. Filters and projections are applied here: the endpoint would bill
 * the same for them, and the items carry versions that the changes need. */
#include "base/limits.h"
#include "table/remote/remote_parts.h"
#include "json/attribute.h"

struct paging {
    struct remote *remote;
    const struct page_request *request;
    const struct table_schema *schema;
    const struct index_schema *index; /* NULL: the table */
    struct scope in;
    struct page_reply *reply;
    size_t room;
    const struct item *start;
    struct buf names, values; /* of the key condition: members of the two maps */
    struct buf keys;          /* its text */
    size_t size;              /* of what was read */
};

static enum status check_page(struct paging *paging) {
    const struct page_request *request = paging->request;
    struct rules_context rules = {paging->schema, paging->in.arena, paging->in.failure};
    struct key_range range;
    bool fetch = false;
    enum status status = rules_check_consistent(&rules, paging->index, request, &fetch);
    if (status == OK && request->keys != NULL)
        status = rules_check_range(&rules, paging->index, request->keys, &range);
    if (status == OK && request->start != NULL)
        status = rules_check_start(&rules, paging->index, request->keys != NULL ? &range : NULL,
                                   request->start);
    if (status == OK && request->keys != NULL && request->filter != NULL && !request->filter_keys)
        status =
            rules_check_filter_keys(&rules, paging->index, request->filter, request->filter_legacy);
    if (status == OK && request->keys != NULL && request->filter != NULL)
        status = rules_check_filter_shown(&rules, paging->index, request->filter, fetch);
    if (status == OK)
        status = rules_check_select(&rules, paging->index, request);
    return status == OK ? rules_check_paths(&rules, request->projection, request->filter) : status;
}

static void put_value(struct paging *paging, unsigned number, char which,
                      const struct value *value) {
    buf_printf(&paging->values, "%s\":v%u%c\":", paging->values.size != 0 ? "," : "", number,
               which);
    attribute_write(&paging->values, value);
}

static void put_test(struct paging *paging, unsigned number, const struct key_test *test) {
    static const char *const forms[] = {[KEY_EQ] = "#k%u = :v%ua",
                                        [KEY_LT] = "#k%u < :v%ua",
                                        [KEY_LE] = "#k%u <= :v%ua",
                                        [KEY_GT] = "#k%u > :v%ua",
                                        [KEY_GE] = "#k%u >= :v%ua",
                                        [KEY_BETWEEN] = "#k%u BETWEEN :v%ua AND :v%ub",
                                        [KEY_BEGINS] = "begins_with(#k%u, :v%ua)"};
    char text[64];
    const char *form = forms[test->op];
    size_t size = 0;
    for (; *form != '\0'; form++) { /* each "%u" is the number */
        if (form[0] == '%' && form[1] == 'u') {
            text[size++] = (char)('0' + number);
            form++;
        } else
            text[size++] = *form;
    }
    if (paging->keys.size != 0)
        buf_lit(&paging->keys, " AND ");
    buf_append(&paging->keys, text, size);
    buf_printf(&paging->names, "%s\"#k%u\":", paging->names.size != 0 ? "," : "", number);
    json_put_string(&paging->names, test->name);
    put_value(paging, number, 'a', &test->low);
    if (test->op == KEY_BETWEEN)
        put_value(paging, number, 'b', &test->high);
}

static void put_condition(struct paging *paging, struct buf *body) {
    const struct key_condition *keys = paging->request->keys;
    if (keys == NULL)
        return;
    buf_clear(&paging->keys);
    buf_clear(&paging->names);
    buf_clear(&paging->values);
    for (unsigned i = 0; i < keys->count; i++)
        put_test(paging, i, &keys->tests[i]);
    buf_lit(body, ",\"KeyConditionExpression\":");
    json_put_string(body, buf_bytes(&paging->keys));
    buf_lit(body, ",\"ExpressionAttributeNames\":{");
    buf_put(body, buf_bytes(&paging->names));
    buf_lit(body, "},\"ExpressionAttributeValues\":{");
    buf_put(body, buf_bytes(&paging->values));
    buf_byte(body, '}');
    if (paging->request->backward)
        buf_lit(body, ",\"ScanIndexForward\":false");
}

/* Whether the endpoint may count for us: nothing is to be looked at here. */
static bool only_counts(const struct paging *paging) {
    const struct page_request *request = paging->request;
    return request->select == SELECT_COUNT && request->filter == NULL && request->visit == NULL &&
           remote_recording == NULL;
}

static void put_page(struct paging *paging, struct buf *body) {
    const struct page_request *request = paging->request;
    buf_lit(body, "{\"TableName\":");
    json_put_string(body, request->table);
    if (request->index.size != 0) {
        buf_lit(body, ",\"IndexName\":");
        json_put_string(body, request->index);
    }
    if (paging->index == NULL || paging->index->local)
        buf_lit(body, ",\"ConsistentRead\":true");
    put_condition(paging, body);
    if (request->limit != 0)
        buf_printf(body, ",\"Limit\":%llu",
                   (unsigned long long)(request->limit - paging->reply->scanned));
    if (request->segments != 0)
        buf_printf(body, ",\"Segment\":%u,\"TotalSegments\":%u", request->segment,
                   request->segments);
    if (only_counts(paging))
        buf_lit(body, ",\"Select\":\"COUNT\"");
    if (paging->start != NULL) {
        buf_lit(body, ",\"ExclusiveStartKey\":");
        attribute_write_item(body, paging->start);
    }
    buf_byte(body, '}');
}

static void keep_item(struct paging *paging, const struct item *item) {
    struct page_reply *reply = paging->reply;
    if (reply->count == paging->room) {
        size_t more = paging->room == 0 ? 16 : paging->room * 2;
        reply->items = arena_grow(paging->in.arena, reply->items,
                                  paging->room * sizeof(struct item), more * sizeof(struct item));
        paging->room = more;
    }
    reply->items[reply->count] = *item;
}

static void show_item(struct paging *paging, const struct item *item) {
    const struct page_request *request = paging->request;
    struct item shown = *item;
    if (request->projection != NULL)
        shown = projection_apply(request->projection, item, paging->in.arena);
    if (request->visit != NULL)
        request->visit(request->user, &shown);
    else if (request->select != SELECT_COUNT)
        keep_item(paging, &shown);
    paging->reply->count++;
}

static enum status take_row(struct paging *paging, const struct json *json) {
    const struct page_request *request = paging->request;
    struct remote_read row = {0};
    enum status status = remote_take_item(
        paging->remote, &(struct remote_row){request->table, json}, paging->in, &row);
    if (status != OK)
        return status;
    paging->reply->scanned++;
    if (row.item.count == 0)
        return OK;
    paging->size += item_size(&row.item);
    bool game = remote_is_game(paging->remote, request->table);
    if (remote_recording != NULL && game) {
        row.key = rules_key_of(paging->schema, NULL, &row.item, paging->in.arena);
        remote_record_read(&row);
    }
    if (request->filter == NULL || condition_holds(request->filter, &row.item, paging->in.arena))
        show_item(paging, &row.item);
    return OK;
}

static uint64_t number_of(const struct json *object, struct bytes name) {
    const struct json *number = json_get(object, name);
    uint64_t out = 0;
    for (size_t i = 0; number != NULL && number->type == JSON_NUMBER && i < number->text.size; i++)
        out = out * 10 + (uint64_t)(number->text.data[i] - '0') % 10;
    return out;
}

static enum status take_page(struct paging *paging, const struct json *answer) {
    struct page_reply *reply = paging->reply;
    const struct json *items = json_get(answer, BYTES("Items"));
    const struct json *last = json_get(answer, BYTES("LastEvaluatedKey"));
    enum status status = OK;
    if (only_counts(paging)) {
        reply->count += number_of(answer, BYTES("Count"));
        reply->scanned += number_of(answer, BYTES("ScannedCount"));
    }
    for (uint32_t i = 0; status == OK && items != NULL && i < items->count; i++)
        status = take_row(paging, &items->elements[i]);
    reply->more = last != NULL;
    if (status == OK && last != NULL)
        status = attribute_read_item(last, paging->in, &reply->last_key);
    paging->start = &reply->last_key;
    reply->usage.table = rules_read_units(paging->size, paging->index == NULL);
    return status;
}

/* Whether another page of the endpoint belongs to this one: `whole`, and counts. */
static bool goes_on(const struct paging *paging) {
    const struct page_request *request = paging->request;
    bool full = request->limit != 0 && paging->reply->scanned >= request->limit;
    return paging->reply->more && !full &&
           (request->whole || (only_counts(paging) && !request->strict_paging));
}

static enum status read_pages(struct paging *paging) {
    struct buf body = {0};
    enum status status;
    do {
        buf_clear(&body);
        put_page(paging, &body);
        struct transport_request request = {
            .target = paging->request->keys != NULL ? "Query" : "Scan", .body = buf_bytes(&body)};
        status = remote_ask(paging->remote, &request, paging->in);
        if (status == OK)
            status = take_page(paging, &request.json);
    } while (status == OK && goes_on(paging));
    buf_release(&body);
    buf_release(&paging->keys);
    buf_release(&paging->names);
    buf_release(&paging->values);
    return status;
}

static enum status find_index(struct paging *paging) {
    struct bytes name = paging->request->index;
    if (name.size == 0)
        return OK;
    paging->index = table_schema_index(paging->schema, name);
    if (paging->index != NULL)
        return OK;
    return failure_set(paging->in.failure, paging->in.arena, INVALID,
                       "The table does not have the specified index: %.*s", BYTES_ARG(name));
}

/* An entry of the ranking that a change's `prepare` was shown: its item is read afterwards, has to
 * agree with it, and is checked in the commit. */
static void record_ranked(const struct item *entry) {
    struct remote_recording *recording = remote_recording;
    const struct value *partition = item_get(entry, BYTES("PK")),
                       *sort = item_get(entry, BYTES("SK"));
    struct remote_read *note = ARENA_NEW(recording->arena, struct remote_read);
    if (partition == NULL || sort == NULL)
        return;
    note->ranked = item_copy(recording->arena, entry);
    struct pair *pairs = ARENA_ARRAY(recording->arena, struct pair, 2);
    pairs[0] = (struct pair){BYTES("PK"), value_copy(recording->arena, partition)};
    pairs[1] = (struct pair){BYTES("SK"), value_copy(recording->arena, sort)};
    note->key = (struct item){pairs, 2};
    note->seen = true;
    note->next = recording->first;
    recording->first = note;
    recording->count++;
}

/* Stands between the ranking and who asked for a page of it to be visited. `user` is the request.
 */
static void visit_recorded(void *user, const struct item *item) {
    const struct page_request *request = user;
    record_ranked(item);
    request->visit(request->user, item);
}

static enum status page_recorded(struct remote *remote, const struct page_request *request,
                                 struct scope in, struct page_reply *out) {
    struct page_request asked = *request;
    if (request->visit != NULL) {
        asked.visit = visit_recorded;
        asked.visit_stored = NULL;
        asked.user = (void *)(uintptr_t)request;
    }
    enum status status = remote_ranking_page(remote->ranking, &asked, in, out);
    for (uint64_t i = 0; status == OK && out->items != NULL && i < out->count; i++)
        record_ranked(&out->items[i]);
    if (status == OK && remote_recording->count > LIMIT_TRANSACT_ITEMS)
        return failure_set(
            in.failure, in.arena, LIMIT_EXCEEDED,
            "This server's ranking is apart from its data: at most %d members can be "
            "read and written in one step",
            LIMIT_TRANSACT_ITEMS);
    return status;
}

static enum status page_of_ranks(struct remote *remote, const struct page_request *request,
                                 struct scope in, struct page_reply *out) {
    if (remote->ranking == NULL)
        return failure_set(in.failure, in.arena, UNSUPPORTED, "There is no ranking.");
    if (remote_recording != NULL && !remote_recording->settled)
        return page_recorded(remote, request, in, out);
    return remote_ranking_page(remote->ranking, request, in, out);
}

enum status remote_page(struct engine *engine, const struct page_request *request, struct scope in,
                        struct page_reply *out) {
    struct paging paging = {.remote = remote_of(engine),
                            .request = request,
                            .in = in,
                            .reply = out,
                            .start = request->start};
    *out = (struct page_reply){0};
    enum status status = remote_schema(paging.remote, request->table, in, &paging.schema);
    if (status == OK)
        status = find_index(&paging);
    if (status == OK)
        status = check_page(&paging);
    if (status != OK)
        return status;
    if (remote_is_ranks(paging.remote, request->table, request->index))
        return page_of_ranks(paging.remote, request, in, out);
    if (request->skip != 0 || request->skip_end != 0 || request->low.at.count != 0 ||
        request->high.at.count != 0)
        return failure_set(in.failure, in.arena, UNSUPPORTED, "Only the index %s is read by rank",
                           "ranks");
    return read_pages(&paging);
}

/* --- for rebuilding the ranking --- */

static enum status take_versions(struct remote *remote, const struct json *answer,
                                 struct remote_scan *scan, struct scope in) {
    const struct json *items = json_get(answer, BYTES("Items"));
    const struct json *last = json_get(answer, BYTES("LastEvaluatedKey"));
    size_t count = items != NULL ? items->count : 0;
    scan->items = ARENA_ARRAY(in.arena, struct remote_item, count + 1);
    scan->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct item item;
        if (attribute_read_item(&items->elements[i], in, &item) != OK)
            return remote_odd_answer(in);
        struct remote_item *got = &scan->items[scan->count];
        *got = (struct remote_item){item, remote_version_newest(remote_versions_of(&item))};
        remote_version_note(remote, remote_version_time(got->version));
        scan->count += !remote_item_expired(remote, &got->item);
    }
    scan->more = last != NULL;
    return last != NULL ? attribute_read_item(last, in, &scan->last_key) : OK;
}

enum status remote_query_versions(struct remote *remote, struct remote_scan *scan,
                                  struct scope in) {
    struct buf body = {0};
    buf_lit(&body, "{\"TableName\":");
    json_put_string(&body, remote->table);
    buf_lit(&body, ",\"ConsistentRead\":true,\"KeyConditionExpression\":\"PK = :p\","
                   "\"ProjectionExpression\":\"SK,#s,#u,#t,#v,#e\","
                   "\"ExpressionAttributeNames\":{\"#s\":\"score\",\"#u\":\"subscore\","
                   "\"#t\":\"tie\",\"#v\":\"v\",\"#e\":\"ttl\"},"
                   "\"ExpressionAttributeValues\":{\":p\":{\"S\":");
    json_put_string(&body, scan->partition);
    buf_lit(&body, "}}");
    if (scan->backward)
        buf_lit(&body, ",\"ScanIndexForward\":false");
    if (scan->limit != 0)
        buf_printf(&body, ",\"Limit\":%u", scan->limit);
    if (scan->start != NULL) {
        buf_lit(&body, ",\"ExclusiveStartKey\":");
        attribute_write_item(&body, scan->start);
    }
    buf_byte(&body, '}');
    struct transport_request request = {.target = "Query", .body = buf_bytes(&body)};
    enum status status = remote_ask(remote, &request, in);
    buf_release(&body);
    return status == OK ? take_versions(remote, &request.json, scan, in) : status;
}

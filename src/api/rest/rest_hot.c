/* Hot partitions: the heaviest keys of tables and indexes (table/hot_keys.h). */
#include "api/rest/rest_forms.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "table/engine.h"
#include "table/hot_keys.h"

enum { KEYS_USUAL = 10 };

static const char *const kinds[HOT_KINDS] = {[HOT_READS] = "reads", [HOT_WRITES] = "writes"};

/* Bytes that are no text are told as such. */
static void put_key(struct buf *to, const struct hot_key *key) {
    struct bytes text = bytes_of(key->text, key->size);
    rest_put_text(to, "key", utf8_valid(text) ? text : BYTES("(binary)"));
}

static void put_list(struct buf *to, const char *name, const struct hot_list *list, size_t limit) {
    rest_put_name(to, name);
    buf_byte(to, '[');
    for (size_t i = 0; i < list->count && i < limit; i++) {
        rest_put_comma(to);
        buf_byte(to, '{');
        put_key(to, &list->keys[i]);
        rest_put_uint(to, "count", list->keys[i].count);
        rest_put_uint(to, "error", list->keys[i].error);
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

static void put_minutes(struct buf *to, const struct hot_table *table) {
    int64_t now_ms = clock_now_ms();
    rest_put_name(to, "minutes");
    buf_byte(to, '[');
    for (size_t i = 0; i < table->minute_count; i++) {
        rest_put_comma(to);
        buf_byte(to, '{');
        rest_put_time(to, "at", now_ms - table->minutes[i].ago_s * 1000);
        for (size_t kind = 0; kind < HOT_KINDS; kind++)
            put_list(to, kinds[kind], &table->minutes[i].lists[kind], HOT_KEPT);
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

static void put_table(struct rest_call *call, const struct hot_table *table, bool minutes) {
    struct buf *to = call->reply;
    size_t limit = (size_t)rest_query_count(call, "limit", KEYS_USUAL);
    rest_put_comma(to);
    buf_byte(to, '{');
    rest_put_text(to, "table", table->name);
    rest_put_uint(to, "readCount", table->totals[HOT_READS]);
    rest_put_uint(to, "writeCount", table->totals[HOT_WRITES]);
    for (size_t kind = 0; kind < HOT_KINDS; kind++)
        put_list(to, kinds[kind], &table->lists[kind], limit);
    if (minutes)
        put_minutes(to, table);
    buf_byte(to, '}');
}

static void put_named(struct rest_call *call, struct hot_keys *hot, struct bytes name,
                      bool minutes) {
    struct hot_table table;
    if (hot_keys_table(hot, name, call->arena, &table))
        put_table(call, &table, minutes);
}

enum status rest_hot_list(struct rest_call *call) {
    struct hot_keys *hot = call->game->engine->hot;
    struct bytes wanted = rest_query(call, "table"), *names;
    if (hot == NULL)
        return rest_fail(call, NOT_FOUND, "this server does not watch its keys");
    buf_byte(call->reply, '{');
    rest_put_uint(call->reply, "sampledEvery", hot_keys_every(hot));
    rest_put_name(call->reply, "tables");
    buf_byte(call->reply, '[');
    size_t count = wanted.size != 0 ? 0 : hot_keys_names(hot, call->arena, &names);
    for (size_t i = 0; i < count; i++)
        put_named(call, hot, names[i], false);
    if (wanted.size != 0)
        put_named(call, hot, wanted, true);
    buf_lit(call->reply, "]}");
    return OK;
}

/* --- forms --- */

const struct form_field query_hot[] = {
    {"table", FORM_TEXT, 0, "NAME, or NAME/INDEX: only that one, with its last hour by minutes", 1,
     512},
    {"limit", FORM_COUNT, 0, "At most so many keys of each list; 10 unless told", 1, HOT_COUNTERS},
    {0},
};
static const struct form_field hot_key_fields[] = {
    {"key", FORM_TEXT, FORM_REQUIRED, "Of the partition; several attributes are joined by |"},
    {"count", FORM_COUNT, FORM_REQUIRED, "About how often; at most so often, but for sampling"},
    {"error", FORM_COUNT, FORM_REQUIRED, "By how much that may be too large"},
    {0},
};
static const struct form form_hot_key = {"HotKey", "A partition", hot_key_fields};
static const struct form_field hot_minute_fields[] = {
    {"at", FORM_TIME, FORM_REQUIRED, "When it ended"},
    {"reads", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_hot_key, .element = FORM_OBJECT},
    {"writes", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_hot_key, .element = FORM_OBJECT},
    {0},
};
static const struct form form_hot_minute = {"HotMinute", "The heaviest partitions of a minute",
                                            hot_minute_fields};
static const struct form_field hot_table_fields[] = {
    {"table", FORM_TEXT, FORM_REQUIRED, "NAME, or NAME/INDEX"},
    {"readCount", FORM_COUNT, FORM_REQUIRED, "Of all partitions, since the start"},
    {"writeCount", FORM_COUNT, FORM_REQUIRED, NULL},
    {"reads", FORM_LIST, FORM_REQUIRED, "The heaviest first", .form = &form_hot_key,
     .element = FORM_OBJECT},
    {"writes", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_hot_key, .element = FORM_OBJECT},
    {"minutes", FORM_LIST, 0, "The oldest first; the last is the present one",
     .form = &form_hot_minute, .element = FORM_OBJECT},
    {0},
};
static const struct form form_hot_table = {"HotTable", "The heaviest partitions of a table",
                                           hot_table_fields};
static const struct form_field hot_fields[] = {
    {"sampledEvery", FORM_COUNT, FORM_REQUIRED, "One request in so many is noted, for all of them"},
    {"tables", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_hot_table, .element = FORM_OBJECT},
    {0},
};
const struct form form_hot = {"Hot", "Hot partitions", hot_fields};

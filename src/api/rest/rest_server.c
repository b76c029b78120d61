/* What the server tells of itself: its version, and figures of the engine and of live
 * subscriptions. */
#include "api/live/live.h"
#include "api/rest/rest_forms.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "base/clock.h"
#include "table/engine.h"

static void put_engine(struct buf *to, const struct engine_figures *figures) {
    rest_put_uint(to, "tables", figures->tables);
    rest_put_uint(to, "items", figures->items);
    rest_put_uint(to, "itemBytes", figures->item_bytes);
    rest_put_uint(to, "indexEntries", figures->index_entries);
    rest_put_uint(to, "indexMemory", figures->index_memory);
    rest_put_uint(to, "cacheHits", figures->cache_hits);
    rest_put_uint(to, "cacheMisses", figures->cache_misses);
    rest_put_uint(to, "commits", figures->commits);
    rest_put_uint(to, "writes", figures->writes);
    rest_put_uint(to, "disk", figures->disk);
    rest_put_bool(to, "refusingWrites", figures->refusing_writes);
}

static void put_live(struct buf *to, const struct live_figures *figures) {
    rest_put_uint(to, "lines", figures->subscriptions);
    rest_put_uint(to, "topics", figures->topics);
    rest_put_uint(to, "messages", figures->messages);
}

enum status rest_server_get(struct rest_call *call) {
    const struct rest_settings *settings = &call->rest->settings;
    struct engine_figures engine = {0};
    struct live_figures live = {0};
    struct buf *to = call->reply;
    engine_figures(call->game->engine, &engine);
    if (settings->live != NULL)
        live_figures(settings->live, &live);
    buf_byte(to, '{');
    rest_put_str(to, "version", settings->version != NULL ? settings->version : "");
    rest_put_int(to, "uptimeSeconds", (clock_ticks_us() - call->rest->started_us) / 1000000);
    if (settings->redis_port != 0)
        rest_put_int(to, "redisPort", settings->redis_port);
    rest_put_text(to, "table", call->game->table);
    put_engine(to, &engine);
    put_live(to, &live);
    buf_byte(to, '}');
    return OK;
}

static const struct form_field server_fields[] = {
    {"version", FORM_TEXT, FORM_REQUIRED, "Of the program"},
    {"uptimeSeconds", FORM_COUNT, FORM_REQUIRED, "Since it started"},
    {"redisPort", FORM_COUNT, 0, "Where Redis clients are served, if they are"},
    {"table", FORM_TEXT, FORM_REQUIRED, "That boards and rooms are kept in"},
    {"tables", FORM_COUNT, FORM_REQUIRED, NULL},
    {"items", FORM_COUNT, FORM_REQUIRED, "In all tables"},
    {"itemBytes", FORM_COUNT, FORM_REQUIRED, "Their size as clients count it"},
    {"indexEntries", FORM_COUNT, FORM_REQUIRED, NULL},
    {"indexMemory", FORM_COUNT, FORM_REQUIRED, "Bytes"},
    {"cacheHits", FORM_COUNT, FORM_REQUIRED, "Items that were read from memory, since the start"},
    {"cacheMisses", FORM_COUNT, FORM_REQUIRED, "And from the store"},
    {"commits", FORM_COUNT, FORM_REQUIRED, "Since the start"},
    {"writes", FORM_COUNT, FORM_REQUIRED, "Items that were written in them"},
    {"disk", FORM_COUNT, FORM_REQUIRED, "Bytes of the data folder"},
    {"refusingWrites", FORM_FLAG, FORM_REQUIRED, "The disk has failed and is tried again"},
    {"lines", FORM_COUNT, FORM_REQUIRED, "Live lines that are open"},
    {"topics", FORM_COUNT, FORM_REQUIRED, "Rooms and boards that they watch"},
    {"messages", FORM_COUNT, FORM_REQUIRED, "Sent on them since the start"},
    {0},
};
const struct form form_server = {"Server", "The server and its figures", server_fields};

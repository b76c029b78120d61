#include "game/audit_trail.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/ulid.h"
#include "game/record.h"

#include <time.h>

enum { DAY_S = 24 * 60 * 60 };

/* --- months --- */

struct month {
    int year, month; /* 1 to 12 */
};

static struct month month_of(int64_t ms) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    return (struct month){parts.tm_year + 1900, parts.tm_mon + 1};
}

static struct month month_before(struct month month) {
    return month.month == 1 ? (struct month){month.year - 1, 12}
                            : (struct month){month.year, month.month - 1};
}

static bool month_is_before(struct month a, struct month b) {
    return a.year != b.year ? a.year < b.year : a.month < b.month;
}

static struct bytes month_partition(struct month month, struct arena *arena) {
    return arena_printf(arena, AUDIT_PREFIX "%04d-%02d", month.year, month.month);
}

/* --- writing --- */

static struct item event_item(const struct audit_event *event, struct arena *arena) {
    struct record record = record_of(arena);
    int64_t at_ms = ulid_time_ms(event->id);
    record_string(&record, GAME_PK, month_partition(month_of(at_ms), arena));
    record_string(&record, GAME_SK, event->id);
    record_string(&record, BYTES("frontEnd"), event->front_end);
    record_string(&record, BYTES("operation"), event->operation);
    record_string(&record, BYTES("subject"), event->subject);
    record_string(&record, BYTES("reason"), event->reason);
    record_string(&record, BYTES("who"), event->who);
    record_int(&record, BYTES("status"), event->status);
    record_int(&record, BYTES("us"), event->us);
    record_int(&record, BYTES("bytesIn"), event->bytes_in);
    record_int(&record, BYTES("bytesOut"), event->bytes_out);
    record_int(&record, BYTES("ttl"), at_ms / 1000 + (int64_t)LIMIT_AUDIT_DAYS * DAY_S);
    return record_item(&record);
}

enum status audit_trail_put(struct game *game, const struct audit_event *events, size_t count,
                            struct scope in) {
    struct action *actions = ARENA_ARRAY(in.arena, struct action, count);
    for (size_t i = 0; i < count; i++)
        actions[i] = (struct action){.kind = ACTION_PUT,
                                     .by_owner = true,
                                     .table = game->table,
                                     .item = event_item(&events[i], in.arena)};
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = in.arena,
                            .actions = actions,
                            .action_count = count,
                            .divisible = true,
                            .yields = true}; /* nobody waits for it */
    enum status status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}

/* --- reading --- */

static struct audit_event read_event(const struct item *item) {
    return (struct audit_event){.id = item_string(item, GAME_SK),
                                .front_end = item_string(item, BYTES("frontEnd")),
                                .operation = item_string(item, BYTES("operation")),
                                .subject = item_string(item, BYTES("subject")),
                                .reason = item_string(item, BYTES("reason")),
                                .who = item_string(item, BYTES("who")),
                                .status = item_int(item, BYTES("status")),
                                .us = item_int(item, BYTES("us")),
                                .bytes_in = item_int(item, BYTES("bytesIn")),
                                .bytes_out = item_int(item, BYTES("bytesOut"))};
}

static enum status read_month(struct game *game, struct month month,
                              const struct audit_trail_request *request, struct scope in,
                              struct page_reply *out) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){
        .name = GAME_PK, .op = KEY_EQ, .low = value_string(month_partition(month, in.arena))};
    if (request->before.size != 0)
        keys.tests[keys.count++] =
            (struct key_test){.name = GAME_SK, .op = KEY_LT, .low = value_string(request->before)};
    struct page_request page = {.table = game->table,
                                .keys = &keys,
                                .backward = true,
                                .consistent = true,
                                .limit = (uint32_t)request->limit};
    return engine_page(game->engine, &page, in, out);
}

/* Adds the month's events, and asks for more of it until there are enough or no more. One more than
 * is wanted is asked for, which tells whether there are more. */
static enum status add_month(struct game *game, struct month month,
                             const struct audit_trail_request *request, struct scope in,
                             struct audit_trail_page *out) {
    struct audit_trail_request rest = *request;
    struct page_reply page = {.more = true};
    while (page.more && out->count <= request->limit) {
        rest.limit = request->limit + 1 - out->count;
        enum status status = read_month(game, month, &rest, in, &page);
        if (status != OK)
            return status;
        for (uint64_t i = 0; i < page.count; i++)
            if (ulid_valid(item_string(&page.items[i], GAME_SK)))
                out->events[out->count++] = read_event(&page.items[i]);
        if (page.more)
            rest.before = item_string(&page.last_key, GAME_SK);
    }
    return OK;
}

enum status audit_trail_list(struct game *game, const struct audit_trail_request *request,
                             struct scope in, struct audit_trail_page *out) {
    int64_t now_ms = clock_now_ms();
    int64_t from_ms = request->before.size != 0 ? ulid_time_ms(request->before) : now_ms;
    struct month month = month_of(from_ms);
    struct month last = month_of(now_ms - (int64_t)LIMIT_AUDIT_DAYS * DAY_S * 1000);
    struct audit_trail_page page = {
        .events = ARENA_ARRAY(in.arena, struct audit_event, request->limit + 1)};
    enum status status = OK;
    for (; status == OK && !month_is_before(month, last) && page.count <= request->limit;
         month = month_before(month))
        status = add_month(game, month, request, in, &page);
    if (status != OK)
        return status;
    page.more = page.count > request->limit;
    if (page.more)
        page.count = request->limit;
    *out = page;
    return OK;
}

#include "api/admin.h"

#include "base/clock.h"
#include "json/json.h"

#include <time.h>

static const struct bytes clock_path = {(const uint8_t *)"/admin/clock", 12};
static const struct bytes expire_path = {(const uint8_t *)"/admin/expire", 13};

bool admin_takes(struct bytes path) {
    return bytes_equal(path, clock_path) || bytes_equal(path, expire_path);
}

static void answer(struct http_exchange *exchange, int status) {
    struct http_answer answer = {.status = status,
                                 .content_type = BYTES("application/json"),
                                 .body = buf_bytes(&exchange->reply)};
    http_answer(exchange, &answer);
}

static void refuse(struct http_exchange *exchange, int status, struct bytes sentence) {
    buf_clear(&exchange->reply);
    buf_lit(&exchange->reply, "{\"error\":");
    json_put_string(&exchange->reply, sentence);
    buf_lit(&exchange->reply, "}\n");
    answer(exchange, status);
}

/* --- the clock --- */

static void answer_clock(struct http_exchange *exchange) {
    int64_t now = clock_now_ms();
    time_t seconds = (time_t)(now / 1000);
    struct tm parts;
    char text[32];
    gmtime_r(&seconds, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    buf_printf(&exchange->reply, "{\"now\":\"%s\",\"forward_ms\":%lld}\n", text,
               (long long)clock_shift_ms(0));
    answer(exchange, 200);
}

/* "24h" in milliseconds; false if it is nothing of the kind, or over a hundred years. */
static bool read_time(struct bytes text, int64_t *out) {
    static const struct {
        struct bytes name;
        int64_t ms;
    } units[] = {{{(const uint8_t *)"ms", 2}, 1},
                 {{(const uint8_t *)"s", 1}, 1000},
                 {{(const uint8_t *)"m", 1}, 60000},
                 {{(const uint8_t *)"h", 1}, 3600000},
                 {{(const uint8_t *)"d", 1}, 24 * 3600000}};
    const int64_t most = INT64_C(36525) * 24 * 3600000;
    int64_t number = 0;
    size_t digits = 0;
    for (; digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9'; digits++)
        if ((number = number * 10 + (text.data[digits] - '0')) > most)
            return false;
    for (size_t i = 0; digits > 0 && i < sizeof units / sizeof units[0]; i++)
        if (bytes_equal(bytes_skip(text, digits), units[i].name)) {
            *out = number * units[i].ms;
            return number <= most / units[i].ms;
        }
    return false;
}

static void move_clock(struct http_exchange *exchange) {
    struct json body;
    size_t at;
    int64_t forward;
    const struct json *asked = NULL;
    if (json_parse(exchange->body, &exchange->arena, &body, &at) == OK)
        asked = json_get(&body, BYTES("forward"));
    if (asked == NULL || asked->type != JSON_STRING || !read_time(asked->text, &forward)) {
        refuse(exchange, 400,
               BYTES("Say how far to move the clock, as in {\"forward\":\"24h\"}; units are ms, s, "
                     "m, h and d."));
        return;
    }
    clock_shift_ms(forward);
    answer_clock(exchange);
}

/* --- expiry --- */

static void expired(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    const struct change *change = exchange->user;
    if (change->failure.status != OK) {
        refuse(exchange, 500, change->failure.text);
        return;
    }
    buf_printf(&exchange->reply, "{\"expired\":%llu}\n", (unsigned long long)change->expired);
    answer(exchange, 200);
}

struct expiring {
    struct change change; /* first */
    struct http_exchange *exchange;
    const struct admin *admin;
};

static void finish(struct expiring *expiring) {
    expiring->exchange->task.run = expired;
    loop_post(expiring->exchange->loop, &expiring->exchange->task);
}

static void keep(void *argument) {
    struct expiring *expiring = argument;
    keeper_run(expiring->admin->keeper);
    finish(expiring);
}

/* On the engine's thread, where nothing may wait. */
static void expire_done(struct change *change) {
    struct expiring *expiring = (struct expiring *)change;
    const struct admin *admin = expiring->admin;
    if (admin->keeper == NULL || change->failure.status != OK ||
        !background_run(admin->background, keep, expiring))
        finish(expiring);
}

static void expire(struct http_exchange *exchange, const struct admin *admin) {
    struct expiring *expiring = ARENA_NEW(&exchange->arena, struct expiring);
    expiring->exchange = exchange;
    expiring->admin = admin;
    expiring->change.kind = CHANGE_EXPIRE;
    expiring->change.arena = &exchange->arena;
    expiring->change.done = expire_done;
    exchange->user = &expiring->change;
    engine_submit(admin->engine, &expiring->change);
}

void admin_handle(struct http_exchange *exchange, const struct admin *admin) {
    bool is_clock = bytes_equal(exchange->path, clock_path);
    bool post = bytes_equal(exchange->method, BYTES("POST"));
    if (!admin->test_clock)
        refuse(exchange, 403,
               BYTES("Only a server that was started with --test-clock lets its clock be moved."));
    else if (is_clock && bytes_equal(exchange->method, BYTES("GET")))
        answer_clock(exchange);
    else if (!post)
        refuse(exchange, 405, BYTES("This path takes POST."));
    else if (is_clock)
        move_clock(exchange);
    else
        expire(exchange, admin);
}

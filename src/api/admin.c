#include "api/admin.h"

#include "api/change_submit.h"
#include "base/clock.h"
#include "table/engine.h"
#include "json/json.h"

#include <time.h>

static const struct bytes clock_path = {(const uint8_t *)"/admin/clock", 12};
static const struct bytes expire_path = {(const uint8_t *)"/admin/expire", 13};
static const struct bytes faults_path = {(const uint8_t *)"/admin/faults", 13};

static const struct bytes read_only_path = {(const uint8_t *)"/admin/read-only", 16};

bool admin_takes(struct bytes path) {
    return bytes_equal(path, read_only_path) || bytes_equal(path, clock_path) ||
           bytes_equal(path, expire_path) || bytes_equal(path, faults_path);
}

static void answer(struct http_exchange *exchange, int status) {
    struct http_answer answer = {.status = status,
                                 .content_type = BYTES("application/json"),
                                 .body = buf_bytes(&exchange->reply)};
    http_answer(exchange, &answer);
}

static void answer_refusal(struct http_exchange *exchange, int status, struct bytes sentence) {
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
        answer_refusal(
            exchange, 400,
            BYTES("Say how far to move the clock, as in {\"forward\":\"24h\"}; units are ms, s, "
                  "m, h and d."));
        return;
    }
    clock_shift_ms(forward);
    answer_clock(exchange);
}

/* --- expiry --- */

enum { EXPIRE_WAIT_MS = 20000, EXPIRE_PAUSE_MS = 10 };

struct expiring {
    struct change_submit submit; /* first */
    struct change change;
    struct http_exchange *exchange;
    const struct admin *admin;
};

static void answer_expired(struct expiring *expiring) {
    struct http_exchange *exchange = expiring->exchange;
    const struct change *change = &expiring->change;
    if (change->failure.status != OK) {
        answer_refusal(exchange, change->failure.status == BEING_BUILT ? 503 : 500,
                       change->failure.text);
        return;
    }
    buf_printf(&exchange->reply, "{\"expired\":%llu}\n", (unsigned long long)change->expired);
    answer(exchange, 200);
}

static void run_answer_expired(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    answer_expired(exchange->user);
}

/* Asks again until the times of all tables are known, for a while. */
static void wait_for_times(struct expiring *expiring) {
    const struct timespec pause = {.tv_nsec = EXPIRE_PAUSE_MS * 1000000};
    struct change *change = &expiring->change;
    int64_t until_us = clock_ticks_us() + EXPIRE_WAIT_MS * 1000;
    while (change->failure.status == BEING_BUILT && clock_ticks_us() < until_us) {
        nanosleep(&pause, NULL);
        *change = (struct change){.kind = CHANGE_EXPIRE, .arena = change->arena};
        engine_submit_wait(expiring->admin->engine, change);
    }
}

/* On a thread of the background pool. */
static void run_housekeeping(void *argument) {
    struct expiring *expiring = argument;
    wait_for_times(expiring);
    if (expiring->change.failure.status == OK && expiring->admin->housekeeping != NULL)
        housekeeping_run(expiring->admin->housekeeping);
    expiring->exchange->task.run = run_answer_expired;
    loop_post(expiring->exchange->loop, &expiring->exchange->task);
}

/* Back on the loop. */
static void expire_done(struct change_submit *submit) {
    struct expiring *expiring = (struct expiring *)submit;
    const struct admin *admin = expiring->admin;
    enum status status = expiring->change.failure.status;
    bool goes_on = status == BEING_BUILT || (status == OK && admin->housekeeping != NULL);
    if (!goes_on || !background_run(admin->background, run_housekeeping, expiring))
        answer_expired(expiring);
}

static void expire_items(struct http_exchange *exchange, const struct admin *admin) {
    struct expiring *expiring = ARENA_NEW(&exchange->arena, struct expiring);
    *expiring = (struct expiring){.submit.back = expire_done,
                                  .change = {.kind = CHANGE_EXPIRE, .arena = &exchange->arena},
                                  .exchange = exchange,
                                  .admin = admin};
    exchange->user = expiring;
    change_submit(admin->engine, &expiring->change, &expiring->submit);
}

/* --- read-only --- */

static void handle_read_only(struct http_exchange *exchange, const struct admin *admin) {
    struct engine_figures figures;
    struct json body;
    size_t at;
    const struct json *on = NULL;
    bool post = bytes_equal(exchange->method, BYTES("POST"));
    if (post && json_parse(exchange->body, &exchange->arena, &body, &at) == OK)
        on = json_get(&body, BYTES("on"));
    if (post && (on == NULL || (on->type != JSON_TRUE && on->type != JSON_FALSE))) {
        answer_refusal(exchange, 400, BYTES("Say whether, as in {\"on\":true}."));
        return;
    }
    if (post)
        engine_read_only(admin->engine, on->type == JSON_TRUE);
    engine_figures(admin->engine, &figures);
    buf_printf(&exchange->reply, "{\"read_only\":%s,\"waiting\":%llu}\n",
               figures.read_only ? "true" : "false", (unsigned long long)figures.changes_waiting);
    answer(exchange, 200);
}

/* --- faults --- */

static void answer_faults(struct http_exchange *exchange, struct test_faults *faults) {
    struct buf text = {0};
    test_faults_get(faults, &text);
    buf_lit(&exchange->reply, "{\"faults\":");
    json_put_string(&exchange->reply, buf_bytes(&text));
    buf_lit(&exchange->reply, "}\n");
    buf_release(&text);
    answer(exchange, 200);
}

static void order_faults(struct http_exchange *exchange, struct test_faults *faults) {
    struct json body;
    struct failure failure = {0};
    size_t at;
    const struct json *asked = NULL;
    if (json_parse(exchange->body, &exchange->arena, &body, &at) == OK)
        asked = json_get(&body, BYTES("faults"));
    if (asked == NULL || asked->type != JSON_STRING)
        answer_refusal(exchange, 400,
                       BYTES("Say which, as in {\"faults\":\"throttle scores PutItem 3\"}."));
    else if (test_faults_set(faults, asked->text, (struct scope){&exchange->arena, &failure}) != OK)
        answer_refusal(exchange, 400, failure.text);
    else
        answer_faults(exchange, faults);
}

static void handle_faults(struct http_exchange *exchange, const struct admin *admin) {
    if (admin->faults == NULL)
        answer_refusal(exchange, 403,
                       BYTES("Only a server that was started with --test-faults takes orders."));
    else if (bytes_equal(exchange->method, BYTES("GET")))
        answer_faults(exchange, admin->faults);
    else if (bytes_equal(exchange->method, BYTES("POST")))
        order_faults(exchange, admin->faults);
    else
        answer_refusal(exchange, 405, BYTES("This path takes GET and POST."));
}

/* The clock is every table's. */
static enum denial decide_caller(struct http_exchange *exchange, const struct admin *admin,
                                 struct failure *failure) {
    struct caller caller;
    struct touch touch = {.what = TOUCHES_SERVER, .access = ACCESS_ADMIN, .table = BYTES("*")};
    struct caller_lookup lookup = {
        .keys = admin->keys, .arena = &exchange->arena, .failure = failure};
    struct credentials shown = {.authorization = http_header(exchange, "Authorization")};
    if (caller_find(&lookup, &shown, &caller) != OK)
        return DENIAL_UNKNOWN;
    enum denial denial = access_decide(&caller, &touch);
    if (denial != DENIAL_NONE)
        access_explain(denial, &touch, (struct scope){&exchange->arena, failure});
    return denial;
}

enum http_admission admin_admit(struct http_exchange *exchange, const struct admin *admin) {
    struct failure failure = {0};
    bool may = decide_caller(exchange, admin, &failure) == DENIAL_NONE;
    return may ? HTTP_TAKE_BODY : HTTP_WITHOUT_BODY;
}

/* False after having answered. */
static bool check_caller(struct http_exchange *exchange, const struct admin *admin) {
    struct failure failure = {0};
    enum denial denial = decide_caller(exchange, admin, &failure);
    if (denial != DENIAL_NONE)
        answer_refusal(exchange, denial == DENIAL_UNKNOWN ? 401 : 403, failure.text);
    return denial == DENIAL_NONE;
}

void admin_handle(struct http_exchange *exchange, const struct admin *admin) {
    bool is_clock = bytes_equal(exchange->path, clock_path);
    bool post = bytes_equal(exchange->method, BYTES("POST"));
    if (!check_caller(exchange, admin))
        return;
    if (bytes_equal(exchange->path, read_only_path))
        handle_read_only(exchange, admin);
    else if (bytes_equal(exchange->path, faults_path))
        handle_faults(exchange, admin);
    else if (!admin->test_clock)
        answer_refusal(
            exchange, 403,
            BYTES("Only a server that was started with --test-clock lets its clock be moved."));
    else if (is_clock && bytes_equal(exchange->method, BYTES("GET")))
        answer_clock(exchange);
    else if (!post)
        answer_refusal(exchange, 405, BYTES("This path takes POST."));
    else if (is_clock)
        move_clock(exchange);
    else
        expire_items(exchange, admin);
}

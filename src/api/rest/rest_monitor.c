/* What the server knows of itself, as JSON: history, operations, slow requests, the tail, and what
 * operators did. */
#include "api/audit_log.h"
#include "api/metrics/monitor.h"
#include "api/metrics/request_tail.h"
#include "api/redis/redis_frontend.h"
#include "api/rest/rest_cursor.h"
#include "api/rest/rest_forms.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "base/clock.h"
#include "base/limits.h"

#include <math.h>

enum { POINTS_USUAL = 360, LIST_USUAL = 100 };

/* OK, or NOT_FOUND on a server that was started without a monitor. */
static enum status find_monitor(struct rest_call *call, struct monitor **out) {
    *out = call->rest->settings.monitor;
    return *out != NULL ? OK : rest_fail(call, NOT_FOUND, "this server does not watch itself");
}

/* --- history --- */

/* Whether the name is among those asked for, separated by commas. */
static bool is_wanted(struct bytes names, const char *name) {
    struct bytes one = bytes_str(name);
    while (names.size != 0) {
        size_t end = bytes_find(names, BYTES(","));
        size_t size = end == SIZE_MAX ? names.size : end;
        if (bytes_equal(bytes_of(names.data, size), one))
            return true;
        names = bytes_skip(names, end == SIZE_MAX ? size : size + 1);
    }
    return false;
}

static void put_values(struct buf *to, const double *values, size_t count) {
    rest_put_name(to, "values");
    buf_byte(to, '[');
    for (size_t i = 0; i < count; i++) {
        rest_put_comma(to);
        if (isnan(values[i]))
            buf_lit(to, "null");
        else
            buf_printf(to, "%.5g", values[i]);
    }
    buf_byte(to, ']');
}

static void put_series(struct rest_call *call, struct history *history,
                       struct history_request request) {
    double *values = ARENA_ARRAY(call->arena, double, request.count);
    struct bytes names = rest_query(call, "names");
    for (; request.series < HISTORY_SERIES; request.series++) {
        const char *name = history_name(request.series);
        if (names.size != 0 && !is_wanted(names, name))
            continue;
        history_get(history, &request, values);
        rest_put_comma(call->reply);
        buf_byte(call->reply, '{');
        rest_put_str(call->reply, "name", name);
        rest_put_str(call->reply, "unit", history_unit(request.series));
        put_values(call->reply, values, request.count);
        buf_byte(call->reply, '}');
    }
}

enum status rest_history_get(struct rest_call *call) {
    struct monitor *monitor;
    bool day = bytes_equal(rest_query(call, "span"), BYTES("day"));
    size_t all = day ? LIMIT_HISTORY_MINUTES : LIMIT_HISTORY_SECONDS;
    size_t points = (size_t)rest_query_count(call, "points", POINTS_USUAL);
    struct history_request request = {.span = day ? HISTORY_DAY : HISTORY_HOUR};
    enum status status = find_monitor(call, &monitor);
    if (status != OK)
        return status;
    request.group = points >= all ? 1 : (all + points - 1) / points;
    request.count = all / request.group;
    buf_byte(call->reply, '{');
    rest_put_str(call->reply, "span", day ? "day" : "hour");
    rest_put_uint(call->reply, "stepSeconds", request.group * (day ? 60 : 1));
    rest_put_time(call->reply, "end", clock_now_ms());
    rest_put_name(call->reply, "series");
    buf_byte(call->reply, '[');
    put_series(call, monitor->history, request);
    buf_lit(call->reply, "]}");
    return OK;
}

/* --- operations --- */

static void put_ms(struct buf *to, const char *name, double us) {
    rest_put_name(to, name);
    buf_printf(to, "%.4g", us / 1000);
}

struct told_operation {
    const char *front;
    struct bytes name;
    struct metrics_sums sums;
};

static void put_operation(struct buf *to, const struct told_operation *operation) {
    const struct metrics_sums *sums = &operation->sums;
    rest_put_comma(to);
    buf_byte(to, '{');
    rest_put_str(to, "frontEnd", operation->front);
    rest_put_text(to, "operation", operation->name.size != 0 ? operation->name : BYTES("unknown"));
    rest_put_uint(to, "requests", sums->requests);
    rest_put_uint(to, "errors", sums->failed);
    rest_put_uint(to, "bytesIn", sums->bytes_in);
    rest_put_uint(to, "bytesOut", sums->bytes_out);
    put_ms(to, "meanMs",
           sums->latency.count == 0 ? 0
                                    : (double)sums->latency.sum_us / (double)sums->latency.count);
    put_ms(to, "p50Ms", durations_percentile_us(&sums->latency, 0.5));
    put_ms(to, "p90Ms", durations_percentile_us(&sums->latency, 0.9));
    put_ms(to, "p99Ms", durations_percentile_us(&sums->latency, 0.99));
    put_ms(to, "maxMs", durations_percentile_us(&sums->latency, 1));
    buf_byte(to, '}');
}

static void put_command(const struct redis_command_figures *command, void *user) {
    struct told_operation operation = {.front = metrics_front_name(METRICS_REDIS),
                                       .name = command->name};
    operation.sums = (struct metrics_sums){.requests = command->calls + command->rejected,
                                           .failed = command->failed + command->rejected,
                                           .latency = *command->latency};
    put_operation(user, &operation);
}

static void put_http_operations(struct buf *to, const struct metrics *metrics) {
    for (enum metrics_front front = 0; front < METRICS_FRONTS; front++)
        for (size_t k = 0; k < METRICS_OPERATIONS_MAX; k++) {
            struct told_operation operation = {.front = metrics_front_name(front)};
            if (!metrics_sum(metrics, front, k, &operation.sums))
                continue;
            operation.name = metrics_operation_name(metrics, front, k);
            put_operation(to, &operation);
        }
}

static void put_refusal(const struct metrics_reason *reason, void *user) {
    rest_put_comma(user);
    buf_byte(user, '{');
    rest_put_str(user, "frontEnd", metrics_front_name(reason->front));
    rest_put_str(user, "reason", reason->reason);
    rest_put_uint(user, "count", reason->count);
    buf_byte(user, '}');
}

enum status rest_operations_list(struct rest_call *call) {
    struct monitor *monitor;
    enum status status = find_monitor(call, &monitor);
    if (status != OK)
        return status;
    const struct monitor_sources *sources = atomic_load(&monitor->sources);
    buf_lit(call->reply, "{\"operations\":[");
    put_http_operations(call->reply, monitor->metrics);
    if (sources != NULL && sources->redis != NULL)
        redis_frontend_commands(sources->redis, put_command, call->reply);
    buf_lit(call->reply, "],\"refusals\":[");
    metrics_reasons(monitor->metrics, put_refusal, call->reply);
    buf_lit(call->reply, "]}");
    return OK;
}

/* --- requests --- */

static void put_records(struct rest_call *call, struct request_log *log, const char *name) {
    size_t limit = (size_t)rest_query_count(call, "limit", LIST_USUAL);
    struct request_record *records = ARENA_ARRAY(call->arena, struct request_record, limit);
    size_t count = request_log_slow(log, records, limit);
    rest_put_name(call->reply, name);
    buf_byte(call->reply, '[');
    for (size_t i = 0; i < count; i++) {
        rest_put_comma(call->reply);
        request_record_put(call->reply, &records[i]);
    }
    buf_lit(call->reply, "]}");
}

enum status rest_slow_list(struct rest_call *call) {
    struct monitor *monitor;
    enum status status = find_monitor(call, &monitor);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    rest_put_uint(call->reply, "thresholdMs", atomic_load(&monitor->requests.slow_us) / 1000);
    put_records(call, &monitor->requests, "requests");
    return OK;
}

enum status rest_slow_clear(struct rest_call *call) {
    struct monitor *monitor;
    enum status status = find_monitor(call, &monitor);
    if (status == OK)
        request_log_forget(&monitor->requests);
    return status;
}

static enum status list_kept(struct rest_call *call, struct audit_log *audit) {
    struct audit_log_request request = {.limit =
                                            (size_t)rest_query_count(call, "limit", LIST_USUAL)};
    struct audit_log_page page;
    enum status status = cursor_name(call, &request.before);
    if (status == OK)
        status =
            audit_log_list(audit, &request, (struct scope){call->arena, &call->failure}, &page);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"entries\":[");
    for (size_t i = 0; i < page.count; i++) {
        rest_put_comma(call->reply);
        request_record_put(call->reply, &page.records[i]);
    }
    buf_byte(call->reply, ']');
    if (page.next.size != 0)
        cursor_next(call, page.next);
    buf_byte(call->reply, '}');
    return OK;
}

enum status rest_audit_list(struct rest_call *call) {
    struct monitor *monitor;
    enum status status = find_monitor(call, &monitor);
    if (status != OK)
        return status;
    if (monitor->settings.audit != NULL)
        return list_kept(call, monitor->settings.audit);
    buf_byte(call->reply, '{');
    put_records(call, &monitor->audit, "entries");
    return OK;
}

/* --- the tail --- */

static void open_tail(struct rest_call *call) {
    if (request_tail_open(call->rest->settings.monitor->tail, call->exchange, call->caller.key))
        return;
    rest_fail(call, BUSY, "at most %d look on at once", LIMIT_TAIL_WATCHERS);
    rest_answer_failure(call);
}

static void run_open_tail(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    open_tail(exchange->user);
}

/* On the exchange's loop, or on the pool. */
static void begin_tail(struct rest_call *call) {
    struct http_exchange *exchange = call->exchange;
    if (loop_current() == exchange->loop) {
        open_tail(call);
        return;
    }
    exchange->user = call;
    exchange->task.run = run_open_tail;
    loop_post(exchange->loop, &exchange->task);
}

/* Never reached: the exchange has become an event stream. */
static enum status after_tail(struct rest_call *call) {
    (void)call;
    return OK;
}

enum status rest_tail_open(struct rest_call *call) {
    struct monitor *monitor;
    enum status status = find_monitor(call, &monitor);
    return status != OK ? status : rest_after(call, begin_tail, after_tail);
}

/* --- forms --- */

static const char *const words_span[] = {"hour", "day", NULL};
const struct form_field query_history[] = {
    {"span", FORM_CHOICE, 0, "hour unless told", .choices = words_span},
    {"points", FORM_COUNT, 0, "At most so many values of each series; 360 unless told", 1,
     LIMIT_HISTORY_SECONDS},
    {"names", FORM_TEXT, 0, "Only these series, separated by commas", 1, 1024},
    {0},
};
const struct form_field query_slow[] = {
    {"limit", FORM_COUNT, 0, "At most so many; 100 unless told", 1, LIMIT_SLOW_REQUESTS},
    {0},
};
const struct form_field query_audit[] = {
    {"limit", FORM_COUNT, 0, "At most so many; 100 unless told", 1, 1000},
    {"cursor", FORM_TEXT, 0, "next of an earlier page", 1, 64},
    {0},
};

static const struct form_field series_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED, "dynamodb.p99, memory.rss, ..."},
    {"unit", FORM_TEXT, FORM_REQUIRED, "per_second, bytes_per_second, ms, bytes, count, cores"},
    {"values", FORM_LIST, FORM_REQUIRED, "The oldest first; null: not known", .element = FORM_ANY},
    {0},
};
static const struct form form_series = {"Series", "A figure over time", series_fields};
static const struct form_field history_fields[] = {
    {"span", FORM_CHOICE, FORM_REQUIRED, NULL, .choices = words_span},
    {"stepSeconds", FORM_COUNT, FORM_REQUIRED, "Between two values"},
    {"end", FORM_TIME, FORM_REQUIRED, "Of the last value"},
    {"series", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_series, .element = FORM_OBJECT},
    {0},
};
const struct form form_history = {"History", "Figures over an hour or a day", history_fields};

static const struct form_field operation_fields[] = {
    {"frontEnd", FORM_TEXT, FORM_REQUIRED, "dynamodb, redis, rest, live, pages, other"},
    {"operation", FORM_TEXT, FORM_REQUIRED, NULL},
    {"requests", FORM_COUNT, FORM_REQUIRED, "Since the start"},
    {"errors", FORM_COUNT, FORM_REQUIRED, "Of them, answered with an error"},
    {"bytesIn", FORM_COUNT, FORM_REQUIRED, "Of bodies; of Redis commands not known"},
    {"bytesOut", FORM_COUNT, FORM_REQUIRED, NULL},
    {"meanMs", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"p50Ms", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"p90Ms", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"p99Ms", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"maxMs", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {0},
};
static const struct form form_operation = {"Operation", "What one operation came to",
                                           operation_fields};
static const struct form_field refusal_fields[] = {
    {"frontEnd", FORM_TEXT, FORM_REQUIRED, NULL},
    {"reason", FORM_TEXT, FORM_REQUIRED, NULL},
    {"count", FORM_COUNT, FORM_REQUIRED, NULL},
    {0},
};
static const struct form form_refusal = {"Refusal", "Refusals for one reason", refusal_fields};
static const struct form_field operations_fields[] = {
    {"operations", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_operation, .element = FORM_OBJECT},
    {"refusals", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_refusal, .element = FORM_OBJECT},
    {0},
};
const struct form form_operations = {"Operations", "All operations since the start",
                                     operations_fields};

static const struct form_field record_fields[] = {
    {"at", FORM_TIME, FORM_REQUIRED, "When it was answered"},
    {"frontEnd", FORM_TEXT, FORM_REQUIRED, NULL},
    {"operation", FORM_TEXT, FORM_REQUIRED, NULL},
    {"subject", FORM_TEXT, 0, "A table, a key or a path"},
    {"status", FORM_COUNT, 0, "Of HTTP"},
    {"reason", FORM_TEXT, 0, "Why it was refused"},
    {"who", FORM_TEXT, 0, "A key's id, or a player's"},
    {"bytesIn", FORM_COUNT, FORM_REQUIRED, NULL},
    {"bytesOut", FORM_COUNT, FORM_REQUIRED, NULL},
    {"ms", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, "How long it took"},
    {0},
};
static const struct form form_record = {"Request", "A request that was answered", record_fields};
static const struct form_field slow_fields[] = {
    {"thresholdMs", FORM_COUNT, FORM_REQUIRED, "From when on a request is slow"},
    {"requests", FORM_LIST, FORM_REQUIRED, "The newest first", .form = &form_record,
     .element = FORM_OBJECT},
    {0},
};
const struct form form_slow = {"Slow", "Requests that took long", slow_fields};
static const struct form_field audit_fields[] = {
    {"entries", FORM_LIST, FORM_REQUIRED, "The newest first", .form = &form_record,
     .element = FORM_OBJECT},
    {"next", FORM_TEXT, 0, "The cursor of older ones"},
    {0},
};
const struct form form_audit = {"Audit", "What operators changed", audit_fields};

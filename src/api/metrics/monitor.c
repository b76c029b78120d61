#include "api/metrics/monitor.h"

#include "api/access_control.h"
#include "api/audit_log.h"
#include "api/live/live.h"
#include "api/metrics/request_tail.h"
#include "api/offload.h"
#include "api/redis/redis_frontend.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Waits by the clock that clock_ticks_us() reads. */
static void init_wake(struct monitor *monitor) {
    pthread_condattr_t attributes;
    pthread_mutex_init(&monitor->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&monitor->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct monitor *monitor_new(const struct monitor_settings *settings) {
    struct monitor *monitor = mem_zalloc(sizeof *monitor);
    monitor->settings = *settings;
    monitor->metrics = metrics_new(settings->loops);
    monitor->started_us = clock_ticks_us();
    monitor->history = history_new();
    monitor->capacity = capacity_new(settings->loops);
    monitor->tail = request_tail_new(monitor);
    request_log_init(&monitor->requests, (uint64_t)settings->slow_ms * 1000, LIMIT_SLOW_REQUESTS);
    request_log_init(&monitor->audit, 0, LIMIT_AUDIT_ENTRIES);
    init_wake(monitor);
    return monitor;
}

void monitor_attach(struct monitor *monitor, const struct monitor_sources *sources) {
    atomic_store(&monitor->sources, sources);
}

void monitor_stop(struct monitor *monitor) {
    pthread_mutex_lock(&monitor->mutex);
    monitor->stopping = true;
    pthread_cond_signal(&monitor->wake);
    pthread_mutex_unlock(&monitor->mutex);
    if (monitor->running)
        pthread_join(monitor->thread, NULL);
    monitor->running = false;
    atomic_store(&monitor->sources, NULL);
}

void monitor_free(struct monitor *monitor) {
    metrics_free(monitor->metrics);
    history_free(monitor->history);
    capacity_free(monitor->capacity);
    request_tail_free(monitor->tail);
    request_log_release(&monitor->requests);
    request_log_release(&monitor->audit);
    pthread_cond_destroy(&monitor->wake);
    pthread_mutex_destroy(&monitor->mutex);
    mem_free(monitor);
}

/* --- answers that wait until the audit log has them --- */

struct kept_answer {
    struct audit_wait wait; /* first */
    struct task task;
    struct http_exchange *exchange;
};

static void release_answer(struct task *task) {
    struct kept_answer *kept =
        (struct kept_answer *)((char *)task - offsetof(struct kept_answer, task));
    http_release(kept->exchange);
}

/* On the thread of the audit log. */
static void answer_is_kept(struct audit_wait *wait) {
    struct kept_answer *kept = (struct kept_answer *)wait;
    loop_post(kept->exchange->loop, &kept->task);
}

/* What changed nothing is answered at once. */
static bool audit_exchange(struct monitor *monitor, struct http_exchange *exchange,
                           const struct request_record *record) {
    struct kept_answer *kept = NULL;
    if (record->status < 300) {
        kept = ARENA_NEW(&exchange->arena, struct kept_answer);
        *kept = (struct kept_answer){{answer_is_kept}, {.run = release_answer}, exchange};
    }
    bool waits = audit_log_add(monitor->settings.audit, record, kept != NULL ? &kept->wait : NULL);
    return waits && kept != NULL;
}

/* What a live subscription was opened with may be a secret: of a query nothing is kept. */
static bool log_exchange(struct monitor *monitor, struct http_exchange *exchange,
                         const struct http_answer *answer, uint64_t us) {
    const struct http_note *note = &exchange->note;
    enum metrics_front front = note->front < METRICS_FRONTS ? note->front : METRICS_OTHER;
    struct request_record record = {.at_ms = clock_now_ms(),
                                    .us = us,
                                    .bytes_in = exchange->body.size,
                                    .bytes_out = answer->body.size,
                                    .front = front,
                                    .status = answer->status};
    struct request_texts texts = {
        .operation = metrics_operation_name(monitor->metrics, front, note->operation),
        .reason = note->reason != NULL ? bytes_str(note->reason) : (struct bytes){0},
        .subject = note->subject.size != 0     ? note->subject
                   : front == METRICS_DYNAMODB ? (struct bytes){0}
                                               : exchange->path,
        .who = note->who};
    request_record_set(&record, &texts);
    if (request_log_wants(&monitor->requests, us))
        request_log_add(&monitor->requests, &record);
    if (!note->audited)
        return false;
    log_info("audit: %s did %s to %s: %d", record.who[0] != '\0' ? record.who : "anybody",
             record.operation, record.subject, record.status);
    if (monitor->settings.audit != NULL)
        return audit_exchange(monitor, exchange, &record);
    request_log_add(&monitor->audit, &record);
    return false;
}

bool monitor_answered(struct monitor *monitor, struct http_exchange *exchange,
                      const struct http_answer *answer) {
    int64_t us = clock_ticks_us() - exchange->begun_us;
    const struct http_note *note = &exchange->note;
    metrics_answered(monitor->metrics, exchange, answer, (uint64_t)us);
    if (note->read + note->write > 0)
        capacity_add(
            monitor->capacity, loop_index(exchange->loop),
            &(struct capacity_use){note->subject, note->operation, note->read, note->write});
    if (!request_log_wants(&monitor->requests, (uint64_t)us) && !exchange->note.audited)
        return false;
    return log_exchange(monitor, exchange, answer, (uint64_t)us);
}

/* --- the thread --- */

static void add_command(const struct redis_command_figures *command, void *user) {
    struct history_reading *reading = user;
    reading->values[HISTORY_OF(METRICS_REDIS, HISTORY_REQUESTS)] +=
        (double)(command->calls + command->rejected);
    reading->values[HISTORY_OF(METRICS_REDIS, HISTORY_ERRORS)] +=
        (double)(command->failed + command->rejected);
    durations_sum_sums(&reading->latency[METRICS_REDIS], command->latency);
}

static void read_fronts(const struct monitor *monitor, struct history_reading *reading) {
    for (enum metrics_front front = 0; front < METRICS_FRONTS; front++) {
        struct metrics_sums sums = {0};
        metrics_sum_front(monitor->metrics, front, &sums);
        reading->values[HISTORY_OF(front, HISTORY_REQUESTS)] = (double)sums.requests;
        reading->values[HISTORY_OF(front, HISTORY_ERRORS)] = (double)sums.failed;
        reading->latency[front] = sums.latency;
    }
}

static void read_listeners(const struct monitor_sources *sources, double *values) {
    const struct listener *listeners[] = {sources->http, sources->redis_listener};
    for (size_t i = 0; i < 2; i++) {
        struct listener_figures figures = {0};
        if (listeners[i] != NULL)
            listener_figures(listeners[i], &figures);
        values[HISTORY_BYTES_IN] += (double)figures.bytes_in;
        values[HISTORY_BYTES_OUT] += (double)figures.bytes_out;
        values[i == 0 ? HISTORY_CONNECTIONS_HTTP : HISTORY_CONNECTIONS_REDIS] =
            (double)figures.connections;
    }
}

static void read_engine(const struct monitor *monitor, struct history_reading *reading) {
    struct engine_figures engine;
    double *values = reading->values;
    engine_figures(monitor->settings.engine, &engine);
    values[HISTORY_COMMITS] = (double)engine.commits;
    values[HISTORY_WRITES] = (double)engine.writes;
    values[HISTORY_QUEUE] = (double)engine.changes_waiting;
    values[HISTORY_CACHE_HITS] = (double)engine.cache_hits;
    values[HISTORY_CACHE_MISSES] = (double)engine.cache_misses;
    values[HISTORY_INDEX_MEMORY] = (double)engine.index_memory;
    values[HISTORY_CACHE_MEMORY] = (double)engine.cache_memory;
    values[HISTORY_STORE_MEMORY] = (double)engine.store_memory;
    values[HISTORY_DISK] = (double)engine.disk;
    reading->commits = engine.commit_writes;
}

static void take_reading(struct monitor *monitor, const struct monitor_sources *sources) {
    struct history_reading reading = {.at_us = clock_ticks_us()};
    struct live_figures live = {0};
    struct rusage usage = {0};
    read_fronts(monitor, &reading);
    if (sources->redis != NULL)
        redis_frontend_commands(sources->redis, add_command, &reading);
    read_listeners(sources, reading.values);
    read_engine(monitor, &reading);
    if (sources->live != NULL)
        live_figures(sources->live, &live);
    reading.values[HISTORY_SUBSCRIPTIONS] = (double)live.subscriptions;
    reading.values[HISTORY_MESSAGES] = (double)live.messages;
    reading.values[HISTORY_RSS] = (double)monitor_resident_bytes();
    getrusage(RUSAGE_SELF, &usage);
    reading.values[HISTORY_CPU] = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    history_add(monitor->history, &reading);
}

/* Sleeps until then; false when it is time to stop. */
static bool sleep_until(struct monitor *monitor, int64_t at_us) {
    struct timespec until = {.tv_sec = at_us / 1000000, .tv_nsec = at_us % 1000000 * 1000};
    int late = 0;
    pthread_mutex_lock(&monitor->mutex);
    while (!monitor->stopping && late == 0)
        late = pthread_cond_timedwait(&monitor->wake, &monitor->mutex, &until);
    bool goes_on = !monitor->stopping;
    pthread_mutex_unlock(&monitor->mutex);
    return goes_on;
}

/* A tail is sent every quarter of a second, a reading taken at every fourth. */
static void *monitor_main(void *argument) {
    enum { QUARTER_US = 250 * 1000 };
    struct monitor *monitor = argument;
    const struct monitor_sources *sources = atomic_load(&monitor->sources);
    int64_t at_us = clock_ticks_us();
    pthread_setname_np(pthread_self(), "monitor");
    for (unsigned turn = 0;; turn++) {
        if (turn % 4 == 0)
            take_reading(monitor, sources);
        request_tail_send(monitor->tail);
        int64_t now_us = clock_ticks_us();
        at_us = at_us + QUARTER_US > now_us ? at_us + QUARTER_US : now_us + QUARTER_US;
        if (!sleep_until(monitor, at_us))
            return NULL;
    }
}

void monitor_start(struct monitor *monitor) {
    monitor->running = thread_start(&monitor->thread, monitor_main, monitor) == 0;
}

/* --- the process --- */

uint64_t monitor_resident_bytes(void) {
    unsigned long long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%llu %llu", &all, &pages) != 2)
        pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

unsigned monitor_open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;
    if (folder == NULL)
        return 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count < 3 ? 0 : count - 3; /* "." and "..", and the folder itself */
}

/* --- GET /metrics --- */

bool monitor_takes(struct bytes path) {
    return bytes_equal(path, BYTES("/metrics"));
}

/* 0, or the status of the refusal that is in *failure. */
static int check_caller(struct http_exchange *exchange, const struct monitor *monitor,
                        struct failure *failure) {
    struct caller caller;
    struct touch touch = {.what = TOUCHES_SERVER, .access = ACCESS_READ, .table = BYTES("*")};
    struct caller_lookup lookup = {
        .keys = monitor->settings.keys, .arena = &exchange->arena, .failure = failure};
    struct credentials shown = {.authorization = http_header(exchange, "Authorization")};
    if (monitor->settings.open)
        return 0;
    if (caller_find(&lookup, &shown, &caller) != OK)
        return 401;
    enum denial denial = access_decide(&caller, &touch);
    if (denial == DENIAL_NONE)
        return 0;
    access_explain(denial, &touch, (struct scope){&exchange->arena, failure});
    return denial == DENIAL_UNKNOWN ? 401 : 403;
}

static void refuse_metrics(struct http_exchange *exchange, int status, struct bytes sentence) {
    struct http_answer answer = {
        .status = status,
        .content_type = BYTES("text/plain; charset=utf-8"),
        .headers = status == 401 ? BYTES("WWW-Authenticate: Basic realm=\"gametable\"\r\n")
                                 : (struct bytes){0},
    };
    buf_put(&exchange->reply, sentence);
    buf_byte(&exchange->reply, '\n');
    answer.body = buf_bytes(&exchange->reply);
    exchange->note.reason = status == 405 ? "method" : status == 401 ? "unauthorized" : "forbidden";
    offload_answer(exchange, &answer, http_answer);
}

void monitor_handle(struct http_exchange *exchange, struct monitor *monitor) {
    struct failure failure = {0};
    bool get =
        bytes_equal(exchange->method, BYTES("GET")) || bytes_equal(exchange->method, BYTES("HEAD"));
    int refusal = check_caller(exchange, monitor, &failure);
    if (!get || refusal != 0) {
        refuse_metrics(exchange, refusal != 0 ? refusal : 405,
                       refusal != 0 ? failure.text : BYTES("this path takes GET"));
        return;
    }
    monitor_put_metrics(monitor, &exchange->reply);
    struct http_answer answer = {.status = 200,
                                 .content_type = BYTES("text/plain; version=0.0.4; charset=utf-8"),
                                 .headers = BYTES("Cache-Control: no-store\r\n"),
                                 .body = buf_bytes(&exchange->reply)};
    offload_answer(exchange, &answer, http_answer);
}

/* The monitor: what the process knows about itself while it serves. One for the whole server, made
 * before its front ends and freed after them.
 *
 * A thread of its own takes a reading every second (history.h), and while somebody looks on it
 * sends what was asked since (request_log.h, request_tail.h).
 *
 * It has the counters of all HTTP requests (metrics.h) and knows whom to ask for all other figures:
 * the engine, the listeners, the Redis front end, live subscriptions, housekeeping. GET /metrics
 * tells all of it as Prometheus' text (docs/metrics.md). With keys that takes one that may read all
 * tables, as Bearer ID:SECRET or Basic, unless the monitor is open to whoever reaches the port.
 */
#ifndef GT_API_METRICS_MONITOR_H
#define GT_API_METRICS_MONITOR_H

#include "api/access_keys.h"
#include "api/metrics/capacity.h"
#include "api/metrics/history.h"
#include "api/metrics/request_log.h"
#include "table/engine.h"

#include <stdatomic.h>

struct audit_log;
struct housekeeping;
struct live;
struct redis_frontend;

struct monitor_settings {
    struct engine *engine;
    const struct keys *keys; /* who may come in; NULL: anybody */
    unsigned loops;
    bool open;               /* whoever reaches the port may read /metrics */
    const char *version;     /* of the program */
    int64_t slow_ms;         /* from when on a request is slow */
    struct audit_log *audit; /* where what operators did is kept; NULL: in memory only */
};

/* Whose figures are told as well. Each may be NULL; all outlive the monitor's use. */
struct monitor_sources {
    const struct listener *http, *redis_listener;
    struct redis_frontend *redis;
    struct live *live;
    struct housekeeping *housekeeping;
};

struct monitor {
    struct monitor_settings settings;
    struct metrics *metrics;
    int64_t started_us;                              /* by clock_ticks_us() */
    _Atomic(const struct monitor_sources *) sources; /* NULL: not yet */
    struct history *history;
    struct capacity *capacity;
    struct request_log requests;
    /* What operators changed, where settings.audit is NULL; everything is "slow" there. */
    struct request_log audit;
    struct request_tail *tail;
    pthread_t thread;
    bool running;
    pthread_mutex_t mutex; /* over the two that follow */
    pthread_cond_t wake;
    bool stopping;
};

struct monitor *monitor_new(const struct monitor_settings *settings);
/* From now on these are asked, too. Borrowed until monitor_stop(). Any thread. */
void monitor_attach(struct monitor *monitor, const struct monitor_sources *sources);
/* Starts the thread; without it there is no history and no tail. After the sources are attached. */
void monitor_start(struct monitor *monitor);
/* Before what was attached goes: ends the thread, and none of it is asked any more. */
void monitor_stop(struct monitor *monitor);
void monitor_free(struct monitor *monitor);

/* Counts an exchange. An http_answered, but for its context: the answer to what an operator has
 * changed is kept back until the audit log has it on the disk. */
bool monitor_answered(struct monitor *monitor, struct http_exchange *exchange,
                      const struct http_answer *answer);

/* Appends the text of /metrics. Any thread that may wait a little: some figures are behind locks of
 * the engine. */
void monitor_put_metrics(struct monitor *monitor, struct buf *to);

/* Whether the path is /metrics; and answers it. */
bool monitor_takes(struct bytes path);
void monitor_handle(struct http_exchange *exchange, struct monitor *monitor);

/* Bytes of memory that the system has given the process, and descriptors that it has open. */
uint64_t monitor_resident_bytes(void);
unsigned monitor_open_files(void);

#endif

/* The families of GET /metrics, one function for each part of the program. Names follow
 * Prometheus' rules: a prefix, base units (seconds, bytes), _total for what only grows. */
#include "api/live/live.h"
#include "api/metrics/exposition.h"
#include "api/metrics/monitor.h"
#include "api/redis/redis_frontend.h"
#include "base/clock.h"
#include "game/housekeeping.h"

#include <sys/resource.h>

/* --- requests --- */

/* What is told of an operation, one family after the other. */
enum request_family { REQUESTS, ERRORS, BYTES_IN, BYTES_OUT, DURATIONS, REQUEST_FAMILIES };

static const struct {
    const char *name, *type, *help;
} request_families[REQUEST_FAMILIES] = {
    [REQUESTS] = {"gametable_requests_total", "counter",
                  "Requests that were answered, by front end and operation."},
    [ERRORS] = {"gametable_request_errors_total", "counter",
                "Requests that were answered with an error."},
    [BYTES_IN] = {"gametable_request_bytes_total", "counter", "Bytes of request bodies."},
    [BYTES_OUT] = {"gametable_response_bytes_total", "counter", "Bytes of response bodies."},
    [DURATIONS] = {"gametable_request_duration_seconds", "histogram",
                   "Time from a whole request to its answer, commit included."},
};

struct request_writer {
    struct buf *to;
    enum request_family family;
    struct buf labels; /* of the operation that is told */
};

static void label_operation(struct request_writer *writer, const char *front,
                            struct bytes operation) {
    buf_clear(&writer->labels);
    exposition_label(&writer->labels, "frontend", bytes_str(front));
    exposition_label(&writer->labels, "operation",
                     operation.size != 0 ? operation : BYTES("unknown"));
}

static void put_sums(struct request_writer *writer, const struct metrics_sums *sums) {
    const char *name = request_families[writer->family].name;
    struct bytes labels = buf_bytes(&writer->labels);
    const uint64_t counts[] = {[REQUESTS] = sums->requests,
                               [ERRORS] = sums->failed,
                               [BYTES_IN] = sums->bytes_in,
                               [BYTES_OUT] = sums->bytes_out};
    if (writer->family == DURATIONS)
        exposition_histogram(writer->to, name, labels, &sums->latency);
    else
        exposition_uint(writer->to, name, labels, counts[writer->family]);
}

static void put_http_operations(struct request_writer *writer, const struct metrics *metrics) {
    for (enum metrics_front front = METRICS_OTHER; front < METRICS_FRONTS; front++)
        for (size_t k = 0; k < METRICS_OPERATIONS_MAX; k++) {
            struct metrics_sums sums = {0};
            if (!metrics_sum(metrics, front, k, &sums))
                continue;
            label_operation(writer, metrics_front_name(front),
                            metrics_operation_name(metrics, front, k));
            put_sums(writer, &sums);
        }
}

static void put_redis_command(const struct redis_command_figures *command, void *user) {
    struct request_writer *writer = user;
    struct metrics_sums sums = {.requests = command->calls + command->rejected,
                                .failed = command->failed + command->rejected,
                                .latency = *command->latency};
    if (writer->family == BYTES_IN || writer->family == BYTES_OUT)
        return; /* of a stream only the listener knows them */
    label_operation(writer, metrics_front_name(METRICS_REDIS), command->name);
    put_sums(writer, &sums);
}

static void put_requests(struct buf *to, const struct monitor *monitor,
                         const struct monitor_sources *sources) {
    struct request_writer writer = {.to = to};
    for (; writer.family < REQUEST_FAMILIES; writer.family++) {
        exposition_family(to, request_families[writer.family].name,
                          request_families[writer.family].type,
                          request_families[writer.family].help);
        put_http_operations(&writer, monitor->metrics);
        if (sources->redis != NULL)
            redis_frontend_commands(sources->redis, put_redis_command, &writer);
    }
    buf_release(&writer.labels);
}

static void put_reason(const struct metrics_reason *reason, void *user) {
    struct buf labels = {0};
    exposition_label(&labels, "frontend", bytes_str(metrics_front_name(reason->front)));
    exposition_label(&labels, "reason", bytes_str(reason->reason));
    exposition_uint(user, "gametable_refusals_total", buf_bytes(&labels), reason->count);
    buf_release(&labels);
}

static void put_refusals(struct buf *to, const struct monitor *monitor) {
    exposition_family(to, "gametable_refusals_total", "counter",
                      "Requests that were refused, by front end and reason.");
    metrics_reasons(monitor->metrics, put_reason, to);
}

/* --- connections --- */

static void put_listeners(struct buf *to, const struct monitor_sources *sources) {
    static const struct {
        const char *name, *type, *help;
        size_t offset;
    } families[] = {
        {"gametable_connections", "gauge", "Open connections.",
         offsetof(struct listener_figures, connections)},
        {"gametable_connections_accepted_total", "counter", "Connections that were accepted.",
         offsetof(struct listener_figures, accepted)},
        {"gametable_connections_refused_total", "counter",
         "Connections beyond max-connections that were turned away.",
         offsetof(struct listener_figures, turned_away)},
        {"gametable_received_bytes_total", "counter", "Bytes that were read from clients.",
         offsetof(struct listener_figures, bytes_in)},
        {"gametable_sent_bytes_total", "counter", "Bytes that were sent to clients.",
         offsetof(struct listener_figures, bytes_out)},
        {"gametable_unreadable_requests_total", "counter",
         "Requests that were malformed, too slow, too large, or for which there was no memory.",
         offsetof(struct listener_figures, refused)},
    };
    const struct listener *listeners[] = {sources->http, sources->redis_listener};
    static const char *const labels[] = {"listener=\"http\"", "listener=\"redis\""};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        exposition_family(to, families[i].name, families[i].type, families[i].help);
        for (size_t k = 0; k < 2; k++) {
            struct listener_figures figures;
            if (listeners[k] == NULL)
                continue;
            listener_figures(listeners[k], &figures);
            exposition_uint(to, families[i].name, bytes_str(labels[k]),
                            *(const uint64_t *)((const char *)&figures + families[i].offset));
        }
    }
}

/* --- the engine --- */

/* A figure that is a family of its own. */
struct figure {
    const char *name, *type, *help;
    uint64_t value;
};

static void put_figures(struct buf *to, const struct figure *figures, size_t count) {
    for (size_t i = 0; i < count; i++) {
        exposition_family(to, figures[i].name, figures[i].type, figures[i].help);
        exposition_uint(to, figures[i].name, (struct bytes){0}, figures[i].value);
    }
}
#define PUT_FIGURES(to, figures) put_figures((to), (figures), sizeof(figures) / sizeof(figures)[0])

static void put_tables(struct buf *to, const struct engine_figures *engine) {
    const struct figure figures[] = {
        {"gametable_tables", "gauge", "Tables.", engine->tables},
        {"gametable_items", "gauge", "Items of all tables.", engine->items},
        {"gametable_item_bytes", "gauge", "Size of all items as clients count it.",
         engine->item_bytes},
        {"gametable_index_entries", "gauge", "Entries of all index trees.", engine->index_entries},
        {"gametable_index_builds", "gauge", "Indexes that are being built.", engine->index_builds},
        {"gametable_cache_items", "gauge", "Items in the cache.", engine->cache_items},
        {"gametable_cache_hits_total", "counter", "Items that were read from the cache.",
         engine->cache_hits},
        {"gametable_cache_misses_total", "counter", "Items that were read from the store.",
         engine->cache_misses},
        {"gametable_expired_items_total", "counter", "Items that were removed at their time.",
         engine->expired},
    };
    PUT_FIGURES(to, figures);
}

static void put_writer(struct buf *to, const struct engine_figures *engine) {
    const struct figure figures[] = {
        {"gametable_commits_total", "counter", "Commit groups.", engine->commits},
        {"gametable_writes_total", "counter", "Items that were written in them.", engine->writes},
        {"gametable_changes_waiting", "gauge", "Changes that wait for their commit.",
         engine->changes_waiting},
        {"gametable_changes_waiting_max", "gauge",
         "Changes that may wait; more are refused until there is room.",
         engine->changes_waiting_max},
        {"gametable_refusing_writes", "gauge",
         "1 while the disk takes no writes and is tried again.", engine->refusing_writes},
    };
    const char *durations = "gametable_commit_write_seconds";
    PUT_FIGURES(to, figures);
    exposition_family(to, durations, "histogram",
                      "Time to write a commit group to the log, with its fsync if it has one.");
    exposition_histogram(to, durations, (struct bytes){0}, &engine->commit_writes);
}

static void put_store(struct buf *to, const struct engine_figures *engine) {
    const struct figure figures[] = {
        {"gametable_disk_bytes", "gauge", "Size of the data folder.", engine->disk},
        {"gametable_store_files", "gauge", "Table files of the store.", engine->store_files},
        {"gametable_store_unmerged_files", "gauge", "Of them, files that are not merged yet.",
         engine->store_newest_files},
        {"gametable_store_compactions", "gauge", "Compactions that run now.",
         engine->store_compacting},
        {"gametable_store_flushes", "gauge", "Flushes that run now.", engine->store_flushing},
        {"gametable_store_compaction_pending_bytes", "gauge",
         "Bytes that wait to be compacted, about.", engine->store_compaction_waits},
        {"gametable_store_stalled", "gauge", "1 while the store waits for its own compaction.",
         engine->store_stalled},
    };
    PUT_FIGURES(to, figures);
}

/* --- memory --- */

static void put_memory(struct buf *to, const struct engine_figures *engine) {
    const char *used = "gametable_memory_bytes", *most = "gametable_memory_max_bytes";
    exposition_family(to, used, "gauge", "Memory by owner.");
    exposition_uint(to, used, BYTES("owner=\"indexes\""), engine->index_memory);
    exposition_uint(to, used, BYTES("owner=\"counts\""), engine->count_index_memory);
    exposition_uint(to, used, BYTES("owner=\"cache\""), engine->cache_memory);
    exposition_uint(to, used, BYTES("owner=\"store\""), engine->store_memory);
    exposition_family(to, most, "gauge", "What the settings allow each owner.");
    exposition_uint(to, most, BYTES("owner=\"indexes\""), engine->index_memory_max);
    exposition_uint(to, most, BYTES("owner=\"cache\""), engine->cache_memory_max);
}

static void put_process(struct buf *to) {
    struct rusage usage = {0};
    struct rlimit files = {0};
    getrusage(RUSAGE_SELF, &usage);
    getrlimit(RLIMIT_NOFILE, &files);
    const struct figure figures[] = {
        {"process_resident_memory_bytes", "gauge", "Memory that the system has given the process.",
         monitor_resident_bytes()},
        {"process_open_fds", "gauge", "Open file descriptors.", monitor_open_files()},
        {"process_max_fds", "gauge", "File descriptors that may be open.",
         (uint64_t)files.rlim_cur},
    };
    PUT_FIGURES(to, figures);
    exposition_family(to, "process_cpu_seconds_total", "counter", "Processor time.");
    exposition_double(to, "process_cpu_seconds_total", (struct bytes){0},
                      (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                          (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}

/* A part of the process's: while it grows the processors have time left. */
static void put_looking(struct buf *to, const struct listener *listener) {
    const char *name = "gametable_busy_poll_seconds_total";
    struct listener_figures figures;
    listener_figures(listener, &figures);
    exposition_family(to, name, "counter",
                      "Processor time in which loops looked for the next request (--busy-poll).");
    exposition_double(to, name, (struct bytes){0}, (double)figures.looked_us / 1e6);
}

/* --- what the game does --- */

static void put_live(struct buf *to, struct live *live) {
    struct live_figures live_now = {0};
    live_figures(live, &live_now);
    const struct figure figures[] = {
        {"gametable_live_subscriptions", "gauge", "Live subscriptions that are open.",
         live_now.subscriptions},
        {"gametable_live_topics", "gauge", "Rooms and boards that they watch.", live_now.topics},
        {"gametable_live_messages_total", "counter", "Messages that were sent on them.",
         live_now.messages},
        {"gametable_live_lagged_total", "counter",
         "Times that a subscription was too slow and got the state instead of each change.",
         live_now.lagged},
    };
    PUT_FIGURES(to, figures);
}

static void put_redis(struct buf *to, struct redis_frontend *redis) {
    struct redis_figures now;
    redis_frontend_figures(redis, &now);
    const struct figure figures[] = {
        {"gametable_redis_clients", "gauge", "Redis clients.", now.clients},
        {"gametable_redis_blocked_clients", "gauge", "Those that wait for entries.", now.blocked},
        {"gametable_redis_commands_total", "counter", "Redis commands, those of EXEC too.",
         now.commands},
    };
    PUT_FIGURES(to, figures);
}

static void put_housekeeping(struct buf *to, struct housekeeping *housekeeping) {
    struct housekeeping_counters counters;
    housekeeping_counters(housekeeping, &counters);
    const struct figure figures[] = {
        {"gametable_boards_sealed_total", "counter", "Periods of boards that were sealed.",
         counters.sealed},
        {"gametable_boards_removed_total", "counter", "Periods of boards whose lifetime ended.",
         counters.removed},
        {"gametable_plays_counted_total", "counter", "Plays that were added to stats.",
         counters.plays},
        {"gametable_stream_gaps_total", "counter",
         "Times that stream records were gone before housekeeping had read them.", counters.gaps},
        {"gametable_housekeeping_failures_total", "counter", "What failed and was tried again.",
         counters.failures},
    };
    PUT_FIGURES(to, figures);
}

/* --- all of it --- */

static void put_build(struct buf *to, const struct monitor *monitor) {
    struct buf labels = {0};
    const char *version = monitor->settings.version;
    exposition_label(&labels, "version", bytes_str(version != NULL ? version : "unknown"));
    exposition_family(to, "gametable_build_info", "gauge", "1, with the version as a label.");
    exposition_uint(to, "gametable_build_info", buf_bytes(&labels), 1);
    buf_release(&labels);
    exposition_family(to, "gametable_uptime_seconds", "gauge", "Time since the start.");
    exposition_double(to, "gametable_uptime_seconds", (struct bytes){0},
                      (double)(clock_ticks_us() - monitor->started_us) / 1e6);
}

void monitor_put_metrics(struct monitor *monitor, struct buf *to) {
    static const struct monitor_sources none;
    const struct monitor_sources *sources = atomic_load(&monitor->sources);
    struct engine_figures engine;
    if (sources == NULL)
        sources = &none;
    engine_figures(monitor->settings.engine, &engine);
    put_build(to, monitor);
    put_requests(to, monitor, sources);
    put_refusals(to, monitor);
    put_listeners(to, sources);
    put_tables(to, &engine);
    put_writer(to, &engine);
    put_store(to, &engine);
    put_memory(to, &engine);
    put_process(to);
    if (sources->http != NULL)
        put_looking(to, sources->http);
    if (sources->live != NULL)
        put_live(to, sources->live);
    if (sources->redis != NULL)
        put_redis(to, sources->redis);
    if (sources->housekeeping != NULL)
        put_housekeeping(to, sources->housekeeping);
}

/* The last hour of the server's figures by the second, and the last day by the minute, in memory:
 * a graph is there when one opens it. About 1 MB, whatever the load.
 *
 * One thread adds a reading every second; any thread reads. A second that was missed, and the time
 * before the start, are NAN.
 */
#ifndef GT_API_METRICS_HISTORY_H
#define GT_API_METRICS_HISTORY_H

#include "api/metrics/metrics.h"

enum history_span { HISTORY_HOUR, HISTORY_DAY };

/* What is remembered. Of each front end: requests, errors, p50, p99; HISTORY_OF() finds them. */
enum history_series {
    HISTORY_FRONTS_END = 4 * METRICS_FRONTS,
    HISTORY_BYTES_IN = HISTORY_FRONTS_END,
    HISTORY_BYTES_OUT,
    HISTORY_CONNECTIONS_HTTP,
    HISTORY_CONNECTIONS_REDIS,
    HISTORY_SUBSCRIPTIONS,
    HISTORY_MESSAGES,
    HISTORY_COMMITS,
    HISTORY_WRITES,
    HISTORY_QUEUE,
    HISTORY_COMMIT_P99,
    HISTORY_CACHE_HITS,
    HISTORY_CACHE_MISSES,
    HISTORY_RSS,
    HISTORY_INDEX_MEMORY,
    HISTORY_CACHE_MEMORY,
    HISTORY_STORE_MEMORY,
    HISTORY_DISK,
    HISTORY_CPU,
    HISTORY_SERIES
};
enum history_of { HISTORY_REQUESTS, HISTORY_ERRORS, HISTORY_P50, HISTORY_P99 };
#define HISTORY_OF(front, what) ((enum history_series)(4 * (front) + (what)))

/* How a series comes from a reading: what rose, a second; what is; a percentile of what came. */
enum history_kind { HISTORY_RATE, HISTORY_GAUGE, HISTORY_PERCENTILE };
enum history_kind history_kind_of(enum history_series series);
/* "dynamodb.p99", "memory.rss"; in a buffer of the thread, good until the next call. */
const char *history_name(enum history_series series);
const char *history_unit(enum history_series series); /* "per_second", "ms", "bytes", ... */

/* The figures as they are: totals for a HISTORY_RATE, what is for a HISTORY_GAUGE, and the
 * durations for the percentiles. */
struct history_reading {
    int64_t at_us; /* by clock_ticks_us() */
    double values[HISTORY_SERIES];
    struct durations_sums latency[METRICS_FRONTS], commits;
};

struct history;
struct history *history_new(void);
void history_free(struct history *history);
/* Every second, by one thread. Times that were missed are filled with NAN. */
void history_add(struct history *history, const struct history_reading *reading);

/* Copies the last `count` values of a series, the oldest first; what is not there is NAN. Several
 * seconds or minutes together make one value of `group` of them: the mean of those that are there,
 * of percentiles the largest. At most LIMIT_HISTORY_SECONDS or _MINUTES are there. */
struct history_request {
    enum history_series series;
    enum history_span span;
    size_t count, group; /* group 0 is 1 */
};
void history_get(struct history *history, const struct history_request *request, double *out);

#endif

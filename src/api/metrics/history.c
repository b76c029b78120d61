#include "api/metrics/history.h"

#include "base/limits.h"
#include "base/mem.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { MINUTE = 60, SECOND_US = 1000 * 1000 };

/* A ring of rows by time. */
struct rows {
    size_t room, next; /* the row that is written next */
    size_t filled;
    float *values; /* [room][HISTORY_SERIES] */
};

struct history {
    pthread_mutex_t mutex; /* over the rows */
    struct rows spans[2];
    /* the adding thread's */
    struct history_reading last_second, last_minute;
    bool begun;
    unsigned seconds; /* since the last minute */
};

/* --- names --- */

static const struct {
    const char *name, *unit;
    enum history_kind kind;
} others[HISTORY_SERIES] = {
    [HISTORY_BYTES_IN] = {"bytes.in", "bytes_per_second", HISTORY_RATE},
    [HISTORY_BYTES_OUT] = {"bytes.out", "bytes_per_second", HISTORY_RATE},
    [HISTORY_CONNECTIONS_HTTP] = {"connections.http", "count", HISTORY_GAUGE},
    [HISTORY_CONNECTIONS_REDIS] = {"connections.redis", "count", HISTORY_GAUGE},
    [HISTORY_SUBSCRIPTIONS] = {"live.subscriptions", "count", HISTORY_GAUGE},
    [HISTORY_MESSAGES] = {"live.messages", "per_second", HISTORY_RATE},
    [HISTORY_COMMITS] = {"writer.commits", "per_second", HISTORY_RATE},
    [HISTORY_WRITES] = {"writer.writes", "per_second", HISTORY_RATE},
    [HISTORY_QUEUE] = {"writer.queue", "count", HISTORY_GAUGE},
    [HISTORY_COMMIT_P99] = {"writer.fsync_p99", "ms", HISTORY_PERCENTILE},
    [HISTORY_CACHE_HITS] = {"cache.hits", "per_second", HISTORY_RATE},
    [HISTORY_CACHE_MISSES] = {"cache.misses", "per_second", HISTORY_RATE},
    [HISTORY_RSS] = {"memory.rss", "bytes", HISTORY_GAUGE},
    [HISTORY_INDEX_MEMORY] = {"memory.index", "bytes", HISTORY_GAUGE},
    [HISTORY_CACHE_MEMORY] = {"memory.cache", "bytes", HISTORY_GAUGE},
    [HISTORY_STORE_MEMORY] = {"memory.store", "bytes", HISTORY_GAUGE},
    [HISTORY_DISK] = {"disk.used", "bytes", HISTORY_GAUGE},
    [HISTORY_CPU] = {"cpu", "cores", HISTORY_RATE},
};

enum history_kind history_kind_of(enum history_series series) {
    if (series >= HISTORY_FRONTS_END)
        return others[series].kind;
    return series % 4 >= HISTORY_P50 ? HISTORY_PERCENTILE : HISTORY_RATE;
}

const char *history_name(enum history_series series) {
    static _Thread_local char name[32];
    static const char *const of[] = {"requests", "errors", "p50", "p99"};
    if (series >= HISTORY_FRONTS_END)
        return others[series].name;
    snprintf(name, sizeof name, "%s.%s", metrics_front_name((enum metrics_front)(series / 4)),
             of[series % 4]);
    return name;
}

const char *history_unit(enum history_series series) {
    if (series >= HISTORY_FRONTS_END)
        return others[series].unit;
    return series % 4 >= HISTORY_P50 ? "ms" : "per_second";
}

/* --- adding --- */

static void rows_init(struct rows *rows, size_t room) {
    *rows =
        (struct rows){.room = room, .values = mem_zalloc(room * HISTORY_SERIES * sizeof(float))};
}

struct history *history_new(void) {
    struct history *history = mem_zalloc(sizeof *history);
    pthread_mutex_init(&history->mutex, NULL);
    rows_init(&history->spans[HISTORY_HOUR], LIMIT_HISTORY_SECONDS);
    rows_init(&history->spans[HISTORY_DAY], LIMIT_HISTORY_MINUTES);
    return history;
}

void history_free(struct history *history) {
    mem_free(history->spans[HISTORY_HOUR].values);
    mem_free(history->spans[HISTORY_DAY].values);
    pthread_mutex_destroy(&history->mutex);
    mem_free(history);
}

/* Under the mutex. NULL: a row of nothing. */
static void push_row(struct rows *rows, const float *row) {
    float *to = rows->values + rows->next * HISTORY_SERIES;
    for (size_t i = 0; i < HISTORY_SERIES; i++)
        to[i] = row == NULL ? NAN : row[i];
    rows->next = (rows->next + 1) % rows->room;
    if (rows->filled < rows->room)
        rows->filled++;
}

static float percentile_of(const struct durations_sums *now, const struct durations_sums *before,
                           double share) {
    struct durations_sums since = durations_since(now, before);
    return since.count == 0 ? NAN : (float)(durations_percentile_us(&since, share) / 1000);
}

/* What came between two readings. */
static void make_row(const struct history_reading *now, const struct history_reading *before,
                     float row[HISTORY_SERIES]) {
    double seconds = (double)(now->at_us - before->at_us) / SECOND_US;
    for (enum history_series i = 0; i < HISTORY_SERIES; i++)
        row[i] = (float)(history_kind_of(i) == HISTORY_RATE
                             ? (now->values[i] - before->values[i]) / seconds
                             : now->values[i]);
    for (enum metrics_front front = 0; front < METRICS_FRONTS; front++) {
        const struct durations_sums *a = &now->latency[front], *b = &before->latency[front];
        row[HISTORY_OF(front, HISTORY_P50)] = percentile_of(a, b, 0.5);
        row[HISTORY_OF(front, HISTORY_P99)] = percentile_of(a, b, 0.99);
    }
    row[HISTORY_COMMIT_P99] = percentile_of(&now->commits, &before->commits, 0.99);
}

void history_add(struct history *history, const struct history_reading *reading) {
    float second[HISTORY_SERIES], minute[HISTORY_SERIES];
    if (!history->begun) {
        history->last_second = history->last_minute = *reading;
        history->begun = true;
        return;
    }
    int64_t passed = (reading->at_us - history->last_second.at_us + SECOND_US / 2) / SECOND_US;
    make_row(reading, &history->last_second, second);
    bool minute_over = (history->seconds += passed < 1 ? 1 : (unsigned)passed) >= MINUTE;
    if (minute_over)
        make_row(reading, &history->last_minute, minute);
    pthread_mutex_lock(&history->mutex);
    for (; passed > 1 && passed <= LIMIT_HISTORY_SECONDS; passed--)
        push_row(&history->spans[HISTORY_HOUR], NULL);
    push_row(&history->spans[HISTORY_HOUR], second);
    if (minute_over)
        push_row(&history->spans[HISTORY_DAY], minute);
    pthread_mutex_unlock(&history->mutex);
    history->last_second = *reading;
    if (minute_over) {
        history->last_minute = *reading;
        history->seconds = 0;
    }
}

/* --- reading --- */

/* The value of a series `ago` rows before the newest. Under the mutex. */
static double value_at(const struct rows *rows, enum history_series series, size_t ago) {
    if (ago >= rows->filled)
        return NAN;
    size_t at = (rows->next + rows->room - 1 - ago) % rows->room;
    return (double)rows->values[at * HISTORY_SERIES + series];
}

/* One value of those from `ago` on, `group` of them. */
static double value_of(const struct rows *rows, const struct history_request *request, size_t ago) {
    double sum = 0, most = NAN;
    size_t there = 0, group = request->group == 0 ? 1 : request->group;
    for (size_t i = 0; i < group; i++) {
        double value = value_at(rows, request->series, ago + i);
        if (isnan(value))
            continue;
        sum += value;
        most = isnan(most) || value > most ? value : most;
        there++;
    }
    if (there == 0 || history_kind_of(request->series) == HISTORY_PERCENTILE)
        return most;
    return sum / (double)there;
}

void history_get(struct history *history, const struct history_request *request, double *out) {
    const struct rows *rows = &history->spans[request->span];
    size_t group = request->group == 0 ? 1 : request->group;
    pthread_mutex_lock(&history->mutex);
    for (size_t i = 0; i < request->count; i++)
        out[request->count - 1 - i] = value_of(rows, request, i * group);
    pthread_mutex_unlock(&history->mutex);
}

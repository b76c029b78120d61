#include "api/metrics/metrics.h"

#include "base/limits.h"
#include "base/mem.h"

#include <string.h>

enum { REASONS_MAX = LIMIT_METRICS_REASONS }; /* of one loop; what is more is counted as "other" */

struct series {
    _Atomic(uint64_t) requests, failed, bytes_in, bytes_out;
    struct durations latency;
};

/* A reason is found by its address; the same word at two addresses is added up by who reads. */
struct reason_slot {
    _Atomic(const char *) reason; /* NULL: free, and so are those behind it */
    enum metrics_front front;
    _Atomic(uint64_t) count;
};

/* One loop's. */
struct shard_metrics {
    _Atomic(struct series *) series[METRICS_FRONTS][METRICS_OPERATIONS_MAX];
    struct reason_slot reasons[REASONS_MAX];
};

struct metrics {
    struct bytes (*names[METRICS_FRONTS])(size_t operation);
    unsigned loops;
    struct shard_metrics shards[];
};

const char *metrics_front_name(enum metrics_front front) {
    static const char *const names[METRICS_FRONTS] = {
        [METRICS_OTHER] = "other", [METRICS_DYNAMODB] = "dynamodb", [METRICS_REST] = "rest",
        [METRICS_LIVE] = "live",   [METRICS_PAGES] = "pages",       [METRICS_REDIS] = "redis"};
    return names[front];
}

struct metrics *metrics_new(unsigned loops) {
    struct metrics *metrics = mem_zalloc(sizeof *metrics + loops * sizeof metrics->shards[0]);
    metrics->loops = loops;
    return metrics;
}

void metrics_free(struct metrics *metrics) {
    for (unsigned i = 0; i < metrics->loops; i++)
        for (size_t front = 0; front < METRICS_FRONTS; front++)
            for (size_t k = 0; k < METRICS_OPERATIONS_MAX; k++)
                mem_free(atomic_load(&metrics->shards[i].series[front][k]));
    mem_free(metrics);
}

void metrics_set_names(struct metrics *metrics, enum metrics_front front,
                       struct bytes (*name)(size_t operation)) {
    metrics->names[front] = name;
}

struct bytes metrics_operation_name(const struct metrics *metrics, enum metrics_front front,
                                    size_t operation) {
    if (operation == 0 || metrics->names[front] == NULL)
        return (struct bytes){0};
    return metrics->names[front](operation);
}

/* --- counting --- */

static void count(_Atomic(uint64_t) *to, uint64_t more) {
    atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

static struct series *series_of(struct shard_metrics *shard, unsigned front, unsigned operation) {
    if (front >= METRICS_FRONTS || operation >= METRICS_OPERATIONS_MAX)
        front = operation = 0;
    struct series *series =
        atomic_load_explicit(&shard->series[front][operation], memory_order_relaxed);
    if (series == NULL) {
        series = mem_zalloc(sizeof *series);
        atomic_store_explicit(&shard->series[front][operation], series, memory_order_release);
    }
    return series;
}

void metrics_refused(struct metrics *metrics, unsigned loop, enum metrics_front front,
                     const char *reason) {
    struct reason_slot *slots = metrics->shards[loop].reasons;
    size_t at = 0;
    const char *there;
    while ((there = atomic_load_explicit(&slots[at].reason, memory_order_relaxed)) != NULL &&
           (there != reason || slots[at].front != front) && at < REASONS_MAX - 1)
        at++;
    if (there == NULL) {
        slots[at].front = at < REASONS_MAX - 1 ? front : METRICS_OTHER;
        atomic_store_explicit(&slots[at].reason, at < REASONS_MAX - 1 ? reason : "other",
                              memory_order_release);
    }
    count(&slots[at].count, 1);
}

void metrics_answered(struct metrics *metrics, const struct http_exchange *exchange,
                      const struct http_answer *answer, uint64_t us) {
    const struct http_note *note = &exchange->note;
    unsigned loop = loop_index(exchange->loop);
    struct series *series = series_of(&metrics->shards[loop], note->front, note->operation);
    count(&series->requests, 1);
    count(&series->bytes_in, exchange->body.size);
    count(&series->bytes_out, answer->body.size);
    durations_add(&series->latency, us, 1);
    if (answer->status < 400)
        return;
    count(&series->failed, 1);
    metrics_refused(metrics, loop, note->front,
                    note->reason != NULL ? note->reason : "unspecified");
}

/* --- reading --- */

static void add_series(struct metrics_sums *sums, const struct series *series) {
    sums->requests += atomic_load_explicit(&series->requests, memory_order_relaxed);
    sums->failed += atomic_load_explicit(&series->failed, memory_order_relaxed);
    sums->bytes_in += atomic_load_explicit(&series->bytes_in, memory_order_relaxed);
    sums->bytes_out += atomic_load_explicit(&series->bytes_out, memory_order_relaxed);
    durations_sum(&sums->latency, &series->latency);
}

bool metrics_sum(const struct metrics *metrics, enum metrics_front front, size_t operation,
                 struct metrics_sums *sums) {
    bool found = false;
    for (unsigned i = 0; i < metrics->loops; i++) {
        const struct series *series = atomic_load_explicit(
            &metrics->shards[i].series[front][operation], memory_order_acquire);
        if (series != NULL)
            add_series(sums, series);
        found = found || series != NULL;
    }
    return found;
}

void metrics_sum_front(const struct metrics *metrics, enum metrics_front front,
                       struct metrics_sums *sums) {
    for (size_t operation = 0; operation < METRICS_OPERATIONS_MAX; operation++)
        metrics_sum(metrics, front, operation, sums);
}

/* What all loops have refused in that slot's front end for that slot's word. */
static uint64_t count_reason(const struct metrics *metrics, enum metrics_front front,
                             const char *reason) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < metrics->loops; i++)
        for (size_t at = 0; at < REASONS_MAX; at++) {
            const struct reason_slot *slot = &metrics->shards[i].reasons[at];
            const char *there = atomic_load_explicit(&slot->reason, memory_order_acquire);
            if (there == NULL)
                break;
            if (slot->front == front && strcmp(there, reason) == 0)
                sum += atomic_load_explicit(&slot->count, memory_order_relaxed);
        }
    return sum;
}

/* Whether an earlier slot has the same word. */
static bool was_told(const struct metrics *metrics, unsigned loop, size_t at) {
    const struct reason_slot *told = &metrics->shards[loop].reasons[at];
    const char *reason = atomic_load_explicit(&told->reason, memory_order_acquire);
    for (unsigned i = 0; i <= loop; i++)
        for (size_t k = 0; k < (i == loop ? at : REASONS_MAX); k++) {
            const struct reason_slot *slot = &metrics->shards[i].reasons[k];
            const char *there = atomic_load_explicit(&slot->reason, memory_order_acquire);
            if (there == NULL)
                break;
            if (slot->front == told->front && strcmp(there, reason) == 0)
                return true;
        }
    return false;
}

void metrics_reasons(const struct metrics *metrics,
                     void (*each)(const struct metrics_reason *reason, void *user), void *user) {
    for (unsigned i = 0; i < metrics->loops; i++)
        for (size_t at = 0; at < REASONS_MAX; at++) {
            const struct reason_slot *slot = &metrics->shards[i].reasons[at];
            const char *word = atomic_load_explicit(&slot->reason, memory_order_acquire);
            if (word == NULL)
                break;
            if (was_told(metrics, i, at))
                continue;
            struct metrics_reason reason = {slot->front, word,
                                            count_reason(metrics, slot->front, word)};
            each(&reason, user);
        }
}

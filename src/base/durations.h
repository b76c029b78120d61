/* Latency histograms: how often each duration occurred, in fixed memory.
 *
 * Buckets are log-linear: durations below 8 microseconds have one each, and every power of two
 * above is divided into eight, so a percentile is told within an eighth of its value. What takes
 * longer than DURATIONS_MAX_US is counted in the last one.
 *
 * One thread adds (durations_add()), or several (durations_add_shared()); any thread reads, at any
 * time, and may see a duration counted and not yet summed.
 */
#ifndef GT_BASE_DURATIONS_H
#define GT_BASE_DURATIONS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DURATIONS_EIGHTHS = 8,
    DURATIONS_OCTAVES = 24, /* from 8 us to 2^27 us, over two minutes */
    DURATIONS_BUCKETS = DURATIONS_EIGHTHS * (DURATIONS_OCTAVES + 1),
    DURATIONS_MAX_US = 1 << 27,
};

struct durations {
    _Atomic(uint64_t) counts[DURATIONS_BUCKETS];
    _Atomic(uint64_t) sum_us;
};

/* A copy that does not change, or a sum or difference of several. Zero is empty. */
struct durations_sums {
    uint64_t counts[DURATIONS_BUCKETS];
    uint64_t count, sum_us;
};

/* The bucket of a duration, and the smallest duration of a bucket; DURATIONS_BUCKETS is where the
 * last one ends. */
size_t durations_bucket(uint64_t us);
uint64_t durations_low_us(size_t bucket);

/* Counts `times` of that duration. By the one thread that adds. */
void durations_add(struct durations *durations, uint64_t us, uint64_t times);
/* Counts one. Any thread. */
void durations_add_shared(struct durations *durations, uint64_t us);

/* Adds the histogram to the sums. */
void durations_sum(struct durations_sums *sums, const struct durations *durations);
void durations_sum_sums(struct durations_sums *sums, const struct durations_sums *more);
/* What came to `now` since `before`, an earlier copy of the same. */
struct durations_sums durations_since(const struct durations_sums *now,
                                      const struct durations_sums *before);
/* The duration that a share (0.99) of all do not exceed, in the middle of its bucket; 0 if there
 * are none. */
double durations_percentile_us(const struct durations_sums *sums, double share);
/* How many are shorter than `us`, which is where a bucket begins. */
uint64_t durations_below(const struct durations_sums *sums, uint64_t us);

#endif

#include "base/durations.h"

enum { EIGHTHS_BITS = 3 };

size_t durations_bucket(uint64_t us) {
    if (us >= DURATIONS_MAX_US)
        return DURATIONS_BUCKETS - 1;
    if (us < DURATIONS_EIGHTHS)
        return (size_t)us;
    unsigned octave = 63U - (unsigned)__builtin_clzll(us) - EIGHTHS_BITS;
    return (size_t)(DURATIONS_EIGHTHS * octave + (us >> octave));
}

uint64_t durations_low_us(size_t bucket) {
    size_t octave = bucket / DURATIONS_EIGHTHS;
    if (octave == 0)
        return bucket;
    return (uint64_t)(DURATIONS_EIGHTHS + bucket % DURATIONS_EIGHTHS) << (octave - 1);
}

static void add_relaxed(_Atomic(uint64_t) *to, uint64_t more) {
    atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

void durations_add(struct durations *durations, uint64_t us, uint64_t times) {
    add_relaxed(&durations->counts[durations_bucket(us)], times);
    add_relaxed(&durations->sum_us, us * times);
}

void durations_add_shared(struct durations *durations, uint64_t us) {
    atomic_fetch_add_explicit(&durations->counts[durations_bucket(us)], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&durations->sum_us, us, memory_order_relaxed);
}

void durations_sum(struct durations_sums *sums, const struct durations *durations) {
    for (size_t i = 0; i < DURATIONS_BUCKETS; i++) {
        uint64_t count = atomic_load_explicit(&durations->counts[i], memory_order_relaxed);
        sums->counts[i] += count;
        sums->count += count;
    }
    sums->sum_us += atomic_load_explicit(&durations->sum_us, memory_order_relaxed);
}

void durations_sum_sums(struct durations_sums *sums, const struct durations_sums *more) {
    for (size_t i = 0; i < DURATIONS_BUCKETS; i++)
        sums->counts[i] += more->counts[i];
    sums->count += more->count;
    sums->sum_us += more->sum_us;
}

struct durations_sums durations_since(const struct durations_sums *now,
                                      const struct durations_sums *before) {
    struct durations_sums out = {.count = now->count - before->count,
                                 .sum_us = now->sum_us - before->sum_us};
    for (size_t i = 0; i < DURATIONS_BUCKETS; i++)
        out.counts[i] = now->counts[i] - before->counts[i];
    return out;
}

double durations_percentile_us(const struct durations_sums *sums, double share) {
    double wanted = share * (double)sums->count, passed = 0;
    if (sums->count == 0)
        return 0;
    size_t bucket = 0;
    for (size_t i = 0; i < DURATIONS_BUCKETS; i++) {
        if (sums->counts[i] == 0)
            continue;
        bucket = i;
        passed += (double)sums->counts[i];
        if (passed >= wanted)
            break;
    }
    uint64_t low = durations_low_us(bucket), high = durations_low_us(bucket + 1);
    return (double)low + (double)(high - low) / 2;
}

uint64_t durations_below(const struct durations_sums *sums, uint64_t us) {
    uint64_t below = 0;
    for (size_t i = 0; i < DURATIONS_BUCKETS && durations_low_us(i) < us; i++)
        below += sums->counts[i];
    return below;
}

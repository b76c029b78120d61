#include "net/placement.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/machine.h"
#include "net/shard.h"

enum {
    EVERY_MS = 100,
    DEFERRED_MANY = 100, /* in that time: reading and answering can go on side by side */
};

/* ---- deciding ---- */

/* In shares of one core. The two rules leave room between them, so that a load that stays the same
 * does not have connections go to and fro. */
bool placement_decide(bool gathered, const struct placement_sample *from,
                      const struct placement_sample *to) {
    double span = (double)(to->at - from->at);
    if (span <= 0)
        return gathered;
    double first = (double)(to->first - from->first) / span;
    double all = first + (double)(to->others - from->others) / span;
    double unused = (double)(to->unused - from->unused) / span;
    if (to->deferred - from->deferred >= DEFERRED_MANY)
        return false;
    if (gathered)
        return first < 0.85 || unused < 0.25;
    return all < 0.6 || (all < 1.1 && unused < 0.1);
}

void placement_set(struct placement *placement, bool gathered) {
    atomic_store_explicit(&placement->gathered, gathered, memory_order_relaxed);
    atomic_fetch_add_explicit(&placement->number, 1, memory_order_release);
}

/* ---- measuring ---- */

static int64_t time_used_us(const struct shard *shard) {
    struct timespec used = {0};
    if (atomic_load_explicit(&shard->has_processor_clock, memory_order_acquire))
        clock_gettime(shard->processor_clock, &used);
    return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000 - loop_looked_us(shard->loop);
}

bool placement_sample_take(const struct listener *listener, struct placement_sample *out) {
    *out = (struct placement_sample){.at = clock_ticks_us()};
    int64_t unused_us = 0, looked_us = 0;
    for (unsigned i = 0; i < listener->shard_count; i++) {
        const struct shard *shard = &listener->shards[i];
        *(i == 0 ? &out->first : &out->others) += time_used_us(shard);
        looked_us += loop_looked_us(shard->loop);
        out->deferred += atomic_load_explicit(&shard->counts.deferred, memory_order_relaxed);
    }
    bool told = machine_unused_us(&unused_us);
    out->unused = unused_us + looked_us;
    return told;
}

static void on_timer(uv_timer_t *timer) {
    struct listener *listener = timer->data;
    struct placement *placement = &listener->placement;
    struct placement_sample now;
    if (!placement_sample_take(listener, &now))
        return;
    bool gathered = atomic_load_explicit(&placement->gathered, memory_order_relaxed);
    bool wanted = placement_decide(gathered, &placement->last, &now);
    placement->last = now;
    if (wanted != gathered)
        placement_set(placement, wanted);
}

void placement_start(struct listener *listener) {
    struct placement *placement = &listener->placement;
    uv_timer_init(loop_uv(listener->shards[0].loop), &placement->timer);
    placement->timer.data = listener;
    if (listener->shard_count < 2 || !placement_sample_take(listener, &placement->last))
        return;
    placement_set(placement, true);
    uv_timer_start(&placement->timer, on_timer, EVERY_MS, EVERY_MS);
}

/* ---- placing ---- */

static unsigned count_of(const struct shard *shard) {
    return atomic_load_explicit(&shard->count, memory_order_relaxed);
}

/* What stays where it is (channels) would fill the first loop for ever. */
static bool is_gathering(const struct listener *listener) {
    return atomic_load_explicit(&listener->placement.gathered, memory_order_relaxed) &&
           count_of(&listener->shards[0]) < LIMIT_GATHERED;
}

struct shard *placement_of_new(struct listener *listener) {
    struct shard *best = &listener->shards[0];
    if (is_gathering(listener))
        return best;
    for (unsigned i = 1; i < listener->shard_count; i++)
        if (count_of(&listener->shards[i]) < count_of(best))
            best = &listener->shards[i];
    return best;
}

/* Connections are dealt out to the loops in turn as they answer, so each loop gets as many of those
 * that have something to do; how many are idle does not matter. */
struct shard *placement_again(struct shard *shard) {
    struct listener *listener = shard->listener;
    if (atomic_load_explicit(&listener->placement.gathered, memory_order_relaxed))
        return is_gathering(listener) ? &listener->shards[0] : shard;
    unsigned own = (unsigned)(shard - listener->shards);
    return &listener->shards[(own + shard->dealt++) % listener->shard_count];
}

#include "api/redis/command_stats.h"

#include "api/redis/redis_frontend_int.h"
#include "base/clock.h"
#include "base/mem.h"

#include <inttypes.h>

static size_t slot_of(const struct redis_command *command) {
    return (size_t)(((uintptr_t)command / 8 * UINT64_C(0x9e3779b97f4a7c15)) >> 55);
}

/* The command's slot, or the free one where it would be. */
static struct command_stat *find_slot(struct command_stats *counts,
                                      const struct redis_command *command, bool *there) {
    size_t at = slot_of(command);
    for (;; at = (at + 1) % COMMAND_STAT_SLOTS) {
        struct command_stat *count = &counts->slots[at];
        const struct redis_command *has =
            atomic_load_explicit(&count->command, memory_order_relaxed);
        *there = has == command;
        if (has == command || has == NULL)
            return count;
    }
}

struct command_stat *command_stats_of(struct command_stats *counts,
                                      const struct redis_command *command) {
    bool there;
    struct command_stat *count = find_slot(counts, command, &there);
    if (!there)
        atomic_store_explicit(&count->command, command, memory_order_relaxed);
    return count;
}

struct command_stat *command_stats_called(struct command_stats *counts,
                                          const struct redis_command *command, uint64_t usec,
                                          bool failed) {
    struct command_stat *count = command_stats_of(counts, command);
    redis_count(&count->calls, 1);
    redis_count(&count->usec, usec);
    if (failed)
        redis_count(&count->failed, 1);
    return count;
}

void command_stats_took(struct command_stat *count, int64_t us, uint64_t times) {
    struct durations *latency = atomic_load_explicit(&count->latency, memory_order_relaxed);
    if (latency == NULL) {
        latency = mem_zalloc(sizeof(*latency));
        atomic_store_explicit(&count->latency, latency, memory_order_release);
    }
    durations_add(latency, us < 0 ? 0 : (uint64_t)us, times);
}

void command_stats_release(struct command_stats *counts) {
    for (size_t i = 0; i < COMMAND_STAT_SLOTS; i++)
        mem_free(atomic_load(&counts->slots[i].latency));
}

void command_stats_time(struct redis_loop *loop, const struct redis_command *command) {
    int64_t now_us = clock_ticks_us();
    if (loop->timed != NULL) {
        struct command_stat *count = command_stats_of(&loop->counts, loop->timed);
        redis_count(&count->usec, (uint64_t)(now_us - loop->timed_us));
        if (loop->timed_reads != 0)
            command_stats_took(count, now_us - loop->turn_us, loop->timed_reads);
    } else if (command != NULL)
        loop->turn_us = now_us;
    loop->timed_reads = 0;
    loop->timed = command;
    loop->timed_us = now_us;
}

/* ---- the sum over all loops ---- */

struct stat_sums {
    uint64_t calls, usec, rejected, failed;
};

static void add_stats(struct stat_sums *sum, struct command_stats *counts,
                      const struct redis_command *command) {
    bool there;
    struct command_stat *count = find_slot(counts, command, &there);
    if (!there)
        return;
    sum->calls += atomic_load_explicit(&count->calls, memory_order_relaxed);
    sum->usec += atomic_load_explicit(&count->usec, memory_order_relaxed);
    sum->rejected += atomic_load_explicit(&count->rejected, memory_order_relaxed);
    sum->failed += atomic_load_explicit(&count->failed, memory_order_relaxed);
}

static struct stat_sums sum_of(struct redis_frontend *frontend,
                               const struct redis_command *command) {
    struct stat_sums sum = {0};
    for (unsigned i = 0; i < frontend->settings.loops; i++)
        add_stats(&sum, &frontend->loops[i].counts, command);
    return sum;
}

static void sum_latency(struct redis_frontend *frontend, const struct redis_command *command,
                        struct durations_sums *sums) {
    for (unsigned i = 0; i < frontend->settings.loops; i++) {
        bool there;
        const struct command_stat *count = find_slot(&frontend->loops[i].counts, command, &there);
        const struct durations *latency =
            there ? atomic_load_explicit(&count->latency, memory_order_acquire) : NULL;
        if (latency != NULL)
            durations_sum(sums, latency);
    }
}

struct command_visit {
    struct redis_frontend *frontend;
    redis_each_command *each;
    void *user;
    struct arena arena;
};

static void visit_command(struct command_visit *visit, const struct redis_command *command) {
    struct stat_sums sum = sum_of(visit->frontend, command);
    struct durations_sums latency = {0};
    if (sum.calls == 0 && sum.rejected == 0)
        return;
    sum_latency(visit->frontend, command, &latency);
    struct redis_command_figures figures = {.name = redis_command_name(command, &visit->arena),
                                            .calls = sum.calls,
                                            .failed = sum.failed,
                                            .rejected = sum.rejected,
                                            .latency = &latency};
    visit->each(&figures, visit->user);
}

void redis_frontend_commands(struct redis_frontend *frontend, redis_each_command *each,
                             void *user) {
    struct command_visit visit = {.frontend = frontend, .each = each, .user = user};
    const struct redis_command *command;
    size_t at = 0;
    arena_init(&visit.arena);
    while ((command = redis_command_next(&at)) != NULL) {
        visit_command(&visit, command);
        for (const struct redis_command *sub = command->subs; sub != NULL && sub->name != NULL;
             sub++)
            visit_command(&visit, sub);
    }
    arena_release(&visit.arena);
}

/* Under the front end's mutex. */
static void put_line(struct redis_frontend *frontend, const struct redis_command *command,
                     struct arena *arena, struct buf *to) {
    struct stat_sums now = sum_of(frontend, command), from = {0};
    add_stats(&from, &frontend->command_stats_from, command);
    now.calls -= from.calls;
    now.usec -= from.usec;
    now.rejected -= from.rejected;
    now.failed -= from.failed;
    if (now.calls == 0 && now.rejected == 0 && now.failed == 0)
        return;
    struct bytes name = redis_command_name(command, arena);
    buf_printf(to,
               "cmdstat_%.*s:calls=%" PRIu64 ",usec=%" PRIu64
               ",usec_per_call=%.2f,rejected_calls=%" PRIu64 ",failed_calls=%" PRIu64 "\r\n",
               BYTES_ARG(name), now.calls, now.usec,
               now.calls == 0 ? 0.0 : (double)now.usec / (double)now.calls, now.rejected,
               now.failed);
}

void command_stats_put(struct redis_frontend *frontend, struct arena *arena, struct buf *to) {
    const struct redis_command *command;
    size_t at = 0;
    pthread_mutex_lock(&frontend->mutex);
    while ((command = redis_command_next(&at)) != NULL) {
        put_line(frontend, command, arena, to);
        for (const struct redis_command *sub = command->subs; sub != NULL && sub->name != NULL;
             sub++)
            put_line(frontend, sub, arena, to);
    }
    pthread_mutex_unlock(&frontend->mutex);
}

/* Under the front end's mutex. */
static void reset_command(struct redis_frontend *frontend, const struct redis_command *command) {
    struct stat_sums now = sum_of(frontend, command);
    struct command_stat *from = command_stats_of(&frontend->command_stats_from, command);
    atomic_store_explicit(&from->calls, now.calls, memory_order_relaxed);
    atomic_store_explicit(&from->usec, now.usec, memory_order_relaxed);
    atomic_store_explicit(&from->rejected, now.rejected, memory_order_relaxed);
    atomic_store_explicit(&from->failed, now.failed, memory_order_relaxed);
}

void command_stats_reset(struct redis_frontend *frontend) {
    const struct redis_command *command;
    size_t at = 0;
    pthread_mutex_lock(&frontend->mutex);
    while ((command = redis_command_next(&at)) != NULL) {
        reset_command(frontend, command);
        for (const struct redis_command *sub = command->subs; sub != NULL && sub->name != NULL;
             sub++)
            reset_command(frontend, sub);
    }
    pthread_mutex_unlock(&frontend->mutex);
}

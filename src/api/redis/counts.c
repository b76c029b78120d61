#include "api/redis/counts.h"

#include "api/redis/face_int.h"
#include "base/clock.h"

#include <inttypes.h>

static size_t slot_of(const struct redis_command *command) {
    return (size_t)(((uintptr_t)command / 8 * UINT64_C(0x9e3779b97f4a7c15)) >> 55);
}

/* Its place, or the free one where it would be. */
static struct command_count *look(struct command_counts *counts,
                                  const struct redis_command *command, bool *there) {
    size_t at = slot_of(command);
    for (;; at = (at + 1) % COUNT_SLOTS) {
        struct command_count *count = &counts->slots[at];
        const struct redis_command *has =
            atomic_load_explicit(&count->command, memory_order_relaxed);
        *there = has == command;
        if (has == command || has == NULL)
            return count;
    }
}

struct command_count *counts_of(struct command_counts *counts,
                                const struct redis_command *command) {
    bool there;
    struct command_count *count = look(counts, command, &there);
    if (!there)
        atomic_store_explicit(&count->command, command, memory_order_relaxed);
    return count;
}

void counts_called(struct command_counts *counts, const struct redis_command *command,
                   uint64_t usec, bool failed) {
    struct command_count *count = counts_of(counts, command);
    redis_count(&count->calls, 1);
    redis_count(&count->usec, usec);
    if (failed)
        redis_count(&count->failed, 1);
}

void counts_time(struct redis_loop *loop, const struct redis_command *command) {
    int64_t now_us = clock_ticks_us();
    if (loop->timed != NULL)
        redis_count(&counts_of(&loop->counts, loop->timed)->usec,
                    (uint64_t)(now_us - loop->timed_us));
    loop->timed = command;
    loop->timed_us = now_us;
}

/* ---- all loops' together ---- */

struct figures {
    uint64_t calls, usec, rejected, failed;
};

static void add(struct figures *sum, struct command_counts *counts,
                const struct redis_command *command) {
    bool there;
    struct command_count *count = look(counts, command, &there);
    if (!there)
        return;
    sum->calls += atomic_load_explicit(&count->calls, memory_order_relaxed);
    sum->usec += atomic_load_explicit(&count->usec, memory_order_relaxed);
    sum->rejected += atomic_load_explicit(&count->rejected, memory_order_relaxed);
    sum->failed += atomic_load_explicit(&count->failed, memory_order_relaxed);
}

static struct figures sum_of(struct redis_face *face, const struct redis_command *command) {
    struct figures sum = {0};
    for (unsigned i = 0; i < face->settings.loops; i++)
        add(&sum, &face->loops[i].counts, command);
    return sum;
}

/* Under the face's mutex. */
static void put_line(struct redis_face *face, const struct redis_command *command,
                     struct arena *arena, struct buf *to) {
    struct figures now = sum_of(face, command), from = {0};
    add(&from, &face->commands_from, command);
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

void counts_put(struct redis_face *face, struct arena *arena, struct buf *to) {
    const struct redis_command *command;
    size_t at = 0;
    pthread_mutex_lock(&face->mutex);
    while ((command = redis_command_next(&at)) != NULL) {
        put_line(face, command, arena, to);
        for (const struct redis_command *sub = command->subs; sub != NULL && sub->name != NULL;
             sub++)
            put_line(face, sub, arena, to);
    }
    pthread_mutex_unlock(&face->mutex);
}

static void reset(struct redis_face *face, const struct redis_command *command) {
    struct figures now = sum_of(face, command);
    struct command_count *from = counts_of(&face->commands_from, command);
    atomic_store_explicit(&from->calls, now.calls, memory_order_relaxed);
    atomic_store_explicit(&from->usec, now.usec, memory_order_relaxed);
    atomic_store_explicit(&from->rejected, now.rejected, memory_order_relaxed);
    atomic_store_explicit(&from->failed, now.failed, memory_order_relaxed);
}

void counts_reset(struct redis_face *face) {
    const struct redis_command *command;
    size_t at = 0;
    pthread_mutex_lock(&face->mutex);
    while ((command = redis_command_next(&at)) != NULL) {
        reset(face, command);
        for (const struct redis_command *sub = command->subs; sub != NULL && sub->name != NULL;
             sub++)
            reset(face, sub);
    }
    pthread_mutex_unlock(&face->mutex);
}

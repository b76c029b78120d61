#include "net/busy_poll.h"

#include "base/clock.h"

#include <poll.h>
#include <sched.h>

enum {
    ENOUGH = 6,       /* of eight looks have to find something */
    TRIAL = 16,       /* else one wait in so many begins with one */
    STEP_MOST_US = 5, /* a step of looking takes less, unless somebody else has the processor */
    BUSY_US = 1000,   /* a loop that was about to wait since then is busy */
};

void busy_poll_init(struct busy_poll *poll, struct busy_polls *all, int fd) {
    *poll = (struct busy_poll){.all = all, .next = all->first, .fd = fd};
    all->first = poll;
}

bool busy_poll_wanted(struct busy_poll *poll) {
    if (poll->all == NULL || poll->all->most_us == 0)
        return false;
    return __builtin_popcount(poll->found) >= ENOUGH || ++poll->waits >= TRIAL;
}

void busy_poll_note(struct busy_poll *poll, bool found) {
    poll->found = (uint8_t)(poll->found << 1 | found);
    poll->waits = 0;
}

/* False also if somebody else took the processor when it was offered: then there is none to spare.
 */
static bool look(struct busy_poll *busy, int64_t until_us, int64_t now_us) {
    struct pollfd fd = {.fd = busy->fd, .events = POLLIN};
    int64_t begun_us = now_us, step_us = 0;
    bool found = poll(&fd, 1, 0) != 0;
    while (!found && step_us <= STEP_MOST_US && now_us < until_us) {
        sched_yield();
        found = poll(&fd, 1, 0) != 0;
        step_us = clock_ticks_us() - now_us;
        now_us += step_us;
    }
    bool taken = step_us > STEP_MOST_US;
    int64_t spent_us = now_us - begun_us - (taken ? step_us : 0);
    if (spent_us != 0)
        atomic_store_explicit(&busy->spent_us, busy_poll_spent_us(busy) + spent_us,
                              memory_order_relaxed);
    return found && !taken;
}

static unsigned count_busy(const struct busy_polls *all, int64_t now_us) {
    unsigned count = 0;
    for (const struct busy_poll *one = all->first; one != NULL; one = one->next)
        count += now_us - atomic_load_explicit(&one->turned_us, memory_order_relaxed) < BUSY_US;
    return count;
}

/* Counts anew when what was counted says no more about now. */
static bool is_crowded(struct busy_poll *poll, int64_t now_us) {
    if (now_us - poll->counted_us >= BUSY_US) {
        poll->crowded = count_busy(poll->all, now_us) > poll->all->busy_most;
        poll->counted_us = now_us;
    }
    return poll->crowded;
}

void busy_poll_look(struct busy_poll *poll, int timeout_ms, int64_t now_us) {
    atomic_store_explicit(&poll->turned_us, now_us, memory_order_relaxed);
    if (timeout_ms == 0 || !busy_poll_wanted(poll) || is_crowded(poll, now_us))
        return;
    int64_t most_us = poll->all->most_us;
    if (timeout_ms > 0 && most_us > (int64_t)timeout_ms * 1000)
        most_us = (int64_t)timeout_ms * 1000;
    busy_poll_note(poll, look(poll, now_us + most_us, now_us));
}

int64_t busy_poll_spent_us(const struct busy_poll *poll) {
    return atomic_load_explicit(&poll->spent_us, memory_order_relaxed);
}

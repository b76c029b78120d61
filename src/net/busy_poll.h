/* How a loop waits while its next bytes are near: it looks for them for some microseconds before it
 * goes to sleep.
 *
 * Waking a thread that sleeps on another processor is dear, and who pays is who sends: the client,
 * in its send(), or the writer with an answer. Where requests come within microseconds of each
 * other, looking costs the processor less than that. Between two looks the loop offers its
 * processor to whoever else can run, so that the writer, which may share it, and clients on the
 * same machine do not wait for it.
 *
 * Whether to look is learnt from what looking has found: after three of the last eight looks were
 * in vain only every sixteenth wait begins with one. So a server with little to do sleeps. And
 * where more loops have something to do than a bound, none looks: the system takes a processor with
 * a loop that looks for a busy one, and leaves two others that have work together on the next.
 *
 * All on the loop's thread, except for busy_poll_spent_us(). Private to net/.
 */
#ifndef GT_NET_BUSY_POLL_H
#define GT_NET_BUSY_POLL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What the loops of a program share; it does not change once they run. */
struct busy_polls {
    unsigned most_us;        /* how long one look lasts at most; 0: nobody looks */
    unsigned busy_most;      /* how many loops may be busy where one looks, with that one */
    struct busy_poll *first; /* of all loops: a list */
};

struct busy_poll {
    struct busy_polls *all; /* NULL: it never looks */
    struct busy_poll *next;
    int fd;             /* readable when something has come; borrowed */
    uint8_t found;      /* of the last eight looks, a bit each: whether it found something */
    unsigned waits;     /* since the last look */
    bool crowded;       /* too many loops were busy, */
    int64_t counted_us; /* at that time */
    _Atomic(int64_t) turned_us; /* when it last was about to wait; read by the other loops */
    _Atomic(int64_t) spent_us;  /* in looking; written by the loop's thread */
};

void busy_poll_init(struct busy_poll *poll, struct busy_polls *all, int fd);
/* Before the loop waits, which it will do for `timeout_ms` (-1: for ever) unless something comes.
 * `now_us` is clock_ticks_us(). */
void busy_poll_look(struct busy_poll *poll, int timeout_ms, int64_t now_us);
/* Whether the next wait is to begin with a look, and what became of it. */
bool busy_poll_wanted(struct busy_poll *poll);
void busy_poll_note(struct busy_poll *poll, bool found);
/* Processor time that went into looking, about. Any thread. */
int64_t busy_poll_spent_us(const struct busy_poll *poll);

#endif

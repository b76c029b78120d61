/* An event loop and the thread that owns it.
 *
 * Everything about a connection happens on the loop it was given to. The only door into a loop
 * from another thread is loop_post().
 */
#ifndef GT_NET_LOOP_H
#define GT_NET_LOOP_H

#include "base/status.h"

struct loop;
struct uv_loop_s;

/* Work for a loop: embed it in what it belongs to. Not reused before it has run. */
struct task {
    struct task *next;
    void (*run)(struct task *task);
};

/* Makes `count` loops; each gets a thread at loops_start(). */
struct loops;
struct loops *loops_new(unsigned count);
/* Before loops_start(): each loop gets a slot, `size` bytes of memory that begin as zeros and are
 * for its thread only; whenever it is about to wait, that thread calls `turn` with it. */
void loops_set_slots(struct loops *loops, size_t size, void (*turn)(void *slot));
/* Before loops_start(): how many microseconds a loop may look for what comes next before it sleeps
 * (busy_poll.h), and how many loops may be busy then. Without this they sleep at once. */
void loops_set_busy_poll(struct loops *loops, unsigned most_us, unsigned busy_most);
void loops_start(struct loops *loops);
/* Stops all loops after the tasks posted so far have run, joins their threads, frees all. */
void loops_free(struct loops *loops);
unsigned loops_count(const struct loops *loops);
struct loop *loops_get(struct loops *loops, unsigned index);

/* Runs the task on the loop's thread, soon, in order of posting. Any thread. Wakes the loop at
 * most once however many tasks are posted before it comes round. */
void loop_post(struct loop *loop, struct task *task);

/* Runs the task before the loop next waits, after all that is under way now. On the loop's thread.
 */
void loop_after(struct loop *loop, struct task *task);

/* What the loop has settled: all that had come to its sockets by then (clock_ticks_us()) was read,
 * the tasks of loop_after() that followed from it have run, and `turn` was called after that. 0:
 * nothing yet. Any thread. */
int64_t loop_settled_us(const struct loop *loop);
/* Waits until each of the loops has settled that moment, or it is `until_us`; false then. A loop
 * that waits for its sockets is woken for it, twice, and a loop that is at work needs to go round
 * once, or not at all if it did so since. Any thread but a loop's; the loops run, and go on to
 * until it has returned. */
bool loops_settle(struct loop *const *loops, size_t count, int64_t moment_us, int64_t until_us);

/* Processor time that the loop has spent in looking for what comes next, in microseconds, about.
 * Any thread. */
int64_t loop_looked_us(const struct loop *loop);
/* Milliseconds that only go forward, as of when the loop last woke. On its thread. */
int64_t loop_now_ms(struct loop *loop);
/* Its number among its loops, from 0. */
unsigned loop_index(const struct loop *loop);
/* The loop whose thread this is, or NULL. */
struct loop *loop_current(void);
/* What loops_set_slots() gave it, or NULL. On its thread. */
void *loop_slot(struct loop *loop);
struct uv_loop_s *loop_uv(struct loop *loop);

#endif

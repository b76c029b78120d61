/* The gate readers pass on their way to the database, so that a reopening can wait until all have
 * left. Readers touch one of several counters, each on its own cache line, so that they do not
 * slow one another down: some 10 ns a passage. Any thread may enter; one shuts and opens.
 */
#ifndef GT_STORE_GATE_H
#define GT_STORE_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { GATE_LANES = 16 };

enum gate_state {
    GATE_OPEN,
    GATE_SHUT,   /* for a moment: readers wait */
    GATE_CLOSED, /* until further notice: readers are sent away */
};

struct gate_lane {
    atomic_uint inside;
    char apart[64 - sizeof(atomic_uint)];
};

struct gate {
    struct gate_lane lanes[GATE_LANES];
    atomic_int state;
    pthread_mutex_t lock; /* for those who wait until it is no longer shut */
    pthread_cond_t changed;
};

void gate_init(struct gate *gate, enum gate_state state);
void gate_release(struct gate *gate);

/* True: inside; leave with the lane. Waits while the gate is shut, but not forever: a thread that
 * is inside already must not stop the one that waits for it. */
bool gate_enter(struct gate *gate, unsigned *lane);
/* Once more, for somebody who is inside: never waits. */
unsigned gate_join(struct gate *gate);
void gate_leave(struct gate *gate, unsigned lane);

/* Shuts the gate and waits until everybody has left. */
void gate_shut(struct gate *gate);
/* GATE_OPEN or GATE_CLOSED; lets those who wait go on. */
void gate_set(struct gate *gate, enum gate_state state);

#endif

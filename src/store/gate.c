#include "store/gate.h"

#include <time.h>

/* Longer than any reopening takes, short enough for a client to see an error rather than hang. */
enum { WAIT_MAX_S = 5 };

void gate_init(struct gate *gate, enum gate_state state) {
    for (unsigned i = 0; i < GATE_LANES; i++)
        atomic_init(&gate->lanes[i].inside, 0);
    atomic_init(&gate->state, state);
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, &steady);
    pthread_condattr_destroy(&steady);
}

void gate_release(struct gate *gate) {
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->lock);
}

/* Threads take lanes in turn, once each. */
static unsigned gate_lane(void) {
    static atomic_uint threads;
    static _Thread_local unsigned lane = GATE_LANES;
    if (lane == GATE_LANES)
        lane = atomic_fetch_add(&threads, 1) % GATE_LANES;
    return lane;
}

unsigned gate_join(struct gate *gate) {
    unsigned lane = gate_lane();
    atomic_fetch_add(&gate->lanes[lane].inside, 1);
    return lane;
}

static enum gate_state gate_wait(struct gate *gate) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += WAIT_MAX_S;
    pthread_mutex_lock(&gate->lock);
    int late = 0;
    while (late == 0 && atomic_load(&gate->state) == GATE_SHUT)
        late = pthread_cond_timedwait(&gate->changed, &gate->lock, &until);
    enum gate_state state = (enum gate_state)atomic_load(&gate->state);
    pthread_mutex_unlock(&gate->lock);
    return state;
}

/* A reader steps in before it looks whether it may; the one who shuts does so before it looks
 * whether anybody is inside. In whatever order these four happen, one sees the other. */
bool gate_enter(struct gate *gate, unsigned *lane) {
    for (;;) {
        *lane = gate_join(gate);
        if (atomic_load(&gate->state) == GATE_OPEN)
            return true;
        gate_leave(gate, *lane);
        if (gate_wait(gate) != GATE_OPEN)
            return false;
    }
}

void gate_leave(struct gate *gate, unsigned lane) {
    atomic_fetch_sub(&gate->lanes[lane].inside, 1);
}

void gate_shut(struct gate *gate) {
    atomic_store(&gate->state, GATE_SHUT);
    for (unsigned i = 0; i < GATE_LANES; i++)
        while (atomic_load(&gate->lanes[i].inside) != 0)
            nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
}

void gate_set(struct gate *gate, enum gate_state state) {
    pthread_mutex_lock(&gate->lock);
    atomic_store(&gate->state, state);
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

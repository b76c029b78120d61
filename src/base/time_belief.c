#include "base/time_belief.h"

#include "base/limits.h"

enum { SLOWER_BY = 8 }; /* an eighth */

static int64_t distance(int64_t a, int64_t b) {
    return a > b ? a - b : b - a;
}

void time_belief_start(struct time_belief *belief, struct time_reading reading, int64_t now_ms) {
    *belief = (struct time_belief){.known = true, .offset_ms = now_ms - reading.steady_ms};
}

/* The wall clock is somewhere else than believed, or than where it was last seen apart. */
static void note_jump(struct time_belief *belief, struct time_reading reading,
                      struct time_news *news) {
    belief->apart = true;
    belief->target_ms = reading.wall_ms - reading.steady_ms;
    belief->since_ms = reading.steady_ms;
    belief->step_ms = LIMIT_CLOCK_STEP_MS;
    belief->slowing = false;
    news->event = TIME_JUMPED;
}

static void move(struct time_belief *belief, int64_t by_ms, struct time_news *news) {
    belief->offset_ms += by_ms;
    news->moved_ms = by_ms;
    news->event = TIME_MOVED;
    if (belief->offset_ms == belief->target_ms) {
        belief->apart = belief->slowing = false;
        news->event = TIME_AGREES;
    }
}

/* One bounded step towards a wall clock that has stayed where it jumped to. */
static void step(struct time_belief *belief, struct time_reading reading, struct time_news *news) {
    int64_t gap_ms = belief->target_ms - belief->offset_ms;
    if (distance(gap_ms, 0) > belief->step_ms)
        gap_ms = gap_ms < 0 ? -belief->step_ms : belief->step_ms;
    belief->since_ms = reading.steady_ms;
    if (belief->step_ms < INT64_MAX / 4)
        belief->step_ms *= 2;
    move(belief, gap_ms, news);
}

/* Falls back by an eighth of the time that has passed. */
static void slow_down(struct time_belief *belief, struct time_reading reading,
                      struct time_news *news) {
    int64_t gap_ms = belief->offset_ms - belief->target_ms;
    int64_t back_ms = (reading.steady_ms - belief->since_ms) / SLOWER_BY;
    if (back_ms == 0)
        return;
    belief->since_ms += back_ms * SLOWER_BY;
    move(belief, back_ms < gap_ms ? -back_ms : -gap_ms, news);
    if (news->event == TIME_MOVED) /* all the time: not worth telling */
        news->event = TIME_AS_BEFORE;
}

/* The wall clock is still where it jumped to. */
static void follow(struct time_belief *belief, struct time_reading reading,
                   struct time_news *news) {
    belief->target_ms = reading.wall_ms - reading.steady_ms; /* it may drift a little */
    int64_t ahead_ms = belief->target_ms - belief->offset_ms;
    bool proved = reading.steady_ms - belief->since_ms >= LIMIT_CLOCK_PROOF_MS;
    if (ahead_ms >= 0)
        belief->slowing = false;
    if (ahead_ms == 0)
        move(belief, 0, news);
    else if (belief->slowing)
        slow_down(belief, reading, news);
    else if (proved && ahead_ms < 0 && ahead_ms >= -LIMIT_CLOCK_STEP_MS) {
        belief->slowing = true;
        belief->since_ms = reading.steady_ms;
    } else if (proved)
        step(belief, reading, news);
}

int64_t time_belief_at(struct time_belief *belief, struct time_reading reading,
                       struct time_news *news) {
    int64_t offset_ms = reading.wall_ms - reading.steady_ms;
    *news = (struct time_news){0};
    if (!belief->known)
        time_belief_start(belief, reading, reading.wall_ms);
    if (belief->apart && distance(offset_ms, belief->target_ms) <= LIMIT_CLOCK_TRUST_MS)
        follow(belief, reading, news);
    else if (distance(offset_ms, belief->offset_ms) > LIMIT_CLOCK_TRUST_MS)
        note_jump(belief, reading, news);
    else {
        news->event = belief->apart ? TIME_AGREES : TIME_AS_BEFORE;
        belief->apart = belief->slowing = false;
        belief->offset_ms = offset_ms;
    }
    news->apart_ms = offset_ms - belief->offset_ms;
    return reading.steady_ms + belief->offset_ms;
}

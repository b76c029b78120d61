#include "table/local/writer_place.h"

#include "base/thread.h"

enum {
    WINDOW = 64,                    /* commits between two decisions, */
    WINDOW_MAX_US = WINDOW * 1000,  /* if they come as fast as that: else little is won */
    JOIN_CHANGES = 64,              /* at most in a commit, on average, to begin; */
    LEAVE_CHANGES = 128,            /* more end it */
    TRIAL = 8,                      /* windows apart before it is tried, */
    JUDGED = 64,                    /* and together before it is judged: a merge in between may take
                                       a processor for some of them */
    SLOW = 4,                       /* windows of seldom commits that end it */
    RETRY_US = 10 * 1000 * 1000,    /* after it was of no use */
    REVIEW_MAX_US = 2 * 1000 * 1000 /* a window that lasts longer is none */
};

void writer_place_init(struct writer_place *place, bool possible, int64_t now_us) {
    *place = (struct writer_place){.possible = possible, .since_us = now_us};
}

void writer_place_submitted(struct writer_place *place, const struct submissions *some) {
    if (!place->possible || some->batches == 0)
        return;
    place->submitted.batches += some->batches;
    place->submitted.same += some->same;
    place->submitted.thread = some->thread;
}

/* Nine in ten batches came from the thread that had submitted the one before: there is one. */
static bool has_one_submitter(const struct writer_place *place) {
    const struct submissions *submitted = &place->submitted;
    return submitted->thread != 0 && submitted->same * 10 >= submitted->batches * 9 &&
           (!place->together || submitted->thread == place->thread);
}

#define WORSE 0.9 /* times the rate is no change that is worth another look */

static void forget_rates(struct writer_place *place) {
    place->windows = 0;
    place->seen_changes = place->seen_us = 0;
}

/* Changes a microsecond in the windows since they were forgotten. */
static double take_rate(struct writer_place *place) {
    double rate = (double)place->seen_changes / (double)place->seen_us;
    forget_rates(place);
    return rate;
}

/* Whether to be together, at the end of a window; takes up what it says. */
static bool decide(struct writer_place *place, int64_t now_us) {
    int64_t lasted_us = now_us - place->since_us;
    unsigned most = place->together ? LEAVE_CHANGES : JOIN_CHANGES;
    if (place->commits != WINDOW || place->changes > most * WINDOW || !has_one_submitter(place)) {
        forget_rates(place);
        return false;
    }
    if (lasted_us <= 0 ||
        lasted_us > WINDOW_MAX_US) { /* a pause was in it, or there is little to do */
        forget_rates(place);
        return place->together && ++place->slow < SLOW;
    }
    place->slow = 0;
    place->seen_changes += place->changes;
    place->seen_us += lasted_us;
    if (++place->windows < (place->together ? JUDGED : TRIAL) || now_us < place->retry_at_us)
        return place->together;
    double rate = take_rate(place);
    if (!place->together)
        place->apart_rate = rate;
    else if (rate < WORSE * place->apart_rate) {
        place->retry_at_us = now_us + RETRY_US;
        return false;
    }
    return true;
}

static void end(struct writer_place *place) {
    thread_bind(thread_number(), -1);
    thread_bind(place->thread, -1); /* if it is still there */
    place->together = false;
    forget_rates(place);
}

/* Both on the processor that the writer is on. */
static void begin(struct writer_place *place) {
    int processor = thread_processor();
    place->thread = place->submitted.thread;
    place->slow = 0;
    place->possible = processor >= 0 && thread_bind(thread_number(), processor);
    place->together = place->possible && thread_bind(place->thread, processor);
    forget_rates(place);
    if (!place->together)
        end(place);
}

static void end_window(struct writer_place *place, int64_t now_us) {
    bool together = decide(place, now_us);
    if (together && !place->together)
        begin(place);
    else if (!together && place->together)
        end(place);
    place->commits = place->changes = 0;
    place->submitted.batches = place->submitted.same = 0;
    place->since_us = now_us;
}

void writer_place_committed(struct writer_place *place, unsigned changes, int64_t now_us) {
    if (!place->possible)
        return;
    place->changes += changes;
    if (++place->commits == WINDOW)
        end_window(place, now_us);
}

void writer_place_review(struct writer_place *place, int64_t now_us) {
    if (place->together && now_us - place->since_us > REVIEW_MAX_US)
        end_window(place, now_us);
}

void writer_place_end(struct writer_place *place) {
    if (place->together)
        end(place);
}

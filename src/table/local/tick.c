/* What the writer does by the clock, between groups. A new kind of such work is one more line in
 * `jobs`. */
#include "table/local/writer.h"

#include "base/clock.h"

static writer_job *const jobs[] = {
    NULL, /* the end */
};

void writer_tick(struct local *local) {
    struct writer *writer = local->writer;
    int64_t wait = TICK_MAX_US;
    bool able = !store_is_broken(local->store) && !writer->stale;
    for (writer_job *const *job = jobs; able && *job != NULL; job++) {
        int64_t again = (*job)(local);
        if (again < wait)
            wait = again;
    }
    writer->tick_at_us = clock_ticks_us() + wait;
}

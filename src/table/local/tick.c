/* What the writer does by the clock, between groups. A new kind of such work stands in
 * `jobs`. */
#include "table/local/absent.h"
#include "table/local/counted.h"
#include "table/local/writer.h"

#include "base/clock.h"

static writer_job *const jobs[] = {expiry_run, stream_trim, counted_run, absent_run};

void writer_tick(struct local *local) {
    struct writer *writer = local->writer;
    int64_t wait = TICK_MAX_US;
    bool able = !store_is_broken(local->store) && !writer->stale;
    for (size_t i = 0; able && i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        int64_t again = jobs[i](local);
        if (again < wait)
            wait = again;
    }
    writer->tick_at_us = clock_ticks_us() + wait;
}

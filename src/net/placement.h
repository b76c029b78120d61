/* Which loops a listener's connections are on: all on the first while that one manages, or spread
 * over all of them. Private to net/.
 *
 * Where clients share the machine's few cores with the loops, two loops take the place of each
 * other and of the clients: each wakes for one request where one loop would have found several.
 * Where a core has nothing to do, a second loop doubles what can be answered; and of requests that
 * wait for a commit one loop can read the next while another answers the last. So a timer on the
 * first loop looks every tenth of a second at what the loops used, what nobody used and what
 * waited, and connections change to the loop where they belong after their next answer: HTTP's
 * between two requests, streams when their handler lets them. Others (channels) never move.
 */
#ifndef GT_NET_PLACEMENT_H
#define GT_NET_PLACEMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct listener;
struct shard;

/* Processor time since some time in the past, in microseconds, and how many requests waited. */
struct placement_sample {
    int64_t at;        /* on the steady clock */
    int64_t first;     /* of the first loop */
    int64_t others;    /* of the other loops together */
    int64_t unused;    /* of all cores, by nobody */
    uint64_t deferred; /* requests that were not answered at once */
};

struct placement {
    /* Counts the changes: a connection whose own number is another one is to be placed anew.
     * Written by the first loop, read by all. */
    atomic_uint number;
    atomic_bool gathered; /* on the first loop */
    uv_timer_t timer;     /* on the first loop, as is what follows */
    struct placement_sample last;
};

/* What it is now. Processor time in which loops looked for what comes next (loop_looked_us())
 * counts as unused: others get it. False where the system does not tell. */
bool placement_sample_take(const struct listener *listener, struct placement_sample *out);
/* Whether connections are to be gathered, by what happened between two samples. */
bool placement_decide(bool gathered, const struct placement_sample *from,
                      const struct placement_sample *to);

/* On the first loop, and only if connections are to be gathered at times; to close the timer is the
 * caller's. */
void placement_start(struct listener *listener);
/* Any thread; one at a time. */
void placement_set(struct placement *placement, bool gathered);

/* The loop for a connection that has just come; the first loop's thread. */
struct shard *placement_of_new(struct listener *listener);
/* The loop for a connection of `shard` that is placed anew; on its loop. */
struct shard *placement_again(struct shard *shard);

#endif

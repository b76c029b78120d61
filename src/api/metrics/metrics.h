/* Counters and latency histograms of all HTTP requests, by front end and operation, and of refusals
 * by reason, of all front ends.
 *
 * Each loop has a shard that only its thread writes to, without atomic read-modify-write; readers
 * add the shards up. An operation has a series in a shard from its first request on, so memory
 * follows what is used: at most about 1.7 KB for each operation and loop.
 *
 * The Redis front end counts its commands itself (redis/command_stats.h), in the same way; of its
 * refusals only the reasons are here.
 */
#ifndef GT_API_METRICS_METRICS_H
#define GT_API_METRICS_METRICS_H

#include "base/bytes.h"
#include "base/durations.h"
#include "base/limits.h"
#include "net/http.h"

/* Who answered. Zero is who answers when no front end does: health checks, refusals, no such path.
 */
enum metrics_front {
    METRICS_OTHER,
    METRICS_DYNAMODB,
    METRICS_REST,
    METRICS_LIVE,
    METRICS_PAGES,
    METRICS_REDIS,
    METRICS_FRONTS
};
const char *metrics_front_name(enum metrics_front front);

enum {
    METRICS_OPERATIONS_MAX = LIMIT_METRICS_OPERATIONS
}; /* of one front end; 0 is what is not known */

struct metrics;
struct metrics *metrics_new(unsigned loops);
void metrics_free(struct metrics *metrics);

/* The names of a front end's operations: `name` is asked for 1, 2, 3, ... until it returns empty
 * bytes. Before the loops start. */
void metrics_set_names(struct metrics *metrics, enum metrics_front front,
                       struct bytes (*name)(size_t operation));
/* Empty if there is no such operation. Any thread. */
struct bytes metrics_operation_name(const struct metrics *metrics, enum metrics_front front,
                                    size_t operation);

/* Counts an exchange that is about to be answered, by its note. On its loop. */
void metrics_answered(struct metrics *metrics, const struct http_exchange *exchange,
                      const struct http_answer *answer, uint64_t us);
/* Counts a refusal. `reason` is one of a fixed number of words, and lives as long as the process.
 * On that loop. */
void metrics_refused(struct metrics *metrics, unsigned loop, enum metrics_front front,
                     const char *reason);

/* --- reading: any thread --- */

struct metrics_sums {
    uint64_t requests, failed; /* failed: refused by the front end, for whatever reason */
    uint64_t bytes_in, bytes_out;
    struct durations_sums latency;
};
/* Adds what all loops have counted of an operation; false if it was never asked for. */
bool metrics_sum(const struct metrics *metrics, enum metrics_front front, size_t operation,
                 struct metrics_sums *sums);
/* The same for all operations of a front end. */
void metrics_sum_front(const struct metrics *metrics, enum metrics_front front,
                       struct metrics_sums *sums);

/* Calls `each` for every reason that something was refused for, once. */
struct metrics_reason {
    enum metrics_front front;
    const char *reason;
    uint64_t count;
};
void metrics_reasons(const struct metrics *metrics,
                     void (*each)(const struct metrics_reason *reason, void *user), void *user);

#endif

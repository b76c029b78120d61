/* Hot partitions: the heaviest partition keys of each table and index, by reads and by writes, in
 * bounded memory.
 *
 * Each list is a Space-Saving sketch (Metwally, Agrawal, El Abbadi 2005) of HOT_COUNTERS counters:
 * a key that is not among them takes the place of the lightest and its count, which is then the
 * most that the new one's may be too large (`error`). A key that makes up more than one in
 * HOT_COUNTERS of what was noted is surely in it. There is one for all time and one for the present
 * minute, whose first HOT_KEPT are kept for an hour.
 *
 * Requests are sampled: one in `every`, at random, and each counts for that many. `every` is 1
 * while there are few and grows with the load, so that about HOT_SAMPLES a second are noted,
 * whatever the traffic. A request that is not noted costs a decrement of a thread's own counter.
 *
 * Any thread; what is noted takes a lock for well under a microsecond.
 */
#ifndef GT_TABLE_HOT_KEYS_H
#define GT_TABLE_HOT_KEYS_H

#include "base/arena.h"
#include "base/limits.h"
#include "table/change.h"
#include "table/items.h"
#include "table/ranking.h"

enum {
    HOT_COUNTERS = 64,
    HOT_KEPT = 5, /* of each minute */
    HOT_MINUTES = 60,
    HOT_KEY_SIZE = 96, /* longer keys are cut off, and told apart by their hash */
    HOT_SAMPLES = 500, /* a second, about: each costs some microseconds */
};

enum hot_kind { HOT_READS, HOT_WRITES, HOT_KINDS };

struct hot_key {
    uint64_t hash;
    uint64_t count, error; /* the true count is between count - error and count, but for sampling */
    uint8_t size;
    char text[HOT_KEY_SIZE];
};

struct hot_keys;
struct hot_keys *hot_keys_new(void);
void hot_keys_free(struct hot_keys *hot);

/* What was asked of an engine; sampled here. `hot` NULL: nothing happens. */
void hot_keys_got(struct hot_keys *hot, struct engine *engine, const struct get_request *request);
void hot_keys_paged(struct hot_keys *hot, struct engine *engine,
                    const struct page_request *request);
void hot_keys_ranked(struct hot_keys *hot, struct engine *engine,
                     const struct rank_request *request);
void hot_keys_changed(struct hot_keys *hot, struct engine *engine, const struct change *change);

/* Notes that a key of that table was touched, `times` over; also for tests. `at_s` is the time in
 * seconds that only goes forward. */
struct hot_note {
    struct bytes table; /* "name", or "name/index" */
    enum hot_kind kind;
    struct bytes key; /* as text */
    uint64_t times;
    int64_t at_s;
};
void hot_keys_note(struct hot_keys *hot, const struct hot_note *note);

/* --- reading: any thread; everything is in the arena --- */

struct hot_list {
    struct hot_key *keys; /* the heaviest first */
    size_t count;
};
struct hot_minute {
    int64_t ago_s; /* when it ended */
    struct hot_list lists[HOT_KINDS];
};
struct hot_table {
    struct bytes name;
    uint64_t totals[HOT_KINDS]; /* of all keys */
    struct hot_list lists[HOT_KINDS];
    struct hot_minute *minutes; /* the oldest first; the last is the present one */
    size_t minute_count;
};
/* The table or index of that name; false if nothing was noted of it. */
bool hot_keys_table(struct hot_keys *hot, struct bytes name, struct arena *arena,
                    struct hot_table *out);
/* The names of all that something was noted of. */
size_t hot_keys_names(struct hot_keys *hot, struct arena *arena, struct bytes **out);
/* One request in how many is noted at present. */
unsigned hot_keys_every(const struct hot_keys *hot);

#endif

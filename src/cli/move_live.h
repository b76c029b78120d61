/* Moving a game while it is served: what is written meanwhile comes from the table's stream, and at
 * the end the servers of the side it comes from are read-only for as long as the last of it takes.
 */
#ifndef GT_CLI_MOVE_LIVE_H
#define GT_CLI_MOVE_LIVE_H

#include "base/status.h"
#include "table/engine.h"
#include "table/remote/remote.h"

#include <stdatomic.h>

struct move_live {
    const char *urls; /* of the servers, separated by commas; NULL: none runs */
    const char *key, *cacert;
    struct remote_follower *follower; /* of the source */
    int64_t since_us;                 /* when they became read-only; 0: they are not */
};

/* The first of the URLs as an engine: its table, without ranking. In the arena of the scope. */
enum status move_live_open(const struct move_live *live, const char *table, struct scope in,
                           struct engine **out);
/* Has all servers refuse what would be written, and waits until nothing is under way; or not any
 * more. IO_FAILED with a sentence: then none of them is. */
enum status move_live_read_only(struct move_live *live, bool on, struct scope in);
struct move_keys; /* cli/move_compare.h */
/* Carries over what the stream has until there is nothing more; *count rises by what it was. Stops
 * early when *stop. */
struct move_catch_up {
    struct engine *target;
    struct bytes table;
    bool (*stays)(const struct item *key); /* what is not moved */
    const atomic_bool *stop;
    uint64_t *count;
    struct move_keys *told; /* takes the keys of what the stream tells, unless it is NULL */
};
enum status move_live_catch_up(struct move_live *live, const struct move_catch_up *on,
                               struct scope in);

#endif

/* Scripts and transactions of several clients that share a commit.
 *
 * A script, or an EXEC that reads, runs on the writer's thread as one atomic step, and a step costs
 * a commit of its own: the writer knows what was committed, and not what others of the same group
 * are about to write. A transaction does know what it has written itself (zset_txn.h). So the calls
 * that a loop's clients have sent while its last group was being committed are one change: they run
 * one after the other over one transaction, as the commands of one EXEC do, each sees what those
 * before it wrote, and all of it is committed together.
 *
 * If one of them cannot go on here (it takes too long, or fails when it has written something),
 * nothing of the group is kept, and each is run again as a change of its own: then it has the fate
 * that it would have had alone. What a group has no time for any more is in the next.
 *
 * Order. A client's calls stay in their order, and whatever it sends behind them waits. */
#ifndef GT_API_REDIS_CALL_GROUPS_H
#define GT_API_REDIS_CALL_GROUPS_H

#include "api/redis/redis_command.h"
#include "base/limits.h"
#include "net/loop.h"

struct redis_client;

/* Calls by grouped.next; zero is empty. */
struct call_list {
    struct redis_call *first, *last;
};

/* Of one loop; zero is none. All on its thread. */
struct call_groups {
    struct call_list waiting; /* for the next group, oldest first */
    bool under_way;           /* the writer has a group; its first call leads it */
    struct task flush;        /* submits the next group at the end of the loop's turn, */
    bool flushing;            /* and is to run */
    struct change_source *sources[LIMIT_CALL_GROUP]; /* the clients of the one under way */
};

/* Whether the call is to be submitted by call_groups_add(), once it has its `prepare`. */
bool call_groups_take(const struct redis_call *call);
/* Takes the call; call_take_result() is called when it is committed or has failed. */
void call_groups_add(struct redis_call *call);
/* Whether the command has to wait until the client's calls that were added are done. */
bool call_groups_hold(const struct redis_client *client, const struct redis_command *command);

#endif

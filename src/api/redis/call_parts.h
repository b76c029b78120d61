/* Commands that name very many keys, members or fields, in several commits.
 *
 * One commit of 100,000 items holds all other writers for a third of a second, however it is made:
 * each item is logged, and put into the write buffer, the cache and the indexes. So DEL and its
 * like (rows of the table with `parts`) with more than LIMIT_ARGS_AT_ONCE arguments, or more than
 * LIMIT_GROUP_LARGE bytes of them, are carried out LIMIT_PART_ARGS, or so many bytes, at a time, in
 * the order in which they stand. Each part is a call of the same
 * command with fewer arguments and a commit of its own; others write in between. The reply is the
 * sum of the parts' replies, after the last commit. The client does nothing else meanwhile
 * (client->alone), so its own order is kept.
 *
 * Such a command is not atomic, which docs/redis.md tells. It may have parts only if doing it once
 * more leaves the same, so that whoever got no answer, or an error, may simply send it again. If
 * anything is wrong with its arguments, or a part might be refused where another was not, it is not
 * divided (`divides`), and fails as a whole. Between MULTI and EXEC, and in scripts, all is one
 * commit.
 */
#ifndef GT_API_REDIS_CALL_PARTS_H
#define GT_API_REDIS_CALL_PARTS_H

#include "api/redis/redis_call.h"

/* On the client's loop, of a call that is in its queue: true if the call is carried out in parts,
 * and is under way now. */
bool parts_begin(struct redis_client *client, struct redis_call *call);
/* On the loop, when a part is committed or has failed: true if the next one is under way; false if
 * that was the last, and at once if the call has no parts. */
bool parts_go_on(struct redis_call *call);
/* Frees what it has of parts. */
void parts_forget(struct redis_call *call);

#endif

/* Calls that commit something. Private to this folder; what has no comment that says otherwise is
 * called on the client's loop. */
#ifndef GT_API_REDIS_WRITE_CALLS_H
#define GT_API_REDIS_WRITE_CALLS_H

#include "api/redis/redis_frontend_int.h"

/* Whether a call of the command makes a change for the engine. */
static inline bool command_commits(const struct redis_command *command) {
    return (command->flags & (COMMAND_WRITE | COMMAND_COMMITS | COMMAND_EXCLUSIVE)) != 0;
}

/* Puts the call into the client's queue and starts it. */
void call_start_write(struct redis_client *client, struct redis_call *call);
/* An empty change. */
void call_prepare_change(struct redis_call *call);
/* Runs the command's `start`; without one its `run` will prepare the change. Wherever it runs. */
enum status call_run_start(struct redis_call *call);
/* After that: submits the change, if there is one. */
void call_submit_started(struct redis_client *client, struct redis_call *call, enum status status);
/* The bytes of its arguments, and of the commands since MULTI: those that are written are among
 * them. */
size_t call_args_size(const struct redis_call *call);
/* Submits the call's change to the engine. */
void call_submit(struct redis_call *call);
/* The change was committed or has failed; or it has done nothing, and the call goes on. */
void call_take_result(struct redis_call *call);
/* Forgets what an earlier run of the command has left. Wherever it runs. */
void call_reset_run(struct redis_call *call);

#endif

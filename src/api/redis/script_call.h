/* A script as part of a call: the library `redis` of its Lua state, and what becomes of its result.
 *
 * The script runs as one command of the call: redis.call() runs others nested in it, over the same
 * transaction, as EXEC does. So it runs on the writer's thread if it may write, its writes are one
 * commit, and it may be run again from the start as long as nothing was committed. Its work counts
 * toward the call's budget: past that it leaves for the pool (slow_calls.h), where it has
 * LIMIT_SCRIPT_MS and can be killed. */
#ifndef GT_API_REDIS_SCRIPT_CALL_H
#define GT_API_REDIS_SCRIPT_CALL_H

#include "api/redis/redis_frontend_int.h"

struct lua_State;

struct script_request {
    struct bytes sha, body;
    struct bytes fault_prefix; /* of what the compiler says */
    const struct bytes *keys, *args;
    size_t key_count, arg_count;
    bool read_only;
    bool compile_only; /* SCRIPT LOAD */
};

/* Runs the script and appends its reply to call->out. OK if there is a reply, also if that is the
 * script's own error: what it wrote before is kept then, as Redis does. Else nothing is kept. */
enum status script_call(struct redis_call *call, const struct script_request *request);

/* ---- between RESP and Lua (script_reply.c) ---- */

/* Pushes the value that the reply's bytes mean; returns what is left of them. Errors are thrown. */
struct bytes script_push_reply(struct lua_State *lua, struct bytes reply);
/* Where a script's result goes. */
struct script_answer {
    struct resp *out;
    size_t begin;   /* of the answer in out->to */
    int version;    /* that redis.setresp() chose */
    bool too_large; /* set if it is */
};
/* Appends the reply that the value on top of the stack means, and pops the value. */
void script_put_value(struct lua_State *lua, struct script_answer *answer, unsigned depth);
/* Appends the error that ended the script: a table {err, source, line}, or a text. */
void script_put_error(struct lua_State *lua, struct script_answer *answer, struct bytes sha);
/* Pushes the table {err = text} of "-CODE text", "-text" or "text". */
void script_push_error(struct lua_State *lua, struct bytes text);

#endif

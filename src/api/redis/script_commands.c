/* EVAL, EVALSHA, their read-only forms, and SCRIPT. */
#include "api/redis/script_call.h"
#include "api/redis/slow_calls.h"
#include "api/redis/zset_txn_int.h"
#include "base/limits.h"

#include <strings.h>

/* ---- the first line ---- */

/* "#!lua flags=no-writes,allow-stale": what the script says of itself. */
struct shebang {
    bool there, no_writes;
    size_t size; /* of the line, without its end */
};

static bool is_flag(struct bytes word, const char *flag) {
    return bytes_equal(word, bytes_str(flag));
}

static enum status read_flags(struct redis_call *call, struct bytes list, struct shebang *out) {
    while (list.size != 0) {
        size_t comma = bytes_find(list, BYTES(","));
        struct bytes word = bytes_of(list.data, comma == SIZE_MAX ? list.size : comma);
        list = bytes_skip(list, comma == SIZE_MAX ? list.size : comma + 1);
        if (is_flag(word, "no-writes"))
            out->no_writes = true;
        else if (!is_flag(word, "allow-oom") && !is_flag(word, "allow-stale") &&
                 !is_flag(word, "no-cluster") && !is_flag(word, "allow-cross-slot-keys"))
            return call_error(call, "ERR Unexpected flag in script shebang: %.*s", BYTES_ARG(word));
    }
    return OK;
}

static enum status read_shebang(struct redis_call *call, struct bytes body, struct shebang *out) {
    *out = (struct shebang){0};
    if (!bytes_starts(body, BYTES("#!")))
        return OK;
    out->there = true;
    out->size = bytes_find(body, BYTES("\n"));
    if (out->size == SIZE_MAX)
        return call_error(call, "ERR Invalid script shebang");
    struct bytes line = bytes_of(body.data, out->size);
    for (size_t i = 0; line.size != 0; i++) {
        size_t blank = bytes_find(line, BYTES(" "));
        struct bytes word = bytes_of(line.data, blank == SIZE_MAX ? line.size : blank);
        line = bytes_skip(line, blank == SIZE_MAX ? line.size : blank + 1);
        enum status status = OK;
        if (i == 0 && !bytes_equal(word, BYTES("#!lua")))
            status =
                call_error(call, "ERR Unexpected engine in script shebang: %.*s", BYTES_ARG(word));
        else if (bytes_starts(word, BYTES("flags=")))
            status = read_flags(call, bytes_skip(word, 6), out);
        else if (i != 0 && word.size != 0)
            status = call_error(call, "ERR Unknown lua shebang option: %.*s", BYTES_ARG(word));
        if (status != OK)
            return status;
    }
    return OK;
}

/* ---- EVAL ---- */

static bool is_read_only(const struct redis_call *call) {
    return (call->command->flags & COMMAND_READ) != 0;
}

/* The numbers of keys and other arguments. */
static enum status read_counts(struct redis_call *call, struct script_request *out) {
    int64_t keys;
    enum status status = call_int(call, 2, &keys);
    if (status != OK)
        return status;
    if (keys > (int64_t)(call->count - 3))
        return call_error(call, "ERR Number of keys can't be greater than number of args");
    if (keys < 0)
        return call_error(call, "ERR Number of keys can't be negative");
    out->keys = &call->args[3];
    out->key_count = (size_t)keys;
    out->args = &call->args[3 + keys];
    out->arg_count = call->count - 3 - (size_t)keys;
    return OK;
}

/* Whether all that a read-only script has read is of one moment: it runs beside the writer. */
static bool reads_are_current(struct redis_call *call) {
    return call->txn == NULL || slow_is_current(call, true);
}

/* Runs it until nobody writes to what it reads meanwhile; a few times on a loop, often elsewhere.
 */
static enum status run_reading(struct redis_call *call, const struct script_request *request) {
    bool bounded = call->budget != NULL && call->budget->work_max != 0;
    size_t begin = call->out.to->size;
    if (call->nested || call->budget == NULL)
        return script_call(call, request);
    for (unsigned i = 0; i < (bounded ? 2U : LIMIT_SCRIPT_READS); i++) {
        if (call->txn != NULL)
            zset_txn_release(call->txn);
        call->txn = NULL;
        call->out.to->size = begin;
        published_begin(call->published, call->arena);
        call->budget->ahead = true;
        enum status status = script_call(call, request);
        call->budget->ahead = false;
        if (status != OK || reads_are_current(call))
            return status;
    }
    call->failure = (struct failure){
        WOULD_BLOCK, BYTES("the keys that the script reads are written to all the time")};
    if (bounded)
        call->budget->work = call->budget->work_max + 1;
    return WOULD_BLOCK;
}

static enum status run_script(struct redis_call *call, struct script_request *request) {
    struct shebang shebang;
    enum status status = read_counts(call, request);
    if (status == OK)
        status = read_shebang(call, request->body, &shebang);
    if (status != OK)
        return status;
    if (is_read_only(call) && shebang.there && !shebang.no_writes)
        return call_error(call, "ERR Can not execute a script with write flag using *_ro command.");
    request->read_only = is_read_only(call) || shebang.no_writes;
    request->body = bytes_skip(request->body, shebang.size);
    return is_read_only(call) ? run_reading(call, request) : script_call(call, request);
}

/* A script that was compiled is remembered, whatever becomes of this run. */
static enum status run_eval(struct redis_call *call) {
    char *sha = arena_alloc(call->arena, SCRIPT_SHA_SIZE);
    struct bytes body = call->args[1];
    script_sha(body, sha);
    struct script_request request = {.sha = bytes_of(sha, SCRIPT_SHA_SIZE), .body = body};
    enum status status = run_script(call, &request);
    if (status == OK)
        scripts_add(&call->frontend->scripts, request.sha, body, false);
    return status;
}

static enum status run_evalsha(struct redis_call *call) {
    struct script_request request = {0};
    if (call->args[1].size != SCRIPT_SHA_SIZE ||
        !scripts_find(&call->frontend->scripts, call->args[1], call->arena, &request.body))
        return call_error(call, "NOSCRIPT No matching script. Please use EVAL.");
    uint8_t *sha = arena_alloc(call->arena, SCRIPT_SHA_SIZE);
    for (size_t i = 0; i < SCRIPT_SHA_SIZE; i++) {
        uint8_t c = call->args[1].data[i];
        sha[i] = c >= 'A' && c <= 'F' ? (uint8_t)(c + 32) : c;
    }
    request.sha = bytes_of(sha, SCRIPT_SHA_SIZE);
    return run_script(call, &request);
}

/* ---- SCRIPT ---- */

static enum status run_script_load(struct redis_call *call) {
    char *sha = arena_alloc(call->arena, SCRIPT_SHA_SIZE);
    struct bytes body = call->args[2];
    struct shebang shebang;
    script_sha(body, sha);
    enum status status = read_shebang(call, body, &shebang);
    if (status != OK)
        return status;
    struct script_request request = {.sha = bytes_of(sha, SCRIPT_SHA_SIZE),
                                     .body = bytes_skip(body, shebang.size),
                                     .compile_only = true};
    status = script_call(call, &request);
    if (status != OK)
        return status;
    if (!scripts_add(&call->frontend->scripts, request.sha, body, true))
        return call_error(call, "ERR too many scripts are loaded; SCRIPT FLUSH removes them");
    resp_bulk(&call->out, request.sha);
    return OK;
}

static enum status run_script_exists(struct redis_call *call) {
    resp_array(&call->out, call->count - 2);
    for (size_t i = 2; i < call->count; i++)
        resp_int(&call->out, scripts_has(&call->frontend->scripts, call->args[i]));
    return OK;
}

static enum status run_script_flush(struct redis_call *call) {
    if (call->count > 3 ||
        (call->count == 3 && !call_arg_is(call, 2, "sync") && !call_arg_is(call, 2, "async")))
        return call_error(call, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
    scripts_flush(&call->frontend->scripts);
    resp_ok(&call->out);
    return OK;
}

/* Those that run on the writer's thread are short; the others can always be killed, since nothing
 * of them is committed before they end. */
static enum status run_script_kill(struct redis_call *call) {
    if (scripts_kill(&call->frontend->scripts) == 0)
        return call_error(call, "NOTBUSY No scripts in execution right now.");
    resp_ok(&call->out);
    return OK;
}

static enum status run_script_debug(struct redis_call *call) {
    if (call_arg_is(call, 2, "no")) {
        resp_ok(&call->out);
        return OK;
    }
    return call_error(call, "ERR there is no debugger of scripts here: use SCRIPT DEBUG NO");
}

static enum status run_script_help(struct redis_call *call) {
    static const char *const lines[] = {
        "SCRIPT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "EXISTS <sha1> [<sha1> ...]",
        "    Whether the scripts are known.",
        "FLUSH [ASYNC|SYNC]",
        "    Forgets all scripts.",
        "KILL",
        "    Ends the scripts that run. Nothing that they did is kept.",
        "LOAD <script>",
        "    Remembers a script, which EVALSHA runs.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_help(call, lines);
}

enum {
    RUNS = COMMAND_NOSCRIPT | COMMAND_STALE | COMMAND_SKIP_MONITOR | COMMAND_NO_MANDATORY_KEYS |
           COMMAND_MOVABLE_KEYS,
    WRITES = RUNS | COMMAND_COMMITS,
    READS = RUNS | COMMAND_READ,
};

static const struct redis_command subs[] = {
    {"debug",
     3,
     COMMAND_NOSCRIPT,
     TOUCHES_CONNECTION,
     {0},
     run_script_debug,
     NULL,
     GROUP_SCRIPTING,
     "3.2.0",
     "There is no debugger",
     NULL},
    {"exists",
     -3,
     COMMAND_NOSCRIPT,
     TOUCHES_CONNECTION,
     {0},
     run_script_exists,
     NULL,
     GROUP_SCRIPTING,
     "2.6.0",
     "Whether scripts are known",
     NULL},
    {"flush",
     -2,
     COMMAND_NOSCRIPT,
     TOUCHES_SERVER,
     {0},
     run_script_flush,
     NULL,
     GROUP_SCRIPTING,
     "2.6.0",
     "Forgets all scripts",
     NULL},
    {"help",
     2,
     COMMAND_LOADING | COMMAND_STALE,
     TOUCHES_CONNECTION,
     {0},
     run_script_help,
     NULL,
     GROUP_SCRIPTING,
     "5.0.0",
     "What there is",
     NULL},
    {"kill",
     2,
     COMMAND_NOSCRIPT | COMMAND_ALLOW_BUSY,
     TOUCHES_SERVER,
     {0},
     run_script_kill,
     NULL,
     GROUP_SCRIPTING,
     "2.6.0",
     "Ends the scripts that run",
     NULL},
    {"load",
     3,
     COMMAND_NOSCRIPT | COMMAND_STALE,
     TOUCHES_CONNECTION,
     {0},
     run_script_load,
     NULL,
     GROUP_SCRIPTING,
     "2.6.0",
     "Remembers a script",
     NULL},
    {0},
};

/* What a script may touch is decided for each command that it runs. */
const struct redis_command redis_script_commands[] = {
    {"eval",
     -3,
     WRITES,
     TOUCHES_CONNECTION,
     {0, 0, 0, 2},
     run_eval,
     NULL,
     GROUP_SCRIPTING,
     "2.6.0",
     "Runs a script, in one step",
     NULL},
    {"evalsha",
     -3,
     WRITES,
     TOUCHES_CONNECTION,
     {0, 0, 0, 2},
     run_evalsha,
     NULL,
     GROUP_SCRIPTING,
     "2.6.0",
     "Runs a script that is known, in one step",
     NULL},
    {"eval_ro",
     -3,
     READS,
     TOUCHES_CONNECTION,
     {0, 0, 0, 2},
     run_eval,
     NULL,
     GROUP_SCRIPTING,
     "7.0.0",
     "Runs a script that only reads",
     NULL},
    {"evalsha_ro",
     -3,
     READS,
     TOUCHES_CONNECTION,
     {0, 0, 0, 2},
     run_evalsha,
     NULL,
     GROUP_SCRIPTING,
     "7.0.0",
     "Runs a script that is known and only reads",
     NULL},
    {"script",
     -2,
     0,
     TOUCHES_CONNECTION,
     {0},
     NULL,
     NULL,
     GROUP_SCRIPTING,
     "2.6.0",
     "Scripts",
     subs},
    {0},
};

#include "api/redis/script_call.h"

#include "api/redis/redis_call.h"
#include "api/redis/zset_txn_int.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <stdio.h>

enum { ARGS_INLINE = 16, UNITS_A_MICROSECOND = 4, LATE = 4 };

/* What the library needs while a script runs. */
struct script_context {
    struct redis_call *call;
    const struct script_request *request;
    struct script_running running;
    struct buf reply; /* of the command that redis.call() ran last */
    int version;      /* of RESP in which redis.call() is answered */
    int64_t end_us;   /* when the time is up */
    struct script_answer answer;
};

static struct script_context *context_of(lua_State *lua) {
    return script_vm_user(lua);
}

/* ---- bounds ---- */

static bool is_bounded(const struct redis_call *call) {
    return call->budget != NULL && call->budget->work_max != 0;
}

/* Where others wait the call's budget counts; a script that waits for the processor itself is over
 * as well. Elsewhere there is a time, and SCRIPT KILL. */
static enum script_stop on_tick(void *user, uint64_t units) {
    struct script_context *context = user;
    struct call_budget *budget = context->call->budget;
    bool late = clock_ticks_us() > context->end_us;
    if (is_bounded(context->call)) {
        budget->work += units;
        if (late && budget->work <= budget->work_max)
            budget->work = budget->work_max + 1;
        return budget->work > budget->work_max ? SCRIPT_OVER : SCRIPT_RUNS;
    }
    if (atomic_load_explicit(&context->running.killed, memory_order_relaxed))
        return SCRIPT_KILLED;
    return late ? SCRIPT_TIMED_OUT : SCRIPT_RUNS;
}

static int64_t time_allowed_us(const struct redis_call *call) {
    if (is_bounded(call))
        return (int64_t)(call->budget->work_max / UNITS_A_MICROSECOND * LATE);
    return (int64_t)LIMIT_SCRIPT_MS * 1000;
}

/* ---- redis.call and redis.pcall ---- */

/* Answers with an error of our own: redis.call() throws it, redis.pcall() returns it. */
static int answer_error(lua_State *lua, const char *text, bool throws) {
    script_push_error(lua, bytes_str(text));
    return throws ? lua_error(lua) : 1;
}

/* The arguments, which stay on the stack and own their bytes; numbers become texts first. NULL if
 * there are none, or one is neither; *fault says so. */
static struct bytes *take_args(lua_State *lua, struct bytes *inlined, const char **fault) {
    int count = lua_gettop(lua);
    struct bytes *args = inlined;
    if (count == 0) {
        *fault = "Please specify at least one argument for this redis lib call";
        return NULL;
    }
    if (count > ARGS_INLINE)
        args = lua_newuserdata(lua, (size_t)count * sizeof(*args));
    for (int i = 1; i <= count; i++) {
        if (lua_type(lua, i) == LUA_TNUMBER) {
            char text[RESP_DOUBLE_MAX];
            lua_pushlstring(lua, text, resp_double_text(lua_tonumber(lua, i), text));
            lua_replace(lua, i);
        } else if (lua_type(lua, i) != LUA_TSTRING) {
            *fault = "Lua redis lib command arguments must be strings or integers";
            return NULL;
        }
        args[i - 1].data = (const uint8_t *)lua_tolstring(lua, i, &args[i - 1].size);
    }
    return args;
}

/* Finds the command; false if there is none. */
static bool find_command(struct redis_request *request) {
    request->command = redis_command_find(request->args[0]);
    if (request->command != NULL && request->command->subs != NULL && request->count > 1)
        request->command = redis_subcommand_find(request->command, request->args[1]);
    return request->command != NULL;
}

/* Why the script may not run the command; NULL if it may. */
static const char *refusal_of(struct script_context *context, const struct redis_request *request) {
    const struct redis_command *command = request->command;
    if (!redis_arity_fits(command, request->count))
        return "Wrong number of args calling Redis command from script";
    if (command->run == NULL || (command->flags & COMMAND_NOSCRIPT) != 0)
        return "This Redis command is not allowed from script";
    enum denial denial = call_decide_nested(context->call, request);
    if (denial == DENIAL_PARTITION)
        return "The user executing the script can't access at least one of the keys mentioned in "
               "the command arguments";
    if (denial != DENIAL_NONE)
        return "The user executing the script can't run this command or subcommand";
    if (context->request->read_only && command_writes(command))
        return "Write commands are not allowed from read-only scripts.";
    return NULL;
}

/* A write may keep its arguments until the commit. */
static void keep_args(struct redis_call *call, struct redis_request *request) {
    struct bytes *args = ARENA_ARRAY(call->arena, struct bytes, request->count);
    for (size_t i = 0; i < request->count; i++)
        args[i] = arena_copy(call->arena, request->args[i]);
    request->args = args;
}

/* Runs the command; its reply is in context->reply. Does not return if the script is over. */
static void run_nested(lua_State *lua, struct script_context *context,
                       struct redis_request *request) {
    struct redis_call *call = context->call;
    struct resp out = call->out;
    if (command_writes(request->command)) {
        call->wrote = true;
        keep_args(call, request);
    }
    buf_clear(&context->reply);
    call->out = (struct resp){&context->reply, context->version};
    enum status status = call_run_nested(call, request);
    call->out = out;
    bool over = is_bounded(call) && call->budget->work > call->budget->work_max;
    if (over || (status != OK && call->txn != NULL && call->txn->busy))
        script_vm_end(lua, SCRIPT_OVER);
}

static int call_command(lua_State *lua, bool throws) {
    struct script_context *context = context_of(lua);
    struct bytes inlined[ARGS_INLINE] = {0};
    const char *fault = NULL;
    size_t count = (size_t)lua_gettop(lua);
    struct redis_request request = {.args = take_args(lua, inlined, &fault), .count = count};
    if (fault == NULL && !find_command(&request))
        fault = "Unknown Redis command called from script";
    if (fault == NULL)
        fault = refusal_of(context, &request);
    if (fault != NULL)
        return answer_error(lua, fault, throws);
    run_nested(lua, context, &request);
    script_push_reply(lua, buf_bytes(&context->reply));
    return throws && context->reply.data[0] == '-' ? lua_error(lua) : 1;
}

static int redis_call(lua_State *lua) {
    return call_command(lua, true);
}

static int redis_pcall(lua_State *lua) {
    return call_command(lua, false);
}

/* ---- the rest of the library ---- */

static int redis_acl_check_cmd(lua_State *lua) {
    struct script_context *context = context_of(lua);
    struct bytes inlined[ARGS_INLINE] = {0};
    const char *fault = NULL;
    size_t count = (size_t)lua_gettop(lua);
    struct redis_request request = {.args = take_args(lua, inlined, &fault), .count = count};
    if (fault == NULL && !find_command(&request))
        fault = "Invalid command passed to redis.acl_check_cmd()";
    if (fault != NULL)
        return answer_error(lua, fault, true);
    lua_pushboolean(lua, call_decide_nested(context->call, &request) == DENIAL_NONE);
    return 1;
}

static int redis_log(lua_State *lua) {
    static const enum log_level levels[] = {LOG_DEBUG, LOG_DEBUG, LOG_INFO, LOG_WARN};
    int count = lua_gettop(lua);
    char line[LIMIT_SCRIPT_LOG];
    size_t size = 0;
    if (count < 2)
        return answer_error(lua, "redis.log() requires two arguments or more.", true);
    if (!lua_isnumber(lua, 1))
        return answer_error(lua, "First argument must be a number (log level).", true);
    double level = lua_tonumber(lua, 1);
    if (!(level >= 0 && level < 4))
        return answer_error(lua, "Invalid debug level.", true);
    for (int i = 2; i <= count; i++) {
        size_t more;
        const char *text = lua_tolstring(lua, i, &more);
        if (text == NULL)
            continue;
        if (size != 0 && size < sizeof(line))
            line[size++] = ' ';
        more = more < sizeof(line) - size ? more : sizeof(line) - size;
        memcpy(line + size, text, more);
        size += more;
    }
    if (scripts_may_log(&context_of(lua)->call->frontend->scripts))
        log_write(levels[(int)level], "script: %.*s", (int)size, line);
    return 0;
}

static int redis_sha1hex(lua_State *lua) {
    char sha[SCRIPT_SHA_SIZE];
    size_t size;
    if (lua_gettop(lua) != 1)
        return answer_error(lua, "wrong number of arguments", true);
    const char *text = lua_tolstring(lua, 1, &size);
    script_vm_work(lua, size / 128);
    script_sha(bytes_of(text, text == NULL ? 0 : size), sha);
    lua_pushlstring(lua, sha, sizeof(sha));
    return 1;
}

static bool has_one_text(lua_State *lua) {
    return lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING;
}

static int redis_error_reply(lua_State *lua) {
    size_t size;
    if (!has_one_text(lua))
        return answer_error(lua, "wrong number or type of arguments", false);
    if (lua_tostring(lua, 1)[0] != '-') {
        lua_pushliteral(lua, "-");
        lua_insert(lua, 1);
        lua_concat(lua, 2);
    }
    const char *text = lua_tolstring(lua, 1, &size);
    script_push_error(lua, bytes_of(text, size));
    return 1;
}

static int redis_status_reply(lua_State *lua) {
    if (!has_one_text(lua))
        return answer_error(lua, "wrong number or type of arguments", false);
    lua_createtable(lua, 0, 1);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "ok");
    return 1;
}

static int redis_setresp(lua_State *lua) {
    if (lua_gettop(lua) != 1)
        return answer_error(lua, "redis.setresp() requires one argument.", true);
    double version = lua_tonumber(lua, 1);
    if (version != 2 && version != 3)
        return answer_error(lua, "RESP version must be 2 or 3.", true);
    context_of(lua)->version = (int)version;
    return 0;
}

/* There are no replicas, so what would go to them makes no difference. */
static int redis_set_repl(lua_State *lua) {
    if (lua_gettop(lua) != 1)
        return answer_error(lua, "redis.set_repl() requires two arguments.", true);
    double flags = lua_tonumber(lua, 1);
    if (!(flags >= 0 && flags <= 3))
        return answer_error(lua,
                            "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or "
                            "REPL_NONE.",
                            true);
    return 0;
}

static int redis_replicate_commands(lua_State *lua) {
    lua_pushboolean(lua, 1);
    return 1;
}

/* There is no debugger; Redis answers so outside of one. */
static int redis_breakpoint(lua_State *lua) {
    lua_pushboolean(lua, 0);
    return 1;
}

static int redis_debug(lua_State *lua) {
    (void)lua;
    return 0;
}

/* An error of a command is a table inside, and for who catches it a text, as it was in Redis 6. */
static int base_pcall(lua_State *lua) {
    luaL_checkany(lua, 1);
    if (lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0) == 0) {
        lua_pushboolean(lua, 1);
        lua_insert(lua, 1);
        return lua_gettop(lua);
    }
    if (lua_istable(lua, -1)) {
        lua_pushliteral(lua, "err");
        lua_rawget(lua, -2);
        lua_remove(lua, lua_isstring(lua, -1) ? -2 : -1);
    }
    lua_pushboolean(lua, 0);
    lua_insert(lua, -2);
    return 2;
}

/* Puts `redis` into the globals, which are on top of the stack. */
static void open_redis(lua_State *lua) {
    static const luaL_Reg functions[] = {{"call", redis_call},
                                         {"pcall", redis_pcall},
                                         {"acl_check_cmd", redis_acl_check_cmd},
                                         {"log", redis_log},
                                         {"sha1hex", redis_sha1hex},
                                         {"error_reply", redis_error_reply},
                                         {"status_reply", redis_status_reply},
                                         {"setresp", redis_setresp},
                                         {"set_repl", redis_set_repl},
                                         {"replicate_commands", redis_replicate_commands},
                                         {"breakpoint", redis_breakpoint},
                                         {"debug", redis_debug},
                                         {NULL, NULL}};
    static const struct {
        const char *name;
        int number;
    } numbers[] = {{"LOG_DEBUG", 0},  {"LOG_VERBOSE", 1},
                   {"LOG_NOTICE", 2}, {"LOG_WARNING", 3},
                   {"REPL_NONE", 0},  {"REPL_AOF", 1},
                   {"REPL_SLAVE", 2}, {"REPL_REPLICA", 2},
                   {"REPL_ALL", 3},   {"REDIS_VERSION_NUM", REDIS_VERSION_NUMBER}};
    lua_newtable(lua);
    luaL_register(lua, NULL, functions);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        lua_pushinteger(lua, numbers[i].number);
        lua_setfield(lua, -2, numbers[i].name);
    }
    lua_pushliteral(lua, REDIS_VERSION);
    lua_setfield(lua, -2, "REDIS_VERSION");
    script_vm_protect(lua);
    lua_setfield(lua, -2, "redis");
    lua_pushcfunction(lua, base_pcall);
    lua_setfield(lua, -2, "pcall");
}

/* ---- running ---- */

static void take_result(lua_State *lua, bool failed, void *user) {
    struct script_context *context = user;
    context->answer.version = context->version;
    if (failed) {
        context->call->failed = true;
        script_put_error(lua, &context->answer, context->request->sha);
    } else
        script_put_value(lua, &context->answer, 0);
}

/* Why the script did not come to its end. */
static enum status explain_stop(struct redis_call *call, enum script_stop stop) {
    switch (stop) {
    case SCRIPT_KILLED:
        return call_error(call, "ERR Script killed by user with SCRIPT KILL.");
    case SCRIPT_TIMED_OUT:
        return call_error(call,
                          "ERR the script has run for more than %d ms and was ended; nothing that "
                          "it did is kept",
                          LIMIT_SCRIPT_MS);
    case SCRIPT_TOO_LARGE:
        return call_error(call,
                          "OOM the script needs more than %d MB of memory; nothing that it did is "
                          "kept",
                          LIMIT_SCRIPT_MEMORY >> 20);
    default:
        break;
    }
    if (call->txn != NULL && call->txn->busy)
        return BUSY;
    call->failure = (struct failure){
        WOULD_BLOCK, BYTES("the script takes long, and its keys are written to all the time")};
    return WOULD_BLOCK;
}

static enum status explain_result(struct script_context *context, const struct script_vm *vm,
                                  enum script_result result) {
    struct redis_call *call = context->call;
    if ((result == SCRIPT_DONE && !context->answer.too_large) || result == SCRIPT_COMPILED)
        return OK;
    call->out.to->size = context->answer.begin;
    if (result == SCRIPT_FAULTY)
        return call_error(call, "ERR Error compiling script (new function): %.*s",
                          BYTES_ARG(script_vm_fault(vm)));
    if (result == SCRIPT_STOPPED)
        return explain_stop(call, script_vm_stop(vm));
    return call_error(call,
                      "OOM the script's reply has more than %d MB; nothing that it did is kept",
                      LIMIT_SCRIPT_REPLY >> 20);
}

enum status script_call(struct redis_call *call, const struct script_request *request) {
    struct scripts *scripts = &call->frontend->scripts;
    struct script_context context = {.call = call,
                                     .request = request,
                                     .version = 2,
                                     .answer = {.out = &call->out, .begin = call->out.to->size}};
    struct script_run run = {.sha = request->sha,
                             .body = request->body,
                             .keys = request->keys,
                             .args = request->args,
                             .key_count = request->key_count,
                             .arg_count = request->arg_count,
                             .tick = on_tick,
                             .take = take_result,
                             .user = &context,
                             .compile_only = request->compile_only};
    struct script_vm *vm = scripts_take_vm(scripts, open_redis);
    if (vm == NULL)
        return call_error(call, "OOM there is no memory for a script");
    bool bounded = is_bounded(call);
    if (call->budget != NULL)
        call->budget->strict = true;
    unsigned db = call->db; /* SELECT in a script is good until it ends */
    context.end_us = clock_ticks_us() + time_allowed_us(call);
    if (!bounded)
        scripts_enter(scripts, &context.running);
    enum script_result result = script_vm_run(vm, &run);
    if (!bounded)
        scripts_leave(scripts, &context.running);
    call->db = db;
    enum status status = explain_result(&context, vm, result);
    scripts_give_vm(scripts, vm, !bounded);
    buf_release(&context.reply);
    return status;
}

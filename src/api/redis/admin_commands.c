/* Commands for those who run a Redis: what there is of it here, and plain answers to the rest. */
#include "api/redis/redis_frontend_int.h"
#include "base/clock.h"

/* ---- MODULE, ROLE, CLUSTER, REPLICAOF: one server, without modules ---- */

static enum status run_module_list(struct redis_call *call) {
    resp_array(&call->out, 0);
    return OK;
}

static enum status run_module_load(struct redis_call *call) {
    return call_error(call, "ERR there are no modules here");
}

static enum status run_module_help(struct redis_call *call) {
    static const char *const lines[] = {
        "MODULE <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "LIST",
        "    There are no modules.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_help(call, lines);
}

static enum status run_role(struct redis_call *call) {
    resp_array(&call->out, 3);
    resp_bulk(&call->out, BYTES("master"));
    resp_int(&call->out, 0);
    resp_array(&call->out, 0);
    return OK;
}

static enum status run_cluster(struct redis_call *call) {
    return call_error(call, "ERR This instance has cluster support disabled");
}

static enum status run_replicaof(struct redis_call *call) {
    if (!call_arg_is(call, 1, "no") || !call_arg_is(call, 2, "one"))
        return call_error(call, "ERR a gametable is nobody's replica");
    resp_ok(&call->out);
    return OK;
}

/* ---- what is on the disk ---- */

static bool is_stored(const struct redis_call *call) {
    return call->frontend->settings.sync != NULL;
}

/* Whatever was acknowledged until now is saved; in memory nothing ever is. */
static enum status run_lastsave(struct redis_call *call) {
    int64_t since_ms = (clock_ticks_us() - call->frontend->started_us) / 1000;
    resp_int(&call->out, (clock_now_ms() - (is_stored(call) ? 0 : since_ms)) / 1000);
    return OK;
}

static enum status reply_saved(struct redis_call *call, struct bytes text) {
    if (!is_stored(call))
        return call_error(call, "ERR nothing is stored: the server keeps everything in memory");
    resp_simple(&call->out, text);
    return OK;
}

static enum status run_save(struct redis_call *call) {
    return reply_saved(call, BYTES("OK"));
}

static enum status run_bgsave(struct redis_call *call) {
    return reply_saved(call, BYTES("Every acknowledged write is on the disk: nothing to save"));
}

static enum status run_bgrewriteaof(struct redis_call *call) {
    return reply_saved(call, BYTES("The log is kept short by the server itself"));
}

/* WAITAOF numlocal numreplicas timeout: an acknowledged write is on this disk. */
static enum status run_waitaof(struct redis_call *call) {
    struct int_bounds local = {0, 1, "ERR value is out of range, must be between 0 and 1"};
    struct int_bounds replicas = {0, INT32_MAX, "ERR value is out of range, must be positive"};
    struct int_bounds timeout = {0, INT64_MAX, "ERR timeout is negative"};
    int64_t wanted[3];
    if (call_int_between(call, 1, local, &wanted[0]) != OK ||
        call_int_between(call, 2, replicas, &wanted[1]) != OK ||
        call_int_between(call, 3, timeout, &wanted[2]) != OK)
        return INVALID;
    if (wanted[0] != 0 && !is_stored(call))
        return call_error(call, "ERR WAITAOF cannot be used when numlocal is set but appendonly is "
                                "disabled.");
    resp_array(&call->out, 2);
    resp_int(&call->out, is_stored(call));
    resp_int(&call->out, 0);
    return OK;
}

/* ---- SHUTDOWN and DEBUG ---- */

static enum status run_shutdown(struct redis_call *call) {
    return call_error(call, "ERR the server is not ended from here: send SIGTERM to its process");
}

static enum status run_debug(struct redis_call *call) {
    return call_error(call, "ERR DEBUG command not allowed.");
}

/* ---- MONITOR ---- */

static enum status run_monitor(struct redis_call *call) {
    enum status status;
    pubsub_subscribe(call->client, PUBSUB_MONITOR, BYTES("monitor"), &status);
    if (status != OK)
        return call_error(call, "ERR too many subscriptions");
    resp_ok(&call->out);
    return OK;
}

enum {
    HELPS = COMMAND_LOADING | COMMAND_STALE,
    ADMIN = COMMAND_ADMIN | COMMAND_NOSCRIPT,
    ALWAYS = ADMIN | HELPS,
};

#define ADMIN_ROW(word, words, flags_, touches_, function, version, text)                    \
    {                                                                                        \
        .name = word, .arity = words, .flags = flags_, .touches = touches_, .run = function, \
        .group = GROUP_SERVER, .since = version, .summary = text                             \
    }

static const struct redis_command module_subs[] = {
    ADMIN_ROW("help", 2, HELPS, TOUCHES_CONNECTION, run_module_help, "5.0.0", "What there is"),
    ADMIN_ROW("list", 2, COMMAND_NOSCRIPT, TOUCHES_CONNECTION, run_module_list, "4.0.0",
              "There are no modules"),
    ADMIN_ROW("load", -3, ADMIN, TOUCHES_SERVER, run_module_load, "4.0.0", "There are no modules"),
    ADMIN_ROW("loadex", -3, ADMIN, TOUCHES_SERVER, run_module_load, "7.0.0",
              "There are no modules"),
    ADMIN_ROW("unload", 3, ADMIN, TOUCHES_SERVER, run_module_load, "4.0.0", "There are no modules"),
    {0},
};

const struct redis_command redis_admin_commands[] = {
    {.name = "module",
     .arity = -2,
     .touches = TOUCHES_CONNECTION,
     .group = GROUP_SERVER,
     .since = "4.0.0",
     .summary = "There are no modules",
     .subs = module_subs},
    ADMIN_ROW("role", 1, HELPS | COMMAND_NOSCRIPT | COMMAND_FAST | COMMAND_CATEGORY_DANGEROUS,
              TOUCHES_CONNECTION, run_role, "2.8.12", "A master without replicas"),
    ADMIN_ROW("cluster", -2, COMMAND_STALE, TOUCHES_CONNECTION, run_cluster, "3.0.0",
              "There is no cluster"),
    ADMIN_ROW("replicaof", 3, ADMIN | COMMAND_STALE, TOUCHES_SERVER, run_replicaof, "5.0.0",
              "There are no replicas"),
    ADMIN_ROW("lastsave", 1, HELPS | COMMAND_FAST | COMMAND_CATEGORY_DANGEROUS, TOUCHES_CONNECTION,
              run_lastsave, "1.0.0", "When all was last on the disk: now"),
    ADMIN_ROW("save", 1, ADMIN | COMMAND_NO_MULTI, TOUCHES_SERVER, run_save, "1.0.0",
              "Every acknowledged write is saved already"),
    ADMIN_ROW("bgsave", -1, ADMIN, TOUCHES_SERVER, run_bgsave, "1.0.0",
              "Every acknowledged write is saved already"),
    ADMIN_ROW("bgrewriteaof", 1, ADMIN, TOUCHES_SERVER, run_bgrewriteaof, "1.0.0",
              "The log is kept short by the server"),
    ADMIN_ROW("waitaof", 4, COMMAND_NOSCRIPT, TOUCHES_CONNECTION, run_waitaof, "7.2.0",
              "Whether all writes are on the disk: they are"),
    ADMIN_ROW("shutdown", -1, ALWAYS | COMMAND_NO_MULTI | COMMAND_ALLOW_BUSY, TOUCHES_SERVER,
              run_shutdown, "1.0.0", "Refused: a signal ends the process"),
    ADMIN_ROW("debug", -2, ALWAYS, TOUCHES_SERVER, run_debug, "1.0.0", "Refused"),
    ADMIN_ROW("monitor", 1, ALWAYS | COMMAND_NO_MULTI, TOUCHES_SERVER, run_monitor, "1.0.0",
              "Tells every command that is run, from now on"),
    {0},
};

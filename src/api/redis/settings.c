/* CONFIG: what clients ask of a server's settings, as far as it means something here. They are set
 * when the program starts (docs/settings.md) and do not change while it runs. */
#include "api/redis/face_int.h"
#include "api/redis/glob.h"
#include "api/redis/lines.h"
#include "base/limits.h"

#include <stdio.h>

struct setting {
    const char *name;
    const char *text; /* or, NULL: */
    int64_t number;
};

enum { SETTINGS_MAX = 24 };

static size_t list_settings(const struct redis_call *call, struct setting out[SETTINGS_MAX]) {
    const struct redis_settings *settings = &call->face->settings;
    const char *sync = settings->sync;
    const struct setting all[] = {
        {"save", "", 0},
        {"appendonly", sync != NULL ? "yes" : "no", 0},
        {"appendfsync", sync != NULL ? sync : "no", 0},
        {"databases", NULL, 1},
        {"maxmemory", "0", 0},
        {"maxmemory-policy", "noeviction", 0},
        {"maxclients", NULL, LIMIT_CONNECTIONS},
        {"proto-max-bulk-len", NULL, LIMIT_CALL_BULK},
        {"timeout", "0", 0},
        {"tcp-keepalive", "300", 0},
        {"port", NULL, atomic_load(&call->face->port)},
        {"cluster-enabled", "no", 0},
        {"protected-mode", "no", 0},
        {"notify-keyspace-events", "", 0},
        {"slowlog-log-slower-than", "-1", 0},
        {"slowlog-max-len", "0", 0},
        {"zset-max-listpack-entries", "128", 0},
        {"zset-max-listpack-value", "64", 0},
        {"zset-max-ziplist-entries", "128", 0},
        {"zset-max-ziplist-value", "64", 0},
    };
    size_t count = sizeof(all) / sizeof(all[0]);
    memcpy(out, all, sizeof(all));
    return count;
}

static struct bytes text_of(const struct setting *setting, struct arena *arena) {
    return setting->text != NULL ? bytes_str(setting->text)
                                 : arena_printf(arena, "%lld", (long long)setting->number);
}

static bool asked_for(const struct redis_call *call, const struct setting *setting) {
    for (size_t i = 2; i < call->count; i++)
        if (glob_matches(call->args[i], bytes_str(setting->name), true))
            return true;
    return false;
}

static enum status run_get(struct redis_call *call) {
    struct setting all[SETTINGS_MAX];
    size_t count = list_settings(call, all), found = 0;
    for (size_t i = 0; i < count; i++)
        if (asked_for(call, &all[i]))
            all[found++] = all[i];
    resp_map(&call->out, found);
    for (size_t i = 0; i < found; i++) {
        resp_bulk(&call->out, bytes_str(all[i].name));
        resp_bulk(&call->out, text_of(&all[i], call->arena));
    }
    return OK;
}

static enum status check_set(struct redis_call *call, size_t at, const struct setting *all,
                             size_t count) {
    struct bytes name = call->args[at];
    size_t i = 0;
    while (i < count && !call_arg_is(call, at, all[i].name))
        i++;
    if (i == count)
        return call_error(call, "ERR Unknown option or number of arguments for CONFIG SET - '%.*s'",
                          BYTES_ARG(name));
    if (bytes_equal(text_of(&all[i], call->arena), call->args[at + 1]))
        return OK;
    return call_error(call,
                      "ERR CONFIG SET failed (possibly related to argument '%.*s') - can't set "
                      "immutable config",
                      BYTES_ARG(name));
}

/* To what it is already is fine. */
static enum status run_set(struct redis_call *call) {
    struct setting all[SETTINGS_MAX];
    size_t count = list_settings(call, all);
    enum status status = OK;
    if (call->count % 2 != 0)
        return call_error(call, "ERR wrong number of arguments for 'config|set' command");
    for (size_t i = 2; i < call->count && status == OK; i += 2)
        status = check_set(call, i, all, count);
    if (status == OK)
        resp_ok(&call->out);
    return status;
}

static enum status run_resetstat(struct redis_call *call) {
    redis_reset_counts(call->face);
    resp_ok(&call->out);
    return OK;
}

static enum status run_rewrite(struct redis_call *call) {
    return call_error(call, "ERR The server is running without a config file");
}

static enum status run_help(struct redis_call *call) {
    static const char *const lines[] = {
        "CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "GET <pattern> [<pattern> ...]",
        "    Settings by name.",
        "SET <name> <value> [<name> <value> ...]",
        "    Settings are made when the program starts: only what they are already.",
        "RESETSTAT",
        "    Counts of INFO begin again.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_lines(call, lines);
}

enum { FLAGS = COMMAND_ADMIN | COMMAND_NOSCRIPT | COMMAND_LOADING | COMMAND_STALE };

static const struct redis_command subs[] = {
    {"get", -3, FLAGS, {0}, run_get, NULL, GROUP_SERVER, "2.0.0", "Settings by name", NULL},
    {"help",
     2,
     COMMAND_LOADING | COMMAND_STALE,
     {0},
     run_help,
     NULL,
     GROUP_SERVER,
     "5.0.0",
     "What there is",
     NULL},
    {"resetstat",
     2,
     FLAGS,
     {0},
     run_resetstat,
     NULL,
     GROUP_SERVER,
     "2.0.0",
     "Counts of INFO begin again",
     NULL},
    {"rewrite",
     2,
     FLAGS,
     {0},
     run_rewrite,
     NULL,
     GROUP_SERVER,
     "2.8.0",
     "Fails: settings are flags of the program",
     NULL},
    {"set",
     -4,
     FLAGS,
     {0},
     run_set,
     NULL,
     GROUP_SERVER,
     "2.0.0",
     "Accepts what the settings are already",
     NULL},
    {0},
};

const struct redis_command redis_setting_commands[] = {
    {"config", -2, 0, {0}, NULL, NULL, GROUP_SERVER, "2.0.0", "Settings", subs},
    {0},
};

/* CONFIG: the settings of Redis that clients ask for, as far as they mean something here. Most are
 * set when the program starts (docs/settings.md) and do not change while it runs. */
#include "api/redis/glob.h"
#include "api/redis/notifications.h"
#include "base/limits.h"
#include "game/keyspace/key_name.h"

#include <stdio.h>

struct setting {
    const char *name;
    const char *text; /* NULL: the value is `number` */
    int64_t number;
};

enum { SETTINGS_MAX = 32 };
#define NOTIFY_SETTING "notify-keyspace-events"

static const char *notify_text(const struct redis_call *call) {
    char *text = arena_alloc(call->arena, sizeof(NOTIFY_LETTERS));
    return notify_write(atomic_load(&call->frontend->notify), text);
}

static size_t list_settings(const struct redis_call *call, struct setting out[SETTINGS_MAX]) {
    const struct redis_settings *settings = &call->frontend->settings;
    const char *sync = settings->sync;
    const struct setting all[] = {
        {"save", "", 0},
        {"appendonly", sync != NULL ? "yes" : "no", 0},
        {"appendfsync", sync != NULL ? sync : "no", 0},
        {"databases", NULL, KEY_DATABASES},
        {"maxmemory", "0", 0},
        {"maxmemory-policy", "noeviction", 0},
        {"maxclients", NULL, LIMIT_CONNECTIONS},
        {"proto-max-bulk-len", NULL, LIMIT_CALL_BULK},
        {"timeout", "0", 0},
        {"tcp-keepalive", "300", 0},
        {"port", NULL, atomic_load(&call->frontend->port)},
        {"cluster-enabled", "no", 0},
        {"protected-mode", "no", 0},
        {NOTIFY_SETTING, notify_text(call), 0},
        {"slowlog-log-slower-than", NULL, atomic_load(&call->frontend->slowlog.slower_than_us)},
        {"slowlog-max-len", NULL, atomic_load(&call->frontend->slowlog.length_max)},
        {"busy-reply-threshold", NULL, LIMIT_SCRIPT_MS},
        {"lua-time-limit", NULL, LIMIT_SCRIPT_MS},
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

static enum status run_config_get(struct redis_call *call) {
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

/* Those that can be changed while the program runs. */
static const struct changeable {
    const char *name;
    int64_t low, high;
} changeable[] = {
    {"slowlog-log-slower-than", -1, INT32_MAX},
    {"slowlog-max-len", 0, LIMIT_SLOWLOG_MAX},
};
enum { CHANGEABLE = sizeof(changeable) / sizeof(changeable[0]) };

static enum status check_number(struct redis_call *call, size_t at,
                                const struct changeable *setting) {
    int64_t number;
    if (redis_read_int(call->args[at + 1], &number) && number >= setting->low &&
        number <= setting->high)
        return OK;
    return call_error(call,
                      "ERR CONFIG SET failed (possibly related to argument '%s') - argument must "
                      "be between %lld and %lld inclusive",
                      setting->name, (long long)setting->low, (long long)setting->high);
}

static enum status check_notify(struct redis_call *call, size_t at) {
    unsigned classes;
    if (notify_read(call->args[at + 1], &classes))
        return OK;
    return call_error(call,
                      "ERR CONFIG SET failed (possibly related to argument '%s') - Invalid "
                      "event class character. Use '%s'.",
                      NOTIFY_SETTING, NOTIFY_LETTERS);
}

/* After all were checked. */
static void apply_set(struct redis_call *call, size_t at) {
    struct slowlog *slowlog = &call->frontend->slowlog;
    unsigned classes;
    int64_t number;
    if (call_arg_is(call, at, NOTIFY_SETTING) && notify_read(call->args[at + 1], &classes)) {
        atomic_store(&call->frontend->notify, classes);
        expired_events_wake(&call->frontend->expired);
    }
    if (!redis_read_int(call->args[at + 1], &number))
        return;
    if (call_arg_is(call, at, "slowlog-log-slower-than"))
        atomic_store(&slowlog->slower_than_us, number);
    else if (call_arg_is(call, at, "slowlog-max-len")) {
        atomic_store(&slowlog->length_max, number);
        slowlog_trim(slowlog);
    }
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
    if (call_arg_is(call, at, NOTIFY_SETTING))
        return check_notify(call, at);
    for (size_t j = 0; j < CHANGEABLE; j++)
        if (call_arg_is(call, at, changeable[j].name))
            return check_number(call, at, &changeable[j]);
    return call_error(call,
                      "ERR CONFIG SET failed (possibly related to argument '%.*s') - can't set "
                      "immutable config",
                      BYTES_ARG(name));
}

/* Refuses any other value than the present one of what cannot be changed; all or nothing. */
static enum status run_config_set(struct redis_call *call) {
    struct setting all[SETTINGS_MAX];
    size_t count = list_settings(call, all);
    enum status status = OK;
    if (call->count % 2 != 0)
        return call_error(call, "ERR wrong number of arguments for 'config|set' command");
    for (size_t i = 2; i < call->count && status == OK; i += 2)
        status = check_set(call, i, all, count);
    for (size_t i = 2; i < call->count && status == OK; i += 2)
        apply_set(call, i);
    if (status == OK)
        resp_ok(&call->out);
    return status;
}

static enum status run_config_resetstat(struct redis_call *call) {
    redis_reset_stats(call->frontend);
    resp_ok(&call->out);
    return OK;
}

static enum status run_config_rewrite(struct redis_call *call) {
    return call_error(call, "ERR The server is running without a config file");
}

static enum status run_config_help(struct redis_call *call) {
    static const char *const lines[] = {
        "CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "GET <pattern> [<pattern> ...]",
        "    Settings by name.",
        "SET <name> <value> [<name> <value> ...]",
        "    slowlog-log-slower-than, slowlog-max-len and notify-keyspace-events; others are",
        "    made when the program starts.",
        "RESETSTAT",
        "    Counts of INFO begin again.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_help(call, lines);
}

enum { FLAGS = COMMAND_ADMIN | COMMAND_NOSCRIPT | COMMAND_LOADING | COMMAND_STALE };

static const struct redis_command subs[] = {
    {"get",
     -3,
     FLAGS,
     TOUCHES_SERVER,
     {0},
     run_config_get,
     NULL,
     GROUP_SERVER,
     "2.0.0",
     "Settings by name",
     NULL},
    {"help",
     2,
     COMMAND_LOADING | COMMAND_STALE,
     TOUCHES_CONNECTION,
     {0},
     run_config_help,
     NULL,
     GROUP_SERVER,
     "5.0.0",
     "What there is",
     NULL},
    {"resetstat",
     2,
     FLAGS,
     TOUCHES_SERVER,
     {0},
     run_config_resetstat,
     NULL,
     GROUP_SERVER,
     "2.0.0",
     "Counts of INFO begin again",
     NULL},
    {"rewrite",
     2,
     FLAGS,
     TOUCHES_SERVER,
     {0},
     run_config_rewrite,
     NULL,
     GROUP_SERVER,
     "2.8.0",
     "Fails: settings are flags of the program",
     NULL},
    {"set",
     -4,
     FLAGS,
     TOUCHES_SERVER,
     {0},
     run_config_set,
     NULL,
     GROUP_SERVER,
     "2.0.0",
     "Accepts what the settings are already",
     NULL},
    {0},
};

const struct redis_command redis_setting_commands[] = {
    {"config", -2, 0, TOUCHES_CONNECTION, {0}, NULL, NULL, GROUP_SERVER, "2.0.0", "Settings", subs},
    {0},
};

/* The log of slow calls; SLOWLOG and LATENCY. */
#include "api/redis/slowlog.h"

#include "api/redis/redis_frontend_int.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <stdio.h>

enum { ARGS_MAX = 32, ARG_MAX = 128, SLOWER_THAN_US = 10000 };

struct slowlog_entry {
    struct slowlog_entry *next;
    int64_t id, at_s;
    uint64_t usec;
    char address[STREAM_ADDRESS_SIZE], name[64];
    size_t count;
    struct bytes args[ARGS_MAX]; /* in `text` */
    uint8_t text[];
};

void slowlog_init(struct slowlog *slowlog) {
    *slowlog = (struct slowlog){.first = NULL};
    atomic_init(&slowlog->slower_than_us, SLOWER_THAN_US);
    atomic_init(&slowlog->length_max, LIMIT_SLOWLOG);
    pthread_mutex_init(&slowlog->mutex, NULL);
}

/* Under the mutex. */
static void keep_entries(struct slowlog *slowlog, int64_t most) {
    struct slowlog_entry **at = &slowlog->first;
    for (int64_t i = 0; i < most && *at != NULL; i++)
        at = &(*at)->next;
    while (*at != NULL) {
        struct slowlog_entry *entry = *at;
        *at = entry->next;
        mem_free(entry);
        slowlog->count--;
    }
}

void slowlog_trim(struct slowlog *slowlog) {
    pthread_mutex_lock(&slowlog->mutex);
    keep_entries(slowlog, atomic_load(&slowlog->length_max));
    pthread_mutex_unlock(&slowlog->mutex);
}

void slowlog_release(struct slowlog *slowlog) {
    keep_entries(slowlog, 0);
    pthread_mutex_destroy(&slowlog->mutex);
}

/* Long lists and texts are cut, and the cut is told, as Redis does. */
static struct slowlog_entry *make_entry(const struct redis_call *call, uint64_t usec) {
    size_t count = call->count < ARGS_MAX ? call->count : ARGS_MAX, size = 0;
    struct slowlog_entry *entry = mem_zalloc(sizeof(*entry) + ARGS_MAX * (ARG_MAX + 64));
    for (size_t i = 0; i < count; i++) {
        char *to = (char *)entry->text + size;
        struct bytes arg = call->args[i];
        int put;
        if (i == ARGS_MAX - 1 && call->count > ARGS_MAX)
            put = snprintf(to, 64, "... (%zu more arguments)", call->count - ARGS_MAX + 1);
        else {
            size_t part = arg.size < ARG_MAX ? arg.size : ARG_MAX;
            memcpy(to, arg.data, part);
            put = (int)part;
            if (part < arg.size)
                put += snprintf(to + part, 64, "... (%zu more bytes)", arg.size - part);
        }
        entry->args[i] = bytes_of(to, (size_t)put);
        size += (size_t)put;
    }
    entry->count = count;
    entry->usec = usec;
    entry->at_s = clock_now_ms() / 1000;
    memcpy(entry->address, call->client->address, sizeof(entry->address));
    size_t name = call->client->name.size;
    name = name < sizeof(entry->name) - 1 ? name : sizeof(entry->name) - 1;
    if (name != 0)
        memcpy(entry->name, call->client->name.data, name);
    return entry;
}

void slowlog_note(struct redis_call *call, uint64_t usec) {
    struct slowlog *slowlog = &call->frontend->slowlog;
    long long bound = atomic_load_explicit(&slowlog->slower_than_us, memory_order_relaxed);
    unsigned hidden = COMMAND_SKIP_SLOWLOG | COMMAND_NO_AUTH;
    if (bound < 0 || usec < (uint64_t)bound || call->command == NULL || call->count == 0 ||
        (call->command->flags & hidden) != 0 || atomic_load(&slowlog->length_max) == 0)
        return;
    struct slowlog_entry *entry = make_entry(call, usec);
    pthread_mutex_lock(&slowlog->mutex);
    entry->id = slowlog->last_id++;
    entry->next = slowlog->first;
    slowlog->first = entry;
    slowlog->count++;
    keep_entries(slowlog, atomic_load(&slowlog->length_max));
    pthread_mutex_unlock(&slowlog->mutex);
}

/* ---- SLOWLOG ---- */

static void put_entry(struct resp *out, const struct slowlog_entry *entry) {
    resp_array(out, 6);
    resp_int(out, entry->id);
    resp_int(out, entry->at_s);
    resp_int(out, (int64_t)entry->usec);
    resp_array(out, entry->count);
    for (size_t i = 0; i < entry->count; i++)
        resp_bulk(out, entry->args[i]);
    resp_bulk(out, bytes_str(entry->address));
    resp_bulk(out, bytes_str(entry->name));
}

static enum status run_slowlog_get(struct redis_call *call) {
    struct slowlog *slowlog = &call->frontend->slowlog;
    struct int_bounds bounds = {-1, INT32_MAX, "ERR count should be greater than or equal to -1"};
    int64_t most = 10;
    if (call->count > 3)
        return call_error(call, "ERR wrong number of arguments for 'slowlog|get' command");
    if (call->count == 3 && call_int_between(call, 2, bounds, &most) != OK)
        return INVALID;
    pthread_mutex_lock(&slowlog->mutex);
    int64_t count = most < 0 || most > slowlog->count ? slowlog->count : most;
    resp_array(&call->out, (size_t)count);
    for (const struct slowlog_entry *entry = slowlog->first; count > 0;
         entry = entry->next, count--)
        put_entry(&call->out, entry);
    pthread_mutex_unlock(&slowlog->mutex);
    return OK;
}

static enum status run_slowlog_len(struct redis_call *call) {
    struct slowlog *slowlog = &call->frontend->slowlog;
    pthread_mutex_lock(&slowlog->mutex);
    resp_int(&call->out, slowlog->count);
    pthread_mutex_unlock(&slowlog->mutex);
    return OK;
}

static enum status run_slowlog_reset(struct redis_call *call) {
    struct slowlog *slowlog = &call->frontend->slowlog;
    pthread_mutex_lock(&slowlog->mutex);
    keep_entries(slowlog, 0);
    pthread_mutex_unlock(&slowlog->mutex);
    resp_ok(&call->out);
    return OK;
}

static enum status run_slowlog_help(struct redis_call *call) {
    static const char *const lines[] = {
        "SLOWLOG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "GET [<count>]",
        "    The last commands that took long: number, time, microseconds, arguments, client.",
        "LEN",
        "    How many are kept.",
        "RESET",
        "    Forgets them.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_help(call, lines);
}

/* ---- LATENCY: no events are recorded, which Redis calls a threshold of 0 ---- */

static enum status run_latency_none(struct redis_call *call) {
    resp_array(&call->out, 0);
    return OK;
}

static enum status run_latency_reset(struct redis_call *call) {
    resp_int(&call->out, 0);
    return OK;
}

static enum status run_latency_doctor(struct redis_call *call) {
    resp_verbatim(
        &call->out,
        BYTES("Latency events are not recorded here. SLOWLOG GET lists commands that took "
              "long, INFO commandstats and /metrics tell what commands take.\n"));
    return OK;
}

static enum status run_latency_graph(struct redis_call *call) {
    return call_error(call, "ERR No samples available for event '%.*s'", BYTES_ARG(call->args[2]));
}

static enum status run_latency_histogram(struct redis_call *call) {
    resp_map(&call->out, 0);
    return OK;
}

static enum status run_latency_help(struct redis_call *call) {
    static const char *const lines[] = {
        "LATENCY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "DOCTOR, GRAPH, HISTOGRAM, HISTORY, LATEST, RESET",
        "    No events are recorded: there are none to tell.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_help(call, lines);
}

enum {
    HELPS = COMMAND_LOADING | COMMAND_STALE,
    SLOW = HELPS | COMMAND_ADMIN,
    LATE = SLOW | COMMAND_NOSCRIPT,
};

#define LOG_ROW(word, words, flags_, touches_, function, version, text)                      \
    {                                                                                        \
        .name = word, .arity = words, .flags = flags_, .touches = touches_, .run = function, \
        .group = GROUP_SERVER, .since = version, .summary = text                             \
    }

static const struct redis_command slowlog_subs[] = {
    LOG_ROW("get", -2, SLOW, TOUCHES_SERVER, run_slowlog_get, "2.2.12",
            "The last commands that took long"),
    LOG_ROW("help", 2, HELPS, TOUCHES_CONNECTION, run_slowlog_help, "6.2.0", "What there is"),
    LOG_ROW("len", 2, SLOW, TOUCHES_SERVER, run_slowlog_len, "2.2.12", "How many are kept"),
    LOG_ROW("reset", 2, SLOW, TOUCHES_SERVER, run_slowlog_reset, "2.2.12", "Forgets them"),
    {0},
};

static const struct redis_command latency_subs[] = {
    LOG_ROW("doctor", 2, LATE, TOUCHES_SERVER, run_latency_doctor, "2.8.13",
            "Says that no events are recorded"),
    LOG_ROW("graph", 3, LATE, TOUCHES_SERVER, run_latency_graph, "2.8.13", "There are no events"),
    LOG_ROW("help", 2, HELPS, TOUCHES_CONNECTION, run_latency_help, "2.8.13", "What there is"),
    LOG_ROW("histogram", -2, LATE, TOUCHES_SERVER, run_latency_histogram, "7.0.0",
            "There are no events"),
    LOG_ROW("history", 3, LATE, TOUCHES_SERVER, run_latency_none, "2.8.13", "There are no events"),
    LOG_ROW("latest", 2, LATE, TOUCHES_SERVER, run_latency_none, "2.8.13", "There are no events"),
    LOG_ROW("reset", -2, LATE, TOUCHES_SERVER, run_latency_reset, "2.8.13", "There are no events"),
    {0},
};

const struct redis_command redis_slowlog_commands[] = {
    {.name = "slowlog",
     .arity = -2,
     .touches = TOUCHES_CONNECTION,
     .group = GROUP_SERVER,
     .since = "2.2.12",
     .summary = "Commands that took long",
     .subs = slowlog_subs},
    {.name = "latency",
     .arity = -2,
     .touches = TOUCHES_CONNECTION,
     .group = GROUP_SERVER,
     .since = "2.8.13",
     .summary = "No events are recorded",
     .subs = latency_subs},
    {0},
};

/* SUBSCRIBE and its like, PUBLISH, PUBSUB. */
#include "api/redis/glob.h"
#include "api/redis/redis_frontend_int.h"

/* ---- subscribing ---- */

/* Channels and patterns are counted together, sharded channels by themselves. */
static int64_t told_count(const struct redis_client *client, enum pubsub_kind kind) {
    const atomic_size_t *counts = client->topics.counts;
    if (kind == PUBSUB_SHARD)
        return (int64_t)atomic_load(&counts[PUBSUB_SHARD]);
    return (int64_t)(atomic_load(&counts[PUBSUB_CHANNEL]) + atomic_load(&counts[PUBSUB_PATTERN]));
}

/* One reply a channel. */
static void confirm(struct redis_call *call, enum pubsub_kind kind, bool on, struct bytes name) {
    static const struct bytes words[PUBSUB_KINDS][2] = {
        {BYTES("unsubscribe"), BYTES("subscribe")},
        {BYTES("punsubscribe"), BYTES("psubscribe")},
        {BYTES("sunsubscribe"), BYTES("ssubscribe")},
    };
    resp_push(&call->out, 3);
    resp_bulk(&call->out, words[kind][on]);
    if (name.data != NULL)
        resp_bulk(&call->out, name);
    else
        resp_null(&call->out);
    resp_int(&call->out, told_count(call->client, kind));
}

/* What CLIENT REPLY suppresses are replies, not pushes. */
static void unmute(struct redis_call *call) {
    if (call->muted)
        call->out.to = &call->client->stream->out;
}

static enum status subscribe(struct redis_call *call, enum pubsub_kind kind) {
    unmute(call);
    for (size_t i = 1; i < call->count; i++) {
        enum status status;
        pubsub_subscribe(call->client, kind, call->args[i], &status);
        if (status != OK)
            return call_error(call, "ERR too many subscriptions");
        confirm(call, kind, true, call->args[i]);
    }
    return OK;
}

static enum status unsubscribe(struct redis_call *call, enum pubsub_kind kind) {
    struct bytes name;
    unmute(call);
    for (size_t i = 1; i < call->count; i++) {
        pubsub_unsubscribe(call->client, kind, call->args[i]);
        confirm(call, kind, false, call->args[i]);
    }
    if (call->count > 1)
        return OK;
    bool any = false;
    while (pubsub_unsubscribe_any(call->client, kind, call->arena, &name)) {
        confirm(call, kind, false, name);
        any = true;
    }
    if (!any)
        confirm(call, kind, false, (struct bytes){0});
    return OK;
}

static enum status run_subscribe(struct redis_call *call) {
    return subscribe(call, PUBSUB_CHANNEL);
}

static enum status run_psubscribe(struct redis_call *call) {
    return subscribe(call, PUBSUB_PATTERN);
}

static enum status run_ssubscribe(struct redis_call *call) {
    return subscribe(call, PUBSUB_SHARD);
}

static enum status run_unsubscribe(struct redis_call *call) {
    return unsubscribe(call, PUBSUB_CHANNEL);
}

static enum status run_punsubscribe(struct redis_call *call) {
    return unsubscribe(call, PUBSUB_PATTERN);
}

static enum status run_sunsubscribe(struct redis_call *call) {
    return unsubscribe(call, PUBSUB_SHARD);
}

/* ---- publishing ---- */

/* As part of a transaction or a script it is sent when that is committed. */
static enum status publish(struct redis_call *call, bool shard) {
    struct pubsub_message message = {call->args[1], call->args[2], shard};
    uint64_t receivers;
    enum status status = OK;
    if (call->nested) {
        receivers = pubsub_receivers(call->frontend, &message);
        if (receivers != 0)
            published_add(call->published, &message);
    } else
        status = pubsub_publish(call->frontend, &message, &receivers);
    if (status != OK)
        return call_error(call, "TRYAGAIN too many messages are under way");
    resp_int(&call->out, (int64_t)receivers);
    return OK;
}

static enum status run_publish(struct redis_call *call) {
    return publish(call, false);
}

static enum status run_spublish(struct redis_call *call) {
    return publish(call, true);
}

/* ---- PUBSUB ---- */

static enum status list_channels(struct redis_call *call, enum pubsub_kind kind) {
    struct pubsub *pubsub = &call->frontend->pubsub;
    struct bytes pattern = call->count > 2 ? call->args[2] : BYTES("*");
    const struct map_slot *slot;
    struct buf names = {0};
    struct resp to = {&names, call->out.version};
    size_t at = 0, count = 0;
    pthread_mutex_lock(&pubsub->mutex);
    while ((slot = map_next(&pubsub->topics[kind], &at)) != NULL)
        if (glob_matches(pattern, slot->key, false)) {
            resp_bulk(&to, slot->key);
            count++;
        }
    pthread_mutex_unlock(&pubsub->mutex);
    resp_array(&call->out, count);
    buf_put(call->out.to, buf_bytes(&names));
    buf_release(&names);
    return OK;
}

static enum status count_subscribers(struct redis_call *call, enum pubsub_kind kind) {
    resp_array(&call->out, 2 * (call->count - 2));
    for (size_t i = 2; i < call->count; i++) {
        resp_bulk(&call->out, call->args[i]);
        resp_int(&call->out,
                 (int64_t)pubsub_subscribers(&call->frontend->pubsub, kind, call->args[i]));
    }
    return OK;
}

static enum status run_pubsub_channels(struct redis_call *call) {
    return list_channels(call, PUBSUB_CHANNEL);
}

static enum status run_pubsub_shardchannels(struct redis_call *call) {
    return list_channels(call, PUBSUB_SHARD);
}

static enum status run_pubsub_numsub(struct redis_call *call) {
    return count_subscribers(call, PUBSUB_CHANNEL);
}

static enum status run_pubsub_shardnumsub(struct redis_call *call) {
    return count_subscribers(call, PUBSUB_SHARD);
}

/* The number of patterns, however many have subscribed to each. */
static enum status run_pubsub_numpat(struct redis_call *call) {
    size_t count = pubsub_topics(&call->frontend->pubsub, PUBSUB_PATTERN);
    resp_int(&call->out, (int64_t)count);
    return OK;
}

static enum status run_pubsub_help(struct redis_call *call) {
    static const char *const lines[] = {
        "PUBSUB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "CHANNELS [<pattern>]",
        "    Channels that somebody has subscribed to.",
        "NUMPAT",
        "    How many patterns somebody has subscribed to.",
        "NUMSUB [<channel> ...]",
        "    How many have subscribed to each.",
        "SHARDCHANNELS [<pattern>]",
        "    Sharded channels that somebody has subscribed to.",
        "SHARDNUMSUB [<shardchannel> ...]",
        "    How many have subscribed to each.",
        "HELP",
        "    These lines.",
        NULL};
    return reply_help(call, lines);
}

enum {
    TELLS = COMMAND_PUBSUB | COMMAND_LOADING | COMMAND_STALE,
    SUBSCRIBES = TELLS | COMMAND_NOSCRIPT | COMMAND_SUBSCRIBER | COMMAND_NO_MULTI,
    PUBLISHES = TELLS | COMMAND_FAST | COMMAND_SENDS,
};

#define PUBSUB_ROW(word, words, flags_, touches_, function, version, text)                   \
    {                                                                                        \
        .name = word, .arity = words, .flags = flags_, .touches = touches_, .run = function, \
        .group = GROUP_PUBSUB, .since = version, .summary = text                             \
    }

static const struct redis_command subs[] = {
    PUBSUB_ROW("channels", -2, TELLS, TOUCHES_TABLE, run_pubsub_channels, "2.8.0",
               "Channels that somebody has subscribed to"),
    PUBSUB_ROW("help", 2, COMMAND_LOADING | COMMAND_STALE, TOUCHES_CONNECTION, run_pubsub_help,
               "6.2.0", "What there is"),
    PUBSUB_ROW("numpat", 2, TELLS, TOUCHES_TABLE, run_pubsub_numpat, "2.8.0",
               "How many patterns somebody has subscribed to"),
    PUBSUB_ROW("numsub", -2, TELLS, TOUCHES_TABLE, run_pubsub_numsub, "2.8.0",
               "How many have subscribed to channels"),
    PUBSUB_ROW("shardchannels", -2, TELLS, TOUCHES_TABLE, run_pubsub_shardchannels, "7.0.0",
               "Sharded channels that somebody has subscribed to"),
    PUBSUB_ROW("shardnumsub", -2, TELLS, TOUCHES_TABLE, run_pubsub_shardnumsub, "7.0.0",
               "How many have subscribed to sharded channels"),
    {0},
};

const struct redis_command redis_pubsub_commands[] = {
    PUBSUB_ROW("subscribe", -2, SUBSCRIBES, TOUCHES_TABLE, run_subscribe, "2.0.0",
               "Messages of channels from now on"),
    PUBSUB_ROW("unsubscribe", -1, SUBSCRIBES, TOUCHES_CONNECTION, run_unsubscribe, "2.0.0",
               "No more messages of channels"),
    PUBSUB_ROW("psubscribe", -2, SUBSCRIBES, TOUCHES_TABLE, run_psubscribe, "2.0.0",
               "Messages of all channels that match patterns"),
    PUBSUB_ROW("punsubscribe", -1, SUBSCRIBES, TOUCHES_CONNECTION, run_punsubscribe, "2.0.0",
               "No more messages of channels that match patterns"),
    PUBSUB_ROW("ssubscribe", -2, SUBSCRIBES, TOUCHES_TABLE, run_ssubscribe, "7.0.0",
               "Messages of sharded channels from now on"),
    PUBSUB_ROW("sunsubscribe", -1, SUBSCRIBES, TOUCHES_CONNECTION, run_sunsubscribe, "7.0.0",
               "No more messages of sharded channels"),
    PUBSUB_ROW("publish", 3, PUBLISHES, TOUCHES_TABLE, run_publish, "2.0.0",
               "Sends a message to who has subscribed to the channel"),
    PUBSUB_ROW("spublish", 3, PUBLISHES, TOUCHES_TABLE, run_spublish, "7.0.0",
               "Sends a message to who has subscribed to the sharded channel"),
    {.name = "pubsub",
     .arity = -2,
     .touches = TOUCHES_CONNECTION,
     .group = GROUP_PUBSUB,
     .since = "2.8.0",
     .summary = "About channels",
     .subs = subs},
    {0},
};

#include "api/redis/command_details.h"

/* ---- use of keys, and tips ---- */

#define SUM_OF_SHARDS "request_policy:multi_shard response_policy:agg_sum"
#define ALL_SHARDS    "request_policy:all_shards"

static const struct command_details command_details_table[] = {
    {"zadd", "RW update", NULL, ""},
    {"zincrby", "RW access update", NULL, ""},
    {"zrem", "RW delete", NULL, ""},
    {"zremrangebyrank", "RW delete", NULL, ""},
    {"zremrangebyscore", "RW delete", NULL, ""},
    {"zremrangebylex", "RW delete", NULL, ""},
    {"zpopmin", "RW access delete", NULL, ""},
    {"zpopmax", "RW access delete", NULL, ""},
    {"zmpop", "RW access delete", NULL, ""},
    {"bzpopmin", "RW access delete", NULL, ""},
    {"bzpopmax", "RW access delete", NULL, ""},
    {"bzmpop", "RW access delete", NULL, ""},
    {"zrangestore", "OW update", "RO access", ""},
    {"zunionstore", "OW update", "RO access", ""},
    {"zinterstore", "OW update", "RO access", ""},
    {"zdiffstore", "OW update", "RO access", ""},
    {"zcard", "RO", NULL, ""},
    {"zexpire", "RW update", NULL, ""},
    {"zexpireat", "RW update", NULL, ""},
    {"zpersist", "RW update", NULL, ""},
    {"zrandmember", "RO access", NULL, "nondeterministic_output"},
    {"zscan", "RO access", NULL, "nondeterministic_output"},
    {"hset", "RW update", NULL, ""},
    {"hmset", "RW update", NULL, ""},
    {"hsetnx", "RW insert", NULL, ""},
    {"hdel", "RW delete", NULL, ""},
    {"hincrby", "RW access update", NULL, ""},
    {"hincrbyfloat", "RW access update", NULL, ""},
    {"hexpire", "RW update", NULL, ""},
    {"hpexpire", "RW update", NULL, ""},
    {"hexpireat", "RW update", NULL, ""},
    {"hpexpireat", "RW update", NULL, ""},
    {"hpersist", "RW update", NULL, ""},
    {"hlen", "RO", NULL, ""},
    {"hstrlen", "RO", NULL, ""},
    {"hexists", "RO", NULL, ""},
    {"hgetall", "RO access", NULL, "nondeterministic_output_order"},
    {"hkeys", "RO access", NULL, "nondeterministic_output_order"},
    {"hvals", "RO access", NULL, "nondeterministic_output_order"},
    {"hrandfield", "RO access", NULL, "nondeterministic_output"},
    {"hscan", "RO access", NULL, "nondeterministic_output"},
    {"sadd", "RW insert", NULL, ""},
    {"srem", "RW delete", NULL, ""},
    {"smove", "RW access delete", "RW insert", ""},
    {"spop", "RW access delete", NULL, "nondeterministic_output"},
    {"sismember", "RO", NULL, ""},
    {"scard", "RO", NULL, ""},
    {"smembers", "RO access", NULL, "nondeterministic_output_order"},
    {"srandmember", "RO access", NULL, "nondeterministic_output"},
    {"sscan", "RO access", NULL, "nondeterministic_output"},
    {"sinter", "RO access", NULL, "nondeterministic_output_order"},
    {"sunion", "RO access", NULL, "nondeterministic_output_order"},
    {"sdiff", "RO access", NULL, "nondeterministic_output_order"},
    {"sinterstore", "RW update", "RO access", ""},
    {"sunionstore", "OW update", "RO access", ""},
    {"sdiffstore", "OW update", "RO access", ""},
    {"scan", NULL, NULL, "nondeterministic_output request_policy:special"},
    {"del", "RM delete", NULL, SUM_OF_SHARDS},
    {"unlink", "RM delete", NULL, SUM_OF_SHARDS},
    {"exists", "RO", NULL, SUM_OF_SHARDS},
    {"touch", "RO", NULL, SUM_OF_SHARDS},
    {"type", "RO", NULL, ""},
    {"rename", "RW access delete", "OW update", ""},
    {"renamenx", "RW access delete", "OW insert", ""},
    {"copy", "RO access", "OW update", ""},
    {"object|encoding", "RO", NULL, "nondeterministic_output"},
    {"object|freq", "RO", NULL, "nondeterministic_output"},
    {"object|idletime", "RO", NULL, "nondeterministic_output"},
    {"object|refcount", "RO", NULL, "nondeterministic_output"},
    {"memory|usage", "RO", NULL, ""},
    {"keys", NULL, NULL, ALL_SHARDS " nondeterministic_output_order"},
    {"dbsize", NULL, NULL, ALL_SHARDS " response_policy:agg_sum"},
    {"randomkey", NULL, NULL, ALL_SHARDS " nondeterministic_output"},
    {"flushdb", NULL, NULL, ALL_SHARDS " response_policy:all_succeeded"},
    {"flushall", NULL, NULL, ALL_SHARDS " response_policy:all_succeeded"},
    {"expire", "RW update", NULL, ""},
    {"pexpire", "RW update", NULL, ""},
    {"expireat", "RW update", NULL, ""},
    {"pexpireat", "RW update", NULL, ""},
    {"persist", "RW update", NULL, ""},
    {"ttl", "RO access", NULL, "nondeterministic_output"},
    {"pttl", "RO access", NULL, "nondeterministic_output"},
    {"watch", "RO", NULL, ""},
    {"ping", NULL, NULL, ALL_SHARDS " response_policy:all_succeeded"},
    {"eval", "RW access update", NULL, ""},
    {"evalsha", "RW access update", NULL, ""},
    {"script|flush", NULL, NULL, "request_policy:all_nodes response_policy:all_succeeded"},
    {"script|kill", NULL, NULL, ALL_SHARDS " response_policy:one_succeeded"},
    {"script|exists", NULL, NULL, ALL_SHARDS " response_policy:agg_logical_and"},
    {"script|load", NULL, NULL, "request_policy:all_nodes response_policy:all_succeeded"},
    {"client|list", NULL, NULL, "nondeterministic_output"},
    {"client|info", NULL, NULL, "nondeterministic_output"},
    {"info", NULL, NULL, "nondeterministic_output " ALL_SHARDS " response_policy:special"},
    {"config|set", NULL, NULL, "request_policy:all_nodes response_policy:all_succeeded"},
    {"time", NULL, NULL, "nondeterministic_output"},
    {"wait", NULL, NULL, ALL_SHARDS " response_policy:agg_min"},
    {"command", NULL, NULL, "nondeterministic_output_order"},
    {"command|info", NULL, NULL, "nondeterministic_output_order"},
    {"command|docs", NULL, NULL, "nondeterministic_output_order"},
    {"command|list", NULL, NULL, "nondeterministic_output_order"},
};

struct command_details command_details_of(struct bytes name) {
    for (size_t i = 0; i < sizeof(command_details_table) / sizeof(command_details_table[0]); i++)
        if (bytes_equal(bytes_str(command_details_table[i].name), name))
            return command_details_table[i];
    return (struct command_details){.first = "RO access", .tips = ""};
}

/* ---- flags and categories ---- */

struct command_words command_flag_words(const struct redis_command *command) {
    static const struct {
        unsigned flag;
        const char *name;
    } all[] = {{COMMAND_WRITE, "write"},
               {COMMAND_READ, "readonly"},
               {COMMAND_DENYOOM, "denyoom"},
               {COMMAND_ADMIN, "admin"},
               {COMMAND_PUBSUB, "pubsub"},
               {COMMAND_NOSCRIPT, "noscript"},
               {COMMAND_BLOCKING, "blocking"},
               {COMMAND_LOADING, "loading"},
               {COMMAND_STALE, "stale"},
               {COMMAND_SKIP_MONITOR, "skip_monitor"},
               {COMMAND_SKIP_SLOWLOG, "skip_slowlog"},
               {COMMAND_FAST, "fast"},
               {COMMAND_NO_AUTH, "no_auth"},
               {COMMAND_NO_MANDATORY_KEYS, "no_mandatory_keys"},
               {COMMAND_ALLOW_BUSY, "allow_busy"},
               {COMMAND_MOVABLE_KEYS, "movablekeys"},
               {COMMAND_NO_MULTI, "no_multi"}};
    struct command_words words = {.count = 0};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if ((command->flags & all[i].flag) != 0)
            words.list[words.count++] = all[i].name;
    return words;
}

struct command_words command_categories(const struct redis_command *command) {
    unsigned flags = command->flags;
    enum command_group group =
        command->subs != NULL && flags == 0 ? (enum command_group) - 1 : command->group;
    const struct {
        bool has;
        const char *name;
    } all[] = {
        {group == GROUP_GENERIC || (flags & COMMAND_CATEGORY_KEYSPACE) != 0, "@keyspace"},
        {(flags & COMMAND_READ) != 0 && group != GROUP_SCRIPTING, "@read"},
        {(flags & COMMAND_WRITE) != 0, "@write"},
        {group == GROUP_SET, "@set"},
        {group == GROUP_SORTED_SET, "@sortedset"},
        {group == GROUP_HASH, "@hash"},
        {group == GROUP_STRING, "@string"},
        {(flags & COMMAND_PUBSUB) != 0, "@pubsub"},
        {(flags & COMMAND_ADMIN) != 0, "@admin"},
        {(flags & COMMAND_FAST) != 0, "@fast"},
        {(flags & COMMAND_FAST) == 0, "@slow"},
        {(flags & COMMAND_BLOCKING) != 0, "@blocking"},
        {(flags & (COMMAND_ADMIN | COMMAND_CATEGORY_DANGEROUS)) != 0, "@dangerous"},
        {group == GROUP_CONNECTION, "@connection"},
        {group == GROUP_TRANSACTIONS, "@transaction"},
        {group == GROUP_SCRIPTING, "@scripting"},
    };
    struct command_words words = {.count = 0};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].has)
            words.list[words.count++] = all[i].name;
    return words;
}

bool command_has_category(const struct redis_command *command, struct bytes category) {
    struct command_words words = command_categories(command);
    for (size_t i = 0; i < words.count; i++)
        if (bytes_equal(bytes_str(words.list[i] + 1), category))
            return true;
    return false;
}

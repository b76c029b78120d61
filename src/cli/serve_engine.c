#include "cli/serve_engine.h"

#include "base/limits.h"
#include "table/local/local.h"
#include "table/remote/remote.h"
#include "table/table_stream.h"

static enum status open_local(const struct settings *settings, struct scope in,
                              struct engine **out) {
    struct local_settings local = {
        .store = {.path = settings->data,
                  .memory = settings->memory,
                  .sync = settings->durability,
                  .interval_ms = (int)settings->sync_interval_ms,
                  .block_cache = (size_t)settings->store_memory},
        .cache_memory = (size_t)settings->cache_memory,
        .index_memory = (size_t)settings->index_memory,
        .stream_shards = (unsigned)settings->stream_shards,
        .recovery_disk = (uint64_t)settings->recovery_disk,
    };
    if (settings->recovery_disk < (int64_t)LIMIT_RECOVERY_DISK_LEAST_GB << 30)
        return failure_set(in.failure, in.arena, INVALID, "--recovery-disk is at least %dG",
                           LIMIT_RECOVERY_DISK_LEAST_GB);
    if (local.stream_shards == 0 || local.stream_shards > STREAM_SHARDS_MAX)
        return failure_set(in.failure, in.arena, INVALID, "--stream-shards is 1 to %d",
                           STREAM_SHARDS_MAX);
    return local_open(&local, in, out);
}

static enum status tell_missing(const char *missing, struct scope in) {
    return failure_set(
        in.failure, in.arena, INVALID,
        "--engine dynamodb needs %s. It keeps the game in a table of Amazon DynamoDB "
        "(--dynamodb-region, or --dynamodb-endpoint URL for another one; keys as "
        "AWS's SDKs find them) and its ranking in Redis; docs/scale-out.md shows all "
        "of it",
        missing);
}

enum status serve_engine_check(const struct settings *settings, struct scope in) {
    if (settings->token_secret[0] == '\0' && settings->rank_redis[0] != '\0')
        return tell_missing("--token-secret FILE: 32 bytes or more, the same on all servers (head "
                            "-c 32 /dev/urandom >FILE)",
                            in);
    return OK;
}

static enum status open_remote(const struct settings *settings, struct scope in,
                               struct engine **out) {
    struct remote_settings remote = {.endpoint = settings->dynamodb_endpoint,
                                     .region = settings->dynamodb_region,
                                     .ca = settings->dynamodb_ca,
                                     .table = settings->game_table,
                                     .redis = {.address = settings->rank_redis,
                                               .user = settings->rank_redis_user,
                                               .password = settings->rank_redis_password,
                                               .tls = settings->rank_redis_tls,
                                               .ca = settings->rank_redis_ca}};
    if (settings->game_table[0] == '\0')
        return tell_missing("--game-table: the table that the game is kept in", in);
    if (settings->rank_redis[0] == '\0')
        return tell_missing("--rank-redis HOST:PORT: the Redis or Valkey that keeps the ranking",
                            in);
    return remote_open(&remote, in, out);
}

enum status serve_engine_open(const struct settings *settings, struct scope in,
                              struct engine **out) {
    return settings->engine == ENGINE_DYNAMODB ? open_remote(settings, in, out)
                                               : open_local(settings, in, out);
}

#include "cli/redis.h"

#include "net/stream.h"

enum status redis_start(const struct settings *settings, struct game *game, struct keys *keys,
                        struct tls *tls, struct loops *loops, struct arena *arena,
                        struct failure *failure, struct redis_server *out) {
    *out = (struct redis_server){0};
    if (game == NULL || settings->redis.host[0] == '\0')
        return OK;
    if (settings->redis_tls && tls == NULL)
        return failure_set(failure, arena, INVALID,
                           "--redis-tls needs --tls-cert and --tls-key: a certificate and its key");
    static const char *const syncs[] = {[STORE_SYNC_COMMIT] = "always",
                                        [STORE_SYNC_INTERVAL] = "everysec",
                                        [STORE_SYNC_NONE] = "no"};
    struct redis_settings redis = {.keys = keys,
                                   .loops = loops_count(loops),
                                   .sync = settings->memory ? NULL : syncs[settings->durability]};
    out->face = redis_face_new(game, &redis);
    struct stream_settings stream = {
        .host = settings->redis.host,
        .port = settings->redis.port,
        .tls = settings->redis_tls ? tls : NULL,
        .handler = redis_handler,
        .context = out->face,
        .full = redis_full(),
        .connections_max = (unsigned)settings->connections_max,
        .request_ms = (int)settings->request_ms,
    };
    enum status status = stream_listen(loops, &stream, arena, failure, &out->listener);
    if (status == OK)
        redis_face_listens(out->face, listener_port(out->listener));
    return status;
}

void redis_stop(struct redis_server *redis, int grace_ms) {
    if (redis->listener != NULL)
        listener_close(redis->listener, grace_ms);
    if (redis->face != NULL)
        redis_face_stop(redis->face);
}

void redis_free(struct redis_server *redis) {
    if (redis->face != NULL)
        redis_face_free(redis->face);
}

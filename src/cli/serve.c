/* gametable serve: opens the engine, listens, and stops in order when asked to. */
#include "api/router.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/access.h"
#include "cli/command.h"
#include "cli/game.h"
#include "cli/redis.h"
#include "cli/settings.h"
#include "game/clocks.h"
#include "game/content.h"
#include "game/match.h"
#include "net/http.h"
#include "table/local/local.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { GRACE_MS = 10 * 1000, THREADS_MAX = 64 /* what live lines are laid out for */ };

struct server {
    struct settings settings;
    struct keys *keys; /* NULL: anybody may come in */
    struct tls *tls;   /* NULL: plain HTTP */
    struct engine *engine;
    struct game *game;     /* NULL: no boards */
    struct keeper *keeper; /* of the game, */
    struct clocks *clocks; /* and of its rooms */
    struct transfer *transfer;
    struct loops *loops;
    struct router *router;
    struct listener *http;
    struct redis_server redis;
    struct arena arena;
    struct failure failure;
};

/* Of many cores one is left to the writer and the store's own threads. Of two none is: clients are
 * mostly on other machines, and what is dear to answer would have half of the machine. */
static unsigned thread_count(const struct settings *settings) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    long count = settings->threads > 0 ? (long)settings->threads : cores > 2 ? cores - 1 : cores;
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

/* As many files as the system lets us have: each connection is one. */
static void raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The signals that stop the server are taken by sigwait() in the main thread; a file that may not
 * grow must be an error to handle, not the end. */
static void prepare_signals(sigset_t *stopping) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(stopping);
    sigaddset(stopping, SIGTERM);
    sigaddset(stopping, SIGINT);
    sigaddset(stopping, SIGHUP);
    pthread_sigmask(SIG_BLOCK, stopping, NULL);
}

static enum status open_engine(struct server *server) {
    const struct settings *settings = &server->settings;
    struct local_settings local = {
        .store = {.path = settings->data,
                  .memory = settings->memory,
                  .sync = settings->durability,
                  .interval_ms = (int)settings->sync_interval_ms,
                  .block_cache = (size_t)settings->store_memory},
        .cache_memory = (size_t)settings->cache_memory,
        .index_memory = (size_t)settings->index_memory,
    };
    return local_open(&local, &server->arena, &server->failure, &server->engine);
}

static enum status open_tls(struct server *server) {
    const char *certificate = server->settings.tls_cert, *key = server->settings.tls_key;
    if (certificate[0] == '\0' && key[0] == '\0')
        return OK;
    if (certificate[0] == '\0' || key[0] == '\0')
        return failure_set(&server->failure, &server->arena, INVALID,
                           "--tls-cert and --tls-key go together: a certificate and its key");
    return tls_open(certificate, key, &server->arena, &server->failure, &server->tls);
}

static void open_transfer(struct server *server) {
    const struct settings *settings = &server->settings;
    bool given = settings->export_dir[0] != '\0', memory = settings->memory;
    char *folder = files_join(memory ? "." : settings->data, "exports");
    char *records = files_join(settings->data, "jobs");
    struct transfer_settings transfer = {.folder = given ? settings->export_dir : folder,
                                         .records = memory ? NULL : records};
    server->transfer = transfer_new(server->engine, &transfer);
    mem_free(folder);
    mem_free(records);
}

static enum status listen_http(struct server *server) {
    const struct settings *settings = &server->settings;
    struct http_settings http = {
        .host = settings->http.host,
        .port = settings->http.port,
        .handler = router_handle,
        .context = server->router,
        .tls = server->tls,
        .connections_max = (unsigned)settings->connections_max,
        .in_flight_max = (unsigned)settings->in_flight_max,
        .idle_ms = (int)settings->idle_ms,
        .request_ms = (int)settings->request_ms,
    };
    return http_listen(server->loops, &http, &server->arena, &server->failure, &server->http);
}

/* Whoever reaches the port could make everything expire. */
static enum status check_clock(struct server *server) {
    const struct settings *settings = &server->settings;
    if (!settings->test_clock || address_is_loopback(&settings->http) || settings->trust_network)
        return OK;
    return failure_set(&server->failure, &server->arena, INVALID,
                       "--test-clock is for tests: %s is not a loopback address, and whoever "
                       "reaches it could move the clock",
                       settings->http.host);
}

/* What the game does by itself: the keeper, and the clocks of the rooms. */
static enum status start_game(struct server *server) {
    enum status status = content_seed(server->game, &server->arena, &server->failure);
    if (status == OK)
        status = match_boards(server->game, &server->arena, &server->failure);
    if (status != OK)
        return status;
    server->keeper = keeper_start(server->game);
    server->clocks = clocks_start(server->game);
    return OK;
}

static enum status start(struct server *server) {
    enum status status = check_clock(server);
    if (status == OK)
        status = access_open(&server->settings, &server->arena, &server->failure, &server->keys);
    if (status == OK)
        status = open_tls(server);
    if (status == OK)
        status = open_engine(server);
    if (status == OK)
        status = game_start(&server->settings, server->engine, &server->arena, &server->failure,
                            &server->game);
    if (status != OK)
        return status;
    if (server->game != NULL)
        status = start_game(server);
    if (status != OK)
        return status;
    open_transfer(server);
    struct router_settings router = {
        .dynamodb = {.region = server->settings.region[0] != '\0' ? server->settings.region : NULL,
                     .strict_paging = server->settings.strict_paging,
                     .keys = server->keys,
                     .transfer = server->transfer},
        .game = server->game,
        .keeper = server->keeper,
        .clocks = server->clocks,
        .version = GAMETABLE_VERSION,
        .redis_port = server->settings.redis.host[0] != '\0' ? server->settings.redis.port : 0,
        .origins = server->settings.origins[0] != '\0' ? server->settings.origins : NULL,
        .test_clock = server->settings.test_clock,
    };
    server->router = router_new(server->engine, &router);
    server->loops = loops_new(thread_count(&server->settings));
    loops_set_hooks(server->loops, engine_gather, engine_hand_over);
    loops_start(server->loops);
    status = listen_http(server);
    if (status == OK)
        status = redis_start(&server->settings, server->game, server->keys, server->tls,
                             server->loops, &server->arena, &server->failure, &server->redis);
    return status;
}

/* Jobs go before the engine, and that before the loops: what they still finish is answered through
 * them. */
static void stop(struct server *server) {
    if (server->http != NULL)
        listener_close(server->http, GRACE_MS);
    redis_stop(&server->redis, GRACE_MS);
    if (server->transfer != NULL)
        transfer_stop(server->transfer);
    if (server->keeper != NULL)
        keeper_stop(server->keeper);
    if (server->router != NULL)
        router_stop(server->router);
    if (server->clocks != NULL)
        clocks_stop(server->clocks);
    if (server->engine != NULL)
        engine_close(server->engine);
    if (server->loops != NULL)
        loops_free(server->loops);
    redis_free(&server->redis);
    if (server->router != NULL)
        router_free(server->router);
    if (server->game != NULL)
        game_close(server->game);
    if (server->transfer != NULL)
        transfer_free(server->transfer);
    if (server->tls != NULL)
        tls_close(server->tls);
    if (server->keys != NULL)
        keys_free(server->keys);
}

static void announce_redis(const struct server *server) {
    const char *host = server->settings.redis.host;
    bool brackets = strchr(host, ':') != NULL;
    printf("  Redis     %s%s%s:%d%s\n", brackets ? "[" : "", host, brackets ? "]" : "",
           listener_port(server->redis.listener), server->settings.redis_tls ? ", encrypted" : "");
}

/* Where each face listens, and something to try. */
static void announce(const struct server *server, int64_t started_us) {
    const struct settings *settings = &server->settings;
    static const char *const promises[] = {
        [STORE_SYNC_COMMIT] = "every write is synced before it is answered",
        [STORE_SYNC_INTERVAL] =
            "writes are synced at intervals: a power cut may lose the last ones",
        [STORE_SYNC_NONE] = "the system decides when to sync: a power cut may lose writes",
    };
    const char *host = settings->http.host;
    bool brackets = strchr(host, ':') != NULL;
    char url[300];
    snprintf(url, sizeof(url), "%s://%s%s%s:%d", server->tls != NULL ? "https" : "http",
             brackets ? "[" : "", host, brackets ? "]" : "", listener_port(server->http));
    printf("gametable " GAMETABLE_VERSION " is ready after %lld ms\n\n",
           (long long)(clock_ticks_us() - started_us) / 1000);
    if (settings->memory)
        printf("  data      in memory: gone when it stops\n");
    else
        printf("  data      %s: %s\n", settings->data, promises[settings->durability]);
    printf("  DynamoDB  %s\n", url);
    if (server->game != NULL)
        printf("  REST      %s/v1\n", url);
    if (server->redis.listener != NULL)
        announce_redis(server);
    printf("  health    %s/healthz\n\n", url);
    if (server->keys == NULL)
        printf("  try       AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any "
               "AWS_DEFAULT_REGION=us-east-1 \\\n"
               "            aws dynamodb list-tables --endpoint-url %s\n\n",
               url);
    else
        printf("  keys      %zu may come in\n\n", keys_now(server->keys)->count);
    fflush(stdout);
}

/* SIGHUP: the keys and the certificate again. False if there are neither: then it is the terminal
 * that has gone, and the server goes with it. */
static bool reload(struct server *server) {
    struct failure failure = {0};
    struct arena arena;
    if (server->keys == NULL && server->tls == NULL)
        return false;
    if (server->keys != NULL)
        access_reload(&server->settings, server->keys);
    arena_init(&arena);
    if (server->tls != NULL && tls_reload(server->tls, &arena, &failure) != OK)
        log_error("the certificate stays as it was: %.*s", BYTES_ARG(failure.text));
    arena_release(&arena);
    return true;
}

static void serve(struct server *server, const sigset_t *stopping, int64_t started_us) {
    int signal_number = 0;
    announce(server, started_us);
    log_info("serving HTTP on port %d", listener_port(server->http));
    do
        sigwait(stopping, &signal_number);
    while (signal_number == SIGHUP && reload(server));
    log_info("%s: finishing what runs", strsignal(signal_number));
    /* A second signal ends it the hard way; what was acknowledged is safe all the same. */
    pthread_sigmask(SIG_UNBLOCK, stopping, NULL);
}

int command_serve(int argc, char **argv) {
    int64_t started_us = clock_ticks_us();
    struct server server = {0};
    sigset_t stopping;
    int result = 0;
    arena_init(&server.arena);
    enum status status =
        settings_read(argc, argv, &server.arena, &server.failure, &server.settings);
    if (status == OK) {
        log_setup(server.settings.log);
        raise_file_limit();
        prepare_signals(&stopping);
        status = start(&server);
    }
    if (status == OK)
        serve(&server, &stopping, started_us);
    else {
        fprintf(stderr, "gametable: %.*s\n", BYTES_ARG(server.failure.text));
        result = status == INVALID ? 2 : 1;
    }
    stop(&server);
    if (status == OK)
        log_info("stopped");
    arena_release(&server.arena);
    return result;
}

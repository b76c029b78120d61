/* gametable serve: opens the engine, listens, and stops in order when asked to. */
#include "api/audit_log.h"
#include "api/change_submit.h"
#include "api/dynamodb/test_faults.h"
#include "api/key_file.h"
#include "api/redis/redis_frontend.h"
#include "api/router.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/mem.h"
#include "cli/access.h"
#include "cli/clock_record.h"
#include "cli/commands.h"
#include "cli/serve_engine.h"
#include "cli/serve_game.h"
#include "cli/settings.h"
#include "game/room/match.h"
#include "game/room/room_scheduler.h"
#include "net/http.h"
#include "net/stream.h"
#include "table/engine.h"
#include "table/hot_keys.h"
#include "table/remote/remote.h"
#include "table/table_stream.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    GRACE_MS = 10 * 1000,
    ENDPOINT_GRACE_MS = 2000,  /* for a DynamoDB endpoint that does not answer, within that */
    THREADS_MAX = LIMIT_LOOPS, /* what live subscriptions are laid out for */
    BUSY_POLL_MOST_US = 1000   /* a sleep costs a few of them */
};

struct server {
    struct settings settings;
    struct keys *keys; /* NULL: anybody may come in */
    struct key_file key_file;
    struct tls *tls; /* NULL: plain HTTP */
    struct engine *engine;
    struct background *pool;           /* for requests that may have to wait */
    struct game *game;                 /* NULL: no boards */
    struct housekeeping *housekeeping; /* of the game, */
    struct room_scheduler *scheduler;  /* and of its rooms */
    struct transfer *transfer;
    struct loops *loops;
    struct audit_log *audit; /* NULL: there is no game's table to keep it in */
    struct monitor *monitor;
    struct monitor_sources watched; /* by the monitor */
    struct router *router;
    struct dynamodb_forward forward; /* to the endpoint of a remote engine */
    struct test_faults *faults;      /* that tests order; NULL: none */
    struct listener *http;
    struct redis_frontend *redis;    /* NULL: there is none */
    struct listener *redis_listener; /* NULL: not yet, or none */
    struct buf in_force;             /* the settings, for /v1/settings */
    struct hot_keys *hot;            /* of the engine */
    struct arena arena;
    struct failure failure;
    bool in_terminal; /* started there */
};

/* Of many cores one is left to the writer and the store's own threads. Of two none is: clients are
 * mostly on other machines, and what is dear to answer would have half of the machine. */
static unsigned thread_count(const struct settings *settings) {
    long cores = (long)machine_cores();
    long count = settings->threads > 0     ? (long)settings->threads
                 : machine_has_few_cores() ? cores
                                           : cores - 1;
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

/* Unless somebody has said how many threads shall serve them. */
static bool gathers_connections(const struct settings *settings) {
    return settings->threads == 0 && machine_has_few_cores();
}

/* On one processor nobody is spared by looking, and where processor time is allotted it is dear.
 * Half of the processors are left to others. */
static void set_busy_poll(struct loops *loops, const struct settings *settings) {
    unsigned cores = machine_cores();
    if (cores > 1 && !machine_is_rationed())
        loops_set_busy_poll(loops, (unsigned)settings->busy_poll_us, cores / 2);
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

static enum status check_busy_poll(struct server *server) {
    if (server->settings.busy_poll_us <= BUSY_POLL_MOST_US)
        return OK;
    return failure_set(&server->failure, &server->arena, INVALID,
                       "--busy-poll is 0 to %d microseconds", BUSY_POLL_MOST_US);
}

static bool is_remote(const struct server *server) {
    return server->settings.engine == ENGINE_DYNAMODB;
}

static enum status open_engine(struct server *server) {
    struct scope in = {&server->arena, &server->failure};
    enum status status = is_remote(server) ? serve_engine_check(&server->settings, in) : OK;
    return status == OK ? serve_engine_open(&server->settings, in, &server->engine) : status;
}

static enum status open_tls(struct server *server) {
    const char *certificate = server->settings.tls_cert, *key = server->settings.tls_key;
    if (certificate[0] == '\0' && key[0] == '\0')
        return OK;
    if (certificate[0] == '\0' || key[0] == '\0')
        return failure_set(&server->failure, &server->arena, INVALID,
                           "--tls-cert and --tls-key go together: a certificate and its key");
    struct stat about;
    if (stat(key, &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        log_warn("%s may be read by others on this machine: chmod 600 it", key);
    return tls_open(certificate, key, (struct scope){&server->arena, &server->failure},
                    &server->tls);
}

static void open_transfer(struct server *server) {
    const struct settings *settings = &server->settings;
    bool given = settings->export_dir[0] != '\0', memory = settings->memory || is_remote(server);
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
        .admit = router_admit,
        .answered = router_answered,
        .context = server->router,
        .tls = server->tls,
        .connections_max = (unsigned)settings->connections_max,
        .in_flight_max = (unsigned)settings->in_flight_max,
        .memory_max = (size_t)settings->http_memory,
        .idle_ms = (int)settings->idle_ms,
        .request_ms = (int)settings->request_ms,
        .gather = gathers_connections(settings),
    };
    return http_listen(server->loops, &http, (struct scope){&server->arena, &server->failure},
                       &server->http);
}

/* Listens as the settings say; nothing if they say "off", or if there is no game. */
static enum status listen_redis(struct server *server) {
    const struct settings *settings = &server->settings;
    if (server->game == NULL || settings->redis.host[0] == '\0')
        return OK;
    if (settings->redis_tls && server->tls == NULL)
        return failure_set(&server->failure, &server->arena, INVALID,
                           "--redis-tls needs --tls-cert and --tls-key: a certificate and its key");
    static const char *const syncs[] = {[STORE_SYNC_COMMIT] = "always",
                                        [STORE_SYNC_INTERVAL] = "everysec",
                                        [STORE_SYNC_NONE] = "no"};
    struct redis_settings redis = {
        .keys = server->keys,
        .loops = loops_count(server->loops),
        .pool = server->pool,
        .sync = settings->memory || is_remote(server) ? NULL : syncs[settings->durability],
        .metrics = server->monitor->metrics,
        .requests = &server->monitor->requests};
    server->redis = redis_frontend_new(server->game, &redis);
    struct stream_settings stream = {
        .host = settings->redis.host,
        .port = settings->redis.port,
        .tls = settings->redis_tls ? server->tls : NULL,
        .handler = redis_handler,
        .context = server->redis,
        .full = redis_full(),
        .gather = gathers_connections(settings),
        .connections_max = (unsigned)settings->connections_max,
        .request_ms = (int)settings->request_ms,
    };
    enum status status =
        stream_listen(server->loops, &stream, (struct scope){&server->arena, &server->failure},
                      &server->redis_listener);
    if (status == OK)
        redis_frontend_listens(server->redis, listener_port(server->redis_listener));
    return status;
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

static enum status send_forward(void *context, struct dynamodb_forwarded *request,
                                struct scope in) {
    struct server *server = context;
    struct remote_forward sent = {.target = request->target, .body = request->body};
    enum status status = remote_forward(server->engine, &sent, in);
    request->status = sent.status;
    request->answer = sent.answer;
    return status;
}

/* What the game does by itself: housekeeping, and the scheduler of its rooms. */
static enum status start_game(struct server *server) {
    enum status status =
        match_kinds_prepare(server->game, (struct scope){&server->arena, &server->failure});
    if (status != OK)
        return status;
    if (is_remote(server))
        remote_start(server->engine);
    server->housekeeping = housekeeping_start(server->game);
    server->scheduler = room_scheduler_start(server->game);
    return OK;
}

/* Where the time is written down; NULL: nowhere, as everything else. */
static const char *clock_folder(const struct server *server) {
    return server->settings.memory || is_remote(server) ? NULL : server->settings.data;
}

static enum status open_faults(struct server *server) {
    const char *orders = server->settings.test_faults;
    if (orders[0] == '\0')
        return OK;
    server->faults = test_faults_new();
    return test_faults_set(server->faults, bytes_str(orders),
                           (struct scope){&server->arena, &server->failure});
}

static void open_monitor(struct server *server) {
    struct monitor_settings monitor = {.engine = server->engine,
                                       .keys = server->keys,
                                       .loops = thread_count(&server->settings),
                                       .open = server->settings.metrics_open,
                                       .version = GAMETABLE_VERSION,
                                       .slow_ms = server->settings.slow_ms};
    if (server->game != NULL)
        monitor.audit = server->audit = audit_log_new(server->game);
    settings_put_json(&server->in_force, &server->settings);
    server->monitor = monitor_new(&monitor);
}

/* Everything is there: the monitor may ask it. */
static void watch_all(struct server *server) {
    server->watched = (struct monitor_sources){.http = server->http,
                                               .redis_listener = server->redis_listener,
                                               .redis = server->redis,
                                               .live = router_live(server->router),
                                               .housekeeping = server->housekeeping};
    monitor_attach(server->monitor, &server->watched);
    monitor_start(server->monitor);
}

/* Keys that were replaced end what they have opened. */
static void reload_keys(void *context) {
    struct server *server = context;
    access_reload(&server->settings, server->keys);
    listener_review(server->http);
    if (server->redis_listener != NULL)
        listener_review(server->redis_listener);
}

static enum status open_keys(struct server *server) {
    enum status status = access_open(
        &server->settings, (struct scope){&server->arena, &server->failure}, &server->keys);
    server->key_file = (struct key_file){.path = server->settings.keys,
                                         .keys = server->keys,
                                         .reload = reload_keys,
                                         .context = server};
    key_file_init(&server->key_file);
    server->settings.guests &= server->keys != NULL; /* without keys nobody is asked who they are */
    return status;
}

static void start_loops(struct server *server) {
    server->loops = loops_new(thread_count(&server->settings));
    set_busy_poll(server->loops, &server->settings);
    change_submit_attach(server->loops);
    loops_start(server->loops);
}

static enum status start_server(struct server *server) {
    enum status status = check_clock(server);
    clock_record_begin(clock_folder(server));
    if (status == OK)
        status = check_busy_poll(server);
    if (status == OK)
        status = open_keys(server);
    if (status == OK)
        status = open_tls(server);
    if (status == OK)
        status = open_engine(server);
    if (status == OK) /* nobody uses it yet */
        server->engine->hot = server->hot = hot_keys_new();
    if (status == OK)
        status = serve_game_start(&server->settings, server->engine,
                                  (struct scope){&server->arena, &server->failure}, &server->game);
    if (status != OK)
        return status;
    if (server->game != NULL)
        status = start_game(server);
    if (status != OK)
        return status;
    status = open_faults(server);
    if (status != OK)
        return status;
    open_transfer(server);
    server->pool = background_pool_new(LIMIT_POOL_THREADS, LIMIT_POOL_WAITING);
    open_monitor(server);
    server->forward =
        (struct dynamodb_forward){bytes_str(server->settings.game_table), send_forward, server};
    struct router_settings router = {
        .dynamodb = {.forward = is_remote(server) ? &server->forward : NULL,
                     .region = server->settings.region[0] != '\0' ? server->settings.region : NULL,
                     .strict_paging = server->settings.strict_paging,
                     .error_texts = server->settings.error_texts,
                     .faults = server->faults,
                     .keys = server->keys,
                     .transfer = server->transfer},
        .pool = server->pool,
        .game = server->game,
        .housekeeping = server->housekeeping,
        .scheduler = server->scheduler,
        .version = GAMETABLE_VERSION,
        .redis_port = server->settings.redis.host[0] != '\0' ? server->settings.redis.port : 0,
        .origins = server->settings.origins[0] != '\0' ? server->settings.origins : NULL,
        .trust_network = server->settings.trust_network,
        .test_clock = server->settings.test_clock,
        .key_file = &server->key_file,
        .monitor = server->monitor,
        .encrypted = server->tls != NULL,
        .in_force = buf_bytes(&server->in_force),
    };
    server->router = router_new(server->engine, &router);
    start_loops(server);
    status = listen_http(server);
    if (status == OK)
        status = listen_redis(server);
    if (status == OK)
        watch_all(server);
    return status;
}

/* Jobs go before the engine, and that before the loops: what they still finish is answered through
 * them. */
static void stop_server(struct server *server) {
    if (server->engine != NULL)
        engine_end_soon(server->engine, ENDPOINT_GRACE_MS);
    if (server->monitor != NULL)
        monitor_stop(server->monitor);
    if (server->http != NULL)
        listener_close(server->http, GRACE_MS);
    if (server->redis_listener != NULL)
        listener_close(server->redis_listener, GRACE_MS);
    if (server->redis != NULL)
        redis_frontend_stop(server->redis);
    if (server->transfer != NULL)
        transfer_stop(server->transfer);
    if (server->pool != NULL)
        background_stop(server->pool);
    if (server->housekeeping != NULL)
        housekeeping_stop(server->housekeeping);
    if (server->router != NULL)
        router_stop(server->router);
    if (server->scheduler != NULL)
        room_scheduler_stop(server->scheduler);
    if (server->audit != NULL)
        audit_log_stop(server->audit);
    if (server->engine != NULL)
        engine_close(server->engine);
    if (server->game != NULL)
        game_engine_closed(server->game);
    if (server->loops != NULL)
        loops_free(server->loops);
    if (server->redis != NULL)
        redis_frontend_free(server->redis);
    if (server->router != NULL)
        router_free(server->router);
    if (server->monitor != NULL)
        monitor_free(server->monitor);
    if (server->audit != NULL)
        audit_log_free(server->audit);
    if (server->faults != NULL)
        test_faults_free(server->faults);
    if (server->game != NULL)
        game_close(server->game);
    if (server->transfer != NULL)
        transfer_free(server->transfer);
    if (server->pool != NULL)
        background_free(server->pool);
    if (server->tls != NULL)
        tls_close(server->tls);
    if (server->key_file.reload != NULL)
        key_file_release(&server->key_file);
    if (server->keys != NULL)
        keys_free(server->keys);
    buf_release(&server->in_force);
    if (server->hot != NULL)
        hot_keys_free(server->hot);
}

static void announce_redis(const struct server *server) {
    const char *host = server->settings.redis.host;
    bool brackets = strchr(host, ':') != NULL;
    printf("  Redis     %s%s%s:%d%s\n", brackets ? "[" : "", host, brackets ? "]" : "",
           listener_port(server->redis_listener), server->settings.redis_tls ? ", encrypted" : "");
}

/* What of the machine it may take: both are asked of the machine unless a setting says. */
static void announce_memory(const struct server *server) {
    struct engine_figures figures = {0};
    engine_figures(server->engine, &figures);
    if (figures.cache_memory_max != 0)
        printf("  memory    at most %llu MB for hot items and %llu MB for indexes\n",
               (unsigned long long)(figures.cache_memory_max >> 20),
               (unsigned long long)(figures.index_memory_max >> 20));
}

/* Where each front end listens, and something to try. */
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
    if (is_remote(server))
        printf("  data      table %s of %s, ranking in Redis at %s\n", settings->game_table,
               settings->dynamodb_endpoint[0] != '\0' ? settings->dynamodb_endpoint
                                                      : "Amazon DynamoDB",
               settings->rank_redis);
    else if (settings->memory)
        printf("  data      in memory: gone when it stops\n");
    else
        printf("  data      %s: %s\n", settings->data, promises[settings->durability]);
    announce_memory(server);
    printf("  DynamoDB  %s\n", url);
    if (server->game != NULL)
        printf("  REST      %s/v1\n", url);
    if (server->redis_listener != NULL)
        announce_redis(server);
    printf("  console   %s/console\n", url);
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

static bool has_terminal(void) {
    return isatty(STDIN_FILENO) != 0 || isatty(STDOUT_FILENO) != 0 || isatty(STDERR_FILENO) != 0;
}

/* SIGHUP: the keys and the certificate again. False if there are neither, and it was started in a
 * terminal: that one has gone, and the server goes with it. */
static bool reload(struct server *server) {
    struct failure failure = {0};
    struct arena arena;
    if (server->keys == NULL && server->tls == NULL && server->in_terminal)
        return false;
    if (server->keys != NULL)
        key_file_reload(&server->key_file);
    arena_init(&arena);
    if (server->tls != NULL && tls_reload(server->tls, (struct scope){&arena, &failure}) != OK)
        log_error("the certificate stays as it was: %.*s", BYTES_ARG(failure.text));
    arena_release(&arena);
    return true;
}

/* Writes that add index entries are refused then: who starts the server should know before players
 * do. */
static void warn_of_memory(const struct server *server) {
    struct engine_figures figures;
    engine_figures(server->engine, &figures);
    if (figures.index_memory > figures.index_memory_max)
        log_warn("the indexes take %llu MB, more than --index-memory allows (%llu MB): writes that "
                 "add entries are refused",
                 (unsigned long long)figures.index_memory >> 20,
                 (unsigned long long)figures.index_memory_max >> 20);
}

/* The next signal. Writes down the time every minute until it comes. */
static int next_signal(const struct server *server, const sigset_t *stopping) {
    const struct timespec minute = {.tv_sec = 60};
    int signal_number;
    do {
        clock_record_put(clock_folder(server));
        signal_number = sigtimedwait(stopping, NULL, &minute);
    } while (signal_number < 0);
    return signal_number;
}

static void serve(struct server *server, const sigset_t *stopping, int64_t started_us) {
    int signal_number;
    announce(server, started_us);
    warn_of_memory(server);
    log_info("serving HTTP on port %d", listener_port(server->http));
    do
        signal_number = next_signal(server, stopping);
    while (signal_number == SIGHUP && reload(server));
    clock_record_put(clock_folder(server));
    log_info("%s: finishing what runs", strsignal(signal_number));
    /* A second signal ends it the hard way; what was acknowledged is safe all the same. */
    pthread_sigmask(SIG_UNBLOCK, stopping, NULL);
}

int command_serve(int argc, char **argv) {
    int64_t started_us = clock_ticks_us();
    struct server server = {.in_terminal = has_terminal()};
    sigset_t stopping;
    int result = 0;
    arena_init(&server.arena);
    enum status status =
        settings_read(argc, argv, (struct scope){&server.arena, &server.failure}, &server.settings);
    if (status == OK) {
        log_setup(server.settings.log);
        raise_file_limit();
        prepare_signals(&stopping);
        status = start_server(&server);
    }
    if (status == OK)
        serve(&server, &stopping, started_us);
    else {
        fprintf(stderr, "gametable: %.*s\n", BYTES_ARG(server.failure.text));
        result = status == INVALID ? 2 : 1;
    }
    stop_server(&server);
    if (status == OK)
        log_info("stopped");
    arena_release(&server.arena);
    return result;
}

/* INFO, TIME, WAIT. */
#include "api/redis/memory_reports.h"
#include "api/redis/redis_frontend_int.h"
#include "api/redis/redis_keyspace.h"
#include "base/clock.h"
#include "base/limits.h"
#include "game/keyspace/key_list.h"
#include "table/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum status reply_help(struct redis_call *call, const char *const *lines) {
    size_t count = 0;
    while (lines[count] != NULL)
        count++;
    resp_array(&call->out, count);
    for (size_t i = 0; i < count; i++)
        resp_simple(&call->out, bytes_str(lines[i]));
    return OK;
}

/* ---- counts ---- */

static struct redis_stats sum_counts(const struct redis_frontend *frontend) {
    struct redis_stats sum = {0};
    for (unsigned i = 0; i < frontend->settings.loops; i++) {
        const struct redis_loop *loop = &frontend->loops[i];
        sum.clients += atomic_load_explicit(&loop->clients_ever, memory_order_relaxed);
        sum.commands += atomic_load_explicit(&loop->commands, memory_order_relaxed);
        sum.bytes_in += atomic_load_explicit(&loop->bytes_in, memory_order_relaxed);
        sum.hits += atomic_load_explicit(&loop->hits, memory_order_relaxed);
        sum.misses += atomic_load_explicit(&loop->misses, memory_order_relaxed);
    }
    return sum;
}

static struct redis_stats counts_now(struct redis_frontend *frontend) {
    struct redis_stats now = sum_counts(frontend);
    pthread_mutex_lock(&frontend->mutex);
    now.clients -= frontend->stats_from.clients;
    now.commands -= frontend->stats_from.commands;
    now.bytes_in -= frontend->stats_from.bytes_in;
    now.hits -= frontend->stats_from.hits;
    now.misses -= frontend->stats_from.misses;
    pthread_mutex_unlock(&frontend->mutex);
    return now;
}

void redis_reset_stats(struct redis_frontend *frontend) {
    struct redis_stats now = sum_counts(frontend);
    pthread_mutex_lock(&frontend->mutex);
    frontend->stats_from = now;
    pthread_mutex_unlock(&frontend->mutex);
    command_stats_reset(frontend);
}

/* ---- INFO ---- */

static void put_human(struct buf *to, const char *name, uint64_t bytes) {
    static const char units[] = "BKMGT";
    double size = (double)bytes;
    unsigned unit = 0;
    for (; size >= 1024 && unit < 4; unit++)
        size /= 1024;
    if (unit == 0)
        buf_printf(to, "%s:%" PRIu64 "B\r\n", name, bytes);
    else
        buf_printf(to, "%s:%.2f%c\r\n", name, size, units[unit]);
}

static enum status put_server(struct redis_call *call, struct buf *to) {
    const struct redis_frontend *frontend = call->frontend;
    struct utsname system;
    int64_t up_s = (clock_ticks_us() - frontend->started_us) / 1000000;
    uname(&system);
    buf_printf(to,
               "redis_version:" REDIS_VERSION
               "\r\nredis_mode:standalone\r\nserver_name:gametable\r\n"
               "os:%s %s %s\r\narch_bits:%zu\r\nprocess_id:%ld\r\nrun_id:%s\r\ntcp_port:%d\r\n"
               "server_time_usec:%" PRId64 "\r\nuptime_in_seconds:%" PRId64
               "\r\nuptime_in_days:%" PRId64 "\r\nio_threads_active:%d\r\n",
               system.sysname, system.release, system.machine, 8 * sizeof(void *), (long)getpid(),
               frontend->run_id, atomic_load(&frontend->port), clock_now_ms() * 1000, up_s,
               up_s / 86400, frontend->settings.loops > 1);
    return OK;
}

static enum status put_clients(struct redis_call *call, struct buf *to) {
    struct redis_frontend *frontend = call->frontend;
    pthread_mutex_lock(&frontend->mutex);
    unsigned clients = frontend->client_count;
    pthread_mutex_unlock(&frontend->mutex);
    buf_printf(to,
               "connected_clients:%u\r\ncluster_connections:0\r\nmaxclients:%d\r\n"
               "blocked_clients:%u\r\ntracking_clients:0\r\n",
               clients, LIMIT_CONNECTIONS, atomic_load(&frontend->waiting.count));
    return OK;
}

static uint64_t resident_bytes(void) {
    unsigned long long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%llu %llu", &all, &pages) != 2)
        pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static enum status put_memory(struct redis_call *call, struct buf *to) {
    struct engine_figures figures;
    struct rusage usage = {0};
    engine_figures(call->frontend->game->engine, &figures);
    getrusage(RUSAGE_SELF, &usage);
    uint64_t used = figures.index_memory + figures.cache_memory + figures.store_memory;
    uint64_t set = resident_bytes(), peak = (uint64_t)usage.ru_maxrss * 1024;
    buf_printf(to, "used_memory:%" PRIu64 "\r\n", used);
    put_human(to, "used_memory_human", used);
    buf_printf(to, "used_memory_rss:%" PRIu64 "\r\n", set);
    put_human(to, "used_memory_rss_human", set);
    buf_printf(to, "used_memory_peak:%" PRIu64 "\r\n", peak);
    put_human(to, "used_memory_peak_human", peak);
    buf_printf(to,
               "used_memory_dataset:%" PRIu64 "\r\nmaxmemory:0\r\nmaxmemory_human:0B\r\n"
               "maxmemory_policy:noeviction\r\nmem_fragmentation_ratio:%.2f\r\n"
               "mem_allocator:libc\r\n",
               figures.index_memory, used == 0 ? 1.0 : (double)set / (double)used);
    return OK;
}

static enum status put_persistence(struct redis_call *call, struct buf *to) {
    struct engine_figures figures;
    engine_figures(call->frontend->game->engine, &figures);
    buf_printf(to,
               "loading:0\r\nasync_loading:0\r\nrdb_changes_since_last_save:0\r\n"
               "rdb_bgsave_in_progress:0\r\nrdb_last_bgsave_status:ok\r\naof_enabled:%d\r\n"
               "aof_rewrite_in_progress:0\r\naof_last_write_status:%s\r\n"
               "aof_current_size:%" PRIu64 "\r\n",
               call->frontend->settings.sync != NULL, figures.refusing_writes ? "err" : "ok",
               figures.disk);
    return OK;
}

static enum status put_stats(struct redis_call *call, struct buf *to) {
    struct redis_stats counts = counts_now(call->frontend);
    struct engine_figures figures;
    engine_figures(call->frontend->game->engine, &figures);
    buf_printf(to,
               "total_connections_received:%" PRIu64 "\r\ntotal_commands_processed:%" PRIu64
               "\r\ntotal_net_input_bytes:%" PRIu64 "\r\nrejected_connections:0\r\n"
               "expired_keys:0\r\nevicted_keys:0\r\nkeyspace_hits:%" PRIu64
               "\r\nkeyspace_misses:%" PRIu64 "\r\npubsub_channels:%zu\r\npubsub_patterns:%zu\r\n"
               "commits:%" PRIu64 "\r\nwrites:%" PRIu64 "\r\n",
               counts.clients, counts.commands, counts.bytes_in, counts.hits, counts.misses,
               pubsub_topics(&call->frontend->pubsub, PUBSUB_CHANNEL),
               pubsub_topics(&call->frontend->pubsub, PUBSUB_PATTERN), figures.commits,
               figures.writes);
    return OK;
}

static enum status put_replication(struct redis_call *call, struct buf *to) {
    buf_printf(to,
               "role:master\r\nconnected_slaves:0\r\nmaster_failover_state:no-failover\r\n"
               "master_replid:%s\r\nmaster_repl_offset:0\r\nsecond_repl_offset:-1\r\n"
               "repl_backlog_active:0\r\n",
               call->frontend->run_id);
    return OK;
}

static enum status put_cpu(struct redis_call *call, struct buf *to) {
    struct rusage usage = {0};
    (void)call;
    getrusage(RUSAGE_SELF, &usage);
    buf_printf(to, "used_cpu_sys:%ld.%06ld\r\nused_cpu_user:%ld.%06ld\r\n",
               (long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec,
               (long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
    return OK;
}

static enum status put_cluster(struct redis_call *call, struct buf *to) {
    (void)call;
    buf_lit(to, "cluster_enabled:0\r\n");
    return OK;
}

static enum status put_commands(struct redis_call *call, struct buf *to) {
    command_stats_put(call->frontend, call->arena, to);
    return OK;
}

static enum status put_nothing(struct redis_call *call, struct buf *to) {
    (void)call, (void)to;
    return OK;
}

struct tally {
    uint64_t keys, expiring;
};

static enum status count_key(struct redis_call *call, const struct visited_key *key, void *user) {
    struct tally *tally = user;
    int64_t expires_ms;
    enum status status = key->zset != NULL ? zset_expires(call, key->zset, &expires_ms)
                                           : key_expires(call, key->key, &expires_ms);
    tally->keys++;
    tally->expiring += expires_ms != 0;
    return status;
}

static void put_database(struct buf *to, unsigned db, const struct tally *tally) {
    if (tally->keys != 0)
        buf_printf(to, "db%u:keys=%" PRIu64 ",expires=%" PRIu64 ",avg_ttl=0\r\n", db, tally->keys,
                   tally->expiring);
}

/* Many names are not looked up one by one: those of emptied sets are counted too, and all sorted
 * sets as if they were of database 0. */
static enum status put_counts(struct redis_call *call, struct buf *to) {
    struct game *game = call->frontend->game;
    struct scope in = {call->arena, &call->failure};
    enum status status = OK;
    for (unsigned db = 0; db < KEY_DATABASES && status == OK; db++) {
        struct tally tally = {0};
        uint64_t boards = 0;
        status = key_list_count(game, db, in, &tally.keys);
        if (status == OK && db == 0)
            status = board_instance_count(game, in, &boards);
        tally.keys += boards;
        put_database(to, db, &tally);
    }
    return status;
}

static enum status put_keyspace(struct redis_call *call, struct buf *to) {
    enum { EXACT = 10000 };
    uint64_t names;
    enum status status = keyspace_names(call, &names);
    if (status == OK && names > EXACT)
        return put_counts(call, to);
    for (unsigned db = 0; db < KEY_DATABASES && status == OK; db++) {
        struct tally tally = {0};
        struct key_walk walk = {.visit = count_key, .user = &tally, .db = db};
        status = keyspace_each(call, &walk);
        put_database(to, db, &tally);
    }
    return status;
}

static const struct section {
    const char *name, *title;
    enum status (*put)(struct redis_call *call, struct buf *to);
    bool extra; /* only if it is asked for by name, or with ALL or EVERYTHING */
} sections[] = {
    {"server", "Server", put_server, false},
    {"clients", "Clients", put_clients, false},
    {"memory", "Memory", put_memory, false},
    {"persistence", "Persistence", put_persistence, false},
    {"stats", "Stats", put_stats, false},
    {"replication", "Replication", put_replication, false},
    {"cpu", "CPU", put_cpu, false},
    {"modules", "Modules", put_nothing, false},
    {"commandstats", "Commandstats", put_commands, true},
    {"errorstats", "Errorstats", put_nothing, false},
    {"cluster", "Cluster", put_cluster, false},
    {"keyspace", "Keyspace", put_keyspace, false},
};

static bool is_section_wanted(const struct redis_call *call, const struct section *section) {
    if (call->count == 1)
        return !section->extra;
    for (size_t i = 1; i < call->count; i++)
        if (call_arg_is(call, i, section->name) || call_arg_is(call, i, "all") ||
            call_arg_is(call, i, "everything") ||
            (call_arg_is(call, i, "default") && !section->extra))
            return true;
    return false;
}

static enum status run_info(struct redis_call *call) {
    struct buf text = {0};
    enum status status = OK;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && status == OK; i++) {
        if (!is_section_wanted(call, &sections[i]))
            continue;
        buf_printf(&text, "%s# %s\r\n", text.size != 0 ? "\r\n" : "", sections[i].title);
        status = sections[i].put(call, &text);
    }
    if (status == OK)
        resp_verbatim(&call->out, buf_bytes(&text));
    buf_release(&text);
    return status;
}

/* ---- MEMORY ---- */

enum status run_memory_stats(struct redis_call *call) {
    struct engine_figures figures;
    struct rusage usage = {0};
    size_t scripts, script_bytes = scripts_memory(&call->frontend->scripts, &scripts);
    engine_figures(call->frontend->game->engine, &figures);
    getrusage(RUSAGE_SELF, &usage);
    const struct {
        const char *name;
        uint64_t number;
    } all[] = {
        {"peak.allocated", (uint64_t)usage.ru_maxrss * 1024},
        {"total.allocated", resident_bytes()},
        {"dataset.bytes", figures.index_memory},
        {"index.bytes", figures.index_memory},
        {"cache.bytes", figures.cache_memory},
        {"store.bytes", figures.store_memory},
        {"lua.caches", script_bytes},
        {"number.of.cached.scripts", scripts},
        {"clients.calls", atomic_load(&call->frontend->calls_memory)},
    };
    resp_map(&call->out, sizeof(all) / sizeof(all[0]));
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        resp_bulk(&call->out, bytes_str(all[i].name));
        resp_int(&call->out, (int64_t)all[i].number);
    }
    return OK;
}

enum status run_memory_doctor(struct redis_call *call) {
    struct engine_figures figures;
    engine_figures(call->frontend->game->engine, &figures);
    uint64_t used = figures.index_memory + figures.cache_memory + figures.store_memory;
    resp_verbatim(&call->out, arena_printf(call->arena,
                                           "%" PRIu64 " bytes are resident: %" PRIu64
                                           " for indexes, %" PRIu64 " for the cache, %" PRIu64
                                           " for the store, %" PRIu64 " for all else.\n",
                                           resident_bytes(), figures.index_memory,
                                           figures.cache_memory, figures.store_memory,
                                           resident_bytes() > used ? resident_bytes() - used : 0));
    return OK;
}

/* Large blocks go back when they are freed (mem_configure()). */
enum status run_memory_purge(struct redis_call *call) {
    resp_ok(&call->out);
    return OK;
}

enum status run_memory_malloc_stats(struct redis_call *call) {
    resp_verbatim(&call->out, BYTES("Stats not supported for the current allocator"));
    return OK;
}

/* ---- TIME and WAIT ---- */

static enum status run_time(struct redis_call *call) {
    struct timespec now;
    int64_t ms = clock_now_ms(); /* the clock that tests can move */
    clock_gettime(CLOCK_REALTIME, &now);
    resp_array(&call->out, 2);
    resp_bulk(&call->out, arena_printf(call->arena, "%" PRId64, ms / 1000));
    resp_bulk(&call->out,
              arena_printf(call->arena, "%" PRId64, ms % 1000 * 1000 + now.tv_nsec / 1000 % 1000));
    return OK;
}

/* There are no replicas to wait for. */
static enum status run_wait(struct redis_call *call) {
    int64_t replicas, timeout_ms;
    if (call_int(call, 1, &replicas) != OK)
        return INVALID;
    if (!redis_read_int(call->args[2], &timeout_ms))
        return call_error(call, "ERR timeout is not an integer or out of range");
    if (timeout_ms < 0)
        return call_error(call, "ERR timeout is negative");
    resp_int(&call->out, 0);
    return OK;
}

const struct redis_command redis_server_commands[] = {
    {"info",
     -1,
     COMMAND_LOADING | COMMAND_STALE | COMMAND_CATEGORY_DANGEROUS,
     TOUCHES_SERVER,
     {0},
     run_info,
     NULL,
     GROUP_SERVER,
     "1.0.0",
     "About the server",
     NULL},
    {"time",
     1,
     COMMAND_LOADING | COMMAND_STALE | COMMAND_FAST,
     TOUCHES_CONNECTION,
     {0},
     run_time,
     NULL,
     GROUP_SERVER,
     "2.6.0",
     "The time",
     NULL},
    {"wait",
     3,
     COMMAND_NOSCRIPT,
     TOUCHES_CONNECTION,
     {0},
     run_wait,
     NULL,
     GROUP_CONNECTION,
     "3.0.0",
     "How many replicas have all writes: none",
     NULL},
    {0},
};

#include "table/local/recovery.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/thread.h"
#include "table/local/local_int.h"
#include "table/local/recovery_bases.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    DAY_MS = 24 * 60 * 60 * 1000,
    SEGMENT_SIZE = 64 << 20, /* of the log, about */
    SHARES = 8,              /* of the disk setting: so much log, and there is another base */
};

static const struct bytes recovery_tag = {(const uint8_t *)TAG_OWN "recovery", 9};

struct recovery {
    struct local *local;  /* NULL before recovery_start() */
    char *path;           /* DIR/recovery */
    uint64_t disk;        /* the setting */
    pthread_mutex_t work; /* who makes or removes bases; taken before `lock` */

    pthread_mutex_t lock; /* over all that follows */
    pthread_cond_t wake;
    struct recovery_bases bases;
    unsigned holders; /* who needs a base: none is removed meanwhile */
    uint64_t scratch; /* for names */
    pthread_t thread;
    bool running, stop;
};

/* --- what a table says --- */

/* The tag: since when, in milliseconds, a blank, and for how many days. */
struct kept {
    bool enabled;
    int64_t since_ms;
    int64_t days;
};

static struct kept kept_of(const struct table_schema *schema) {
    struct kept kept = {0};
    for (uint32_t i = 0; i < schema->tag_count; i++) {
        char text[48];
        struct bytes value = schema->tags[i].value;
        if (!bytes_equal(schema->tags[i].key, recovery_tag) || value.size >= sizeof(text))
            continue;
        memcpy(text, value.data, value.size);
        text[value.size] = '\0';
        char *blank;
        kept.since_ms = strtoll(text, &blank, 10);
        kept.days = strtoll(blank, NULL, 10);
        kept.enabled = kept.days >= 1 && kept.days <= LIMIT_RECOVERY_DAYS;
    }
    return kept;
}

/* The longest period of any table; 0: none has recovery. */
static int64_t longest_ms(struct local *local) {
    int64_t longest = 0;
    size_t at = 0;
    pthread_rwlock_rdlock(&local->state_lock);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        const struct table *table = slot->value;
        struct kept kept = kept_of(table->schema);
        if (kept.enabled && kept.days * DAY_MS > longest)
            longest = kept.days * DAY_MS;
    }
    pthread_rwlock_unlock(&local->state_lock);
    return longest;
}

/* --- bases: by who has `work` --- */

static void keep_log(struct recovery *recovery) {
    pthread_mutex_lock(&recovery->lock);
    uint64_t from = bases_log_from(&recovery->bases);
    pthread_mutex_unlock(&recovery->lock);
    store_keep_recovery(recovery->local->store, from);
}

/* False if somebody reads. */
static bool take_oldest(struct recovery *recovery, struct recovery_base *out) {
    struct recovery_bases *bases = &recovery->bases;
    pthread_mutex_lock(&recovery->lock);
    bool taken = bases->count != 0 && recovery->holders == 0;
    if (taken) {
        *out = bases->at[0];
        bases->count--;
        memmove(bases->at, bases->at + 1, bases->count * sizeof(bases->at[0]));
    }
    pthread_mutex_unlock(&recovery->lock);
    return taken;
}

/* What a crash leaves of it under its own name is a base whose log is gone; so the name goes first.
 */
static bool remove_oldest(struct recovery *recovery) {
    struct recovery_base base;
    if (!take_oldest(recovery, &base))
        return false;
    char *path = bases_path(recovery->path, &base, "");
    char *partial = bases_path(recovery->path, &base, ".partial");
    if (files_move(path, partial) == 0)
        files_remove(partial);
    mem_free(path);
    mem_free(partial);
    keep_log(recovery);
    return true;
}

static enum status put_in_place(struct recovery *recovery, const char *partial,
                                struct recovery_base *base, struct scope in) {
    base->time_ms = clock_now_ms();
    char *path = bases_path(recovery->path, base, "");
    int result = files_move(partial, path);
    mem_free(path);
    if (result != 0)
        return failure_set(in.failure, in.arena, IO_FAILED,
                           "What recovery begins with cannot be made.");
    pthread_mutex_lock(&recovery->lock);
    bases_add(&recovery->bases, base);
    pthread_mutex_unlock(&recovery->lock);
    return OK;
}

/* The log from here on is kept before the checkpoint is made, which needs it. */
static enum status make_base(struct recovery *recovery, struct scope in) {
    struct store *store = recovery->local->store;
    struct recovery_base base = {.segment = store_recovery_position(store)};
    if (recovery->bases.count == LIMIT_RECOVERY_BASES && !remove_oldest(recovery))
        return failure_set(in.failure, in.arena, BUSY, "Too much of the past is being read.");
    if (recovery->bases.count == 0)
        store_keep_recovery(store, base.segment);
    enum status status = OK;
    char *partial = recovery_scratch_path(recovery);
    if (base.segment == 0 || files_make_path(recovery->path) != 0)
        status = failure_set(in.failure, in.arena, IO_FAILED,
                             "What recovery begins with cannot be made.");
    if (status == OK)
        status = store_checkpoint(store, partial, in);
    if (status == OK)
        status = put_in_place(recovery, partial, &base, in);
    if (status != OK) {
        files_remove(partial);
        keep_log(recovery);
    }
    mem_free(partial);
    return status;
}

/* --- what stays and what goes: by who has `work` --- */

static const struct recovery_base *newest_base(const struct recovery *recovery) {
    return &recovery->bases.at[recovery->bases.count - 1];
}

static bool wants_base(struct recovery *recovery) {
    if (recovery->bases.count == 0)
        return true;
    uint64_t at = store_recovery_position(recovery->local->store);
    uint64_t share = recovery->disk / SHARES / SEGMENT_SIZE;
    return clock_now_ms() - newest_base(recovery)->time_ms >= LIMIT_RECOVERY_BASE_MS ||
           at >= newest_base(recovery)->segment + (share == 0 ? 1 : share);
}

static bool is_too_large(struct recovery *recovery) {
    return bases_usage(recovery->path, &recovery->bases) +
               store_recovery_usage(recovery->local->store, bases_log_from(&recovery->bases)) >
           recovery->disk;
}

static void remove_old(struct recovery *recovery, int64_t period_ms) {
    int64_t before_ms = clock_now_ms() - period_ms;
    while (recovery->bases.count > 1 && recovery->bases.at[1].time_ms <= before_ms)
        if (!remove_oldest(recovery))
            return;
}

/* The newest one stays: with it alone, nothing that could go is kept but the log since. */
static void keep_to_disk(struct recovery *recovery) {
    while (recovery->bases.count > 1 && is_too_large(recovery))
        if (!remove_oldest(recovery))
            return;
}

static void look(struct recovery *recovery, struct scope in) {
    int64_t period_ms = longest_ms(recovery->local);
    if (period_ms == 0) {
        while (remove_oldest(recovery))
            ;
        return;
    }
    if (wants_base(recovery))
        make_base(recovery, in); /* if it fails, it is tried again */
    remove_old(recovery, period_ms);
    if (recovery->bases.count != 0)
        keep_to_disk(recovery);
}

void recovery_look(struct recovery *recovery) {
    struct arena arena;
    struct failure failure;
    arena_init(&arena);
    pthread_mutex_lock(&recovery->work);
    look(recovery, (struct scope){&arena, &failure});
    pthread_mutex_unlock(&recovery->work);
    arena_release(&arena);
}

/* --- the thread --- */

static bool sleep_until_stop(struct recovery *recovery) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LIMIT_RECOVERY_LOOK_S;
    pthread_mutex_lock(&recovery->lock);
    if (!recovery->stop)
        pthread_cond_timedwait(&recovery->wake, &recovery->lock, &until);
    bool stop = recovery->stop;
    pthread_mutex_unlock(&recovery->lock);
    return stop;
}

static void *recovery_run(void *argument) {
    struct recovery *recovery = argument;
    do
        recovery_look(recovery);
    while (!sleep_until_stop(recovery));
    return NULL;
}

static void run_thread(struct recovery *recovery) {
    pthread_mutex_lock(&recovery->lock);
    if (!recovery->running && !recovery->stop)
        recovery->running = thread_start(&recovery->thread, recovery_run, recovery) == 0;
    pthread_mutex_unlock(&recovery->lock);
}

/* --- the whole --- */

struct recovery *recovery_new(const struct local_settings *settings) {
    if (settings->store.memory || settings->store.read_only || settings->store.path == NULL)
        return NULL;
    struct recovery *recovery = mem_zalloc(sizeof(*recovery));
    recovery->path = files_join(settings->store.path, "recovery");
    recovery->disk = settings->recovery_disk != 0 ? settings->recovery_disk
                                                  : (uint64_t)LIMIT_RECOVERY_DISK_GB << 30;
    pthread_mutex_init(&recovery->work, NULL);
    pthread_mutex_init(&recovery->lock, NULL);
    pthread_cond_init(&recovery->wake, NULL);
    bases_list(recovery->path, &recovery->bases);
    return recovery;
}

uint64_t recovery_log_from(const struct recovery *recovery) {
    return recovery == NULL || recovery->bases.count == 0 ? 0 : bases_log_from(&recovery->bases);
}

void recovery_start(struct recovery *recovery, struct local *local) {
    if (recovery == NULL)
        return;
    recovery->local = local;
    bases_clean(recovery->path);
    if (recovery->bases.count != 0 || longest_ms(local) != 0)
        run_thread(recovery);
}

void recovery_stop(struct recovery *recovery) {
    if (recovery == NULL)
        return;
    pthread_mutex_lock(&recovery->lock);
    recovery->stop = true;
    pthread_cond_broadcast(&recovery->wake);
    bool running = recovery->running;
    pthread_mutex_unlock(&recovery->lock);
    if (running)
        pthread_join(recovery->thread, NULL);
}

void recovery_free(struct recovery *recovery) {
    if (recovery == NULL)
        return;
    pthread_cond_destroy(&recovery->wake);
    pthread_mutex_destroy(&recovery->lock);
    pthread_mutex_destroy(&recovery->work);
    mem_free(recovery->path);
    mem_free(recovery);
}

/* --- those who read --- */

bool recovery_hold(struct recovery *recovery, int64_t time_ms, struct recovery_base *out) {
    pthread_mutex_lock(&recovery->lock);
    const struct recovery_base *base = bases_before(&recovery->bases, time_ms);
    if (base != NULL) {
        *out = *base;
        recovery->holders++;
    }
    pthread_mutex_unlock(&recovery->lock);
    return base != NULL;
}

void recovery_drop(struct recovery *recovery) {
    pthread_mutex_lock(&recovery->lock);
    recovery->holders--;
    pthread_mutex_unlock(&recovery->lock);
}

char *recovery_base_path(const struct recovery *recovery, const struct recovery_base *base) {
    return bases_path(recovery->path, base, "");
}

char *recovery_scratch_path(struct recovery *recovery) {
    char name[48];
    pthread_mutex_lock(&recovery->lock);
    snprintf(name, sizeof(name), "scratch-%llu.partial", (unsigned long long)recovery->scratch++);
    pthread_mutex_unlock(&recovery->lock);
    return files_join(recovery->path, name);
}

/* --- switching it on and off --- */

static enum status find_kept(struct local *local, struct bytes name, struct scope in,
                             struct kept *out) {
    pthread_rwlock_rdlock(&local->state_lock);
    const struct table *table = map_get(&local->tables, name);
    bool found = table != NULL, loading = found && table->loading;
    *out = found ? kept_of(table->schema) : (struct kept){0};
    pthread_rwlock_unlock(&local->state_lock);
    if (!found)
        return failure_set(in.failure, in.arena, NO_TABLE, "Table not found: %.*s",
                           BYTES_ARG(name));
    if (loading)
        return failure_set(in.failure, in.arena, TABLE_IN_USE, "Table is being created: %.*s",
                           BYTES_ARG(name));
    return OK;
}

static void tell_state(struct recovery *recovery, const struct kept *kept,
                       struct recovery_state *out) {
    int64_t now_ms = clock_now_ms();
    *out = (struct recovery_state){.enabled = kept->enabled, .days = (unsigned)kept->days};
    if (!kept->enabled)
        return;
    int64_t earliest_ms = now_ms - kept->days * DAY_MS;
    pthread_mutex_lock(&recovery->lock);
    int64_t base_ms = recovery->bases.count == 0 ? now_ms : recovery->bases.at[0].time_ms;
    pthread_mutex_unlock(&recovery->lock);
    if (earliest_ms < kept->since_ms)
        earliest_ms = kept->since_ms;
    out->earliest_ms = earliest_ms < base_ms ? base_ms : earliest_ms;
    out->latest_ms = now_ms;
}

enum status local_recovery_describe(struct engine *engine, struct bytes table, struct scope in,
                                    struct recovery_state *out) {
    struct local *local = (struct local *)engine;
    struct kept kept;
    *out = (struct recovery_state){0};
    enum status status = find_kept(local, table, in, &kept);
    if (status == OK && local->recovery != NULL)
        tell_state(local->recovery, &kept, out);
    return status;
}

/* Sets the tag, or takes it away. */
static enum status put_kept(struct local *local, struct bytes table, const struct kept *kept,
                            struct scope in) {
    struct tag tag = {.key = recovery_tag,
                      .value = arena_printf(in.arena, "%lld %lld", (long long)kept->since_ms,
                                            (long long)kept->days)};
    struct change change = {.kind = CHANGE_TAGS, .arena = in.arena, .table = table};
    if (kept->enabled) {
        change.tags = &tag;
        change.tag_count = 1;
    } else {
        change.untag = &recovery_tag;
        change.untag_count = 1;
    }
    enum status status = engine_submit_wait(&local->engine, &change);
    if (status != OK)
        *in.failure = change.failure;
    return status;
}

/* There is a base before it is said that recovery is on: by who has `work`. */
static enum status set_kept(struct local *local, const struct recovery_request *request,
                            struct scope in, struct kept *kept) {
    struct recovery *recovery = local->recovery;
    enum status status = OK;
    if (request->enabled && recovery->bases.count == 0)
        status = make_base(recovery, in);
    if (status != OK)
        return status;
    if (!kept->enabled)
        kept->since_ms = clock_now_ms();
    kept->enabled = request->enabled;
    kept->days = request->days != 0 ? request->days : LIMIT_RECOVERY_DAYS;
    return put_kept(local, request->table, kept, in);
}

enum status local_recovery_set(struct engine *engine, const struct recovery_request *request,
                               struct scope in, struct recovery_state *out) {
    struct local *local = (struct local *)engine;
    struct kept kept;
    enum status status = find_kept(local, request->table, in, &kept);
    *out = (struct recovery_state){0};
    if (status != OK || (!request->enabled && !kept.enabled))
        return status;
    if (local->recovery == NULL)
        return failure_set(in.failure, in.arena, UNSUPPORTED,
                           "The data is in memory only: start the server with --data to be able "
                           "to recover what it was.");
    pthread_mutex_lock(&local->recovery->work);
    status = set_kept(local, request, in, &kept);
    pthread_mutex_unlock(&local->recovery->work);
    run_thread(local->recovery);
    if (status == OK)
        tell_state(local->recovery, &kept, out);
    return status;
}

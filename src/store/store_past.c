/* The store as it was: a checkpoint, and what the log has from then on up to a time.
 *
 * The checkpoint's tables never change, so the new folder shares them by hard links; what says
 * which tables there are is copied. The folder is then opened as any other, and the groups of the
 * log are written to it as they were written once, many at a time. */
#include "store/store_int.h"

#include "base/files.h"
#include "base/limits.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- keeping the log --- */

void store_keep_recovery(struct store *store, uint64_t segment) {
    unsigned lane;
    atomic_store(&store->log_recovery, segment);
    if (!gate_enter(&store->gate, &lane))
        return; /* an opening looks at it */
    if (store->log != NULL && !store->settings.read_only)
        commit_log_release(store->log, 0, store_log_wanted(store));
    gate_leave(&store->gate, lane);
}

uint64_t store_recovery_position(struct store *store) {
    unsigned lane;
    if (!gate_enter(&store->gate, &lane))
        return 0;
    uint64_t segment = store->log == NULL ? 0 : commit_log_segment(store->log);
    gate_leave(&store->gate, lane);
    return segment;
}

uint64_t store_recovery_usage(struct store *store, uint64_t segment) {
    unsigned lane;
    if (!gate_enter(&store->gate, &lane))
        return 0;
    uint64_t usage = store->log == NULL ? 0 : commit_log_usage_from(store->log, segment);
    gate_leave(&store->gate, lane);
    return usage;
}

/* --- the new folder --- */

static enum status past_failed(const char *path, struct scope in) {
    return failure_set(in.failure, in.arena, IO_FAILED, "Cannot make the folder %s: %s.", path,
                       strerror(errno));
}

static int copy_bytes(int from, int to) {
    uint8_t chunk[16384];
    for (ssize_t got; (got = read(from, chunk, sizeof(chunk))) != 0;) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || files_write(to, bytes_of(chunk, (size_t)got)) != 0)
            return -1;
    }
    return fsync(to);
}

static int copy_file(const char *from, const char *to) {
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int result = out < 0 ? -1 : copy_bytes(in, out);
    int reason = errno;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    errno = reason;
    return result;
}

static bool is_table(const char *name) {
    size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, ".sst") == 0;
}

/* Tables are linked where the file system can; the rest is small. */
static int take_over(const char *from_folder, const char *to_folder, const char *name) {
    char *from = files_join(from_folder, name), *to = files_join(to_folder, name);
    int result = is_table(name) ? link(from, to) : -1;
    if (result != 0)
        result = copy_file(from, to);
    int reason = errno;
    mem_free(from);
    mem_free(to);
    errno = reason;
    return result;
}

static int take_over_all(const char *from, const char *to) {
    DIR *dir = opendir(from);
    int result = dir == NULL ? -1 : 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "LOCK") != 0)
            result = take_over(from, to, entry->d_name);
    int reason = errno;
    if (dir != NULL)
        closedir(dir);
    errno = reason;
    return result;
}

static enum status make_folder(const struct store_past *past, struct scope in) {
    char *from = files_join(past->base, "db"), *to = files_join(past->path, "db");
    int result = mkdir(to, 0700);
    if (result == 0)
        result = take_over_all(from, to);
    if (result == 0)
        result = folder_seal(past->path);
    enum status status = result == 0 ? OK : past_failed(past->path, in);
    mem_free(from);
    mem_free(to);
    return status;
}

/* --- the log --- */

struct replayed {
    struct store *from;
    struct store *to; /* NULL: only looks for the last group */
    const struct store_past *past;
    uint64_t end; /* of the groups that count */
    struct store_batch *batch;
    struct scope in;
};

static bool is_stopped(const struct store_past *past) {
    return past->stop != NULL && atomic_load(past->stop);
}

static enum status look_at_group(void *user, const struct log_group *group, struct bytes payload) {
    struct replayed *on = user;
    (void)payload;
    if (group->time_ms <= (uint64_t)on->past->time_ms)
        on->end = group->number + 1;
    return is_stopped(on->past) ? STOPPING : OK;
}

static enum status write_groups(struct replayed *on) {
    enum status status = store_write(on->to, on->batch, on->in);
    store_batch_clear(on->batch);
    return status;
}

static enum status write_group(void *user, const struct log_group *group, struct bytes payload) {
    struct replayed *on = user;
    enum status status = OK;
    (void)group;
    if (is_stopped(on->past))
        return STOPPING;
    if (store_batch_size(on->batch) + payload.size > LIMIT_PAST_BATCH)
        status = write_groups(on);
    if (status == OK && payload.size != 0)
        store_batch_add(on->batch, payload);
    return status;
}

/* One segment at a time, so that a store that must be reopened meanwhile does not wait for all. */
static enum status walk_log(struct replayed *on, struct log_walk *walk) {
    enum status status = OK;
    while (status == OK && walk->from < walk->until) {
        unsigned lane;
        if (!gate_enter(&on->from->gate, &lane))
            return IO_FAILED;
        status = on->from->log == NULL ? NOT_FOUND : commit_log_walk(on->from->log, walk);
        gate_leave(&on->from->gate, lane);
    }
    return status;
}

static uint64_t log_end(struct store *store) {
    unsigned lane;
    if (!gate_enter(&store->gate, &lane))
        return 0;
    uint64_t end = store->log == NULL ? 0 : commit_log_end(store->log);
    gate_leave(&store->gate, lane);
    return end;
}

static enum status walk_failed(enum status status, struct scope in) {
    if (in.failure->status == status)
        return status;
    if (status == STOPPING)
        return failure_set(in.failure, in.arena, status, "Stopped; nothing was made.");
    if (status == NOT_FOUND)
        return failure_set(in.failure, in.arena, status,
                           "The log no longer goes back to that time.");
    return failure_set(in.failure, in.arena, status, "The log cannot be read back to that time.");
}

static enum status replay_log(struct replayed *on, uint64_t from) {
    struct log_walk look = {from, log_end(on->from), {look_at_group, on}};
    *on->in.failure = (struct failure){0};
    on->end = from;
    enum status status = walk_log(on, &look);
    struct log_walk write = {from, on->end, {write_group, on}};
    if (status == OK)
        status = walk_log(on, &write);
    if (status == OK)
        status = write_groups(on);
    return status == OK ? OK : walk_failed(status, on->in);
}

static enum status bring_forward(struct store *store, const struct store_past *past,
                                 struct scope in) {
    struct store_settings settings = {
        .path = past->path, .must_exist = true, .sync = STORE_SYNC_NONE};
    struct replayed on = {.from = store, .past = past, .in = in};
    enum status status = store_open(&settings, in, &on.to);
    if (status != OK)
        return status;
    uint64_t from = on.to->table_end; /* nothing was written to it yet */
    on.batch = store_batch_new(on.to);
    status = replay_log(&on, from == 0 ? 1 : from);
    if (status == OK && store_sync(on.to) != OK)
        status = failure_set(in.failure, in.arena, IO_FAILED, "Cannot write to %s.", past->path);
    store_batch_free(on.batch);
    store_close(on.to);
    return status;
}

enum status store_restore_past(struct store *store, const struct store_past *past,
                               struct scope in) {
    if (mkdir(past->path, 0700) != 0)
        return past_failed(past->path, in);
    enum status status = make_folder(past, in);
    if (status == OK)
        status = bring_forward(store, past, in);
    if (status != OK)
        files_remove(past->path);
    return status;
}

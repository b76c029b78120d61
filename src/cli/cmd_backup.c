/* gametable backup, gametable restore: a data folder copied whole, by its files; and made as it was
 * at a time (--at).
 *
 * The folder is opened for reading only while it is copied, which takes its lock (nobody writes)
 * and shows that it can be opened. Its files go to TARGET.partial, are synced, opened once more,
 * and renamed: TARGET is whole or not there. */
#include "api/rest/rfc3339.h"
#include "base/files.h"
#include "base/mem.h"
#include "cli/cmd_copies.h"
#include "cli/cmd_options.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "store/store.h"
#include "table/local/local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

struct copying {
    const char *from, *to;
    char *partial; /* TO.partial */
    struct arena arena;
    struct failure failure;
    struct progress progress;
    const atomic_bool *stop;
    uint64_t done, total;
    uint8_t *chunk;
};

static enum status copy_failed(struct copying *on, const char *doing, const char *path) {
    return failure_set(&on->failure, &on->arena, IO_FAILED, "Cannot %s %s: %s.", doing, path,
                       strerror(errno));
}

/* --- files --- */

static enum status copy_bytes(struct copying *on, int from, int to, const char *path) {
    for (;;) {
        ssize_t got = read(from, on->chunk, CHUNK);
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return copy_failed(on, "read", path);
        if (files_write(to, bytes_of(on->chunk, (size_t)got)) != 0)
            return copy_failed(on, "write a copy of", path);
        on->done += (uint64_t)got;
        progress_show(&on->progress, on->done, on->total);
        if (atomic_load(on->stop))
            return failure_set(&on->failure, &on->arena, STOPPING, "Stopped; nothing was made.");
    }
    return fsync(to) == 0 ? OK : copy_failed(on, "write a copy of", path);
}

static enum status copy_file(struct copying *on, const char *name) {
    char *from = files_join(on->from, name), *to = files_join(on->partial, name);
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum status status = OK;
    if (in < 0)
        status = copy_failed(on, "read", from);
    else if (out < 0)
        status = copy_failed(on, "make", to);
    else
        status = copy_bytes(on, in, out, from);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    mem_free(from);
    mem_free(to);
    return status;
}

typedef enum status copy_step(struct copying *on, const char *name);

/* Whether a file of the database or the log belongs into a copy: spares of the log hold nothing. */
static bool is_copied(const char *name) {
    return name[0] != '.' && strcmp(name, "LOCK") != 0 && strncmp(name, "LOG", 3) != 0 &&
           strncmp(name, "spare-", 6) != 0;
}

/* Calls `with` for each file of a folder in the data folder, by its name from there on. */
static enum status each_file_in(struct copying *on, const char *folder, copy_step *with) {
    char *path = files_join(on->from, folder), name[300];
    DIR *dir = opendir(path);
    enum status status = dir != NULL ? OK : copy_failed(on, "read", path);
    mem_free(path);
    for (struct dirent *entry; status == OK && (entry = readdir(dir)) != NULL;) {
        snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
        if (is_copied(entry->d_name))
            status = with(on, name);
    }
    if (dir != NULL)
        closedir(dir);
    return status;
}

static bool has_file(const struct copying *on, const char *name) {
    char *path = files_join(on->from, name);
    bool there = access(path, F_OK) == 0;
    mem_free(path);
    return there;
}

/* Calls `with` for each file of the database and the log. An older folder has no log, nor has a
 * checkpoint, which says so by a file SEALED. */
static enum status each_file(struct copying *on, copy_step *with) {
    enum status status = each_file_in(on, "db", with);
    if (status == OK && has_file(on, "log"))
        status = each_file_in(on, "log", with);
    if (status == OK && has_file(on, "SEALED"))
        status = with(on, "SEALED");
    return status;
}

static enum status add_size(struct copying *on, const char *name) {
    char *path = files_join(on->from, name);
    struct stat info;
    if (stat(path, &info) == 0)
        on->total += (uint64_t)info.st_size;
    mem_free(path);
    return OK;
}

/* --- the folder --- */

/* FORMAT comes last: without it nothing takes the folder for data. */
static enum status copy_all(struct copying *on) {
    char *db = files_join(on->partial, "db"), *log = files_join(on->partial, "log");
    enum status status = OK;
    if (files_remove(on->partial) != 0 || files_make_path(db) != 0 ||
        (has_file(on, "log") && files_make_path(log) != 0))
        status = copy_failed(on, "make", on->partial);
    mem_free(db);
    mem_free(log);
    if (status == OK)
        status = each_file(on, add_size);
    if (status == OK)
        status = each_file(on, copy_file);
    if (status == OK)
        status = copy_file(on, "FORMAT");
    return status;
}

static enum status open_once(struct copying *on, const char *path, struct store **out) {
    struct store_settings settings = {.path = path, .must_exist = true, .read_only = true};
    return store_open(&settings, (struct scope){&on->arena, &on->failure}, out);
}

/* Whether there is something at TARGET; an empty folder is as good as none. */
static enum status check_target(struct copying *on) {
    if (rmdir(on->to) == 0 || errno == ENOENT)
        return OK;
    return failure_set(&on->failure, &on->arena, INVALID,
                       "%s is there already: it is not overwritten.", on->to);
}

static enum status put_in_place(struct copying *on) {
    struct store *copy;
    enum status status = open_once(on, on->partial, &copy);
    if (status != OK)
        return status;
    store_close(copy);
    char *lock = files_join(on->partial, "LOCK");
    files_remove(lock);
    mem_free(lock);
    if (files_sync_all(on->partial) != 0 || files_move(on->partial, on->to) != 0)
        return copy_failed(on, "make", on->to);
    return OK;
}

static enum status copy_folder(struct copying *on) {
    struct store *store;
    enum status status = check_target(on);
    if (status == OK)
        status = open_once(on, on->from, &store);
    if (status != OK)
        return status;
    status = copy_all(on);
    store_close(store);
    if (status == OK)
        status = put_in_place(on);
    if (status != OK)
        files_remove(on->partial);
    return status;
}

static char *partial_of(const char *path) {
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    char *partial = mem_alloc(size + sizeof(".partial"));
    snprintf(partial, size + sizeof(".partial"), "%.*s.partial", (int)size, path);
    return partial;
}

static int copy(const char *what, const char *from, const char *to) {
    struct copying on = {.from = from, .to = to, .stop = copies_catch_signals()};
    char *parent = partial_of(to);
    arena_init(&on.arena);
    on.partial = parent;
    on.chunk = mem_alloc(CHUNK);
    progress_start(&on.progress, what, "bytes");
    enum status status = copy_folder(&on);
    progress_end(&on.progress, on.done);
    int result = 0;
    if (status == OK)
        printf("%s: %.1f MB from %s\n", to, (double)on.done / 1e6, from);
    else
        result = copies_failed(&on.failure);
    mem_free(on.chunk);
    mem_free(on.partial);
    arena_release(&on.arena);
    return result;
}

/* --- as it was --- */

/* Seconds since 1970, or as RFC 3339 has it. */
static bool read_time(const char *text, int64_t *out) {
    char *end;
    double seconds = strtod(text, &end);
    if (end != text && *end == '\0' && seconds > 0 && seconds < 1e11) {
        *out = (int64_t)(seconds * 1000 + 0.5);
        return true;
    }
    return rfc3339_read(bytes_str(text), out);
}

static enum status make_past(struct copying *on, int64_t time_ms) {
    struct past_request request = {on->from, on->partial, time_ms, on->stop};
    enum status status = check_target(on);
    if (status == OK && files_remove(on->partial) != 0)
        status = copy_failed(on, "remove", on->partial);
    if (status == OK)
        status = local_restore_past(&request, (struct scope){&on->arena, &on->failure});
    if (status == OK)
        status = put_in_place(on);
    if (status != OK)
        files_remove(on->partial);
    return status;
}

static int restore_at(const char *from, const char *to, const char *time) {
    struct copying on = {.from = from, .to = to, .stop = copies_catch_signals()};
    int64_t time_ms;
    if (!read_time(time, &time_ms)) {
        fprintf(stderr, "gametable restore: --at is a time such as 2026-11-16T20:15:00Z, or "
                        "seconds since 1970\n");
        return 2;
    }
    arena_init(&on.arena);
    on.partial = partial_of(to);
    enum status status = make_past(&on, time_ms);
    int result = status == OK ? 0 : copies_failed(&on.failure);
    if (status == OK)
        printf("%s: %s as it was at %s\n", to, from, time);
    mem_free(on.partial);
    arena_release(&on.arena);
    return result;
}

/* --- the commands --- */

int command_backup(int argc, char **argv) {
    const char *data = "./gametable-data", *id = NULL;
    struct option_spec specs[] = {{"data", &data, NULL}, {"id", &id, NULL}, {NULL, NULL, NULL}};
    int count = options_read("backup", argc, argv, specs);
    if (count != 1 || (id != NULL && strchr(id, '/') != NULL)) {
        if (count >= 0)
            fputs("usage: gametable backup [--data DIR] [--id ID] TARGET\n", stderr);
        return 2;
    }
    if (id == NULL)
        return copy("copying", data, argv[0]);
    char *backups = files_join(data, "backups"), *from = files_join(backups, id);
    int result = copy("copying", from, argv[0]);
    mem_free(backups);
    mem_free(from);
    return result;
}

int command_restore(int argc, char **argv) {
    const char *data = "./gametable-data", *at = NULL;
    struct option_spec specs[] = {{"data", &data, NULL}, {"at", &at, NULL}, {NULL, NULL, NULL}};
    int count = options_read("restore", argc, argv, specs);
    if (count != 1) {
        if (count >= 0)
            fputs("usage: gametable restore [--data DIR] [--at TIME] BACKUP\n", stderr);
        return 2;
    }
    if (at != NULL)
        return restore_at(argv[0], data, at);
    return copy("restoring", argv[0], data);
}

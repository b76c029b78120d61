/* gametable backup, gametable restore: a data folder copied whole, by its files.
 *
 * The folder is opened for reading only while it is copied, which takes its lock (nobody writes)
 * and shows that it can be opened. Its files go to TARGET.partial, are synced, opened once more,
 * and renamed: TARGET is whole or not there. */
#include "base/files.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/copies.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

static enum status failed(struct copying *on, const char *doing, const char *path) {
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
            return failed(on, "read", path);
        if (files_write(to, bytes_of(on->chunk, (size_t)got)) != 0)
            return failed(on, "write a copy of", path);
        on->done += (uint64_t)got;
        progress_show(&on->progress, on->done, on->total);
        if (atomic_load(on->stop))
            return failure_set(&on->failure, &on->arena, STOPPING, "Stopped; nothing was made.");
    }
    return fsync(to) == 0 ? OK : failed(on, "write a copy of", path);
}

static enum status copy_file(struct copying *on, const char *name) {
    char *from = files_join(on->from, name), *to = files_join(on->partial, name);
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum status status = OK;
    if (in < 0)
        status = failed(on, "read", from);
    else if (out < 0)
        status = failed(on, "make", to);
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

/* Calls `with` for each file of the database, by its name from the data folder on. */
static enum status each_file(struct copying *on,
                             enum status (*with)(struct copying *on, const char *name)) {
    char *path = files_join(on->from, "db"), name[300];
    DIR *dir = opendir(path);
    enum status status = dir != NULL ? OK : failed(on, "read", path);
    mem_free(path);
    for (struct dirent *entry; status == OK && (entry = readdir(dir)) != NULL;) {
        bool own = entry->d_name[0] == '.' || strcmp(entry->d_name, "LOCK") == 0 ||
                   strncmp(entry->d_name, "LOG", 3) == 0;
        snprintf(name, sizeof(name), "db/%s", entry->d_name);
        if (!own)
            status = with(on, name);
    }
    if (dir != NULL)
        closedir(dir);
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
    char *db = files_join(on->partial, "db");
    enum status status = OK;
    if (files_remove(on->partial) != 0 || files_make_path(db) != 0)
        status = failed(on, "make", on->partial);
    mem_free(db);
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
    return store_open(&settings, &on->arena, &on->failure, out);
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
        return failed(on, "make", on->to);
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
    const char *data = "./gametable-data";
    struct option_spec specs[] = {{"data", &data, NULL}, {NULL, NULL, NULL}};
    int count = options_read("restore", argc, argv, specs);
    if (count != 1) {
        if (count >= 0)
            fputs("usage: gametable restore [--data DIR] BACKUP\n", stderr);
        return 2;
    }
    return copy("restoring", argv[0], data);
}

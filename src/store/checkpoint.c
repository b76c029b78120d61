/* A second data folder beside the first, from hard links: what backups are made of. */
#include "store/store_int.h"

#include "base/files.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

const char *store_path(const struct store *store) {
    return store->settings.memory ? NULL : store->folder.path;
}

static enum status failed(const char *path, const char *why, struct arena *arena,
                          struct failure *failure) {
    return failure_set(failure, arena, IO_FAILED, "Cannot make the checkpoint %s: %s.", path, why);
}

/* Flushes first, so that the checkpoint has next to no log and opens at once. */
static enum status link_db(struct store *store, const char *path, struct arena *arena,
                           struct failure *failure) {
    char *error = NULL;
    char why[sizeof(store->why)];
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(store->db, &error);
    if (error == NULL) {
        char *db = files_join(path, "db");
        rocksdb_checkpoint_create(checkpoint, db, 0, &error);
        mem_free(db);
        rocksdb_checkpoint_object_destroy(checkpoint);
    }
    if (error == NULL)
        return OK;
    db_error(error, why, sizeof(why));
    return failed(path, why, arena, failure);
}

static enum status make(struct store *store, const char *path, struct arena *arena,
                        struct failure *failure) {
    unsigned lane;
    if (!gate_enter(&store->gate, &lane))
        return failed(path, "the store is closed", arena, failure);
    enum status status = link_db(store, path, arena, failure);
    gate_leave(&store->gate, lane);
    if (status == OK && folder_seal(path) != 0)
        status = failed(path, strerror(errno), arena, failure);
    return status;
}

enum status store_checkpoint(struct store *store, const char *path, struct arena *arena,
                             struct failure *failure) {
    if (store->settings.memory)
        return failure_set(failure, arena, UNSUPPORTED,
                           "The data is in memory only: start the server with --data to be able "
                           "to make copies of it.");
    if (store_is_broken(store) && !store->settings.read_only)
        return failed(path, "the disk refuses writes", arena, failure);
    if (mkdir(path, 0700) != 0)
        return failed(path, strerror(errno), arena, failure);
    enum status status = make(store, path, arena, failure);
    if (status != OK)
        files_remove(path);
    return status;
}

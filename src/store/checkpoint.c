/* A second data folder beside the first, from hard links: what backups are made of. It has tables
 * only: all that was committed is handed over first, and the next log is its own. */
#include "store/store_int.h"

#include "base/files.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

const char *store_path(const struct store *store) {
    return store->settings.memory ? NULL : store->folder.path;
}

static enum status failed(const char *path, const char *why, struct scope in) {
    return failure_set(in.failure, in.arena, IO_FAILED, "Cannot make the checkpoint %s: %s.", path,
                       why);
}

/* No handover is under way. */
static enum status link_db(struct store *store, const char *path, struct scope in) {
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
    return failed(path, why, in);
}

static enum status make(struct store *store, const char *path, struct scope in) {
    unsigned lane;
    if (!gate_enter(&store->gate, &lane))
        return failed(path, "the store is closed", in);
    enum status status = handover_wait(store);
    if (status != OK)
        status = failed(path, "the disk refuses writes", in);
    pthread_mutex_lock(&store->table_lock);
    if (status == OK)
        status = link_db(store, path, in);
    pthread_mutex_unlock(&store->table_lock);
    gate_leave(&store->gate, lane);
    if (status == OK && folder_seal(path) != 0)
        status = failed(path, strerror(errno), in);
    return status;
}

enum status store_checkpoint(struct store *store, const char *path, struct scope in) {
    if (store->settings.memory)
        return failure_set(in.failure, in.arena, UNSUPPORTED,
                           "The data is in memory only: start the server with --data to be able "
                           "to make copies of it.");
    if (store->settings.read_only)
        return failed(path, "the data folder was opened for reading only", in);
    if (store_is_broken(store))
        return failed(path, "the disk refuses writes", in);
    if (mkdir(path, 0700) != 0)
        return failed(path, strerror(errno), in);
    enum status status = make(store, path, in);
    if (status != OK)
        files_remove(path);
    return status;
}

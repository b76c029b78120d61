/* Opening and closing the database, and what its errors mean. */
#include "store/manifest_check.h"
#include "store/store_int.h"

#include <errno.h>
#include <stdio.h>

static const char *const names[DB_FAMILIES] = {"default", "meta", "items", "stream"};

const char *db_family_name(enum store_family family) {
    return names[family + 1];
}

static bool has(const char *text, const char *part) {
    return strstr(text, part) != NULL;
}

/* The database hands out texts only: "Corruption: ...", "IO error: ...: reason". */
static enum status error_status(const char *error) {
    bool io = strncmp(error, "IO error", 8) == 0;
    bool lost = has(error, "No such file or directory") || has(error, "larger than file length");
    if (io && !lost)
        return IO_FAILED;
    if (io || has(error, "orruption") || has(error, "does not exist"))
        return DAMAGED;
    return IO_FAILED;
}

bool db_says_full(const char *why) {
    return has(why, strerror(ENOSPC)) || has(why, strerror(EDQUOT));
}

enum status db_error(char *error, char *why, size_t why_size) {
    if (error == NULL)
        return OK;
    enum status status = error_status(error);
    if (why != NULL) {
        snprintf(why, why_size, "%s", error);
        for (char *at = why; *at != '\0'; at++)
            if ((unsigned char)*at < ' ')
                *at = ' ';
    }
    rocksdb_free(error);
    return status;
}

/* --- opening --- */

static enum status open_failed(struct store *store, char *error, struct scope in) {
    bool unknown = has(error, "olumn families not opened");
    char why[320];
    enum status status = db_error(error, why, sizeof(why));
    if (store->settings.memory)
        return failure_set(in.failure, in.arena, status, "Cannot open the store: %s.", why);
    if (unknown)
        return folder_newer(&store->folder, why, in);
    if (status == DAMAGED)
        return folder_damaged(&store->folder, why, in);
    if (db_says_full(why))
        return folder_full(&store->folder, in);
    return failure_set(in.failure, in.arena, status,
                       "Cannot open the data folder %s: %s. Free the disk or fix its rights, then "
                       "start again; nothing is lost.",
                       store->folder.path, why);
}

/* Which of our families the database has: later ones may be missing. */
static int families_there(const struct store *store, const char *path) {
    size_t count = 0;
    int there = 0;
    char *error = NULL;
    char **list = rocksdb_list_column_families(store->options.db, path, &count, &error);
    bool listed = db_error(error, NULL, 0) == OK;
    for (size_t i = 0; listed && i < count; i++)
        for (int j = 0; j < DB_FAMILIES; j++)
            there += strcmp(list[i], names[j]) == 0;
    rocksdb_list_column_families_destroy(list, count); /* there even after an error */
    return listed ? there : DB_FAMILIES;               /* then the opening says what is wrong */
}

/* Opened for reading only, a family cannot be made: it stays NULL. */
static rocksdb_t *open_read_only(struct store *store, const char *path,
                                 const rocksdb_options_t *const *each, char **error) {
    int there = families_there(store, path);
    for (int i = 0; i < DB_FAMILIES; i++)
        store->families[i] = NULL;
    return rocksdb_open_for_read_only_column_families(store->options.db, path, there, names, each,
                                                      store->families, 0, error);
}

enum status db_open(struct store *store, bool read_only, struct scope in) {
    struct db_options *options = &store->options;
    const rocksdb_options_t *each[DB_FAMILIES] = {options->db};
    for (int i = 0; i < STORE_FAMILIES; i++)
        each[i + 1] = options->family[i];
    const char *path = store->settings.memory ? "/memory" : store->folder.db_path;
    bool make = store->settings.memory || store->folder.making;
    rocksdb_options_set_create_if_missing(options->db, make);
    char *error = NULL;
    if (!read_only)
        tables_clean(store);
    if (!store->settings.memory)
        manifest_mend(path);
    store->db = read_only ? open_read_only(store, path, each, &error)
                          : rocksdb_open_column_families(options->db, path, DB_FAMILIES, names,
                                                         each, store->families, &error);
    if (error == NULL)
        return OK;
    store->db = NULL;
    return open_failed(store, error, in);
}

void db_close(struct store *store) {
    if (store->db == NULL)
        return;
    for (int i = 0; i < DB_FAMILIES; i++)
        if (store->families[i] != NULL)
            rocksdb_column_family_handle_destroy(store->families[i]);
    rocksdb_close(store->db);
    store->db = NULL;
}

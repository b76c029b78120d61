/* The data folder: what lies in it, whose it is, and which format it has.
 *
 *   DIR/LOCK     held with flock() while a process has the folder; the holder's id is in it
 *   DIR/FORMAT   "gametable 2\n": the number grows when an older program could not read it
 *   DIR/MAKING   there from before FORMAT until the database has been made
 *   DIR/db/      the database
 *
 * A first start writes MAKING, FORMAT, db, and removes MAKING, each on the disk before the next;
 * so an interrupted one is known by MAKING and simply done again, and in a folder without MAKING
 * a database that is not there has been lost.
 *
 * A folder of a smaller number is read as it is. Before anything is written to it, it gets this
 * program's number, since from then on an older program might not understand it:
 *   1  records of streams are stored one by one
 *   2  those of a commit together (table/local/bundle.h); single ones may still be there
 */
#ifndef GT_STORE_FOLDER_H
#define GT_STORE_FOLDER_H

#include "base/status.h"

enum { FOLDER_FORMAT = 2 };

struct folder {
    char *path;    /* as given, for messages */
    char *db_path; /* path/db */
    int lock;      /* a descriptor, or -1 */
    bool making;   /* the database is yet to be made */
    bool read_only;
};

struct folder_settings {
    const char *path;
    bool must_exist;
    bool read_only;
};

/* Takes the folder, making it if missing. Nothing is held on failure. */
enum status folder_open(struct folder *folder, const struct folder_settings *settings,
                        struct arena *arena, struct failure *failure);
/* The database is there. */
enum status folder_made(struct folder *folder, struct arena *arena, struct failure *failure);
void folder_close(struct folder *folder);

/* Whether there is room for `size` bytes and the disk takes them: writes and removes a file.
 * IO_FAILED with the system's reason. */
enum status folder_probe(const struct folder *folder, size_t size, struct arena *arena,
                         struct failure *failure);
/* Makes the folder at `path`, which has a finished db in it, a data folder: syncs what is there and
 * writes FORMAT. 0, or -1 with errno set. */
int folder_seal(const char *path);
/* Bytes in the database's files whose names end so; "" for all. */
uint64_t folder_usage(const struct folder *folder, const char *suffix);

/* A sentence about damage, with what to do. `what` is a clause without a full stop. */
enum status folder_damaged(const struct folder *folder, const char *what, struct arena *arena,
                           struct failure *failure);
enum status folder_newer(const struct folder *folder, const char *what, struct arena *arena,
                         struct failure *failure);

#endif

/* The data folder: what lies in it, whose it is, and which format it has.
 *
 *   DIR/LOCK     held with flock() while a process has the folder; the holder's id is in it
 *   DIR/FORMAT   "gametable 4\n": the number grows when an older program could not read it
 *   DIR/MAKING   there from before FORMAT until database and log have been made
 *   DIR/SEALED   there in a checkpoint until it is opened for writing: it has no log, and needs
 * none DIR/db/      the database DIR/log/     the commit log
 *
 * A first start writes MAKING, FORMAT, db, log, and removes MAKING, each on the disk before the
 * next; so an interrupted one is known by MAKING and simply done again, and in a folder without
 * MAKING a database or a log that is not there has been lost.
 *
 * A folder of a smaller number is read as it is. Before anything is written to it that an older
 * program might not understand, it gets this program's number:
 *   1  records of streams are stored one by one
 *   2  those of a commit together (table/local/bundle.h); single ones may still be there
 *   3  as 2; the database has a log of its own, and there is no other
 *   4  writes are in DIR/log until the database has them; it has no log of its own
 * The database writes what its own log had into tables when it is opened, then the log is made,
 * then FORMAT is written: an upgrade that was interrupted is simply done again.
 */
#ifndef GT_STORE_DATA_FOLDER_H
#define GT_STORE_DATA_FOLDER_H

#include "base/status.h"

enum { FOLDER_FORMAT = 4 };

struct folder {
    char *path;      /* as given, for messages */
    char *db_path;   /* path/db */
    char *log_path;  /* path/log */
    int lock;        /* a descriptor, or -1 */
    unsigned format; /* as it was found, or became */
    bool making;     /* database and log are yet to be made */
    bool sealed;     /* a checkpoint that was not written to yet */
    bool read_only;
};

struct folder_settings {
    const char *path;
    bool must_exist;
    bool read_only;
};

/* Takes the folder, making it if missing. Nothing is held on failure. */
enum status folder_open(struct folder *folder, const struct folder_settings *settings,
                        struct scope in);
/* Database and log are there and of this program's format: says so, on the disk. */
enum status folder_made(struct folder *folder, struct scope in);
/* Whether it has no log yet: it is being made, sealed, or older than the log. */
static inline bool folder_is_fresh(const struct folder *folder) {
    return folder->making || folder->sealed || folder->format < FOLDER_FORMAT;
}
void folder_close(struct folder *folder);

/* Whether there is room for `size` bytes and the disk takes them: writes and removes a file.
 * IO_FAILED with the system's reason. */
enum status folder_probe(const struct folder *folder, size_t size, struct scope in);
/* Makes the folder at `path`, which has a finished db in it, a data folder: syncs what is there and
 * writes SEALED and FORMAT. 0, or -1 with errno set. */
int folder_seal(const char *path);
/* Bytes in the database's files whose names end so; "" for all. */
uint64_t folder_usage(const struct folder *folder, const char *suffix);

/* About how many bytes must be free for an opening: what the logs hold becomes tables. */
uint64_t folder_need(const struct folder *folder);
/* IO_FAILED with a sentence that says how much room is needed. */
enum status folder_full(const struct folder *folder, struct scope in);
/* A sentence about damage, with what to do. `what` is a clause without a full stop. */
enum status folder_damaged(const struct folder *folder, const char *what, struct scope in);
enum status folder_newer(const struct folder *folder, const char *what, struct scope in);

#endif

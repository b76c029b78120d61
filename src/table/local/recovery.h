/* Point-in-time recovery: what is kept so that a table can be had as it was at any time of the last
 * days.
 *
 *   DIR/recovery/TIME-SEGMENT/       a checkpoint of the whole store, a "base", made at TIME
 *                                    (milliseconds); the commits since then are in the log from
 *                                    SEGMENT on, which is kept for it
 *   DIR/recovery/....partial/        being made, being removed, or being read
 *
 * A base holds all tables, and so does the log: which tables have recovery, since when and for how
 * many days, is kept with each table, as a tag that no client can name. While any has it, there is
 * a new base each day, or sooner when much was written; the oldest ones go with the log before the
 * next one when no table's period reaches back to them, or when all take more room than the setting
 * allows. A thread looks after that every few seconds; it runs once a table has had recovery.
 *
 * A table as it was is read from a copy of the newest base before that time, to which the log was
 * applied up to it (store_restore_past()). */
#ifndef GT_TABLE_LOCAL_RECOVERY_H
#define GT_TABLE_LOCAL_RECOVERY_H

#include "table/backup.h"

#include <stdatomic.h>

struct local;
struct local_settings;
struct recovery;

struct recovery_base {
    int64_t time_ms;  /* it has all commits up to some time before this one, and none after it */
    uint64_t segment; /* of the log: the commits that it does not have stand from there on */
};

/* Looks at what the data folder has; NULL in memory or if it is only read. Before the store is
 * opened, which must keep the log from recovery_log_from() on. */
struct recovery *recovery_new(const struct local_settings *settings);
uint64_t recovery_log_from(const struct recovery *recovery);
/* The engine is open: begins to look after it. */
void recovery_start(struct recovery *recovery, struct local *local);
/* Ends the thread. Before the writer stops. */
void recovery_stop(struct recovery *recovery);
void recovery_free(struct recovery *recovery);

/* Does at once what the thread does from time to time; for tests, too. Any thread but the writer.
 */
void recovery_look(struct recovery *recovery);

/* The newest base before that time, which stays until recovery_drop(). False: there is none. */
bool recovery_hold(struct recovery *recovery, int64_t time_ms, struct recovery_base *out);
void recovery_drop(struct recovery *recovery);
/* Its folder, on the heap. */
char *recovery_base_path(const struct recovery *recovery, const struct recovery_base *base);
/* A path for a folder that is removed at the next start, on the heap. */
char *recovery_scratch_path(struct recovery *recovery);

enum status local_recovery_set(struct engine *engine, const struct recovery_request *request,
                               struct scope in, struct recovery_state *out);
enum status local_recovery_describe(struct engine *engine, struct bytes table, struct scope in,
                                    struct recovery_state *out);

/* past_reader.c: a table as it was. The folder is made when the first item is asked for. */
enum status past_reader_open(struct local *local, const struct reader_request *request,
                             struct scope in, struct table_reader **out);

#endif

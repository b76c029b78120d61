/* Copies of tables: backups that an engine keeps, and reading a table as it is at one snapshot,
 * without slowing down those who use it.
 *
 * All of these take their time (files are made, opened, removed): call them from a thread that may
 * wait. Only of an engine that says ENGINE_COPIES (engine.h). A table is brought back by reading a
 * backup and writing what it holds into a new table that is `loading` (change.h) until it is whole.
 */
#ifndef GT_TABLE_BACKUP_H
#define GT_TABLE_BACKUP_H

#include "table/schema.h"

#include <stdatomic.h>

struct engine;

struct backup_description {
    struct bytes id;   /* in the order they were made */
    struct bytes name; /* as its maker called it; not unique */
    int64_t created_ms;
    struct table_description table; /* as it was; `indexes` unset */
};

/* Makes a backup of a table as it is now. It is on the disk when this returns. NO_TABLE,
 * TABLE_IN_USE (it is being loaded), IO_FAILED, UNSUPPORTED (in memory). */
struct backup_request {
    struct bytes table;
    struct bytes name;
};
enum status engine_backup_create(struct engine *engine, const struct backup_request *request,
                                 struct scope in, struct backup_description *out);

/* NO_RESOURCE. */
enum status engine_backup_describe(struct engine *engine, struct bytes id, struct scope in,
                                   struct backup_description *out);
/* Describes it and removes it. NO_RESOURCE, IN_USE (somebody reads it). */
enum status engine_backup_delete(struct engine *engine, struct bytes id, struct scope in,
                                 struct backup_description *out);

/* Those that match, oldest first. Zero is all of them. */
struct backup_filter {
    struct bytes table;        /* empty: of any */
    int64_t from_ms, until_ms; /* made in [from, until); 0: no bound */
    struct bytes after;        /* an id; empty: from the start */
    size_t limit;              /* 0: none */
};
struct backup_list {
    struct backup_description *backups;
    size_t count;
    bool more;
};
enum status engine_backup_list(struct engine *engine, const struct backup_filter *filter,
                               struct scope in, struct backup_list *out);

/* --- reading a table at one snapshot --- */

/* A walk over all items of a table. The engine makes it and fills in the functions; one thread uses
 * it at a time, and closes it. */
struct table_reader {
    struct table_description about; /* name, schema, counts; `indexes` unset */
    /* The next item, in the arena, or NOT_FOUND at the end. IO_FAILED, DAMAGED. */
    enum status (*next)(struct table_reader *reader, struct arena *arena, struct item *out);
    /* Goes back to the first item. */
    void (*restart)(struct table_reader *reader);
    void (*close)(struct table_reader *reader);
    const atomic_bool *stop; /* whoever reads may set it, to be looked at by a call of `next` that
                                takes long, which then is STOPPING; NULL: none */
};

/* A table as it is now (backup empty), as it was at some time, or as it is in a backup (table
 * empty). Of one as it was, the first item may take minutes to come, and `about` is the table as it
 * is now. NO_TABLE, NO_RESOURCE (also: recovery is not on), INVALID (what is kept does not have
 * that time), IN_USE, TABLE_IN_USE, IO_FAILED, UNSUPPORTED. Close it when done. */
struct reader_request {
    struct bytes table;
    struct bytes backup;
    int64_t at_ms; /* 0: now */
};
enum status engine_read_table(struct engine *engine, const struct reader_request *request,
                              struct scope in, struct table_reader **out);

/* --- point-in-time recovery: a table as it was at any time of the last days --- */

/* Switches it on or off, or changes the days. When this returns, what is needed is on the disk.
 * NO_TABLE, TABLE_IN_USE (it is being loaded), IO_FAILED, UNSUPPORTED (in memory). */
struct recovery_request {
    struct bytes table;
    bool enabled;
    unsigned days; /* 1 to LIMIT_RECOVERY_DAYS; 0: as many */
};
struct recovery_state {
    bool enabled;
    unsigned days;
    int64_t earliest_ms, latest_ms; /* what can be had; 0 unless enabled */
};
enum status engine_recovery_set(struct engine *engine, const struct recovery_request *request,
                                struct scope in, struct recovery_state *out);
/* NO_TABLE, TABLE_IN_USE. Does not wait. */
enum status engine_recovery_describe(struct engine *engine, struct bytes table, struct scope in,
                                     struct recovery_state *out);

struct copy_ops {
    enum status (*backup_create)(struct engine *, const struct backup_request *, struct scope,
                                 struct backup_description *);
    enum status (*backup_describe)(struct engine *, struct bytes, struct scope,
                                   struct backup_description *);
    enum status (*backup_delete)(struct engine *, struct bytes, struct scope,
                                 struct backup_description *);
    enum status (*backup_list)(struct engine *, const struct backup_filter *, struct scope,
                               struct backup_list *);
    enum status (*read_table)(struct engine *, const struct reader_request *, struct scope,
                              struct table_reader **);
    enum status (*recovery_set)(struct engine *, const struct recovery_request *, struct scope,
                                struct recovery_state *);
    enum status (*recovery_describe)(struct engine *, struct bytes, struct scope,
                                     struct recovery_state *);
};

#endif

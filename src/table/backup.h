/* Copies of tables: backups that an engine keeps, and reading a table as of one moment, away from
 * those who use it.
 *
 * All of these take their time (files are made, opened, removed): call them from a thread that may
 * wait. A table is brought back by reading a backup and writing what it holds into a new table
 * that is `loading` (table.h) until it is whole.
 */
#ifndef GT_TABLE_BACKUP_H
#define GT_TABLE_BACKUP_H

#include "table/schema.h"

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
                                 struct arena *arena, struct failure *failure,
                                 struct backup_description *out);

/* NO_RESOURCE. */
enum status engine_backup_describe(struct engine *engine, struct bytes id, struct arena *arena,
                                   struct failure *failure, struct backup_description *out);
/* Describes it and removes it. NO_RESOURCE, IN_USE (somebody reads it). */
enum status engine_backup_delete(struct engine *engine, struct bytes id, struct arena *arena,
                                 struct failure *failure, struct backup_description *out);

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
                               struct arena *arena, struct failure *failure,
                               struct backup_list *out);

/* --- reading a table as of one moment --- */

/* Its functions are the engine's. One thread at a time. */
struct table_reader {
    struct table_description about; /* name, schema, counts; `indexes` unset */
    /* The next item, in the arena, or NOT_FOUND at the end. IO_FAILED, DAMAGED. */
    enum status (*next)(struct table_reader *reader, struct arena *arena, struct item *out);
    /* Goes back to the first item. */
    void (*restart)(struct table_reader *reader);
    void (*close)(struct table_reader *reader);
};

/* A table as it is now (backup empty), or as it is in a backup (table empty). NO_TABLE,
 * NO_RESOURCE, IN_USE, TABLE_IN_USE, IO_FAILED, UNSUPPORTED. Close it when done. */
struct reader_request {
    struct bytes table;
    struct bytes backup;
};
enum status engine_read_table(struct engine *engine, const struct reader_request *request,
                              struct arena *arena, struct failure *failure,
                              struct table_reader **out);

#endif

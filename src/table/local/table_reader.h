/* Reading a table of a data folder that nobody has open for writing: a checkpoint, a backup, or the
 * folder of a server that does not run. */
#ifndef GT_TABLE_LOCAL_TABLE_READER_H
#define GT_TABLE_LOCAL_TABLE_READER_H

#include "table/backup.h"

struct reader_source {
    const char *path;
    struct bytes table;
    void (*closed)(void *context); /* when it has been closed; may be NULL */
    void *context;
};

/* As engine_read_table(). On failure `closed` is not called. */
enum status reader_open(const struct reader_source *source, struct scope in,
                        struct table_reader **out);

#endif

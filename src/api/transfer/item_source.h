/* Sources of items: files, and snapshots of tables. */
#ifndef GT_API_TRANSFER_ITEM_SOURCE_H
#define GT_API_TRANSFER_ITEM_SOURCE_H

#include "api/transfer/table_load.h"
#include "table/backup.h"

enum file_format { FORMAT_JSON, FORMAT_CSV };

struct file_list {
    char **paths;
    size_t count, room;
    uint64_t size; /* bytes of all of them, as they lie there */
};

/* Adds the file, or all files below the folder, in order of their names. What belongs to an export
 * but holds no items (manifests, table.json, checksums) and hidden files are left out; links are
 * not followed. NOT_FOUND if there is none; LIMIT_EXCEEDED, IO_FAILED. */
enum status files_below(struct file_list *list, const char *path, struct scope in);
/* Adds only the files below `folder` whose path from there begins with `prefix`. */
enum status files_with_prefix(struct file_list *list, const char *folder, const char *prefix,
                              struct scope in);
void file_list_release(struct file_list *list);

struct file_source_settings {
    const struct file_list *files;
    enum file_format format;
    const struct table_schema *schema; /* CSV: the types of keys */
    uint8_t delimiter;                 /* CSV; 0: a comma */
    const struct bytes *header;        /* CSV: names of the columns; NULL: the first row of each */
    size_t header_count;
};

/* Everything in the settings must outlive it. Files may be gzip or plain, whatever their names. */
struct source *file_source_new(const struct file_source_settings *settings);
void file_source_free(struct source *source);

/* Takes the reader, which is closed with it. */
struct source *table_source_new(struct table_reader *reader);
void table_source_free(struct source *source);

#endif

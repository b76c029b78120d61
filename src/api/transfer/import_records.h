/* Records in files: lines of JSON and rows of CSV, from bytes that nobody vouches for.
 *
 * A stream hands out the bytes of one file, unpacked if they are gzip. Records are taken from it
 * one by one; one that is too long is told and passed over, and so is one that makes no sense.
 */
#ifndef GT_API_TRANSFER_IMPORT_RECORDS_H
#define GT_API_TRANSFER_IMPORT_RECORDS_H

#include "base/buf.h"
#include "base/status.h"
#include "table/schema.h"

/* Reads up to `size` bytes to `to`. 0 at the end, -1 if it cannot be read. */
struct byte_stream {
    long (*read)(struct byte_stream *byte_stream, void *to, size_t size);
};

struct records {
    struct byte_stream *byte_stream;
    struct buf buf; /* bytes read and not yet taken */
    size_t at;      /* of the next record in it */
    size_t scanned; /* bytes from `at` on that were looked at and hold no end */
    bool ended;     /* the stream is at its end */
    uint64_t size;  /* bytes taken */
};

void records_init(struct records *records, struct byte_stream *byte_stream);
void records_release(struct records *records);

/* The next line without its end. Good until the next call. NOT_FOUND at the end, INVALID for one of
 * more than LIMIT_RECORD_SIZE bytes, IO_FAILED. */
enum status records_line(struct records *records, struct bytes *out);

struct csv_field {
    struct bytes text; /* unescaped */
    bool quoted;
};

struct csv {
    uint8_t delimiter;
    struct csv_field *fields; /* of the last row */
    size_t count, room;
    struct buf text; /* what the fields point into */
};

void csv_release(struct csv *csv);
/* The next row that is not blank, into csv->fields. As records_line(); INVALID also for quotes that
 * are wrong and for too many fields. */
enum status csv_row(struct csv *csv, struct records *records);

/* One line of JSON, {"Item":{...}}, as an item in the arena. INVALID with a text. */
enum status record_json(struct bytes line, struct scope in, struct item *out);
/* The columns of a CSV file, and the table that its rows are for. */
struct csv_columns {
    const struct csv_field *names;
    size_t count;
    const struct table_schema *schema;
};
/* One row as an item in the arena. An empty field that is not quoted is no attribute. Those that
 * are keys of the table or an index have the type defined for them; all others are strings. INVALID
 * with a text. */
enum status record_csv(const struct csv *row, const struct csv_columns *columns, struct scope in,
                       struct item *out);

#endif

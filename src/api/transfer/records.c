#include "api/transfer/records.h"

#include "base/limits.h"
#include "base/mem.h"

enum { CHUNK = 256 * 1024 };

void records_init(struct records *records, struct stream *stream) {
    *records = (struct records){.stream = stream};
    buf_reserve(&records->buf, CHUNK); /* so that there is something to point into */
}

void records_release(struct records *records) {
    buf_release(&records->buf);
}

/* Reads some more, moving what is left to the front. False at the end or, with *status, when it
 * cannot be read. */
static bool more(struct records *records, enum status *status) {
    struct buf *buf = &records->buf;
    if (records->ended)
        return false;
    if (records->at != 0) {
        memmove(buf->data, buf->data + records->at, buf->size - records->at);
        buf->size -= records->at;
        records->at = 0;
    }
    long got = records->stream->read(records->stream, buf_reserve(buf, CHUNK), CHUNK);
    if (got < 0)
        *status = IO_FAILED;
    if (got <= 0) {
        records->ended = true;
        return false;
    }
    buf->size += (size_t)got;
    return true;
}

static struct bytes rest(const struct records *records) {
    return bytes_of(records->buf.data + records->at, records->buf.size - records->at);
}

static void take(struct records *records, size_t size) {
    records->at += size;
    records->size += size;
    records->scanned = 0;
}

/* --- lines --- */

/* Where the line at `at` ends, reading as much as that takes: the place of its end, or of the
 * stream's. A line without end is given up at the limit: SIZE_MAX. */
static size_t find_end(struct records *records, enum status *status) {
    for (;;) {
        struct bytes left = rest(records);
        const uint8_t *end =
            left.size == records->scanned
                ? NULL
                : memchr(left.data + records->scanned, '\n', left.size - records->scanned);
        if (end != NULL)
            return (size_t)(end - left.data);
        records->scanned = left.size;
        if (left.size > LIMIT_RECORD_SIZE)
            return SIZE_MAX;
        if (!more(records, status))
            return left.size;
    }
}

/* Drops the rest of a line that is too long, without keeping it. */
static void skip_line(struct records *records, enum status *status) {
    for (;;) {
        struct bytes left = rest(records);
        const uint8_t *end = left.size == 0 ? NULL : memchr(left.data, '\n', left.size);
        take(records, end == NULL ? left.size : (size_t)(end - left.data) + 1);
        if (end != NULL || !more(records, status))
            return;
    }
}

enum status records_line(struct records *records, struct bytes *out) {
    enum status status = OK;
    size_t end = find_end(records, &status);
    if (end == SIZE_MAX)
        skip_line(records, &status);
    if (status != OK)
        return status;
    if (end == SIZE_MAX)
        return INVALID;
    struct bytes left = rest(records);
    if (left.size == 0)
        return NOT_FOUND;
    *out = bytes_of(left.data, end);
    if (out->size != 0 && out->data[out->size - 1] == '\r')
        out->size--;
    take(records, end < left.size ? end + 1 : end);
    return out->size > LIMIT_RECORD_SIZE ? INVALID : OK;
}

/* --- rows --- */

void csv_release(struct csv *csv) {
    mem_free(csv->fields);
    buf_release(&csv->text);
}

/* Where the row ends: at a line's end outside of quotes. As find_end(). */
static size_t find_row_end(struct records *records, enum status *status) {
    size_t at = 0;
    bool quoted = false;
    for (;;) {
        struct bytes left = rest(records);
        for (; at < left.size; at++) {
            if (left.data[at] == '"')
                quoted = !quoted;
            else if (left.data[at] == '\n' && !quoted)
                return at;
        }
        if (left.size > LIMIT_RECORD_SIZE)
            return SIZE_MAX;
        if (!more(records, status))
            return left.size;
    }
}

static struct csv_field *add_field(struct csv *csv) {
    if (csv->count == csv->room) {
        csv->room = csv->room == 0 ? 32 : csv->room * 2;
        csv->fields = mem_realloc(csv->fields, csv->room * sizeof(*csv->fields));
    }
    csv->fields[csv->count] = (struct csv_field){0};
    return &csv->fields[csv->count++];
}

/* Takes a quoted field off the front, up to and without its delimiter. */
static bool take_quoted(struct csv *csv, struct bytes *row, struct csv_field *field) {
    size_t start = csv->text.size, at = 1;
    for (;; at++) {
        if (at == row->size)
            return false; /* no closing quote */
        if (row->data[at] != '"') {
            buf_byte(&csv->text, row->data[at]);
            continue;
        }
        if (at + 1 == row->size || row->data[at + 1] != '"')
            break;
        buf_byte(&csv->text, '"');
        at++;
    }
    field->quoted = true;
    field->text = bytes_of((void *)(uintptr_t)start, csv->text.size - start);
    *row = bytes_skip(*row, at + 1);
    return row->size == 0 || row->data[0] == csv->delimiter;
}

static bool take_plain(struct csv *csv, struct bytes *row, struct csv_field *field) {
    const uint8_t *end = row->size == 0 ? NULL : memchr(row->data, csv->delimiter, row->size);
    size_t size = end == NULL ? row->size : (size_t)(end - row->data), start = csv->text.size;
    if (size != 0 && memchr(row->data, '"', size) != NULL)
        return false; /* a quote inside a field that does not begin with one */
    buf_append(&csv->text, row->data, size);
    field->text = bytes_of((void *)(uintptr_t)start, size);
    *row = bytes_skip(*row, size);
    return true;
}

/* Fields hold places in csv->text while that grows; then pointers. */
static bool split(struct csv *csv, struct bytes row) {
    csv->count = 0;
    buf_clear(&csv->text);
    buf_reserve(&csv->text, row.size + 1);
    for (;;) {
        struct csv_field *field = add_field(csv);
        bool good = row.size != 0 && row.data[0] == '"' ? take_quoted(csv, &row, field)
                                                        : take_plain(csv, &row, field);
        if (!good || csv->count > LIMIT_COLUMNS)
            return false;
        if (row.size == 0)
            break;
        row = bytes_skip(row, 1);
    }
    for (size_t i = 0; i < csv->count; i++)
        csv->fields[i].text.data = csv->text.data + (uintptr_t)csv->fields[i].text.data;
    return true;
}

enum status csv_row(struct csv *csv, struct records *records) {
    for (;;) {
        enum status status = OK;
        size_t end = find_row_end(records, &status);
        if (end == SIZE_MAX)
            skip_line(records, &status);
        if (status != OK)
            return status;
        if (end == SIZE_MAX)
            return INVALID;
        struct bytes left = rest(records), row = bytes_of(left.data, end);
        if (left.size == 0)
            return NOT_FOUND;
        if (row.size != 0 && row.data[row.size - 1] == '\r')
            row.size--;
        take(records, end < left.size ? end + 1 : end);
        if (row.size != 0)
            return row.size <= LIMIT_RECORD_SIZE && split(csv, row) ? OK : INVALID;
    }
}

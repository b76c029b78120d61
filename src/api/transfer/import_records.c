#include "api/transfer/import_records.h"

#include "base/base64.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "value/number.h"
#include "json/attribute.h"

enum { CHUNK = 256 * 1024 };

void records_init(struct records *records, struct byte_stream *byte_stream) {
    *records = (struct records){.byte_stream = byte_stream};
    buf_reserve(&records->buf, CHUNK); /* so that there is something to point into */
}

void records_release(struct records *records) {
    buf_release(&records->buf);
}

/* Reads some more, moving what is left to the front. False at the end or, with *status, when it
 * cannot be read. */
static bool read_more(struct records *records, enum status *status) {
    struct buf *buf = &records->buf;
    if (records->ended)
        return false;
    if (records->at != 0) {
        memmove(buf->data, buf->data + records->at, buf->size - records->at);
        buf->size -= records->at;
        records->at = 0;
    }
    long got = records->byte_stream->read(records->byte_stream, buf_reserve(buf, CHUNK), CHUNK);
    if (got < 0)
        *status = IO_FAILED;
    if (got <= 0) {
        records->ended = true;
        return false;
    }
    buf->size += (size_t)got;
    return true;
}

static struct bytes unread(const struct records *records) {
    return bytes_of(records->buf.data + records->at, records->buf.size - records->at);
}

static void consume(struct records *records, size_t size) {
    records->at += size;
    records->size += size;
    records->scanned = 0;
}

/* --- lines --- */

/* Where the line at `at` ends, reading as much as that takes: the place of its end, or of the
 * stream's. A line without end is given up at the limit: SIZE_MAX. */
static size_t find_end(struct records *records, enum status *status) {
    for (;;) {
        struct bytes left = unread(records);
        const uint8_t *end =
            left.size == records->scanned
                ? NULL
                : memchr(left.data + records->scanned, '\n', left.size - records->scanned);
        if (end != NULL)
            return (size_t)(end - left.data);
        records->scanned = left.size;
        if (left.size > LIMIT_RECORD_SIZE)
            return SIZE_MAX;
        if (!read_more(records, status))
            return left.size;
    }
}

/* Drops the rest of a line that is too long, without keeping it. */
static void skip_line(struct records *records, enum status *status) {
    for (;;) {
        struct bytes left = unread(records);
        const uint8_t *end = left.size == 0 ? NULL : memchr(left.data, '\n', left.size);
        consume(records, end == NULL ? left.size : (size_t)(end - left.data) + 1);
        if (end != NULL || !read_more(records, status))
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
    struct bytes left = unread(records);
    if (left.size == 0)
        return NOT_FOUND;
    *out = bytes_of(left.data, end);
    if (out->size != 0 && out->data[out->size - 1] == '\r')
        out->size--;
    consume(records, end < left.size ? end + 1 : end);
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
        struct bytes left = unread(records);
        for (; at < left.size; at++) {
            if (left.data[at] == '"')
                quoted = !quoted;
            else if (left.data[at] == '\n' && !quoted)
                return at;
        }
        if (left.size > LIMIT_RECORD_SIZE)
            return SIZE_MAX;
        if (!read_more(records, status))
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
static bool split_row(struct csv *csv, struct bytes row) {
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
        struct bytes left = unread(records), row = bytes_of(left.data, end);
        if (left.size == 0)
            return NOT_FOUND;
        if (row.size != 0 && row.data[row.size - 1] == '\r')
            row.size--;
        consume(records, end < left.size ? end + 1 : end);
        if (row.size != 0)
            return row.size <= LIMIT_RECORD_SIZE && split_row(csv, row) ? OK : INVALID;
    }
}

/* --- records as items --- */

enum status record_json(struct bytes line, struct scope in, struct item *out) {
    struct json json;
    size_t at;
    line = arena_copy(in.arena, line); /* the item's strings point into it */
    if (json_parse(line, in.arena, &json, &at) != OK)
        return failure_set(in.failure, in.arena, INVALID, "A line is not JSON (at byte %zu)", at);
    const struct json *item = json_get(&json, BYTES("Item"));
    if (item == NULL || item->type != JSON_OBJECT)
        return failure_set(in.failure, in.arena, INVALID, "A line has no object \"Item\"");
    enum status status = attribute_read_item(item, in, out);
    if (status == OK)
        return OK;
    in.failure->status = INVALID; /* a wrong JSON type as well as a wrong value */
    return INVALID;
}

static enum value_type type_of(const struct table_schema *schema, struct bytes name) {
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        if (bytes_equal(schema->attributes[i].name, name))
            return schema->attributes[i].type;
    return VALUE_S;
}

/* out->name is set already. */
static enum status read_field(struct bytes text, enum value_type type, struct scope in,
                              struct pair *out) {
    struct bytes name = out->name;
    out->value = (struct value){.type = type, .bytes = text};
    if (type == VALUE_N && number_read(in.arena, text, &out->value.bytes) != NUMBER_OK)
        return failure_set(in.failure, in.arena, INVALID, "The field %.*s is not a number",
                           BYTES_ARG(name));
    if (type == VALUE_B && !base64_read(text, in.arena, &out->value.bytes))
        return failure_set(in.failure, in.arena, INVALID, "The field %.*s is not base64",
                           BYTES_ARG(name));
    if (type == VALUE_S && !utf8_valid(text))
        return failure_set(in.failure, in.arena, INVALID, "The field %.*s is not UTF-8",
                           BYTES_ARG(name));
    if (type == VALUE_S)
        out->value.bytes = arena_copy(in.arena, text);
    return OK;
}

enum status record_csv(const struct csv *row, const struct csv_columns *columns, struct scope in,
                       struct item *out) {
    if (row->count != columns->count)
        return failure_set(in.failure, in.arena, INVALID, "A row has %zu fields, the header %zu",
                           row->count, columns->count);
    struct pair *pairs = ARENA_ARRAY(in.arena, struct pair, columns->count);
    uint32_t count = 0;
    for (size_t i = 0; i < columns->count; i++) {
        const struct csv_field *field = &row->fields[i];
        struct bytes name = columns->names[i].text;
        if (field->text.size == 0 && !field->quoted)
            continue;
        pairs[count].name = name;
        enum status status =
            read_field(field->text, type_of(columns->schema, name), in, &pairs[count]);
        if (status != OK)
            return status;
        count++;
    }
    *out = (struct item){pairs, value_sort_pairs(pairs, count)};
    return OK;
}

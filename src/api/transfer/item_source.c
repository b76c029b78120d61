#include "api/transfer/item_source.h"

#include "api/transfer/import_records.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/json.h"

#include <errno.h>
#include <zlib.h>

enum { PACKED_BUFFER = 256 * 1024 };

struct file_source {
    struct source base; /* first */
    struct file_source_settings settings;
    size_t next_file;
    uint64_t size_before, place_before; /* of the files that are done */

    /* the file at hand */
    struct byte_stream byte_stream; /* reads `file` */
    gzFile file;                    /* NULL: none */
    const char *path;
    struct records records;
    struct csv row;

    struct arena arena; /* headers: items name them, so they stay */
    const struct csv_field *header;
    size_t header_count;
};

/* --- one file --- */

static long read_file(struct byte_stream *byte_stream, void *to, size_t size) {
    struct file_source *source =
        (struct file_source *)((char *)byte_stream - offsetof(struct file_source, byte_stream));
    int got = gzread(source->file, to, (unsigned)size);
    if (got > 0)
        return got;
    /* A packed file that was cut off ends early and says so only here. */
    int code = Z_OK;
    gzerror(source->file, &code);
    return code == Z_OK || code == Z_STREAM_END ? got : -1;
}

static void shut(struct file_source *source) {
    if (source->file == NULL)
        return;
    source->place_before += (uint64_t)gzoffset(source->file);
    gzclose(source->file);
    source->file = NULL;
    source->size_before += source->records.size;
    records_release(&source->records);
}

static enum status unreadable(struct file_source *source, const char *why, struct scope in) {
    return failure_set(in.failure, in.arena, IO_FAILED, "Cannot read %s: %s.", source->path, why);
}

static bool is_repeated(const struct csv_field *fields, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (bytes_equal(fields[i].text, fields[at].text))
            return true;
    return false;
}

/* The header must name each column once: without it nothing in the file has a meaning. */
static enum status check_header(struct file_source *source, const struct csv_field *fields,
                                size_t count, struct scope in) {
    for (size_t i = 0; i < count; i++) {
        struct bytes name = fields[i].text;
        if (name.size == 0 || name.size > LIMIT_ATTRIBUTE_NAME_SIZE || !utf8_valid(name))
            return unreadable(source, "a column of its header has no name that can be one", in);
        if (is_repeated(fields, i))
            return unreadable(source, "two columns of its header have the same name", in);
    }
    return OK;
}

static enum status read_header(struct file_source *source, struct scope in) {
    enum status status = csv_row(&source->row, &source->records);
    if (status == NOT_FOUND) {
        source->header_count = 0;
        return OK; /* an empty file */
    }
    if (status != OK)
        return unreadable(source, "its header is not a row of CSV", in);
    size_t count = source->row.count;
    struct csv_field *fields = ARENA_ARRAY(&source->arena, struct csv_field, count);
    for (size_t i = 0; i < count; i++)
        fields[i].text = arena_copy(&source->arena, source->row.fields[i].text);
    if (bytes_starts(fields[0].text, BYTES("\xef\xbb\xbf"))) /* a byte order mark */
        fields[0].text = bytes_skip(fields[0].text, 3);
    source->header = fields;
    source->header_count = count;
    return check_header(source, fields, count, in);
}

static enum status given_header(struct file_source *source, struct scope in) {
    size_t count = source->settings.header_count;
    struct csv_field *fields = ARENA_ARRAY(&source->arena, struct csv_field, count + 1);
    for (size_t i = 0; i < count; i++)
        fields[i].text = source->settings.header[i];
    source->header = fields;
    source->header_count = count;
    return check_header(source, fields, count, in);
}

static enum status open_next(struct file_source *source, struct scope in) {
    if (source->next_file == source->settings.files->count)
        return NOT_FOUND;
    source->path = source->settings.files->paths[source->next_file++];
    source->file = gzopen(source->path, "rbe");
    if (source->file == NULL)
        return unreadable(source, strerror(errno), in);
    gzbuffer(source->file, PACKED_BUFFER);
    records_init(&source->records, &source->byte_stream);
    if (source->settings.format == FORMAT_JSON)
        return OK;
    return source->settings.header != NULL ? given_header(source, in) : read_header(source, in);
}

/* --- records --- */

static enum status next_json(struct file_source *source, struct scope in, struct item *out) {
    struct bytes line;
    enum status status;
    do
        status = records_line(&source->records, &line);
    while (status == OK && line.size == 0);
    if (status == INVALID)
        return failure_set(in.failure, in.arena, INVALID, "A line is longer than %d bytes",
                           LIMIT_RECORD_SIZE);
    return status == OK ? record_json(line, in, out) : status;
}

static enum status next_csv(struct file_source *source, struct scope in, struct item *out) {
    enum status status = csv_row(&source->row, &source->records);
    if (status == INVALID)
        return failure_set(in.failure, in.arena, INVALID,
                           "A row is too long, or its quotes are not in pairs");
    if (status != OK)
        return status;
    struct csv_columns columns = {source->header, source->header_count, source->settings.schema};
    return record_csv(&source->row, &columns, in, out);
}

static enum status file_next(struct source *base, struct scope in, struct item *out) {
    struct file_source *source = (struct file_source *)base;
    for (;;) {
        enum status status = OK;
        if (source->file == NULL)
            status = open_next(source, in);
        if (status != OK)
            return status;
        status = source->settings.format == FORMAT_JSON ? next_json(source, in, out)
                                                        : next_csv(source, in, out);
        base->size = source->size_before + source->records.size;
        base->place = source->place_before + (uint64_t)gzoffset(source->file);
        if (status == IO_FAILED)
            return unreadable(source, "it is damaged or ends too early", in);
        if (status != NOT_FOUND)
            return status;
        shut(source);
    }
}

struct source *file_source_new(const struct file_source_settings *settings) {
    struct file_source *source = mem_zalloc(sizeof(*source));
    source->base.next = file_next;
    source->settings = *settings;
    source->byte_stream.read = read_file;
    source->row.delimiter = settings->delimiter == 0 ? ',' : settings->delimiter;
    arena_init(&source->arena);
    return &source->base;
}

void file_source_free(struct source *base) {
    struct file_source *source = (struct file_source *)base;
    shut(source);
    csv_release(&source->row);
    arena_release(&source->arena);
    mem_free(source);
}

/* --- tables --- */

struct table_source {
    struct source base; /* first */
    struct table_reader *reader;
};

static enum status table_next(struct source *base, struct scope in, struct item *out) {
    struct table_source *source = (struct table_source *)base;
    enum status status = source->reader->next(source->reader, in.arena, out);
    if (status == OK)
        base->size += item_size(out);
    else if (status != NOT_FOUND)
        failure_set(in.failure, in.arena, status, "The copy cannot be read: %s.",
                    status_name(status));
    return status;
}

struct source *table_source_new(struct table_reader *reader) {
    struct table_source *source = mem_zalloc(sizeof(*source));
    source->base.next = table_next;
    source->reader = reader;
    return &source->base;
}

void table_source_free(struct source *base) {
    struct table_source *source = (struct table_source *)base;
    source->reader->close(source->reader);
    mem_free(source);
}

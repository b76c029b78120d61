/* Any bytes are lines, rows, a job's record or a table's description, or refused: taken in pieces
 * of any size, each byte is taken once, and a row that was read is the same when it is written
 * with quotes and read again. The first byte says what they are, the second how large a piece is.
 */
#include "api/dynamodb/ddb_schema_parse.h"
#include "api/transfer/import_records.h"
#include "api/transfer/transfer_job.h"
#include "base/limits.h"
#include "table/rules.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

struct memory {
    struct byte_stream byte_stream; /* first */
    struct bytes left;
    size_t piece;
};

static long read_memory(struct byte_stream *byte_stream, void *to, size_t size) {
    struct memory *memory = (struct memory *)byte_stream;
    if (size > memory->piece)
        size = memory->piece;
    if (size > memory->left.size)
        size = memory->left.size;
    if (size != 0)
        memcpy(to, memory->left.data, size);
    memory->left = bytes_skip(memory->left, size);
    return (long)size;
}

static void try_lines(struct memory *memory, struct arena *arena) {
    struct records records;
    struct bytes line;
    enum status status;
    size_t size = memory->left.size;
    records_init(&records, &memory->byte_stream);
    while ((status = records_line(&records, &line)) != NOT_FOUND) {
        struct failure failure = {0};
        struct item item;
        arena_reset(arena);
        require(status == OK || status == INVALID);
        if (status == OK && record_json(line, (struct scope){arena, &failure}, &item) != OK)
            require(failure.status == INVALID && failure.text.size != 0);
    }
    require(records.size == size);
    records_release(&records);
}

static void check_again(const struct csv *row) {
    struct buf text = {0};
    for (size_t i = 0; i < row->count; i++) {
        if (i != 0)
            buf_byte(&text, row->delimiter);
        buf_byte(&text, '"');
        for (size_t j = 0; j < row->fields[i].text.size; j++) {
            if (row->fields[i].text.data[j] == '"')
                buf_byte(&text, '"');
            buf_byte(&text, row->fields[i].text.data[j]);
        }
        buf_byte(&text, '"');
    }
    struct memory memory = {{read_memory}, buf_bytes(&text), 1000};
    struct records records;
    struct csv again = {.delimiter = row->delimiter};
    records_init(&records, &memory.byte_stream);
    require(csv_row(&again, &records) == OK && again.count == row->count);
    for (size_t i = 0; i < row->count; i++)
        require(bytes_equal(again.fields[i].text, row->fields[i].text));
    records_release(&records);
    csv_release(&again);
    buf_release(&text);
}

static void try_rows(struct memory *memory, uint8_t delimiter, struct arena *arena) {
    struct key_part parts[] = {
        {BYTES("id"), VALUE_S}, {BYTES("n"), VALUE_N}, {BYTES("b"), VALUE_B}};
    struct table_schema schema = {.attributes = parts, .attribute_count = 3};
    struct csv_field header[] = {{BYTES("id"), false}, {BYTES("n"), false}, {BYTES("b"), false}};
    struct records records;
    struct csv row = {.delimiter = delimiter};
    enum status status;
    size_t size = memory->left.size;
    records_init(&records, &memory->byte_stream);
    while ((status = csv_row(&row, &records)) != NOT_FOUND) {
        struct failure failure = {0};
        struct item item;
        arena_reset(arena);
        require(status == OK || status == INVALID);
        if (status != OK)
            continue;
        check_again(&row);
        if (record_csv(&row, &(struct csv_columns){header, 3, &schema},
                       (struct scope){arena, &failure}, &item) == OK)
            require(item.count <= 3);
        else
            require(failure.status == INVALID && failure.text.size != 0);
    }
    require(records.size == size);
    records_release(&records);
    csv_release(&row);
}

static void try_schema(struct bytes text, struct arena *arena) {
    struct failure failure = {0};
    struct table_schema schema, again;
    struct buf written = {0};
    if (schema_parse(text, BYTES("table"), (struct scope){arena, &failure}, &schema) != OK) {
        require(failure.status != OK);
        return;
    }
    export_put_schema(&written, &schema);
    require(schema_parse(buf_bytes(&written), BYTES("table"), (struct scope){arena, &failure},
                         &again) == OK);
    require(again.index_count == schema.index_count);
    buf_release(&written);
}

static void try_record(struct bytes text, struct arena *arena) {
    struct job_view view, again;
    struct buf written = {0};
    if (!job_decode(text, arena, &view))
        return;
    job_encode(&view, &written);
    require(job_decode(buf_bytes(&written), arena, &again));
    require(bytes_equal(view.details, again.details) && view.size == again.size);
    buf_release(&written);
}

/* A path that is taken stays below the folder it is joined to. */
static void try_path(struct bytes path, struct arena *arena) {
    if (!transfer_prefix_valid(path))
        return;
    struct bytes whole = arena_printf(arena, "/%.*s/", BYTES_ARG(path));
    require(whole.size == path.size + 2);
    require(bytes_find(whole, BYTES("/../")) == SIZE_MAX);
    require(bytes_find(whole, BYTES("/./")) == SIZE_MAX);
    require(path.size == 0 || path.data[0] != '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    if (size < 2)
        return 0;
    struct memory memory = {{read_memory}, bytes_of(data + 2, size - 2), data[1] + 1u};
    arena_init(&arena);
    switch (data[0] % 6) {
    case 0:
        try_lines(&memory, &arena);
        break;
    case 1:
        try_rows(&memory, ',', &arena);
        break;
    case 2:
        try_rows(&memory, '\t', &arena);
        break;
    case 3:
        try_schema(memory.left, &arena);
        break;
    case 4:
        try_record(memory.left, &arena);
        break;
    default:
        try_path(memory.left, &arena);
    }
    arena_release(&arena);
    return 0;
}

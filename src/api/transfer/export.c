#include "api/transfer/export.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/random.h"
#include "value/number.h"
#include "json/attribute.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum {
    FILE_SIZE = 64 << 20, /* bytes of items in a data file, before packing */
    WRITE_SIZE = 256 * 1024,
    PROGRESS_EVERY = 256,
    NAME_SIZE = 26,
    MD5_SIZE = 16,
};

struct writing {
    struct export *export;
    struct arena *arena;
    struct failure *failure;
    char *partial;       /* FOLDER.partial */
    struct buf manifest; /* manifest-files.json */
    int64_t started_ms;

    /* CSV: the columns */
    struct bytes *columns;
    size_t column_count;

    /* the data file at hand */
    gzFile file; /* NULL: none */
    char name[NAME_SIZE + 16];
    struct buf text;
    uint64_t items, size;
};

static enum status export_failed(struct writing *on, const char *path) {
    return failure_set(on->failure, on->arena, IO_FAILED, "Cannot write %s: %s.", path,
                       strerror(errno));
}

struct bytes export_time(struct arena *arena, int64_t ms) {
    time_t seconds = (time_t)(ms / 1000);
    struct tm day;
    char text[32];
    gmtime_r(&seconds, &day);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &day);
    return arena_printf(arena, "%s.%03dZ", text, (int)(ms % 1000));
}

/* --- checksums --- */

static int md5_file(const char *path, uint8_t *out) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    uint8_t *chunk = mem_alloc(WRITE_SIZE);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_DigestInit_ex(context, EVP_md5(), NULL);
    ssize_t got;
    while ((got = read(file, chunk, WRITE_SIZE)) > 0)
        EVP_DigestUpdate(context, chunk, (size_t)got);
    EVP_DigestFinal_ex(context, out, NULL);
    EVP_MD_CTX_free(context);
    mem_free(chunk);
    close(file);
    return got == 0 ? 0 : -1;
}

static void put_hex(struct buf *to, const uint8_t *sum) {
    for (int i = 0; i < MD5_SIZE; i++)
        buf_printf(to, "%02x", sum[i]);
}

/* A manifest, and its checksum beside it. */
static enum status put_manifest(struct writing *on, const char *name, struct bytes text) {
    char file[64];
    uint8_t sum[MD5_SIZE];
    struct buf encoded = {0};
    unsigned size = MD5_SIZE;
    snprintf(file, sizeof(file), "%s.json", name);
    char *path = files_join(on->partial, file);
    enum status status = files_put(path, text) == 0 ? OK : export_failed(on, path);
    mem_free(path);
    EVP_Digest(text.data, text.size, sum, &size, EVP_md5(), NULL);
    base64_put(&encoded, bytes_of(sum, sizeof(sum)));
    snprintf(file, sizeof(file), "%s.md5", name);
    path = files_join(on->partial, file);
    if (status == OK && files_put(path, buf_bytes(&encoded)) != 0)
        status = export_failed(on, path);
    mem_free(path);
    buf_release(&encoded);
    return status;
}

/* --- data files --- */

static char *data_path(const struct writing *on) {
    char inner[sizeof(on->name) + 8];
    snprintf(inner, sizeof(inner), "data/%s", on->name);
    return files_join(on->partial, inner);
}

static void put_csv_text(struct buf *to, struct bytes text) {
    bool plain = text.size != 0;
    for (size_t i = 0; i < text.size && plain; i++)
        plain = memchr(",\"\r\n", text.data[i], 4) == NULL;
    if (plain) {
        buf_put(to, text);
        return;
    }
    buf_byte(to, '"');
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"')
            buf_byte(to, '"');
        buf_byte(to, text.data[i]);
    }
    buf_byte(to, '"');
}

static void put_header(struct writing *on) {
    for (size_t i = 0; i < on->column_count; i++) {
        if (i != 0)
            buf_byte(&on->text, ',');
        put_csv_text(&on->text, on->columns[i]);
    }
    buf_lit(&on->text, "\r\n");
}

static enum status open_file(struct writing *on) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint8_t random[NAME_SIZE];
    random_secure(random, sizeof(random));
    for (int i = 0; i < NAME_SIZE; i++)
        on->name[i] = letters[random[i] & 31];
    snprintf(on->name + NAME_SIZE, sizeof(on->name) - NAME_SIZE, "%s",
             on->export->format == FORMAT_CSV ? ".csv.gz" : ".json.gz");
    char *path = data_path(on);
    on->file = gzopen(path, "wbxe1");
    enum status status = on->file != NULL ? OK : export_failed(on, path);
    mem_free(path);
    on->items = on->size = 0;
    if (status == OK && on->export->format == FORMAT_CSV)
        put_header(on);
    return status;
}

static enum status flush_text(struct writing *on) {
    size_t size = on->text.size;
    if (size != 0 && gzwrite(on->file, on->text.data, (unsigned)size) != (int)size)
        return export_failed(on, on->name);
    buf_clear(&on->text);
    return OK;
}

static enum status note_file(struct writing *on, const char *path) {
    uint8_t sum[MD5_SIZE];
    struct bytes place = on->export->place;
    if (md5_file(path, sum) != 0)
        return export_failed(on, path);
    buf_printf(&on->manifest, "{\"itemCount\":%llu,\"md5Checksum\":\"",
               (unsigned long long)on->items);
    base64_put(&on->manifest, bytes_of(sum, sizeof(sum)));
    buf_lit(&on->manifest, "\",\"etag\":\"");
    put_hex(&on->manifest, sum);
    buf_lit(&on->manifest, "\",\"dataFileS3Key\":");
    json_put_string(&on->manifest, arena_printf(on->arena, "%.*s%sdata/%s", BYTES_ARG(place),
                                                place.size != 0 ? "/" : "", on->name));
    buf_lit(&on->manifest, "}\n");
    return OK;
}

static enum status close_file(struct writing *on) {
    if (on->file == NULL)
        return OK;
    enum status status = flush_text(on);
    gzFile file = on->file;
    on->file = NULL;
    if (gzclose(file) != Z_OK && status == OK)
        status = export_failed(on, on->name);
    if (status != OK)
        return status;
    char *path = data_path(on);
    status = note_file(on, path);
    mem_free(path);
    return status;
}

/* --- items --- */

/* Strings and numbers as they are, binaries in base64, all else as typed JSON. */
static void put_csv_value(struct buf *to, const struct value *value, struct buf *scratch) {
    buf_clear(scratch);
    switch (value->type) {
    case VALUE_S:
        put_csv_text(to, value->bytes);
        return;
    case VALUE_N:
        number_write(to, value->bytes);
        return;
    case VALUE_B:
        base64_put(scratch, value->bytes);
        break;
    case VALUE_BOOL:
        buf_put(to, value->count != 0 ? BYTES("true") : BYTES("false"));
        return;
    default:
        attribute_write(scratch, value);
    }
    put_csv_text(to, buf_bytes(scratch));
}

static void put_row(struct writing *on, const struct item *item) {
    struct buf scratch = {0};
    for (size_t i = 0; i < on->column_count; i++) {
        const struct value *value = item_get(item, on->columns[i]);
        if (i != 0)
            buf_byte(&on->text, ',');
        if (value != NULL)
            put_csv_value(&on->text, value, &scratch);
    }
    buf_lit(&on->text, "\r\n");
    buf_release(&scratch);
}

static enum status put_item(struct writing *on, const struct item *item) {
    enum status status = on->file == NULL ? open_file(on) : OK;
    if (status != OK)
        return status;
    if (on->export->format == FORMAT_CSV) {
        put_row(on, item);
    } else {
        buf_lit(&on->text, "{\"Item\":");
        attribute_write_item(&on->text, item);
        buf_lit(&on->text, "}\n");
    }
    size_t size = item_size(item);
    on->items++;
    on->size += size;
    atomic_fetch_add_explicit(&on->export->items, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&on->export->size, size, memory_order_relaxed);
    if (on->text.size >= WRITE_SIZE)
        status = flush_text(on);
    if (status == OK && on->size >= FILE_SIZE)
        status = close_file(on);
    return status;
}

/* Called every so many items: reports progress, and ends with STOPPING if asked to. */
static enum status look_up(struct writing *on) {
    struct export *export = on->export;
    if (export->progress != NULL)
        export->progress(export->context);
    if (export->stop != NULL && atomic_load(export->stop))
        return failure_set(on->failure, on->arena, STOPPING, "It was stopped before it was done.");
    return OK;
}

/* Calls `with` for each item of the table. */
static enum status each_item(struct writing *on,
                             enum status (*with)(struct writing *on, const struct item *item)) {
    struct table_reader *reader = on->export->reader;
    struct arena arena;
    enum status status = OK;
    arena_init(&arena);
    reader->restart(reader);
    for (uint64_t count = 1; status == OK; count++) {
        struct item item;
        arena_reset(&arena);
        status = reader->next(reader, &arena, &item);
        if (status == NOT_FOUND)
            break;
        if (status != OK)
            failure_set(on->failure, on->arena, status, "The table cannot be read: %s.",
                        status_name(status));
        else
            status = with(on, &item);
        if (status == OK && count % PROGRESS_EVERY == 0)
            status = look_up(on);
    }
    arena_release(&arena);
    return status == NOT_FOUND ? OK : status;
}

/* --- CSV: which columns there are --- */

static enum status note_columns(struct writing *on, const struct item *item) {
    for (uint32_t i = 0; i < item->count; i++) {
        size_t at = 0;
        struct bytes name = item->pairs[i].name;
        while (at < on->column_count && !bytes_equal(on->columns[at], name))
            at++;
        if (at < on->column_count)
            continue;
        if (on->column_count == LIMIT_COLUMNS)
            return failure_set(on->failure, on->arena, LIMIT_EXCEEDED,
                               "The table has more than %d attributes: export it as JSON.",
                               LIMIT_COLUMNS);
        on->columns[on->column_count++] = arena_copy(on->arena, name);
    }
    return OK;
}

/* Keys first, the others as they are met. */
static enum status find_columns(struct writing *on) {
    const struct key_schema *keys = &on->export->reader->about.schema.keys;
    on->columns = ARENA_ARRAY(on->arena, struct bytes, LIMIT_COLUMNS);
    for (unsigned i = 0; i < key_schema_count(keys); i++)
        on->columns[on->column_count++] = keys->parts[i].name;
    return each_item(on, note_columns);
}

/* --- the whole --- */

static void put_member(struct buf *to, const char *name, struct bytes text) {
    buf_printf(to, ",\"%s\":", name);
    if (text.size == 0)
        buf_lit(to, "null");
    else
        json_put_string(to, text);
}

static enum status put_summary(struct writing *on) {
    struct export *export = on->export;
    struct buf text = {0};
    struct bytes place = export->place;
    buf_lit(&text, "{\"version\":\"2020-06-30\"");
    put_member(&text, "exportArn", export->arn);
    put_member(&text, "startTime", export_time(on->arena, on->started_ms));
    put_member(&text, "endTime", export_time(on->arena, clock_now_ms()));
    put_member(&text, "tableArn", export->table_arn);
    put_member(&text, "tableId", export->reader->about.id);
    put_member(&text, "exportTime",
               export_time(on->arena, export->time_ms != 0 ? export->time_ms : on->started_ms));
    put_member(&text, "s3Bucket", export->bucket);
    put_member(&text, "s3Prefix", export->prefix);
    put_member(&text, "s3SseAlgorithm", (struct bytes){0});
    put_member(&text, "s3SseKmsKeyId", (struct bytes){0});
    put_member(&text, "manifestFilesS3Key",
               arena_printf(on->arena, "%.*s%smanifest-files.json", BYTES_ARG(place),
                            place.size != 0 ? "/" : ""));
    buf_printf(&text, ",\"billedSizeBytes\":%llu,\"itemCount\":%llu",
               (unsigned long long)atomic_load(&export->size),
               (unsigned long long)atomic_load(&export->items));
    put_member(&text, "outputFormat",
               export->format == FORMAT_CSV ? BYTES("CSV") : BYTES("DYNAMODB_JSON"));
    put_member(&text, "exportType", BYTES("FULL_EXPORT"));
    buf_lit(&text, "}\n");
    enum status status = put_manifest(on, "manifest-summary", buf_bytes(&text));
    buf_release(&text);
    return status;
}

static enum status put_schema(struct writing *on) {
    struct buf text = {0};
    char *path = files_join(on->partial, "table.json");
    export_put_schema(&text, &on->export->reader->about.schema);
    enum status status = files_put(path, buf_bytes(&text)) == 0 ? OK : export_failed(on, path);
    mem_free(path);
    buf_release(&text);
    return status;
}

static enum status begin_export(struct writing *on) {
    char *data = files_join(on->partial, "data");
    enum status status = OK;
    if (access(on->export->folder, F_OK) == 0)
        status = failure_set(on->failure, on->arena, TABLE_IN_USE,
                             "%s is there already: it is not overwritten.", on->export->folder);
    else if (files_remove(on->partial) != 0 || files_make_path(data) != 0)
        status = export_failed(on, on->partial);
    mem_free(data);
    return status;
}

static enum status write_all(struct writing *on) {
    enum status status = begin_export(on);
    if (status == OK && on->export->format == FORMAT_CSV)
        status = find_columns(on);
    if (status == OK)
        status = each_item(on, put_item);
    if (status == OK)
        status = close_file(on);
    if (status == OK)
        status = put_manifest(on, "manifest-files", buf_bytes(&on->manifest));
    if (status == OK)
        status = put_schema(on);
    if (status == OK)
        status = put_summary(on);
    if (status == OK && files_sync_all(on->partial) != 0)
        status = export_failed(on, on->partial);
    if (status == OK && files_move(on->partial, on->export->folder) != 0)
        status = export_failed(on, on->export->folder);
    return status;
}

enum status export_run(struct export *export, struct scope in) {
    struct writing on = {.export = export, .arena = in.arena, .failure = in.failure};
    size_t room = strlen(export->folder) + sizeof(".partial");
    on.partial = mem_alloc(room);
    snprintf(on.partial, room, "%s.partial", export->folder);
    on.started_ms = clock_now_ms();
    enum status status = write_all(&on);
    if (on.file != NULL)
        gzclose(on.file);
    if (status != OK && status != TABLE_IN_USE)
        files_remove(on.partial);
    mem_free(on.partial);
    buf_release(&on.manifest);
    buf_release(&on.text);
    return status;
}

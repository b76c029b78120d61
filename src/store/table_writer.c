/* Writing what a frozen buffer holds into tables of the database.
 *
 * A family of many keys becomes a table of its own, made here from the sorted keys and then
 * ingested: the database links it under a name of its own and notes it in its manifest. So nothing
 * passes through the database's memory, and a table that no other overlaps, as in a load in the
 * order of the keys, is not merged again and again on its way down the levels. Few keys, and
 * families with deleted ranges, go through the database's memory, which is flushed afterwards.
 *
 * A run of many keys that begin alike, as the items of one partition do, is a table by itself, and
 * so is what lies before and behind it: one item far away from those of a load would otherwise
 * stretch each table over all that lies between, and over each other.
 *
 * The database trusts such a table more than it should. If it cannot read the table's beginning, it
 * takes the table without its keys, and says nothing: so the table is read before, and looked for
 * afterwards. (If it cannot read the end, Debian's build ends the process; the next start writes
 * the table again.) If the sync of its list of tables fails, it removes the table, although the
 * list has it by then: manifest_check.h.
 *
 * Until it is ingested the table has the one name TABLE_FILE. A process that ends between the two
 * leaves it there, and it may be a second name of a table that is in use: so it is never opened for
 * writing, but unlinked, before the next one is made and when the store is opened. */
#include "store/store_int.h"

#include "base/files.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    STEP_SIZE = 256 * 1024, /* bytes between two looks at what else there is to do */
    READ_SIZE = 256 * 1024,
    SYNC_SIZE = 1024 * 1024, /* bytes that are sent to the disk at a time, as they are made */
    RUN_FROM = 4096,         /* keys that begin alike which are a table apart from others */
    ALIKE = 8,               /* bytes that they begin with */
};

static const char position_key[] = "log";
#define TABLE_FILE "handover.sst"

/* --- the position --- */

enum status tables_position(struct store *store, uint64_t *out, struct scope in) {
    char *error = NULL, why[320];
    size_t size = 0;
    char *value = rocksdb_get_cf(store->db, store->options.read, store->families[0], position_key,
                                 sizeof(position_key) - 1, &size, &error);
    *out = 0;
    enum status status = db_error(error, why, sizeof(why));
    if (status != OK)
        return failure_set(in.failure, in.arena, status, "%s", why);
    struct bytes bytes = bytes_of(value, size);
    bool good = value == NULL || (take_u64(&bytes, out) && bytes.size == 0);
    rocksdb_free(value);
    return good ? OK : folder_damaged(&store->folder, "its place in the log is unreadable", in);
}

/* --- a table of its own --- */

struct table_file {
    char *path;
    rocksdb_sstfilewriter_t *writer;
    int fd; /* of the same file, for what is said about its pages; -1: none */
    off_t sent;
};

/* False: the name is there and cannot go, so that nothing may be written under it. */
static bool remove_name(const char *path) {
    return unlink(path) == 0 || errno == ENOENT;
}

void tables_clean(struct store *store) {
    if (store->settings.memory || store->settings.read_only)
        return;
    char *path = files_join(store->folder.db_path, TABLE_FILE);
    (void)remove_name(path); /* who makes the next table tries again, and refuses */
    mem_free(path);
}

static void file_begin(struct table_file *file, struct store *store, enum store_family family,
                       char **error) {
    rocksdb_envoptions_t *env = rocksdb_envoptions_create();
    *file = (struct table_file){.path = files_join(store->folder.db_path, TABLE_FILE), .fd = -1};
    file->writer = rocksdb_sstfilewriter_create(env, store->options.family[family]);
    rocksdb_envoptions_destroy(env);
    if (!remove_name(file->path)) {
        *error = strdup("IO error: " TABLE_FILE " of the database cannot be removed");
        return;
    }
    rocksdb_sstfilewriter_open(file->writer, file->path, error);
    if (*error == NULL)
        file->fd = open(file->path, O_RDONLY | O_CLOEXEC);
}

/* Has the disk begin with what was made, so that the sync at the end is no burst that commits wait
 * behind. */
static void file_send(struct table_file *file) {
    off_t end = file->fd < 0 ? 0 : lseek(file->fd, 0, SEEK_END);
    if (end - file->sent < SYNC_SIZE)
        return;
    sync_file_range(file->fd, file->sent, end - file->sent, SYNC_FILE_RANGE_WRITE);
    file->sent = end;
}

/* Reads the table once, so that it is in the system's cache, from which the database drops what it
 * has finished: whoever asked for a new item next would wait for the disk. False: it cannot be
 * read.
 */
static bool file_warm(const struct table_file *file) {
    uint8_t *room = mem_alloc(READ_SIZE);
    ssize_t got = file->fd < 0 ? -1 : 1;
    for (off_t at = 0; got > 0; at += got)
        got = pread(file->fd, room, READ_SIZE, at);
    mem_free(room);
    return got == 0;
}

/* The number in the list of a table that was taken without its keys, or -1. No key is empty. */
static int find_keyless(const rocksdb_livefiles_t *tables, const char *family) {
    for (int i = 0; i < rocksdb_livefiles_count(tables); i++) {
        size_t low = 1, high = 1;
        rocksdb_livefiles_smallestkey(tables, i, &low);
        rocksdb_livefiles_largestkey(tables, i, &high);
        if (low == 0 && high == 0 &&
            strcmp(rocksdb_livefiles_column_family_name(tables, i), family) == 0)
            return i;
    }
    return -1;
}

/* Whether the table that was just ingested has its keys; one that has none is removed: nobody has
 * seen anything of it, and what is in it is still in the log. */
static bool has_keys(struct store *store, enum store_family family) {
    const rocksdb_livefiles_t *tables = rocksdb_livefiles(store->db);
    int at = find_keyless(tables, db_family_name(family));
    if (at >= 0)
        rocksdb_delete_file(store->db, rocksdb_livefiles_name(tables, at));
    rocksdb_livefiles_destroy(tables);
    return at < 0;
}

/* What is wrong with a table that the database says it has taken, or NULL. */
static char *ingest_checked(struct store *store, enum store_family family) {
    struct store_faults *faults = store->settings.faults;
    if (!has_keys(store, family))
        return strdup("IO error: a new table was taken without its keys");
    if (faults != NULL && store_fault(store, &faults->ingest_in))
        return strdup("IO error: a fault of the list of tables was asked for");
    return NULL;
}

/* Syncs the table and has the database take it. */
static void file_ingest(struct table_file *file, struct store *store, enum store_family family,
                        char **error) {
    rocksdb_sstfilewriter_finish(file->writer, error);
    if (*error != NULL)
        return;
    view_unpin(store); /* if it was pinned by a reader since */
    if (!file_warm(file)) {
        *error = strdup("IO error: a new table cannot be read");
        return;
    }
    view_free_dead(store);
    rocksdb_ingestexternalfileoptions_t *options = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(options, 1);
    const char *path = file->path;
    rocksdb_ingest_external_file_cf(store->db, store_family(store, family), &path, 1, options,
                                    error);
    rocksdb_ingestexternalfileoptions_destroy(options);
    if (*error == NULL)
        *error = ingest_checked(store, family);
}

static void file_release(struct table_file *file, struct store *store) {
    rocksdb_sstfilewriter_destroy(file->writer);
    if (file->fd >= 0)
        close(file->fd);
    mem_free(file->path);
    tables_clean(store); /* after a failure it is still there */
}

/* --- what is written, one way or the other --- */

struct table_writer {
    struct store *store;
    enum store_family family;
    struct table_file *file;     /* NULL: through the database's memory, */
    rocksdb_writebatch_t *batch; /* by this */
    size_t size;                 /* about, since the last step */
    char *error;                 /* of the database; nothing is done after one */
};

/* Passes on what was gathered, and does what the writing thread would otherwise have to. */
static void take_step(struct table_writer *writer) {
    if (writer->file != NULL)
        file_send(writer->file);
    else if (writer->error == NULL)
        rocksdb_write(writer->store->db, writer->store->options.write, writer->batch,
                      &writer->error);
    rocksdb_writebatch_clear(writer->batch);
    writer->size = 0;
    handover_help(writer->store);
}

static void put_key(struct table_writer *writer, struct bytes key, struct bytes value) {
    if (writer->file != NULL)
        rocksdb_sstfilewriter_put(writer->file->writer, chars(key), key.size, chars(value),
                                  value.size, &writer->error);
    else
        rocksdb_writebatch_put_cf(writer->batch, store_family(writer->store, writer->family),
                                  chars(key), key.size, chars(value), value.size);
}

static void delete_key(struct table_writer *writer, struct bytes key) {
    if (writer->file != NULL)
        rocksdb_sstfilewriter_delete(writer->file->writer, chars(key), key.size, &writer->error);
    else
        rocksdb_writebatch_delete_cf(writer->batch, store_family(writer->store, writer->family),
                                     chars(key), key.size);
}

static void write_entry(struct table_writer *writer, const struct buffer_entry *entry) {
    struct bytes key = buffer_entry_key(entry);
    const struct buffer_version *version = buffer_entry_at(entry, UINT64_MAX);
    struct bytes value = bytes_of(version->value, version->size);
    if (version->deleted)
        delete_key(writer, key);
    else
        put_key(writer, key, value);
    writer->size += key.size + value.size;
    if (writer->size >= STEP_SIZE)
        take_step(writer);
}

static void write_ranges(struct table_writer *writer, const struct write_buffer *buffer) {
    for (const struct buffer_range *range = write_buffer_newest_range(buffer, writer->family);
         range != NULL; range = range->older)
        rocksdb_writebatch_delete_range_cf(
            writer->batch, store_family(writer->store, writer->family), chars(range->low),
            range->low.size, chars(range->high), range->high.size);
}

/* Keys of a family that follow one another. */
struct key_piece {
    const struct buffer_entry *first, *end; /* the one behind the last, or NULL */
    size_t count;                           /* of each run at most RUN_FROM */
};

/* Prefetches the next key's newest state, and the key behind it. */
static void prefetch_next(const struct buffer_entry *entry) {
    const struct buffer_entry *next = buffer_entry_next(entry);
    if (next == NULL)
        return;
    __builtin_prefetch(atomic_load_explicit(&next->newest, memory_order_relaxed));
    __builtin_prefetch(buffer_entry_next(next));
}

/* What the ranges deleted in the buffer itself is left out. */
static void write_keys(struct table_writer *writer, const struct write_buffer *buffer,
                       const struct key_piece *piece) {
    enum store_family family = writer->family;
    for (const struct buffer_entry *entry = piece->first;
         entry != piece->end && writer->error == NULL; entry = buffer_entry_next(entry)) {
        prefetch_next(entry);
        const struct buffer_range *range =
            write_buffer_find_range(buffer, family, buffer_entry_key(entry), UINT64_MAX);
        if (range == NULL || range->sequence < buffer_entry_at(entry, UINT64_MAX)->sequence)
            write_entry(writer, entry);
    }
    take_step(writer);
}

static void flush_family(struct table_writer *writer, rocksdb_column_family_handle_t *family) {
    if (writer->error != NULL)
        return;
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flush_cf(writer->store->db, options, family, &writer->error);
    rocksdb_flushoptions_destroy(options);
}

static void write_by_file(struct table_writer *writer, const struct write_buffer *buffer,
                          const struct key_piece *piece) {
    struct table_file file;
    file_begin(&file, writer->store, writer->family, &writer->error);
    writer->file = &file;
    if (writer->error == NULL)
        write_keys(writer, buffer, piece);
    if (writer->error == NULL)
        file_ingest(&file, writer->store, writer->family, &writer->error);
    writer->file = NULL;
    file_release(&file, writer->store);
}

/* Deleted ranges go first. */
static void write_by_memory(struct table_writer *writer, const struct write_buffer *buffer,
                            const struct key_piece *piece) {
    write_ranges(writer, buffer);
    write_keys(writer, buffer, piece);
    flush_family(writer, store_family(writer->store, writer->family));
}

/* --- pieces --- */

static bool begins_alike(const struct buffer_entry *a, const struct buffer_entry *b) {
    struct bytes left = buffer_entry_key(a), right = buffer_entry_key(b);
    return left.size >= ALIKE && right.size >= ALIKE && memcmp(left.data, right.data, ALIKE) == 0;
}

/* The first key behind all that begin as this one does, or NULL. */
static const struct buffer_entry *seek_behind(const struct table_writer *writer,
                                              const struct write_buffer *buffer,
                                              const struct buffer_entry *entry) {
    uint8_t behind[ALIKE];
    size_t at = ALIKE;
    memcpy(behind, buffer_entry_key(entry).data, ALIKE);
    while (at > 0 && ++behind[at - 1] == 0)
        at--;
    return at == 0 ? NULL : write_buffer_seek(buffer, writer->family, bytes_of(behind, ALIKE));
}

/* The keys from this one on that begin as it does. A long run is not walked to its end. */
static struct key_piece find_run(const struct table_writer *writer,
                                 const struct write_buffer *buffer,
                                 const struct buffer_entry *first) {
    struct key_piece run = {first, first, 0};
    do {
        run.end = buffer_entry_next(run.end);
        run.count++;
    } while (run.end != NULL && run.count < RUN_FROM && begins_alike(first, run.end));
    if (run.count == RUN_FROM)
        run.end = seek_behind(writer, buffer, first);
    return run;
}

/* The next piece, from this key on: a run of many, or all before the next such. */
static struct key_piece find_piece(const struct table_writer *writer,
                                   const struct write_buffer *buffer,
                                   const struct buffer_entry *first) {
    struct key_piece piece = find_run(writer, buffer, first);
    if (piece.count == RUN_FROM)
        return piece;
    while (piece.end != NULL) {
        struct key_piece run = find_run(writer, buffer, piece.end);
        if (run.count == RUN_FROM)
            break;
        piece.end = run.end;
        piece.count += run.count;
    }
    return piece;
}

static const struct buffer_entry *first_key(const struct table_writer *writer,
                                            const struct write_buffer *buffer) {
    return write_buffer_seek(buffer, writer->family, (struct bytes){0});
}

/* Whether the piece is worth a table of its own. A few keys beside a run are not: of such tables
 * there would soon be many. */
static bool fills_table(const struct table_writer *writer, const struct write_buffer *buffer,
                        const struct key_piece *piece) {
    bool whole = piece->end == NULL && piece->first == first_key(writer, buffer);
    return whole ? write_buffer_keys(buffer, writer->family) >= writer->store->settings.table_from
                 : piece->count >= RUN_FROM;
}

static void write_piece(struct table_writer *writer, const struct write_buffer *buffer,
                        const struct key_piece *piece) {
    if (fills_table(writer, buffer, piece))
        write_by_file(writer, buffer, piece);
    else
        write_by_memory(writer, buffer, piece);
}

static bool goes_by_memory(const struct table_writer *writer, const struct write_buffer *buffer) {
    return writer->store->settings.memory ||
           write_buffer_newest_range(buffer, writer->family) != NULL;
}

static void write_family(struct table_writer *writer, struct write_buffer *buffer) {
    if (writer->error != NULL || write_buffer_is_empty(buffer, writer->family))
        return;
    write_buffer_order(buffer, writer->family);
    struct key_piece piece = {.end = first_key(writer, buffer)};
    if (goes_by_memory(writer, buffer)) {
        write_by_memory(writer, buffer, &(struct key_piece){.first = piece.end});
        return;
    }
    while (piece.end != NULL && writer->error == NULL) {
        piece = find_piece(writer, buffer, piece.end);
        write_piece(writer, buffer, &piece);
    }
}

static void write_position(struct table_writer *writer, uint64_t end) {
    rocksdb_column_family_handle_t *own = writer->store->families[0];
    struct buf value = {0};
    buf_u64(&value, end);
    rocksdb_writebatch_put_cf(writer->batch, own, position_key, sizeof(position_key) - 1,
                              (const char *)value.data, value.size);
    buf_release(&value);
    take_step(writer);
    flush_family(writer, own);
}

char *tables_write(struct store *store, struct write_buffer *buffer, uint64_t end) {
    struct table_writer writer = {.store = store, .batch = rocksdb_writebatch_create()};
    view_unpin(store);
    for (int i = 0; i < STORE_FAMILIES; i++) {
        writer.family = (enum store_family)i;
        write_family(&writer, buffer);
    }
    write_position(&writer, end);
    view_repin(store);
    rocksdb_writebatch_destroy(writer.batch);
    return writer.error;
}

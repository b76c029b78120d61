/* Backups: a checkpoint of the data folder and a short description beside it.
 *
 *   DIR/backups/ID/            a data folder of its own (FORMAT, db), and
 *   DIR/backups/ID/BACKUP      what it is a backup of
 *   DIR/backups/ID.partial/    being made, being removed, or read by an export
 *
 * A checkpoint shares its files with the store, so it costs little until the store has rewritten
 * them. It holds all tables; the description says which one it was made for. A backup is there once
 * its folder has been renamed into place, and is gone once it has been renamed away; what a crash
 * left under ".partial" is removed at the next start.
 *
 * BACKUP: a line "gametable backup 1", a body, a hash of the body (u64). The body: id, name
 * (counted), created_ms, then of the table: id (counted), created_ms, items, size,
 * stream_since_ms (varints), schema (counted). */
#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "table/local/local_int.h"
#include "table/local/recovery.h"
#include "table/local/table_reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { ID_SIZE = 14 + 1 + 8, RECORD_MAX = LIMIT_BACKUP_RECORD };

static const char heading[] = "gametable backup 1\n";

/* One that is being read or removed. */
struct use {
    struct use *next;
    struct backups *backups;
    char id[ID_SIZE + 1];
};

struct backups {
    struct local *local;
    char *path; /* DIR/backups */
    pthread_mutex_t lock;
    struct use *uses; /* under lock */
};

/* --- ids and paths --- */

static bool is_id(struct bytes id) {
    if (id.size != ID_SIZE)
        return false;
    for (size_t i = 0; i < ID_SIZE; i++) {
        uint8_t c = id.data[i];
        bool digit = c >= '0' && c <= '9', hex = digit || (c >= 'a' && c <= 'f');
        if (i < 14 ? !digit : i == 14 ? c != '-' : !hex)
            return false;
    }
    return true;
}

static void make_id(char *to, int64_t now_ms) {
    uint32_t random;
    random_secure(&random, sizeof(random));
    snprintf(to, ID_SIZE + 1, "%014llu-%08x", (unsigned long long)now_ms % 100000000000000ULL,
             random);
}

/* DIR/backups/ID and a suffix, on the heap. */
static char *path_of(const struct backups *backups, const char *id, const char *suffix) {
    char name[ID_SIZE + 16];
    snprintf(name, sizeof(name), "%.*s%s", ID_SIZE, id, suffix);
    return files_join(backups->path, name);
}

static enum status failed(struct scope in, const char *doing) {
    return failure_set(in.failure, in.arena, IO_FAILED, "The backup cannot be %s: %s.", doing,
                       strerror(errno));
}

static enum status not_found(struct scope in) {
    return failure_set(in.failure, in.arena, NO_RESOURCE, "Backup not found");
}

static enum status check_possible(const struct local *local, struct scope in) {
    if (local->backups != NULL)
        return OK;
    return failure_set(in.failure, in.arena, UNSUPPORTED,
                       "The data is in memory only: start the server with --data to be able to "
                       "make copies of it.");
}

/* --- uses --- */

static void use_end(void *context) {
    struct use *use = context;
    struct backups *backups = use->backups;
    pthread_mutex_lock(&backups->lock);
    for (struct use **link = &backups->uses; *link != NULL; link = &(*link)->next)
        if (*link == use) {
            *link = use->next;
            break;
        }
    pthread_mutex_unlock(&backups->lock);
    mem_free(use);
}

static enum status use_begin(struct backups *backups, struct bytes id, struct scope in,
                             struct use **out) {
    if (!is_id(id))
        return not_found(in);
    struct use *use = mem_zalloc(sizeof(*use));
    bool taken = false;
    memcpy(use->id, id.data, ID_SIZE);
    use->backups = backups;
    pthread_mutex_lock(&backups->lock);
    for (const struct use *other = backups->uses; other != NULL; other = other->next)
        taken = taken || strcmp(other->id, use->id) == 0;
    if (!taken) {
        use->next = backups->uses;
        backups->uses = use;
    }
    pthread_mutex_unlock(&backups->lock);
    *out = use;
    if (!taken)
        return OK;
    mem_free(use);
    return failure_set(in.failure, in.arena, IN_USE, "Backup is being used");
}

/* --- descriptions --- */

static void encode(const struct backup_description *about, struct buf *to) {
    const struct table_description *table = &about->table;
    struct buf schema = {0};
    table_schema_encode(&table->schema, &schema);
    buf_counted(to, about->id);
    buf_counted(to, about->name);
    buf_varint(to, (uint64_t)about->created_ms);
    buf_counted(to, table->id);
    buf_varint(to, (uint64_t)table->created_ms);
    buf_varint(to, table->item_count);
    buf_varint(to, table->size);
    buf_varint(to, (uint64_t)table->stream_since_ms);
    buf_counted(to, buf_bytes(&schema));
    buf_release(&schema);
}

static bool take_ms(struct bytes *in, int64_t *out) {
    uint64_t number;
    if (!take_varint(in, &number))
        return false;
    *out = (int64_t)number;
    return true;
}

static bool decode(struct bytes in, struct arena *arena, struct backup_description *out) {
    struct table_description *table = &out->table;
    struct bytes schema;
    *out = (struct backup_description){.table.status = PART_ACTIVE};
    return take_counted(&in, &out->id) && take_counted(&in, &out->name) &&
           take_ms(&in, &out->created_ms) && take_counted(&in, &table->id) &&
           take_ms(&in, &table->created_ms) && take_varint(&in, &table->item_count) &&
           take_varint(&in, &table->size) && take_ms(&in, &table->stream_since_ms) &&
           take_counted(&in, &schema) && in.size == 0 &&
           table_schema_decode(schema, arena, &table->schema) == OK;
}

static int put_description(const char *folder, const struct backup_description *about) {
    struct buf record = {0};
    buf_append(&record, heading, sizeof(heading) - 1);
    encode(about, &record);
    buf_u64(&record, hash_stable(bytes_skip(buf_bytes(&record), sizeof(heading) - 1), 0));
    char *path = files_join(folder, "BACKUP");
    int result = files_put(path, buf_bytes(&record));
    int reason = errno;
    mem_free(path);
    buf_release(&record);
    errno = reason;
    return result;
}

static bool read_record(struct bytes record, struct arena *arena, struct backup_description *out) {
    size_t head = sizeof(heading) - 1;
    if (record.size < head + 8 || !bytes_starts(record, bytes_of(heading, head)))
        return false;
    struct bytes body = bytes_of(record.data + head, record.size - head - 8);
    struct bytes end = bytes_skip(record, record.size - 8);
    uint64_t hash = 0;
    return take_u64(&end, &hash) && hash == hash_stable(body, 0) && decode(body, arena, out);
}

static enum status describe(const struct backups *backups, const char *id, struct scope in,
                            struct backup_description *out) {
    struct bytes record;
    char *path = path_of(backups, id, "/BACKUP");
    int result = files_get(path, RECORD_MAX, in.arena, &record);
    int reason = errno;
    mem_free(path);
    errno = reason;
    if (result != 0 && errno == ENOENT)
        return not_found(in);
    if (result != 0)
        return failed(in, "read");
    if (!read_record(record, in.arena, out))
        return failure_set(in.failure, in.arena, DAMAGED,
                           "The description of backup %.*s is damaged.", ID_SIZE, id);
    return OK;
}

enum status local_backup_describe(struct engine *engine, struct bytes id, struct scope in,
                                  struct backup_description *out) {
    struct local *local = (struct local *)engine;
    if (local->backups == NULL || !is_id(id))
        return not_found(in);
    return describe(local->backups, (const char *)id.data, in, out);
}

/* --- making --- */

static enum status check_table(struct local *local, struct bytes name, struct scope in) {
    pthread_rwlock_rdlock(&local->state_lock);
    const struct table *table = map_get(&local->tables, name);
    bool found = table != NULL, loading = found && table->loading;
    pthread_rwlock_unlock(&local->state_lock);
    if (!found)
        return failure_set(in.failure, in.arena, NO_TABLE, "Table not found: %.*s",
                           BYTES_ARG(name));
    if (loading)
        return failure_set(in.failure, in.arena, TABLE_IN_USE, "Table is being created: %.*s",
                           BYTES_ARG(name));
    return OK;
}

/* A checkpoint at `path`, which is below DIR/backups. */
static enum status checkpoint(struct backups *backups, const char *path, struct scope in) {
    if (files_make_path(backups->path) != 0)
        return failed(in, "made");
    return store_checkpoint(backups->local->store, path, in);
}

/* What the checkpoint says about the table, which may have changed since somebody asked. Reading it
 * also shows that it can be read. */
static enum status describe_checkpoint(const char *path, struct bytes table, struct scope in,
                                       struct table_description *out) {
    struct table_reader *reader;
    struct reader_source source = {.path = path, .table = table};
    enum status status = reader_open(&source, in, &reader);
    if (status != OK)
        return status;
    *out = reader->about;
    out->schema = table_schema_copy(in.arena, &reader->about.schema);
    out->id = arena_copy(in.arena, reader->about.id);
    reader->close(reader);
    return OK;
}

static enum status rename_into_place(const struct backups *backups, const char *id,
                                     const char *partial, struct scope in) {
    char *path = path_of(backups, id, "");
    enum status status = files_move(partial, path) == 0 ? OK : failed(in, "made");
    mem_free(path);
    return status;
}

enum status local_backup_create(struct engine *engine, const struct backup_request *request,
                                struct scope in, struct backup_description *out) {
    struct local *local = (struct local *)engine;
    enum status status = check_possible(local, in);
    if (status == OK)
        status = check_table(local, request->table, in);
    if (status != OK)
        return status;
    char id[ID_SIZE + 1];
    *out = (struct backup_description){.name = request->name, .created_ms = clock_now_ms()};
    make_id(id, out->created_ms);
    out->id = arena_copy(in.arena, bytes_str(id));
    char *partial = path_of(local->backups, id, ".partial");
    status = checkpoint(local->backups, partial, in);
    if (status == OK)
        status = describe_checkpoint(partial, request->table, in, &out->table);
    if (status == OK && put_description(partial, out) != 0)
        status = failed(in, "made");
    if (status == OK)
        status = rename_into_place(local->backups, id, partial, in);
    if (status != OK)
        files_remove(partial);
    mem_free(partial);
    return status;
}

/* --- removing --- */

static enum status remove_files(const struct backups *backups, const char *id, struct scope in) {
    char *path = path_of(backups, id, ""), *partial = path_of(backups, id, ".partial");
    enum status status = OK;
    if (files_move(path, partial) != 0)
        status = failed(in, "removed");
    else
        files_remove(partial); /* what stays is removed at the next start */
    mem_free(path);
    mem_free(partial);
    return status;
}

enum status local_backup_delete(struct engine *engine, struct bytes id, struct scope in,
                                struct backup_description *out) {
    struct local *local = (struct local *)engine;
    struct use *use;
    if (local->backups == NULL)
        return not_found(in);
    enum status status = use_begin(local->backups, id, in, &use);
    if (status != OK)
        return status;
    status = describe(local->backups, use->id, in, out);
    if (status == OK)
        status = remove_files(local->backups, use->id, in);
    use_end(use);
    return status;
}

/* --- listing --- */

static int compare_ids(const void *a, const void *b) {
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

/* All ids, in order. */
static size_t read_ids(const struct backups *backups, struct arena *arena, struct bytes **out) {
    size_t count = 0, room = 64;
    struct bytes *ids = arena_alloc(arena, room * sizeof(*ids));
    DIR *dir = opendir(backups->path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (!is_id(bytes_str(entry->d_name)))
            continue;
        if (count == room) {
            ids = arena_grow(arena, ids, room * sizeof(*ids), 2 * room * sizeof(*ids));
            room *= 2;
        }
        ids[count++] = bytes_str(arena_str(arena, bytes_str(entry->d_name)));
    }
    if (dir != NULL)
        closedir(dir);
    qsort(ids, count, sizeof(*ids), compare_ids);
    *out = ids;
    return count;
}

static bool matches(const struct backup_filter *filter, const struct backup_description *about) {
    return (filter->table.size == 0 || bytes_equal(filter->table, about->table.schema.name)) &&
           (filter->from_ms == 0 || about->created_ms >= filter->from_ms) &&
           (filter->until_ms == 0 || about->created_ms < filter->until_ms);
}

/* One whose description cannot be read is left out: it can be told about by its id only. */
enum status local_backup_list(struct engine *engine, const struct backup_filter *filter,
                              struct scope in, struct backup_list *out) {
    const struct backups *backups = ((struct local *)engine)->backups;
    struct bytes *ids;
    *out = (struct backup_list){0};
    if (backups == NULL)
        return OK;
    size_t count = read_ids(backups, in.arena, &ids);
    out->backups = ARENA_ARRAY(in.arena, struct backup_description, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct backup_description *about = &out->backups[out->count];
        if (filter->after.size != 0 && bytes_compare(ids[i], filter->after) <= 0)
            continue;
        if (describe(backups, (const char *)ids[i].data, in, about) != OK ||
            !matches(filter, about))
            continue;
        out->more = filter->limit != 0 && out->count == filter->limit;
        if (out->more)
            break;
        out->count++;
    }
    return OK;
}

/* --- reading --- */

static void remove_scratch(void *context) {
    char *path = context;
    files_remove(path);
    mem_free(path);
}

/* The table as it is now: from a checkpoint that is removed when it has been read, so that no
 * snapshot of the store is held for long. */
static enum status read_now(struct local *local, struct bytes table, struct scope in,
                            struct table_reader **out) {
    char id[ID_SIZE + 1];
    enum status status = check_table(local, table, in);
    if (status != OK)
        return status;
    make_id(id, clock_now_ms());
    char *path = path_of(local->backups, id, ".partial");
    struct reader_source source = {
        .path = path, .table = table, .closed = remove_scratch, .context = path};
    status = checkpoint(local->backups, path, in);
    if (status == OK)
        status = reader_open(&source, in, out);
    if (status != OK)
        remove_scratch(path);
    return status;
}

static enum status read_backup(struct local *local, struct bytes id, struct scope in,
                               struct table_reader **out) {
    struct backup_description about;
    struct use *use;
    enum status status = use_begin(local->backups, id, in, &use);
    if (status != OK)
        return status;
    char *path = path_of(local->backups, use->id, "");
    status = describe(local->backups, use->id, in, &about);
    if (status == OK) {
        struct reader_source source = {
            .path = path, .table = about.table.schema.name, .closed = use_end, .context = use};
        status = reader_open(&source, in, out);
    }
    if (status != OK)
        use_end(use);
    mem_free(path);
    return status;
}

enum status local_read_table(struct engine *engine, const struct reader_request *request,
                             struct scope in, struct table_reader **out) {
    struct local *local = (struct local *)engine;
    enum status status = check_possible(local, in);
    if (status != OK)
        return status;
    if (request->backup.size != 0)
        return read_backup(local, request->backup, in, out);
    if (request->at_ms != 0)
        return past_reader_open(local, request, in, out);
    return read_now(local, request->table, in, out);
}

/* --- the whole --- */

static void remove_partial(const struct backups *backups) {
    DIR *dir = opendir(backups->path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        size_t size = strlen(entry->d_name);
        if (size != ID_SIZE + 8 || strcmp(entry->d_name + ID_SIZE, ".partial") != 0 ||
            !is_id(bytes_of(entry->d_name, ID_SIZE)))
            continue;
        char *path = files_join(backups->path, entry->d_name);
        files_remove(path);
        mem_free(path);
    }
    if (dir != NULL)
        closedir(dir);
}

struct backups *backups_new(struct local *local) {
    const char *folder = store_path(local->store);
    if (folder == NULL)
        return NULL;
    struct backups *backups = mem_zalloc(sizeof(*backups));
    backups->local = local;
    backups->path = files_join(folder, "backups");
    pthread_mutex_init(&backups->lock, NULL);
    remove_partial(backups);
    return backups;
}

void backups_free(struct backups *backups) {
    if (backups == NULL)
        return;
    pthread_mutex_destroy(&backups->lock);
    mem_free(backups->path);
    mem_free(backups);
}

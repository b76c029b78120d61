/* The list is a log of the database's (wal_check.h), of which each record is an edit: fields of a
 * number that says what it is, and values that are numbers (v: seven bits a byte, the low ones
 * first) and bytes (s: such a size, then the bytes):
 *
 *      1 s     order of keys            9 v    previous log        200 v    family; without, 0
 *      2 v     log                     10 v    oldest log          201 s    family added
 *      3 v     next file                                           202      family dropped
 *      4 v     last sequence          103      table added:        203 v    last family
 *      5 vs    where to merge next             vvvssvv, then       300 v    edits that belong
 *      6 vv    table gone: its level           fields of v and s            together
 *              and number                      up to field 1      8193 s    and others above 8192:
 *                                              (level, number,              may be passed over
 *                                              size, keys, ...)
 *
 * The database's own code is what defines them; an edit with anything else in it is not judged. A
 * list begins with edits that say what there was when it was made; only those behind them have a
 * field 3. */
#include "store/manifest_check.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"
#include "store/wal_check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    FIELD_LOG = 2,
    FIELD_NEXT = 3,
    FIELD_GONE = 6,
    FIELD_ADDED = 103,
    FIELD_FAMILY = 200,
    CUSTOM_END = 1,
    TABLES_MAX = 64, /* that an edit may add or remove to be judged: a merge's may have more */
    LIST_MAX = 64 * 1024 * 1024,
};

/* What an edit says. */
struct edit {
    size_t at; /* where its record begins */
    bool known;
    bool later;   /* it changes what was there, and is none of those that a new list begins with */
    bool has_log; /* as one that tells of the database's memory written out */
    uint64_t family;
    unsigned added_count, gone_count;
    uint64_t added[TABLES_MAX], gone[TABLES_MAX];
};

struct edits {
    struct edit *edits;
    size_t count, room;
};

/* --- one edit --- */

static bool skip_bytes(struct bytes *in) {
    uint64_t size;
    if (!take_varint(in, &size) || size > in->size)
        return false;
    *in = bytes_skip(*in, (size_t)size);
    return true;
}

/* Passes over the values; the last number among them, but not behind bytes, goes to *number. */
static bool take_values(struct bytes *in, const char *shape, uint64_t *number) {
    bool bytes_seen = false;
    for (; *shape != '\0'; shape++) {
        uint64_t value;
        if (*shape == 's' ? !skip_bytes(in) : !take_varint(in, &value))
            return false;
        bytes_seen = bytes_seen || *shape == 's';
        if (*shape == 'v' && !bytes_seen)
            *number = value;
    }
    return true;
}

static bool note_table(uint64_t *list, unsigned *count, uint64_t number) {
    if (*count == TABLES_MAX)
        return false;
    list[(*count)++] = number;
    return true;
}

static bool take_added(struct bytes *in, struct edit *edit) {
    uint64_t number, size, field;
    if (!take_values(in, "vv", &number) || !take_values(in, "vssvv", &size) ||
        !note_table(edit->added, &edit->added_count, number))
        return false;
    while (take_varint(in, &field)) {
        if (field == CUSTOM_END)
            return true;
        if (!skip_bytes(in))
            return false;
    }
    return false;
}

static const char *field_shape(uint64_t field) {
    static const struct {
        unsigned field;
        const char *shape;
    } fields[] = {{1, "s"},   {2, "v"},    {3, "v"},    {4, "v"},    {5, "vs"},
                  {9, "v"},   {10, "v"},   {201, "s"},  {202, ""},   {203, "v"},
                  {300, "v"}, {8193, "s"}, {8198, "s"}, {8199, "s"}, {8200, "s"}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (fields[i].field == field)
            return fields[i].shape;
    return NULL;
}

static bool take_field(struct bytes *in, uint64_t field, struct edit *edit) {
    uint64_t number = 0;
    if (field == FIELD_ADDED)
        return take_added(in, edit);
    if (field == FIELD_FAMILY)
        return take_values(in, "v", &edit->family);
    if (field == FIELD_GONE)
        return take_values(in, "vv", &number) && note_table(edit->gone, &edit->gone_count, number);
    const char *shape = field_shape(field);
    edit->later = edit->later || field == FIELD_NEXT;
    edit->has_log = edit->has_log || field == FIELD_LOG;
    return shape != NULL && take_values(in, shape, &number);
}

static void read_edit(struct bytes in, struct edit *edit) {
    uint64_t field;
    edit->known = true;
    while (edit->known && in.size != 0)
        edit->known = take_varint(&in, &field) && take_field(&in, field, edit);
}

/* --- the list --- */

/* A note is a table of the family 0 that was written out of the database's memory. */
static bool is_note(const struct edit *edit) {
    return edit->family == 0 && edit->added_count != 0 && edit->has_log;
}

/* Whether nothing before the edit matters. */
static bool ends_search(const struct edit *edit) {
    return !edit->known || !edit->later || is_note(edit);
}

static struct edit *edits_add(struct edits *edits, size_t at) {
    if (edits->count == edits->room) {
        edits->room = edits->room == 0 ? 16 : 2 * edits->room;
        edits->edits = mem_realloc(edits->edits, edits->room * sizeof(*edits->edits));
    }
    struct edit *edit = &edits->edits[edits->count++];
    *edit = (struct edit){.at = at};
    return edit;
}

static void read_next(struct bytes record, size_t at, struct edits *out) {
    struct edit *edit = edits_add(out, at);
    read_edit(record, edit);
    if (ends_search(edit)) {
        out->edits[0] = *edit;
        out->count = 1;
    }
}

/* Reads the records up to the end, or to the first that is not whole; only those from the last one
 * on that matters are kept. */
static void read_edits(struct bytes list, struct edits *out) {
    struct buf record = {0};
    struct wal_piece piece;
    size_t begun = 0;
    for (size_t at = 0; wal_piece_at(list, &at, &piece);) {
        if (piece.type == WAL_ONE || piece.type == WAL_FIRST) {
            buf_clear(&record);
            begun = piece.at;
        }
        buf_put(&record, piece.data);
        if (piece.type == WAL_ONE || piece.type == WAL_LAST)
            read_next(buf_bytes(&record), begun, out);
    }
    buf_release(&record);
}

/* --- judging --- */

static bool is_gone_later(const struct edits *edits, size_t from, uint64_t number) {
    for (size_t i = from; i < edits->count; i++)
        for (unsigned j = 0; j < edits->edits[i].gone_count; j++)
            if (edits->edits[i].gone[j] == number)
                return true;
    return false;
}

static bool is_missing(const char *db_path, uint64_t number) {
    char path[4096];
    int size = snprintf(path, sizeof(path), "%s/%06llu.sst", db_path, (unsigned long long)number);
    return size < (int)sizeof(path) && access(path, F_OK) != 0 && errno == ENOENT;
}

static bool misses_table(const struct edits *edits, size_t at, const char *db_path) {
    const struct edit *edit = &edits->edits[at];
    for (unsigned i = 0; i < edit->added_count; i++)
        if (!is_gone_later(edits, at + 1, edit->added[i]) && is_missing(db_path, edit->added[i]))
            return true;
    return false;
}

static bool is_ingested(const struct edit *edit) {
    return edit->added_count != 0 && edit->gone_count == 0 && !edit->has_log;
}

/* Where to cut: at the first edit behind the last note that ingests a table which is not there; 0:
 * nowhere. Where others miss a table the folder is damaged, and nothing is cut. */
static size_t find_cut(const struct edits *edits, const char *db_path) {
    size_t cut = 0;
    for (size_t i = edits->count; i-- > 0 && edits->edits[i].known && edits->edits[i].later;) {
        const struct edit *edit = &edits->edits[i];
        bool misses = misses_table(edits, i, db_path);
        if (misses && !is_ingested(edit))
            return 0;
        if (misses)
            cut = edit->at;
        else if (is_note(edit))
            return cut;
    }
    return cut;
}

/* --- the file --- */

/* The path of the list that the database has in use, in the arena; NULL: it has none. */
static const char *list_path(const char *db_path, struct arena *arena) {
    struct bytes name;
    char *current = files_join(db_path, "CURRENT");
    int failed = files_get(current, NAME_MAX, arena, &name);
    mem_free(current);
    if (failed != 0 || name.size == 0 || memchr(name.data, '/', name.size) != NULL)
        return NULL;
    name.size -= name.data[name.size - 1] == '\n';
    return arena_str(arena, arena_printf(arena, "%s/%.*s", db_path, BYTES_ARG(name)));
}

void manifest_mend(const char *db_path) {
    struct arena arena;
    struct bytes list;
    struct edits edits = {0};
    arena_init(&arena);
    const char *path = list_path(db_path, &arena);
    if (path != NULL && files_get(path, LIST_MAX, &arena, &list) == 0)
        read_edits(list, &edits);
    size_t cut = find_cut(&edits, db_path);
    if (cut != 0)
        wal_cut(path, cut);
    mem_free(edits.edits);
    arena_release(&arena);
}

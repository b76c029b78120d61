#include "game/keyspace/key_sets.h"

#include "game/board/board_count.h"
#include "game/board/entry.h"
#include "game/keyspace/key_garbage.h"
#include "game/keyspace/key_list.h"

#include <stdlib.h>

/* ---- which boards are the sets of a database ---- */

/* What the names of its boards begin with; in database 0 only of keys that look like another's. */
static struct bytes number_of(unsigned db, struct arena *arena) {
    return arena_printf(arena, "#%u#", db);
}

static void add_spans(struct bytes begin, struct arena *arena, struct name_span **to) {
    struct entry_key_range ranges[ENTRY_KEY_RANGES];
    entry_keys_beginning(begin, arena, ranges);
    for (unsigned i = 0; i < ENTRY_KEY_RANGES; i++)
        *(*to)++ = (struct name_span){.low = ranges[i].low, .high = ranges[i].high};
}

enum { SPANS_MAX = 1 + (KEY_DATABASES - 1) * ENTRY_KEY_RANGES };

/* Database 0 has all boards but those of the others: a span of all, then theirs. */
static size_t spans_of(unsigned db, struct arena *arena, struct name_span *spans) {
    struct name_span *to = spans;
    if (db != 0) {
        add_spans(number_of(db, arena), arena, &to);
        return (size_t)(to - spans);
    }
    *to++ = (struct name_span){0};
    for (unsigned other = 1; other < KEY_DATABASES; other++)
        add_spans(number_of(other, arena), arena, &to);
    return (size_t)(to - spans);
}

static uint64_t sum_of(unsigned db, const struct name_span *spans, size_t count) {
    uint64_t sum = spans[0].count;
    for (size_t i = 1; i < count; i++)
        sum = db == 0 ? sum - spans[i].count : sum + spans[i].count;
    return sum;
}

/* ---- boards with the name of a key of another type ---- */

/* Behind its number a name stands in the key of a board as in the head's, unless it is escaped in
 * one of them (entry_key_of()): those boards are all looked at. */
static enum status find_escaped(struct board_count *count, struct bytes begin,
                                const struct name_span *last) {
    struct name_span first = {.low = begin}; /* of no name, or one that begins with 0x00 */
    first.high = arena_printf(count->in.arena, "%.*s\1", BYTES_ARG(begin));
    enum status status = board_count_find_span(count, &first);
    return status == OK ? board_count_find_span(count, last) : status;
}

/* Those whose names begin with the number of a database. */
static enum status find_numbered(struct board_count *count, unsigned db, struct bytes heads) {
    struct bytes begin = number_of(db, count->in.arena);
    struct name_span spans[ENTRY_KEY_RANGES], *to = spans;
    add_spans(begin, count->in.arena, &to);
    enum status status = board_count_spans(count, spans, ENTRY_KEY_RANGES);
    if (status != OK || spans[0].count + spans[1].count == 0)
        return status;
    status = board_count_find_listed(count, begin, heads);
    return status == OK ? find_escaped(count, begin, &spans[1]) : status;
}

static enum status find_keyed(struct board_count *count, unsigned db) {
    struct bytes heads = arena_printf(count->in.arena, "KEYS#%u", db);
    uint64_t head_count = 0;
    enum status status = key_list_count(count->game, db, count->in, &head_count);
    if (status != OK || head_count == 0)
        return status;
    status = find_numbered(count, db, heads);
    if (status == OK && db == 0)
        status = board_count_find_listed(count, (struct bytes){0}, heads);
    return status;
}

static enum status find_garbage(struct board_count *count) {
    struct garbage_boards boards = {.more = true};
    struct item after = {0};
    enum status status = OK;
    while (status == OK && boards.more) {
        status =
            key_garbage_boards(count->game, after.count != 0 ? &after : NULL, count->in, &boards);
        for (size_t i = 0; status == OK && i < boards.count; i++)
            board_count_add_odd(count, boards.keys[i]);
        after = boards.last;
        if (status == OK)
            status = board_count_look(count, boards.looked);
    }
    return status;
}

/* ---- counting ---- */

static int by_bytes(const void *a, const void *b) {
    const struct bytes *one = a, *two = b;
    return bytes_compare(*one, *two);
}

/* Keeps the database's, each once. */
static void keep_own(struct board_count *count, unsigned db) {
    size_t kept = 0;
    if (count->odd_count != 0)
        qsort(count->odd, count->odd_count, sizeof(*count->odd), by_bytes);
    for (size_t i = 0; i < count->odd_count; i++) {
        struct bytes key = count->odd[i];
        if ((kept == 0 || !bytes_equal(count->odd[kept - 1], key)) && key.size != 0 &&
            key_of_board(entry_member_of(key, count->in.arena)).db == db)
            count->odd[kept++] = key;
    }
    count->odd_count = kept;
}

/* Counts the database's boards without the odd ones, and each of those: `spans` of it. */
static enum status count_others(const struct board_count *count, unsigned db,
                                struct name_span *spans, uint64_t *out) {
    struct arena *arena = count->in.arena;
    struct name_span *all = ARENA_ARRAY(arena, struct name_span, SPANS_MAX + count->odd_count);
    size_t own = spans_of(db, arena, all);
    for (size_t i = 0; i < count->odd_count; i++)
        all[own + i] = board_count_span_of(count->odd[i], arena);
    enum status status = board_count_spans(count, all, own + count->odd_count);
    if (status != OK)
        return status;
    *out = sum_of(db, all, own);
    for (size_t i = 0; i < count->odd_count; i++) {
        spans[i] = all[own + i];
        *out -= spans[i].count < *out ? spans[i].count : *out; /* some may have come since */
    }
    return OK;
}

/* Keys are only boards that have an instance, which those that were counted have. */
static enum status take_odd(const struct board_count *count, const struct name_span *spans,
                            struct key_sets *out) {
    struct arena *arena = count->in.arena;
    enum status status = OK;
    out->odd = ARENA_ARRAY(arena, struct bytes, count->odd_count + 1);
    for (size_t i = 0; i < count->odd_count && status == OK; i++) {
        bool has = spans[i].count != 0;
        if (!has)
            status = board_count_has_instance(count, count->odd[i], &has);
        if (has)
            out->odd[out->odd_count++] = entry_member_of(count->odd[i], arena);
    }
    return status;
}

enum status key_sets_count(struct game *game, const struct key_sets_request *request,
                           struct scope in, struct key_sets *out) {
    struct board_count count = {.game = game, .in = in, .nonblocking = request->nonblocking};
    enum status status = board_count_find_odd(&count, request->now_ms);
    *out = (struct key_sets){0};
    if (status == OK)
        status = find_keyed(&count, request->db);
    if (status == OK)
        status = find_garbage(&count);
    if (status != OK)
        return status;
    keep_own(&count, request->db);
    struct name_span *spans = ARENA_ARRAY(in.arena, struct name_span, count.odd_count + 1);
    status = count_others(&count, request->db, spans, &out->count);
    return status == OK ? take_odd(&count, spans, out) : status;
}

/* SCAN and ZSCAN: everything, some at a time. */
#include "api/redis/glob.h"
#include "api/redis/keyspace.h"
#include "api/redis/pairs.h"
#include "api/redis/space_int.h"

#include <inttypes.h>
#include <stdio.h>

enum { COUNT_DEFAULT = 10, COUNT_MAX = 10000, WHOLE_MAX = 128 };

struct scan {
    uint64_t cursor;
    struct bytes pattern; /* data NULL: none */
    struct bytes type;    /* likewise */
    size_t count;
};

/* Unsigned, and some clients send what they kept as signed. */
static enum status read_cursor(struct redis_call *call, struct bytes text, uint64_t *out) {
    uint64_t number = 0;
    bool minus = text.size != 0 && text.data[0] == '-';
    size_t at = minus || (text.size != 0 && text.data[0] == '+') ? 1 : 0;
    bool good = at < text.size;
    for (; at < text.size && good; at++) {
        uint8_t digit = (uint8_t)(text.data[at] - '0');
        good = digit <= 9 && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, digit, &number);
    }
    *out = minus ? 0 - number : number;
    return good ? OK : call_error(call, "ERR invalid cursor");
}

static enum status read_options(struct redis_call *call, size_t first, bool types,
                                struct scan *scan) {
    int64_t count;
    for (size_t i = first; i < call->count; i += 2) {
        bool more = i + 1 < call->count;
        if (more && call_arg_is(call, i, "COUNT")) {
            if (call_int(call, i + 1, &count) != OK)
                return INVALID;
            if (count < 1)
                return call_error(call, ERROR_SYNTAX);
            scan->count = count < COUNT_MAX ? (size_t)count : COUNT_MAX;
        } else if (more && call_arg_is(call, i, "MATCH"))
            scan->pattern = call->args[i + 1];
        else if (more && types && call_arg_is(call, i, "TYPE"))
            scan->type = call->args[i + 1];
        else
            return call_error(call, ERROR_SYNTAX);
    }
    return OK;
}

static bool fits(const struct scan *scan, struct bytes name) {
    return scan->pattern.data == NULL || glob_matches(scan->pattern, name, false);
}

static void reply_cursor(struct redis_call *call, uint64_t cursor) {
    char text[24];
    int size = snprintf(text, sizeof(text), "%" PRIu64, cursor);
    resp_array(&call->out, 2);
    resp_bulk(&call->out, bytes_of(text, (size_t)size));
}

/* ---- SCAN ---- */

struct found {
    const struct scan *scan;
    struct arena *arena;
    size_t seen; /* keys, whether or not they fit */
    struct bytes *list;
    size_t count, room;
};

static enum status add(struct redis_call *call, struct bytes key, struct zset *zset, void *user) {
    struct found *found = user;
    (void)call, (void)zset;
    found->seen++;
    if (!fits(found->scan, key))
        return OK;
    if (found->count == found->room) {
        size_t room = found->room == 0 ? 16 : found->room * 2;
        found->list =
            arena_grow(found->arena, found->list, found->room * sizeof(key), room * sizeof(key));
        found->room = room;
    }
    found->list[found->count++] = arena_copy(found->arena, key);
    return OK;
}

static bool is_zset(struct bytes type) {
    return type.data == NULL || bytes_equal(type, BYTES("zset")) ||
           glob_matches(BYTES("zset"), type, true);
}

/* Names of emptied sets are no keys: goes on over some of those, so that a page has some. */
static enum status page_keys(struct redis_call *call, const struct scan *scan, struct found *found,
                             struct bytes *last) {
    enum { PAGES = 20 };
    enum status status = OK;
    *last = cursors_find(&call->face->cursors, scan->cursor, (struct bytes){0}, call->arena);
    for (int i = 0; i < PAGES && status == OK && found->seen < scan->count; i++) {
        status = keyspace_page(call, *last, scan->count, add, found, last);
        if (last->size == 0)
            break;
    }
    return status;
}

static enum status run_scan(struct redis_call *call) {
    struct scan scan = {.count = COUNT_DEFAULT};
    struct found found = {.scan = &scan, .arena = call->arena};
    struct cursors *cursors = &call->face->cursors;
    struct bytes last = {0};
    enum status status = read_cursor(call, call->args[1], &scan.cursor);
    if (status == OK)
        status = read_options(call, 2, true, &scan);
    if (status == OK && call->nested)
        status = keyspace_each(call, add, &found);
    else if (status == OK)
        status = page_keys(call, &scan, &found, &last);
    if (status != OK)
        return status;
    if (!is_zset(scan.type))
        found.count = 0;
    reply_cursor(call, last.size != 0 ? cursors_keep(cursors, (struct bytes){0}, last) : 0);
    resp_array(&call->out, found.count);
    for (size_t i = 0; i < found.count; i++)
        resp_bulk(&call->out, found.list[i]);
    return OK;
}

/* ---- ZSCAN ---- */

/* The next members by their names: scores may change meanwhile, names stay where they are. */
static enum status page_members(struct redis_call *call, struct zset *zset, const struct scan *scan,
                                struct zset_entries *out, struct bytes *last) {
    struct game *game = call->face->game;
    struct key_condition keys = {.count = 1};
    struct bytes after = cursors_find(&call->face->cursors, scan->cursor, zset->key, call->arena);
    struct page_reply page;
    keys.tests[0] =
        (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(zset->board->pk)};
    if (after.size != 0)
        keys.tests[keys.count++] =
            (struct key_test){.name = GAME_SK, .op = KEY_GT, .low = value_string(after)};
    struct page_request request = {
        .table = game->table, .keys = &keys, .consistent = true, .limit = (uint32_t)scan->count};
    enum status status = engine_page(game->engine, &request, call->arena, &call->failure, &page);
    if (status != OK)
        return status;
    out->list = ARENA_ARRAY(call->arena, struct zset_entry, page.count + 1);
    for (uint64_t i = 0; i < page.count; i++) {
        struct entry entry;
        if (entry_read(&page.items[i], call->arena, &entry) == OK && !entry.hidden)
            out->list[out->count++] = (struct zset_entry){.member = entry.member,
                                                          .score = points_to_double(&entry.points)};
    }
    const struct value *key = page.more ? item_get(&page.last_key, GAME_SK) : NULL;
    *last = key != NULL ? key->bytes : (struct bytes){0};
    return OK;
}

static enum status run_zscan(struct redis_call *call) {
    struct scan scan = {.count = COUNT_DEFAULT};
    struct zset_entries found = {0};
    struct zset *zset = NULL;
    struct bytes last = {0};
    uint64_t size = 0;
    enum status status = read_cursor(call, call->args[2], &scan.cursor);
    if (status == OK)
        status = zset_open(call, call->args[1], &zset);
    if (status == OK)
        status = zset_size(call, zset, &size);
    if (status == OK && (size != 0 || call->count > 3))
        status = size == 0 ? OK : read_options(call, 3, false, &scan);
    if (status == OK && (size <= WHOLE_MAX || call->nested))
        status = zset_all(call, zset, &found);
    else if (status == OK)
        status = page_members(call, zset, &scan, &found, &last);
    if (status != OK)
        return status;
    size_t count = 0;
    for (size_t i = 0; i < found.count; i++)
        if (fits(&scan, found.list[i].member))
            found.list[count++] = found.list[i];
    reply_cursor(call, last.size != 0 ? cursors_keep(&call->face->cursors, zset->key, last) : 0);
    resp_array(&call->out, 2 * count);
    for (size_t i = 0; i < count; i++) {
        char text[RESP_DOUBLE_MAX];
        resp_bulk(&call->out, found.list[i].member);
        resp_bulk(&call->out, bytes_of(text, resp_double_text(found.list[i].score, text)));
    }
    return OK;
}

const struct redis_command redis_scan_commands[] = {
    {"scan",
     -2,
     COMMAND_READ | COMMAND_CATEGORY_KEYSPACE,
     {0},
     run_scan,
     NULL,
     GROUP_GENERIC,
     "2.8.0",
     "Some of the keys, and where to go on"},
    {"zscan",
     -3,
     COMMAND_READ,
     {1, 1, 1, 0},
     run_zscan,
     NULL,
     GROUP_SORTED_SET,
     "2.8.0",
     "Some of the members of a sorted set, and where to go on"},
    {0},
};

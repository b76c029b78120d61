/* SCAN, ZSCAN, HSCAN and SSCAN: all keys, or all members, some at a time. */
#include "api/redis/glob.h"
#include "api/redis/key_txn_int.h"
#include "api/redis/redis_keyspace.h"
#include "base/limits.h"

#include <inttypes.h>
#include <stdio.h>

enum { COUNT_DEFAULT = 10, COUNT_MAX = LIMIT_SCAN_COUNT, WHOLE_MAX = 128 };

struct scan {
    uint64_t cursor;
    struct bytes pattern; /* of MATCH; data NULL: not given */
    struct bytes type;    /* of TYPE; data NULL: not given */
    size_t count;
    struct bytes last; /* what the next page follows; empty: there is none */
};

/* Cursors are unsigned, but some clients keep them in a signed number. */
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

static enum status read_scan_options(struct redis_call *call, size_t first, bool types,
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

static bool matches_filter(const struct scan *scan, struct bytes name) {
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
    size_t seen; /* keys, whether or not they match */
    struct bytes *list;
    size_t count, room;
};

/* Whether the key is of the type that is asked for; an unknown one is nobody's. */
static bool has_type(const struct scan *scan, enum key_type type) {
    return scan->type.data == NULL || glob_matches(key_type_name(type), scan->type, true);
}

static enum status add_key(struct redis_call *call, const struct visited_key *key, void *user) {
    struct found *found = user;
    (void)call;
    found->seen++;
    if (!matches_filter(found->scan, key->name) || !has_type(found->scan, key->type))
        return OK;
    if (found->count == found->room) {
        size_t room = found->room == 0 ? 16 : found->room * 2;
        found->list = arena_grow(found->arena, found->list, found->room * sizeof(struct bytes),
                                 room * sizeof(struct bytes));
        found->room = room;
    }
    found->list[found->count++] = arena_copy(found->arena, key->name);
    return OK;
}

/* A cursor belongs to the database that it was given for. */
static struct bytes scan_owner(const struct redis_call *call) {
    static const char letters[KEY_DATABASES + 1] = "abcdefghijklmnop";
    return call->db == 0 ? (struct bytes){0} : bytes_of(letters + call->db, 1);
}

/* Names of emptied sets are no keys, so that a page of names may hold few keys: reads on for some
 * pages until there are enough. */
static enum status page_keys(struct redis_call *call, struct scan *scan, struct found *found) {
    enum { PAGES = 20 };
    struct key_walk walk = {.visit = add_key, .user = found, .count = scan->count, .db = call->db};
    enum status status = OK;
    walk.after =
        scan_cursors_find(&call->frontend->cursors, scan->cursor, scan_owner(call), call->arena);
    for (int i = 0; i < PAGES && status == OK && found->seen < scan->count; i++) {
        status = keyspace_page(call, &walk);
        if (walk.after.size == 0)
            break;
    }
    scan->last = walk.after;
    return status;
}

static enum status run_scan(struct redis_call *call) {
    struct scan scan = {.count = COUNT_DEFAULT};
    struct found found = {.scan = &scan, .arena = call->arena};
    struct scan_cursors *cursors = &call->frontend->cursors;
    enum status status = read_cursor(call, call->args[1], &scan.cursor);
    if (status == OK)
        status = read_scan_options(call, 2, true, &scan);
    struct key_walk all = {.visit = add_key, .user = &found, .db = call->db};
    if (status == OK && call->nested)
        status = keyspace_each(call, &all);
    else if (status == OK)
        status = page_keys(call, &scan, &found);
    if (status != OK)
        return status;
    reply_cursor(call,
                 scan.last.size != 0 ? scan_cursors_keep(cursors, scan_owner(call), scan.last) : 0);
    resp_array(&call->out, found.count);
    for (size_t i = 0; i < found.count; i++)
        resp_bulk(&call->out, found.list[i]);
    return OK;
}

/* ---- ZSCAN ---- */

/* A page of members in the order of their names, which unlike scores do not change meanwhile. */
static enum status page_members(struct redis_call *call, struct zset *zset, struct scan *scan,
                                struct zset_entries *out) {
    struct game *game = call->frontend->game;
    struct key_condition keys = {.count = 1};
    struct bytes after =
        scan_cursors_find(&call->frontend->cursors, scan->cursor, zset->key, call->arena);
    struct page_reply page;
    keys.tests[0] =
        (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(zset->board->pk)};
    if (after.size != 0)
        keys.tests[keys.count++] =
            (struct key_test){.name = GAME_SK, .op = KEY_GT, .low = value_string(after)};
    struct page_request request = {
        .table = game->table, .keys = &keys, .consistent = true, .limit = (uint32_t)scan->count};
    enum status status =
        engine_page(game->engine, &request, (struct scope){call->arena, &call->failure}, &page);
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
    scan->last = key != NULL ? key->bytes : (struct bytes){0};
    return OK;
}

static enum status run_zscan(struct redis_call *call) {
    struct scan scan = {.count = COUNT_DEFAULT};
    struct zset_entries found = {0};
    struct zset *zset = NULL;
    uint64_t size = 0;
    enum status status = read_cursor(call, call->args[2], &scan.cursor);
    if (status == OK)
        status = zset_open(call, call->args[1], &zset);
    if (status == OK)
        status = zset_size(call, zset, &size);
    if (status == OK && (size != 0 || call->count > 3))
        status = size == 0 ? OK : read_scan_options(call, 3, false, &scan);
    if (status == OK && (size <= WHOLE_MAX || call->nested))
        status = zset_all(call, zset, &found);
    else if (status == OK)
        status = page_members(call, zset, &scan, &found);
    if (status != OK)
        return status;
    size_t count = 0;
    for (size_t i = 0; i < found.count; i++)
        if (matches_filter(&scan, found.list[i].member))
            found.list[count++] = found.list[i];
    reply_cursor(call, scan.last.size != 0
                           ? scan_cursors_keep(&call->frontend->cursors, zset->key, scan.last)
                           : 0);
    resp_array(&call->out, 2 * count);
    for (size_t i = 0; i < count; i++) {
        char text[RESP_DOUBLE_MAX];
        resp_bulk(&call->out, found.list[i].member);
        resp_bulk(&call->out, bytes_of(text, resp_double_text(found.list[i].score, text)));
    }
    return OK;
}

/* ---- HSCAN and SSCAN ---- */

static void reply_fields(struct redis_call *call, const struct scan *scan,
                         const struct hash_fields *found, bool values) {
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++)
        if (matches_filter(scan, found->list[i].name))
            found->list[count++] = found->list[i];
    resp_array(&call->out, count * (values ? 2 : 1));
    for (size_t i = 0; i < count; i++) {
        resp_bulk(&call->out, found->list[i].name);
        if (values)
            resp_bulk(&call->out, found->list[i].value);
    }
}

/* A large key is told in pages, in the order of the names of its fields; a small one at once. */
static enum status scan_fields(struct redis_call *call, enum key_type type) {
    struct scan scan = {.count = COUNT_DEFAULT};
    struct scan_cursors *cursors = &call->frontend->cursors;
    struct redis_key *key = NULL;
    struct field_page page = {0};
    enum status status = read_cursor(call, call->args[2], &scan.cursor);
    if (status == OK)
        status = key_open_as(call, call->args[1], type, &key);
    if (status == OK && key_is_there(key))
        status = read_scan_options(call, 3, false, &scan);
    if (status == OK) {
        page.limit = scan.count;
        page.after = scan_cursors_find(cursors, scan.cursor, key->address.pk, call->arena);
        status = key_page_fields(call, key, &page);
    }
    if (status != OK)
        return status;
    reply_cursor(call,
                 page.next.size != 0 ? scan_cursors_keep(cursors, key->address.pk, page.next) : 0);
    reply_fields(call, &scan, &page.fields, type == KEY_HASH);
    return OK;
}

static enum status run_hscan(struct redis_call *call) {
    return scan_fields(call, KEY_HASH);
}

static enum status run_sscan(struct redis_call *call) {
    return scan_fields(call, KEY_SET);
}

const struct redis_command redis_scan_commands[] = {
    {"scan",
     -2,
     COMMAND_READ | COMMAND_CATEGORY_KEYSPACE,
     TOUCHES_TABLE,
     {0},
     run_scan,
     NULL,
     GROUP_GENERIC,
     "2.8.0",
     "Some of the keys, and where to go on"},
    {"zscan",
     -3,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_zscan,
     NULL,
     GROUP_SORTED_SET,
     "2.8.0",
     "Some of the members of a sorted set, and where to go on"},
    {"hscan",
     -3,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_hscan,
     NULL,
     GROUP_HASH,
     "2.8.0",
     "Some of the fields of a hash, and where to go on"},
    {"sscan",
     -3,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_sscan,
     NULL,
     GROUP_SET,
     "2.8.0",
     "Some of the members of a set, and where to go on"},
    {0},
};

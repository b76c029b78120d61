/* KEYS, DBSIZE, RANDOMKEY, FLUSHDB, FLUSHALL, and the walk over all keys that they and SCAN need.
 *
 * The keys of a database are those that have a head, and the boards that are its sorted sets. An
 * instance of a board stays when its last entry is removed, so the size of each set is looked up,
 * but by DBSIZE, which counts: one without members is no key. A board whose definition cannot be
 * read is left out, so that it does not make these commands fail.
 */
#include "api/redis/redis_keyspace.h"

#include "api/redis/glob.h"
#include "api/redis/key_txn_int.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/utf8.h"
#include "game/keyspace/key_list.h"
#include "game/keyspace/key_sets.h"

enum { PAGE = 1000 };

/* ---- visiting ---- */

static enum status visit_head(struct redis_call *call, const struct key_walk *walk,
                              struct bytes name) {
    struct visited_key key = {.name = name};
    enum status status = key_open_in(call, walk->db, name, &key.key);
    if (status == INVALID &&
        call->error.size == 0) { /* no head: another protocol's client wrote it */
        call->failure = (struct failure){0};
        return OK;
    }
    if (status != OK)
        return status;
    key.type = key.key->head.type;
    return key.type != KEY_NONE ? walk->visit(call, &key, walk->user) : OK;
}

/* Whether the board's name is that of a key of another type, by what the call sees. */
static enum status is_hidden(struct redis_call *call, const struct key_of_board *of,
                             const struct zset *zset, bool *out) {
    struct redis_key *key;
    *out = false;
    if (!zset->board->keyed && call->txn->keys == NULL)
        return OK;
    enum status status = key_open_in(call, of->db, of->name, &key);
    *out = status == OK && key->head.type != KEY_NONE;
    return status;
}

static enum status visit_board(struct redis_call *call, const struct key_walk *walk,
                               struct bytes name) {
    struct key_of_board of = key_of_board(name);
    struct visited_key key = {.name = of.name, .type = KEY_ZSET};
    bool hidden = false;
    uint64_t size = 0;
    if (of.db != walk->db)
        return OK;
    enum status status = zset_open_board(call, name, &key.zset);
    if (status != OK && board_walk_skips(call->frontend->game, name, status, &call->failure)) {
        call->failure = (struct failure){0};
        return OK;
    }
    if (status == OK)
        status = is_hidden(call, &of, key.zset, &hidden);
    if (status == OK && !hidden)
        status = zset_size(call, key.zset, &size);
    return status == OK && size != 0 ? walk->visit(call, &key, walk->user) : status;
}

/* ---- pages ----
 *
 * A place is 'K' and the escaped name of a key with a head, or 'B' and the name of a board: heads
 * come first. The boards of database n are those from "#n#" on; names that are not UTF-8 sort after
 * all others, so they are a second range. */

static struct bytes place_of(struct redis_call *call, char kind, struct bytes name) {
    uint8_t *place = arena_alloc(call->arena, name.size + 1);
    place[0] = (uint8_t)kind;
    if (name.size != 0)
        memcpy(place + 1, name.data, name.size);
    return bytes_of(place, name.size + 1);
}

/* A name that sorts right before those of the database's boards. */
static struct bytes before_boards(unsigned db, bool text, struct arena *arena) {
    if (db == 0)
        return (struct bytes){0};
    return arena_printf(arena, text ? "#%u\"" : "#%u\"\xff", db);
}

/* Where the boards of the database go on after a page that ends with `last`. */
static struct bytes next_board_place(struct redis_call *call, const struct key_walk *walk,
                                     struct bytes last) {
    struct bytes prefix = arena_printf(call->arena, "#%u#", walk->db);
    if (walk->db == 0 || bytes_starts(last, prefix) || bytes_compare(last, prefix) < 0)
        return place_of(call, 'B', last);
    if (!utf8_valid(last))
        return (struct bytes){0};
    return place_of(call, 'B', before_boards(walk->db, false, call->arena));
}

static enum status page_heads(struct redis_call *call, struct redis_call *inner,
                              struct key_walk *walk) {
    struct key_list_range range = {walk->db, walk->after, walk->count};
    struct key_list list;
    if (range.after.size != 0)
        range.after = bytes_skip(range.after, 1);
    enum status status =
        key_list(call->frontend->game, &range, (struct scope){inner->arena, &call->failure}, &list);
    if (status != OK)
        return status;
    walk->after = list.more && list.count != 0
                      ? place_of(call, 'K', list.last)
                      : place_of(call, 'B', before_boards(walk->db, true, call->arena));
    for (size_t i = 0; i < list.count && status == OK; i++)
        status = visit_head(inner, walk, list.names[i]);
    return status;
}

static enum status page_boards(struct redis_call *call, struct redis_call *inner,
                               struct key_walk *walk) {
    size_t count = walk->count < 2 ? 2 : walk->count; /* so that "" is not the last of a page */
    struct instance_list list;
    struct list_range range = {.after = bytes_skip(walk->after, 1), .limit = count};
    enum status status = board_instances(call->frontend->game, &range,
                                         (struct scope){inner->arena, &call->failure}, &list);
    if (status != OK)
        return status;
    walk->after = list.more && list.count != 0
                      ? next_board_place(call, walk, list.names[list.count - 1])
                      : (struct bytes){0};
    for (size_t i = 0; i < list.count && status == OK; i++)
        status = visit_board(inner, walk, list.names[i]);
    return status;
}

/* The boards that are named, in place of a page. */
static enum status visit_named(struct redis_call *inner, const struct key_walk *walk) {
    enum status status = OK;
    for (size_t i = 0; i < walk->count && status == OK; i++)
        status = visit_board(inner, walk, walk->boards[i]);
    return status;
}

/* The keys are opened by `inner`, the call itself or one whose arena ends with the page. */
static enum status visit_page(struct redis_call *call, struct redis_call *inner,
                              struct key_walk *walk) {
    enum status status = call_spend(inner, WORK_SET + WORK_ENTRY * walk->count);
    if (walk->after.size == 0 && walk->boards_only)
        walk->after = place_of(call, 'B', before_boards(walk->db, true, call->arena));
    bool heads = walk->after.size == 0 || walk->after.data[0] == 'K';
    if (status == OK && walk->boards != NULL)
        status = visit_named(inner, walk);
    else if (status == OK)
        status = heads ? page_heads(call, inner, walk) : page_boards(call, inner, walk);
    if (status != OK && inner != call) {
        call->failure = inner->failure.status != OK ? inner->failure : call->failure;
        call->failure.text = arena_copy(call->arena, call->failure.text);
        call->error = arena_copy(call->arena, inner->error);
    }
    return status;
}

/* A call that may write keeps all keys open, since it must see its own writes. One that only reads
 * frees those of each page, so that its memory does not grow with the number of keys. */
static bool keeps_keys(const struct redis_call *call) {
    return call->nested || (call->command->flags & COMMAND_WRITE) != 0;
}

enum status keyspace_page(struct redis_call *call, struct key_walk *walk) {
    struct arena arena;
    if (keeps_keys(call))
        return visit_page(call, call, walk);
    arena_init(&arena);
    struct redis_call inner = {.frontend = call->frontend,
                               .client = call->client,
                               .command = call->command,
                               .args = call->args,
                               .count = call->count,
                               .db = call->db,
                               .budget = call->budget,
                               .arena = &arena};
    enum status status = visit_page(call, &inner, walk);
    if (inner.txn != NULL)
        zset_txn_release(inner.txn);
    arena_release(&arena);
    return status;
}

/* Visits the keys that the call itself has made, which the table does not list yet. */
static enum status visit_made(struct redis_call *call, const struct key_walk *walk) {
    enum status status = OK;
    if (!keeps_keys(call))
        return OK;
    zset_txn_of(call);
    for (struct zset *zset = call->txn->sets; zset != NULL && status == OK; zset = zset->next)
        if (!zset->board->exists)
            status = visit_board(call, walk, zset->key);
    for (struct redis_key *key = call->txn->keys; key != NULL && status == OK; key = key->next)
        if (!key->had && key->address.db == walk->db && !walk->boards_only)
            status = visit_head(call, walk, key->name);
    return status;
}

enum status keyspace_each(struct redis_call *call, struct key_walk *walk) {
    walk->count = PAGE;
    enum status status = visit_made(call, walk);
    do
        if (status == OK)
            status = keyspace_page(call, walk);
    while (status == OK && walk->after.size != 0);
    return status;
}

enum status keyspace_names(struct redis_call *call, uint64_t *out) {
    struct scope in = {call->arena, &call->failure};
    enum status status = board_instance_count(call->frontend->game, in, out);
    for (unsigned db = 0; db < KEY_DATABASES && status == OK; db++) {
        uint64_t heads = 0;
        status = key_list_count(call->frontend->game, db, in, &heads);
        *out += heads;
    }
    return status;
}

/* ---- KEYS ---- */

struct names {
    struct arena *arena;
    struct bytes pattern, *list;
    size_t count, room;
};

static enum status add_name(struct redis_call *call, const struct visited_key *key, void *user) {
    struct names *names = user;
    (void)call;
    if (!glob_matches(names->pattern, key->name, false))
        return OK;
    if (names->count == names->room) {
        size_t room = names->room == 0 ? 64 : names->room * 2;
        names->list = arena_grow(names->arena, names->list, names->room * sizeof(struct bytes),
                                 room * sizeof(struct bytes));
        names->room = room;
    }
    names->list[names->count++] = arena_copy(names->arena, key->name);
    return OK;
}

static enum status run_keys(struct redis_call *call) {
    struct names names = {.arena = call->arena, .pattern = call->args[1]};
    struct key_walk walk = {.visit = add_name, .user = &names, .db = call->db};
    enum status status = keyspace_each(call, &walk);
    if (status != OK)
        return status;
    resp_array(&call->out, names.count);
    for (size_t i = 0; i < names.count; i++)
        resp_bulk(&call->out, names.list[i]);
    return OK;
}

/* ---- DBSIZE and RANDOMKEY ---- */

static enum status count_key(struct redis_call *call, const struct visited_key *key, void *user) {
    (void)call, (void)key;
    ++*(uint64_t *)user;
    return OK;
}

/* Looks at the boards that are named. */
static enum status count_named(struct redis_call *call, const struct key_sets *sets,
                               uint64_t *out) {
    enum status status = OK;
    for (size_t at = 0; at < sets->odd_count && status == OK; at += PAGE) {
        size_t left = sets->odd_count - at;
        struct key_walk walk = {.visit = count_key,
                                .user = out,
                                .db = call->db,
                                .boards = sets->odd + at,
                                .count = left < PAGE ? left : PAGE};
        status = keyspace_page(call, &walk);
    }
    return status;
}

/* Looks at all boards. */
static enum status count_each(struct redis_call *call, uint64_t *out) {
    struct key_walk walk = {
        .visit = count_key, .user = out, .db = call->db, .boards_only = !call->nested};
    return keyspace_each(call, &walk);
}

enum { WORK_COUNT = 100 }; /* of counting the sets, without those that are looked at */

static enum status count_sets(struct redis_call *call, uint64_t *out) {
    struct key_sets_request request = {
        .db = call->db, .now_ms = clock_now_ms(), .nonblocking = call_is_bounded(call)};
    struct key_sets sets = {0};
    enum status status = call_spend(call, WORK_COUNT);
    if (status == OK)
        status = key_sets_count(call->frontend->game, &request,
                                (struct scope){call->arena, &call->failure}, &sets);
    if (status == WOULD_BLOCK)
        return call_spend_all(call);
    if (status == UNSUPPORTED) {
        call->failure = (struct failure){0};
        return count_each(call, out);
    }
    *out = sets.count;
    return status == OK ? count_named(call, &sets, out) : status;
}

/* Keys with a head are one count of an index, those that have expired and are not removed yet too,
 * as Redis counts them, and sorted sets nearly so (game/keyspace/key_sets.h). Between MULTI and
 * EXEC all are looked up, since some may be the call's own. */
static enum status run_dbsize(struct redis_call *call) {
    uint64_t sets = 0, heads = 0;
    enum status status = OK;
    if (!call->nested)
        status = key_list_count(call->frontend->game, call->db,
                                (struct scope){call->arena, &call->failure}, &heads);
    if (status == OK)
        status = call->nested ? count_each(call, &sets) : count_sets(call, &sets);
    if (status == OK)
        resp_int(&call->out, (int64_t)(heads + sets));
    return status;
}

struct chosen {
    struct arena *arena;
    struct random random;
    uint64_t seen;
    struct bytes key;
};

/* Reservoir sampling of one: the nth key replaces the chosen one with probability 1/n. */
static enum status choose_key(struct redis_call *call, const struct visited_key *key, void *user) {
    struct chosen *chosen = user;
    (void)call;
    if (random_below(&chosen->random, ++chosen->seen) == 0)
        chosen->key = arena_copy(chosen->arena, key->name);
    return OK;
}

static enum status run_randomkey(struct redis_call *call) {
    struct chosen chosen = {.arena = call->arena};
    uint64_t seed;
    random_secure(&seed, sizeof(seed));
    random_seed(&chosen.random, seed);
    struct key_walk walk = {.visit = choose_key, .user = &chosen, .db = call->db};
    enum status status = keyspace_each(call, &walk);
    if (status == OK && chosen.seen != 0)
        resp_bulk(&call->out, chosen.key);
    else if (status == OK)
        resp_null(&call->out);
    return status;
}

/* ---- FLUSHDB and FLUSHALL ---- */

struct flush {
    uint64_t keys, entries; /* removed so far in this commit */
    bool nested;
};
enum { FLUSH_KEYS = 500, FLUSH_ENTRIES = 2000 }; /* others write in between */

/* Removes the key, except for the sorted set of a board whose period is sealed. */
static enum status flush_key(struct redis_call *call, const struct visited_key *key, void *user) {
    struct flush *flush = user;
    uint64_t size = 1;
    enum status status = OK;
    if (key->zset != NULL && board_is_sealed(key->zset->board, clock_now_ms()))
        return OK;
    if (!flush->nested && (flush->keys >= FLUSH_KEYS || flush->entries >= FLUSH_ENTRIES)) {
        call_again(call);
        return NOT_FOUND; /* enough for now */
    }
    if (key->zset != NULL)
        status = zset_size(call, key->zset, &size);
    flush->keys++;
    flush->entries += size;
    if (status != OK)
        return status;
    return key->zset != NULL ? zset_clear(call, key->zset) : key_remove(call, key->key);
}

/* Takes as many commits as it needs (call_again); between MULTI and EXEC only one. */
static enum status flush_databases(struct redis_call *call, unsigned from, unsigned to) {
    struct flush flush = {.nested = call->nested};
    enum status status = OK;
    if (call->count > 2 ||
        (call->count == 2 && !call_arg_is(call, 1, "SYNC") && !call_arg_is(call, 1, "ASYNC")))
        return call_error(call, ERROR_SYNTAX);
    for (unsigned db = from; db < to && status == OK; db++) {
        struct key_walk walk = {.visit = flush_key, .user = &flush, .db = db};
        status = keyspace_each(call, &walk);
    }
    if (status == OK || call->again)
        resp_ok(&call->out);
    return call->again ? OK : status;
}

static enum status run_flushdb(struct redis_call *call) {
    return flush_databases(call, call->db, call->db + 1);
}

static enum status run_flushall(struct redis_call *call) {
    return flush_databases(call, 0, KEY_DATABASES);
}

enum {
    ALL = COMMAND_CATEGORY_KEYSPACE | COMMAND_CATEGORY_DANGEROUS,
};

const struct redis_command redis_keyspace_commands[] = {
    {"keys",
     2,
     COMMAND_READ | ALL,
     TOUCHES_TABLE,
     {0},
     run_keys,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "All keys of a pattern"},
    {"dbsize",
     1,
     COMMAND_READ | COMMAND_FAST | COMMAND_CATEGORY_KEYSPACE,
     TOUCHES_TABLE,
     {0},
     run_dbsize,
     NULL,
     GROUP_SERVER,
     "1.0.0",
     "How many keys there are"},
    {"randomkey",
     1,
     COMMAND_READ | COMMAND_CATEGORY_KEYSPACE,
     TOUCHES_TABLE,
     {0},
     run_randomkey,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "A key by chance"},
    {"flushdb",
     -1,
     COMMAND_WRITE | ALL,
     TOUCHES_TABLE,
     {0},
     run_flushdb,
     NULL,
     GROUP_SERVER,
     "1.0.0",
     "Removes all keys of the database"},
    {"flushall",
     -1,
     COMMAND_WRITE | ALL,
     TOUCHES_TABLE,
     {0},
     run_flushall,
     NULL,
     GROUP_SERVER,
     "1.0.0",
     "Removes all keys of all databases"},
    {0},
};

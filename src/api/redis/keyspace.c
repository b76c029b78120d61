/* KEYS, DBSIZE, RANDOMKEY, FLUSHALL, and the walk over all keys that they and SCAN need.
 *
 * The names are those of the boards' instances. An instance stays when its last entry goes, so each
 * name is looked at: what has no members is no key.
 */
#include "api/redis/keyspace.h"

#include "api/redis/glob.h"
#include "api/redis/space_int.h"
#include "base/clock.h"
#include "base/random.h"

enum { PAGE = 1000 };

static enum status visit_key(struct redis_call *call, struct bytes name, key_visit *visit,
                             void *user) {
    struct zset *zset;
    uint64_t size = 0;
    enum status status = zset_open(call, name, &zset);
    if (status == OK)
        status = zset_size(call, zset, &size);
    return status == OK && size != 0 ? visit(call, name, zset, user) : status;
}

static enum status page(struct redis_call *call, struct redis_call *inner, struct bytes after,
                        size_t count, key_visit *visit, void *user, struct bytes *last) {
    struct instance_list list;
    enum status status = board_instances(call->face->game, (struct bytes){0}, after, count,
                                         inner->arena, &call->failure, &list);
    if (status != OK)
        return status;
    *last = list.more && list.count != 0 ? arena_copy(call->arena, list.names[list.count - 1])
                                         : (struct bytes){0};
    for (size_t i = 0; i < list.count && status == OK; i++)
        status = visit_key(inner, list.names[i], visit, user);
    if (status != OK && inner != call) {
        call->failure = inner->failure;
        call->failure.text = arena_copy(call->arena, inner->failure.text);
        call->error = arena_copy(call->arena, inner->error);
    }
    return status;
}

/* A call that may write sees its own writes, and its sets must stay. One that only reads looks at
 * each page's sets and lets go of them, however many there are. */
static bool keeps_sets(const struct redis_call *call) {
    return call->nested || (call->command->flags & COMMAND_WRITE) != 0;
}

enum status keyspace_page(struct redis_call *call, struct bytes after, size_t count,
                          key_visit *visit, void *user, struct bytes *last) {
    struct arena arena;
    if (count < 2)
        count = 2; /* so that the name "" is not the last of a page */
    if (keeps_sets(call))
        return page(call, call, after, count, visit, user, last);
    arena_init(&arena);
    struct redis_call inner = {.face = call->face,
                               .client = call->client,
                               .command = call->command,
                               .args = call->args,
                               .count = call->count,
                               .arena = &arena};
    enum status status = page(call, &inner, after, count, visit, user, last);
    if (inner.space != NULL)
        space_release(inner.space);
    arena_release(&arena);
    return status;
}

/* Keys that the call itself has made. */
static enum status each_made(struct redis_call *call, key_visit *visit, void *user) {
    enum status status = OK;
    if (!keeps_sets(call))
        return OK;
    for (struct zset *zset = space_of(call)->sets; zset != NULL && status == OK; zset = zset->next)
        if (!zset->board->exists)
            status = visit_key(call, zset->key, visit, user);
    return status;
}

enum status keyspace_each(struct redis_call *call, key_visit *visit, void *user) {
    struct bytes after = {0};
    enum status status = each_made(call, visit, user);
    do
        if (status == OK)
            status = keyspace_page(call, after, PAGE, visit, user, &after);
    while (status == OK && after.size != 0);
    return status;
}

enum status keyspace_names(struct redis_call *call, uint64_t *out) {
    struct game *game = call->face->game;
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI1PK"), .op = KEY_EQ, .low = value_string(BYTES("INSTANCES"))};
    struct page_request request = {
        .table = game->table, .index = GAME_GSI1, .keys = &keys, .select = SELECT_COUNT};
    struct page_reply reply;
    enum status status = engine_page(game->engine, &request, call->arena, &call->failure, &reply);
    *out = status == OK ? reply.count : 0;
    return status;
}

/* ---- KEYS ---- */

struct names {
    struct arena *arena;
    struct bytes pattern, *list;
    size_t count, room;
};

static enum status add_name(struct redis_call *call, struct bytes key, struct zset *zset,
                            void *user) {
    struct names *names = user;
    (void)call, (void)zset;
    if (!glob_matches(names->pattern, key, false))
        return OK;
    if (names->count == names->room) {
        size_t room = names->room == 0 ? 64 : names->room * 2;
        names->list =
            arena_grow(names->arena, names->list, names->room * sizeof(key), room * sizeof(key));
        names->room = room;
    }
    names->list[names->count++] = arena_copy(names->arena, key);
    return OK;
}

static enum status run_keys(struct redis_call *call) {
    struct names names = {.arena = call->arena, .pattern = call->args[1]};
    enum status status = keyspace_each(call, add_name, &names);
    if (status != OK)
        return status;
    resp_array(&call->out, names.count);
    for (size_t i = 0; i < names.count; i++)
        resp_bulk(&call->out, names.list[i]);
    return OK;
}

/* ---- DBSIZE and RANDOMKEY ---- */

static enum status add_one(struct redis_call *call, struct bytes key, struct zset *zset,
                           void *user) {
    (void)call, (void)key, (void)zset;
    ++*(int64_t *)user;
    return OK;
}

static enum status run_dbsize(struct redis_call *call) {
    int64_t count = 0;
    enum status status = keyspace_each(call, add_one, &count);
    if (status == OK)
        resp_int(&call->out, count);
    return status;
}

struct chosen {
    struct arena *arena;
    struct random random;
    uint64_t seen;
    struct bytes key;
};

/* The nth takes the place of the one chosen so far once in n times. */
static enum status choose(struct redis_call *call, struct bytes key, struct zset *zset,
                          void *user) {
    struct chosen *chosen = user;
    (void)call, (void)zset;
    if (random_below(&chosen->random, ++chosen->seen) == 0)
        chosen->key = arena_copy(chosen->arena, key);
    return OK;
}

static enum status run_randomkey(struct redis_call *call) {
    struct chosen chosen = {.arena = call->arena};
    uint64_t seed;
    random_secure(&seed, sizeof(seed));
    random_seed(&chosen.random, seed);
    enum status status = keyspace_each(call, choose, &chosen);
    if (status == OK && chosen.seen != 0)
        resp_bulk(&call->out, chosen.key);
    else if (status == OK)
        resp_null(&call->out);
    return status;
}

/* ---- FLUSHDB and FLUSHALL ---- */

struct flush {
    uint64_t boards, entries; /* so far in this commit */
    bool nested;
};
enum { FLUSH_BOARDS = 2000, FLUSH_ENTRIES = 20000 };

/* What has ended stays. */
static enum status clear(struct redis_call *call, struct bytes key, struct zset *zset, void *user) {
    struct flush *flush = user;
    uint64_t size;
    (void)key;
    if (zset->board->sealed_ms != 0 || zset->board->period.ends_ms <= clock_now_ms())
        return OK;
    if (!flush->nested && (flush->boards >= FLUSH_BOARDS || flush->entries >= FLUSH_ENTRIES)) {
        call_again(call);
        return NOT_FOUND; /* enough for now */
    }
    enum status status = zset_size(call, zset, &size);
    flush->boards++;
    flush->entries += size;
    return status == OK ? zset_clear(call, zset) : status;
}

/* By itself in as many commits as it takes; inside of a transaction in one. */
static enum status run_flush(struct redis_call *call) {
    struct flush flush = {.nested = call->nested};
    if (call->count > 2 ||
        (call->count == 2 && !call_arg_is(call, 1, "SYNC") && !call_arg_is(call, 1, "ASYNC")))
        return call_error(call, ERROR_SYNTAX);
    enum status status = keyspace_each(call, clear, &flush);
    if (status == OK || call->again)
        resp_ok(&call->out);
    return call->again ? OK : status;
}

enum {
    ALL = COMMAND_CATEGORY_KEYSPACE | COMMAND_CATEGORY_DANGEROUS,
};

const struct redis_command redis_keyspace_commands[] = {
    {"keys",
     2,
     COMMAND_READ | ALL,
     {0},
     run_keys,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "All keys of a pattern"},
    {"dbsize",
     1,
     COMMAND_READ | COMMAND_FAST | COMMAND_CATEGORY_KEYSPACE,
     {0},
     run_dbsize,
     NULL,
     GROUP_SERVER,
     "1.0.0",
     "How many keys there are"},
    {"randomkey",
     1,
     COMMAND_READ | COMMAND_CATEGORY_KEYSPACE,
     {0},
     run_randomkey,
     NULL,
     GROUP_GENERIC,
     "1.0.0",
     "A key by chance"},
    {"flushdb",
     -1,
     COMMAND_WRITE | ALL,
     {0},
     run_flush,
     NULL,
     GROUP_SERVER,
     "1.0.0",
     "Removes all keys"},
    {"flushall",
     -1,
     COMMAND_WRITE | ALL,
     {0},
     run_flush,
     NULL,
     GROUP_SERVER,
     "1.0.0",
     "Removes all keys"},
    {0},
};

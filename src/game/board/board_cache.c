/* Finding boards by name: a sharded cache.
 *
 * A cached board carries the versions (engine_partition_version()) that its definition's and its
 * instance's partitions had before they were read. While both are unchanged the board is what the
 * table says. Each thread uses one shard, so that neither its lock nor the reference counts move
 * between cores; threads share a shard only if there are more of them than shards. A full shard
 * evicts by the clock algorithm. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "game/board/board_generation.h"
#include "game/board/board_int.h"
#include "game/board/entry.h"
#include "game/keyspace/key_head.h"
#include "game/record.h"
#include "table/inprocess.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    CACHE_SHARDS = 16,
    BOARDS_MAX = LIMIT_BOARDS_CACHED,
    DEFINITIONS_MAX = LIMIT_DEFINITIONS_CACHED
};

/* A definition, shared by its cached instances. Immutable; the last reference frees it. */
struct definition {
    atomic_uint refs;
    uint64_t partition_version;
    struct board_rules rules;
    struct timing timing;
    struct arena arena;
};

struct cached_board {
    struct board board; /* first: callers hold a pointer to it */
    atomic_uint refs;
    bool used;                     /* since the clock's hand last passed; under the shard's lock */
    bool timed;                    /* found by its id alone: valid during its period only */
    size_t slot;                   /* in the shard's ring */
    struct definition *definition; /* NULL: plain */
    struct bytes name;             /* which it was asked for by: the key in by_name */
    bool defines;                  /* the name could be a definition's: watch that partition too */
    uint32_t version_slot[3];      /* for engine_partition_version_at(), as partition_version */
    uint8_t *generation_at;        /* room in `text` for the partition of a generation */
    uint8_t text[];                /* the bytes of its names */
};

struct shard {
    pthread_mutex_t lock;                  /* of all below */
    struct map by_name;                    /* -> struct cached_board */
    struct map definitions;                /* id -> struct definition */
    struct cached_board *ring[BOARDS_MAX]; /* those in by_name; the cache has a reference to each */
    size_t count, hand;                    /* used slots of the ring; the clock's hand */
};

struct board_cache {
    struct shard parts[CACHE_SHARDS];
};

/* --- reference counts --- */

static void definition_drop(struct definition *definition) {
    if (definition == NULL || atomic_fetch_sub(&definition->refs, 1) != 1)
        return;
    arena_release(&definition->arena);
    mem_free(definition);
}

void board_drop(const struct board *board) {
    struct cached_board *cached = (struct cached_board *)(uintptr_t)board;
    if (cached == NULL || atomic_fetch_sub_explicit(&cached->refs, 1, memory_order_acq_rel) != 1)
        return;
    definition_drop(cached->definition);
    mem_free(cached);
}

struct board_cache *board_cache_new(void) {
    struct board_cache *boards = mem_zalloc(sizeof(*boards));
    for (unsigned i = 0; i < CACHE_SHARDS; i++)
        pthread_mutex_init(&boards->parts[i].lock, NULL);
    return boards;
}

static void cache_drop_definitions(struct shard *shard) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&shard->definitions, &at)) != NULL;)
        definition_drop(slot->value);
    map_release(&shard->definitions);
    shard->definitions = (struct map){0};
}

void board_cache_free(struct board_cache *boards) {
    for (unsigned i = 0; i < CACHE_SHARDS; i++) {
        struct shard *shard = &boards->parts[i];
        for (size_t j = 0; j < shard->count; j++)
            board_drop(&shard->ring[j]->board);
        cache_drop_definitions(shard);
        map_release(&shard->by_name);
        pthread_mutex_destroy(&shard->lock);
    }
    mem_free(boards);
}

static struct shard *shard_of_thread(struct game *game) {
    static atomic_uint threads;
    static _Thread_local unsigned mine = 0;
    if (mine == 0)
        mine = atomic_fetch_add(&threads, 1) + 1;
    return &game->boards->parts[mine % CACHE_SHARDS];
}

/* --- cached boards --- */

static struct cached_board *cache_get(struct shard *shard, struct bytes name) {
    pthread_mutex_lock(&shard->lock);
    struct cached_board *cached = map_get(&shard->by_name, name);
    if (cached != NULL) {
        atomic_fetch_add_explicit(&cached->refs, 1, memory_order_relaxed);
        if (!cached->used)
            cached->used = true;
    }
    pthread_mutex_unlock(&shard->lock);
    return cached;
}

static uint64_t partition_version(struct game *game, struct bytes partition,
                                  uint32_t *version_slot) {
    struct value key = value_string(partition);
    return engine_partition_version_slot(game->engine, game->table, &key, version_slot);
}

bool board_is_current(struct game *game, const struct board *board) {
    const struct cached_board *cached = (const struct cached_board *)(const void *)board;
    return engine_partition_version_at(game->engine, cached->version_slot[1]) ==
               board->partition_version[1] &&
           engine_partition_version_at(game->engine, cached->version_slot[2]) ==
               board->partition_version[2] &&
           (!cached->defines ||
            engine_partition_version_at(game->engine, cached->version_slot[0]) ==
                board->partition_version[0]);
}

size_t board_versions(const struct board *board, struct partition_seen out[BOARD_VERSIONS]) {
    const struct cached_board *cached = (const struct cached_board *)(const void *)board;
    size_t count = 0;
    for (size_t i = cached->defines ? 0 : 1; i < BOARD_VERSIONS; i++)
        out[count++] = (struct partition_seen){.slot = cached->version_slot[i],
                                               .version = board->partition_version[i]};
    return count;
}

bool board_is_where_it_was(struct game *game, const struct board *board, struct scope in) {
    const struct cached_board *cached = (const struct cached_board *)(const void *)board;
    const struct board *now;
    if (engine_partition_version_at(game->engine, cached->version_slot[1]) ==
        board->partition_version[1])
        return true;
    if (board_find(game, cached->name, in, &now) != OK)
        return false;
    bool same = bytes_equal(now->pk, board->pk);
    board_drop(now);
    return same;
}

static bool is_fresh(struct game *game, const struct cached_board *cached) {
    if (cached->timed) {
        int64_t now = clock_now_ms();
        if (now < cached->board.period.starts_ms || now >= cached->board.period.ends_ms)
            return false;
    }
    return board_is_current(game, &cached->board);
}

/* The slot for a new board: a free one, or that of the first board which was not used since the
 * hand last passed. The shard's lock is held. */
static size_t cache_evict(struct shard *shard) {
    if (shard->count < BOARDS_MAX)
        return shard->count++;
    for (;; shard->hand = (shard->hand + 1) % BOARDS_MAX) {
        struct cached_board *cached = shard->ring[shard->hand];
        if (cached->used) {
            cached->used = false;
            continue;
        }
        map_del(&shard->by_name, cached->name);
        board_drop(&cached->board);
        return shard->hand;
    }
}

static void cache_put(struct shard *shard, struct cached_board *cached) {
    atomic_fetch_add(&cached->refs, 1);
    pthread_mutex_lock(&shard->lock);
    struct cached_board *before = map_del(&shard->by_name, cached->name);
    if (before != NULL) {
        cached->slot = before->slot;
        board_drop(&before->board);
    } else {
        cached->slot = cache_evict(shard);
    }
    shard->ring[cached->slot] = cached;
    map_put(&shard->by_name, cached->name, cached);
    pthread_mutex_unlock(&shard->lock);
}

/* --- definitions --- */

static struct definition *cache_get_definition(struct shard *shard, struct bytes id, uint64_t now) {
    pthread_mutex_lock(&shard->lock);
    struct definition *definition = map_get(&shard->definitions, id);
    if (definition != NULL && definition->partition_version != now)
        definition = NULL;
    if (definition != NULL)
        atomic_fetch_add(&definition->refs, 1);
    pthread_mutex_unlock(&shard->lock);
    return definition;
}

static void cache_put_definition(struct shard *shard, struct definition *definition) {
    atomic_fetch_add(&definition->refs, 1);
    pthread_mutex_lock(&shard->lock);
    if (shard->definitions.count >= DEFINITIONS_MAX)
        cache_drop_definitions(shard);
    /* The map borrows its key from the definition that is replaced, so that one goes first. */
    definition_drop(map_del(&shard->definitions, definition->rules.id));
    map_put(&shard->definitions, definition->rules.id, definition);
    pthread_mutex_unlock(&shard->lock);
}

/* A board that is being read because the cache does not have it. */
struct board_lookup {
    struct game *game;
    struct bytes name;
    struct scope in;
    struct board_name parts;
    struct bytes instance, key; /* the instance's name, and that as a key */
    struct definition *definition;
    struct period period;
    bool timed;
    bool is_instance; /* for board_find_instance(): no definition is read, nothing is cached */
    bool defines;     /* the name could be a definition's; then of that one's partition: */
    uint64_t partition_version;
    uint32_t version_slot;
};

/* Sets lookup->definition, with a reference; leaves it NULL, with OK, if there is none. */
static enum status find_definition(struct board_lookup *lookup) {
    struct game *game = lookup->game;
    struct scope in = lookup->in;
    struct shard *shard = shard_of_thread(game);
    struct board_rules rules;
    lookup->definition = cache_get_definition(shard, lookup->parts.id, lookup->partition_version);
    if (lookup->definition != NULL)
        return OK;
    enum status status = board_definition_read(game, lookup->parts.id, in, &rules);
    if (status != OK)
        return status == NOT_FOUND ? OK : status;
    struct definition *made = mem_zalloc(sizeof(*made));
    made->refs = 1;
    made->partition_version = lookup->partition_version;
    arena_init(&made->arena);
    /* Read a second time, so that all of it is in the definition's own arena. */
    struct item item = board_rules_item(&rules, in.arena), copy = item_copy(&made->arena, &item);
    status = board_rules_read(&copy, (struct scope){&made->arena, in.failure}, &made->rules);
    if (status == OK)
        status = board_timing(game, &made->rules, (struct scope){&made->arena, in.failure},
                              &made->timing);
    if (status != OK) {
        in.failure->text = arena_copy(in.arena, in.failure->text);
        definition_drop(made);
        return status;
    }
    struct bytes *feeds = ARENA_ARRAY(&made->arena, struct bytes, rules.feed_count + 1);
    for (uint32_t i = 0; i < rules.feed_count; i++)
        feeds[i] = arena_copy(&made->arena, rules.feeds[i]);
    made->rules.feeds = feeds;
    made->rules.feed_count = rules.feed_count;
    cache_put_definition(shard, made);
    lookup->definition = made;
    return OK;
}

/* --- finding --- */

static enum status refuse_period(struct board_lookup *lookup) {
    if (lookup->parts.has_period)
        return failure_set(lookup->in.failure, lookup->in.arena, INVALID,
                           "%.*s is not a period of board %.*s, which is %s",
                           BYTES_ARG(lookup->parts.period), BYTES_ARG(lookup->parts.id),
                           timeframe_name(lookup->definition->rules.timeframe));
    return failure_set(lookup->in.failure, lookup->in.arena, INVALID,
                       "Board %.*s has no season at present", BYTES_ARG(lookup->parts.id));
}

static enum status resolve_period(struct board_lookup *lookup) {
    const struct definition *definition = lookup->definition;
    struct board_name *parts = &lookup->parts;
    if (bytes_equal(parts->scope, BYTES("global")))
        parts->scope = (struct bytes){0};
    if (parts->has_scope && parts->scope.size != 0 && !board_is_id(parts->scope))
        return failure_set(lookup->in.failure, lookup->in.arena, INVALID,
                           "The scope of a board is 1 to %d of A-Z a-z 0-9 _ . : -", BOARD_ID_MAX);
    if (!board_has_scope(&definition->rules, parts->scope))
        return failure_set(lookup->in.failure, lookup->in.arena, INVALID,
                           "Board %.*s is not kept for scope %.*s", BYTES_ARG(parts->id),
                           BYTES_ARG(parts->scope.size != 0 ? parts->scope : BYTES("global")));
    enum status status =
        parts->has_period
            ? period_named(&definition->timing, parts->period, lookup->in.arena, &lookup->period)
            : period_at(&definition->timing, clock_now_ms(), lookup->in.arena, &lookup->period);
    if (status != OK)
        return refuse_period(lookup);
    lookup->timed = !parts->has_period && definition->rules.timeframe != FRAME_ALL;
    struct board_name full = {
        .id = parts->id, .scope = parts->scope, .period = lookup->period.name};
    lookup->instance = board_name_join(&full, lookup->in.arena);
    return OK;
}

/* Finds the definition, if there is one, and the instance's name. */
static enum status resolve_name(struct board_lookup *lookup) {
    enum status status = OK;
    lookup->parts = board_name_of(lookup->name);
    lookup->instance = lookup->name;
    lookup->period = (struct period){.ends_ms = INT64_MAX};
    if (lookup->name.size > BOARD_NAME_MAX)
        return failure_set(lookup->in.failure, lookup->in.arena, INVALID,
                           "The name of a board has %zu bytes: at most %d can be",
                           lookup->name.size, BOARD_NAME_MAX);
    if (!lookup->is_instance && board_is_id(lookup->parts.id)) {
        struct bytes pk = record_join(lookup->in.arena, BOARDDEF, lookup->parts.id);
        lookup->defines = true;
        lookup->partition_version = partition_version(lookup->game, pk, &lookup->version_slot);
        status = find_definition(lookup);
        if (status == OK && lookup->definition != NULL)
            status = resolve_period(lookup);
    }
    return status != OK ? status : entry_key_of(lookup->instance, lookup->in, &lookup->key);
}

static struct bytes copy_joined(uint8_t **to, const char *prefix, struct bytes text) {
    size_t size = strlen(prefix);
    uint8_t *at = *to;
    memcpy(at, prefix, size);
    if (text.size != 0)
        memcpy(at + size, text.data, text.size);
    *to += size + text.size;
    return bytes_of(at, size + text.size);
}

static struct board_rules plain_rules(struct bytes name) {
    return (struct board_rules){.id = name,
                                .plain = true,
                                .order = ORDER_HIGH,
                                .keep = KEEP_LATEST,
                                .tie = TIE_MEMBER,
                                .ranking = RANK_ORDINAL,
                                .decimals = -1};
}

/* Makes the board with all of its names in one allocation. It takes over the reference to the
 * definition. */
static struct cached_board *make_cached_board(const struct board_lookup *lookup) {
    size_t size = lookup->name.size + lookup->instance.size + lookup->key.size +
                  lookup->parts.scope.size + lookup->period.name.size + sizeof(BOARD) +
                  BOARD_PARTITION_ROOM + lookup->key.size;
    struct cached_board *cached = mem_zalloc(sizeof(*cached) + size);
    uint8_t *to = cached->text;
    struct board *board = &cached->board;
    bool plain = lookup->definition == NULL;
    cached->refs = 1;
    cached->used = true;
    cached->timed = lookup->timed;
    cached->definition = lookup->definition;
    cached->name = copy_joined(&to, "", lookup->name);
    board->instance = copy_joined(&to, "", lookup->instance);
    board->pk = copy_joined(&to, BOARD, lookup->key);
    board->key = bytes_skip(board->pk, sizeof(BOARD) - 1);
    board->period = lookup->period;
    board->period.name = copy_joined(&to, "", lookup->period.name);
    board->scope = copy_joined(&to, "", plain ? (struct bytes){0} : lookup->parts.scope);
    board->rules = plain ? plain_rules(board->instance) : lookup->definition->rules;
    cached->generation_at = to;
    cached->defines = lookup->defines;
    cached->version_slot[0] = lookup->version_slot;
    board->partition_version[0] = lookup->partition_version;
    return cached;
}

static void take_generation(struct cached_board *cached, const struct item *state) {
    struct board *board = &cached->board;
    struct bytes generation = item_string(state, BOARD_GENERATION);
    board->littered = item_get(state, BOARD_LITTERED) != NULL;
    if (generation.size != BOARD_GENERATION_SIZE)
        return;
    board->pk = board_partition_put(cached->generation_at, board->key, generation);
    board->generation = board_partition_generation(board->pk);
}

static enum status read_instance(struct board_lookup *lookup, struct cached_board *cached) {
    struct game *game = lookup->game;
    struct board *board = &cached->board;
    struct get_reply reply;
    struct bytes pk = record_join(lookup->in.arena, INSTANCE, lookup->key);
    board->partition_version[1] = partition_version(game, pk, &cached->version_slot[1]);
    struct get_request request = {.table = game->table,
                                  .key = game_key(lookup->in.arena, pk, BYTES("STATE")),
                                  .consistent = true};
    enum status status = engine_get(game->engine, &request, lookup->in, &reply);
    if (status != OK || !reply.found)
        return status;
    board->exists = true;
    board->clearing = item_get(&reply.item, BYTES("clearing")) != NULL;
    board->expires_ms = item_int(&reply.item, BYTES("expiresAt"));
    board->sealed_ms = item_int(&reply.item, BYTES("sealedAt"));
    take_generation(cached, &reply.item);
    return OK;
}

/* Whether the key that the board is the sorted set of is of another type. */
static enum status read_key(struct board_lookup *lookup, struct cached_board *cached) {
    struct game *game = lookup->game;
    struct key_of_board key = key_of_board(lookup->name);
    struct key_address address;
    struct failure too_long; /* then there is no such key */
    struct get_reply reply;
    if (key_address_of(key.db, key.name, (struct scope){lookup->in.arena, &too_long}, &address) !=
        OK)
        return OK;
    cached->board.partition_version[2] =
        partition_version(game, address.pk, &cached->version_slot[2]);
    struct get_request request = {
        .table = game->table, .key = key_head_key(&address, lookup->in.arena), .consistent = true};
    enum status status = engine_get(game->engine, &request, lookup->in, &reply);
    cached->board.keyed = status == OK && reply.found;
    return status;
}

static enum status load_board(struct board_lookup *lookup, const struct board **out) {
    enum status status = resolve_name(lookup);
    if (status != OK) {
        definition_drop(lookup->definition);
        return status;
    }
    struct cached_board *cached = make_cached_board(lookup);
    status = read_instance(lookup, cached);
    if (status == OK)
        status = read_key(lookup, cached);
    if (status != OK) {
        board_drop(&cached->board);
        return status;
    }
    if (!lookup->is_instance)
        cache_put(shard_of_thread(lookup->game), cached);
    *out = &cached->board;
    return OK;
}

enum status board_find(struct game *game, struct bytes name, struct scope in,
                       const struct board **out) {
    struct cached_board *cached = cache_get(shard_of_thread(game), name);
    if (cached != NULL && is_fresh(game, cached)) {
        *out = &cached->board;
        return OK;
    }
    if (cached != NULL)
        board_drop(&cached->board);
    struct board_lookup lookup = {.game = game, .name = name, .in = in};
    return load_board(&lookup, out);
}

enum status board_find_instance(struct game *game, struct bytes instance, struct scope in,
                                const struct board **out) {
    struct board_lookup lookup = {.game = game, .name = instance, .in = in, .is_instance = true};
    return load_board(&lookup, out);
}

enum status board_find_parts(struct game *game, const struct board_name *name, struct scope in,
                             const struct board **out) {
    const struct board *board;
    enum status status = board_find(game, board_name_join(name, in.arena), in, &board);
    if (status != OK)
        return status;
    if (!board_exists(game, board, in.arena) ||
        (board->rules.plain && (name->scope.size != 0 || name->period.size != 0))) {
        board_drop(board);
        return failure_set(in.failure, in.arena, NOT_FOUND, "There is no board %.*s",
                           BYTES_ARG(name->id));
    }
    *out = board;
    return OK;
}

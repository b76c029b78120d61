/* The table, made or made sure of, and waiting for what is written to it. */
#include "game/game.h"

#include "base/mem.h"
#include "game/board_int.h"
#include "game/hidden.h"

#include <pthread.h>
#include <time.h>

/* What the table's stream tells: the keeper needs the item after, consumers like both. */
static const enum stream_view game_stream = STREAM_BOTH;
static const long backfill_poll_ns = 5 * 1000 * 1000;

/* --- waiting --- */

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool done;
};

static void wake(struct change *change) {
    struct waiter *waiter = change->user;
    pthread_mutex_lock(&waiter->lock);
    waiter->done = true;
    pthread_cond_signal(&waiter->woken);
    pthread_mutex_unlock(&waiter->lock);
}

enum status game_wait(struct game *game, struct change *change) {
    struct waiter waiter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    change->done = wake;
    change->user = &waiter;
    engine_submit(game->engine, change);
    engine_hand_over();
    pthread_mutex_lock(&waiter.lock);
    while (!waiter.done)
        pthread_cond_wait(&waiter.woken, &waiter.lock);
    pthread_mutex_unlock(&waiter.lock);
    pthread_mutex_destroy(&waiter.lock);
    pthread_cond_destroy(&waiter.woken);
    return change->failure.status;
}

struct item game_key(struct arena *arena, struct bytes pk, struct bytes sk) {
    struct pair *pairs = arena_alloc(arena, 2 * sizeof(*pairs));
    pairs[0] = (struct pair){GAME_PK, {.type = VALUE_S, .bytes = pk}};
    pairs[1] = (struct pair){GAME_SK, {.type = VALUE_S, .bytes = sk}};
    return (struct item){pairs, 2};
}

/* --- the table --- */

enum { INDEXES = 3, ATTRIBUTES = 9 };

#define PART(name, kind) \
    { {(const uint8_t *)(name), sizeof(name) - 1}, kind }

static struct key_part attributes[ATTRIBUTES] = {
    PART("PK", VALUE_S),     PART("SK", VALUE_S),       PART("GSI1PK", VALUE_S),
    PART("GSI1SK", VALUE_S), PART("GSI2PK", VALUE_S),   PART("GSI2SK", VALUE_S),
    PART("score", VALUE_N),  PART("subscore", VALUE_N), PART("tie", VALUE_N),
};

static struct table_schema make_schema(struct game *game, struct arena *arena) {
    const struct key_part *part = attributes;
    struct index_schema *indexes = ARENA_ARRAY(arena, struct index_schema, INDEXES);
    indexes[0] = (struct index_schema){
        .name = GAME_GSI1,
        .keys = {.parts = {part[2], part[3]}, .partition_count = 1, .sort_count = 1}};
    indexes[1] = (struct index_schema){
        .name = GAME_GSI2,
        .keys = {.parts = {part[4], part[5]}, .partition_count = 1, .sort_count = 1}};
    indexes[2] = (struct index_schema){.name = GAME_RANKS,
                                       .keys = {.parts = {part[0], part[6], part[7], part[8]},
                                                .partition_count = 1,
                                                .sort_count = 3},
                                       .projected = PROJECTED_KEYS};
    return (struct table_schema){
        .name = game->table,
        .attributes = attributes,
        .attribute_count = ATTRIBUTES,
        .keys = {.parts = {part[0], part[1]}, .partition_count = 1, .sort_count = 1},
        .indexes = indexes,
        .index_count = INDEXES,
        .billing = BILLING_ON_DEMAND,
        .stream = game_stream};
}

static bool keys_equal(const struct key_schema *a, const struct key_schema *b) {
    if (a->partition_count != b->partition_count || a->sort_count != b->sort_count)
        return false;
    for (unsigned i = 0; i < key_schema_count(a); i++)
        if (!bytes_equal(a->parts[i].name, b->parts[i].name) ||
            a->parts[i].type != b->parts[i].type)
            return false;
    return true;
}

static enum status submit(struct game *game, struct change *change, struct failure *failure) {
    enum status status = game_wait(game, change);
    *failure = change->failure;
    return status;
}

static enum status set_expiry(struct game *game, struct arena *arena, struct failure *failure) {
    struct change change = {.kind = CHANGE_EXPIRY,
                            .arena = arena,
                            .table = game->table,
                            .expiry = BYTES("ttl"),
                            .expires = true};
    return submit(game, &change, failure);
}

static enum status create(struct game *game, const struct table_schema *schema, struct arena *arena,
                          struct failure *failure) {
    struct change change = {
        .kind = CHANGE_CREATE_TABLE, .arena = arena, .table = game->table, .schema = schema};
    enum status status = submit(game, &change, failure);
    return status == OK ? set_expiry(game, arena, failure) : status;
}

/* Whether the index that was added has all items in it. */
static enum status look_at_index(struct game *game, struct bytes name, struct arena *arena,
                                 struct failure *failure, bool *whole) {
    struct table_description about;
    enum status status = engine_describe(game->engine, game->table, arena, failure, &about);
    for (uint32_t i = 0; status == OK && i < about.schema.index_count; i++)
        if (bytes_equal(about.schema.indexes[i].name, name))
            *whole = about.indexes[i].status == PART_ACTIVE && about.status == PART_ACTIVE;
    return status;
}

static enum status await_index(struct game *game, struct bytes name, struct arena *arena,
                               struct failure *failure) {
    struct timespec pause = {.tv_nsec = backfill_poll_ns};
    struct arena look;
    bool whole = false;
    enum status status;
    arena_init(&look);
    while ((status = look_at_index(game, name, &look, failure, &whole)) == OK && !whole) {
        nanosleep(&pause, NULL);
        arena_reset(&look);
    }
    if (status != OK)
        failure->text = arena_copy(arena, failure->text);
    arena_release(&look);
    return status;
}

static enum status add_index(struct game *game, const struct index_schema *index,
                             struct arena *arena, struct failure *failure) {
    struct alteration alteration = {.attributes = index->keys.parts,
                                    .attribute_count = key_schema_count(&index->keys),
                                    .add_index = index};
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = arena,
                            .table = game->table,
                            .alteration = &alteration};
    enum status status = submit(game, &change, failure);
    return status == OK ? await_index(game, index->name, arena, failure) : status;
}

static enum status set_stream(struct game *game, struct arena *arena, struct failure *failure) {
    struct alteration alteration = {.stream = &game_stream};
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = arena,
                            .table = game->table,
                            .alteration = &alteration};
    return submit(game, &change, failure);
}

static enum status check_index(struct game *game, const struct table_schema *there,
                               const struct index_schema *wanted, struct arena *arena,
                               struct failure *failure) {
    const struct index_schema *index = table_schema_index(there, wanted->name);
    if (index == NULL)
        return add_index(game, wanted, arena, failure);
    if (index->local || !keys_equal(&index->keys, &wanted->keys))
        return failure_set(failure, arena, INVALID,
                           "Table %.*s has an index %.*s with other keys than the game's",
                           BYTES_ARG(game->table), BYTES_ARG(wanted->name));
    return await_index(game, wanted->name, arena, failure);
}

/* Adds what a table that was made otherwise lacks. */
static enum status check(struct game *game, const struct table_schema *there,
                         const struct table_schema *wanted, struct arena *arena,
                         struct failure *failure) {
    enum status status = OK;
    if (!keys_equal(&there->keys, &wanted->keys))
        return failure_set(failure, arena, INVALID,
                           "Table %.*s has other keys than the game's, which are PK and SK, both "
                           "strings",
                           BYTES_ARG(game->table));
    for (unsigned i = 0; i < INDEXES && status == OK; i++)
        status = check_index(game, there, &wanted->indexes[i], arena, failure);
    if (status == OK && there->stream == STREAM_OFF && game_stream != STREAM_OFF)
        status = set_stream(game, arena, failure);
    if (status == OK && there->expiry.size == 0)
        status = set_expiry(game, arena, failure);
    return status;
}

static enum status open_table(struct game *game, struct arena *arena, struct failure *failure) {
    struct table_description about;
    struct table_schema wanted = make_schema(game, arena);
    enum status status = engine_describe(game->engine, game->table, arena, failure, &about);
    if (status == NO_TABLE) {
        *failure = (struct failure){0};
        return create(game, &wanted, arena, failure);
    }
    return status == OK ? check(game, &about.schema, &wanted, arena, failure) : status;
}

/* --- the game --- */

static struct bytes keep(struct bytes text) {
    uint8_t *copy = mem_alloc(text.size + 1);
    if (text.size != 0)
        memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    return bytes_of(copy, text.size);
}

static void drop(struct bytes text) {
    mem_free((void *)(uintptr_t)text.data);
}

enum status game_open(struct engine *engine, const struct game_settings *settings,
                      struct arena *arena, struct failure *failure, struct game **out) {
    struct game *game = mem_zalloc(sizeof(*game));
    game->engine = engine;
    game->settings.table = keep(settings->table.size != 0 ? settings->table : BYTES("gametable"));
    game->settings.zones = keep(settings->zones);
    game->settings.secret = keep(settings->secret);
    game->table = game->settings.table;
    game->boards = boards_new();
    enum status status = open_table(game, arena, failure);
    if (status == OK)
        status = hidden_open(game, arena, failure);
    if (status != OK) {
        game_close(game);
        return status;
    }
    *out = game;
    return OK;
}

void game_close(struct game *game) {
    if (game == NULL)
        return;
    boards_free(game->boards);
    hidden_close(game->hidden);
    drop(game->settings.table);
    drop(game->settings.zones);
    drop(game->settings.secret);
    mem_free(game);
}

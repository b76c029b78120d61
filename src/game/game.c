/* Opening a game: its table is created, upgraded or refused, and the rules for what clients write
 * are given to the engine. */
#include "game/game.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "game/board/board_int.h"
#include "game/board/client_writes.h"
#include "game/keyspace/key_head.h"
#include "game/player/hidden_players.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

/* Housekeeping needs the images of items before and after a write. */
static const enum stream_view game_stream = STREAM_BOTH;
static const long backfill_poll_ns = 5 * 1000 * 1000;

enum status game_wait(struct game *game, struct change *change) {
    return engine_submit_wait(game->engine, change);
}

void game_report(struct game *game, struct bytes what, const struct failure *failure) {
    uint64_t hash = hash_keyed(what, 0) | 1;
    for (unsigned i = 0; game->settings.report != NULL && i < GAME_REPORTED_MAX; i++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&game->reported[(hash + i) % GAME_REPORTED_MAX], &there,
                                           hash)) {
            char text[512];
            snprintf(text, sizeof(text), "board %.*s is passed over: %.*s", BYTES_ARG(what),
                     BYTES_ARG(failure->text));
            game->settings.report(text);
            return;
        }
        if (there == hash)
            return;
    }
}

struct item game_key(struct arena *arena, struct bytes pk, struct bytes sk) {
    struct pair *pairs = arena_alloc(arena, 2 * sizeof(*pairs));
    pairs[0] = (struct pair){GAME_PK, {.type = VALUE_S, .bytes = pk}};
    pairs[1] = (struct pair){GAME_SK, {.type = VALUE_S, .bytes = sk}};
    return (struct item){pairs, 2};
}

struct action game_compute_action(struct game *game, struct item key, action_compute *compute,
                                  void *user) {
    return (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = key,
                           .compute = compute,
                           .user = user};
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

struct table_schema game_table_schema(struct bytes name, struct arena *arena) {
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
        .name = name,
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

static enum status submit_and_wait(struct game *game, struct change *change,
                                   struct failure *failure) {
    enum status status = game_wait(game, change);
    *failure = change->failure;
    return status;
}

static enum status set_expiry(struct game *game, struct scope in) {
    struct change change = {.kind = CHANGE_EXPIRY,
                            .arena = in.arena,
                            .table = game->table,
                            .expiry = BYTES("ttl"),
                            .expires = true};
    return submit_and_wait(game, &change, in.failure);
}

static enum status create_table(struct game *game, const struct table_schema *schema,
                                struct scope in) {
    struct change change = {
        .kind = CHANGE_CREATE_TABLE, .arena = in.arena, .table = game->table, .schema = schema};
    enum status status = submit_and_wait(game, &change, in.failure);
    return status == OK ? set_expiry(game, in) : status;
}

/* Whether the index that was added has all items in it. */
static enum status index_is_complete(struct game *game, struct bytes name, struct scope in,
                                     bool *whole) {
    struct table_description about;
    enum status status = engine_describe(game->engine, game->table, in, &about);
    for (uint32_t i = 0; status == OK && i < about.schema.index_count; i++)
        if (bytes_equal(about.schema.indexes[i].name, name))
            *whole = about.indexes[i].status == PART_ACTIVE && about.status == PART_ACTIVE;
    return status;
}

static enum status await_index(struct game *game, struct bytes name, struct scope in) {
    struct timespec pause = {.tv_nsec = backfill_poll_ns};
    struct arena poll_arena;
    bool whole = false;
    enum status status;
    arena_init(&poll_arena);
    while ((status = index_is_complete(game, name, (struct scope){&poll_arena, in.failure},
                                       &whole)) == OK &&
           !whole) {
        nanosleep(&pause, NULL);
        arena_reset(&poll_arena);
    }
    if (status != OK)
        in.failure->text = arena_copy(in.arena, in.failure->text);
    arena_release(&poll_arena);
    return status;
}

static enum status add_index(struct game *game, const struct index_schema *index, struct scope in) {
    struct alteration alteration = {.attributes = index->keys.parts,
                                    .attribute_count = key_schema_count(&index->keys),
                                    .add_index = index};
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = in.arena,
                            .table = game->table,
                            .alteration = &alteration};
    enum status status = submit_and_wait(game, &change, in.failure);
    return status == OK ? await_index(game, index->name, in) : status;
}

static enum status set_stream(struct game *game, struct scope in) {
    struct alteration alteration = {.stream = &game_stream};
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = in.arena,
                            .table = game->table,
                            .alteration = &alteration};
    return submit_and_wait(game, &change, in.failure);
}

static enum status check_index(struct game *game, const struct table_schema *there,
                               const struct index_schema *wanted, struct scope in) {
    const struct index_schema *index = table_schema_index(there, wanted->name);
    if (index == NULL)
        return add_index(game, wanted, in);
    if (index->local || !keys_equal(&index->keys, &wanted->keys))
        return failure_set(in.failure, in.arena, INVALID,
                           "Table %.*s has an index %.*s with other keys than the game's",
                           BYTES_ARG(game->table), BYTES_ARG(wanted->name));
    return await_index(game, wanted->name, in);
}

/* Adds the indexes, the stream and the expiry that a table created by somebody else lacks. */
static enum status upgrade_table(struct game *game, const struct table_schema *there,
                                 const struct table_schema *wanted, struct scope in) {
    enum status status = OK;
    if (!keys_equal(&there->keys, &wanted->keys))
        return failure_set(in.failure, in.arena, INVALID,
                           "Table %.*s has other keys than the game's, which are PK and SK, both "
                           "strings",
                           BYTES_ARG(game->table));
    for (unsigned i = 0; i < INDEXES && status == OK; i++)
        status = check_index(game, there, &wanted->indexes[i], in);
    if (status == OK && there->stream == STREAM_OFF && game_stream != STREAM_OFF)
        status = set_stream(game, in);
    if (status == OK && there->expiry.size == 0)
        status = set_expiry(game, in);
    return status;
}

static enum status open_table(struct game *game, struct scope in) {
    struct table_description about;
    struct table_schema wanted = game_table_schema(game->table, in.arena);
    enum status status = engine_describe(game->engine, game->table, in, &about);
    if (status == NO_TABLE) {
        *in.failure = (struct failure){0};
        return create_table(game, &wanted, in);
    }
    return status == OK ? upgrade_table(game, &about.schema, &wanted, in) : status;
}

/* --- rules for items that clients write to the table --- */

static enum status change_rules(struct game *game, enum change_kind kind, struct scope in) {
    struct change change = {.kind = kind, .arena = in.arena, .write_rules = game->write_rules};
    return submit_and_wait(game, &change, in.failure);
}

static enum status add_rules(struct game *game, struct scope in) {
    game->write_rules = mem_alloc(sizeof(*game->write_rules));
    *game->write_rules = client_write_rules(game);
    return change_rules(game, CHANGE_ADD_RULES, in);
}

static void drop_rules(struct game *game) {
    struct failure failure;
    struct arena arena;
    if (game->write_rules != NULL && game->engine != NULL) {
        arena_init(&arena);
        change_rules(game, CHANGE_DROP_RULES, (struct scope){&arena, &failure});
        arena_release(&arena);
    }
    mem_free(game->write_rules);
}

/* --- the game --- */

static struct bytes copy_text(struct bytes text) {
    uint8_t *copy = mem_alloc(text.size + 1);
    if (text.size != 0)
        memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    return bytes_of(copy, text.size);
}

static void free_text(struct bytes text) {
    mem_free((void *)(uintptr_t)text.data);
}

enum status game_open(struct engine *engine, const struct game_settings *settings, struct scope in,
                      struct game **out) {
    struct game *game = mem_zalloc(sizeof(*game));
    game->engine = engine;
    game->opened_ms = clock_now_ms();
    game->settings.table =
        copy_text(settings->table.size != 0 ? settings->table : BYTES("gametable"));
    game->settings.zones = copy_text(settings->zones);
    game->settings.secret = copy_text(settings->secret);
    game->settings.may_wait = settings->may_wait;
    game->settings.guests = settings->guests;
    game->table = game->settings.table;
    game->boards = board_cache_new();
    game->heads = key_head_extractor_new();
    enum status status = open_table(game, in);
    if (status == OK)
        status = hidden_players_open(game, in);
    if (status == OK)
        status = add_rules(game, in);
    if (status != OK) {
        game_close(game);
        return status;
    }
    *out = game;
    return OK;
}

void game_engine_closed(struct game *game) {
    game->engine = NULL;
}

void game_close(struct game *game) {
    if (game == NULL)
        return;
    drop_rules(game);
    board_cache_free(game->boards);
    hidden_players_close(game->hidden);
    mem_free(game->heads);
    free_text(game->settings.table);
    free_text(game->settings.zones);
    free_text(game->settings.secret);
    mem_free(game);
}

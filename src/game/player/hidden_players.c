#include "game/player/hidden_players.h"

#include "base/map.h"
#include "base/mem.h"
#include "game/record.h"
#include "table/inprocess.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PAGE = 1000 };

struct hidden_players {
    atomic_uint_fast64_t version; /* of the partition when `keys` was read */
    atomic_uint_fast32_t slot;    /* where the engine keeps the partition's version */
    atomic_size_t count;          /* keys->count, to be read without the lock */
    pthread_mutex_t lock;         /* guards `keys`, and writes to the three above */
    struct map keys;              /* each value is the allocated copy that its key borrows */
};

#define HIDDEN_PK BYTES("HIDDEN")

/* --- sets of keys --- */

static void set_add(struct map *keys, struct bytes key) {
    if (map_get(keys, key) != NULL)
        return;
    uint8_t *copy = mem_alloc(key.size + 1);
    memcpy(copy, key.data, key.size);
    map_put(keys, bytes_of(copy, key.size), copy);
}

static void set_release(struct map *keys) {
    struct map_slot *slot;
    for (size_t at = 0; (slot = map_next(keys, &at)) != NULL;)
        mem_free(slot->value);
    map_release(keys);
}

static enum status read_page(struct game *game, const struct item *start, struct scope in,
                             struct page_reply *out) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] =
        (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(HIDDEN_PK)};
    struct page_request request = {
        .table = game->table, .keys = &keys, .consistent = true, .limit = PAGE, .start = start};
    return engine_page(game->engine, &request, in, out);
}

static enum status read_set(struct game *game, struct scope in, struct map *out) {
    struct page_reply page = {0};
    struct item after = {0};
    enum status status;
    do {
        status = read_page(game, after.count != 0 ? &after : NULL, in, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++)
            set_add(out, item_string(&page.items[i], GAME_SK));
        after = page.last_key;
    } while (status == OK && page.more);
    return status;
}

/* Swaps the set with *keys, for the caller to free, unless another thread has loaded a newer one.
 */
static void replace_set(struct hidden_players *hidden, struct map *keys, uint64_t version,
                        uint32_t slot) {
    pthread_mutex_lock(&hidden->lock);
    if (version >= atomic_load(&hidden->version)) {
        struct map before = hidden->keys;
        hidden->keys = *keys;
        atomic_store(&hidden->count, keys->count);
        atomic_store(&hidden->slot, slot);
        atomic_store(&hidden->version, version);
        *keys = before;
    }
    pthread_mutex_unlock(&hidden->lock);
}

uint64_t hidden_players_version(const struct game *game) {
    struct value partition = value_string(HIDDEN_PK);
    return engine_partition_version(game->engine, game->table, &partition);
}

/* The version is read before the set: after a change in between the set counts as old. */
static enum status load_set(struct game *game, struct scope in) {
    struct hidden_players *hidden = game->hidden;
    struct value partition = value_string(HIDDEN_PK);
    struct map keys = {0};
    uint32_t slot;
    uint64_t version = engine_partition_version_slot(game->engine, game->table, &partition, &slot);
    enum status status = read_set(game, in, &keys);
    if (status == OK)
        replace_set(hidden, &keys, version, slot);
    set_release(&keys);
    return status;
}

/* --- opening and closing --- */

enum status hidden_players_open(struct game *game, struct scope in) {
    game->hidden = mem_zalloc(sizeof(*game->hidden));
    pthread_mutex_init(&game->hidden->lock, NULL);
    return load_set(game, in);
}

void hidden_players_close(struct hidden_players *hidden) {
    if (hidden == NULL)
        return;
    set_release(&hidden->keys);
    pthread_mutex_destroy(&hidden->lock);
    mem_free(hidden);
}

/* --- look-ups and changes --- */

static bool is_current(const struct game *game) {
    struct hidden_players *hidden = game->hidden;
    uint64_t now = engine_partition_version_at(
        game->engine, (uint32_t)atomic_load_explicit(&hidden->slot, memory_order_acquire));
    return now == atomic_load_explicit(&hidden->version, memory_order_acquire);
}

static bool table_has(struct game *game, struct bytes key) {
    struct failure failure;
    struct arena arena;
    struct get_reply reply = {0};
    arena_init(&arena);
    struct get_request request = {
        .table = game->table, .key = game_key(&arena, HIDDEN_PK, key), .consistent = true};
    enum status status =
        engine_get(game->engine, &request, (struct scope){&arena, &failure}, &reply);
    arena_release(&arena);
    return status != OK || reply.found;
}

bool hidden_players_has(struct game *game, struct bytes key) {
    struct hidden_players *hidden = game->hidden;
    if (!is_current(game))
        return table_has(game, key);
    if (atomic_load_explicit(&hidden->count, memory_order_acquire) == 0)
        return false;
    pthread_mutex_lock(&hidden->lock);
    bool has = map_get(&hidden->keys, key) != NULL;
    pthread_mutex_unlock(&hidden->lock);
    return has;
}

struct action hidden_players_action(struct game *game, struct bytes key, bool is_hidden,
                                    struct arena *arena) {
    return (struct action){.kind = is_hidden ? ACTION_PUT : ACTION_DELETE,
                           .table = game->table,
                           .item = game_key(arena, HIDDEN_PK, key)};
}

void hidden_players_refresh(struct game *game) {
    struct failure failure = {0};
    struct arena arena;
    if (is_current(game))
        return;
    arena_init(&arena);
    load_set(game, (struct scope){&arena, &failure}); /* if it fails, look-ups read the table */
    arena_release(&arena);
}

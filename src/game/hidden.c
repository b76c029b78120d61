#include "game/hidden.h"

#include "base/map.h"
#include "base/mem.h"
#include "game/record.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PAGE = 1000 };

struct hidden {
    atomic_size_t count;
    pthread_mutex_t lock;
    struct map keys; /* copies, each its own value */
};

#define HIDDEN_PK BYTES("HIDDEN")

/* --- the list: under its lock --- */

static void add(struct hidden *hidden, struct bytes key) {
    if (map_get(&hidden->keys, key) != NULL)
        return;
    uint8_t *copy = mem_alloc(key.size + 1);
    memcpy(copy, key.data, key.size);
    map_put(&hidden->keys, bytes_of(copy, key.size), copy);
    atomic_fetch_add(&hidden->count, 1);
}

static void take(struct hidden *hidden, struct bytes key) {
    void *copy = map_del(&hidden->keys, key);
    if (copy == NULL)
        return;
    mem_free(copy);
    atomic_fetch_sub(&hidden->count, 1);
}

static void forget(struct hidden *hidden) {
    struct map_slot *slot;
    for (size_t at = 0; (slot = map_next(&hidden->keys, &at)) != NULL;)
        mem_free(slot->value);
    map_release(&hidden->keys);
    hidden->keys = (struct map){0};
    atomic_store(&hidden->count, 0);
}

static enum status read_list(struct game *game, struct arena *arena, struct failure *failure) {
    struct key_condition keys = {.count = 1};
    struct page_reply page = {0};
    struct item after = {0};
    enum status status;
    keys.tests[0] =
        (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(HIDDEN_PK)};
    do {
        struct page_request request = {.table = game->table,
                                       .keys = &keys,
                                       .consistent = true,
                                       .limit = PAGE,
                                       .start = after.count != 0 ? &after : NULL};
        status = engine_page(game->engine, &request, arena, failure, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++)
            add(game->hidden, item_string(&page.items[i], GAME_SK));
        after = page.last_key;
    } while (status == OK && page.more);
    return status;
}

/* --- its life --- */

enum status hidden_open(struct game *game, struct arena *arena, struct failure *failure) {
    game->hidden = mem_zalloc(sizeof(*game->hidden));
    pthread_mutex_init(&game->hidden->lock, NULL);
    return read_list(game, arena, failure);
}

void hidden_close(struct hidden *hidden) {
    if (hidden == NULL)
        return;
    forget(hidden);
    pthread_mutex_destroy(&hidden->lock);
    mem_free(hidden);
}

void hidden_again(struct game *game) {
    struct failure failure = {0};
    struct arena arena;
    arena_init(&arena);
    pthread_mutex_lock(&game->hidden->lock);
    forget(game->hidden);
    read_list(game, &arena, &failure);
    pthread_mutex_unlock(&game->hidden->lock);
    arena_release(&arena);
}

/* --- asking, and changing --- */

bool hidden_has(struct game *game, struct bytes key) {
    struct hidden *hidden = game->hidden;
    if (atomic_load_explicit(&hidden->count, memory_order_acquire) == 0)
        return false;
    pthread_mutex_lock(&hidden->lock);
    bool has = map_get(&hidden->keys, key) != NULL;
    pthread_mutex_unlock(&hidden->lock);
    return has;
}

/* `user` of the action. */
struct listing {
    struct hidden *hidden;
    bool is_hidden;
};

static enum status list(struct action *action, const struct item *old, struct arena *arena,
                        struct item *new) {
    const struct listing *listing = action->user;
    struct bytes key = item_string(&action->item, GAME_SK);
    (void)old, (void)arena;
    *new = listing->is_hidden ? action->item : (struct item){0};
    pthread_mutex_lock(&listing->hidden->lock);
    if (listing->is_hidden)
        add(listing->hidden, key);
    else
        take(listing->hidden, key);
    pthread_mutex_unlock(&listing->hidden->lock);
    return OK;
}

void hidden_action(struct game *game, struct bytes key, bool is_hidden, struct arena *arena,
                   struct action *out) {
    struct listing *listing = ARENA_NEW(arena, struct listing);
    *listing = (struct listing){game->hidden, is_hidden};
    *out = (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = game_key(arena, HIDDEN_PK, key),
                           .compute = list,
                           .user = listing};
}

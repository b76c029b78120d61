#include "api/redis/key_holds.h"

#include "api/redis/redis_frontend_int.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"

void key_holds_init(struct key_holds *holds) {
    pthread_mutex_init(&holds->mutex, NULL);
}

void key_holds_release(struct key_holds *holds) {
    pthread_mutex_destroy(&holds->mutex);
}

/* ---- holding ---- */

static struct key_hold *hold_of(struct key_holds *holds, const struct redis_call *call) {
    for (size_t i = 0; i < KEY_HOLDS_MAX; i++)
        if (holds->list[i].call == call)
            return &holds->list[i];
    return NULL;
}

/* A STORE form replaces its first key, RENAME and MOVE change both. */
static size_t count_held(const struct redis_call *call, size_t keys) {
    size_t most = call->command->group == GROUP_GENERIC ? HELD_KEYS_MAX : 1;
    return keys < most ? keys : most;
}

bool key_hold_begin(struct redis_call *call) {
    struct key_holds *holds = &call->frontend->holds;
    struct redis_request request = {call->command, call->args, call->count};
    struct key_positions keys;
    if ((call->command->flags & COMMAND_WRITE) == 0 || call->command->keys.first == 0 ||
        !redis_command_keys(&request, call->arena, &keys) || keys.count == 0)
        return false;
    pthread_mutex_lock(&holds->mutex);
    struct key_hold *hold = hold_of(holds, NULL);
    if (hold != NULL) {
        *hold = (struct key_hold){.call = call,
                                  .count = count_held(call, keys.count),
                                  .until_us = clock_ticks_us() + LIMIT_KEY_HELD_MS * 1000};
        for (size_t i = 0; i < hold->count; i++)
            hold->keys[i] = hash_keyed(call->args[keys.at[i]], call->db);
        atomic_fetch_add(&holds->count, 1);
    }
    pthread_mutex_unlock(&holds->mutex);
    return hold != NULL;
}

static void end_hold(struct redis_call *call, int64_t from_us) {
    struct key_holds *holds = &call->frontend->holds;
    if (atomic_load(&holds->count) == 0)
        return;
    pthread_mutex_lock(&holds->mutex);
    struct key_hold *hold = hold_of(holds, call);
    bool ends = hold != NULL && hold->until_us <= from_us;
    if (ends) {
        hold->call = NULL;
        atomic_fetch_sub(&holds->count, 1);
    }
    pthread_mutex_unlock(&holds->mutex);
    if (ends)
        pause_resume_all(call->frontend);
}

void key_hold_end(struct redis_call *call) {
    end_hold(call, INT64_MAX);
}

void key_hold_end_late(struct redis_call *call) {
    end_hold(call, clock_ticks_us());
}

/* ---- being held ---- */

static bool is_held(struct key_holds *holds, uint64_t key) {
    int64_t now_us = clock_ticks_us();
    for (size_t i = 0; i < KEY_HOLDS_MAX; i++)
        for (size_t j = 0; holds->list[i].call != NULL && j < holds->list[i].count; j++)
            if (holds->list[i].keys[j] == key && now_us < holds->list[i].until_us)
                return true;
    return false;
}

static bool names_held(struct key_holds *holds, const struct redis_request *request, unsigned db) {
    struct arena arena;
    struct key_positions keys;
    bool held = false;
    arena_init(&arena);
    if (command_writes(request->command) && redis_command_keys(request, &arena, &keys))
        for (size_t i = 0; i < keys.count && !held; i++)
            held = is_held(holds, hash_keyed(request->args[keys.at[i]], db));
    arena_release(&arena);
    return held;
}

bool key_holds_stop(const struct redis_client *client, const struct redis_command *command) {
    struct key_holds *holds = &client->frontend->holds;
    const struct multi_queue *queue = &client->queue;
    bool held = false;
    if (atomic_load_explicit(&holds->count, memory_order_relaxed) == 0 || command == NULL)
        return false;
    struct redis_request request = {command, client->parser.args, client->parser.count};
    pthread_mutex_lock(&holds->mutex);
    if (!queue->open) /* else it is only queued */
        held = names_held(holds, &request, client->db);
    else if (command_is_exec(command))
        for (size_t i = 0; i < queue->count && !held; i++)
            held = names_held(holds, &queue->list[i].request, queue->list[i].db);
    pthread_mutex_unlock(&holds->mutex);
    return held;
}

/* Topics are found under a mutex. A topic's watchers are in one list for each loop, which only that
 * loop uses; who has a new state posts a delivery to each loop that has some. That the table has
 * changed is found out by the hub's thread (hub_poller.c). */
#include "api/live/live_hub.h"

#include "api/live/live_hub_int.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/thread.h"
#include "table/inprocess.h"

#include <assert.h>
#include <stdatomic.h>

enum { NAME_SIZE_MAX = LIMIT_TOPIC }; /* of a topic: a partition key, and the limit of a board */

/* ---- snapshots ---- */

struct topic_state *topic_state_new(struct bytes text, const struct bytes *players, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += players[i].size;
    struct topic_state *state = mem_zalloc(sizeof(*state) + count * sizeof(struct bytes) + size);
    state->players = (struct bytes *)(state + 1);
    uint8_t *at = (uint8_t *)(state->players + count);
    for (size_t i = 0; i < count; i++) {
        memcpy(at, players[i].data, players[i].size);
        state->players[i] = bytes_of(at, players[i].size);
        at += players[i].size;
    }
    state->player_count = count;
    state->message = message_new(text);
    atomic_init(&state->refs, 1);
    return state;
}

void topic_state_ref(struct topic_state *state) {
    atomic_fetch_add_explicit(&state->refs, 1, memory_order_relaxed);
}

void topic_state_unref(struct topic_state *state) {
    if (state == NULL || atomic_fetch_sub(&state->refs, 1) != 1)
        return;
    message_unref(state->message);
    mem_free(state);
}

/* ---- topics: under the lock ---- */

static struct topic_list *list_of(struct hub *hub, const struct topic_kind *kind) {
    return &hub->lists[kind == &topic_board];
}

static struct topic *topic_new(struct hub *hub, const struct topic_kind *kind, struct bytes key,
                               const struct topic_place *place) {
    struct topic *topic = mem_zalloc(sizeof(*topic) + key.size);
    memcpy(topic->memory, key.data, key.size);
    topic->hub = hub;
    topic->kind = kind;
    topic->key = bytes_of(topic->memory, key.size);
    topic->name = bytes_skip(topic->key, 1);
    buf_put(&topic->partition, place->partition);
    topic->until_ms = place->until_ms;
    topic->slot = place->slot;
    struct topic_list *list = list_of(hub, kind);
    topic->next = list->first;
    if (list->first != NULL)
        list->first->prev = topic;
    list->first = topic;
    map_put(&hub->topics, topic->key, topic);
    return topic;
}

void topic_unref(struct topic *topic) {
    struct hub *hub = topic->hub;
    if (--topic->refs != 0)
        return;
    map_del(&hub->topics, topic->key);
    if (topic->next != NULL)
        topic->next->prev = topic->prev;
    if (topic->prev != NULL)
        topic->prev->next = topic->next;
    else
        list_of(hub, topic->kind)->first = topic->next;
    topic_state_unref(topic->latest);
    buf_release(&topic->partition);
    mem_free(topic);
    if (hub->topics.count == 0 && hub->stopping)
        pthread_cond_signal(&hub->wake);
}

void topic_release(struct topic *topic) {
    struct hub *hub = topic->hub;
    pthread_mutex_lock(&hub->lock);
    topic_unref(topic);
    pthread_mutex_unlock(&hub->lock);
}

uint64_t topic_partition_version(const struct topic *topic) {
    return engine_partition_version_at(topic->hub->game->engine, topic->slot);
}

/* ---- where a topic is: without the lock ---- */

uint32_t topic_find_slot(struct hub *hub, struct bytes partition) {
    struct value key = value_string(partition);
    uint32_t slot;
    engine_partition_version_slot(hub->game->engine, hub->game->table, &key, &slot);
    return slot;
}

struct topic_place topic_find_place(struct hub *hub, struct topic_id id, struct arena *arena) {
    struct topic_place place = {.until_ms = INT64_MAX};
    place.partition = id.kind->partition(hub->game, id.name, arena, &place.until_ms);
    place.slot = topic_find_slot(hub, place.partition);
    return place;
}

/* ---- watching: on a loop ---- */

static void link_watcher(struct topic *topic, struct watcher *watcher, unsigned loop) {
    watcher->topic = topic;
    watcher->prev = NULL;
    watcher->next = topic->watchers[loop];
    if (watcher->next != NULL)
        watcher->next->prev = watcher;
    topic->watchers[loop] = watcher;
}

static size_t put_key(uint8_t *to, struct topic_id id) {
    assert(id.name.size <= NAME_SIZE_MAX);
    to[0] = id.kind == &topic_room ? 'r' : 'b';
    memcpy(to + 1, id.name.data, id.name.size);
    return id.name.size + 1;
}

/* Under the lock; NULL: nobody watches it. */
static struct topic *find_watched(struct hub *hub, struct topic_id id) {
    uint8_t text[1 + NAME_SIZE_MAX];
    return map_get(&hub->topics, bytes_of(text, put_key(text, id)));
}

static struct topic *find_topic(struct hub *hub, struct topic_id id, struct loop *loop,
                                struct arena *arena) {
    uint8_t text[1 + NAME_SIZE_MAX];
    struct bytes key = bytes_of(text, put_key(text, id));
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = map_get(&hub->topics, key);
    if (topic == NULL) {
        pthread_mutex_unlock(&hub->lock);
        struct topic_place place = topic_find_place(hub, id, arena);
        pthread_mutex_lock(&hub->lock);
        topic = map_get(&hub->topics, key); /* another loop may have been faster */
        if (topic == NULL)
            topic = topic_new(hub, id.kind, key, &place);
        pthread_cond_signal(&hub->wake); /* the hub's thread sleeps while there are no topics */
    }
    topic->refs++;
    if (loop != NULL)
        topic->loops[loop_index(loop)] = loop;
    pthread_mutex_unlock(&hub->lock);
    return topic;
}

/* The newest state, with a reference; rendered now if there is none yet. NULL with the failure. */
static struct topic_state *newest_state(struct topic *topic, struct scope in) {
    struct hub *hub = topic->hub;
    pthread_mutex_lock(&hub->lock);
    struct topic_state *state = topic->latest;
    uint64_t before = 0;
    if (state != NULL)
        topic_state_ref(state);
    else
        before = topic_partition_version(topic);
    pthread_mutex_unlock(&hub->lock);
    if (state != NULL)
        return state;
    state = topic->kind->render(hub->game, topic->name, in);
    if (state == NULL)
        return NULL;
    pthread_mutex_lock(&hub->lock);
    if (topic->latest == NULL) {
        topic->latest = state;
        topic->partition_version = before;
        topic_state_ref(state);
    }
    pthread_mutex_unlock(&hub->lock);
    return state;
}

struct topic *hub_hold(struct hub *hub, struct topic_id id, struct scope in) {
    if (id.name.size > NAME_SIZE_MAX) {
        failure_set(in.failure, in.arena, INVALID, "The name is too long");
        return NULL;
    }
    struct topic *topic = find_topic(hub, id, NULL, in.arena);
    struct topic_state *state = newest_state(topic, in);
    if (state == NULL) {
        topic_release(topic);
        return NULL;
    }
    topic_state_unref(state);
    return topic;
}

void hub_unhold(struct topic *topic) {
    topic_release(topic);
}

enum status hub_watch(struct hub *hub, struct topic_id id, struct watcher *watcher,
                      struct scope in) {
    struct loop *loop = channel_loop(watcher->channel);
    assert(loop == loop_current() && loop_index(loop) < LIVE_LOOPS_MAX);
    if (id.name.size > NAME_SIZE_MAX)
        return failure_set(in.failure, in.arena, INVALID, "The name is too long");
    struct topic *topic = find_topic(hub, id, loop, in.arena);
    struct topic_state *state = newest_state(topic, in);
    if (state == NULL) {
        topic_release(topic);
        return in.failure->status;
    }
    link_watcher(topic, watcher, loop_index(loop));
    watcher->seen(watcher, state);
    topic_state_unref(state);
    return OK;
}

void hub_unwatch(struct hub *hub, struct watcher *watcher) {
    struct topic *topic = watcher->topic;
    (void)hub;
    if (topic == NULL)
        return;
    unsigned loop = loop_index(loop_current());
    if (watcher->next != NULL)
        watcher->next->prev = watcher->prev;
    if (watcher->prev != NULL)
        watcher->prev->next = watcher->next;
    else
        topic->watchers[loop] = watcher->next;
    watcher->topic = NULL;
    topic_release(topic);
}

void hub_resend(struct hub *hub, struct watcher *watcher) {
    (void)hub;
    if (watcher->topic == NULL)
        return;
    struct arena arena;
    struct failure failure = {0};
    arena_init(&arena);
    struct topic_state *state = newest_state(watcher->topic, (struct scope){&arena, &failure});
    if (state != NULL)
        watcher->seen(watcher, state);
    topic_state_unref(state);
    arena_release(&arena);
}

/* ---- delivering ---- */

struct delivery {
    struct task task;
    struct topic *topic;
    struct topic_state *state;
};

static void run_delivery(struct task *task) {
    struct delivery *delivery = (struct delivery *)task;
    struct topic *topic = delivery->topic;
    struct watcher *watcher = topic->watchers[loop_index(loop_current())];
    while (watcher != NULL) {
        struct watcher *next = watcher->next; /* the callback may unwatch and free it */
        watcher->seen(watcher, delivery->state);
        watcher = next;
    }
    topic_state_unref(delivery->state);
    topic_release(topic);
    mem_free(delivery);
}

/* Posts the state to each loop that has watchers. Under the lock. */
static void deliver_state(struct topic *topic, struct topic_state *state) {
    for (unsigned i = 0; i < LIVE_LOOPS_MAX; i++) {
        if (topic->loops[i] == NULL)
            continue;
        struct delivery *delivery = mem_alloc(sizeof(*delivery));
        *delivery = (struct delivery){.task.run = run_delivery, .topic = topic, .state = state};
        topic->refs++;
        topic_state_ref(state);
        loop_post(topic->loops[i], &delivery->task);
    }
}

/* Whether the state differs from the present one and is no older: while it was rendered, a newer
 * one may have been published. */
static bool state_differs(const struct topic_state *state, const struct topic_state *present) {
    return present->version == 0 || state->version > present->version ||
           state->over != present->over;
}

void topic_publish(struct topic *topic, struct topic_state *state) {
    struct topic_state *before = topic->latest;
    topic->hub->renderings++;
    if (state_differs(state, before)) {
        topic->latest = state;
        deliver_state(topic, state);
        state = before;
    }
    topic_state_unref(state);
}

void hub_publish(struct hub *hub, struct topic_id id, struct topic_state *state) {
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = find_watched(hub, id);
    if (topic != NULL && topic->latest != NULL)
        /* partition_version stays, so that what was written after this state is still noticed. */
        topic_publish(topic, state);
    else
        topic_state_unref(state);
    pthread_mutex_unlock(&hub->lock);
}

void hub_notify(struct hub *hub, struct topic_id id) {
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = find_watched(hub, id);
    if (topic != NULL && !topic->notified && !hub->stopping) {
        topic->notified = true;
        topic->refs++;
        topic->next_notified = hub->notified;
        hub->notified = topic;
        pthread_cond_signal(&hub->wake);
    }
    pthread_mutex_unlock(&hub->lock);
}

bool hub_watched(struct hub *hub, struct topic_id id) {
    pthread_mutex_lock(&hub->lock);
    bool found = find_watched(hub, id) != NULL;
    pthread_mutex_unlock(&hub->lock);
    return found;
}

/* ---- its life ---- */

struct hub *hub_new(struct game *game) {
    struct hub *hub = mem_zalloc(sizeof(*hub));
    pthread_condattr_t attributes;
    hub->game = game;
    pthread_mutex_init(&hub->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&hub->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    int failed = thread_start(&hub->thread, hub_poller_main, hub);
    assert(failed == 0);
    (void)failed;
    return hub;
}

void hub_free(struct hub *hub) {
    pthread_mutex_lock(&hub->lock);
    hub->stopping = true;
    pthread_cond_signal(&hub->wake);
    pthread_mutex_unlock(&hub->lock);
    pthread_join(hub->thread, NULL);
    pthread_mutex_lock(&hub->lock);
    while (hub->topics.count != 0) /* deliveries on their way to loops */
        pthread_cond_wait(&hub->wake, &hub->lock);
    pthread_mutex_unlock(&hub->lock);
    map_release(&hub->topics);
    pthread_cond_destroy(&hub->wake);
    pthread_mutex_destroy(&hub->lock);
    mem_free(hub);
}

void hub_figures(struct hub *hub, uint64_t *topics, uint64_t *renderings) {
    pthread_mutex_lock(&hub->lock);
    *topics = hub->topics.count;
    *renderings = hub->renderings;
    pthread_mutex_unlock(&hub->lock);
}

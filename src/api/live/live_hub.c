/* Topics are found under a mutex. A topic's watchers are in one list for each loop, which only that
 * loop uses; the hub's thread posts a delivery to each loop that has some.
 *
 * Nothing is read from the table under the mutex: a read may wait for the disk, or for a commit
 * that changes the index trees, and all loops would wait with it. A topic knows the slot in which
 * the engine keeps its partition's version, and reading that takes no lock. */
#include "api/live/live_hub.h"

#include "api/live/live_int.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "table/inprocess.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    NOTIFIED_MS = 1,             /* between two looks at topics that hub_notify() named */
    NAP_MS = 50,                 /* the longest sleep between two looks at the others */
    NAME_SIZE_MAX = LIMIT_TOPIC, /* of a topic: a partition key, and the limit of a board */
    KINDS = 2,
};

struct topic {
    struct hub *hub;
    const struct topic_kind *kind;
    struct bytes key;     /* the kind's letter and the name: its key in hub->topics */
    struct bytes name;    /* within `key` */
    struct buf partition; /* the partition that holds it; under the hub's lock, as the next two: */
    int64_t until_ms;     /* until when that is its partition, */
    uint32_t slot;        /* and where the engine keeps the partition's version */
    struct topic *next, *prev;
    struct topic *next_notified;
    bool notified; /* it is in hub->notified; both under the lock */
    unsigned refs; /* held by watchers, deliveries and the hub's thread; under the lock */
    struct topic_state *latest; /* under the hub's lock */
    uint64_t partition_version; /* the version that `latest` shows; used by the hub's thread */
    int64_t rendered_ms;        /* the thread's */
    struct watcher *watchers[LIVE_LOOPS_MAX]; /* by loop; each list is used on its loop only */
    struct loop *loops[LIVE_LOOPS_MAX];       /* loops that have had watchers; under the lock */
    uint8_t memory[];
};

struct hub {
    struct game *game;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool stopping;
    struct map topics;
    struct list {
        struct topic *first;
        int64_t looked_us;  /* when all were looked at; used by the hub's thread only */
    } lists[KINDS];         /* the topics of each kind */
    struct topic *notified; /* topics of hub_notify(), each with a reference */
    uint64_t renderings;
};

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

static const struct topic_kind *const kinds[KINDS] = {&topic_room, &topic_board};

static struct list *list_of(struct hub *hub, const struct topic_kind *kind) {
    return &hub->lists[kind == &topic_board];
}

/* The partition of a topic and its version's slot, as found without the lock. */
struct topic_place {
    struct bytes partition;
    int64_t until_ms;
    uint32_t slot;
};

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
    struct list *list = list_of(hub, kind);
    topic->next = list->first;
    if (list->first != NULL)
        list->first->prev = topic;
    list->first = topic;
    map_put(&hub->topics, topic->key, topic);
    return topic;
}

static void topic_unref(struct topic *topic) {
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

static void topic_release(struct topic *topic) {
    struct hub *hub = topic->hub;
    pthread_mutex_lock(&hub->lock);
    topic_unref(topic);
    pthread_mutex_unlock(&hub->lock);
}

/* The version of the topic's partition. Under the lock, or on the hub's thread, which alone changes
 * topic->slot. Takes no lock itself. */
static uint64_t partition_version(const struct topic *topic) {
    return engine_partition_version_at(topic->hub->game->engine, topic->slot);
}

/* Without the lock: finding a slot or a partition may wait for the engine. */

static uint32_t find_slot(struct hub *hub, struct bytes name) {
    struct value partition = value_string(name);
    uint32_t slot;
    engine_partition_version_slot(hub->game->engine, hub->game->table, &partition, &slot);
    return slot;
}

static struct topic_place find_place(struct hub *hub, struct topic_id id, struct arena *arena) {
    struct topic_place place = {.until_ms = INT64_MAX};
    place.partition = id.kind->partition(hub->game, id.name, arena, &place.until_ms);
    place.slot = find_slot(hub, place.partition);
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
        struct topic_place place = find_place(hub, id, arena);
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
        before = partition_version(topic);
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

/* Under the lock: makes it the topic's state and delivers it, if it differs. Takes the reference.
 */
static void publish_state(struct topic *topic, struct topic_state *state) {
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
        publish_state(topic, state);
    else
        topic_state_unref(state);
    pthread_mutex_unlock(&hub->lock);
}

/* ---- the thread ---- */

/* The first topic from `topic` on whose partition's version has risen (or which has another
 * partition by now) and which may be rendered again, with a reference. */
static struct topic *next_changed(struct topic *topic, int64_t now_ms, uint64_t *version_now) {
    int64_t wall_ms = clock_now_ms();
    for (; topic != NULL; topic = topic->next) {
        if (topic->latest == NULL || now_ms - topic->rendered_ms < topic->kind->every_ms)
            continue;
        *version_now = partition_version(topic);
        if (*version_now != topic->partition_version || topic->until_ms <= wall_ms) {
            topic->refs++;
            return topic;
        }
    }
    return NULL;
}

/* Whether there is something new to render; asks the kind. */
static bool has_change(struct topic *topic, uint64_t version_now) {
    struct hub *hub = topic->hub;
    struct arena arena;
    pthread_mutex_lock(&hub->lock);
    uint64_t version = topic->latest->version;
    pthread_mutex_unlock(&hub->lock);
    if (topic->kind->change == NULL || version == 0)
        return true;
    arena_init(&arena);
    enum topic_change change = topic->kind->change(hub->game, topic->name, version, &arena);
    arena_release(&arena);
    if (change == TOPIC_UNCHANGED) {
        pthread_mutex_lock(&hub->lock);
        topic->partition_version = version_now;
        pthread_mutex_unlock(&hub->lock);
    }
    return change == TOPIC_CHANGED;
}

/* Renders the topic and publishes the state if it differs. */
static void refresh_topic(struct topic *topic, uint64_t version_now, int64_t now_ms) {
    struct hub *hub = topic->hub;
    struct arena arena;
    struct failure failure = {0};
    arena_init(&arena);
    struct topic_state *state =
        topic->kind->render(hub->game, topic->name, (struct scope){&arena, &failure});
    arena_release(&arena);
    topic->rendered_ms = now_ms;
    if (state == NULL && failure.status == NOT_FOUND) {
        state = topic_state_new(BYTES("{\"type\":\"gone\",\"v\":1}"), NULL, 0);
        state->over = true;
    }
    if (state == NULL)
        return; /* its version stays the old one, so the next look comes here again */
    pthread_mutex_lock(&hub->lock);
    topic->partition_version = version_now;
    publish_state(topic, state);
    pthread_mutex_unlock(&hub->lock);
}

/* Finds the partition again once until_ms has passed: a board's next period. */
static void roll_over(struct topic *topic, uint64_t *version_now) {
    struct hub *hub = topic->hub;
    struct arena arena;
    arena_init(&arena);
    struct topic_place place = find_place(hub, (struct topic_id){topic->kind, topic->name}, &arena);
    pthread_mutex_lock(&hub->lock);
    topic->until_ms = place.until_ms;
    if (place.partition.size != 0 && !bytes_equal(place.partition, buf_bytes(&topic->partition))) {
        buf_clear(&topic->partition);
        buf_put(&topic->partition, place.partition);
        topic->slot = place.slot;
        *version_now = partition_version(topic);
        topic->partition_version = *version_now - 1; /* not the present one */
    }
    pthread_mutex_unlock(&hub->lock);
    arena_release(&arena);
}

/* A table that was deleted and made again has its versions in other slots. The number in the old
 * slot has risen then, which is why the topic is looked at. */
static void update_slot(struct topic *topic, uint64_t *version_now) {
    struct hub *hub = topic->hub;
    uint32_t slot = find_slot(hub, buf_bytes(&topic->partition));
    if (slot == topic->slot)
        return;
    pthread_mutex_lock(&hub->lock);
    topic->slot = slot;
    *version_now = partition_version(topic);
    topic->partition_version = *version_now - 1; /* not the present one */
    pthread_mutex_unlock(&hub->lock);
}

static void check_topic(struct topic *topic, uint64_t version_now, int64_t now_ms) {
    if (topic->until_ms <= clock_now_ms())
        roll_over(topic, &version_now);
    else
        update_slot(topic, &version_now);
    if (version_now != topic->partition_version && has_change(topic, version_now))
        refresh_topic(topic, version_now, now_ms);
}

static void check_topics(struct hub *hub, struct list *list) {
    int64_t now_ms = clock_ticks_us() / 1000;
    uint64_t version_now;
    list->looked_us = clock_ticks_us();
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = next_changed(list->first, now_ms, &version_now);
    while (topic != NULL) {
        pthread_mutex_unlock(&hub->lock);
        check_topic(topic, version_now, now_ms);
        pthread_mutex_lock(&hub->lock);
        struct topic *after = topic->next;
        topic_unref(topic);
        topic = next_changed(after, now_ms, &version_now);
    }
    pthread_mutex_unlock(&hub->lock);
}

static struct topic *next_notified(struct hub *hub) {
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = hub->notified;
    if (topic != NULL) {
        hub->notified = topic->next_notified;
        topic->notified = false;
    }
    pthread_mutex_unlock(&hub->lock);
    return topic;
}

static void check_notified(struct hub *hub) {
    int64_t now_ms = clock_ticks_us() / 1000;
    struct topic *topic;
    while ((topic = next_notified(hub)) != NULL) {
        uint64_t version_now = partition_version(topic);
        pthread_mutex_lock(&hub->lock);
        bool changed = topic->latest != NULL && version_now != topic->partition_version;
        pthread_mutex_unlock(&hub->lock);
        if (changed)
            check_topic(topic, version_now, now_ms);
        topic_release(topic);
    }
}

/* Under the lock: waits until that time or the end; with `hints` also for hub_notify(). */
static void sleep_until(struct hub *hub, int64_t until_us, bool hints) {
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    while (!hub->stopping && !(hints && hub->notified != NULL) && clock_ticks_us() < until_us)
        pthread_cond_timedwait(&hub->wake, &hub->lock, &until);
}

static int64_t next_look_us(const struct hub *hub, unsigned kind) {
    return hub->lists[kind].looked_us + kinds[kind]->look_ms * 1000;
}

/* Under the lock: when the topics of some kind are next looked at; at most NAP_MS from now, since
 * new ones may come. */
static int64_t first_look_us(const struct hub *hub) {
    int64_t first_us = clock_ticks_us() + NAP_MS * 1000;
    for (unsigned i = 0; i < KINDS; i++)
        if (hub->lists[i].first != NULL && next_look_us(hub, i) < first_us)
            first_us = next_look_us(hub, i);
    return first_us;
}

static bool wait_for_work(struct hub *hub) {
    pthread_mutex_lock(&hub->lock);
    while (!hub->stopping && hub->topics.count == 0) /* nobody watches anything */
        pthread_cond_wait(&hub->wake, &hub->lock);
    /* Several topics may be named at once. */
    sleep_until(hub, clock_ticks_us() + NOTIFIED_MS * 1000, false);
    sleep_until(hub, first_look_us(hub), true);
    bool go_on = !hub->stopping;
    pthread_mutex_unlock(&hub->lock);
    return go_on;
}

static void *hub_main(void *argument) {
    struct hub *hub = argument;
    struct topic *topic;
    while (wait_for_work(hub)) {
        check_notified(hub);
        for (unsigned i = 0; i < KINDS; i++)
            if (clock_ticks_us() >= next_look_us(hub, i))
                check_topics(hub, &hub->lists[i]);
    }
    while ((topic = next_notified(hub)) != NULL)
        topic_release(topic);
    return NULL;
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
    int failed = pthread_create(&hub->thread, NULL, hub_main, hub);
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

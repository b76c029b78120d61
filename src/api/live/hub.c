/* Topics are found by a mutex; a topic's watchers are in a list for each loop that only this loop
 * touches. The watching thread posts a delivery to each loop that has some. */
#include "api/live/hub.h"

#include "api/live/live_int.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    HINTED_MS = 1,        /* between two looks at topics that hints named, */
    NAP_MS = 50,          /* and at most between two thoughts of looking at others */
    NAME_SIZE_MAX = 2100, /* of a topic: as long as a partition's key may be, and some */
    KINDS = 2,
};

struct topic {
    struct hub *hub;
    const struct topic_kind *kind;
    struct bytes key;     /* kind's letter and name: what the map knows it by */
    struct bytes name;    /* within it */
    struct buf partition; /* under the hub's lock, as the moment up to which it is that one */
    int64_t until_ms;
    struct topic *next, *prev;
    struct topic *next_hinted;
    bool hinted;             /* it is in the hub's list; under the lock, as that is */
    unsigned refs;           /* watchers, deliveries, the thread; under the hub's lock */
    struct snapshot *latest; /* under the hub's lock */
    uint64_t touched;        /* what it was when `latest` was made; the thread's after that */
    int64_t rendered_ms;     /* the thread's */
    struct watcher *watchers[LIVE_LOOPS_MAX]; /* each its loop's own */
    struct loop *loops[LIVE_LOOPS_MAX];       /* those that have had watchers; under the lock */
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
        int64_t looked_us; /* at all of them; the thread's */
    } lists[KINDS];        /* topics of a kind */
    struct topic *hinted;  /* each with a reference */
    uint64_t renderings;
};

/* ---- snapshots ---- */

struct snapshot *snapshot_new(struct bytes text, const struct bytes *players, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += players[i].size;
    struct snapshot *snapshot = mem_zalloc(sizeof(*snapshot) + count * sizeof(struct bytes) + size);
    snapshot->players = (struct bytes *)(snapshot + 1);
    uint8_t *at = (uint8_t *)(snapshot->players + count);
    for (size_t i = 0; i < count; i++) {
        memcpy(at, players[i].data, players[i].size);
        snapshot->players[i] = bytes_of(at, players[i].size);
        at += players[i].size;
    }
    snapshot->player_count = count;
    snapshot->message = message_new(text);
    atomic_init(&snapshot->refs, 1);
    return snapshot;
}

void snapshot_ref(struct snapshot *snapshot) {
    atomic_fetch_add_explicit(&snapshot->refs, 1, memory_order_relaxed);
}

void snapshot_unref(struct snapshot *snapshot) {
    if (snapshot == NULL || atomic_fetch_sub(&snapshot->refs, 1) != 1)
        return;
    message_unref(snapshot->message);
    mem_free(snapshot);
}

/* ---- topics: under the lock ---- */

static const struct topic_kind *const kinds[KINDS] = {&topic_room, &topic_board};

static struct list *list_of(struct hub *hub, const struct topic_kind *kind) {
    return &hub->lists[kind == &topic_board];
}

static struct topic *topic_new(struct hub *hub, const struct topic_kind *kind, struct bytes key,
                               struct bytes partition, int64_t until_ms) {
    struct topic *topic = mem_zalloc(sizeof(*topic) + key.size);
    memcpy(topic->memory, key.data, key.size);
    topic->hub = hub;
    topic->kind = kind;
    topic->key = bytes_of(topic->memory, key.size);
    topic->name = bytes_skip(topic->key, 1);
    buf_put(&topic->partition, partition);
    topic->until_ms = until_ms;
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
    snapshot_unref(topic->latest);
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

/* Under the lock, or on the thread, which alone changes the partition. */
static uint64_t touched(const struct topic *topic) {
    struct game *game = topic->hub->game;
    struct value partition = value_string(buf_bytes(&topic->partition));
    return engine_touched(game->engine, game->table, &partition);
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

static size_t put_key(uint8_t *to, const struct topic_kind *kind, struct bytes name) {
    assert(name.size <= NAME_SIZE_MAX);
    to[0] = kind == &topic_room ? 'r' : 'b';
    memcpy(to + 1, name.data, name.size);
    return name.size + 1;
}

/* Under the lock; NULL: nobody watches it. */
static struct topic *watched(struct hub *hub, const struct topic_kind *kind, struct bytes name) {
    uint8_t text[1 + NAME_SIZE_MAX];
    return map_get(&hub->topics, bytes_of(text, put_key(text, kind, name)));
}

static struct topic *find_topic(struct hub *hub, const struct topic_kind *kind, struct bytes name,
                                struct loop *loop, struct arena *arena) {
    uint8_t text[1 + NAME_SIZE_MAX];
    struct bytes key = bytes_of(text, put_key(text, kind, name));
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = map_get(&hub->topics, key);
    if (topic == NULL) {
        int64_t until_ms = INT64_MAX;
        struct bytes partition = kind->partition(hub->game, name, arena, &until_ms);
        topic = topic_new(hub, kind, key, partition, until_ms);
        pthread_cond_signal(&hub->wake); /* it sleeps while there are none */
    }
    topic->refs++;
    topic->loops[loop_index(loop)] = loop;
    pthread_mutex_unlock(&hub->lock);
    return topic;
}

/* The newest snapshot there is, with a reference; made now if there is none. */
static struct snapshot *newest(struct topic *topic, struct arena *arena, struct failure *failure) {
    struct hub *hub = topic->hub;
    pthread_mutex_lock(&hub->lock);
    struct snapshot *snapshot = topic->latest;
    uint64_t before = 0;
    if (snapshot != NULL)
        snapshot_ref(snapshot);
    else
        before = touched(topic);
    pthread_mutex_unlock(&hub->lock);
    if (snapshot != NULL)
        return snapshot;
    snapshot = topic->kind->render(hub->game, topic->name, arena, failure);
    if (snapshot == NULL)
        return NULL;
    pthread_mutex_lock(&hub->lock);
    if (topic->latest == NULL) {
        topic->latest = snapshot;
        topic->touched = before;
        snapshot_ref(snapshot);
    }
    pthread_mutex_unlock(&hub->lock);
    return snapshot;
}

enum status hub_watch(struct hub *hub, const struct topic_kind *kind, struct bytes name,
                      struct watcher *watcher, struct arena *arena, struct failure *failure) {
    struct loop *loop = channel_loop(watcher->channel);
    assert(loop == loop_current() && loop_index(loop) < LIVE_LOOPS_MAX);
    if (name.size > NAME_SIZE_MAX)
        return failure_set(failure, arena, INVALID, "The name is too long");
    struct topic *topic = find_topic(hub, kind, name, loop, arena);
    struct snapshot *snapshot = newest(topic, arena, failure);
    if (snapshot == NULL) {
        topic_release(topic);
        return failure->status;
    }
    link_watcher(topic, watcher, loop_index(loop));
    watcher->seen(watcher, snapshot);
    snapshot_unref(snapshot);
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

void hub_retell(struct hub *hub, struct watcher *watcher) {
    (void)hub;
    if (watcher->topic == NULL)
        return;
    struct arena arena;
    struct failure failure = {0};
    arena_init(&arena);
    struct snapshot *snapshot = newest(watcher->topic, &arena, &failure);
    if (snapshot != NULL)
        watcher->seen(watcher, snapshot);
    snapshot_unref(snapshot);
    arena_release(&arena);
}

/* ---- delivering ---- */

struct delivery {
    struct task task;
    struct topic *topic;
    struct snapshot *snapshot;
};

static void run_delivery(struct task *task) {
    struct delivery *delivery = (struct delivery *)task;
    struct topic *topic = delivery->topic;
    struct watcher *watcher = topic->watchers[loop_index(loop_current())];
    while (watcher != NULL) {
        struct watcher *next = watcher->next; /* it may go away */
        watcher->seen(watcher, delivery->snapshot);
        watcher = next;
    }
    snapshot_unref(delivery->snapshot);
    topic_release(topic);
    mem_free(delivery);
}

/* Under the lock. */
static void deliver(struct topic *topic, struct snapshot *snapshot) {
    for (unsigned i = 0; i < LIVE_LOOPS_MAX; i++) {
        if (topic->loops[i] == NULL)
            continue;
        struct delivery *delivery = mem_alloc(sizeof(*delivery));
        *delivery =
            (struct delivery){.task.run = run_delivery, .topic = topic, .snapshot = snapshot};
        topic->refs++;
        snapshot_ref(snapshot);
        loop_post(topic->loops[i], &delivery->task);
    }
}

/* Whether it shows something else than the present one: while it was made, a newer one may have
 * been shown. */
static bool differs(const struct snapshot *snapshot, const struct snapshot *present) {
    return present->version == 0 || snapshot->version > present->version ||
           snapshot->over != present->over;
}

/* Under the lock: makes it the topic's state, and hands it out, if it differs. Takes the reference.
 */
static void show(struct topic *topic, struct snapshot *snapshot) {
    struct snapshot *before = topic->latest;
    topic->hub->renderings++;
    if (differs(snapshot, before)) {
        topic->latest = snapshot;
        deliver(topic, snapshot);
        snapshot = before;
    }
    snapshot_unref(snapshot);
}

void hub_offer(struct hub *hub, const struct topic_kind *kind, struct bytes name,
               struct snapshot *snapshot) {
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = watched(hub, kind, name);
    if (topic != NULL && topic->latest != NULL)
        show(topic, snapshot); /* what was written after it is still to be looked at */
    else
        snapshot_unref(snapshot);
    pthread_mutex_unlock(&hub->lock);
}

/* ---- the thread ---- */

/* The first topic from `topic` on that was touched (or whose partition is another by now) and may
 * be rendered, with a reference. */
static struct topic *next_touched(struct topic *topic, int64_t now_ms, uint64_t *stamp) {
    int64_t wall_ms = clock_now_ms();
    for (; topic != NULL; topic = topic->next) {
        if (topic->latest == NULL || now_ms - topic->rendered_ms < topic->kind->every_ms)
            continue;
        *stamp = touched(topic);
        if (*stamp != topic->touched || topic->until_ms <= wall_ms) {
            topic->refs++;
            return topic;
        }
    }
    return NULL;
}

/* Whether it is to be rendered. */
static bool has_news(struct topic *topic, uint64_t stamp) {
    struct hub *hub = topic->hub;
    struct arena arena;
    pthread_mutex_lock(&hub->lock);
    uint64_t version = topic->latest->version;
    pthread_mutex_unlock(&hub->lock);
    if (topic->kind->news == NULL || version == 0)
        return true;
    arena_init(&arena);
    enum news news = topic->kind->news(hub->game, topic->name, version, &arena);
    arena_release(&arena);
    if (news == NEWS_NONE) {
        pthread_mutex_lock(&hub->lock);
        topic->touched = stamp;
        pthread_mutex_unlock(&hub->lock);
    }
    return news == NEWS_NOW;
}

/* Renders the topic anew and hands it out if it differs. */
static void refresh(struct topic *topic, uint64_t stamp, int64_t now_ms) {
    struct hub *hub = topic->hub;
    struct arena arena;
    struct failure failure = {0};
    arena_init(&arena);
    struct snapshot *snapshot = topic->kind->render(hub->game, topic->name, &arena, &failure);
    arena_release(&arena);
    topic->rendered_ms = now_ms;
    if (snapshot == NULL && failure.status == NOT_FOUND) {
        snapshot = snapshot_new(BYTES("{\"type\":\"gone\",\"v\":1}"), NULL, 0);
        snapshot->over = true;
    }
    if (snapshot == NULL)
        return; /* it stays touched: another look tells more */
    pthread_mutex_lock(&hub->lock);
    topic->touched = stamp;
    show(topic, snapshot);
    pthread_mutex_unlock(&hub->lock);
}

/* The partition is asked for again when its time is over. */
static void roll_over(struct topic *topic, uint64_t *stamp) {
    struct hub *hub = topic->hub;
    int64_t until_ms = INT64_MAX;
    struct arena arena;
    arena_init(&arena);
    struct bytes partition = topic->kind->partition(hub->game, topic->name, &arena, &until_ms);
    pthread_mutex_lock(&hub->lock);
    topic->until_ms = until_ms;
    if (partition.size != 0 && !bytes_equal(partition, buf_bytes(&topic->partition))) {
        buf_clear(&topic->partition);
        buf_put(&topic->partition, partition);
        *stamp = touched(topic);
        topic->touched = *stamp - 1; /* whatever it was: what is shown is of another one */
    }
    pthread_mutex_unlock(&hub->lock);
    arena_release(&arena);
}

static void look_at(struct topic *topic, uint64_t stamp, int64_t now_ms) {
    if (topic->until_ms <= clock_now_ms())
        roll_over(topic, &stamp);
    if (stamp != topic->touched && has_news(topic, stamp))
        refresh(topic, stamp, now_ms);
}

static void look_at_all(struct hub *hub, struct list *list) {
    int64_t now_ms = clock_ticks_us() / 1000;
    uint64_t stamp;
    list->looked_us = clock_ticks_us();
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = next_touched(list->first, now_ms, &stamp);
    while (topic != NULL) {
        pthread_mutex_unlock(&hub->lock);
        look_at(topic, stamp, now_ms);
        pthread_mutex_lock(&hub->lock);
        struct topic *after = topic->next;
        topic_unref(topic);
        topic = next_touched(after, now_ms, &stamp);
    }
    pthread_mutex_unlock(&hub->lock);
}

static struct topic *next_hinted(struct hub *hub) {
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = hub->hinted;
    if (topic != NULL) {
        hub->hinted = topic->next_hinted;
        topic->hinted = false;
    }
    pthread_mutex_unlock(&hub->lock);
    return topic;
}

static void look_at_hinted(struct hub *hub) {
    int64_t now_ms = clock_ticks_us() / 1000;
    struct topic *topic;
    while ((topic = next_hinted(hub)) != NULL) {
        uint64_t stamp = touched(topic);
        pthread_mutex_lock(&hub->lock);
        bool changed = topic->latest != NULL && stamp != topic->touched;
        pthread_mutex_unlock(&hub->lock);
        if (changed)
            look_at(topic, stamp, now_ms);
        topic_release(topic);
    }
}

/* Under the lock: waits until then, or for a hint if that will do, or the end. */
static void wait_until(struct hub *hub, int64_t until_us, bool hints) {
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    while (!hub->stopping && !(hints && hub->hinted != NULL) && clock_ticks_us() < until_us)
        pthread_cond_timedwait(&hub->wake, &hub->lock, &until);
}

static int64_t next_look_us(const struct hub *hub, unsigned kind) {
    return hub->lists[kind].looked_us + kinds[kind]->look_ms * 1000;
}

/* Under the lock: when topics of some kind are to be looked at, or soon, since some may come. */
static int64_t first_look_us(const struct hub *hub) {
    int64_t first_us = clock_ticks_us() + NAP_MS * 1000;
    for (unsigned i = 0; i < KINDS; i++)
        if (hub->lists[i].first != NULL && next_look_us(hub, i) < first_us)
            first_us = next_look_us(hub, i);
    return first_us;
}

static bool nap(struct hub *hub) {
    pthread_mutex_lock(&hub->lock);
    while (!hub->stopping && hub->topics.count == 0) /* nobody looks: neither do we */
        pthread_cond_wait(&hub->wake, &hub->lock);
    wait_until(hub, clock_ticks_us() + HINTED_MS * 1000, false); /* some may come together */
    wait_until(hub, first_look_us(hub), true);
    bool go_on = !hub->stopping;
    pthread_mutex_unlock(&hub->lock);
    return go_on;
}

static void *hub_main(void *argument) {
    struct hub *hub = argument;
    struct topic *topic;
    while (nap(hub)) {
        look_at_hinted(hub);
        for (unsigned i = 0; i < KINDS; i++)
            if (clock_ticks_us() >= next_look_us(hub, i))
                look_at_all(hub, &hub->lists[i]);
    }
    while ((topic = next_hinted(hub)) != NULL)
        topic_release(topic);
    return NULL;
}

void hub_hint(struct hub *hub, const struct topic_kind *kind, struct bytes name) {
    pthread_mutex_lock(&hub->lock);
    struct topic *topic = watched(hub, kind, name);
    if (topic != NULL && !topic->hinted && !hub->stopping) {
        topic->hinted = true;
        topic->refs++;
        topic->next_hinted = hub->hinted;
        hub->hinted = topic;
        pthread_cond_signal(&hub->wake);
    }
    pthread_mutex_unlock(&hub->lock);
}

bool hub_watched(struct hub *hub, const struct topic_kind *kind, struct bytes name) {
    pthread_mutex_lock(&hub->lock);
    bool found = watched(hub, kind, name) != NULL;
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

/* The hub's thread: finds out which topics have changed and renders those.
 *
 * A change is seen by the version of the topic's partition, which rises with each write to it,
 * whoever writes. All topics of a kind are looked at every `look_ms`, which is a load from memory
 * for each; those that hub_notify() named are looked at within a millisecond. The lock is let go of
 * while the engine is asked; a reference keeps the topic meanwhile. */
#include "api/live/live_hub_int.h"
#include "base/clock.h"

enum {
    NOTIFIED_MS = 1, /* between two looks at topics that hub_notify() named */
    NAP_MS = 50,     /* the longest sleep between two looks at the others */
};

static const struct topic_kind *const kinds[TOPIC_KINDS] = {&topic_room, &topic_board};

/* The first topic from `topic` on whose partition's version has risen (or which has another
 * partition by now) and which may be rendered again, with a reference. */
static struct topic *next_changed(struct topic *topic, int64_t now_ms, uint64_t *version_now) {
    int64_t wall_ms = clock_now_ms();
    for (; topic != NULL; topic = topic->next) {
        if (topic->latest == NULL || now_ms - topic->rendered_ms < topic->kind->every_ms)
            continue;
        *version_now = topic_partition_version(topic);
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
    topic_publish(topic, state);
    pthread_mutex_unlock(&hub->lock);
}

/* Finds the partition again once until_ms has passed: a board's next period. */
static void roll_over(struct topic *topic, uint64_t *version_now) {
    struct hub *hub = topic->hub;
    struct arena arena;
    arena_init(&arena);
    struct topic_place place =
        topic_find_place(hub, (struct topic_id){topic->kind, topic->name}, &arena);
    pthread_mutex_lock(&hub->lock);
    topic->until_ms = place.until_ms;
    if (place.partition.size != 0 && !bytes_equal(place.partition, buf_bytes(&topic->partition))) {
        buf_clear(&topic->partition);
        buf_put(&topic->partition, place.partition);
        topic->slot = place.slot;
        *version_now = topic_partition_version(topic);
        topic->partition_version = *version_now - 1; /* not the present one */
    }
    pthread_mutex_unlock(&hub->lock);
    arena_release(&arena);
}

/* A table that was deleted and made again has its versions in other slots. The number in the old
 * slot has risen then, which is why the topic is looked at. */
static void update_slot(struct topic *topic, uint64_t *version_now) {
    struct hub *hub = topic->hub;
    uint32_t slot = topic_find_slot(hub, buf_bytes(&topic->partition));
    if (slot == topic->slot)
        return;
    pthread_mutex_lock(&hub->lock);
    topic->slot = slot;
    *version_now = topic_partition_version(topic);
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

static void check_topics(struct hub *hub, struct topic_list *list) {
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
        uint64_t version_now = topic_partition_version(topic);
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
    for (unsigned i = 0; i < TOPIC_KINDS; i++)
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

void *hub_poller_main(void *argument) {
    struct hub *hub = argument;
    struct topic *topic;
    while (wait_for_work(hub)) {
        check_notified(hub);
        for (unsigned i = 0; i < TOPIC_KINDS; i++)
            if (clock_ticks_us() >= next_look_us(hub, i))
                check_topics(hub, &hub->lists[i]);
    }
    while ((topic = next_notified(hub)) != NULL)
        topic_release(topic);
    return NULL;
}

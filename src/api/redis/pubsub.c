#include "api/redis/pubsub.h"

#include "api/redis/glob.h"
#include "api/redis/redis_frontend_int.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"

struct pubsub_topic {
    enum pubsub_kind kind;
    struct subscription *first;
    size_t count;
    size_t size;
    uint8_t name[];
};

struct subscription {
    struct pubsub_topic *topic;
    struct redis_client *client;
    uint64_t client_id;
    struct loop *loop;
    struct subscription *next, *prev;         /* of the topic */
    struct subscription *next_own, *prev_own; /* of the client */
};

static struct bytes topic_name(const struct pubsub_topic *topic) {
    return bytes_of(topic->name, topic->size);
}

void pubsub_init(struct pubsub *pubsub) {
    *pubsub = (struct pubsub){0};
    pthread_mutex_init(&pubsub->mutex, NULL);
}

void pubsub_release(struct pubsub *pubsub) {
    for (int kind = 0; kind < PUBSUB_KINDS; kind++)
        map_release(&pubsub->topics[kind]);
    pthread_mutex_destroy(&pubsub->mutex);
}

/* ---- subscribing ---- */

/* The clients of a loop that have subscriptions, by number. On its thread. */
static void list_subscriber(struct redis_client *client) {
    struct map *clients = &client->loop->subscribers;
    struct bytes key = bytes_of(&client->id, sizeof(client->id));
    if (client->topics.first != NULL)
        map_put(clients, key, client);
    else
        map_del(clients, key);
}

static struct subscription *find_own(const struct redis_client *client,
                                     const struct pubsub_topic *topic) {
    for (struct subscription *s = topic->first; s != NULL; s = s->next)
        if (s->client == client)
            return s;
    return NULL;
}

/* Of a client with few subscriptions its own list is shorter than the topic's. */
static struct subscription *find_subscription(const struct redis_client *client,
                                              const struct pubsub_topic *topic) {
    if (topic == NULL)
        return NULL;
    if (topic->count < 64)
        return find_own(client, topic);
    for (struct subscription *s = client->topics.first; s != NULL; s = s->next_own)
        if (s->topic == topic)
            return s;
    return NULL;
}

static struct pubsub_topic *make_topic(struct pubsub *pubsub, enum pubsub_kind kind,
                                       struct bytes name) {
    struct pubsub_topic *topic = mem_zalloc(sizeof(*topic) + name.size);
    topic->kind = kind;
    topic->size = name.size;
    memcpy(topic->name, name.data, name.size);
    map_put(&pubsub->topics[kind], topic_name(topic), topic);
    return topic;
}

static void link_subscription(struct redis_client *client, struct pubsub_topic *topic) {
    struct subscription *s = mem_zalloc(sizeof(*s));
    s->topic = topic;
    s->client = client;
    s->client_id = client->id;
    s->loop = client->stream->loop;
    s->next = topic->first;
    if (s->next != NULL)
        s->next->prev = s;
    topic->first = s;
    topic->count++;
    s->next_own = client->topics.first;
    if (s->next_own != NULL)
        s->next_own->prev_own = s;
    client->topics.first = s;
}

/* Under the mutex. */
static void unlink_subscription(struct pubsub *pubsub, struct subscription *s) {
    struct pubsub_topic *topic = s->topic;
    struct client_topics *own = &s->client->topics;
    if (s->next != NULL)
        s->next->prev = s->prev;
    if (s->prev != NULL)
        s->prev->next = s->next;
    else
        topic->first = s->next;
    if (s->next_own != NULL)
        s->next_own->prev_own = s->prev_own;
    if (s->prev_own != NULL)
        s->prev_own->next_own = s->next_own;
    else
        own->first = s->next_own;
    atomic_fetch_sub(&own->counts[topic->kind], 1);
    atomic_fetch_sub(&pubsub->count, 1);
    atomic_fetch_sub(&pubsub->monitors, topic->kind == PUBSUB_MONITOR);
    if (--topic->count == 0) {
        map_del(&pubsub->topics[topic->kind], topic_name(topic));
        mem_free(topic);
    }
    mem_free(s);
}

bool pubsub_subscribe(struct redis_client *client, enum pubsub_kind kind, struct bytes name,
                      enum status *status) {
    struct pubsub *pubsub = &client->frontend->pubsub;
    pthread_mutex_lock(&pubsub->mutex);
    struct pubsub_topic *topic = map_get(&pubsub->topics[kind], name);
    bool is_new = find_subscription(client, topic) == NULL;
    *status = is_new && (pubsub_count_of(client) >= LIMIT_SUBSCRIPTIONS_CLIENT ||
                         atomic_load(&pubsub->count) >= LIMIT_SUBSCRIPTIONS)
                  ? LIMIT_EXCEEDED
                  : OK;
    if (is_new && *status == OK) {
        link_subscription(client, topic != NULL ? topic : make_topic(pubsub, kind, name));
        atomic_fetch_add(&client->topics.counts[kind], 1);
        atomic_fetch_add(&pubsub->count, 1);
        atomic_fetch_add(&pubsub->monitors, kind == PUBSUB_MONITOR);
    }
    pthread_mutex_unlock(&pubsub->mutex);
    list_subscriber(client);
    return is_new;
}

bool pubsub_unsubscribe(struct redis_client *client, enum pubsub_kind kind, struct bytes name) {
    struct pubsub *pubsub = &client->frontend->pubsub;
    pthread_mutex_lock(&pubsub->mutex);
    struct subscription *s = find_subscription(client, map_get(&pubsub->topics[kind], name));
    if (s != NULL)
        unlink_subscription(pubsub, s);
    pthread_mutex_unlock(&pubsub->mutex);
    list_subscriber(client);
    return s != NULL;
}

bool pubsub_unsubscribe_any(struct redis_client *client, enum pubsub_kind kind, struct arena *arena,
                            struct bytes *name) {
    struct pubsub *pubsub = &client->frontend->pubsub;
    pthread_mutex_lock(&pubsub->mutex);
    struct subscription *s = client->topics.first;
    while (s != NULL && s->topic->kind != kind)
        s = s->next_own;
    if (s != NULL) {
        *name = arena_copy(arena, topic_name(s->topic));
        unlink_subscription(pubsub, s);
    }
    pthread_mutex_unlock(&pubsub->mutex);
    list_subscriber(client);
    return s != NULL;
}

void pubsub_forget(struct redis_client *client) {
    struct pubsub *pubsub = &client->frontend->pubsub;
    if (client->topics.first == NULL)
        return;
    pthread_mutex_lock(&pubsub->mutex);
    while (client->topics.first != NULL)
        unlink_subscription(pubsub, client->topics.first);
    pthread_mutex_unlock(&pubsub->mutex);
    list_subscriber(client);
}

size_t pubsub_count_of(const struct redis_client *client) {
    size_t count = 0;
    for (int kind = 0; kind < PUBSUB_KINDS; kind++)
        count += atomic_load_explicit(&client->topics.counts[kind], memory_order_relaxed);
    return count;
}

/* ---- delivering ---- */

/* A message for the clients of one loop. */
struct delivery {
    struct task task;
    struct redis_frontend *frontend;
    struct redis_loop *loop;
    size_t cost;
    struct bytes text; /* in RESP 2 */
    size_t count;
    uint64_t ids[];
};

static bool is_too_slow(struct redis_client *client) {
    size_t waits = stream_unsent(client->stream);
    return waits > LIMIT_SUBSCRIBER_OUT ||
           (waits > LIMIT_STREAM_PAUSE && stream_is_crowded(client->stream));
}

/* In RESP 3 a message is a push and not an array: the first byte tells. */
static void deliver(struct redis_client *client, struct bytes text) {
    struct stream *stream = client->stream;
    if (stream->gone || stream->ending)
        return;
    if (is_too_slow(client)) {
        log_warn("a subscriber that does not read was cut off: %zu bytes waited for it",
                 stream_unsent(stream));
        stream_drop(stream);
        return;
    }
    bool push = client->version >= 3 && text.data[0] == '*';
    buf_byte(&stream->out, push ? '>' : text.data[0]);
    buf_put(&stream->out, bytes_skip(text, 1));
    stream_send(stream);
}

/* On the loop. Frees the delivery. */
static void run_delivery(struct task *task) {
    struct delivery *delivery = (struct delivery *)task;
    for (size_t i = 0; i < delivery->count; i++) {
        struct redis_client *client = map_get(
            &delivery->loop->subscribers, bytes_of(&delivery->ids[i], sizeof(delivery->ids[i])));
        if (client != NULL)
            deliver(client, delivery->text);
    }
    atomic_fetch_sub(&delivery->frontend->pubsub.in_flight, delivery->cost);
    mem_free((void *)delivery->text.data);
    mem_free(delivery);
}

static size_t count_on(const struct pubsub_topic *topic, const struct loop *loop) {
    size_t count = 0;
    for (const struct subscription *s = topic->first; s != NULL; s = s->next)
        count += s->loop == loop;
    return count;
}

static void post_to_loop(struct redis_frontend *frontend, const struct pubsub_topic *topic,
                         struct loop *loop, struct bytes text) {
    size_t count = count_on(topic, loop);
    struct delivery *delivery = mem_zalloc(sizeof(*delivery) + count * sizeof(uint64_t));
    *delivery = (struct delivery){.task = {.run = run_delivery},
                                  .frontend = frontend,
                                  .loop = &frontend->loops[loop_index(loop)],
                                  .cost = sizeof(*delivery) + count * sizeof(uint64_t) + text.size,
                                  .count = 0};
    uint8_t *copy = mem_alloc(text.size);
    memcpy(copy, text.data, text.size);
    delivery->text = bytes_of(copy, text.size);
    for (const struct subscription *s = topic->first; s != NULL; s = s->next)
        if (s->loop == loop)
            delivery->ids[delivery->count++] = s->client_id;
    atomic_fetch_add(&frontend->pubsub.in_flight, delivery->cost);
    loop_post(loop, &delivery->task);
}

/* Posts the text to each loop that has a subscriber. Under the mutex. */
static void post_to_topic(struct redis_frontend *frontend, const struct pubsub_topic *topic,
                          struct bytes text) {
    struct loop *seen[LIMIT_LOOPS];
    size_t count = 0;
    for (const struct subscription *s = topic->first; s != NULL; s = s->next) {
        size_t i = 0;
        while (i < count && seen[i] != s->loop)
            i++;
        if (i == count)
            seen[count++] = s->loop;
    }
    for (size_t i = 0; i < count; i++)
        post_to_loop(frontend, topic, seen[i], text);
}

static void put_message(struct buf *to, const struct pubsub_topic *topic,
                        const struct pubsub_message *message) {
    struct resp out = {to, 2};
    bool pattern = topic->kind == PUBSUB_PATTERN;
    buf_clear(to);
    resp_array(&out, pattern ? 4 : 3);
    resp_bulk(&out, pattern          ? BYTES("pmessage")
                    : message->shard ? BYTES("smessage")
                                     : BYTES("message"));
    if (pattern)
        resp_bulk(&out, topic_name(topic));
    resp_bulk(&out, message->channel);
    resp_bulk(&out, message->text);
}

/* Posts the message to those who have subscribed to the topic, if there is a buffer for its text.
 * Returns how many they are. */
static uint64_t reach_topic(struct redis_frontend *frontend, const struct pubsub_topic *topic,
                            const struct pubsub_message *message, struct buf *text) {
    if (topic == NULL)
        return 0;
    if (text != NULL) {
        put_message(text, topic, message);
        post_to_topic(frontend, topic, buf_bytes(text));
    }
    return topic->count;
}

/* Likewise of all topics that the message goes to. Under the mutex. */
static uint64_t reach_topics(struct redis_frontend *frontend, const struct pubsub_message *message,
                             struct buf *text) {
    struct pubsub *pubsub = &frontend->pubsub;
    enum pubsub_kind kind = message->shard ? PUBSUB_SHARD : PUBSUB_CHANNEL;
    const struct pubsub_topic *channel = map_get(&pubsub->topics[kind], message->channel);
    const struct map_slot *slot;
    size_t at = 0;
    uint64_t count = reach_topic(frontend, channel, message, text);
    while (!message->shard && (slot = map_next(&pubsub->topics[PUBSUB_PATTERN], &at)) != NULL)
        if (glob_matches(slot->key, message->channel, false))
            count += reach_topic(frontend, slot->value, message, text);
    return count;
}

size_t pubsub_topics(struct pubsub *pubsub, enum pubsub_kind kind) {
    pthread_mutex_lock(&pubsub->mutex);
    size_t count = pubsub->topics[kind].count;
    pthread_mutex_unlock(&pubsub->mutex);
    return count;
}

size_t pubsub_subscribers(struct pubsub *pubsub, enum pubsub_kind kind, struct bytes name) {
    pthread_mutex_lock(&pubsub->mutex);
    const struct pubsub_topic *topic = map_get(&pubsub->topics[kind], name);
    size_t count = topic != NULL ? topic->count : 0;
    pthread_mutex_unlock(&pubsub->mutex);
    return count;
}

uint64_t pubsub_receivers(struct redis_frontend *frontend, const struct pubsub_message *message) {
    struct pubsub *pubsub = &frontend->pubsub;
    if (atomic_load(&pubsub->count) == 0)
        return 0;
    pthread_mutex_lock(&pubsub->mutex);
    uint64_t count = reach_topics(frontend, message, NULL);
    pthread_mutex_unlock(&pubsub->mutex);
    return count;
}

enum status pubsub_publish(struct redis_frontend *frontend, const struct pubsub_message *message,
                           uint64_t *receivers) {
    struct pubsub *pubsub = &frontend->pubsub;
    struct buf text = {0};
    *receivers = 0;
    if (atomic_load(&pubsub->count) == 0)
        return OK;
    if (atomic_load(&pubsub->in_flight) > LIMIT_MESSAGES_IN_FLIGHT)
        return BUSY;
    pthread_mutex_lock(&pubsub->mutex);
    *receivers = reach_topics(frontend, message, &text);
    pthread_mutex_unlock(&pubsub->mutex);
    buf_release(&text);
    return OK;
}

void pubsub_tell_monitors(struct redis_frontend *frontend, struct bytes line) {
    struct pubsub *pubsub = &frontend->pubsub;
    if (atomic_load(&pubsub->in_flight) > LIMIT_MESSAGES_IN_FLIGHT)
        return;
    pthread_mutex_lock(&pubsub->mutex);
    const struct pubsub_topic *topic = map_get(&pubsub->topics[PUBSUB_MONITOR], BYTES("monitor"));
    if (topic != NULL)
        post_to_topic(frontend, topic, line);
    pthread_mutex_unlock(&pubsub->mutex);
}

/* ---- what a call publishes ---- */

struct published_message {
    struct published_message *next;
    struct pubsub_message message;
};

void published_begin(struct published *published, struct arena *arena) {
    published->arena = arena;
    published->first = NULL;
    published->last = &published->first;
    published->count = 0;
}

void published_add(struct published *published, const struct pubsub_message *message) {
    struct published_message *one = ARENA_NEW(published->arena, struct published_message);
    one->message =
        (struct pubsub_message){.channel = arena_copy(published->arena, message->channel),
                                .text = arena_copy(published->arena, message->text),
                                .shard = message->shard};
    *published->last = one;
    published->last = &one->next;
    published->count++;
}

void published_cut(struct published *published, struct published to) {
    *to.last = NULL;
    *published = to;
}

void published_send(struct redis_frontend *frontend, struct published *published) {
    uint64_t receivers;
    for (const struct published_message *one = published->first; one != NULL; one = one->next)
        pubsub_publish(frontend, &one->message, &receivers);
    published_begin(published, published->arena);
}

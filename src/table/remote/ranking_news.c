/* What nodes tell each other: which partitions have changed.
 *
 * One channel a partition, "gt:<table>:<PK>"; a message is who says it, whether it is news ("d") or
 * repeated from the stream ("r"), and the version that was written. A thread sends what was written
 * here, a partition at most once every few milliseconds; another one listens to all of the table's
 * channels and raises the versions of partitions (remote_versions.c). Repeats raise a number only
 * if what they tell of was not heard before. While the connection is away nothing is heard, so all
 * numbers rise every second; and every ten seconds in any case.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/thread.h"
#include "table/remote/ranking_int.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

enum { HEARD_SLOTS = 65536, VERSION_MAX = REMOTE_VERSION_SIZE };

/* A partition that others have to be told of. */
struct news_item {
    struct bytes partition;
    bool repeat;
    size_t version_size;
    uint8_t version[VERSION_MAX];
    uint8_t text[];
};

struct ranking_news {
    struct remote_ranking *ranking;
    pthread_mutex_t lock;
    pthread_cond_t added;
    struct map items; /* partition -> struct news_item, that wait to be sent */
    bool stopping;
    _Atomic bool stop_listening;
    atomic_uint_fast64_t heard[HEARD_SLOTS]; /* hashes of partition and version, by themselves */
    pthread_t sender, listener;
};

static uint64_t hash_of(struct bytes partition, struct bytes version) {
    return hash_keyed(version, hash_keyed(partition, 0)) | 1;
}

static void hear(struct ranking_news *news, struct bytes partition, struct bytes version) {
    uint64_t hash = hash_of(partition, version);
    atomic_store_explicit(&news->heard[hash / 2 % HEARD_SLOTS], hash, memory_order_relaxed);
}

static bool was_heard(struct ranking_news *news, struct bytes partition, struct bytes version) {
    uint64_t hash = hash_of(partition, version);
    return atomic_load_explicit(&news->heard[hash / 2 % HEARD_SLOTS], memory_order_relaxed) == hash;
}

/* --- telling --- */

static void set_version(struct news_item *item, struct bytes version) {
    item->version_size = version.size < VERSION_MAX ? version.size : VERSION_MAX;
    memcpy(item->version, version.data, item->version_size);
}

static void add_item(struct ranking_news *news, struct bytes partition, struct bytes version,
                     bool repeat) {
    pthread_mutex_lock(&news->lock);
    struct news_item *item = map_get(&news->items, partition);
    if (item == NULL && news->items.count < LIMIT_NEWS_WAITING) {
        item = mem_zalloc(sizeof(*item) + partition.size);
        memcpy(item->text, partition.data, partition.size);
        item->partition = bytes_of(item->text, partition.size);
        item->repeat = true;
        map_put(&news->items, item->partition, item);
        pthread_cond_signal(&news->added);
    }
    if (item != NULL) { /* else there is too much to tell: others look every ten seconds */
        item->repeat = item->repeat && repeat;
        if (version.size != 0)
            set_version(item, version);
    }
    pthread_mutex_unlock(&news->lock);
}

void ranking_news_wrote(struct ranking_news *news, struct bytes partition, struct bytes version) {
    remote_version_raise(news->ranking->remote, remote_version_slot(partition));
    hear(news, partition, version);
    add_item(news, partition, version, false);
}

void ranking_news_repeat(struct ranking_news *news, struct bytes partition, struct bytes version) {
    if (!was_heard(news, partition, version)) {
        remote_version_raise(news->ranking->remote, remote_version_slot(partition));
        hear(news, partition, version);
    }
    add_item(news, partition, version, true);
}

/* Takes what waits, as commands. Under the lock. */
static struct bytes *take_commands(struct ranking_news *news, struct arena *arena, size_t *count) {
    struct bytes *commands = ARENA_ARRAY(arena, struct bytes, news->items.count + 1);
    const struct remote *remote = news->ranking->remote;
    struct map_slot *slot;
    size_t at = 0;
    *count = 0;
    while ((slot = map_next(&news->items, &at)) != NULL) {
        struct news_item *item = slot->value;
        struct buf command = {0};
        struct bytes message =
            arena_printf(arena, "%s %c %.*s", remote->node, item->repeat ? 'r' : 'd',
                         (int)item->version_size, (const char *)item->version);
        redis_command_words(&command, BYTES("PUBLISH"),
                            arena_printf(arena, "gt:%.*s:%.*s", BYTES_ARG(remote->table),
                                         BYTES_ARG(item->partition)),
                            message);
        commands[(*count)++] = arena_copy(arena, buf_bytes(&command));
        buf_release(&command);
        mem_free(item);
    }
    map_release(&news->items);
    news->items = (struct map){0};
    return commands;
}

/* What cannot be told is not kept: who does not hear from Redis looks for itself every second. */
static void send_commands(struct ranking_news *news, const struct bytes *commands, size_t count,
                          struct arena *arena) {
    struct failure failure = {0};
    struct redis_request request = {.commands = commands, .count = count};
    struct redis_reply *replies = ARENA_ARRAY(arena, struct redis_reply, count + 1);
    if (count != 0)
        redis_ask(news->ranking->redis, &request, (struct scope){arena, &failure}, replies);
}

static void *run_sender(void *user) {
    struct ranking_news *news = user;
    struct arena arena;
    arena_init(&arena);
    pthread_mutex_lock(&news->lock);
    while (!news->stopping) {
        if (news->items.count == 0) {
            pthread_cond_wait(&news->added, &news->lock);
            continue;
        }
        size_t count;
        struct bytes *commands = take_commands(news, &arena, &count);
        pthread_mutex_unlock(&news->lock);
        send_commands(news, commands, count, &arena);
        arena_reset(&arena);
        usleep(LIMIT_NEWS_PAUSE_US);
        pthread_mutex_lock(&news->lock);
    }
    pthread_mutex_unlock(&news->lock);
    arena_release(&arena);
    return NULL;
}

/* --- hearing --- */

static struct bytes take_word(struct bytes *from) {
    const uint8_t *space = from->size != 0 ? memchr(from->data, ' ', from->size) : NULL;
    struct bytes word = space != NULL ? bytes_of(from->data, (size_t)(space - from->data)) : *from;
    *from = bytes_skip(*from, word.size + (space != NULL));
    return word;
}

/* A message: "pmessage", the pattern, the channel, the text. */
static void take_message(struct ranking_news *news, const struct redis_reply *reply) {
    struct remote *remote = news->ranking->remote;
    size_t prefix = 4 + remote->table.size; /* "gt:", the table, ":" */
    if (reply->type != REDIS_ARRAY || reply->count != 4 ||
        !bytes_equal(reply->elements[0].text, BYTES("pmessage")) ||
        reply->elements[2].text.size <= prefix)
        return;
    struct bytes partition = bytes_skip(reply->elements[2].text, prefix);
    struct bytes version = reply->elements[3].text;
    struct bytes node = take_word(&version), kind = take_word(&version);
    if (bytes_equal(node, bytes_str(remote->node)))
        return;
    if (bytes_equal(kind, BYTES("r")) && was_heard(news, partition, version))
        return;
    hear(news, partition, version);
    remote_version_raise(remote, remote_version_slot(partition));
}

static enum status subscribe(struct ranking_news *news, struct scope in,
                             struct redis_connection **out) {
    struct buf command = {0};
    enum status status = rank_redis_connect(news->ranking->redis, in, out);
    if (status != OK)
        return status;
    redis_command_words(
        &command, BYTES("PSUBSCRIBE"),
        arena_printf(in.arena, "gt:%.*s:*", BYTES_ARG(news->ranking->remote->table)));
    status = redis_send(*out, buf_bytes(&command), clock_ticks_us() + 1000000);
    buf_release(&command);
    return status;
}

/* Waits up to a second for something to read; true if there is. */
static bool wait_for_news(struct redis_connection *connection) {
    struct pollfd poll_fd = {.fd = redis_descriptor(connection), .events = POLLIN};
    return redis_has_input(connection) || poll(&poll_fd, 1, 200) > 0;
}

/* Every so often a question, so that a connection that is dead in silence is found out. */
static enum status ask_alive(struct redis_connection *connection) {
    struct buf command = {0};
    redis_command_words(&command, BYTES("PING"));
    enum status status = redis_send(connection, buf_bytes(&command), clock_ticks_us() + 1000000);
    buf_release(&command);
    return status;
}

static void listen_on(struct ranking_news *news, struct redis_connection *connection,
                      struct arena *arena) {
    int64_t heard_us = clock_ticks_us(), asked_us = heard_us, looked_us = heard_us;
    enum status status = OK;
    while (status == OK && !news->stop_listening) {
        int64_t now_us = clock_ticks_us();
        struct redis_reply reply;
        if (wait_for_news(connection)) {
            status = redis_receive(connection, now_us + 1000000, arena, &reply);
            heard_us = now_us;
            if (status == OK)
                take_message(news, &reply);
            arena_reset(arena);
        }
        if (now_us - asked_us > LIMIT_NEWS_PING_MS * 1000) {
            asked_us = now_us;
            if (now_us - heard_us > 3 * LIMIT_NEWS_PING_MS * 1000 || ask_alive(connection) != OK)
                break;
        }
        if (now_us - looked_us > LIMIT_NEWS_LOOK_MS * 1000) {
            looked_us = now_us;
            remote_version_raise_all(news->ranking->remote);
        }
    }
}

static void *run_listener(void *user) {
    struct ranking_news *news = user;
    struct arena arena;
    arena_init(&arena);
    while (!news->stop_listening) {
        struct failure failure = {0};
        struct redis_connection *connection = NULL;
        enum status status = subscribe(news, (struct scope){&arena, &failure}, &connection);
        arena_reset(&arena);
        remote_version_raise_all(news->ranking->remote);
        if (status == OK)
            listen_on(news, connection, &arena);
        redis_disconnect(connection);
        arena_reset(&arena);
        for (unsigned i = 0; i < 10 && !news->stop_listening && status != OK; i++)
            usleep(50000);
    }
    arena_release(&arena);
    return NULL;
}

/* --- starting --- */

struct ranking_news *ranking_news_start(struct remote_ranking *ranking) {
    struct ranking_news *news = mem_zalloc(sizeof(*news));
    news->ranking = ranking;
    pthread_mutex_init(&news->lock, NULL);
    pthread_cond_init(&news->added, NULL);
    thread_start(&news->sender, run_sender, news);
    thread_start(&news->listener, run_listener, news);
    return news;
}

void ranking_news_stop(struct ranking_news *news) {
    struct map_slot *slot;
    size_t at = 0;
    pthread_mutex_lock(&news->lock);
    news->stopping = true;
    news->stop_listening = true;
    pthread_cond_signal(&news->added);
    pthread_mutex_unlock(&news->lock);
    pthread_join(news->sender, NULL);
    pthread_join(news->listener, NULL);
    while ((slot = map_next(&news->items, &at)) != NULL)
        mem_free(slot->value);
    map_release(&news->items);
    pthread_cond_destroy(&news->added);
    pthread_mutex_destroy(&news->lock);
    mem_free(news);
}

#include "api/metrics/request_tail.h"

#include "api/metrics/monitor.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/channel.h"

enum { QUEUE_MAX = LIMIT_TAIL_QUEUE, PING_MS = 20 * 1000 };

struct watcher {
    struct request_tail *tail;
    struct channel *channel;
    const struct access_key *key; /* NULL: the server has none */
    struct watcher *next, *prev;  /* in its loop's list, which only its thread uses */
};

struct tail_loop {
    struct watcher *watchers;
    _Atomic(struct loop *) loop; /* NULL: nobody has ever looked on here */
};

struct request_tail {
    struct monitor *monitor;
    struct tail_loop loops[LIMIT_LOOPS];
};

/* What is brought to a loop. */
struct delivery {
    struct task task; /* first */
    struct tail_loop *to;
    struct message *message;
};

struct request_tail *request_tail_new(struct monitor *monitor) {
    struct request_tail *tail = mem_zalloc(sizeof *tail);
    tail->monitor = monitor;
    return tail;
}

void request_tail_free(struct request_tail *tail) {
    mem_free(tail);
}

/* --- a watcher, on its loop --- */

static void ignore_received(struct channel *channel, struct bytes text, void *user) {
    (void)channel, (void)text, (void)user;
}

/* What it missed is gone; it goes on with what comes. */
static void ignore_caught_up(struct channel *channel, void *user) {
    (void)channel, (void)user;
}

static void watcher_closed(struct channel *channel, void *user) {
    struct watcher *watcher = user;
    struct tail_loop *loop = &watcher->tail->loops[loop_index(channel_loop(channel))];
    if (watcher->prev != NULL)
        watcher->prev->next = watcher->next;
    else
        loop->watchers = watcher->next;
    if (watcher->next != NULL)
        watcher->next->prev = watcher->prev;
    atomic_fetch_sub(&watcher->tail->monitor->requests.watchers, 1);
    mem_free(watcher);
}

static void watcher_review(struct channel *channel, void *user) {
    const struct watcher *watcher = user;
    const struct keys *keys = watcher->tail->monitor->settings.keys;
    if (watcher->key != NULL && keys != NULL && !keys_has_unchanged(keys, watcher->key))
        channel_close(channel, 1008, "the access key was revoked or changed");
}

static const struct channel_handler watcher_handler = {ignore_received, ignore_caught_up,
                                                       watcher_closed, watcher_review};

/* Takes one of the places; false if there is none. */
static bool take_place(struct request_log *log) {
    unsigned now = atomic_fetch_add(&log->watchers, 1);
    if (now < LIMIT_TAIL_WATCHERS)
        return true;
    atomic_fetch_sub(&log->watchers, 1);
    return false;
}

bool request_tail_open(struct request_tail *tail, struct http_exchange *exchange,
                       const struct access_key *key) {
    struct tail_loop *loop = &tail->loops[loop_index(exchange->loop)];
    if (!take_place(&tail->monitor->requests))
        return false;
    struct watcher *watcher = mem_zalloc(sizeof *watcher);
    struct channel_settings settings = {.handler = &watcher_handler,
                                        .user = watcher,
                                        .message_max = LIMIT_LIVE_MESSAGE,
                                        .queue_max = QUEUE_MAX,
                                        .ping_ms = PING_MS,
                                        .events = true};
    *watcher = (struct watcher){.tail = tail, .key = key, .next = loop->watchers};
    atomic_store(&loop->loop, exchange->loop);
    watcher->channel = channel_open(exchange, &settings);
    if (watcher->channel == NULL) {
        atomic_fetch_sub(&tail->monitor->requests.watchers, 1);
        mem_free(watcher);
        return true;
    }
    if (watcher->next != NULL)
        watcher->next->prev = watcher;
    loop->watchers = watcher;
    struct message *hello = message_new(BYTES("{\"dropped\":0,\"requests\":[]}"));
    channel_send(watcher->channel, hello);
    message_unref(hello);
    return true;
}

/* --- sending --- */

static void deliver(struct task *task) {
    struct delivery *delivery = (struct delivery *)task;
    for (struct watcher *at = delivery->to->watchers, *next; at != NULL; at = next) {
        next = at->next;
        channel_send(at->channel, delivery->message);
    }
    message_unref(delivery->message);
    mem_free(delivery);
}

static struct message *render(const struct request_record *records, size_t count,
                              uint64_t dropped) {
    struct buf text = {0};
    buf_printf(&text, "{\"dropped\":%llu,\"requests\":[", (unsigned long long)dropped);
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            buf_byte(&text, ',');
        request_record_put(&text, &records[i]);
    }
    buf_lit(&text, "]}");
    struct message *message = message_new(buf_bytes(&text));
    message_event(message); /* made here, once, rather than on one of the loops */
    buf_release(&text);
    return message;
}

void request_tail_send(struct request_tail *tail) {
    struct request_record *records;
    uint64_t dropped;
    size_t count = request_log_take(&tail->monitor->requests, &records, &dropped);
    if (count != 0) {
        struct message *message = render(records, count, dropped);
        for (size_t i = 0; i < LIMIT_LOOPS; i++) {
            struct loop *loop = atomic_load(&tail->loops[i].loop);
            if (loop == NULL)
                continue;
            struct delivery *delivery = mem_alloc(sizeof *delivery);
            *delivery = (struct delivery){{.run = deliver}, &tail->loops[i], message};
            message_ref(message);
            loop_post(loop, &delivery->task);
        }
        message_unref(message);
    }
    mem_free(records);
}

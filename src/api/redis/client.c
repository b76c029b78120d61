/* Clients: coming, sending, going. */
#include "api/redis/client.h"

#include "api/redis/call.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <openssl/crypto.h>

/* ---- who it is ---- */

static bool same_secret(struct bytes a, struct bytes b) {
    return a.size == b.size && CRYPTO_memcmp(a.data, b.data, a.size) == 0;
}

bool client_is_known(struct redis_client *client) {
    struct keys *keys = client->face->settings.keys;
    if (keys == NULL)
        return true;
    const struct keyring *now = keys_now(keys);
    if (client->key != NULL && client->ring != now) {
        const struct access_key *key = keyring_find(now, client->key->id);
        bool same = key != NULL && same_secret(key->secret, client->key->secret);
        client->key = same ? key : NULL;
        client->ring = now;
    }
    return client->key != NULL;
}

bool client_identify(struct redis_client *client, struct bytes id, struct bytes secret) {
    const struct keyring *ring = keys_now(client->face->settings.keys);
    const struct access_key *found = NULL;
    for (size_t i = 0; i < ring->count; i++) {
        const struct access_key *key = ring->keys[i];
        if ((id.size == 0 || bytes_equal(key->id, id)) && same_secret(key->secret, secret))
            found = key;
    }
    if (found == NULL)
        return false;
    client->key = found;
    client->ring = ring;
    return true;
}

void client_set_text(struct redis_client *client, struct bytes *to, struct bytes text) {
    uint8_t *copy = NULL;
    if (text.size != 0)
        copy = memcpy(mem_alloc(text.size), text.data, text.size);
    pthread_mutex_lock(&client->face->mutex);
    uint8_t *old = (uint8_t *)to->data;
    *to = bytes_of(copy, text.size);
    pthread_mutex_unlock(&client->face->mutex);
    mem_free(old);
}

void client_show(struct redis_client *client) {
    struct client_shown *shown = &client->shown;
    const struct queue *queue = &client->queue;
    int64_t queued = queue->open ? (int64_t)queue->count : -1;
    atomic_store_explicit(&shown->last_ms, loop_now_ms(client->stream->loop), memory_order_relaxed);
    atomic_store_explicit(&shown->key, client->key, memory_order_relaxed);
    atomic_store_explicit(&shown->queued, queued, memory_order_relaxed);
    atomic_store_explicit(&shown->watched, queue->watched_count, memory_order_relaxed);
    atomic_store_explicit(&shown->version, client->version, memory_order_relaxed);
}

/* ---- the queue of MULTI ---- */

void queue_unwatch(struct queue *queue) {
    queue->watched = NULL;
    queue->watched_count = queue->watched_room = 0;
    arena_release(&queue->watch_arena);
    arena_init(&queue->watch_arena);
}

void queue_reset(struct queue *queue) {
    queue->open = queue->faulty = false;
    queue->list = NULL;
    queue->count = queue->room = queue->size = 0;
    arena_release(&queue->arena);
    arena_init(&queue->arena);
    queue_unwatch(queue);
}

enum status queue_add(struct queue *queue, const struct redis_call *call) {
    size_t size = 0;
    for (size_t i = 0; i < call->count; i++)
        size += call->args[i].size + sizeof(struct bytes);
    if (queue->count >= LIMIT_QUEUED_CALLS || queue->size + size > LIMIT_QUEUED_SIZE)
        return LIMIT_EXCEEDED;
    if (queue->count == queue->room) {
        size_t room = queue->room == 0 ? 8 : queue->room * 2;
        queue->list = arena_grow(&queue->arena, queue->list, queue->room * sizeof(*queue->list),
                                 room * sizeof(*queue->list));
        queue->room = room;
    }
    struct queued *queued = &queue->list[queue->count++];
    *queued = (struct queued){.command = call->command, .count = call->count};
    queued->args = ARENA_ARRAY(&queue->arena, struct bytes, call->count);
    for (size_t i = 0; i < call->count; i++)
        queued->args[i] = arena_copy(&queue->arena, call->args[i]);
    queue->size += size;
    return OK;
}

/* ---- coming and going ---- */

static void link_client(struct redis_face *face, struct redis_client *client) {
    pthread_mutex_lock(&face->mutex);
    client->id = ++face->last_id;
    client->next = face->clients;
    if (client->next != NULL)
        client->next->prev = client;
    face->clients = client;
    face->client_count++;
    pthread_mutex_unlock(&face->mutex);
}

static void unlink_client(struct redis_face *face, struct redis_client *client) {
    pthread_mutex_lock(&face->mutex);
    if (client->next != NULL)
        client->next->prev = client->prev;
    if (client->prev != NULL)
        client->prev->next = client->next;
    else
        face->clients = client->next;
    face->client_count--;
    pthread_mutex_unlock(&face->mutex);
}

static void on_opened(struct stream *stream, void *context) {
    struct redis_face *face = context;
    struct redis_client *client = mem_zalloc(sizeof(*client));
    client->face = face;
    client->loop = &face->loops[loop_index(stream->loop)];
    client->stream = stream;
    client->version = 2;
    client->socket = stream_socket(stream);
    client->last_call = &client->first;
    client->created_ms = clock_now_ms();
    client_show(client);
    resp_init(&client->parser);
    arena_init(&client->queue.arena);
    arena_init(&client->queue.watch_arena);
    stream_address(stream, false, client->address);
    stream_address(stream, true, client->our_address);
    stream->user = client;
    link_client(face, client);
    redis_count(&client->loop->clients_ever, 1);
}

static void client_unstarve(struct redis_client *client) {
    struct redis_loop *loop = client->loop;
    struct redis_client **at = &loop->starved;
    if (!client->starving)
        return;
    while (*at != client)
        at = &(*at)->next_starved;
    *at = client->next_starved;
    if (loop->last_starved == &client->next_starved)
        loop->last_starved = at;
    client->starving = false;
}

/* Nothing is under way any more, except perhaps a wait for entries. */
static void on_closed(struct stream *stream, void *context) {
    struct redis_client *client = stream->user;
    struct redis_face *face = context;
    unlink_client(face, client);
    client_unstarve(client);
    while (client->first != NULL) {
        struct redis_call *call = client->first;
        client->first = call->next;
        wait_cancel(call);
    }
    resp_release(&client->parser);
    arena_release(&client->queue.arena);
    arena_release(&client->queue.watch_arena);
    buf_release(&client->unheard);
    mem_free((void *)client->name.data);
    mem_free((void *)client->library.data);
    mem_free((void *)client->library_version.data);
    mem_free(client);
}

/* ---- sending ---- */

static void refuse(struct redis_client *client) {
    struct resp out = {&client->stream->out, client->version};
    char text[96];
    int size = snprintf(text, sizeof(text), "ERR %s", resp_fault(&client->parser));
    resp_error(&out, bytes_of(text, (size_t)size));
    stream_end(client->stream);
}

static size_t on_arrived(struct stream *stream, struct bytes bytes, void *context) {
    struct redis_client *client = stream->user;
    struct resp_parser *parser = &client->parser;
    struct resp_limits limits = {.args_max = LIMIT_CALL_ARGS,
                                 .bulk_max = LIMIT_CALL_BULK,
                                 .size_max = LIMIT_CALL_SIZE,
                                 .strange = !client_is_known(client)};
    size_t taken = 0;
    (void)context;
    while (!stream->stalled && !stream->ending) {
        enum resp_state state = resp_parse(parser, bytes_skip(bytes, taken), &limits);
        if (state == RESP_MORE)
            break;
        if (state == RESP_REFUSED && client->pending == 0) {
            call_gathered(client);
            refuse(client);
            break;
        }
        if (state == RESP_REFUSED || (parser->count != 0 && !call_take_up(client))) {
            stream->stalled = true;
            break;
        }
        taken += parser->used;
        resp_next(parser);
    }
    call_gathered(client);
    if (client->loop->timed != NULL)
        counts_time(client->loop, NULL);
    return taken;
}

void client_starve(struct redis_client *client) {
    struct redis_loop *loop = client->loop;
    if (client->starving)
        return;
    client->starving = true;
    client->next_starved = NULL;
    *loop->last_starved = client;
    loop->last_starved = &client->next_starved;
}

void client_feed(struct redis_loop *loop) {
    while (loop->starved != NULL && loop->under_way < loop->under_way_max) {
        struct redis_client *client = loop->starved;
        client_unstarve(client);
        stream_resume(client->stream);
    }
}

void client_drain(struct redis_client *client) {
    struct stream *stream = client->stream;
    stream_hold(stream);
    while (client->first != NULL && client->first->done) {
        struct redis_call *call = client->first;
        client->first = call->next;
        if (client->first == NULL)
            client->last_call = &client->first;
        client->pending--;
        call_finish(call);
    }
    if (stream->stalled && (client->pending == 0 || client->pending < LIMIT_CALLS_PENDING / 2))
        stream_resume(stream);
    else
        stream_send(stream);
    stream_release(stream);
}

const struct stream_handler redis_handler = {on_opened, on_arrived, on_closed};

/* Clients: from the connection's start over the bytes it sends to its end. */
#include "api/redis/redis_client.h"

#include "api/redis/redis_call.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "game/keyspace/key_name.h"

#include <stdio.h>

/* ---- who it is ---- */

bool client_is_known(struct redis_client *client) {
    struct touch touch = {.what = TOUCHES_CONNECTION};
    caller_refresh(client->frontend->settings.keys, &client->caller);
    return access_decide(&client->caller, &touch) == DENIAL_NONE;
}

bool client_identify(struct redis_client *client, struct bytes id, struct bytes secret) {
    if (!caller_find_secret(client->frontend->settings.keys, id, secret, &client->caller))
        return false;
    atomic_store_explicit(&client->info.key, client->caller.key, memory_order_relaxed);
    return true;
}

/* The keys were replaced. A client whose own is gone or has other rights is ended, whatever it
 * waits for. Looks at `info`, since a command of the client may run on another thread. */
static bool on_review(struct stream *stream, void *context) {
    const struct redis_client *client = stream->user;
    const struct redis_frontend *frontend = context;
    const struct access_key *key = atomic_load_explicit(&client->info.key, memory_order_relaxed);
    return key == NULL || frontend->settings.keys == NULL ||
           keys_has_unchanged(frontend->settings.keys, key);
}

void client_set_text(struct redis_client *client, struct bytes *to, struct bytes text) {
    uint8_t *copy = NULL;
    if (text.size != 0)
        copy = memcpy(mem_alloc(text.size), text.data, text.size);
    pthread_mutex_lock(&client->frontend->mutex);
    uint8_t *old = (uint8_t *)to->data;
    *to = bytes_of(copy, text.size);
    pthread_mutex_unlock(&client->frontend->mutex);
    mem_free(old);
}

void client_show(struct redis_client *client) {
    struct client_info *info = &client->info;
    const struct multi_queue *queue = &client->queue;
    int64_t queued = queue->open ? (int64_t)queue->count : -1;
    atomic_store_explicit(&info->last_ms, loop_now_ms(client->stream->loop), memory_order_relaxed);
    atomic_store_explicit(&info->key, client->caller.key, memory_order_relaxed);
    atomic_store_explicit(&info->queued, queued, memory_order_relaxed);
    atomic_store_explicit(&info->watched, queue->watched_count, memory_order_relaxed);
    atomic_store_explicit(&info->db, client->db, memory_order_relaxed);
    atomic_store_explicit(&info->version, client->version, memory_order_relaxed);
}

/* ---- the queue of MULTI ---- */

void multi_queue_unwatch(struct multi_queue *queue) {
    queue->watched = NULL;
    queue->watched_count = queue->watched_room = 0;
    arena_release(&queue->watch_arena);
    arena_init(&queue->watch_arena);
}

void multi_queue_reset(struct multi_queue *queue) {
    queue->open = queue->faulty = false;
    queue->list = NULL;
    queue->count = queue->room = queue->size = 0;
    arena_release(&queue->arena);
    arena_init(&queue->arena);
    multi_queue_unwatch(queue);
}

/* A SELECT among the commands decides which database the next ones touch. */
static void note_select(struct multi_queue *queue, const struct redis_call *call) {
    int64_t number;
    if (strcmp(call->command->name, "select") == 0 && redis_read_int(call->args[1], &number) &&
        number >= 0 && number < KEY_DATABASES)
        queue->db = (unsigned)number;
}

enum status multi_queue_add(struct multi_queue *queue, const struct redis_call *call) {
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
    struct queued_command *queued = &queue->list[queue->count++];
    struct bytes *args = ARENA_ARRAY(&queue->arena, struct bytes, call->count);
    *queued =
        (struct queued_command){.request = {call->command, args, call->count}, .db = queue->db};
    for (size_t i = 0; i < call->count; i++)
        args[i] = arena_copy(&queue->arena, call->args[i]);
    queue->size += size;
    note_select(queue, call);
    return OK;
}

/* ---- coming and going ---- */

static void link_client(struct redis_frontend *frontend, struct redis_client *client) {
    pthread_mutex_lock(&frontend->mutex);
    client->id = ++frontend->last_id;
    client->next = frontend->clients;
    if (client->next != NULL)
        client->next->prev = client;
    frontend->clients = client;
    frontend->client_count++;
    pthread_mutex_unlock(&frontend->mutex);
}

static void unlink_client(struct redis_frontend *frontend, struct redis_client *client) {
    pthread_mutex_lock(&frontend->mutex);
    if (client->next != NULL)
        client->next->prev = client->prev;
    if (client->prev != NULL)
        client->prev->next = client->next;
    else
        frontend->clients = client->next;
    frontend->client_count--;
    pthread_mutex_unlock(&frontend->mutex);
}

static void on_opened(struct stream *stream, void *context) {
    struct redis_frontend *frontend = context;
    struct redis_client *client = mem_zalloc(sizeof(*client));
    client->frontend = frontend;
    client->source = &client->order;
    client->loop = &frontend->loops[loop_index(stream->loop)];
    client->stream = stream;
    atomic_store_explicit(&client->loop->own, stream->loop, memory_order_release);
    client->version = 2;
    client->socket = stream_socket(stream);
    client->last_call = &client->first;
    client->created_us = clock_ticks_us();
    client_show(client);
    resp_init(&client->parser);
    arena_init(&client->queue.arena);
    arena_init(&client->queue.watch_arena);
    stream_address(stream, false, client->address);
    stream_address(stream, true, client->our_address);
    stream->user = client;
    link_client(frontend, client);
    redis_count(&client->loop->clients_ever, 1);
}

/* ---- to another loop ---- */

static bool may_move(const struct stream *stream, void *context) {
    const struct redis_client *client = stream->user;
    (void)context;
    return client->first == NULL && client->topics.first == NULL && !client->yields &&
           !client->is_throttled;
}

/* From here on who has a message for it sends that to the new loop (client_commands.c). */
static void on_leaves(struct stream *stream, struct loop *to, void *context) {
    struct redis_client *client = stream->user;
    struct redis_frontend *frontend = context;
    pthread_mutex_lock(&frontend->mutex);
    client->loop = &frontend->loops[loop_index(to)];
    client->moving = true;
    atomic_store_explicit(&client->loop->own, to, memory_order_release);
    pthread_mutex_unlock(&frontend->mutex);
}

static void on_moved(struct stream *stream, void *context) {
    struct redis_client *client = stream->user;
    struct redis_frontend *frontend = context;
    pthread_mutex_lock(&frontend->mutex);
    client->moving = false;
    pthread_mutex_unlock(&frontend->mutex);
}

/* ---- coming and going ---- */

static void client_unthrottle(struct redis_client *client) {
    struct redis_loop *loop = client->loop;
    struct redis_client **at = &loop->throttled;
    if (!client->is_throttled)
        return;
    while (*at != client)
        at = &(*at)->next_throttled;
    *at = client->next_throttled;
    if (loop->last_throttled == &client->next_throttled)
        loop->last_throttled = at;
    client->is_throttled = false;
}

/* No call is under way any more, except for one that may wait for entries. */
static void on_closed(struct stream *stream, void *context) {
    struct redis_client *client = stream->user;
    struct redis_frontend *frontend = context;
    pubsub_forget(client);
    unlink_client(frontend, client);
    client_unthrottle(client);
    while (client->first != NULL) {
        struct redis_call *call = client->first;
        client->first = call->next;
        wait_cancel(call);
    }
    resp_release(&client->parser);
    arena_release(&client->queue.arena);
    arena_release(&client->queue.watch_arena);
    buf_release(&client->discarded);
    mem_free((void *)client->name.data);
    mem_free((void *)client->library.data);
    mem_free((void *)client->library_version.data);
    mem_free(client);
}

/* ---- sending ---- */

static void refuse_request(struct redis_client *client) {
    struct resp out = {&client->stream->out, client->version};
    char text[96];
    int size = snprintf(text, sizeof(text), "ERR %s", resp_fault(&client->parser));
    resp_error(&out, bytes_of(text, (size_t)size));
    stream_end(client->stream);
}

/* Whether to stop for now: the client does not read its replies, or others are to have a turn. */
static bool client_pauses(struct redis_client *client) {
    if (stream_is_full(client->stream))
        return true;
    if (client->loop->turn_work <= LIMIT_LOOP_WORK)
        return false;
    client_yield(client);
    return true;
}

/* What has arrived, while its requests are begun. */
struct arrived {
    struct bytes bytes;
    size_t taken;      /* by requests that were begun, */
    size_t batched_at; /* and where the first of the batch that is being made begins */
};

/* Goes back to the batch's first request. */
static void take_batch_again(struct redis_client *client, struct arrived *arrived) {
    arrived->taken = arrived->batched_at;
    resp_next(&client->parser);
}

/* What arrives cannot be understood from here on; false if something has to be done before that is
 * said. */
static bool end_requests(struct redis_client *client, struct arrived *arrived) {
    if (!call_flush_batch(client)) {
        take_batch_again(client, arrived);
        return false;
    }
    if (client->pending == 0)
        refuse_request(client);
    else
        client->stream->stalled = true;
    return true;
}

/* Begins the request that the parser has ready; false if none is to follow for now. */
static bool begin_request(struct redis_client *client, struct arrived *arrived) {
    struct resp_parser *parser = &client->parser;
    enum call_begun begun = parser->count == 0 ? CALL_BEGUN : call_begin(client);
    if (begun == CALL_WAITS) {
        client->stream->stalled = true;
        return false;
    }
    if (begun == CALL_BATCH_AGAIN) {
        take_batch_again(client, arrived);
        return true;
    }
    if (parser->count != 0 && client->loop->batch.count == 1)
        arrived->batched_at = arrived->taken;
    arrived->taken += parser->used;
    resp_next(parser);
    if (!client->gave)
        return true;
    client->gave = false; /* the bytes are the call's: what was behind them comes again */
    client_yield(client);
    return false;
}

static void begin_requests(struct redis_client *client, const struct resp_limits *limits,
                           struct arrived *arrived) {
    const struct stream *stream = client->stream;
    bool more = true;
    while (more && !stream->stalled && !stream->ending && !client_pauses(client)) {
        struct bytes rest = bytes_skip(arrived->bytes, arrived->taken);
        enum resp_state state = resp_parse(&client->parser, rest, limits);
        if (state == RESP_READY)
            more = begin_request(client, arrived);
        else
            more = state == RESP_REFUSED && !end_requests(client, arrived);
    }
}

static size_t on_arrived(struct stream *stream, struct bytes bytes, void *context) {
    struct redis_client *client = stream->user;
    struct resp_limits limits = {.args_max = LIMIT_CALL_ARGS,
                                 .bulk_max = LIMIT_CALL_BULK,
                                 .size_max = LIMIT_CALL_SIZE,
                                 .strange = !client_is_known(client)};
    struct arrived arrived = {.bytes = bytes};
    (void)context;
    client->loop->turn_work = 0;
    begin_requests(client, &limits, &arrived);
    while (!call_flush_batch(client)) {
        take_batch_again(client, &arrived);
        begin_requests(client, &limits, &arrived);
    }
    if (client->loop->timed != NULL)
        command_stats_time(client->loop, NULL);
    return arrived.taken;
}

static void run_turn(struct task *task) {
    struct redis_client *client =
        (struct redis_client *)((char *)task - offsetof(struct redis_client, turn));
    client->yields = false;
    stream_resume(client->stream);
    stream_release(client->stream);
}

void client_yield(struct redis_client *client) {
    client->stream->stalled = true;
    if (client->yields)
        return;
    client->yields = true;
    client->turn.run = run_turn;
    stream_hold(client->stream);
    loop_post(client->stream->loop, &client->turn);
}

void client_throttle(struct redis_client *client) {
    struct redis_loop *loop = client->loop;
    if (client->is_throttled)
        return;
    client->is_throttled = true;
    client->throttled_in = loop->resumptions;
    client->next_throttled = NULL;
    *loop->last_throttled = client;
    loop->last_throttled = &client->next_throttled;
}

/* Whoever has to wait again, because of a pause or of a key that is held, is not asked twice. */
void client_resume_throttled(struct redis_loop *loop) {
    uint64_t now = ++loop->resumptions;
    while (loop->throttled != NULL && loop->throttled->throttled_in < now &&
           loop->under_way < loop->under_way_max) {
        struct redis_client *client = loop->throttled;
        client_unthrottle(client);
        stream_resume(client->stream);
    }
}

bool client_has_enough(const struct redis_client *client, bool half) {
    unsigned part = half ? 2 : 1;
    return client->pending >= LIMIT_CALLS_PENDING / part ||
           client->pending_args >= LIMIT_ARGS_PENDING / part;
}

void client_drain(struct redis_client *client) {
    struct stream *stream = client->stream;
    stream_hold(stream);
    if (client->first != NULL && client->first->done)
        client->loop->drain_us = clock_ticks_us();
    while (client->first != NULL && client->first->done) {
        struct redis_call *call = client->first;
        client->first = call->next;
        if (client->first == NULL)
            client->last_call = &client->first;
        client->pending--;
        client->pending_args -= call->queued_args;
        call_finish(call);
    }
    if (stream->stalled && !client_has_enough(client, true))
        stream_resume(stream);
    else
        stream_send(stream);
    stream_release(stream);
}

void redis_frontend_clients(struct redis_frontend *frontend, redis_each_client *each, void *user) {
    int64_t now_us = clock_ticks_us(), now_ms = clock_now_ms();
    pthread_mutex_lock(&frontend->mutex);
    for (const struct redis_client *at = frontend->clients; at != NULL; at = at->next) {
        const struct redis_command *last = atomic_load(&at->info.last);
        const struct access_key *key = atomic_load(&at->info.key);
        int64_t last_ms = atomic_load(&at->info.last_ms);
        struct redis_client_figures figures = {
            .id = at->id,
            .address = at->address,
            .name = at->name,
            .library = at->library,
            .who = key == NULL ? (struct bytes){0} : key->id,
            .last = last == NULL ? NULL : last->name,
            .age_ms = (now_us - at->created_us) / 1000,
            .idle_ms = last_ms == 0 || last_ms > now_ms ? 0 : now_ms - last_ms};
        each(&figures, user);
    }
    pthread_mutex_unlock(&frontend->mutex);
}

const struct stream_handler redis_handler = {.opened = on_opened,
                                             .arrived = on_arrived,
                                             .closed = on_closed,
                                             .review = on_review,
                                             .may_move = may_move,
                                             .leaves = on_leaves,
                                             .moved = on_moved};

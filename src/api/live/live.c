#include "api/live/live_int.h"

#include "api/live/live_presence.h"
#include "api/live/live_render.h"
#include "api/metrics/metrics.h"
#include "api/offload.h"
#include "api/rest/rest_route.h"
#include "base/clock.h"
#include "base/mem.h"
#include "game/room/room_scheduler.h"
#include "json/json.h"

#include <stdatomic.h>
#include <time.h>

enum { STOP_MS = 10 * 1000 };

/* ---- what came with the request ---- */

struct bytes live_query(const struct http_exchange *exchange, const char *name) {
    struct bytes rest = exchange->query, value = {0};
    size_t size = strlen(name);
    while (rest.size != 0) {
        size_t end = bytes_find(rest, BYTES("&"));
        struct bytes part = bytes_of(rest.data, end == SIZE_MAX ? rest.size : end);
        rest = bytes_skip(rest, part.size + (end != SIZE_MAX));
        if (part.size > size && part.data[size] == '=' && memcmp(part.data, name, size) == 0 &&
            route_decode(bytes_skip(part, size + 1), true, (struct arena *)&exchange->arena,
                         &value))
            return value;
    }
    return (struct bytes){0};
}

/* What a refusal is counted as. */
static const char *refusal_of(int status) {
    return status == 401   ? "unauthorized"
           : status == 403 ? "forbidden"
           : status == 404 ? "not-found"
           : status == 503 ? "busy"
                           : "invalid";
}

void live_refuse(struct http_exchange *exchange, int status, const char *text) {
    struct buf body = {0};
    buf_printf(&body, "{\"type\":\"about:blank\",\"status\":%d,\"detail\":", status);
    json_put_string(&body, bytes_str(text));
    buf_byte(&body, '}');
    exchange->note.reason = refusal_of(status);
    struct http_answer answer = {.status = status,
                                 .content_type = BYTES("application/problem+json"),
                                 .body = buf_bytes(&body)};
    offload_answer(exchange, &answer, http_answer);
    buf_release(&body);
}

/* ---- who may ---- */

/* Without keys anybody may look on, whatever they show; a seat is always asked for its token. */
static enum status find_watcher_caller(struct live *live, struct http_exchange *exchange,
                                       struct live_request *request, struct failure *failure) {
    const struct live_settings *settings = &live->settings;
    struct caller_lookup lookup = {settings->keys, settings->game, &exchange->arena, failure,
                                   settings->sessions};
    struct credentials shown = {0};
    if (settings->keys != NULL) {
        shown.authorization = http_header(exchange, "Authorization");
        shown.pair = live_query(exchange, "key");
        shown.player_token = live_query(exchange, "player");
        shown.invitation = live_query(exchange, "invite");
        shown.exchange = exchange;
    }
    if (request->room.size != 0)
        shown.seat_token = live_query(exchange, "token");
    return caller_find(&lookup, &shown, &request->caller);
}

static enum denial decide_watcher(struct live *live, struct http_exchange *exchange,
                                  struct live_request *request, struct failure *failure) {
    struct touch touch = {.what = request->kind->touches,
                          .access = ACCESS_READ,
                          .table = live->settings.game->table,
                          .room = request->room};
    bool seat = request->room.size != 0 && live_query(exchange, "token").size != 0;
    if (find_watcher_caller(live, exchange, request, failure) != OK)
        return seat ? DENIAL_SEAT : DENIAL_UNKNOWN;
    if (seat)
        touch.what = TOUCHES_SEAT;
    enum denial denial = access_decide(&request->caller, &touch);
    if (denial != DENIAL_NONE)
        access_explain(denial, &touch, (struct scope){&exchange->arena, failure});
    return denial;
}

bool live_authorize(struct live *live, struct http_exchange *exchange,
                    struct live_request *request) {
    struct failure failure = {0};
    enum denial denial = decide_watcher(live, exchange, request, &failure);
    if (denial != DENIAL_NONE)
        live_refuse(exchange, denial == DENIAL_UNKNOWN ? 401 : 403,
                    arena_str(&exchange->arena, failure.text));
    return denial == DENIAL_NONE;
}

void live_review(const struct live *live, struct channel *channel, const struct access_key *key) {
    const struct keys *keys = live->settings.keys;
    if (key != NULL && keys != NULL && !keys_has_unchanged(keys, key))
        channel_close(channel, CLOSE_KEY_CHANGED, "the access key was revoked or changed");
}

/* ---- the paths ---- */

/* What stands between the two; empty if it is another path. */
static struct bytes between(struct bytes path, struct bytes before, struct bytes after) {
    if (path.size <= before.size + after.size || memcmp(path.data, before.data, before.size) != 0 ||
        memcmp(path.data + path.size - after.size, after.data, after.size) != 0)
        return (struct bytes){0};
    struct bytes name = bytes_of(path.data + before.size, path.size - before.size - after.size);
    return memchr(name.data, '/', name.size) == NULL ? name : (struct bytes){0};
}

static struct bytes room_of(struct bytes path) {
    return between(path, BYTES("/v1/rooms/"), BYTES("/live"));
}

static struct bytes board_of(struct bytes path) {
    return between(path, BYTES("/v1/boards/"), BYTES("/live"));
}

bool live_takes(struct bytes path) {
    return room_of(path).size != 0 || board_of(path).size != 0;
}

/* ---- opening ---- */

static bool prepare_opening(struct live_opening *opening, bool *later) {
    return opening->is_room ? room_subscription_prepare(opening, later)
                            : board_subscription_prepare(opening, later);
}

/* On the exchange's loop. */
static void finish_opening(const struct live_opening *opening) {
    struct topic *held = opening->held;
    if (opening->is_room)
        room_subscription_open(opening);
    else
        board_subscription_open(opening);
    if (held != NULL)
        hub_unhold(held);
}

static void run_finish_opening(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    finish_opening(exchange->user);
}

/* On a thread of the pool. */
static void run_prepare_opening(void *argument) {
    struct live_opening *opening = argument;
    struct http_exchange *exchange = opening->exchange;
    bool later;
    if (!prepare_opening(opening, &later))
        return;
    exchange->user = opening;
    exchange->task.run = run_finish_opening;
    loop_post(exchange->loop, &exchange->task);
}

static void begin_opening(struct live *live, struct http_exchange *exchange, struct bytes id,
                          bool is_room) {
    struct live_opening *opening = ARENA_NEW(&exchange->arena, struct live_opening);
    struct background *pool = live->settings.pool;
    bool later = pool != NULL && offload_needed(live->settings.game->engine);
    *opening =
        (struct live_opening){.live = live, .exchange = exchange, .id = id, .is_room = is_room};
    if (!later && prepare_opening(opening, &later)) {
        finish_opening(opening);
        return;
    }
    if (later && (pool == NULL || !background_run(pool, run_prepare_opening, opening)))
        live_refuse(exchange, 503, OFFLOAD_BUSY);
}

void live_handle(struct http_exchange *exchange, struct live *live) {
    struct bytes room = room_of(exchange->path), id;
    bool socket = channel_wanted(exchange);
    exchange->note.front = METRICS_LIVE;
    exchange->note.operation = room.size != 0 ? LIVE_ROOM : LIVE_BOARD;
    if (exchange->withheld)
        live_refuse(exchange, 400, "this request takes no body");
    else if (!bytes_equal(exchange->method, BYTES("GET")))
        live_refuse(exchange, 405, "this path takes GET");
    else if (!origin_is_trusted(&live->settings.origins, exchange))
        live_refuse(exchange, 403,
                    "pages of this origin may not open a subscription: list it in --origins");
    else if (!route_decode(room.size != 0 ? room : board_of(exchange->path), false,
                           &exchange->arena, &id))
        live_refuse(exchange, 400, "the path is not well encoded");
    else if (room.size == 0 || socket)
        begin_opening(live, exchange, id, room.size != 0);
    else
        live_refuse(exchange, 426, "this path speaks WebSocket, version 13");
}

/* ---- its life ---- */

/* Called by the room scheduler on its thread, which has the room in memory: it is rendered from
 * that rather than loaded again. */
static void room_stepped(void *user, struct bytes code, const struct room *room) {
    struct live *live = user;
    if (room == NULL)
        hub_notify(live->hub, (struct topic_id){&topic_room, code});
    else if (hub_watched(live->hub, (struct topic_id){&topic_room, code}))
        hub_publish(live->hub, (struct topic_id){&topic_room, code}, render_topic_state(room));
}

/* What players say comes to the loops that have their presences: it is read there, and submitted
 * before the loop waits again. A change that is submitted later is committed later. */
static void await_players(void *user, int64_t by_ms) {
    struct live *live = user;
    struct loop *loops[LIVE_LOOPS_MAX];
    size_t count = 0;
    int64_t ago_ms = clock_now_ms() - by_ms, now_us = clock_ticks_us();
    for (size_t i = 0; i < LIVE_LOOPS_MAX; i++) {
        struct loop *loop = atomic_load(&live->loops[i].loop);
        if (loop != NULL)
            loops[count++] = loop;
    }
    loops_settle(loops, count, now_us - (ago_ms > 0 ? ago_ms * 1000 : 0),
                 now_us + LIMIT_ROOM_AWAIT_MS * 1000);
}

static void connections_cleared(void *user) {
    presence_rewrite(user);
}

struct live_loop *live_loop_here(struct live *live) {
    return &live->loops[loop_index(loop_current()) % LIVE_LOOPS_MAX];
}

struct live *live_new(const struct live_settings *settings) {
    struct live *live = mem_zalloc(sizeof(*live));
    live->settings = *settings;
    live->hub = hub_new(settings->game);
    if (settings->scheduler != NULL)
        room_scheduler_set_listener(settings->scheduler,
                                    &(struct room_scheduler_listener){
                                        room_stepped, connections_cleared, await_players, live});
    return live;
}

void live_stop(struct live *live) {
    if (live->settings.scheduler != NULL)
        room_scheduler_set_listener(live->settings.scheduler, NULL);
    for (int i = 0; i < STOP_MS; i++) {
        if (atomic_load(&live->subscriptions) == 0 && atomic_load(&live->txns) == 0)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    hub_free(live->hub);
}

void live_free(struct live *live) {
    mem_free(live);
}

struct bytes live_operation_name(size_t number) {
    return number == LIVE_ROOM    ? BYTES("room")
           : number == LIVE_BOARD ? BYTES("board")
                                  : (struct bytes){0};
}

void live_figures(struct live *live, struct live_figures *out) {
    uint64_t renderings;
    hub_figures(live->hub, &out->topics, &renderings);
    out->subscriptions = atomic_load(&live->subscriptions);
    out->messages = atomic_load(&live->messages);
    out->lagged = atomic_load(&live->lagged);
}

/* A subscription to a board: it sends states and takes no messages. */
#include "api/live/live_int.h"
#include "base/mem.h"
#include "game/board/board.h"

struct board_subscription {
    struct watcher watcher; /* first */
    struct live *live;
    const struct access_key *key; /* that it was opened by; NULL: none */
    bool behind;
};

static void seen(struct watcher *watcher, struct topic_state *state) {
    struct board_subscription *subscription = (struct board_subscription *)watcher;
    if (channel_send(watcher->channel, state->message))
        atomic_fetch_add_explicit(&subscription->live->messages, 1, memory_order_relaxed);
    else if (!subscription->behind) {
        subscription->behind = true;
        atomic_fetch_add_explicit(&subscription->live->lagged, 1, memory_order_relaxed);
    }
}

static void received(struct channel *channel, struct bytes text, void *user) {
    (void)text, (void)user;
    channel_close(channel, 1008, "a board only shows");
}

static void caught_up(struct channel *channel, void *user) {
    struct board_subscription *subscription = user;
    (void)channel;
    subscription->behind = false;
    hub_resend(subscription->live->hub, &subscription->watcher);
}

static void closed(struct channel *channel, void *user) {
    struct board_subscription *subscription = user;
    (void)channel;
    hub_unwatch(subscription->live->hub, &subscription->watcher);
    atomic_fetch_sub(&subscription->live->subscriptions, 1);
    mem_free(subscription);
}

static void review(struct channel *channel, void *user) {
    const struct board_subscription *subscription = user;
    live_review(subscription->live, channel, subscription->key);
}

static const struct channel_handler handler = {received, caught_up, closed, review};

static uint32_t limit_of(const struct http_exchange *exchange) {
    struct bytes text = live_query(exchange, "limit");
    uint32_t limit = 0;
    for (size_t i = 0; i < text.size && i < 6; i++)
        limit = text.data[i] >= '0' && text.data[i] <= '9'
                    ? limit * 10 + (uint32_t)(text.data[i] - '0')
                    : BOARD_LIMIT;
    if (limit == 0)
        return BOARD_LIMIT;
    return limit < BOARD_LIMIT_MAX ? limit : BOARD_LIMIT_MAX;
}

/* The topic's name: the board in full, but for the period if none was asked for; then it is always
 * that of now. Empty: there is no such board. */
static struct bytes topic_of(struct live *live, struct http_exchange *exchange, struct bytes id,
                             struct failure *failure) {
    const struct board *board;
    struct arena *arena = &exchange->arena;
    struct bytes scope = live_query(exchange, "scope"), period = live_query(exchange, "period");
    struct board_name parts = {.id = id, .scope = scope, .period = period};
    if (board_find_parts(live->settings.game, &parts, (struct scope){arena, failure}, &board) != OK)
        return (struct bytes){0};
    board_drop(board);
    struct buf name = {0};
    buf_printf(&name, "%u ", limit_of(exchange));
    buf_put(&name, id);
    if (scope.size != 0) {
        buf_byte(&name, '/');
        buf_put(&name, scope);
    }
    if (period.size != 0) {
        buf_byte(&name, '@');
        buf_put(&name, period);
    }
    struct bytes copy = arena_copy(arena, buf_bytes(&name));
    buf_release(&name);
    return copy;
}

bool board_subscription_prepare(struct live_opening *opening, bool *later) {
    struct live *live = opening->live;
    struct http_exchange *exchange = opening->exchange;
    struct failure failure = {0};
    struct live_request request = {.kind = &topic_board};
    *later = false;
    if (!live_authorize(live, exchange, &request))
        return false;
    opening->key = request.caller.key;
    opening->name = topic_of(live, exchange, opening->id, &failure);
    if (opening->name.size == 0) {
        live_refuse(exchange, failure.status == NOT_FOUND ? 404 : 400, "there is no such board");
        return false;
    }
    opening->held = hub_hold(live->hub, (struct topic_id){&topic_board, opening->name},
                             (struct scope){&exchange->arena, &failure});
    *later = failure.status == WOULD_BLOCK;
    return !*later;
}

static bool watch_board(struct board_subscription *subscription, struct bytes name, bool there) {
    struct failure failure = {0};
    struct arena arena;
    arena_init(&arena);
    bool watches =
        there && hub_watch(subscription->live->hub, (struct topic_id){&topic_board, name},
                           &subscription->watcher, (struct scope){&arena, &failure}) == OK;
    arena_release(&arena);
    return watches;
}

void board_subscription_open(const struct live_opening *opening) {
    struct live *live = opening->live;
    struct board_subscription *subscription = mem_zalloc(sizeof(*subscription));
    struct channel_settings settings = {.handler = &handler,
                                        .user = subscription,
                                        .message_max = LIVE_MESSAGE_MAX,
                                        .queue_max = LIVE_QUEUE_MAX,
                                        .ping_ms = LIVE_PING_MS,
                                        .events = !channel_wanted(opening->exchange)};
    if (http_header(opening->exchange, "Origin").size != 0)
        settings.headers = BYTES("Access-Control-Allow-Origin: *\r\n");
    struct buf name = {0}; /* the opening ends with the exchange, so the name is copied */
    bool there = opening->held != NULL;
    buf_put(&name, opening->name);
    subscription->live = live;
    subscription->key = opening->key;
    subscription->watcher.seen = seen;
    subscription->watcher.channel = channel_open(opening->exchange, &settings);
    if (subscription->watcher.channel == NULL)
        mem_free(subscription);
    else {
        atomic_fetch_add(&live->subscriptions, 1);
        if (!watch_board(subscription, buf_bytes(&name), there))
            channel_close(subscription->watcher.channel, 1011, "the board cannot be shown");
        review(subscription->watcher.channel, subscription); /* keys may have changed meanwhile */
    }
    buf_release(&name);
}

/* A board's line: it shows, and is not spoken to. */
#include "api/live/live_int.h"
#include "base/mem.h"
#include "game/board.h"

struct board_line {
    struct watcher watcher; /* first */
    struct live *live;
    bool behind;
};

static void seen(struct watcher *watcher, struct snapshot *snapshot) {
    struct board_line *line = (struct board_line *)watcher;
    if (channel_send(watcher->channel, snapshot->message))
        atomic_fetch_add_explicit(&line->live->messages, 1, memory_order_relaxed);
    else if (!line->behind) {
        line->behind = true;
        atomic_fetch_add_explicit(&line->live->lagged, 1, memory_order_relaxed);
    }
}

static void received(struct channel *channel, struct bytes text, void *user) {
    (void)text, (void)user;
    channel_close(channel, 1008, "a board only shows");
}

static void caught_up(struct channel *channel, void *user) {
    struct board_line *line = user;
    (void)channel;
    line->behind = false;
    hub_retell(line->live->hub, &line->watcher);
}

static void closed(struct channel *channel, void *user) {
    struct board_line *line = user;
    (void)channel;
    hub_unwatch(line->live->hub, &line->watcher);
    atomic_fetch_sub(&line->live->lines, 1);
    mem_free(line);
}

static const struct channel_handler handler = {received, caught_up, closed};

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
    if (board_find_part(live->settings.game, id, scope, period, arena, failure, &board) != OK)
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

void board_line_open(struct live *live, struct http_exchange *exchange, struct bytes id) {
    struct failure failure = {0};
    struct arena arena;
    bool socket = channel_wanted(exchange);
    if (!live_may_look(live, exchange, &exchange->arena)) {
        live_refuse(exchange, 401, "say who you are: ?key=ID:SECRET, or a player's token");
        return;
    }
    struct bytes name = topic_of(live, exchange, id, &failure);
    if (name.size == 0) {
        live_refuse(exchange, failure.status == NOT_FOUND ? 404 : 400, "there is no such board");
        return;
    }
    arena_init(&arena);
    struct board_line *line = mem_zalloc(sizeof(*line));
    struct channel_settings settings = {.handler = &handler,
                                        .user = line,
                                        .message_max = LINE_MESSAGE_MAX,
                                        .queue_max = LINE_QUEUE_MAX,
                                        .ping_ms = LINE_PING_MS,
                                        .events = !socket,
                                        .headers = BYTES("Access-Control-Allow-Origin: *\r\n")};
    line->live = live;
    line->watcher.seen = seen;
    line->watcher.channel = channel_open(exchange, &settings);
    if (line->watcher.channel == NULL)
        mem_free(line);
    else {
        atomic_fetch_add(&live->lines, 1);
        if (hub_watch(live->hub, &topic_board, name, &line->watcher, &arena, &failure) != OK)
            channel_close(line->watcher.channel, 1011, "the board cannot be shown");
    }
    arena_release(&arena);
}

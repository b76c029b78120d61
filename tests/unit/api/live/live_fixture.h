/* Rooms and boards with their live lines, on an engine in memory, behind a port; and a client that
 * speaks frames over a plain socket. For tests and fuzzing. */
#ifndef GT_TEST_LIVE_ASKING_H
#define GT_TEST_LIVE_ASKING_H

#include "api/live/live.h"
#include "game/room/match.h"
#include "game/room/room.h"
#include "game/room/room_scheduler.h"
#include "net/http.h"
#include "table/engine.h"
#include "table/local/local.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct live_fixture {
    struct arena arena;
    struct failure failure;
    struct engine *engine;
    struct game *game;
    struct room_scheduler *scheduler;
    struct live *live;
    struct loops *loops;
    struct listener *listener;
};

static inline void live_fixture_handle(struct http_exchange *exchange, void *context) {
    struct live_fixture *asking = context;
    if (live_takes(exchange->path))
        live_handle(exchange, asking->live);
    else
        http_answer(exchange, &(struct http_answer){.status = 404});
}

/* Called with the engine before anything uses it; NULL: nothing is. */
static void (*live_fixture_wrap)(struct engine *engine);

static inline void live_fixture_open(struct live_fixture *asking, unsigned loops) {
    struct game_settings settings = {.secret = BYTES("0123456789abcdef0123456789abcdef")};
    *asking = (struct live_fixture){0};
    arena_init(&asking->arena);
    struct local_settings local = {
        .store = {.memory = true}, .cache_memory = 1 << 20, .index_memory = 64 << 20, .threads = 1};
    enum status status =
        local_open(&local, (struct scope){&asking->arena, &asking->failure}, &asking->engine);
    assert(status == OK);
    if (live_fixture_wrap != NULL)
        live_fixture_wrap(asking->engine);
    status = game_open(asking->engine, &settings, (struct scope){&asking->arena, &asking->failure},
                       &asking->game);
    assert(status == OK);
    status = match_kinds_prepare(asking->game, (struct scope){&asking->arena, &asking->failure});
    assert(status == OK);
    asking->scheduler = room_scheduler_start(asking->game);
    asking->live =
        live_new(&(struct live_settings){.game = asking->game, .scheduler = asking->scheduler});
    asking->loops = loops_new(loops);
    loops_start(asking->loops);
    struct http_settings http = {.host = "127.0.0.1",
                                 .handler = live_fixture_handle,
                                 .context = asking,
                                 .idle_ms = 5000,
                                 .request_ms = 5000};
    status = http_listen(asking->loops, &http, (struct scope){&asking->arena, &asking->failure},
                         &asking->listener);
    assert(status == OK);
    (void)status;
}

/* In the order in which the program stops. */
static inline void live_fixture_close(struct live_fixture *asking) {
    listener_close(asking->listener, 5000);
    live_stop(asking->live);
    room_scheduler_stop(asking->scheduler);
    engine_close(asking->engine);
    game_engine_closed(asking->game);
    loops_free(asking->loops);
    live_free(asking->live);
    game_close(asking->game);
    arena_release(&asking->arena);
}

/* A room of the kind with "ann" (its host) and "bob"; the code is in the asking's arena. */
static inline struct bytes live_room(struct live_fixture *asking, const char *kind) {
    struct room *room = ARENA_NEW(&asking->arena, struct room);
    struct room_settings settings = {
        .kind = bytes_str(kind), .listed = true, .host = BYTES("ann"), .host_name = BYTES("Ann")};
    struct change change = {.arena = &asking->arena};
    enum status status =
        room_make(asking->game, &settings, (struct scope){&asking->arena, &asking->failure}, room);
    assert(status == OK);
    struct seat_request bob = {BYTES("bob"), BYTES("Bob"), false};
    status = room_join(room, &bob, &asking->failure);
    assert(status == OK);
    status = room_ready(room, BYTES("bob"), true, &asking->failure);
    assert(status == OK);
    room_save_prepare(room, &change);
    status = game_wait(asking->game, &change);
    assert(status == OK);
    (void)status;
    return room->code;
}

/* --- a client --- */

static inline int live_dial(const struct live_fixture *asking) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)listener_port(asking->listener)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    int failed = connect(fd, (struct sockaddr *)&to, sizeof(to));
    assert(failed == 0);
    (void)failed;
    return fd;
}

static inline void live_put(int fd, struct bytes bytes) {
    while (bytes.size != 0) {
        ssize_t sent = send(fd, bytes.data, bytes.size, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* it was closed: what is read next tells */
        bytes = bytes_skip(bytes, (size_t)sent);
    }
}

/* Reads until the text is there; false when the line ends, or nothing comes for ten seconds. */
static inline bool live_wait(int fd, struct buf *heard, struct bytes text) {
    while (bytes_find(buf_bytes(heard), text) == SIZE_MAX) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        if (poll(&poll_fd, 1, 60000) != 1)
            return false;
        ssize_t got = recv(fd, buf_reserve(heard, 16384), 16384, 0);
        if (got <= 0)
            return false;
        heard->size += (size_t)got;
    }
    return true;
}

static inline void live_put_head(struct buf *to, struct bytes path) {
    buf_printf(to,
               "GET %.*s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n",
               BYTES_ARG(path));
}

/* The line of a player of the room; `player` empty: one who looks on. */
static inline int live_open(struct live_fixture *asking, struct bytes code, const char *player) {
    struct buf head = {0}, path = {0};
    buf_printf(&path, "/v1/rooms/%.*s/live?token=", BYTES_ARG(code));
    if (player[0] != '\0') {
        struct room_token token = {.code = code, .player = bytes_str(player)};
        struct failure failure = {0};
        struct arena arena;
        arena_init(&arena);
        room_seat_joined(asking->game, &token, (struct scope){&arena, &failure}, &token.joined_ms);
        room_token(asking->game, &token, &path);
        arena_release(&arena);
    }
    live_put_head(&head, buf_bytes(&path));
    int fd = live_dial(asking);
    live_put(fd, buf_bytes(&head));
    buf_release(&head);
    buf_release(&path);
    return fd;
}

/* A text message as a client frames it, with a mask of zeros. */
static inline void live_say(int fd, struct bytes text) {
    struct buf frame = {0};
    buf_byte(&frame, 0x81);
    if (text.size < 126)
        buf_byte(&frame, (uint8_t)(0x80 | text.size));
    else {
        buf_byte(&frame, 0x80 | 126);
        buf_byte(&frame, (uint8_t)(text.size >> 8));
        buf_byte(&frame, (uint8_t)text.size);
    }
    buf_append(&frame, "\0\0\0\0", 4);
    buf_put(&frame, text);
    live_put(fd, buf_bytes(&frame));
    buf_release(&frame);
}

#endif

#include "api/live/live_int.h"

#include "api/live/presence.h"
#include "api/live/render.h"
#include "api/rest/route.h"
#include "base/clock.h"
#include "base/mem.h"
#include "game/clocks.h"
#include "game/player.h"

#include <openssl/crypto.h>
#include <stdatomic.h>
#include <strings.h>
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

void live_refuse(struct http_exchange *exchange, int status, const char *text) {
    struct buf body = {0};
    buf_printf(&body, "{\"type\":\"about:blank\",\"status\":%d,\"detail\":\"%s\"}", status, text);
    http_answer(exchange, &(struct http_answer){.status = status,
                                                .content_type = BYTES("application/problem+json"),
                                                .body = buf_bytes(&body)});
    buf_release(&body);
}

/* ---- who may ---- */

static bool key_fits(const struct keyring *ring, struct bytes pair, struct bytes table) {
    size_t colon = pair.size != 0 ? bytes_find(pair, BYTES(":")) : SIZE_MAX;
    if (colon == SIZE_MAX)
        return false;
    const struct access_key *key = keyring_find(ring, bytes_of(pair.data, colon));
    struct bytes secret = bytes_skip(pair, colon + 1);
    return key != NULL && key->secret.size == secret.size &&
           CRYPTO_memcmp(key->secret.data, secret.data, secret.size) == 0 &&
           key->partition_count == 0 && access_key_allows(key, ACCESS_READ, table);
}

bool live_may_look(const struct live *live, const struct http_exchange *exchange,
                   struct arena *arena) {
    const struct live_settings *settings = &live->settings;
    struct bytes header = http_header(exchange, "Authorization"), player;
    struct failure failure;
    if (settings->keys == NULL)
        return true;
    if (header.size > 7 && strncasecmp((const char *)header.data, "Bearer ", 7) == 0)
        header = bytes_skip(header, 7);
    const struct keyring *ring = keys_now(settings->keys);
    struct bytes token = live_query(exchange, "player");
    return key_fits(ring, header, settings->game->table) ||
           key_fits(ring, live_query(exchange, "key"), settings->game->table) ||
           (token.size != 0 && player_token_read(settings->game, token, clock_now_ms(), arena,
                                                 &failure, &player) == OK);
}

/* A page of another origin must not speak for whoever looks at it, unless the settings say so. */
static bool origin_fits(const struct live *live, const struct http_exchange *exchange) {
    struct bytes origin = http_header(exchange, "Origin"), host = http_header(exchange, "Host");
    const char *allowed = live->settings.origins;
    if (origin.size == 0)
        return true; /* not a page */
    size_t scheme = bytes_find(origin, BYTES("://"));
    if (scheme != SIZE_MAX && bytes_equal(bytes_skip(origin, scheme + 3), host))
        return true;
    for (struct bytes rest = allowed != NULL ? bytes_str(allowed) : (struct bytes){0};
         rest.size != 0;) {
        size_t end = bytes_find(rest, BYTES(" "));
        struct bytes one = bytes_of(rest.data, end == SIZE_MAX ? rest.size : end);
        rest = bytes_skip(rest, one.size + (end != SIZE_MAX));
        if (bytes_equal(one, BYTES("*")) || bytes_equal(one, origin))
            return true;
    }
    return false;
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

void live_handle(struct http_exchange *exchange, struct live *live) {
    struct bytes room = room_of(exchange->path), id;
    bool socket = channel_wanted(exchange);
    if (!bytes_equal(exchange->method, BYTES("GET")))
        live_refuse(exchange, 405, "this path takes GET");
    else if (!origin_fits(live, exchange))
        live_refuse(exchange, 403, "pages of this origin may not open a line");
    else if (!route_decode(room.size != 0 ? room : board_of(exchange->path), false,
                           &exchange->arena, &id))
        live_refuse(exchange, 400, "the path is not well encoded");
    else if (room.size == 0)
        board_line_open(live, exchange, id);
    else if (socket)
        room_line_open(live, exchange, id);
    else
        live_refuse(exchange, 426, "this path speaks WebSocket, version 13");
}

/* ---- its life ---- */

/* The clocks have the room at hand: it is rendered from that rather than loaded again. */
static void stepped(void *user, struct bytes code, const struct room *room) {
    struct live *live = user;
    if (room == NULL)
        hub_hint(live->hub, &topic_room, code);
    else if (hub_watched(live->hub, &topic_room, code))
        hub_offer(live->hub, &topic_room, code, render_snapshot(room));
}

static void cleared(void *user) {
    presence_rewrite(user);
}

struct live *live_new(const struct live_settings *settings) {
    struct live *live = mem_zalloc(sizeof(*live));
    live->settings = *settings;
    live->hub = hub_new(settings->game);
    if (settings->clocks != NULL)
        clocks_tell(settings->clocks, &(struct clocks_listener){stepped, cleared, live});
    return live;
}

void live_stop(struct live *live) {
    if (live->settings.clocks != NULL)
        clocks_tell(live->settings.clocks, NULL);
    for (int i = 0; i < STOP_MS; i++) {
        if (atomic_load(&live->lines) == 0 && atomic_load(&live->acts) == 0)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    hub_free(live->hub);
}

void live_free(struct live *live) {
    mem_free(live);
}

void live_figures(struct live *live, struct live_figures *out) {
    uint64_t renderings;
    hub_figures(live->hub, &out->topics, &renderings);
    out->lines = atomic_load(&live->lines);
    out->messages = atomic_load(&live->messages);
    out->lagged = atomic_load(&live->lagged);
}

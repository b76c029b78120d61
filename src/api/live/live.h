/* What happens now, for those who look on: rooms and boards over WebSocket, boards over server-sent
 * events as well. docs/live.md is the protocol.
 *
 *   /v1/rooms/{code}/live?token=...     a room: its state on every change; what its players do
 *   /v1/boards/{id}/live?limit=10       a board's first places on every change
 */
#ifndef GT_API_LIVE_LIVE_H
#define GT_API_LIVE_LIVE_H

#include "api/access_control.h"
#include "api/origin.h"
#include "game/game.h"
#include "net/http.h"

struct room_scheduler;

struct live_settings {
    struct game *game;
    struct background *pool;           /* for what may have to wait; NULL: it is done on the loop */
    const struct keys *keys;           /* NULL: anybody may look on */
    struct console_sessions *sessions; /* of the console; NULL: none */
    struct room_scheduler *scheduler;  /* woken when a match starts; may be NULL */
    struct origin_policy origins;      /* which pages may open a subscription */
};

struct live;
/* Starts watching. Everything in the settings outlives it. */
struct live *live_new(const struct live_settings *settings);
/* After the listener is closed: waits until nothing is under way. Before the engine closes. */
void live_stop(struct live *live);
void live_free(struct live *live);

bool live_takes(struct bytes path);
void live_handle(struct http_exchange *exchange, struct live *live);

/* What a subscription is counted as (api/metrics), and the name of that; empty: there is none. */
enum live_operation { LIVE_ROOM = 1, LIVE_BOARD };
struct bytes live_operation_name(size_t number);

/* Figures for GET /v1/server: subscriptions that are open, messages sent. */
struct live_figures {
    uint64_t subscriptions, topics, messages, lagged;
};
void live_figures(struct live *live, struct live_figures *out);

#endif

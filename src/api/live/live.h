/* What happens now, for those who look on: rooms and boards over WebSocket, boards over server-sent
 * events as well. docs/live.md is the protocol.
 *
 *   /v1/rooms/{code}/live?token=...     a room: its state on every change; what its players do
 *   /v1/boards/{id}/live?limit=10       a board's first places on every change
 */
#ifndef GT_API_LIVE_LIVE_H
#define GT_API_LIVE_LIVE_H

#include "api/keys.h"
#include "game/game.h"
#include "net/http.h"

struct clocks;

struct live_settings {
    struct game *game;
    const struct keys *keys; /* NULL: anybody may look on */
    struct clocks *clocks;   /* woken when a match starts; may be NULL */
    const char *origins;     /* of pages that may open a line, by blanks; NULL: our own; "*": any */
};

struct live;
/* Starts watching. Everything in the settings outlives it. */
struct live *live_new(const struct live_settings *settings);
/* After the listener is closed: waits until nothing is under way. Before the engine closes. */
void live_stop(struct live *live);
void live_free(struct live *live);

bool live_takes(struct bytes path);
void live_handle(struct http_exchange *exchange, struct live *live);

/* For whoever wants to see: lines that are open, messages sent. */
struct live_figures {
    uint64_t lines, topics, messages, lagged;
};
void live_figures(struct live *live, struct live_figures *out);

#endif

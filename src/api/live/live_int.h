/* What the lines of the live face share; private to this folder. */
#ifndef GT_API_LIVE_LIVE_INT_H
#define GT_API_LIVE_LIVE_INT_H

#include "api/live/hub.h"
#include "api/live/live.h"

#include <stdatomic.h>

enum {
    LINE_MESSAGE_MAX = 4096,     /* bytes of what a client says at once */
    LINE_QUEUE_MAX = 256 * 1024, /* bytes that may wait for it */
    LINE_PING_MS = 20 * 1000,
    LINE_ACTS_MAX = 16,    /* things under way for one client */
    LINE_RATE = 20,        /* messages a second, */
    LINE_BURST = 60,       /* and as many at once */
    BOARD_LIMIT = 10,      /* places shown, unless told otherwise, */
    BOARD_LIMIT_MAX = 100, /* and at most */
};

/* Why a line ends: codes of our own. */
enum { LINE_ROOM_CLOSED = 4000, LINE_NOT_SEATED = 4001 };

/* Comings and goings of a loop's lines: when thousands come at once, a few are written at a time,
 * so that memory is not what they all need at once. The loop's own. */
struct presence;
enum { LIVE_LOOPS_MAX = 64, PRESENCE_RUNNING_MAX = 32 };
struct presence_queue {
    unsigned running;
    bool advancing;
    struct presence *first, *last; /* those that wait */
    struct presence *all;
    struct loop *_Atomic loop; /* whose it is; NULL: nobody has come yet */
};

struct live {
    struct live_settings settings;
    struct hub *hub;
    atomic_uint_fast64_t lines, messages, lagged;
    struct presence_queue presences[LIVE_LOOPS_MAX];
    atomic_uint acts; /* things under way, that their client may not wait for any more */
};

/* The value of a parameter of the query, decoded; empty if it is not there. */
struct bytes live_query(const struct http_exchange *exchange, const char *name);
/* Answers with a problem. */
void live_refuse(struct http_exchange *exchange, int status, const char *text);

/* Opens a line; the exchange is over when it returns. */
void room_line_open(struct live *live, struct http_exchange *exchange, struct bytes code);
void board_line_open(struct live *live, struct http_exchange *exchange, struct bytes id);

/* Whether who asks may look on at all: always without keys; else by a key or a player's token. */
bool live_may_look(const struct live *live, const struct http_exchange *exchange,
                   struct arena *arena);

#endif

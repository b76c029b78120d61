/* What the subscriptions of the live front end share; private to this folder. */
#ifndef GT_API_LIVE_LIVE_INT_H
#define GT_API_LIVE_LIVE_INT_H

#include "api/live/live.h"
#include "api/live/live_hub.h"
#include "api/live/room_queue.h"
#include "base/limits.h"

#include <stdatomic.h>

enum {
    LIVE_MESSAGE_MAX = LIMIT_LIVE_MESSAGE, /* bytes of one message from a client */
    LIVE_QUEUE_MAX = LIMIT_LIVE_QUEUE,     /* bytes that may wait to be sent to it */
    LIVE_PING_MS = 5 * 1000,               /* a lost network is found out within three of them */
    LIVE_TXNS_MAX = LIMIT_LIVE_TXNS,       /* commands of one client that are under way */
    LIVE_RATE = 20,                        /* messages a second, */
    LIVE_BURST = 60,                       /* and as many at once */
    BOARD_LIMIT = 10,                      /* places shown, unless told otherwise, */
    BOARD_LIMIT_MAX = LIMIT_LIVE_BOARD,    /* and at most */
};

/* Why a subscription ends: WebSocket close codes of our own. */
enum { CLOSE_ROOM_CLOSED = 4000, CLOSE_NOT_SEATED = 4001, CLOSE_KEY_CHANGED = 4002 };

/* The presences of one loop's subscriptions, and what is done to rooms there. Used on that loop
 * only, but for `loop`. */
struct presence;
enum { LIVE_LOOPS_MAX = LIMIT_LOOPS };
struct live_loop {
    struct room_queue rooms;
    struct presence *presences;
    struct loop *_Atomic loop; /* which loop; NULL: it has had no player yet */
};

struct live {
    struct live_settings settings;
    struct hub *hub;
    atomic_uint_fast64_t subscriptions, messages, lagged;
    struct live_loop loops[LIVE_LOOPS_MAX];
    atomic_uint txns; /* writes under way; live_stop() waits for them */
};

/* What belongs to the loop whose thread this is. */
struct live_loop *live_loop_here(struct live *live);

/* The value of a parameter of the query, decoded; empty if it is not there. */
struct bytes live_query(const struct http_exchange *exchange, const char *name);
/* Answers with a problem. */
void live_refuse(struct http_exchange *exchange, int status, const char *text);

/* Ends a subscription whose key has been revoked or has other rights now. `key` NULL: it came by a
 * token, or without anything. On its loop. */
void live_review(const struct live *live, struct channel *channel, const struct access_key *key);

/* A subscription on its way, in the exchange's arena. It is prepared where the engine may be asked,
 * and opened on the exchange's loop. */
struct live_opening {
    struct live *live;
    struct http_exchange *exchange;
    struct bytes id; /* the room's code, or the board */
    bool is_room;
    /* filled in by prepare */
    const struct access_key *key; /* that it was opened by; NULL: none */
    struct topic *held;           /* NULL: there is nothing to see */
    struct bytes name;            /* a board's topic */
    struct bytes player;          /* whose seat in the room; empty: looks on */
    uint64_t version;             /* of the room that the player must see at least */
};
/* Does all reading from the engine. False: it was refused, and answered; or, with *later, it would
 * have to wait, and is to be called again on a thread that may. */
bool room_subscription_prepare(struct live_opening *opening, bool *later);
bool board_subscription_prepare(struct live_opening *opening, bool *later);
/* On the exchange's loop. The exchange is over when it returns. */
void room_subscription_open(const struct live_opening *opening);
void board_subscription_open(const struct live_opening *opening);

/* Who asks for a subscription, and to what. */
struct live_request {
    const struct topic_kind *kind;
    struct bytes room; /* a room's code: its seats' tokens are taken; empty: a board */
    struct caller
        caller; /* filled in: who asks. With a seat's token its player is who sits there */
};
/* Whether the subscription may be opened: by what the kind touches, or by a seat's token. False
 * after having answered that it may not. */
bool live_authorize(struct live *live, struct http_exchange *exchange,
                    struct live_request *request);

#endif

/* One request on its way through a handler, and what every handler does with it.
 *
 * A handler is a function `enum status run(struct rest_call *)`. It reads the path's, the query's
 * and the body's values, which have been checked against its route, asks the game, writes JSON into
 * call->reply and returns OK; or it returns a failure that is in call->failure. What changes
 * something comes back later:
 *
 *     return rest_then(call, &change, next);      a change of the engine
 *     return rest_background(call, work, next);   a call that blocks, on a thread of its own
 *
 * and `next`, again such a function, runs on the exchange's loop when that is done. What must be
 * given back in any case goes into call->release, which runs before the answer is written.
 */
#ifndef GT_API_REST_CALL_H
#define GT_API_REST_CALL_H

#include "api/rest/form.h"
#include "api/rest/rest.h"
#include "game/board.h"

#include <stdatomic.h>

struct route;

enum { PATH_ARGUMENTS_MAX = 2, QUERY_MAX = 12 };

struct rest_who {
    const struct access_key *key; /* NULL: nobody is asked, or a player by token */
    bool client;                  /* may do only what a player may */
    struct bytes player;          /* whose token came along; empty: none */
};

struct rest_call {
    struct http_exchange *exchange;
    struct rest *rest;
    struct game *game;
    const struct route *route;
    struct arena *arena; /* the exchange's: lives until the answer */
    struct buf *reply;
    struct rest_who who;

    struct bytes path[PATH_ARGUMENTS_MAX]; /* decoded, in the order of the path */
    struct bytes query[QUERY_MAX];         /* in the order of the route's; data NULL: not given */
    struct json body;
    bool texts; /* exact numbers are told as strings */

    struct failure failure;
    struct bytes member;       /* which field it is about, or empty */
    int status;                /* of the answer; 0: the route's */
    struct buf lines;          /* more headers of the answer */
    struct bytes content_type; /* empty: JSON */

    enum status (*then)(struct rest_call *call);
    struct change *change;
    void (*begin)(struct rest_call *call);
    void (*work)(struct rest_call *call);
    void (*release)(struct rest_call *call);
    enum status worked;        /* what the background work came to */
    const struct board *board; /* given back before the answer */
    void *state;               /* the handler's own */
};

struct rest {
    struct rest_settings settings;
    int64_t started_us;
    uint64_t nonce; /* tells this start's ETags from those of others */
    atomic_bool stopping;
    struct buf openapi;
};

/* --- faults --- */

/* INVALID about that field (NULL: none in particular). */
enum status rest_invalid(struct rest_call *call, const char *member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum status rest_fail(struct rest_call *call, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- going on later --- */

enum status rest_then(struct rest_call *call, struct change *change,
                      enum status (*next)(struct rest_call *call));
enum status rest_background(struct rest_call *call, void (*work)(struct rest_call *call),
                            enum status (*next)(struct rest_call *call));
/* Has `begin` called in place of submitting one change: it sees to it that rest_wake() is called
 * once, from any thread. */
enum status rest_after(struct rest_call *call, void (*begin)(struct rest_call *call),
                       enum status (*next)(struct rest_call *call));
void rest_wake(struct rest_call *call);
/* A change in the call's arena that has the request's Idempotency-Key as its token. */
struct change *rest_change(struct rest_call *call);
/* How it went. */
enum status rest_changed(struct rest_call *call);

/* --- what came with the request --- */

/* The parameter of the query, or empty (data NULL). */
struct bytes rest_query(const struct rest_call *call, const char *name);
int64_t rest_query_count(const struct rest_call *call, const char *name, int64_t otherwise);
/* The encoded number; empty if it is not given. */
struct bytes rest_query_number(struct rest_call *call, const char *name);
/* The header's key; empty if there is none. */
enum status rest_idempotency(struct rest_call *call, struct bytes *out);

/* The board of the path's first argument and of ?scope= and ?period=. It is given back with the
 * call. NOT_FOUND if there is none. */
enum status rest_board(struct rest_call *call);
/* Whether the board can be written now; if not, the answer is 409. */
enum status rest_open(struct rest_call *call);
/* Has the answer carry an ETag for the board as it is. True if the client has that already, and
 * the answer is 304. */
bool rest_unchanged(struct rest_call *call);

/* Whether what is asked may be done to the player: DENIED for a client that is not that player. */
enum status rest_own(struct rest_call *call, struct bytes player);

/* --- in face.c --- */
void rest_start(struct rest_call *call); /* runs the route's handler to its answer */

#endif

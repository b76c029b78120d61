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
#ifndef GT_API_REST_REST_CALL_H
#define GT_API_REST_REST_CALL_H

#include "api/access_control.h"
#include "api/change_submit.h"
#include "api/guest_rate.h"
#include "api/rest/rest.h"
#include "api/rest/rest_form.h"
#include "game/board/board.h"

#include <stdatomic.h>

struct route;

enum { PATH_ARGUMENTS_MAX = 2, QUERY_MAX = 12 };

struct rest_call {
    struct http_exchange *exchange;
    struct rest *rest;
    struct game *game; /* NULL until the caller has been allowed in: rest_authorize() */
    const struct route *route;
    struct arena *arena; /* the exchange's: lives until the answer */
    struct buf *reply;
    struct caller caller; /* who asks */

    struct bytes path[PATH_ARGUMENTS_MAX]; /* decoded, in the order of the path */
    struct bytes query[QUERY_MAX];         /* in the order of the route's; data NULL: not given */
    struct json body;
    bool texts; /* exact numbers are told as strings */

    struct failure failure;
    struct bytes member;       /* which field it is about, or empty */
    int status;                /* of the answer; 0: the route's */
    struct buf headers;        /* more headers of the answer */
    struct bytes content_type; /* empty: JSON */

    enum status (*step)(struct rest_call *call); /* that runs now: the route's, or a `then` */
    size_t said;                                 /* bytes of the reply before it */
    enum status (*then)(struct rest_call *call);
    struct change *change;
    struct change_submit written; /* comes back to the call */
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
    struct guest_rate guests;
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
/* Has `begin` called in place of submitting one change: it submits several through call->written
 * (change_submit_begin() and so on), or sees to it that rest_resume() is called once. */
enum status rest_after(struct rest_call *call, void (*begin)(struct rest_call *call),
                       enum status (*next)(struct rest_call *call));
/* Has `next` run, on the thread where the call runs. */
void rest_resume(struct rest_call *call);
/* A change in the call's arena that has the request's Idempotency-Key as its token. */
struct change *rest_change(struct rest_call *call);
/* The outcome of the change: its failure becomes the call's. */
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
/* Whether who asks may make boards: clients and players may not. */
bool rest_makes_boards(const struct rest_call *call);
/* rest_board() for a write: a plain board that is not there is made by it, unless the caller is a
 * client or a player, who make no boards. */
enum status rest_board_to_write(struct rest_call *call);
/* Whether the board can be written now; if not, the answer is 409. */
enum status rest_open(struct rest_call *call);
/* Has the answer carry an ETag for the board as it is. True if the client has that already, and
 * the answer is 304. */
bool rest_unchanged(struct rest_call *call);

/* Whether what is asked may be done to the player: DENIED for a client that is not that player.
 * The player that the path, the query or the body names has been asked about before the handler
 * runs; this is for those that are named deeper, as in a list. */
enum status rest_own(struct rest_call *call, struct bytes player);

/* --- in rest_frontend.c --- */
void rest_start(struct rest_call *call); /* runs the route's handler to its answer */

/* --- who asks, and whether they may: rest_auth.c --- */

/* Before anything but the path is read: fills in call->caller and, if what the route touches is
 * theirs to touch, call->game. DENIED with a sentence; call->status is 401 if who asks would have
 * to say who they are. */
enum status rest_authorize(struct rest_call *call);
/* After query and body were read: whether the player that they name is one the caller may act for.
 */
enum status rest_authorize_player(struct rest_call *call);

/* --- answers: rest_answer.c --- */

/* The status that is set, or the route's, with call->reply. */
void rest_answer(struct rest_call *call);
/* Answers with the problem that call->failure is, or with the one of an HTTP status. */
void rest_answer_failure(struct rest_call *call);
void rest_answer_problem(struct rest_call *call, int status, struct bytes detail);
/* Appends the problem's object. */
void rest_put_problem(struct buf *to, int status, struct bytes detail, struct bytes member);
/* The HTTP status for a status of ours. */
int rest_status_of(enum status status);

#endif

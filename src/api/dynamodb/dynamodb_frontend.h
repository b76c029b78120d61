/* The DynamoDB JSON front end: HTTP exchanges in, table operations, JSON out.
 *
 * One front end serves all loops; it holds no state that changes. With keys, a request must be
 * signed by one of them and does what that one may do. Without, any signature is taken, but a
 * request must carry one, as DynamoDB requires.
 */
#ifndef GT_API_DYNAMODB_DYNAMODB_FRONTEND_H
#define GT_API_DYNAMODB_DYNAMODB_FRONTEND_H

#include "api/access_keys.h"
#include "api/transfer/transfer.h"
#include "net/http.h"

/* The words of faults: those that all regions of the service use, or those that came to some of
 * them in 2026. */
enum error_texts { ERROR_TEXTS_COMMON, ERROR_TEXTS_NEWEST };

struct test_faults;

/* A request on its way to the endpoint behind the engine, and what came back, in the arena of the
 * call. */
struct dynamodb_forwarded {
    const char *target; /* "DynamoDB_20120810.Query" */
    struct bytes body;
    int status; /* filled in */
    struct bytes answer;
};
/* Where requests about other tables than the game's go, if the engine keeps its tables at an
 * endpoint of the same protocol (ddb_forward.h). */
struct dynamodb_forward {
    struct bytes game_table;
    /* OK with any answer. Waits; on threads that may. */
    enum status (*send)(void *context, struct dynamodb_forwarded *request, struct scope in);
    void *context;
};

struct dynamodb_settings {
    const struct dynamodb_forward *forward; /* NULL: all tables are the engine's */
    const char *region;  /* of the ARNs told; NULL: from each request's credentials */
    const char *account; /* 12 digits; NULL: "000000000000" */
    bool strict_paging;  /* page plain counts at 1 MB, as DynamoDB does */
    enum error_texts error_texts;
    struct test_faults *faults;        /* that tests order; NULL: none. Outlives the front end. */
    const struct keys *keys;           /* who may come in; NULL: anybody. Outlives the front end. */
    struct console_sessions *sessions; /* of the console; NULL: none. Outlives the front end. */
    /* Its jobs: backups, restores, exports, imports; NULL: there are none. Outlives the front end.
     */
    struct transfer *transfer;
    /* Runs requests that the engine may block on, or that take long; NULL: they run on their loop.
     * Outlives the front end. */
    struct background *pool;
    /* What answers go through; NULL: http_answer(). Tests catch answers here. */
    void (*answer)(struct http_exchange *exchange, const struct http_answer *answer);
};

struct dynamodb_frontend;

/* The engine must outlive the front end; settings' strings too. */
struct dynamodb_frontend *dynamodb_frontend_new(struct engine *engine,
                                                const struct dynamodb_settings *settings);
void dynamodb_frontend_free(struct dynamodb_frontend *frontend);

/* An http_handler for POST /. `front end` is a struct dynamodb_frontend. */
void dynamodb_handle(struct http_exchange *exchange, void *frontend);
/* An http_admit for the same. */
enum http_admission dynamodb_admit(struct http_exchange *exchange, void *frontend);

#endif

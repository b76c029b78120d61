/* Gives each HTTP exchange to the front end that answers it: GET /healthz is answered here, POST /
 * goes to DynamoDB, /v1 to REST and to live subscriptions, /admin to what tests ask of the server
 * itself. */
#ifndef GT_API_ROUTER_H
#define GT_API_ROUTER_H

#include "api/dynamodb/dynamodb_frontend.h"
#include "api/live/live.h"
#include "api/metrics/monitor.h"
#include "api/rest/rest.h"
#include "game/housekeeping.h"

struct router;

struct router_settings {
    struct dynamodb_settings dynamodb;
    /* Runs requests that the engine may block on; NULL: they run on their loop. The router borrows
     * it. */
    struct background *pool;
    struct game *game; /* NULL: no boards */
    struct housekeeping *housekeeping;
    struct room_scheduler *scheduler; /* of the rooms; NULL: none run */
    const char *version;              /* of the program */
    int redis_port;                   /* 0: off, or not known */
    const char *origins;              /* of pages that may ask, besides our own; see origin.h */
    bool trust_network;               /* the server has names that it does not know */
    bool test_clock;                  /* tests may move the clock */
    bool encrypted;                   /* clients come by TLS */
    struct bytes in_force;            /* the settings as a JSON list, for /v1/settings */
    struct key_file *key_file;        /* NULL: keys are not changed by requests */
    struct monitor *monitor;          /* counts, and answers /metrics; NULL: nobody does */
};

/* The engine must outlive the router. */
struct router *router_new(struct engine *engine, const struct router_settings *settings);
/* Before the engine is closed: what still comes back from it is not looked into. */
void router_stop(struct router *router);
void router_free(struct router *router);

/* An http_handler; `router` is a struct router. */
void router_handle(struct http_exchange *exchange, void *router);
/* An http_admit: with keys a body is taken only from whom its head shows to be admitted, so that
 * strangers cannot fill the memory. */
enum http_admission router_admit(struct http_exchange *exchange, void *router);
/* An http_answered: counts every answer. */
bool router_answered(struct http_exchange *exchange, const struct http_answer *answer,
                     void *router);
/* Its live subscriptions, for their figures; NULL: there are none. */
struct live *router_live(const struct router *router);

#endif

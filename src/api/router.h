/* Who takes an exchange: health for anybody, the DynamoDB face for POST /, REST and live
 * lines for /v1, what tests ask of the server itself under /admin. */
#ifndef GT_API_ROUTER_H
#define GT_API_ROUTER_H

#include "api/dynamodb/face.h"
#include "api/live/live.h"
#include "api/rest/rest.h"
#include "game/keeper.h"

struct router;

struct router_settings {
    struct dynamodb_settings dynamodb;
    struct game *game; /* NULL: no boards */
    struct keeper *keeper;
    struct clocks *clocks; /* of the rooms; NULL: none run */
    const char *version;   /* of the program */
    int redis_port;        /* 0: off, or not known */
    const char *origins;   /* of pages that may open live lines; see live.h */
    bool test_clock;       /* tests may move the clock */
};

/* The engine must outlive the router. */
struct router *router_new(struct engine *engine, const struct router_settings *settings);
/* Before the engine is closed: what still comes back from it is not looked into. */
void router_stop(struct router *router);
void router_free(struct router *router);

/* An http_handler; `router` is a struct router. */
void router_handle(struct http_exchange *exchange, void *router);

#endif

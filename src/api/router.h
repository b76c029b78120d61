/* Who takes an exchange: health for anybody, the DynamoDB face for POST /, what tests ask of the
 * server itself under /admin. */
#ifndef GT_API_ROUTER_H
#define GT_API_ROUTER_H

#include "api/dynamodb/face.h"

struct router;

struct router_settings {
    struct dynamodb_settings dynamodb;
    bool test_clock; /* tests may move the clock */
};

/* The engine must outlive the router. */
struct router *router_new(struct engine *engine, const struct router_settings *settings);
void router_free(struct router *router);

/* An http_handler; `router` is a struct router. */
void router_handle(struct http_exchange *exchange, void *router);

#endif

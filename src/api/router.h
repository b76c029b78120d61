/* Who takes an exchange: health for anybody, the DynamoDB face for POST /. */
#ifndef GT_API_ROUTER_H
#define GT_API_ROUTER_H

#include "api/dynamodb/face.h"

struct router;

/* The engine must outlive the router. */
struct router *router_new(struct engine *engine, const struct dynamodb_settings *settings);
void router_free(struct router *router);

/* An http_handler; `router` is a struct router. */
void router_handle(struct http_exchange *exchange, void *router);

#endif

/* Who answers which path: the one handler of the HTTP listener. */
#ifndef GT_API_ROUTER_H
#define GT_API_ROUTER_H

#include "api/dynamodb/face.h"
#include "net/http.h"

/* The faces there are. All borrowed; they and the router outlive the listener. */
struct router {
    struct dynamodb_face *dynamodb; /* POST / */
};

/* An http_handler; `router` is a struct router. */
void router_handle(struct http_exchange *exchange, void *router);

#endif

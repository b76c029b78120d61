/* What there is under /v1: the one table that requests are routed and checked by, and that the
 * OpenAPI document is written from. */
#ifndef GT_API_REST_ROUTE_H
#define GT_API_REST_ROUTE_H

#include "api/rest/call.h"

/* Who may. Each is for those before it, too. */
enum rest_may {
    MAY_SERVER, /* keys of servers only */
    MAY_PLAYER, /* and a player, about itself */
    MAY_CLIENT, /* and any client */
    MAY_ALL,    /* and whoever has no key */
};

enum route_flags {
    ROUTE_WRITES = 1,     /* needs `write`, not `read` */
    ROUTE_IDEMPOTENT = 2, /* takes Idempotency-Key */
    ROUTE_TAGGED = 4,     /* has an ETag */
    ROUTE_CSV = 8,        /* its body is text/csv or application/x-ndjson */
    ROUTE_SCORES = 16,    /* takes ?numbers= */
    ROUTE_OPTIONAL = 32,  /* its body may be left out */
};

struct route {
    const char *method;
    const char *path; /* below /v1: "/boards/{board}/entries" */
    const char *id;   /* its name in the document */
    const char *about;
    enum status (*run)(struct rest_call *call);
    enum rest_may may;
    unsigned flags;
    int status;                     /* when all went well; 200 if 0 */
    const struct form_field *query; /* ends with one that has no name; NULL: none */
    const struct form *body;        /* NULL: none */
    const struct form *answer;      /* NULL: none */
};

extern const struct route rest_routes[];
extern const size_t rest_route_count;

enum route_found { ROUTE_FOUND, ROUTE_NONE, ROUTE_OTHER_METHOD };
/* Finds the route of a method and path (with its /v1), decoding the path's arguments into the
 * arena. ROUTE_OTHER_METHOD: the path is there for others, which `allow` then lists. INVALID
 * encodings are found nowhere. */
enum route_found route_find(struct bytes method, struct bytes path, struct arena *arena,
                            const struct route **out, struct bytes arguments[PATH_ARGUMENTS_MAX],
                            struct buf *allow);
/* Reads the query into values in the order of route->query. INVALID, with the parameter's name. */
enum status route_query(const struct route *route, struct bytes query, struct arena *arena,
                        struct failure *failure, struct bytes *member,
                        struct bytes values[QUERY_MAX]);
/* "%2F" and the like; with `plus` a '+' is a blank. False if a '%' is not followed by two digits.
 */
bool route_decode(struct bytes text, bool plus, struct arena *arena, struct bytes *out);

/* The parameters of paths, for the document. */
extern const struct form_field route_arguments[];
extern const struct form_field route_numbers; /* ?numbers= */

#endif

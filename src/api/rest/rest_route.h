/* What there is under /v1: the one table that requests are routed and checked by, and that the
 * OpenAPI document is written from. */
#ifndef GT_API_REST_REST_ROUTE_H
#define GT_API_REST_REST_ROUTE_H

#include "api/rest/rest_call.h"

enum route_flags {
    ROUTE_WRITES = 1,     /* needs `write`, not `read` */
    ROUTE_IDEMPOTENT = 2, /* takes Idempotency-Key */
    ROUTE_TAGGED = 4,     /* has an ETag */
    ROUTE_CSV = 8,        /* its body is text/csv or application/x-ndjson */
    ROUTE_SCORES = 16,    /* takes ?numbers= */
    ROUTE_OPTIONAL = 32,  /* its body may be left out */
    ROUTE_GRANTS = 64,    /* gives away a right to read and write: needs both */
    ROUTE_MAKES = 128,    /* answers 201 if what it names was not there, else its status */
    ROUTE_ADMIN = 256,    /* for operators: needs `admin` on all tables */
    ROUTE_ROUTINE = 512,  /* what a game's servers do all day: in the audit log only if the console
                             did it */
};

struct route {
    const char *method;
    const char *path; /* below /v1: "/boards/{board}/entries" */
    const char *id;   /* its name in the document */
    const char *about;
    enum status (*run)(struct rest_call *call);
    /* Who may follows from it (api/access_control.h): TABLE is for servers, PLAYER also for the
     * player that the path, the body or the query names, GAME for all who play, NOTHING for
     * everybody. */
    enum touches touches;
    unsigned flags;
    int status;                     /* when all went well; 200 if 0 */
    const struct form_field *query; /* ends with one that has no name; NULL: none */
    const struct form *body;        /* NULL: none */
    const struct form *answer;      /* NULL: none */
};

extern const struct route rest_routes[];
extern const size_t rest_route_count;
/* The id of a route by its number from 1 on; empty if there is none. For api/metrics. */
struct bytes route_name(size_t number);

enum route_found { ROUTE_FOUND, ROUTE_NONE, ROUTE_OTHER_METHOD };
struct route_match {
    const struct route *route;
    struct bytes arguments[PATH_ARGUMENTS_MAX]; /* of the path, decoded */
    struct bytes allow;                         /* ROUTE_OTHER_METHOD: "GET, HEAD, PUT" */
};
/* Finds the route of a method and path (with its /v1), decoding the path's arguments into the
 * arena. ROUTE_OTHER_METHOD: the path takes only the methods in out->allow. A path that is not
 * percent-encoded is found nowhere. */
enum route_found route_find(struct bytes method, struct bytes path, struct arena *arena,
                            struct route_match *out);
struct route_parameters {
    struct bytes values[QUERY_MAX]; /* in the order of route->query; data is NULL if not given */
    struct bytes wrong;             /* the name of the parameter that was refused */
};
/* Reads the query. INVALID, with out->wrong. */
enum status route_query(const struct route *route, struct bytes query, struct scope in,
                        struct route_parameters *out);
/* "%2F" and the like; with `plus` a '+' is a blank. False if a '%' is not followed by two digits.
 */
bool route_decode(struct bytes text, bool plus, struct arena *arena, struct bytes *out);

/* The parameters of paths, for the document. */
extern const struct form_field route_arguments[];
extern const struct form_field route_numbers; /* ?numbers= */

#endif

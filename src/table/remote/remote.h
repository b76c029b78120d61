/* The remote engine: the table interface over an endpoint that speaks DynamoDB's JSON protocol,
 * with the index `ranks` of the game table kept in Redis or Valkey. A process with it has no state
 * of its own: as many as wanted serve the same table.
 */
#ifndef GT_TABLE_REMOTE_REMOTE_H
#define GT_TABLE_REMOTE_REMOTE_H

#include "base/status.h"
#include "value/value.h"

struct engine;

/* Where the ranking is. */
struct remote_redis_settings {
    const char *address;  /* HOST:PORT, or several separated by commas (seeds of a cluster), or
                             sentinel:NAME@HOST:PORT,... */
    const char *user;     /* ACL user; "" or NULL: the default one */
    const char *password; /* "" or NULL: none */
    bool tls;
    const char *ca; /* PEM file of authorities to trust instead of the system's; "" or NULL: none */
};

/* Strings are borrowed while the engine is open. */
struct remote_settings {
    const char *endpoint; /* "https://..." ; "" or NULL: Amazon's, of the region */
    const char *region;   /* "" or NULL: as the environment says */
    const char *ca;       /* PEM file of authorities to trust instead of the system's; "": none */
    const char *key;      /* "ID:SECRET"; NULL: looked for as AWS's SDKs do (credentials.h) */
    const char *table;    /* the game table: its items carry versions, its `ranks` is in Redis */
    bool without_ranking; /* `redis` is not connected to: for who only copies the table */
    struct remote_redis_settings redis;
};

/* Finds credentials, asks the endpoint whether it knows them and has transactions, and connects to
 * Redis. Blocks. Close with engine_close(). INVALID, DENIED or IO_FAILED with a sentence that says
 * what to do. */
enum status remote_open(const struct remote_settings *settings, struct scope in,
                        struct engine **out);
/* Passes a request of a client on to the endpoint, signed with this server's credentials; what it
 * may do was decided before. Waits. OK with any answer, which is in the arena; else as
 * transport_send(). */
struct remote_forward {
    const char *target; /* "DynamoDB_20120810.Query" */
    struct bytes body;
    int status; /* filled in */
    struct bytes answer;
};
enum status remote_forward(struct engine *engine, struct remote_forward *request, struct scope in);

/* What is written to the game table, from a moment on, in the order of each item's changes. For one
 * thread. */
struct remote_follower;
struct remote_followed_change {
    struct item key;
    struct item item; /* count 0: it was removed */
};
struct remote_followed {
    struct remote_followed_change *changes; /* in the arena */
    size_t count;
    bool caught_up; /* at that moment there was nothing more */
};
struct remote_follower *remote_follower_new(struct engine *engine, int64_t since_ms);
void remote_follower_free(struct remote_follower *follower);
/* What came since the reading before; at first everything that the stream still has since that
 * moment, page by page. After a failure the same is read again. NOT_FOUND: it is over a day behind;
 * NO_RESOURCE: the table has no stream. */
enum status remote_follower_read(struct remote_follower *follower, struct scope in,
                                 struct remote_followed *out);

/* Called once, when the game has opened its table: starts what keeps the ranking right. */
void remote_start(struct engine *engine);

#endif

/* The Redis front end: the game's boards as sorted sets, for any client that speaks RESP.
 *
 * Give redis_handler and the front end to stream_listen(). The game must outlive the front end, and
 * the front end its listener. */
#ifndef GT_API_REDIS_REDIS_FRONTEND_H
#define GT_API_REDIS_REDIS_FRONTEND_H

#include "api/access_keys.h"
#include "api/background.h"
#include "api/metrics/request_log.h"
#include "base/durations.h"
#include "game/game.h"
#include "net/stream.h"

struct redis_settings {
    struct keys *keys; /* access keys; NULL: no authentication */
    unsigned loops;    /* number of event loops that serve it */
    /* The pool that commands run on if the engine may block; NULL: they run on their loop. It must
     * outlive the front end. */
    struct background *pool;
    /* What CONFIG GET appendfsync answers: "always", "everysec", "no". NULL: nothing is stored. */
    const char *sync;
    struct request_log *requests; /* keeps slow ones; NULL: nobody does. Outlives it, too. */
    struct metrics *metrics;      /* counts refusals; NULL: nobody does. Outlives the front end. */
};

struct redis_frontend;
struct redis_frontend *redis_frontend_new(struct game *game, const struct redis_settings *settings);
/* Ends its threads. Call it after its listener was closed and before the engine is: nothing is
 * submitted afterwards. */
void redis_frontend_stop(struct redis_frontend *frontend);
/* Call it after the loops have ended. */
void redis_frontend_free(struct redis_frontend *frontend);
/* The port that it listens on, for INFO. Any thread. */
void redis_frontend_listens(struct redis_frontend *frontend, int port);

/* Counts since the start, whatever CONFIG RESETSTAT says; clients and those that are blocked are
 * now's. Any thread. */
struct redis_figures {
    uint64_t clients, blocked, commands;
};
void redis_frontend_figures(struct redis_frontend *frontend, struct redis_figures *out);
/* What is counted of a command that was called; everything is good until `each` returns. Commands
 * that EXEC ran are among the calls, and not in the latencies. */
struct redis_command_figures {
    struct bytes name; /* "zadd", "client|list" */
    uint64_t calls, failed, rejected;
    const struct durations_sums *latency; /* from when its bytes were there to when its reply was */
};
typedef void redis_each_command(const struct redis_command_figures *figures, void *user);
/* Any thread. */
void redis_frontend_commands(struct redis_frontend *frontend, redis_each_command *each, void *user);

/* What is told of a client to operators; good until `each` returns. */
struct redis_client_figures {
    uint64_t id;
    const char *address;
    struct bytes name, who, library; /* who: the id of its key */
    const char *last;                /* its last command, or NULL */
    int64_t age_ms, idle_ms;
};
typedef void redis_each_client(const struct redis_client_figures *client, void *user);
/* All clients, the newest first. `each` must not block: their list is locked. Any thread. */
void redis_frontend_clients(struct redis_frontend *frontend, redis_each_client *each, void *user);

extern const struct stream_handler redis_handler;
/* The reply to a connection beyond the limit of clients. */
struct bytes redis_full(void);

#endif

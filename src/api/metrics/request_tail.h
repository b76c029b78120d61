/* The live tail: GET /v1/tail, an event stream (server-sent events) of the requests of all front
 * ends. Each event is {"dropped":0,"requests":[...]} with what was answered since the last one,
 * four times a second. At most LIMIT_TAIL_WATCHERS look on; while none does, no request is kept.
 *
 * It takes a key that may administer all tables, as REST's routes for operators do.
 */
#ifndef GT_API_METRICS_REQUEST_TAIL_H
#define GT_API_METRICS_REQUEST_TAIL_H

#include "net/http.h"

struct access_key;
struct monitor;
struct request_tail;

struct request_tail *request_tail_new(struct monitor *monitor);
/* After the loops have ended. */
void request_tail_free(struct request_tail *tail);
/* Turns the exchange into an event stream; `key` is whose it is, or NULL. False, and nothing
 * happens, if too many look on already. On the exchange's loop. */
bool request_tail_open(struct request_tail *tail, struct http_exchange *exchange,
                       const struct access_key *key);
/* Sends what was answered since the last call to all who look on. By the monitor's thread. */
void request_tail_send(struct request_tail *tail);

#endif

/* HTTP/1.1 over the loops: a listener turns bytes into exchanges, a handler answers them.
 *
 * One exchange a connection at a time: requests that a client pipelines wait in order. The
 * handler is called on the connection's loop when the whole request has arrived; it answers now
 * or later with http_answer(), on the same loop. An exchange stays good until it is answered,
 * even if its client has gone (the answer is then dropped).
 */
#ifndef GT_NET_HTTP_H
#define GT_NET_HTTP_H

#include "base/arena.h"
#include "base/buf.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/tls.h"

struct http_header {
    struct bytes name; /* as sent; compare without case */
    struct bytes value;
};

struct http_exchange {
    /* the request; bytes are good until http_answer() */
    struct bytes method; /* "POST" */
    struct bytes path;   /* "/v1/x", without the query */
    struct bytes query;  /* what follows '?', or empty */
    struct http_header *headers;
    size_t header_count;
    struct bytes body; /* as sent: still compressed if Content-Encoding says so */
    bool overload;     /* too many wait for their answer: refuse it at once */

    struct arena arena; /* for the handler; reset after the answer is written */
    struct buf reply;   /* for the handler to build its body in; kept for reuse, starts empty */
    struct loop *loop;
    struct task task; /* for the handler, to come back to this loop with */
    void *user;       /* for the handler */
};

struct http_answer {
    int status;
    struct bytes content_type; /* empty: no Content-Type header */
    /* whole header lines, each ending in CRLF; Content-Length, Date and Connection are added */
    struct bytes headers;
    struct bytes body; /* borrowed until the call returns; may be exchange->reply's bytes */
    bool close;        /* end the connection after it */
};

/* Answers the exchange and lets go of it. On its loop's thread, once. */
void http_answer(struct http_exchange *exchange, const struct http_answer *answer);

/* The value of a header, found without case; empty if absent. */
struct bytes http_header(const struct http_exchange *exchange, const char *name);

typedef void http_handler(struct http_exchange *exchange, void *context);

struct http_settings {
    const char *host; /* numeric or a name; "127.0.0.1" */
    struct tls *tls;  /* encrypts; NULL: plain. Outlives the listener. */
    int port;         /* 0 picks a free one; see listener_port() */
    http_handler *handler;
    void *context;
    size_t body_max;          /* 0: LIMIT_BODY_SIZE; over it 413 */
    size_t header_max;        /* 0: LIMIT_HEADER_SIZE; over it 431 */
    unsigned connections_max; /* 0: LIMIT_CONNECTIONS; over it 503 and close */
    unsigned in_flight_max;   /* 0: LIMIT_IN_FLIGHT; requests whose handler answers later; over it
                                 exchanges come with `overload` set */
    int idle_ms;              /* 0: LIMIT_IDLE_MS; between requests */
    int request_ms; /* 0: LIMIT_REQUEST_MS; from a request's first byte to its last: 408 */
};

/* Listens; a connection is given to the loop that has the fewest. The text of a failure says what
 * to do. */
enum status http_listen(struct loops *loops, const struct http_settings *settings,
                        struct arena *arena, struct failure *failure, struct listener **out);

#endif

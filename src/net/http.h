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

/* What a handler says about an exchange to `answered` of http_settings; net/ looks at none of it.
 * Zero: nothing. */
struct http_note {
    unsigned front, operation; /* the handler's own numbers */
    const char *reason;        /* why it was refused, as one word; NULL: it was not */
    struct bytes subject;      /* what it was about, such as a table; lives until the answer */
    struct bytes who;          /* who asked; likewise */
    bool audited;              /* an operator's doing, which is to be remembered */
    double read, write;        /* capacity that it consumed, in units */
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
    bool withheld;     /* its body was not taken (HTTP_WITHOUT_BODY): it is to be refused */
    bool encrypted;    /* it came over TLS */

    struct arena arena; /* for the handler; reset after the answer is written */
    struct buf reply;   /* for the handler to build its body in; kept for reuse, starts empty */
    struct loop *loop;
    struct task task; /* for the handler, to come back to this loop with */
    void *user;       /* for the handler */
    struct http_note note;
    int64_t begun_us; /* when the handler was called, by clock_ticks_us() */
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
/* Called on the exchange's loop with every answer to it, just before it is sent, also if the client
 * has gone. An exchange that became a channel is answered with status 101 or 200, and no body. Must
 * not block. True: the answer is kept back until http_release(); not for a channel's. */
typedef bool http_answered(struct http_exchange *exchange, const struct http_answer *answer,
                           void *context);
/* Sends an answer that was kept back, and lets go of the exchange. On its loop's thread, once. */
void http_release(struct http_exchange *exchange);

/* What is to become of a body that is still to come, judged by its request's head. */
enum http_admission {
    HTTP_TAKE_BODY, /* it is taken */
    /* It is taken, but only the whole request will tell who sends it: such bodies have a smaller
     * bound for all of them together. */
    HTTP_TAKE_UNPROVED,
    /* It is not taken. The handler gets the exchange now, without its body, to say why; then the
     * connection ends. */
    HTTP_WITHOUT_BODY,
};
/* On the connection's loop, once a request, and only if not all of it came with its head. The
 * exchange has no body yet; what is put in its arena is gone when this returns. */
typedef enum http_admission http_admit(struct http_exchange *exchange, void *context);

struct http_settings {
    const char *host; /* numeric or a name; "127.0.0.1" */
    struct tls *tls;  /* encrypts; NULL: plain. Outlives the listener. */
    int port;         /* 0 picks a free one; see listener_port() */
    http_handler *handler;
    http_admit *admit;        /* NULL: every body is taken */
    http_answered *answered;  /* NULL: nobody is told */
    void *context;            /* of all three */
    size_t body_max;          /* 0: LIMIT_BODY_SIZE; over it 413 */
    size_t header_max;        /* 0: LIMIT_HEADER_SIZE; over it 400 */
    unsigned connections_max; /* 0: LIMIT_CONNECTIONS; over it 503 and close */
    unsigned in_flight_max;   /* 0: LIMIT_IN_FLIGHT; requests whose handler answers later; over it
                                 exchanges come with `overload` set */
    /* Bytes of bodies that are on their way and of answers that their clients have not read yet, of
     * all connections together; 0: LIMIT_HTTP_MEMORY. What would take more is refused with 503. */
    size_t memory_max;
    size_t unproved_max; /* of them, bodies of HTTP_TAKE_UNPROVED; 0: LIMIT_HTTP_UNPROVED */
    int idle_ms;         /* 0: LIMIT_IDLE_MS; between requests */
    int request_ms;      /* 0: LIMIT_REQUEST_MS; from a request's first byte to its last: 408 */
    /* Connections are on one loop while that manages (placement.h); else always spread. For a
     * machine whose cores are as few as the loops. */
    bool gather;
};

/* Listens; a connection is given to the loop that has the fewest, unless they are gathered. The
 * text of a failure says what to do. */
enum status http_listen(struct loops *loops, const struct http_settings *settings, struct scope in,
                        struct listener **out);

#endif

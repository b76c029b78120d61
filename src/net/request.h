/* A request as it arrives: bytes in, an exchange out. Knows no socket, so it can be fuzzed.
 *
 *     room = request_room(r, &size)     where the next bytes go
 *     request_added(r, count)           they are there
 *     request_parse(r)                  MORE, READY (r->exchange is filled in) or REFUSED
 *     request_next(r)                   after the answer: on to what was pipelined behind it
 *
 * All bytes of a request stay in one buffer and the exchange points into it. Therefore, once a
 * request is READY the buffer neither moves nor grows until request_next(): what arrives
 * meanwhile fills the room that is left, and then the socket is left alone. That is the bound on
 * pipelining. Chunked bodies are joined in place.
 *
 * Requests are pooled by their loop (request_pool.h), and an idle connection has none.
 */
#ifndef GT_NET_REQUEST_H
#define GT_NET_REQUEST_H

#include "base/limits.h"
#include "net/framing.h"
#include "net/http.h"

#include <http_parser.h>

enum {
    REQUEST_ROOM = 16 * 1024,      /* a fresh buffer */
    REQUEST_KEEP = 64 * 1024,      /* a larger buffer is not kept for the next request */
    REQUEST_READ_MIN = 4 * 1024,   /* never ask the socket for less, while there may be more */
    REQUEST_READ_MAX = 256 * 1024, /* nor for more: other connections wait */
};

struct http_connection;

struct request_limits {
    size_t header_max; /* of the lines after the first; over it 400, as for a first line of more
                          than LIMIT_REQUEST_LINE. The parser has a limit of its own at 80 KiB. */
    size_t body_max;   /* over it 413 */
};

struct request_span { /* offsets into the buffer, which moves while a request arrives */
    size_t at, size;
};

struct request_field {
    struct request_span name, value;
};

struct request {
    struct http_exchange exchange;      /* first: http_answer() finds the request by it */
    struct http_connection *connection; /* whose it is now */
    struct request *next;               /* in the pool; request_pool.c alone uses it */
    struct buf head;                    /* the answer's head, and its body if that is small */
    struct http_answer kept;            /* the answer until http_release(), in the arena */

    struct request_limits limits;
    struct http_parser parser;
    struct head_framing head_framing; /* see every byte before the parser does */
    struct chunk_framing chunk_framing;
    struct buf in;
    size_t start;  /* where the request begins in `in` */
    size_t parsed; /* up to where `in` is parsed */
    struct request_span url, body;
    struct request_field fields[LIMIT_HEADERS];
    size_t field_count;
    struct http_header headers[LIMIT_HEADERS];

    bool plain;            /* its head was read without the parser (request_plain.c) */
    bool in_value;         /* the last header callback was for a value */
    bool headers_done;     /* the empty line has been seen */
    bool chunked;          /* the body is; trailers can change what the parser says of it */
    bool ready;            /* the last byte has been seen; the buffer stays where it is */
    bool judged;           /* whether its body is taken has been decided */
    bool withheld;         /* the handler has it without its body; the buffer stays where it is */
    bool expects_continue; /* the client waits for "100 Continue" before it sends the body */
    bool keep_alive;       /* the client would go on after the answer */
    bool is_head;          /* the answer goes without its body */
    bool is_old;           /* HTTP/1.0 */
    int refusal;           /* 0, or the status that says what is wrong with it */
    const char *refusal_text;
};

enum request_state { REQUEST_MORE, REQUEST_READY, REQUEST_REFUSED };

struct request *request_new(void);
void request_free(struct request *request);
/* Makes a pooled or new request ready for its first byte. */
void request_begin(struct request *request, const struct request_limits *limits);
/* Lets go of what is too large to keep in a pool. */
void request_end(struct request *request);

/* Where the next bytes go and how many fit; none only while the handler has it. */
uint8_t *request_room(struct request *request, size_t *room);
void request_added(struct request *request, size_t count);
enum request_state request_parse(struct request *request);
/* Fills in the exchange from a head that is there, without its body. Good until more bytes come. */
void request_fill_head(struct request *request);
/* How many bytes its body has, as far as the head or what is there tells. */
size_t request_body_size(const struct request *request);
/* Forgets the request that was answered and goes on to the bytes behind it. */
void request_next(struct request *request);

/* --- requests that are as nearly all are (request_plain.c); private to request.c --- */

/* Reads the head, whose end is known and of which nothing was parsed yet, if it is a plain one:
 * then what the parser would say of it is in its fields, and `plain` and `headers_done` are set.
 * Else false, and nothing was done. */
bool request_take_plain(struct request *request);
/* Takes what is there of the body of a plain request, and sets `ready` when that is all. */
void request_take_plain_body(struct request *request);

/* True if there are bytes that are not parsed: of the next request, when this one is READY. */
static inline bool request_has_surplus(const struct request *request) {
    return request->in.size > request->parsed;
}

#endif

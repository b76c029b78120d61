/* Streams over the loops: bytes as they come, in order, and bytes back. What they mean, and where
 * one request ends and the next begins, is the handler's business.
 *
 * Everything happens on the stream's loop, which may become another one while nothing is under way
 * (placement.h). The handler is called with all bytes that it has not
 * taken yet; what it appends to stream->out during that is sent in one piece when it returns. It
 * may leave bytes for later (it waits for something) and be called again by stream_resume().
 *
 * What a client is sent waits in memory while it does not read: past a first limit its requests are
 * neither read nor, if the handler asks stream_is_full(), carried out; past a second one it is cut
 * off.
 */
#ifndef GT_NET_STREAM_H
#define GT_NET_STREAM_H

#include "base/buf.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/tls.h"

struct stream {
    struct loop *loop;
    void *user;     /* the handler's */
    struct buf out; /* what is to be sent. Append only; see stream_send() */
    bool stalled;   /* for the handler to set: it takes nothing until stream_resume() */
    bool ending;    /* stream_end() was called: nothing arrives any more */
    bool gone;      /* the client is; what is appended goes nowhere */
};

struct stream_handler {
    void (*opened)(struct stream *stream, void *context);
    /* Returns how many of the bytes it took. They are good until then. */
    size_t (*arrived)(struct stream *stream, struct bytes bytes, void *context);
    /* The last that is heard of it: the client has gone and nobody holds it. */
    void (*closed)(struct stream *stream, void *context);
    /* listener_review(): whether it may go on. False ends it at once, as if the client had gone.
     * NULL: it may. */
    bool (*review)(struct stream *stream, void *context);
    /* Streams change their loop if all three are there. Whether nothing of the handler's hangs on
     * the loop that the stream is on; it holds nothing of it. */
    bool (*may_move)(const struct stream *stream, void *context);
    /* It leaves for that loop, still on its old one; and it has arrived, on the new one. Between
     * these two nobody may use it. */
    void (*leaves)(struct stream *stream, struct loop *to, void *context);
    void (*moved)(struct stream *stream, void *context);
};

/* What was appended outside of `arrived` leaves before the loop next waits. */
void stream_send(struct stream *stream);
/* No longer stalled: calls `arrived` with what is there, now. */
void stream_resume(struct stream *stream);
/* Whether so much waits to be sent that nothing more should be done for this client until it has
 * read some of it. A handler that leaves bytes for this reason is called again by itself. */
bool stream_is_full(struct stream *stream);
/* Whether so much waits to be sent to all clients of the listener that nothing large should be
 * begun for any of them. */
bool stream_is_crowded(const struct stream *stream);
/* Ends it when all that was appended is sent. Nothing arrives any more. */
void stream_end(struct stream *stream);
/* Ends it at once, as if the client had gone; what was not sent is lost. Not from `arrived`. */
void stream_drop(struct stream *stream);
/* From `arrived`: hands over the buffer that the bytes are in, which the caller frees, so that what
 * was received need not be copied. All up to `end` is taken; the handler looks at no more of them,
 * and sees to a stream_resume() for what is behind. False, and nothing has changed, if the bytes
 * are not in a buffer of the stream's own, or much is behind. */
bool stream_take_in(struct stream *stream, const uint8_t *end, struct buf *out);
/* Bytes that wait to be sent. */
size_t stream_unsent(const struct stream *stream);
/* Something of it is under way: it stays good, even if `gone`, until as many are released. */
void stream_hold(struct stream *stream);
void stream_release(struct stream *stream);
/* "127.0.0.1:51234", "[::1]:51234": the client's address, or ours. */
enum { STREAM_ADDRESS_SIZE = 64 };
void stream_address(const struct stream *stream, bool ours, char to[STREAM_ADDRESS_SIZE]);
int stream_socket(const struct stream *stream);

struct stream_settings {
    const char *host;
    int port;        /* 0 picks a free one; see listener_port() */
    struct tls *tls; /* encrypts; NULL: plain. Outlives the listener. */
    struct stream_handler handler;
    void *context;
    bool gather;              /* as for HTTP (http.h) */
    struct bytes full;        /* the last word to a client that is one too many; borrowed */
    unsigned connections_max; /* 0: LIMIT_CONNECTIONS */
    size_t out_pause;         /* 0: LIMIT_STREAM_PAUSE; more waits to be sent: nothing is read */
    size_t out_max;           /* 0: LIMIT_STREAM_OUT; more: cut off */
    size_t out_total; /* 0: LIMIT_STREAMS_OUT; more waits for all clients: who has not read much of
                         its own is not served */
    int idle_ms;      /* 0: never */
    int request_ms; /* 0: LIMIT_REQUEST_MS; without a byte in the middle of a request, either way */
};

enum status stream_listen(struct loops *loops, const struct stream_settings *settings,
                          struct scope in, struct listener **out);

#endif

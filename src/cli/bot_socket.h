/* A bot's side of a room's WebSocket, plain or encrypted, on a loop of its own thread: all calls
 * and callbacks are on that one. */
#ifndef GT_CLI_BOT_SOCKET_H
#define GT_CLI_BOT_SOCKET_H

#include "base/buf.h"
#include "base/random.h"
#include "net/frames.h"
#include "net/wire.h"

#include <sys/socket.h>
#include <uv.h>

struct bot_socket {
    /* filled in by who opens it */
    uv_loop_t *loop;
    struct sockaddr_storage address;
    const char *host;      /* for the Host header */
    struct tls *tls;       /* NULL: plain */
    struct random *random; /* for the masks of frames */
    void (*received)(struct bot_socket *socket, struct bytes text);
    /* The connection is over, or was never there; bot_socket_open() may be called again. */
    void (*lost)(struct bot_socket *socket, int code);
    void *user;

    /* its own */
    uv_poll_t poll;
    struct wire wire;
    enum bot_socket_state {
        SOCKET_CLOSED,
        SOCKET_GREETING,  /* it connects, and agrees on the encryption if there is one */
        SOCKET_UPGRADING, /* the request for a WebSocket is on its way */
        SOCKET_OPEN,
    } state;
    struct frames frames;
    struct buf in, out; /* the head of the answer; what the socket has not taken yet */
    size_t sent;        /* of `out` */
    int code;           /* of the server's close */
    bool busy;          /* frames are being read: what ends the connection waits for that */
    bool closed_by_owner, is_lost; /* then: what it was */
};

/* False if there is not even a socket to be had. `path` is copied. */
bool bot_socket_open(struct bot_socket *socket, struct bytes path);
void bot_socket_send(struct bot_socket *socket, struct bytes text);
/* `lost` is not called. */
void bot_socket_close(struct bot_socket *socket);

#endif

/* A bot's side of a live line: a WebSocket client on a loop of its own thread. */
#ifndef GT_CLI_BOT_SOCKET_H
#define GT_CLI_BOT_SOCKET_H

#include "base/buf.h"

#include <sys/socket.h>
#include <uv.h>

struct wslay_event_context;

struct bot_socket {
    /* filled in by who opens it */
    uv_loop_t *loop;
    struct sockaddr_storage address;
    const char *host; /* for the Host header */
    void (*received)(struct bot_socket *socket, struct bytes text);
    /* The line is over, or was never there; bot_socket_open() may be called again. */
    void (*lost)(struct bot_socket *socket, int code);
    void *user;

    /* its own */
    uv_poll_t poll;
    int fd;
    enum bot_socket_state { SOCKET_CLOSED, SOCKET_CONNECTING, SOCKET_SHAKING, SOCKET_OPEN } state;
    struct wslay_event_context *frames;
    struct bytes incoming;
    struct buf in, out;
    size_t sent;
    int code; /* of the server's goodbye */
    bool closing;
    bool busy;          /* frames are being read: what ends the line waits for that */
    bool quiet, doomed; /* then: closed by its owner; lost */
};

/* False if there is not even a socket to be had. `path` is copied. */
bool bot_socket_open(struct bot_socket *socket, struct bytes path);
void bot_socket_send(struct bot_socket *socket, struct bytes text);
/* `lost` is not called. */
void bot_socket_close(struct bot_socket *socket);

#endif

/* A channel: a connection that began with an HTTP request and goes on as a line of messages. Over
 * WebSocket both sides speak; over an event stream (server-sent events) only we do.
 *
 * A channel belongs to its loop; all calls are for its thread. What is sent waits in a bounded
 * queue of references. When that is full the channel *lags*: nothing more is taken until all of it
 * is sent; then the handler is told, and sends the present state instead of what was missed. A
 * client that takes nothing at all for a while is cut off, as is one that does not answer pings.
 */
#ifndef GT_NET_CHANNEL_H
#define GT_NET_CHANNEL_H

#include "net/http.h"
#include "net/message.h"

struct channel;

struct channel_handler {
    /* A whole text message; good until it returns. May close the channel. */
    void (*received)(struct channel *channel, struct bytes text, void *user);
    /* It lagged, and all that waited is sent: bring it up to date. */
    void (*caught_up)(struct channel *channel, void *user);
    /* It is over; the channel is gone when this returns. */
    void (*closed)(struct channel *channel, void *user);
    /* listener_review(): channel_close() it if it may not go on. NULL: it may. */
    void (*review)(struct channel *channel, void *user);
};

struct channel_settings {
    const struct channel_handler *handler; /* outlives the channel */
    void *user;
    size_t message_max;   /* of what the client sends; larger ends it with 1009 */
    size_t queue_max;     /* bytes that wait to be sent; more: it lags */
    int ping_ms;          /* after so long a silence it is asked whether it is there, and again */
    bool events;          /* an event stream instead of a WebSocket */
    struct bytes headers; /* more header lines of the answer, each ending in CRLF */
};

/* Whether the request asks for a WebSocket in a way that can be granted. */
bool channel_wanted(const struct http_exchange *exchange);
/* Turns the exchange's connection into a channel; answers the request, so the exchange is over.
 * NULL if the client has gone meanwhile (the exchange is over all the same). */
struct channel *channel_open(struct http_exchange *exchange,
                             const struct channel_settings *settings);

/* Queues the message, with a reference of its own. False, and nothing happens, if it lags or is
 * closing. */
bool channel_send(struct channel *channel, struct message *message);
/* Says goodbye with a WebSocket code (1000, 1008, 4xxx) and a short reason, then closes. Nothing is
 * received any more. */
void channel_close(struct channel *channel, int code, const char *reason);
/* How long the client may have been silent, to the ping: 0 while it answers. For `closed`, too. */
int64_t channel_silent_ms(const struct channel *channel);
/* When the message that is being received came to this machine, by clock_now_ms(): as the system
 * stamped the last bytes that were read with it, so never before all of it was there; where the
 * system stamps nothing, now. Within `received`. */
int64_t channel_arrived_ms(const struct channel *channel);
struct loop *channel_loop(const struct channel *channel);

#endif

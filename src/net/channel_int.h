/* Between a channel and the connection it lives on; private to net/. */
#ifndef GT_NET_CHANNEL_INT_H
#define GT_NET_CHANNEL_INT_H

#include "net/channel.h"
#include "net/connection.h"

/* What the channels of a loop share: those that have something to send. */
struct channel_loop {
    struct task flush;
    struct channel *dirty;
};
void channel_loop_init(struct channel_loop *loop);

/* A channel over the connection, which is OPEN; `head` goes out first. */
struct channel *channel_new(struct connection *connection, struct channel_loop *loop,
                            const struct channel_settings *settings, struct bytes head);
/* What its connection tells it. */
void channel_ready(struct channel *channel, int events);
void channel_expire(struct channel *channel);
void channel_review(struct channel *channel);
void channel_wind_down(struct channel *channel);
void channel_dropped(struct channel *channel); /* frees it */

/* The lines of an answer that grants a WebSocket, but for the status line. */
void channel_put_grant(struct buf *to, const struct http_exchange *exchange);

#endif

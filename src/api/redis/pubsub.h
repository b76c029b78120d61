/* Messages: channels, who has subscribed to them, and what is sent.
 *
 * A subscription is in the front end's registry, under its mutex: by name for channels, in one list
 * for patterns. A message is made on the publisher's thread, once for each loop that has
 * subscribers, and posted there; the loop finds its clients by their numbers and appends to what is
 * sent to them. So a subscriber sees a channel's messages in the order of their publishers' calls,
 * and none from before its subscription was confirmed. A client that does not read is cut off when
 * LIMIT_SUBSCRIBER_OUT bytes wait for it.
 *
 * What is published between MULTI and EXEC or by a script is kept in the call and sent after its
 * commit (struct published); so are notifications of changed keys. */
#ifndef GT_API_REDIS_PUBSUB_H
#define GT_API_REDIS_PUBSUB_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>

struct redis_call;
struct redis_client;
struct redis_frontend;

enum pubsub_kind { PUBSUB_CHANNEL, PUBSUB_PATTERN, PUBSUB_SHARD, PUBSUB_MONITOR, PUBSUB_KINDS };

struct pubsub_topic; /* a channel or a pattern that somebody has subscribed to */
struct subscription; /* of one client to one of them */

struct pubsub {
    pthread_mutex_t mutex;
    struct map topics[PUBSUB_KINDS];
    atomic_size_t count;     /* subscriptions of all clients: with none, publishing is free */
    atomic_size_t monitors;  /* those of them that are MONITOR */
    atomic_size_t in_flight; /* bytes of messages that are posted to loops */
};

void pubsub_init(struct pubsub *pubsub);
void pubsub_release(struct pubsub *pubsub);

/* What a client has subscribed to; used on its loop. */
struct client_topics {
    struct subscription *first; /* newest first */
    atomic_size_t counts[PUBSUB_KINDS];
};

/* On the client's loop. False if it was so already; LIMIT_EXCEEDED is told by *status. */
bool pubsub_subscribe(struct redis_client *client, enum pubsub_kind kind, struct bytes name,
                      enum status *status);
bool pubsub_unsubscribe(struct redis_client *client, enum pubsub_kind kind, struct bytes name);
/* Removes and tells one subscription of that kind; false if there is none. The name is copied. */
bool pubsub_unsubscribe_any(struct redis_client *client, enum pubsub_kind kind, struct arena *arena,
                            struct bytes *name);
/* The client ends, or is reset. */
void pubsub_forget(struct redis_client *client);
size_t pubsub_count_of(const struct redis_client *client);

/* Sends to all who have subscribed to the channel, or to a pattern that it matches; returns how
 * many. Any thread. BUSY: too much is under way. */
struct pubsub_message {
    struct bytes channel, text;
    bool shard; /* SPUBLISH */
};
enum status pubsub_publish(struct redis_frontend *frontend, const struct pubsub_message *message,
                           uint64_t *receivers);
/* How many channels or patterns somebody has subscribed to. Any thread. */
size_t pubsub_topics(struct pubsub *pubsub, enum pubsub_kind kind);
/* How many have subscribed to exactly this. Any thread. */
size_t pubsub_subscribers(struct pubsub *pubsub, enum pubsub_kind kind, struct bytes name);
/* Tells those who MONITOR of a command; a line of RESP. Any thread. */
void pubsub_tell_monitors(struct redis_frontend *frontend, struct bytes line);
/* How many it would reach now. */
uint64_t pubsub_receivers(struct redis_frontend *frontend, const struct pubsub_message *message);

/* What a call publishes when it is committed. */
struct published {
    struct arena *arena; /* of the call that is committed */
    struct published_message *first, **last;
    size_t count;
};
void published_begin(struct published *published, struct arena *arena);
void published_add(struct published *published, const struct pubsub_message *message);
/* Forgets what was added since `to` was a copy of it. */
void published_cut(struct published *published, struct published to);
/* Sends all, and forgets them. */
void published_send(struct redis_frontend *frontend, struct published *published);

#endif

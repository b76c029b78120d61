/* The inside of the hub: what live_hub.c (topics, watchers, deliveries) and hub_poller.c (the hub's
 * thread) share. Private to the two.
 *
 * `hub->lock` is a mutex that is held for a few instructions only. Nothing is read from the table
 * under it: a read may wait for the disk, or for a commit that changes the index trees, and all
 * loops would wait with it. A topic knows the slot in which the engine keeps its partition's
 * version, and reading that takes no lock. */
#ifndef GT_API_LIVE_LIVE_HUB_INT_H
#define GT_API_LIVE_LIVE_HUB_INT_H

#include "api/live/live_hub.h"
#include "api/live/live_int.h"
#include "base/buf.h"
#include "base/map.h"

#include <pthread.h>

enum { TOPIC_KINDS = 2 }; /* topic_room, topic_board */

struct topic {
    struct hub *hub;
    const struct topic_kind *kind;
    struct bytes key;     /* the kind's letter and the name: its key in hub->topics */
    struct bytes name;    /* within `key` */
    struct buf partition; /* the partition that holds it; under the hub's lock, as the next two: */
    int64_t until_ms;     /* until when that is its partition, */
    uint32_t slot;        /* and where the engine keeps the partition's version */
    struct topic *next, *prev;
    struct topic *next_notified;
    bool notified; /* it is in hub->notified; both under the lock */
    unsigned refs; /* held by watchers, deliveries and the hub's thread; under the lock */
    struct topic_state *latest; /* under the hub's lock */
    /* The version that `latest` shows. Written under the lock, and from then on by the hub's thread
     * alone, which therefore reads it without. */
    uint64_t partition_version;
    int64_t rendered_ms;                      /* used by the hub's thread only */
    struct watcher *watchers[LIVE_LOOPS_MAX]; /* by loop; each list is used on its loop only */
    struct loop *loops[LIVE_LOOPS_MAX];       /* loops that have had watchers; under the lock */
    uint8_t memory[];
};

/* The topics of one kind. */
struct topic_list {
    struct topic *first;
    int64_t looked_us; /* when all were looked at; used by the hub's thread only */
};

struct hub {
    struct game *game;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* the hub's thread has something to do, or the last topic is gone */
    pthread_t thread;
    bool stopping;                        /* under the lock, as all that follows */
    struct map topics;                    /* by topic->key */
    struct topic_list lists[TOPIC_KINDS]; /* of topic_room, of topic_board */
    struct topic *notified;               /* topics of hub_notify(), each with a reference */
    uint64_t renderings;
};

/* ---- live_hub.c ---- */

/* Ends one reference; the last one frees the topic. Under the lock. */
void topic_unref(struct topic *topic);
/* The same, without the lock. Any thread. */
void topic_release(struct topic *topic);
/* Makes the state the topic's and delivers it to all watchers, if it differs from the present one
 * and is no older. Takes the reference. Under the lock; the topic has a state already. */
void topic_publish(struct topic *topic, struct topic_state *state);

/* The version of the topic's partition. Under the lock, or on the hub's thread, which alone changes
 * topic->slot. Takes no lock itself. */
uint64_t topic_partition_version(const struct topic *topic);

/* The partition of a topic and its version's slot. */
struct topic_place {
    struct bytes partition; /* in the arena */
    int64_t until_ms;
    uint32_t slot;
};
/* Not under the lock: finding a partition or a slot may wait for the engine. Any thread. */
struct topic_place topic_find_place(struct hub *hub, struct topic_id id, struct arena *arena);
uint32_t topic_find_slot(struct hub *hub, struct bytes partition);

/* ---- hub_poller.c ---- */

/* The hub's thread, until hub->stopping. Renders each topic whose partition has another version
 * than the topic's state shows, and publishes it: at once if hub_notify() named it, else at the
 * next look, which comes every `look_ms` of its kind. It sleeps while nobody watches anything. At
 * its end it has given back all its references. `hub` is a struct hub. */
void *hub_poller_main(void *hub);

#endif

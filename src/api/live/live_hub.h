/* Publish/subscribe for rooms and boards: who watches what, and telling them when it changes.
 *
 * A topic is a room or a board that at least one client watches. Its state is rendered as JSON
 * once, by the hub's thread when it sees that the version of the topic's partition has risen, or by
 * whoever wrote the change; the same message is then queued to all watchers, each on its own loop.
 * A client that cannot keep up skips states and gets the newest one when it can.
 */
#ifndef GT_API_LIVE_LIVE_HUB_H
#define GT_API_LIVE_LIVE_HUB_H

#include "api/access_control.h"
#include "game/game.h"
#include "net/channel.h"

struct hub;
struct topic;

/* A rendered state of a topic, which does not change any more. Counted by references; any thread.
 */
struct topic_state {
    _Atomic unsigned refs;
    struct message *message;
    uint64_t version; /* of a room: states of the same version show the same */
    bool over;        /* there will be no other: the room was closed, or is gone */
    size_t player_count;
    struct bytes *players; /* of a room: who is in it, in the same piece of memory */
};
struct topic_state *topic_state_new(struct bytes text, const struct bytes *players, size_t count);
void topic_state_ref(struct topic_state *state);
void topic_state_unref(struct topic_state *state);

/* A kind of topic: how its state is rendered, and how changes are noticed. */
struct topic_kind {
    enum touches touches; /* what a watcher must be allowed to touch */
    unsigned every_ms;    /* at least that long between two renderings, */
    unsigned look_ms;     /* and between two looks at the version of its partition */
    /* The partition that holds the topic, in the arena, and until when that is so (INT64_MAX: for
     * good). Empty if it has none at present, as a board between two seasons. */
    struct bytes (*partition)(struct game *game, struct bytes name, struct arena *arena,
                              int64_t *until_ms);
    /* Renders its present state. Any thread. NULL, with the failure, if that cannot be done. */
    struct topic_state *(*render)(struct game *game, struct bytes name, struct scope in);
    /* The version of its partition has risen: is there something to show that is not in the state
     * of that version? May be NULL: always. */
    enum topic_change (*change)(struct game *game, struct bytes name, uint64_t version,
                                struct arena *arena);
};
enum topic_change {
    TOPIC_UNCHANGED,
    TOPIC_CHANGING, /* there is, but the next step is due at once: look again after it */
    TOPIC_CHANGED,
};
extern const struct topic_kind topic_room;  /* named by the room's code */
extern const struct topic_kind topic_board; /* "<limit> <name>"; no period: the current one */

/* Which topic. The name is borrowed for the call. */
struct topic_id {
    const struct topic_kind *kind;
    struct bytes name;
};

/* A client that watches a topic. Embedded in its subscription, and used on its loop only. */
struct watcher {
    struct channel *channel;
    /* Called with every new state, which is borrowed for the call. It may call hub_unwatch(). */
    void (*seen)(struct watcher *watcher, struct topic_state *state);
    struct topic *topic;
    struct watcher *next, *prev;
};

struct hub *hub_new(struct game *game);
/* No topic may be watched any more. Waits for deliveries that are on their way to loops, so the
 * loops must still run. */
void hub_free(struct hub *hub);

/* Renders the topic's state and keeps it, so that hub_watch() on a loop finds it without reading
 * from the engine. NULL, with the failure, if there is no such topic, or WOULD_BLOCK: then it is to
 * be called again on a thread that may wait. Any thread. */
struct topic *hub_hold(struct hub *hub, struct topic_id id, struct scope in);
/* Ends hub_hold(). Any thread. */
void hub_unhold(struct topic *topic);

/* Begins to watch: watcher->seen is called with the present state before it returns. On the
 * channel's loop. Fails (NOT_FOUND, ...) if there is no such topic. */
enum status hub_watch(struct hub *hub, struct topic_id id, struct watcher *watcher,
                      struct scope in);
void hub_unwatch(struct hub *hub, struct watcher *watcher);
/* Calls watcher->seen with the newest state again. On its loop. */
void hub_resend(struct hub *hub, struct watcher *watcher);
/* The topic has changed: has the hub's thread render it soon instead of at its next look, if
 * anybody watches it. Any thread. */
void hub_notify(struct hub *hub, struct topic_id id);
/* Whether anybody watches it. Any thread. */
bool hub_watched(struct hub *hub, struct topic_id id);
/* The topic has changed, and this is its state: it is delivered unless a newer one was. Takes the
 * reference. Any thread. */
void hub_publish(struct hub *hub, struct topic_id id, struct topic_state *state);

void hub_figures(struct hub *hub, uint64_t *topics, uint64_t *renderings);

#endif

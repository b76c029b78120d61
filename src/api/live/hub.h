/* Who looks at what. A topic is a room or a board that somebody looks at. One thread sees that its
 * partition was touched and renders its state once, or who wrote it did; the same message goes to
 * all who look, each on its own loop. Who cannot keep up gets the newest state when it can.
 */
#ifndef GT_API_LIVE_HUB_H
#define GT_API_LIVE_HUB_H

#include "game/game.h"
#include "net/channel.h"

struct hub;
struct topic;

/* The state of a topic at a moment. Counted; any thread. */
struct snapshot {
    _Atomic unsigned refs;
    struct message *message;
    uint64_t version; /* of a room: equal ones show the same */
    bool over;        /* there will be no other: the room was closed, or is gone */
    size_t player_count;
    struct bytes *players; /* of a room: who is in it, in the same piece of memory */
};
struct snapshot *snapshot_new(struct bytes text, const struct bytes *players, size_t count);
void snapshot_ref(struct snapshot *snapshot);
void snapshot_unref(struct snapshot *snapshot);

/* How a kind of topic is seen. */
struct topic_kind {
    unsigned every_ms; /* at least that long between two renderings, */
    unsigned look_ms;  /* and between two looks whether others wrote something */
    /* The partition it lives in, in the arena, and until when that is so (INT64_MAX: for good).
     * Empty if it lives nowhere just now. */
    struct bytes (*partition)(struct game *game, struct bytes name, struct arena *arena,
                              int64_t *until_ms);
    /* Its state now. Any thread. NULL with the failure if it cannot be told. */
    struct snapshot *(*render)(struct game *game, struct bytes name, struct arena *arena,
                               struct failure *failure);
    /* Its partition was touched; is there something to show that is not in the snapshot of that
     * version? May be NULL: always. */
    enum news (*news)(struct game *game, struct bytes name, uint64_t version, struct arena *arena);
};
enum news {
    NEWS_NONE,
    NEWS_SOON, /* there is, and something better will follow at once: look again */
    NEWS_NOW,
};
extern const struct topic_kind topic_room;  /* named by its code */
extern const struct topic_kind topic_board; /* "<limit> <name>"; without a period: that of now */

/* One who looks. Embedded; its loop's. */
struct watcher {
    struct channel *channel;
    /* Told of every state; the snapshot is good until it returns. It may stop watching. */
    void (*seen)(struct watcher *watcher, struct snapshot *snapshot);
    struct topic *topic;
    struct watcher *next, *prev;
};

struct hub *hub_new(struct game *game);
/* Nobody watches any more. Waits for what is on its way to the loops, which must still run. */
void hub_free(struct hub *hub);

/* Begins to watch, and tells the present state at once. On the channel's loop. Fails (NOT_FOUND,
 * ...) if there is nothing to see. */
enum status hub_watch(struct hub *hub, const struct topic_kind *kind, struct bytes name,
                      struct watcher *watcher, struct arena *arena, struct failure *failure);
void hub_unwatch(struct hub *hub, struct watcher *watcher);
/* Tells it the newest state again. On its loop. */
void hub_retell(struct hub *hub, struct watcher *watcher);
/* The topic has changed, if anybody watches it: do not wait to find out. Any thread. */
void hub_hint(struct hub *hub, const struct topic_kind *kind, struct bytes name);
/* Whether anybody watches it. Any thread. */
bool hub_watched(struct hub *hub, const struct topic_kind *kind, struct bytes name);
/* The topic has changed, and this is its state: shown unless a newer one was. Takes the reference.
 * Any thread. */
void hub_offer(struct hub *hub, const struct topic_kind *kind, struct bytes name,
               struct snapshot *snapshot);

void hub_figures(struct hub *hub, uint64_t *topics, uint64_t *renderings);

#endif

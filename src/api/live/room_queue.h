/* What a loop's clients change of rooms without being in a hurry: presences, and the commands of
 * a lobby. Of each room one change is under way at a time, since of two at once one would be worked
 * out again; and only a few at all, so that thousands of clients who come at once neither take the
 * loop's turns from those who play nor much memory together. Moves and reactions never wait here.
 * Used on its loop only; zero to begin with. */
#ifndef GT_API_LIVE_ROOM_QUEUE_H
#define GT_API_LIVE_ROOM_QUEUE_H

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROOM_QUEUE_RUNNING_MAX = LIMIT_ROOM_QUEUE, ROOM_QUEUE_BUSY = 256 };

/* One change: embedded in what it belongs to. */
struct room_queue_entry {
    struct room_queue_entry *next;
    const char *code; /* of the room; good until room_queue_done() */
    /* Begins it. room_queue_done() follows, maybe before this returns. */
    void (*begin)(struct room_queue_entry *entry);
};

struct room_queue {
    unsigned running;
    bool advancing;
    struct room_queue_entry *first, *last; /* those that wait */
    uint8_t busy[ROOM_QUEUE_BUSY];         /* changes under way, by a hash of their rooms' codes */
};

/* Begins the entry, now or when its turn comes. */
void room_queue_add(struct room_queue *queue, struct room_queue_entry *entry);
/* A change of the room is over: begins what waited for it. The entry may be gone. */
void room_queue_done(struct room_queue *queue, const char *code);
/* Until room_queue_resume() nothing begins. */
void room_queue_pause(struct room_queue *queue);
void room_queue_resume(struct room_queue *queue);

#endif

#include "api/live/room_queue.h"

#include "base/hash.h"
#include "game/room/room.h"

enum { LOOKED_AT_MAX = 512 }; /* entries, for one whose room is not busy */

/* Rooms that share a place wait for each other, which does no harm. */
static uint8_t *place_of(struct room_queue *queue, const char *code) {
    return &queue->busy[hash_keyed(bytes_of(code, ROOM_CODE_SIZE), 0) % ROOM_QUEUE_BUSY];
}

/* Takes the first entry out whose room is not busy; NULL: there is none, or it stands far back. */
static struct room_queue_entry *take_next(struct room_queue *queue) {
    struct room_queue_entry **at = &queue->first, *before = NULL;
    for (unsigned i = 0; *at != NULL && i < LOOKED_AT_MAX; i++) {
        struct room_queue_entry *entry = *at;
        if (*place_of(queue, entry->code) == 0) {
            *at = entry->next;
            if (queue->last == entry)
                queue->last = before;
            return entry;
        }
        before = entry;
        at = &entry->next;
    }
    return NULL;
}

/* One may be done at once, and come here again. */
static void advance(struct room_queue *queue) {
    struct room_queue_entry *entry;
    if (queue->advancing)
        return;
    queue->advancing = true;
    while (queue->running < ROOM_QUEUE_RUNNING_MAX && (entry = take_next(queue)) != NULL) {
        queue->running++;
        ++*place_of(queue, entry->code);
        entry->begin(entry);
    }
    queue->advancing = false;
}

void room_queue_add(struct room_queue *queue, struct room_queue_entry *entry) {
    entry->next = NULL;
    if (queue->first == NULL)
        queue->first = entry;
    else
        queue->last->next = entry;
    queue->last = entry;
    advance(queue);
}

void room_queue_pause(struct room_queue *queue) {
    queue->advancing = true;
}

void room_queue_resume(struct room_queue *queue) {
    queue->advancing = false;
    advance(queue);
}

void room_queue_done(struct room_queue *queue, const char *code) {
    queue->running--;
    --*place_of(queue, code);
    advance(queue);
}

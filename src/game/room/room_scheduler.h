/* The room scheduler: a thread that runs room_step() on each room whose timer has fired, which it
 * finds in the table's index of due times. Several servers may do so on one table: a lease item in
 * the room decides which one. The thread also renews this server's lease while it holds
 * connections, and clears rooms of the connections of servers that are gone (room_connection.h). */
#ifndef GT_GAME_ROOM_ROOM_SCHEDULER_H
#define GT_GAME_ROOM_ROOM_SCHEDULER_H

#include "game/room/room.h"

struct room_scheduler;
/* Starts the thread; NULL if there can be none. Borrows the game until room_scheduler_stop(). */
struct room_scheduler *room_scheduler_start(struct game *game);
/* Wakes the thread, after a write that may have set an earlier timer. Any thread. */
void room_scheduler_wake(struct room_scheduler *scheduler);
/* Functions that the scheduler calls on its thread, with its mutex held but for the last: they must
 * return soon, and must not call functions of the scheduler that lock it (wake, set_listener,
 * stop). */
struct room_scheduler_listener {
    /* A step of the room was committed (`room` is the new state), or the room was cleared of
     * connections (`room` is NULL). */
    void (*stepped)(void *user, struct bytes code, const struct room *room);
    /* Other servers have deleted this one's connections: open them again. */
    void (*cleared)(void *user);
    /* Waits until all that players said to this process by `by_ms` (clock_now_ms()) has been
     * submitted, or for so long that the rooms should go on without. Called without the mutex,
     * before steps in which that counts. NULL: nothing is waited for. */
    void (*await_players)(void *user, int64_t by_ms);
    void *user;
};
/* Copies the listener; NULL takes it away, and it is not called after this has returned. Any
 * thread. */
void room_scheduler_set_listener(struct room_scheduler *scheduler,
                                 const struct room_scheduler_listener *listener);

/* The id of this server, for its connections; lives as long as the scheduler. */
struct bytes room_scheduler_server_id(const struct room_scheduler *scheduler);
/* Adds to the number of connections that this server holds (negative: subtracts). Called before a
 * connection's item is written and after it is deleted. Any thread. */
void room_scheduler_count_connections(struct room_scheduler *scheduler, int more);

/* Ends and joins the thread, releases the server's lease if no connection is left, and frees all.
 */
void room_scheduler_stop(struct room_scheduler *scheduler);

#endif

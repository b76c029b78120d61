/* The rooms that a player sits in. Seats are in the index GSI1 under the player's partition, as are
 * the player's entries on boards:
 *
 *   seat   PK ROOM#<code>  SK PLAYER#<player>   GSI1 PLAYER#<player> / ROOM#<joined>#<code>
 *
 * where <joined> is joinedAt in 13 digits. So one Query of GSI1 with PLAYER#<player> finds a player
 * by id, wherever it is.
 */
#ifndef GT_GAME_ROOM_ROOM_SEATS_H
#define GT_GAME_ROOM_ROOM_SEATS_H

#include "game/game.h"

#define ROOM_SEATS_PREFIX BYTES("ROOM#")

struct room_seats_query {
    struct game *game;
    struct bytes player; /* any name that a member of a board can have */
    size_t limit;
    const struct item *after; /* page_reply.last_key of the page before, or NULL */
};
/* The player's seats, newest first, as they are stored. One Query; any thread. */
enum status room_seats_page(const struct room_seats_query *query, struct scope in,
                            struct page_reply *out);
/* Like room_seats_page(), with the rooms: rooms[i] is the META item of the room that
 * seats->items[i] is in, with count 0 if the room is gone. */
struct room_seats {
    struct page_reply seats;
    struct item *rooms;
};
enum status room_seats_list(const struct room_seats_query *query, struct scope in,
                            struct room_seats *out);

/* Makes the player leave all rooms it sits in, as room_leave() does, `limit` rooms at a time;
 * *count is how many seats were given up. Blocks for at least a commit per room. */
enum status room_seats_leave(const struct room_seats_query *query, struct scope in,
                             uint64_t *count);

/* Whether the player plays in the room: has a seat there, and does not only look on. One read by
 * key; any thread. */
struct room_seat_name {
    struct game *game;
    struct bytes code, player;
};
enum status room_seat_is_taken(const struct room_seat_name *name, struct scope in, bool *out);

/* Adds the seat's keys of GSI1 to its item. */
struct record;
struct room;
struct seat;
void room_seats_put_index_keys(struct record *record, const struct room *room,
                               const struct seat *seat);

#endif

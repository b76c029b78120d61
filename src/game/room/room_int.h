/* Attributes and keys of rooms, connections and servers; private to this folder. */
#ifndef GT_GAME_ROOM_ROOM_INT_H
#define GT_GAME_ROOM_ROOM_INT_H

#include "game/record.h"
#include "game/room/match.h"
#include "game/room/room_connection.h"

#define ROOM_META     BYTES("META")
#define ROOM_LEASE    BYTES("LEASE")
#define ROOM_VERSION  BYTES("version")
#define ROOM_KIND     BYTES("kind")
#define ROOM_STATUS   BYTES("status")
#define ROOM_HOST     BYTES("host")
#define ROOM_TITLE    BYTES("title")
#define ROOM_LISTED   BYTES("listed")
#define ROOM_CAPACITY BYTES("capacity")
#define ROOM_PLAYERS  BYTES("players")
#define ROOM_MATCH    BYTES("match")
#define ROOM_ROUND    BYTES("round")
#define ROOM_DUE      BYTES("dueAt")
#define ROOM_CREATED  BYTES("createdAt")
#define ROOM_OPTIONS  BYTES("options")
#define ROOM_STATE    BYTES("state")
#define ROOM_CODE     BYTES("code")
#define ROOM_SEATED   BYTES("seated") /* players who have a seat, */
#define ROOM_POINTS   BYTES("points") /* and in that order their points and streaks */
#define ROOM_STREAKS  BYTES("streaks")
#define ROOM_TTL      BYTES("ttl")
#define ROOM_HERE     BYTES("here") /* how many people are connected */
#define ROOM_BANNED   BYTES("banned")
#define ROOM_INVITE   BYTES("invitation")

#define SEAT_PLAYER    BYTES("player")
#define SEAT_NAME      BYTES("name")
#define SEAT_COLOUR    BYTES("colour")
#define SEAT_NUMBER    BYTES("seat")
#define SEAT_SPECTATOR BYTES("spectator")
#define SEAT_WAITING   BYTES("waiting")
#define SEAT_READY     BYTES("ready")
#define SEAT_CONNECTED BYTES("connected")
#define SEAT_SCORE     BYTES("points")
#define SEAT_STREAK    BYTES("streak")
#define SEAT_JOINED    BYTES("joinedAt")
#define SEAT_STATE     BYTES("state")
#define SEAT_BOT       BYTES("bot")
#define SEAT_SINCE     BYTES("since")
#define SEAT_HEARD     BYTES("heard")

#define LEASE_OWNER BYTES("owner")
#define LEASE_UNTIL BYTES("until")

/* "PLAYER#<player>", "ROUND#0007", "CLICK#0007#<player>" in the arena. */
struct bytes room_seat_sk(struct arena *arena, struct bytes player);
struct bytes room_round_sk(struct arena *arena, unsigned round);
struct bytes room_click_sk(struct arena *arena, unsigned round, struct bytes player);

/* The item of the current round with its keys and ttl; the kind of game adds the rest. */
struct record room_round_record(const struct room *room);
/* Makes the record the current round's item, to be written with the room. */
void room_put_round(struct room *room, struct record *record);
/* The `ttl` of items that are written at now_ms. */
int64_t room_ttl_s(int64_t now_ms);

/* DENIED unless the player is the host. */
enum status room_check_host(const struct room *room, struct bytes player, struct failure *failure);
/* The player's seat; NOT_FOUND with a sentence. */
enum status room_find_seat(struct room *room, struct bytes player, struct failure *failure,
                           struct seat **out);
/* Seats the player, whose name and id have been checked. */
enum status room_take_seat(struct room *room, const struct seat_request *request, bool waiting,
                           struct failure *failure);
/* Takes the seat away; the kind of game hears of it. */
enum status room_remove_seat(struct room *room, struct seat *seat, struct failure *failure);
/* Makes the next one the host: of the people who play the one with the lowest seat, of those who
 * are there if any is. Closes the room if there is nobody. */
void room_choose_host(struct room *room);

/* If the host is away and somebody else is there: that one is the host from now on, or the room's
 * timer is set for when it is to be. Between matches only that timer is set. */
void room_watch_host(struct room *room);

/* Marks the seat as one to be written. */
void seat_mark_changed(struct seat *seat);

/* Whether the text can be the code of a room, as room_make() makes them. */
bool room_code_valid(struct bytes code);

/* --- connections --- */

#define SERVERS           BYTES("SERVERS")
#define SERVER_CLEARED    BYTES("cleared")
#define CONNECTION_SERVER BYTES("server")

/* The partition "SERVER#<id>", in the arena. */
struct bytes server_pk(struct arena *arena, struct bytes server);

/* The items of all connections to the room, in the arena. */
enum status room_connections_of_room(struct game *game, struct bytes code, struct scope in,
                                     struct page_reply *out);
struct held_request {
    struct bytes server;
    uint32_t limit; /* 0: as many as a page has */
};
/* The items of connections that a server holds. */
enum status room_connections_of_server(struct game *game, struct held_request request,
                                       struct scope in, struct page_reply *out);

#endif

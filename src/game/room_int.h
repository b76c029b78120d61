/* Attributes and keys of rooms; private to this folder. */
#ifndef GT_GAME_ROOM_INT_H
#define GT_GAME_ROOM_INT_H

#include "game/match.h"
#include "game/record.h"

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
#define ROOM_SEATED   BYTES("seated") /* who has a seat: the room's items by their keys, */
#define ROOM_POINTS   BYTES("points") /* and in the same order what they have */
#define ROOM_STREAKS  BYTES("streaks")
#define ROOM_TTL      BYTES("ttl")

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

#define LEASE_OWNER BYTES("owner")
#define LEASE_UNTIL BYTES("until")

/* "ROOM#<code>", "PLAYER#<player>", "ROUND#0007", "CLICK#0007#<player>" in the arena. */
struct bytes room_pk(struct arena *arena, struct bytes code);
struct bytes room_seat_sk(struct arena *arena, struct bytes player);
struct bytes room_round_sk(struct arena *arena, unsigned round);
struct bytes room_click_sk(struct arena *arena, unsigned round, struct bytes player);

/* A round as an item: its keys, and when it goes; the kind adds the rest. */
struct record room_round_record(const struct room *room);
/* Has the round's item written. */
void room_put_round(struct room *room, struct record *record);
/* The second at which what happens now is forgotten. */
int64_t room_ttl_s(int64_t now_ms);

/* Marks the seat as one to be written. */
void seat_touch(struct seat *seat);

/* Whether it can be a code, as room_make() makes them. */
bool room_code_valid(struct bytes code);

#endif

/* clang-format off */
/* Rooms: people who play together, now. A room is a partition; all of it is in the table, nothing
 * of it in the process, so a room goes on after a restart where it was.
 *
 *   room         PK ROOM#<code>       SK META                  GSI1 ROOMS#<kind> / <status>#<created>#<code>, if listed
 *                                                              GSI2 CLOCKS / <due>#<code>, if its clock runs
 *   seat         PK ROOM#<code>       SK PLAYER#<player>
 *   round        PK ROOM#<code>       SK ROUND#<n>
 *   reaction     PK ROOM#<code>       SK CLICK#<n>#<player>
 *   lease        PK ROOM#<code>       SK LEASE                 who runs its clock, until when
 *   connection   PK CONNECTION#<id>   SK META                  GSI1 ROOM#<code> / CONNECTION#<id>; see connection.h
 *   match        PK MATCH#<ulid>      SK META                  GSI1 MATCHES#<code> / <ulid>; stays
 *
 * All but matches carry `ttl`. Numbers in keys have four digits, so that they order.
 *
 * A change to a room is worked out on a copy (`struct room`) and written back on condition that the
 * room's version is what it was: of two at once one is done again on what the other left. Reactions
 * are the exception: they only check that the round is open, and do not wait for each other.
 */
/* clang-format on */
#ifndef GT_GAME_ROOM_H
#define GT_GAME_ROOM_H

#include "game/game.h"

enum room_status { ROOM_LOBBY, ROOM_PLAYING, ROOM_OVER, ROOM_CLOSED };

enum {
    ROOM_CODE_SIZE = 5,      /* consonants and digits that cannot be mistaken */
    ROOM_SEATS_MAX = 32,     /* with spectators */
    ROOM_LIFE_S = 24 * 3600, /* after the last thing that happened in it */
    ROOM_NAME_MAX = 24,      /* characters of a player's name, */
    ROOM_TITLE_MAX = 60,     /* and of a room's */
};

enum mark { MARK_SAME, MARK_NEW, MARK_CHANGED, MARK_REMOVED };

struct seat {
    struct bytes player, name, colour;
    unsigned number;         /* 1, 2, ...: the order of turns */
    bool spectator, waiting; /* who came during a match waits for the next, looking on */
    bool ready, connected;
    int64_t score, streak, joined_ms;
    struct item state;  /* the kind's own */
    int64_t reacted_ms; /* to the present round (room_load_reactions); 0: not */
    enum mark mark;
};

struct room {
    struct game *game;
    struct arena *arena;
    struct bytes code;
    const struct match_kind *kind;
    enum room_status status;
    struct bytes host, title;
    bool listed;
    unsigned capacity;     /* players; spectators are extra */
    uint64_t version;      /* 0: not in the table yet */
    unsigned match, round; /* 0: none yet; rounds count on over matches */
    int64_t due_ms;        /* when its clock does something; 0: it waits for people */
    int64_t created_ms;
    struct item options; /* given at its making: the kind's own */
    struct item state;   /* of the match: the kind's own */
    struct seat seats[ROOM_SEATS_MAX];
    size_t seat_count;
    struct item round_item;   /* of the present round; count 0: none */
    struct bytes lease_owner; /* who runs the clock; empty: nobody yet */
    int64_t lease_until_ms;
    int64_t now_ms; /* when it was loaded: the time of what is being done */
    bool unscored;  /* the boards refuse this match's scores: it ends without them */

    /* what is to be written beside the room and its seats (room_also) */
    struct action *also;
    size_t also_count, also_room;
    struct submit *submits[ROOM_SEATS_MAX]; /* what a match's end holds of boards */
    size_t submit_count;
};

/* The room, its seats and its present round. NOT_FOUND with a sentence. */
enum status room_load(struct game *game, struct bytes code, struct arena *arena,
                      struct failure *failure, struct room *out);
/* Only its version (0: there is no such room) and when its clock is due: cheaper than loading it.
 */
enum status room_look(struct game *game, struct bytes code, struct arena *arena,
                      struct failure *failure, uint64_t *version, int64_t *due_ms);
/* Fills in when the players reacted to the present round. What is then written fails with CONFLICT
 * if another reaction was written meanwhile: who judges a round judges all that was accepted. */
enum status room_load_reactions(struct room *room, struct failure *failure);
/* Gives back what a loaded or made room may hold besides memory; after its change is done. */
void room_release(struct room *room);
/* Adds an action to what will be written. */
void room_also(struct room *room, const struct action *action);
/* Fills in the change that writes the room, its marked seats and what was added, if its version is
 * still what it was (else the change fails with CONFLICT: load and do it again). */
void room_save_prepare(struct room *room, struct change *change);
/* How the change went: OK, CONFLICT, or what else there is. */
enum status room_saved(const struct change *change, struct failure *failure);
/* The change is done: makes the copy what a load of the room as written would give. */
void room_written(struct room *room);

struct seat *room_seat(struct room *room, struct bytes player); /* NULL: not in it */
unsigned room_players(const struct room *room);                 /* seats without spectators */

/* --- what people do; each on a loaded room, INVALID, DENIED or NOT_FOUND with a sentence --- */

struct room_settings {
    struct bytes kind, title;
    unsigned capacity; /* 0: as many as the kind takes */
    bool listed;
    struct item options;
    struct bytes host, host_name;
};
/* A room in the making, with a fresh code; its host has the first seat. CONFLICT at its saving: the
 * code was taken; make it again. */
enum status room_make(struct game *game, const struct room_settings *settings, struct arena *arena,
                      struct failure *failure, struct room *out);
/* Who is in it already keeps the seat. LIMIT_EXCEEDED: it is full. During a match: as a spectator.
 */
enum status room_join(struct room *room, struct bytes player, struct bytes name, bool spectator,
                      struct failure *failure);
enum status room_ready(struct room *room, struct bytes player, bool ready, struct failure *failure);
enum status room_start(struct room *room, struct bytes player, struct failure *failure);
enum status room_leave(struct room *room, struct bytes player, struct failure *failure);
enum status room_kick(struct room *room, struct bytes host, struct bytes player,
                      struct failure *failure);
enum status room_close(struct room *room, struct bytes host, struct failure *failure);
/* After a match: back to the lobby with the same people. */
enum status room_rematch(struct room *room, struct bytes player, struct failure *failure);
enum status room_connected(struct room *room, struct bytes player, bool connected,
                           struct failure *failure);
/* A move of the kind ("roll"). Reactions go the short way below. */
enum status room_input(struct room *room, struct bytes player, const struct item *input,
                       struct failure *failure);
/* What is due by the clock. Takes (or renews) the lease for `owner`; CONFLICT if another has it;
 * NOT_FOUND if nothing is due. If boards refuse what a match brought (somebody has given them rules
 * that it does not keep to), room_refused() says so of the failure: set room->unscored on a fresh
 * copy, and the match ends without them. */
enum status room_step(struct room *room, struct bytes owner, struct failure *failure);

bool room_refused(enum status status);

/* The reaction of a player to a round, stamped with `at_ms`: fills in a change that refuses it
 * (INVALID, with a sentence) if the round is not open then, if it is the second, or if the player
 * is not in the room. */
enum status room_react_prepare(struct game *game, struct bytes code, struct bytes player,
                               unsigned round, int64_t at_ms, struct change *change,
                               struct failure *failure);

/* --- finding rooms --- */

struct room_list {
    struct item *rooms; /* META items */
    size_t count;
    struct bytes cursor; /* empty: no more */
};
/* Listed rooms of a kind in a status, newest first. */
enum status room_list(struct game *game, struct bytes kind, enum room_status status,
                      struct bytes cursor, size_t limit, struct arena *arena,
                      struct failure *failure, struct room_list *out);
/* Codes of rooms whose clock is due by then, and when the next one is (0: none). */
struct due_list {
    struct bytes *codes;
    size_t count;
    int64_t next_ms;
};
enum status room_due(struct game *game, int64_t by_ms, size_t limit, struct arena *arena,
                     struct failure *failure, struct due_list *out);

/* A token that keeps a seat: signed, names room and player. */
void room_token(const struct game *game, struct bytes code, struct bytes player, struct buf *to);
enum status room_token_read(const struct game *game, struct bytes token, struct arena *arena,
                            struct failure *failure, struct bytes *code, struct bytes *player);

const char *room_status_name(enum room_status status); /* lobby, playing, over, closed */

#endif

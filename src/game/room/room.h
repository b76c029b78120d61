/* clang-format off */
/* Rooms: people who play together, now. A room is a partition of the table, and none of its state is
 * in the process, so after a restart a room goes on where it was.
 *
 *   room         PK ROOM#<code>       SK META                  GSI1 ROOMS#<kind> / <status>#<created>#<code>, if listed
 *                                                              GSI2 CLOCKS / <due>#<code>, if it has a timer
 *   seat         PK ROOM#<code>       SK PLAYER#<player>       GSI1 PLAYER#<player> / ROOM#<joined>#<code>; see room_seats.h
 *   round        PK ROOM#<code>       SK ROUND#<n>
 *   reaction     PK ROOM#<code>       SK CLICK#<n>#<player>
 *   lease        PK ROOM#<code>       SK LEASE                 which server runs its timer, until when
 *   connection   PK CONNECTION#<id>   SK META                  GSI1 ROOM#<code> / CONNECTION#<id>; see room_connection.h
 *   match        PK MATCH#<ulid>      SK META                  GSI1 MATCHES#<code> / <ulid>; stays
 *
 * All but matches have a `ttl`. Numbers in keys have four digits, so that they sort.
 *
 * A change to a room is an optimistic transaction: it is made on a loaded copy (`struct room`), which
 * belongs to one thread, and written back on condition that the room's version is what it was; if it
 * is not, the caller loads the room and makes the change again. Reactions are the exception: they
 * only check that the round is open, and do not conflict with each other.
 */
/* clang-format on */
#ifndef GT_GAME_ROOM_ROOM_H
#define GT_GAME_ROOM_ROOM_H

#include "base/limits.h"
#include "game/game.h"

enum room_status { ROOM_LOBBY, ROOM_PLAYING, ROOM_OVER, ROOM_CLOSED };

enum {
    ROOM_CODE_SIZE = 5,                     /* letters and digits that cannot be mistaken */
    ROOM_SEATS_MAX = LIMIT_ROOM_SEATS,      /* with spectators */
    ROOM_LIFE_S = 24 * 3600,                /* after its last change */
    ROOM_NAME_MAX = LIMIT_ROOM_PLAYER_NAME, /* characters of a player's name, */
    ROOM_TITLE_MAX = LIMIT_ROOM_TITLE,      /* and of a room's */
    ROOM_BANNED_MAX = LIMIT_ROOM_BANNED,
    ROOM_HOST_GRACE_MS = 15 * 1000, /* a host who is away so long is not the host any more */
};

/* What room_save_prepare() does with a seat. */
enum mark { MARK_SAME, MARK_NEW, MARK_CHANGED, MARK_REMOVED };

struct seat {
    struct bytes player, name, colour;
    unsigned number;         /* 1, 2, ...: the order of turns */
    bool spectator, waiting; /* waiting: a spectator who joined during a match and plays the next */
    bool ready, connected;
    bool bot; /* the server plays for it, by the kind's rules for bots */
    int64_t score, streak, joined_ms;
    /* When it was last connected or disconnected; 0: it has never been connected. And when the last
     * connection that ended was last heard from, which is earlier if its network had gone. */
    int64_t since_ms, heard_ms;
    struct item state;  /* what the kind of game keeps of the player */
    int64_t reacted_ms; /* in this round (room_load_reactions); 0: has not */
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
    int64_t due_ms;        /* when its timer fires; 0: it waits for people */
    int64_t created_ms;
    struct item options; /* the kind's options, as they were chosen when it was made */
    struct item state;   /* what the kind of game keeps of the match */
    struct seat seats[ROOM_SEATS_MAX];
    size_t seat_count;
    struct bytes banned[ROOM_BANNED_MAX]; /* players who may not come again */
    size_t banned_count;
    unsigned invitation;      /* the number of the invitation that is good: see room_invitation() */
    struct item round_item;   /* of this round; count 0: none */
    struct bytes lease_owner; /* the server that runs the timer; empty: none yet */
    int64_t lease_until_ms;
    int64_t now_ms; /* when it was loaded, which is the time of the change */
    bool unscored;  /* the boards refuse this match's scores: it ends without them */

    /* What is written in addition to the room and its seats (room_add_action). */
    struct action *extra_actions;
    size_t extra_action_count, extra_action_capacity;
    struct submit *submits[ROOM_SEATS_MAX]; /* scores of a match's end: they hold boards */
    size_t submit_count;
};

/* The partition of a room's items, "ROOM#<code>", in the arena. */
struct bytes room_pk(struct arena *arena, struct bytes code);
/* Loads the room, its seats and its current round, in the arena. NOT_FOUND with a sentence. */
enum status room_load(struct game *game, struct bytes code, struct scope in, struct room *out);
struct room_version {
    uint64_t version; /* 0: there is no such room */
    int64_t due_ms;   /* when its timer fires; 0: it has none */
};
/* Reads only the room's version and timer: one item, where room_load() reads them all. */
enum status room_read_version(struct game *game, struct bytes code, struct scope in,
                              struct room_version *out);
/* Fills in when the players reacted in this round. Saving the room then fails with CONFLICT if
 * another reaction was written meanwhile, so that whoever judges a round has seen all that was
 * accepted. */
enum status room_load_reactions(struct room *room, struct failure *failure);
/* Gives back the boards that a room may hold; after its change is done. The room's memory is its
 * arena's. */
void room_release(struct room *room);
/* Adds an action to the change that saves the room. Copies it, and sets its table. */
void room_add_action(struct room *room, const struct action *action);
/* Fills in the change that writes the room, its marked seats and the added actions, if the room's
 * version is still what it was; else the change fails with CONFLICT. */
void room_save_prepare(struct room *room, struct change *change);
/* The result of a change that is done: OK, CONFLICT, or the failure of one of its actions. */
enum status room_save_result(const struct change *change, struct failure *failure);
/* After the change has succeeded: makes the copy equal to what room_load() would give now. */
void room_after_save(struct room *room);

struct seat *room_seat(struct room *room, struct bytes player); /* NULL: has no seat */
unsigned room_players(const struct room *room);                 /* seats without spectators */
/* Whether the seat's player was connected and is not any more. Who has never been, such as a player
 * of another protocol, is not away. */
bool seat_is_away(const struct seat *seat);

/* --- commands --- */

/* Each changes a loaded room, to be saved by the caller, or returns INVALID, DENIED or NOT_FOUND
 * with a sentence. */

struct room_settings {
    struct bytes kind, title;
    unsigned capacity; /* 0: as many as the kind takes */
    bool listed;
    struct item options;
    struct bytes host, host_name;
};
/* Makes a new room, to be saved, with a random code; its host has the first seat. If saving it
 * comes to CONFLICT the code was taken: make it again. */
enum status room_make(struct game *game, const struct room_settings *settings, struct scope in,
                      struct room *out);
struct seat_request {
    struct bytes player, name;
    bool spectator;
};
/* Gives the player a seat; one who has a seat already keeps it: whether it is that player is for
 * the caller to know (room_token_read). LIMIT_EXCEEDED if the room is full, DENIED if the host has
 * banned the player. During a match one joins as a spectator, who waits for the next match. */
enum status room_join(struct room *room, const struct seat_request *request,
                      struct failure *failure);
enum status room_ready(struct room *room, struct bytes player, bool ready, struct failure *failure);
enum status room_start(struct room *room, struct bytes player, struct failure *failure);
enum status room_leave(struct room *room, struct bytes player, struct failure *failure);
enum status room_kick(struct room *room, struct bytes host, struct bytes player,
                      struct failure *failure);
/* The same for good: that player cannot come again, and invitations that were given out before are
 * worth nothing. */
enum status room_ban(struct room *room, struct bytes host, struct bytes player,
                     struct failure *failure);
/* A spectator becomes a player (during a match: of the next one), or a player a spectator. */
enum status room_play(struct room *room, struct bytes player, bool play, struct failure *failure);
/* Adds a player for whom the server plays. By the host, in the lobby. */
enum status room_add_bot(struct room *room, struct bytes host, struct failure *failure);
struct room_changes {
    struct bytes kind;          /* empty: the same */
    const struct item *options; /* NULL: the same; those of another kind are its defaults */
};
/* Another game, or other options. By the host, in the lobby. */
enum status room_change(struct room *room, struct bytes host, const struct room_changes *changes,
                        struct failure *failure);
enum status room_close(struct room *room, struct bytes host, struct failure *failure);
/* After a match. By the host: back to the lobby with the same people. By others: says that they
 * would, and are ready for it. */
enum status room_rematch(struct room *room, struct bytes player, struct failure *failure);
enum status room_set_connected(struct room *room, struct bytes player, bool connected,
                               struct failure *failure);
/* A move: one of the kind's verbs with its fields (match.h). Reactions are not made by this, but by
 * room_react_prepare(). */
enum status room_input(struct room *room, struct bytes player, const struct item *input,
                       struct failure *failure);
/* Does what the room's timer is for, if it has fired: the kind's step of a match, or, between
 * matches, another host instead of one who is away. Takes or renews the lease for the server
 * `owner`; CONFLICT if another server has it, NOT_FOUND if nothing is due. If a match ends and its
 * boards refuse the scores (somebody has given them other rules), room_scores_refused() of the
 * status is true: load the room again and set room->unscored, and the match ends without scores. */
enum status room_step(struct room *room, struct bytes owner, struct failure *failure);

bool room_scores_refused(enum status status);
/* Until when what players said counts in the room's step, if that is due by `by_ms` (see
 * match_kind.counts_until); 0: nobody is waited for. */
int64_t room_counts_until(const struct room *room, int64_t by_ms);

struct reaction {
    struct bytes code, player;
    unsigned round;
    int64_t at_ms; /* the server's time at which it came in */
};
/* Fills in a change that writes the reaction, and refuses it (INVALID or DENIED, with a sentence)
 * if the round is not open at that time, if it is the player's second, or if the player is not in
 * the room. */
enum status room_react_prepare(struct game *game, const struct reaction *reaction,
                               struct change *change, struct failure *failure);

/* --- finding rooms --- */

struct room_list_request {
    struct bytes kind;
    enum room_status status;
    struct bytes cursor; /* of the page before; empty: the first page */
    size_t limit;
    bool open; /* only those that one can join now: there is room, and somebody is there */
};
struct room_list {
    struct item *rooms; /* META items */
    size_t count;
    struct bytes cursor; /* empty: no more */
};
/* Listed rooms of a kind in a status, newest first. */
enum status room_list(struct game *game, const struct room_list_request *request, struct scope in,
                      struct room_list *out);

struct due_request {
    int64_t by_ms;
    size_t limit;
};
struct due_list {
    struct bytes *codes; /* rooms whose timer fires by then, the earliest first; in the arena */
    size_t count;
    int64_t next_ms; /* if there are none: when the next timer fires; 0: there is no timer */
};
enum status room_due(struct game *game, struct due_request request, struct scope in,
                     struct due_list *out);

/* What the token of a seat says: it keeps the seat that the player took in the room at that time.
 * One who leaves and comes again has another token. */
struct room_token {
    struct bytes code, player;
    int64_t joined_ms;
};
/* Appends the token, signed. */
void room_token(const struct game *game, const struct room_token *token, struct buf *to);
/* What a token says, in the arena. DENIED with a sentence if it is not ours. */
enum status room_token_read(const struct game *game, struct bytes token, struct scope in,
                            struct room_token *out);

/* Whether the token's seat is there: *joined_ms is when its player sat down, 0 if nobody of that
 * name sits there. */
enum status room_seat_joined(struct game *game, const struct room_token *token, struct scope in,
                             int64_t *joined_ms);

/* An invitation: lets whoever has it into one room, as a guest, on a server that asks everybody
 * else who they are. It is good for that room until the next ban. */
struct room_invitation {
    struct bytes code;
    int64_t created_ms; /* of the room */
    unsigned number;
};
/* Appends the room's invitation, signed. */
void room_invitation(const struct room *room, struct buf *to);
/* What an invitation says, in the arena. DENIED with a sentence if it is not ours. */
enum status room_invitation_read(const struct game *game, struct bytes token, struct scope in,
                                 struct room_invitation *out);
/* Whether it is still good for the room. */
bool room_invitation_holds(const struct room *room, const struct room_invitation *invitation);

const char *room_status_name(enum room_status status); /* lobby, playing, over, closed */

#endif

/* Access control: may this caller do this?
 *
 * The one place where that is decided, for every front end. A caller (caller.h) is who asks: a key,
 * a player by its token, both, or nobody. A touch is what the operation would touch. Front ends
 * find the caller, fill in the touch and ask access_decide(); a refusal is a reason, which each of
 * them words as its protocol does.
 *
 * What an operation touches is declared where the operation is: in the table of REST routes
 * (rest/rest_routes.c), of Redis commands (redis/command_table.c and the lists it names), of
 * DynamoDB operations (dynamodb/operation.c; the guard before the engine, guard.h, then asks for
 * each item and table), of live subscriptions (live/live_hub.h), and by admin.c. The declaration is
 * not optional: TOUCHES_UNDECLARED is zero, and refused to everybody, on a server without keys too.
 * tests/unit/api/test_access_control.c holds all declarations against one table of who may what.
 *
 * What each kind of touch asks for, when the server has keys:
 *
 *     touches      a server's key                    a client's key    a player's token
 *     NOTHING      yes, and so does nobody at all    yes               yes
 *     CONNECTION   yes                               yes               no
 *     ENGINE       yes; the guard asks further       yes; the guard    no
 *     SERVER       access, on all partitions         no                no
 *     SCHEMA       access, or any if none is named   no                no
 *     TABLE        access, on all partitions         no                no
 *     PARTITION    access, on that partition         no                no
 *     GAME         access, on all partitions         access            yes
 *     PLAYER       access, on all partitions         with a token      its own
 *     ROOM         as GAME                           access            yes
 *     JOIN         as PLAYER                         with a token      its own
 *     SEAT         by a seat's token only
 *
 * A guest has shown an invitation to a room and nothing else: ROOM and JOIN of that room, where the
 * server lets guests in; nothing more. Whether the invitation still holds is known where the room
 * is loaded (room_invitation_holds).
 *
 * A key and a token together may do what both may. Without keys everybody is a server, except who
 * shows a player's token: that one is the player.
 *
 * Any thread; nothing is allocated and nothing is kept.
 */
#ifndef GT_API_ACCESS_H
#define GT_API_ACCESS_H

#include "api/caller.h"

enum touches {
    TOUCHES_UNDECLARED, /* nobody has said: refused */
    TOUCHES_NOTHING,    /* nothing that is anybody's: what the server tells to strangers */
    TOUCHES_CONNECTION, /* the caller's own connection, and what is the same for everybody */
    TOUCHES_ENGINE,     /* whatever the request names: the guard before the engine decides */
    TOUCHES_SERVER,     /* the process: its clock, its clients, its figures and settings */
    TOUCHES_SCHEMA,     /* a table by name: its description, and none of its items */
    TOUCHES_TABLE,      /* a table as a whole: its definition, all of its items, copies of it */
    TOUCHES_PARTITION,  /* items of one partition; of the game's table: a board */
    TOUCHES_GAME,       /* what all who play may see: boards, ranks, rooms */
    TOUCHES_PLAYER,     /* what belongs to one player: profile, scores, plays, seats */
    TOUCHES_ROOM,       /* one room, as those who play may see it */
    TOUCHES_JOIN,       /* a seat in a room, for one player */
    TOUCHES_SEAT,       /* a room, as one of those who sit in it */
};

struct touch {
    enum touches what;
    unsigned access;        /* of enum access; 0: any */
    struct bytes table;     /* "*": every table there is or will be */
    struct bytes partition; /* the key of PARTITION as text; not given: not known */
    struct bytes player;    /* whose PLAYER; empty: nobody is named, so the caller's own */
    struct bytes room;      /* the code of ROOM, JOIN and SEAT */
};

enum denial {
    DENIAL_NONE,       /* it may */
    DENIAL_UNDECLARED, /* the operation does not say what it touches */
    DENIAL_UNKNOWN,    /* nobody may without saying who they are */
    DENIAL_ACCESS,     /* the key is not for this table, or not for reading, writing, ... */
    DENIAL_PARTITION,  /* the key is kept to some partitions, and this is more than those */
    DENIAL_ROLE,       /* this is for servers, not for clients and players */
    DENIAL_TOKEN,      /* a client does this for a player, whose token is missing */
    DENIAL_PLAYER,     /* the token is another player's */
    DENIAL_SEAT,       /* the caller has no seat in that room */
    DENIAL_GUEST,      /* a guest may only come into the room of the invitation */
};

enum denial access_decide(const struct caller *caller, const struct touch *touch);
/* Whether partitions matter to the caller. If not, nobody needs to find out which one a request
 * touches before asking. */
bool access_is_partitioned(const struct caller *caller);
/* The refusal as a sentence, for front ends that answer in prose: DENIED. `denial` is one. */
enum status access_explain(enum denial denial, const struct touch *touch, struct scope in);

#endif

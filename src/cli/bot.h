/* A player that is not a person: sits in a room, says it is ready, does what the room's kind of
 * game has its bots do (match_kind.bot), and connects again when its connection is lost. The host
 * of a room that they made starts the match: the first bot, or another one after it was away. */
#ifndef GT_CLI_BOT_H
#define GT_CLI_BOT_H

#include "base/random.h"
#include "cli/bot_socket.h"
#include "json/json.h"

enum { LATENCY_BUCKETS = 2000 }; /* a millisecond each, the last one open */

/* What all bots share. One thread. */
struct bots {
    uv_loop_t *loop;
    struct random random;
    unsigned matches;   /* that each room plays */
    int error_percent;  /* how often a bot is wrong */
    bool eager;         /* they react to whatever there is to react to */
    int slow_ms;        /* the longest a bot takes to react */
    unsigned spread_ms; /* over which rooms begin, one after the other */
    unsigned count;     /* of all bots, */
    unsigned playing;   /* those that are not done, */
    unsigned in_match;  /* and those whose last state was of a match that goes on */
    uint64_t states, moves, refused, lost, finished;
    /* Of `refused`: moves that were refused as too late, although they were sent before the round's
     * end; and those that were sent after it. By this machine's clock, so between two machines it
     * says what their clocks say. */
    uint64_t refused_early, refused_late;
    /* Of rounds while all bots are in a match: from their beginning to here. */
    uint64_t latency[LATENCY_BUCKETS];
};

struct bot {
    struct bots *bots;
    struct bot_socket socket;
    uv_timer_t timer; /* for what it is about to do, or to come back */
    struct buf path;  /* of its subscription to the room */
    struct buf player;
    unsigned seats;    /* of its room, if they made it: the host waits for them; else 0 */
    unsigned begin_ms; /* when it comes, after the first */
    enum bot_plan { PLAN_NOTHING, PLAN_OPEN, PLAN_MOVE, PLAN_REMATCH, PLAN_START } plan;
    struct buf move;  /* what it says when PLAN_MOVE is due */
    int64_t ends_ms;  /* the end of the round that it is about; 0: it has none */
    unsigned said;    /* moves, which number them */
    uint32_t early;   /* of the last 32 a bit each, by number: it was sent before its round's end */
    int64_t answered; /* the round or turn it has dealt with, or is about to; 0: none */
    bool may_repeat;  /* that answer may be given again on a new connection */
    int64_t round;    /* the last open one it was told of */
    unsigned match;
    uint64_t version; /* of the last state that counted as news */
    unsigned waits;   /* failed attempts in a row */
    bool done, said_ready, said_start, in_match;
};

/* `path` and `player` are taken; everything else is filled in. */
void bot_begin(struct bot *bot);
/* Ends its handles; the loop must run once more. */
void bot_end(struct bot *bot);

/* How many rounds that reached a bot count; and the smallest number of milliseconds that so many
 * percent of them took at most. */
uint64_t bots_counted(const struct bots *bots);
unsigned bots_latency(const struct bots *bots, double percent);

#endif

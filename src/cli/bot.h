/* A player that is not a person: sits in a room, says it is ready, taps or rolls in its own time,
 * and comes back when its line is lost. The first bot of a room is its host and starts the match.
 */
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
    bool eager;         /* they tap whatever is called */
    int slow_ms;        /* the longest a bot takes to react */
    unsigned spread_ms; /* over which rooms begin, one after the other */
    unsigned count;     /* of all bots, */
    unsigned playing;   /* those that are not done, */
    unsigned in_match;  /* and those whose last state was of a match that goes on */
    uint64_t states, reactions, refused, rolls, lost, finished;
    /* Of rounds while all bots are in a match: from their beginning to here. */
    uint64_t latency[LATENCY_BUCKETS];
};

struct bot {
    struct bots *bots;
    struct bot_socket socket;
    uv_timer_t timer; /* for what it is about to do, or to come back */
    struct buf path;  /* of its line */
    struct buf player;
    bool host;
    unsigned seats;    /* of its room: the host waits for them */
    unsigned begin_ms; /* when it comes, after the first */
    enum bot_plan { PLAN_NOTHING, PLAN_OPEN, PLAN_TAP, PLAN_ROLL, PLAN_REMATCH, PLAN_START } plan;
    unsigned round; /* it has dealt with, or is about to */
    int64_t turn;
    unsigned match;
    uint64_t version; /* of the last state that counted as news */
    unsigned waits;   /* failed attempts in a row */
    bool done, said_ready, in_match;
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

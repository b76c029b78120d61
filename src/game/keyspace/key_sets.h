/* How many sorted sets a database has, without a look at each (board/board_count.h). For any
 * thread; what it finds is in the arena. */
#ifndef GT_GAME_KEYSPACE_KEY_SETS_H
#define GT_GAME_KEYSPACE_KEY_SETS_H

#include "game/game.h"
#include "game/keyspace/key_name.h"

struct key_sets_request {
    unsigned db;
    int64_t now_ms;
    bool nonblocking; /* be WOULD_BLOCK rather than wait, or list very much */
};

/* The database has `count` sorted sets, and those of the boards listed that turn out to be keys
 * when they are looked at: the few that are generations of a set, have expired, have the name of
 * another key, or of a definition. */
struct key_sets {
    uint64_t count;
    struct bytes *odd; /* names of boards, each once */
    size_t odd_count;
};

/* WOULD_BLOCK, UNSUPPORTED (each set has to be looked at), or what the engine says. */
enum status key_sets_count(struct game *game, const struct key_sets_request *request,
                           struct scope in, struct key_sets *out);

#endif

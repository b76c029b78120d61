/* The game on its table: the handle that every function of this folder takes.
 *
 * Everything a game keeps is an item of one table (the headers list the keys). This layer uses only
 * the table interface. Reads answer in the call. A write is two calls around a change that the
 * caller submits: x_prepare() checks the request and fills in the change, x_finish() makes the
 * answer when the change is done; a thread that may block calls game_wait() in between. Unless a
 * function says otherwise it may be called on any thread, takes no lock of the caller's, and leaves
 * its results in the arena it was given.
 */
#ifndef GT_GAME_GAME_H
#define GT_GAME_GAME_H

#include "table/change.h"

#include <stdatomic.h>

struct board_cache;    /* board/board_cache.c */
struct hidden_players; /* player/hidden_players.h */
struct write_rules;    /* table/write_rule.h */

struct game_settings {
    struct bytes table; /* the table's name; empty: "gametable" */
    struct bytes zones; /* the folder of time zone files; empty: the system's */
    /* The key that signs the tokens of plays, players and seats; at least 32 bytes. */
    struct bytes secret;
    /* Rooms have invitations, by which guests come in: see room_invitation(). */
    bool guests;
    /* Called once for each board that is skipped because its definition cannot be used. On any
     * thread; NULL: nothing is reported. */
    void (*report)(const char *text);
    /* Whether the calling thread may wait for what takes seconds, such as the first count of a
     * large board. Where it may not, a call returns WOULD_BLOCK instead and has to be made again on
     * a thread that may. NULL: all threads may. */
    bool (*may_wait)(void);
};

enum { GAME_REPORTED_MAX = 64 };

struct game {
    struct engine *engine;
    struct bytes table;
    struct game_settings settings;
    struct board_cache *boards;
    struct hidden_players *hidden;
    struct item_extractor *heads; /* of encoded heads of keys (keyspace/key_head.h) */
    _Atomic uint64_t reported[GAME_REPORTED_MAX]; /* hashes of names that were reported; 0: free */
    int64_t opened_ms;                            /* when game_open() was called */
    /* Commits that give a board another generation (board/board_generation.h), begun and done. */
    _Atomic uint64_t switches_begun, switches_done;
    struct write_rules *write_rules; /* checks items that clients write (board/client_writes.h) */
};

/* The table as the game makes it, in the arena; the name is borrowed. */
struct table_schema game_table_schema(struct bytes name, struct arena *arena);

/* Opens the game on its table, which is created if there is none; one that is there gets the
 * indexes and the stream it lacks, and is refused (INVALID) if its keys are others. Blocks. Borrows
 * the engine; copies the settings. */
enum status game_open(struct engine *engine, const struct game_settings *settings, struct scope in,
                      struct game **out);
/* Frees the game; nobody may use it any more. Blocks. It is called before the engine is closed, or
 * after it if game_engine_closed() was called in between, which makes it leave the engine alone. */
void game_close(struct game *game);
void game_engine_closed(struct game *game);

/* Reports the board `what` as skipped because of *failure, unless it was reported before. */
void game_report(struct game *game, struct bytes what, const struct failure *failure);

/* Whether the calling thread may wait. */
static inline bool game_may_wait(const struct game *game) {
    return game->settings.may_wait == NULL || game->settings.may_wait();
}

/* Submits the change and waits until it is committed or has failed. Never on an event loop's thread
 * or one of the engine's. */
enum status game_wait(struct game *game, struct change *change);

/* The names of the table's attributes and its indexes. */
#define GAME_PK       BYTES("PK")
#define GAME_SK       BYTES("SK")
#define GAME_SCORE    BYTES("score")
#define GAME_SUBSCORE BYTES("subscore")
#define GAME_TIE      BYTES("tie")
#define GAME_RANKS    BYTES("ranks") /* index: PK; score, subscore, tie. Keys only. */
#define GAME_GSI1     BYTES("GSI1")  /* index: GSI1PK; GSI1SK. Everything. */
#define GAME_GSI2     BYTES("GSI2")  /* index: GSI2PK; GSI2SK. Everything. */

/* The key {PK, SK} as an item in the arena; borrows both strings. */
struct item game_key(struct arena *arena, struct bytes pk, struct bytes sk);
/* The action that has `compute` decide on the writer's thread what becomes of the item of that key
 * (ACTION_COMPUTE in table/change.h); `user` must stay until the change is done. */
struct action game_compute_action(struct game *game, struct item key, action_compute *compute,
                                  void *user);

#endif

/* Boards: what they count, and where their entries stand.
 *
 * A *definition* says how a board works: its game, timeframe, order, what it keeps, how it ranks.
 * An *instance* is one list of entries: a definition in a period and a scope. Its name is
 *
 *     ID                  tetris:daily would be the present day's for whoever asks by this name,
 *     ID@PERIOD           tetris:daily@2026-11-16    is what it is called in the table
 *     ID/SCOPE@PERIOD     tetris:daily/room:AB12@2026-11-16
 *
 * and without a definition any name at all: a *plain* board, which is all-time, keeps what was last
 * written, ranks ties by member and is made by its first entry.
 *
 *   definition  PK BOARDDEF#<id>        SK META         GSI1 BOARDS / <id>
 *                                                       GSI2 GAME#<game> / BOARD#<id>
 *   what it is  PK BOARDDEF#<id>        SK FEEDS#<id of a cross-game board>
 *   a source of
 *   instance    PK INSTANCE#<instance>  SK STATE        GSI1 INSTANCES / <instance>
 *               board, scope, period,                   GSI2 BOARD#<id> / <scope>@<period>
 *               startsAt, endsAt, createdAt;            (a plain one: none, or with expiresAt
 *               expiresAt, sealedAt, clearing            EXPIRING / <20 digits of ms>#<instance>;
 *                                                        while it is being cleared
 *                                                        CLEARING / <instance>)
 *   entry       PK BOARD#<instance>     SK <member>     score subscore tie ...   (entry.h)
 *
 * A name stands in a key as entry_key_of() writes it, so it may have any bytes.
 *
 * An instance's item is made in the same commit as its first entry. A period that has ended is
 * sealed: it can be read like any other and never written.
 */
#ifndef GT_GAME_BOARD_H
#define GT_GAME_BOARD_H

#include "game/game.h"
#include "game/period.h"

enum order { ORDER_HIGH, ORDER_LOW };                        /* who is first */
enum keep { KEEP_BEST, KEEP_LATEST, KEEP_SUM, KEEP_FIRST };  /* of several scores of a member */
enum tie { TIE_EARLIEST, TIE_MEMBER };                       /* who of equals stands first */
enum ranking { RANK_ORDINAL, RANK_COMPETITION, RANK_DENSE }; /* 1234, 1224, 1223 */
enum combine { COMBINE_SUM, COMBINE_BEST };

enum {
    BOARD_NAME_MAX = 1000, /* of an instance, in bytes */
    BOARD_ID_MAX = 128,    /* and of a scope */
    BOARD_TITLE_MAX = 256,
    BOARD_SEASONS_MAX = 100,
    BOARD_SCOPES_MAX = 20,
    BOARD_SOURCES_MAX = 50,
};
#define BOARD_LIFE_MAX (INT64_C(100) * 366 * 24 * 60 * 60) /* seconds */

struct board_rules {
    struct bytes id;    /* [A-Za-z0-9_.:-]{1,128} unless plain */
    struct bytes title; /* for people; may be empty */
    struct bytes game;
    bool plain;
    enum timeframe timeframe;
    struct bytes zone; /* name; empty: UTC */
    const struct season *seasons;
    uint32_t season_count;
    const struct bytes *scopes; /* kinds it is fed for: "global", "room", "*". None: global only */
    uint32_t scope_count;
    enum order order;
    enum keep keep;
    enum tie tie;
    enum ranking ranking;
    struct bytes score_min, score_max; /* encoded numbers; empty: none */
    int decimals;                      /* digits after the point; -1: any */
    bool subscores;                    /* a submission may have one */
    int64_t entry_life_s;              /* after its last improvement; 0: for ever */
    int64_t period_life_s;             /* how long a sealed period stays; 0: for ever */
    bool needs_play;                   /* only with the token of a play session (play.h) */
    int64_t play_min_ms;               /* that must have lasted so long */
    struct bytes play_score_max;       /* the most one play may bring; empty: any */
    const struct bytes *sources;       /* a cross-game board: the boards it is made of */
    uint32_t source_count;
    enum combine combine;
    const struct bytes *feeds; /* the cross-game boards it is a source of; only of a board found */
    uint32_t feed_count;
    int64_t created_ms, changed_ms;
};

/* --- definitions --- */

/* As an item, and back; faults say what is wrong with which member. */
struct item board_rules_item(const struct board_rules *rules, struct arena *arena);
enum status board_rules_read(const struct item *item, struct arena *arena, struct failure *failure,
                             struct board_rules *out);
/* Whether they can be: limits, names, zone, seasons. INVALID with a sentence. */
enum status board_rules_check(const struct game *game, const struct board_rules *rules,
                              struct arena *arena, struct failure *failure);
/* Fills in a change that makes the definition, or replaces it. Once there are entries, what their
 * order hangs on (order, tie, timeframe, zone) stays: INVALID. DUPLICATE if `create` and there. */
enum status board_define_prepare(struct game *game, const struct board_rules *rules, bool create,
                                 struct change *change, struct failure *failure);
enum status board_rules_get(struct game *game, struct bytes id, struct arena *arena,
                            struct failure *failure, struct board_rules *out);
/* Those of a game (empty: all), by id, after `after`. */
struct board_list {
    struct board_rules *boards;
    size_t count;
    bool more;
};
enum status board_list(struct game *game, struct bytes game_id, struct bytes after, size_t limit,
                       struct arena *arena, struct failure *failure, struct board_list *out);
/* Removes the definition, its instances and entries. Blocks. */
enum status board_remove(struct game *game, struct bytes id, struct arena *arena,
                         struct failure *failure);

/* --- instances --- */

/* A board as a request finds it: immutable, shared, counted. */
struct board {
    struct board_rules rules;
    struct bytes instance; /* its name in full */
    struct bytes scope;    /* empty: global */
    struct bytes pk;       /* BOARD#<instance> */
    struct period period;
    bool exists;         /* its item is there */
    bool clearing;       /* its entries are on their way out: as good as empty */
    int64_t expires_ms;  /* when it ends as a whole; 0: not */
    int64_t sealed_ms;   /* when it was sealed; 0: not yet */
    uint64_t touched[2]; /* what engine_touched() said of its two items */
};

/* The board of that name, as above; for a defined one by its id the period of now. A plain board
 * that does not exist is found too, with exists false. INVALID (a name too long, between seasons,
 * an impossible period). Give back with board_drop(). */
enum status board_find(struct game *game, struct bytes name, struct arena *arena,
                       struct failure *failure, const struct board **out);
/* The same by parts; empty scope: global; empty period: the present one. NOT_FOUND if no board of
 * that id is defined and no plain one exists. */
enum status board_find_part(struct game *game, struct bytes id, struct bytes scope,
                            struct bytes period, struct arena *arena, struct failure *failure,
                            const struct board **out);
void board_drop(const struct board *board);

/* Whether it can be written now; INVALID with a sentence if it is sealed or has not begun, BUSY if
 * its entries are on their way out: soon it can. */
enum status board_check_open(const struct board *board, int64_t now_ms, struct arena *arena,
                             struct failure *failure);
/* Whether the entries it has are not to be seen: it ended as a whole, or is being cleared. */
bool board_is_gone(const struct board *board, int64_t now_ms);
/* Whether there is such a board at all: one that is defined, or has an item of its own, or entries
 * that somebody put into the table without making one. */
bool board_is_there(struct game *game, const struct board *board, struct arena *arena);

/* Fills in the action that makes the instance's item if it is not there: part of the change that
 * writes to a board found with exists false. In an all_or_nothing change it also keeps the board
 * from being written while it is being cleared (BUSY) and once it is sealed (INVALID), as of the
 * commit: for boards with periods it is worth its look at an item always. */
void board_make_action(struct game *game, const struct board *board, struct arena *arena,
                       struct action *out);
/* Whether the board found is still what the table says: to be asked after a write to it was done.
 * If not (it was removed meanwhile), find it again and submit its make action. */
bool board_is_current(struct game *game, const struct board *board);

/* Instances by name after `after`; for a board's past periods and scopes give its id, for all of
 * them an empty one. Includes those without entries. */
struct instance_list {
    struct bytes *names; /* in full */
    struct item *states;
    size_t count;
    bool more;
};
enum status board_instances(struct game *game, struct bytes id, struct bytes after, size_t limit,
                            struct arena *arena, struct failure *failure,
                            struct instance_list *out);
/* Takes away all entries and the instance's item (`keep_item`: not that). Seen as empty by all from
 * the first commit on, whatever its size; goes on after a restart. Blocks. */
enum status board_clear(struct game *game, const struct board *board, bool keep_item,
                        struct arena *arena, struct failure *failure);
/* The same in steps, for those who decide on other things in the same commit. The action marks the
 * instance, whose item must be there: from that commit on it is empty, and not to be written. Then
 * each step is a commit; *more until all is gone; `after` is where it has come to and begins empty.
 * Steps block. Left undone for a while, the keeper goes on with it. */
void board_clear_action(struct game *game, const struct board *board, struct arena *arena,
                        struct action *out);
enum status board_clear_step(struct game *game, const struct board *board, struct buf *after,
                             struct arena *arena, struct failure *failure, bool *more);
/* The action that takes away the item of an instance that has no entries any more. */
void board_unmake_action(struct game *game, const struct board *board, struct arena *arena,
                         struct action *out);
/* Sets (0: takes away) when the instance ends as a whole. */
void board_expire_action(struct game *game, const struct board *board, int64_t expires_ms,
                         struct arena *arena, struct action *out);

/* Names of the enums as clients write them, and back (-1: none of them). */
const char *order_name(enum order order);    /* high, low */
const char *keep_name(enum keep keep);       /* best, latest, sum, first */
const char *tie_name(enum tie tie);          /* earliest, member */
const char *ranking_name(enum ranking rank); /* ordinal, competition, dense */
const char *combine_name(enum combine how);  /* sum, best */
int order_named(struct bytes name);
int keep_named(struct bytes name);
int tie_named(struct bytes name);
int ranking_named(struct bytes name);
int combine_named(struct bytes name);

#endif

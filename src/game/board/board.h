/* Leaderboards: their definitions, and the lists of entries that belong to them.
 *
 * A *definition* says how a board works: its game, timeframe, order, what it keeps, how it ranks.
 * An *instance* is one list of entries: a definition in a period and a scope. Its name is
 *
 *     ID@PERIOD           tetris:daily@2026-11-16
 *     ID/SCOPE@PERIOD     tetris:daily/room:AB12@2026-11-16
 *
 * and a request that asks for tetris:daily gets the instance of the present day. Any other name is
 * a *plain* board: without a definition, all-time, keeping the score last written, with ties ranked
 * by member. Its first entry makes it.
 *
 *   definition  PK BOARDDEF#<id>        SK META         GSI1 BOARDS / <id>
 *                                                       GSI2 GAME#<game> / BOARD#<id>
 *   source of   PK BOARDDEF#<id>        SK FEEDS#<id of the cross-game board>
 *   instance    PK INSTANCE#<instance>  SK STATE        GSI1 INSTANCES / <instance>
 *               board, scope, period,                   GSI2 BOARD#<id> / <scope>@<period>
 *               startsAt, endsAt, createdAt;            (a plain one: none, or with expiresAt
 *               expiresAt, sealedAt, clearing            EXPIRING / <20 digits of ms>#<instance>;
 *                                                        while it is being cleared
 *                                                        CLEARING / <instance>)
 *   entry       PK BOARD#<instance>     SK <member>     score subscore tie ...   (entry.h)
 *               or BOARD~<generation>#<instance>        (board_generation.h)
 *
 * A name stands in a key as entry_key_of() writes it, so it may have any bytes.
 *
 * An instance's item is made in the same commit as its first entry. A period that has ended is
 * sealed: it can be read like any other and never written.
 */
#ifndef GT_GAME_BOARD_BOARD_H
#define GT_GAME_BOARD_BOARD_H

#include "base/buf.h"
#include "base/limits.h"
#include "game/board/period.h"
#include "game/game.h"
#include "table/inprocess.h"

enum order { ORDER_HIGH, ORDER_LOW };                        /* which score is first */
enum keep { KEEP_BEST, KEEP_LATEST, KEEP_SUM, KEEP_FIRST };  /* which of a member's scores stays */
enum tie { TIE_EARLIEST, TIE_MEMBER };                       /* which of equal entries is first */
enum ranking { RANK_ORDINAL, RANK_COMPETITION, RANK_DENSE }; /* 1234, 1224, 1223 */
enum combine { COMBINE_SUM, COMBINE_BEST }; /* how a cross-game board joins its sources */

enum {
    BOARD_NAME_MAX = LIMIT_BOARD_NAME, /* of an instance, in bytes */
    BOARD_ID_MAX = LIMIT_BOARD_ID,     /* and of a scope */
    BOARD_TITLE_MAX = LIMIT_BOARD_TITLE,
    BOARD_SEASONS_MAX = LIMIT_BOARD_SEASONS,
    BOARD_SCOPES_MAX = LIMIT_BOARD_SCOPES,
    BOARD_SOURCES_MAX = LIMIT_BOARD_SOURCES,
    BOARD_PLAY_LIFE_S = 24 * 60 * 60, /* how long a play's token is valid by default */
};
#define BOARD_LIFE_MAX (INT64_C(100) * 366 * 24 * 60 * 60) /* seconds */

/* A definition. What it points to lives where it was read from: the arena, or the struct board. */
struct board_rules {
    struct bytes id;    /* [A-Za-z0-9_.:-]{1,128} unless plain */
    struct bytes title; /* for people; may be empty */
    struct bytes game;
    bool plain;
    enum timeframe timeframe;
    struct bytes zone; /* name; empty: UTC */
    const struct season *seasons;
    uint32_t season_count;
    const struct bytes *scopes; /* kinds of scopes it has: "global", "room", "*"; none: global */
    uint32_t scope_count;
    enum order order;
    enum keep keep;
    enum tie tie;
    enum ranking ranking;
    struct bytes score_min, score_max; /* encoded numbers (value/number.h); empty: none */
    int decimals;                      /* digits after the point; -1: any */
    bool subscores;                    /* a submission may have one */
    int64_t entry_life_s;        /* an entry expires so long after it last improved; 0: never */
    int64_t period_life_s;       /* a sealed period is removed after so long; 0: never */
    bool needs_play;             /* a score needs the token of a play session (play_session.h) */
    int64_t play_min_ms;         /* which must have lasted so long */
    int64_t play_life_s;         /* how long its token is valid; 0: BOARD_PLAY_LIFE_S */
    struct bytes play_score_max; /* the highest score of one play; empty: any */
    const struct bytes *sources; /* a cross-game board: the boards it is made of */
    uint32_t source_count;
    enum combine combine;
    const struct bytes
        *feeds; /* the cross-game boards it is a source of; filled in by board_find() */
    uint32_t feed_count;
    int64_t created_ms, changed_ms;
};

/* --- definitions --- */

/* Rules as the definition's item, and back. INVALID with a sentence that names the attribute. */
struct item board_rules_item(const struct board_rules *rules, struct arena *arena);
enum status board_rules_read(const struct item *item, struct scope in, struct board_rules *out);
/* Checks rules that a client sent: limits, names, zone, seasons. INVALID with a sentence. */
enum status board_rules_check(const struct game *game, const struct board_rules *rules,
                              struct scope in);
/* Fills in a change that makes the definition, or replaces it; the caller has set change->arena and
 * submits it. The rules are checked at once, with the sentence in change->failure; what depends on
 * the table is checked in the commit. INVALID if the board has entries and what their order depends
 * on (order, tie, timeframe, zone) would change. CONFLICT if entries would become unreachable (a
 * season, a scope, subscores taken away) or a season that has ended would be live again. DUPLICATE
 * if `create` and the definition exists. One that exists and cannot be read is replaced. */
enum status board_define_prepare(struct game *game, const struct board_rules *rules, bool create,
                                 struct change *change);
/* Reads the definition, without `feeds`. NOT_FOUND, or INVALID if it cannot be used. */
enum status board_rules_get(struct game *game, struct bytes id, struct scope in,
                            struct board_rules *out);
/* Which part of a list is read. */
struct list_range {
    struct bytes of;    /* only those of this game, or of this board; empty: all */
    struct bytes after; /* only those whose name sorts after this one; empty: from the first */
    size_t limit;       /* at most so many */
};

/* Definitions in the order of their ids, in the arena; the range is `of` a game. A definition that
 * cannot be used is left out and reported to the game's settings.report(). */
struct board_list {
    struct board_rules *boards;
    size_t count;
    bool more; /* there are some after the last one */
};
enum status board_list(struct game *game, const struct list_range *range, struct scope in,
                       struct board_list *out);
/* Removes the definition, its instances and their entries, in as many commits as it takes. Blocks
 * until that is done: not for a loop's thread. */
enum status board_remove(struct game *game, struct bytes id, struct scope in);

/* --- instances --- */

/* An instance as board_find() found it: immutable and shared by reference count, so that any thread
 * may read it until its board_drop(). */
struct board {
    struct board_rules rules;
    struct bytes instance;   /* its name in full */
    struct bytes scope;      /* empty: global */
    struct bytes key;        /* its name as it stands in keys */
    struct bytes generation; /* of its entries (board_generation.h); empty: they have none */
    struct bytes pk;         /* where its entries are: BOARD#<instance>, or of the generation */
    struct period period;
    bool exists;        /* it has an INSTANCE# item */
    bool keyed;         /* there is a string, hash or set of its name, which Redis sees */
    bool clearing;      /* its entries are being deleted: it reads as empty */
    bool littered;      /* BOARD#<instance> has entries of a set that was removed */
    int64_t expires_ms; /* when it expires with all its entries; 0: never */
    int64_t sealed_ms;  /* when it was sealed; 0: not yet */
    /* Of its definition's, its item's and its key's (keyspace/key_head.h) partition, when read. */
    uint64_t partition_version[3];
};

/* Finds the board of that name (see above), in a cache if it was found before; by the id of a
 * definition the instance of the present period. A plain board that does not exist is found too,
 * with `exists` false. INVALID if the name is too long, the period cannot be, or it is between
 * seasons. Any thread. The caller gives the board back with board_drop(). */
enum status board_find(struct game *game, struct bytes name, struct scope in,
                       const struct board **out);
/* A board's name, ID[/SCOPE][@PERIOD], taken apart. */
struct board_name {
    struct bytes id;
    struct bytes scope;         /* empty: global */
    struct bytes period;        /* empty: the present one */
    bool has_scope, has_period; /* set by board_name_of(): there was a '/', a '@' */
};
/* As board_find(), by the parts of the name; NOT_FOUND if no board of that id is defined and no
 * plain one exists. */
enum status board_find_parts(struct game *game, const struct board_name *name, struct scope in,
                             const struct board **out);
/* Gives up a reference; the last one frees the board. NULL does nothing. */
void board_drop(const struct board *board);
/* For walks over boards: whether to skip one for which board_find() answered `status`. True if it
 * was removed meanwhile, or cannot be used because its definition was written by hand or by another
 * version; settings.report() is told of the latter. False: the walk itself has failed. */
bool board_walk_skips(struct game *game, struct bytes name, enum status status,
                      const struct failure *failure);

/* Partition keys, in the arena: that of an instance's own item (INSTANCE#...), and for access
 * checks that of the entries of a board of that name, which need not exist (BOARD#...). */
struct bytes board_state_partition(const struct board *board, struct arena *arena);
struct bytes board_entries_partition(struct bytes name, struct arena *arena);

/* Whether the board can be written now. INVALID with a sentence if it is sealed or has not begun;
 * BUSY if it is being cleared, or has expired and is about to be: that soon ends. */
enum status board_check_open(const struct board *board, int64_t now_ms, struct scope in);
/* Whether the period is over, even if housekeeping has not sealed the instance yet or there is none
 * to seal. */
bool board_is_sealed(const struct board *board, int64_t now_ms);
/* Seals the instance with its final standings (board/board_seal.c), and waits for the commit. OK
 * also if somebody else has sealed it, or if it has no item yet; *sealed says whether it was this
 * call. Any thread that may block. */
enum status board_seal(struct game *game, const struct board *board, struct scope in, bool *sealed);
/* Whether the entries are not to be shown any more: the board has expired, or is being cleared. */
bool board_is_gone(const struct board *board, int64_t now_ms);
/* Whether the board is defined, or has an item of its own, or has entries that a client put into
 * the table without one. The last costs a count of the index. */
bool board_exists(struct game *game, const struct board *board, struct arena *arena);

/* Fills in the action that makes the instance's item unless there is one: it belongs into each
 * change that writes to a board found with `exists` false. In an all_or_nothing change it also
 * refuses the whole change if, at the commit, the board is being cleared (BUSY) or sealed
 * (INVALID). Boards with periods therefore have it in every change. */
void board_create_action(struct game *game, const struct board *board, struct arena *arena,
                         struct action *out);
/* For who makes a key of that name (keyspace/key_head.h): whether it is the name of no board,
 * neither of a definition nor of an instance nor of entries that a client put into the table.
 * Nothing is cached: for names that are asked for once. */
enum status board_name_is_free(struct game *game, struct bytes name, struct scope in, bool *out);
/* Whether that is known without reading anything, which it mostly is of a name that is free. Asked
 * by the function of an action, it includes what came before that in the same commit. */
bool board_name_is_surely_free(struct game *game, struct bytes name, struct arena *arena);
/* The same but for the item that board_state_key() names, which there may be. */
bool board_is_surely_empty(struct game *game, struct bytes name, struct arena *arena);
/* The key of the item that an instance of that name has or would have: a change that makes a key of
 * the name checks that it is not there. INVALID if the name is too long. */
enum status board_state_key(struct bytes name, struct scope in, struct item *out);
/* Whether definition and instance are still what they were when the board was found, by their
 * partitions' versions. Ask after a write to it: if not, the board may have been removed meanwhile,
 * so find it again and submit board_create_action(). */
bool board_is_current(struct game *game, const struct board *board);
/* What that compares, for who asks about many boards at once: fills in `out` and returns how many
 * there are. */
enum { BOARD_VERSIONS = 3 };
size_t board_versions(const struct board *board, struct partition_seen out[BOARD_VERSIONS]);

/* Instances in the order of their names, in the arena, those without entries too. The range is `of`
 * a board; then they are its scopes and periods. */
struct instance_list {
    struct bytes *names; /* in full */
    struct item *states; /* their INSTANCE# items */
    size_t count;
    bool more; /* there are some after the last one */
};
enum status board_instances(struct game *game, const struct list_range *range, struct scope in,
                            struct instance_list *out);
/* How many instances there are, those without entries too: one count of an index. */
enum status board_instance_count(struct game *game, struct scope in, uint64_t *out);
/* Deletes all entries and, unless `keep_item`, the instance's item. However large it is, the board
 * reads as empty from the first commit on; what a crash interrupts is finished after the restart.
 * Blocks until all is deleted. */
enum status board_clear(struct game *game, const struct board *board, bool keep_item,
                        struct scope in);
/* Clearing in steps, for callers that write other things in the first commit. The action marks the
 * instance, whose item must exist: from that commit on the board reads as empty and refuses writes.
 * Each step then deletes some entries in a commit of its own and blocks for it, until `done`.
 * Clearing that makes no progress for a while is finished by housekeeping. */
void board_clear_action(struct game *game, const struct board *board, struct arena *arena,
                        struct action *out);
struct board_clear_progress {
    struct buf after; /* the key of the last entry deleted; begins empty, released by the caller */
    bool done;        /* all entries are gone */
};
enum status board_clear_step(struct game *game, const struct board *board,
                             struct board_clear_progress *progress, struct scope in);
/* Fills in the action that deletes the item of an instance without entries. */
void board_delete_action(struct game *game, const struct board *board, struct arena *arena,
                         struct action *out);
/* The action that sets when the instance expires with all its entries; 0: never. */
struct action board_expire_action(struct game *game, const struct board *board, int64_t expires_ms,
                                  struct arena *arena);

/* The words that clients use for the enums, and back; -1 for any other word. */
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

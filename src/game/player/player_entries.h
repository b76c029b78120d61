/* A walk through all entries of a player, in pages: the first half are those in the index GSI1,
 * which say whose they are; the second half are those that do not, such as ZADD writes, which are
 * looked up board by board. Private to this folder. */
#ifndef GT_GAME_PLAYER_PLAYER_ENTRIES_H
#define GT_GAME_PLAYER_PLAYER_ENTRIES_H

#include "game/player/player.h"

/* A walk through the entries of one player, and how far it has come: with only the first two filled
 * in it starts at the beginning. The rest borrows from the arena of the last page. */
struct player_entries_cursor {
    struct game *game;
    struct bytes id;
    bool by_board;         /* the first half is done */
    struct item after;     /* first half: the key of the last entry; count 0: none yet */
    struct bytes instance; /* second half: the last board that was looked at */
    bool ended;
};

struct player_entries_page {
    struct item *items; /* the entries, whole */
    size_t count;
    struct instance_list boards; /* second half: all boards that were looked at */
};

/* The next page; may be empty while there is more (cursor->ended is false). */
enum status player_entries_next(struct player_entries_cursor *cursor, struct scope in,
                                struct player_entries_page *out);

/* The partitions (BOARD#<instance>) of the page's entries, in the arena. */
struct bytes *player_entries_partitions(const struct player_entries_page *page,
                                        struct arena *arena);

#endif

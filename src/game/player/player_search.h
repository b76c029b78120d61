/* Players found by the beginning of their id, of a word of their name, or of their e-mail address,
 * in any case; in pages. Those with a profile, on boards or not, about a second after it was
 * written (player_finders.h).
 *
 * A page is a Query of GSI2 for each kind of match, in this order, and a get for each player found:
 * at most LIMIT_PLAYERS_LOOKED_AT. Any thread that may wait as engine_page() does.
 */
#ifndef GT_GAME_PLAYER_PLAYER_SEARCH_H
#define GT_GAME_PLAYER_PLAYER_SEARCH_H

#include "game/player/player.h"

enum player_search_by { SEARCH_BY_ANY, SEARCH_BY_ID, SEARCH_BY_NAME, SEARCH_BY_EMAIL };

struct player_search_request {
    struct bytes text; /* the beginning; empty: all players */
    enum player_search_by by;
    struct bytes after; /* `next` of the page before; empty: the first page */
    size_t limit;       /* of players */
};

struct player_list {
    struct player *players; /* by id, then by name, then by e-mail address; each once */
    size_t count;
    struct bytes next; /* where it goes on, in the arena; empty: that was all */
};

/* INVALID if `after` is not of this search. */
enum status player_search(struct game *game, const struct player_search_request *request,
                          struct scope in, struct player_list *out);

#endif

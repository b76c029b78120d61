/* Lists of the keys of a database that have a head (key_head.h): strings, hashes and sets. Sorted
 * sets are listed as boards are (board_instances()). Any thread; results are in the arena. */
#ifndef GT_GAME_KEYSPACE_KEY_LIST_H
#define GT_GAME_KEYSPACE_KEY_LIST_H

#include "game/keyspace/key_head.h"

struct key_list {
    struct bytes *names; /* as they were given, not escaped */
    size_t count;
    struct bytes last; /* the escaped name that the next page follows */
    bool more;         /* there are some after the last one */
};

/* At most `limit` keys after the escaped name `after` (empty: from the first), in the order of
 * their escaped names; those that have expired and are not removed yet too. */
struct key_list_range {
    unsigned db;
    struct bytes after;
    size_t limit;
};
enum status key_list(struct game *game, const struct key_list_range *range, struct scope in,
                     struct key_list *out);
/* How many there are, those that have expired and are not removed yet too: one count of an index.
 */
enum status key_list_count(struct game *game, unsigned db, struct scope in, uint64_t *out);

#endif

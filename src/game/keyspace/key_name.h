/* Keys of the Redis protocol: how a key of a database is named in the game's table.
 *
 * A key of type string, hash or set is a head item and, once it is large, an item for each field
 * (key_head.h), in a partition of its own:
 *
 *   KEY#<name>       of database 0
 *   KEY<n>#<name>    of database n, 1 to 15
 *
 * A sorted set is a board (board/board.h). In database 0 it is the board of the key's name; in
 * database n the plain board "#<n>#<name>". A name in database 0 that looks like one of those is
 * the board "#0#<name>", so no two keys share a board.
 *
 * A name stands in a key as entry_key_of() writes it, so it may have any bytes.
 */
#ifndef GT_GAME_KEYSPACE_KEY_NAME_H
#define GT_GAME_KEYSPACE_KEY_NAME_H

#include "base/arena.h"
#include "base/limits.h"
#include "base/status.h"

enum { KEY_DATABASES = 16, KEY_NAME_MAX = LIMIT_KEY_NAME };

/* A key, and how it stands in the table. */
struct key_address {
    unsigned db;
    struct bytes name; /* escaped, as in the partition's name */
    struct bytes pk;   /* KEY#<name> */
};

/* Fills in the address; it may borrow the name. INVALID with a sentence if the name is too long. */
enum status key_address_of(unsigned db, struct bytes name, struct scope in,
                           struct key_address *out);
/* The key's partition, for access checks: also of a name that is too long to be one. */
struct bytes key_partition(unsigned db, struct bytes name, struct arena *arena);

/* The name of the board that is the key's sorted set; may borrow the key's name. */
struct bytes key_board_name(unsigned db, struct bytes name, struct arena *arena);
/* Which key the board of that name is; borrowed from it. */
struct key_of_board {
    unsigned db;
    struct bytes name;
};
struct key_of_board key_of_board(struct bytes board);

#endif

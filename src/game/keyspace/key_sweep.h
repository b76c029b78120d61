/* Removes the fields of a hash that have expired, for housekeeping: readers do not see them from
 * the moment they expire, but the table has them until then. */
#ifndef GT_GAME_KEYSPACE_KEY_SWEEP_H
#define GT_GAME_KEYSPACE_KEY_SWEEP_H

#include "game/keyspace/key_fields.h"

/* Removes fields of the key that expire by now_ms, from a large key some in each call, and waits
 * for the commit. `head` is an item that was read before; nothing is done if the key is another by
 * now. Never on a loop's or the engine's thread. */
enum status key_sweep_fields(struct game *game, const struct item *head, int64_t now_ms,
                             struct scope in);

#endif

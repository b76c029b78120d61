/* What the housekeeping of keys does: large hashes and sets (key_fields.h) that have expired are
 * removed, fields that have (key_sweep.h), and the items that belong to no key any more. Keys that
 * are one item are removed by the table itself, by their ttl. */
#ifndef GT_GAME_KEYSPACE_KEY_ENDS_H
#define GT_GAME_KEYSPACE_KEY_ENDS_H

#include "game/game.h"

/* Removes some of the large keys and of the fields that expire by now_ms, and waits for the
 * commits. *more: there may be others. Never on a loop's or the engine's thread. */
enum status key_ends_step(struct game *game, int64_t now_ms, struct scope in, bool *more);

#endif

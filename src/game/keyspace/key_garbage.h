/* Items that belong to no key: what large keys have left behind, and what is being written for one.
 *
 *   PK KEYGARBAGE  SK <id>  key S (the partition)  after N (ms: not to be deleted before; or none)
 *                           entries BOOL (all of the partition, which is a board's)
 *                           staged BOOL (a lease of who writes them)
 *                           upTo S (up to which key they are deleted)
 *
 * A note without `entries` is about the items F#<id>#... of a large hash or set (key_fields.h), one
 * with it about a generation of a sorted set (board/board_generation.h). The items are deleted
 * later, some in each commit, and finally the note. A large key that is written before its commit
 * has a note first, which that commit deletes: if it never comes, the items go. Such a note is a
 * lease: `after` is moved on while the writing lasts; one of an earlier process counts for nothing.
 *
 * Functions are for any thread unless they say otherwise, and leave their results in the arena.
 */
#ifndef GT_GAME_KEYSPACE_KEY_GARBAGE_H
#define GT_GAME_KEYSPACE_KEY_GARBAGE_H

#include "game/game.h"

struct key_garbage {
    struct bytes id;        /* of a hash or set: its generation */
    struct bytes partition; /* where the items are */
    bool entries;           /* all items of that partition, which is a board's */
    bool staged;      /* they are being written: after_ms is LIMIT_GENERATION_LEASE_MS from now */
    int64_t after_ms; /* 0: they may be deleted at once */
};

/* The actions that write the note, and delete it. The second fails the change (CONDITION_FAILED) if
 * there is none: the items may have been deleted. */
struct action key_garbage_note(struct game *game, const struct key_garbage *garbage,
                               struct arena *arena);
struct action key_garbage_unnote(struct game *game, struct bytes id, struct arena *arena);

/* Deletes some of the items that notes are about, in one commit, and waits for it. *more: there may
 * be others that can be deleted now. Never on a loop's or the engine's thread. */
enum status key_garbage_step(struct game *game, struct scope in, bool *more);

/* The boards whose BOARD#<key> has garbage, or may have: their keys, some more than once. */
struct garbage_boards {
    struct bytes *keys;
    size_t count;
    size_t looked; /* notes */
    bool more;
    struct item last; /* the note that the next page follows, if there is more */
};
/* Those of a page of notes, after the one of that key or (NULL) from the first. */
enum status key_garbage_boards(struct game *game, const struct item *after, struct scope in,
                               struct garbage_boards *out);

#endif

/* Generations of a board's entries: how a large set is replaced or removed in one commit.
 *
 *   PK BOARD#<name>                 entries of a board without a generation, as all begin
 *   PK BOARD~<generation>#<name>    those of a generation
 *
 * The instance's item names the generation that is the board (`generation`). A set of any size is
 * therefore replaced by writing its entries under a new generation first, in as many commits as it
 * takes, while nobody sees them, and then by one commit that names the new generation: readers find
 * the old set or the new one, whole. Removing a large set is the same with nothing written. What
 * the board had before, and what was written for a commit that never came, is garbage
 * (keyspace/key_garbage.h).
 *
 * If what was removed is BOARD#<name>, the item stays until that is empty, and says so
 * (`littered`): without it the name would lead there again. Only boards without periods, outside of
 * cross-game boards, have generations: those that Redis clients replace.
 *
 * Functions are for any thread and leave their results in the arena.
 */
#ifndef GT_GAME_BOARD_BOARD_GENERATION_H
#define GT_GAME_BOARD_BOARD_GENERATION_H

#include "game/board/board.h"

#define BOARD_GENERATION BYTES("generation")
#define BOARD_LITTERED   BYTES("littered")

enum {
    BOARD_GENERATION_SIZE = 16,                           /* hexadecimal digits */
    BOARD_PARTITION_ROOM = 6 + BOARD_GENERATION_SIZE + 1, /* "BOARD~" <generation> "#" */
};

/* The partition of a generation's entries; `key` is the board's name in keys. An empty generation
 * is BOARD#<key>. board_partition_put() writes it to `to`, which has BOARD_PARTITION_ROOM and the
 * key's size. */
struct bytes board_partition(struct bytes key, struct bytes generation, struct arena *arena);
struct bytes board_partition_put(uint8_t *to, struct bytes key, struct bytes generation);
/* The partition of the entries of an instance, by its item. */
struct bytes board_partition_of_state(const struct item *state, struct arena *arena);
/* The parts of a partition's key, borrowed. board_partition_key() is the board's name in keys;
 * empty if it is no partition of entries. */
struct bytes board_partition_key(struct bytes pk);
struct bytes board_partition_generation(struct bytes pk);

/* Whether the entries may be replaced by another generation: of a plain board, in an engine of this
 * process alone, since whoever writes to the board has to hear of it. */
bool board_can_switch(const struct game *game, const struct board *board);

/* What a board becomes by a switch. */
struct board_switch {
    struct game *game;
    const struct board *board;
    struct bytes generation; /* the new one */
    bool has_entries;        /* it has entries: else the item goes, unless it has to stay */
    bool keep_item;          /* the item stays in any case */
    int64_t expires_ms;      /* of the board from now on; 0: never */
    bool had_entries;        /* the partition that it had may have some: it becomes garbage */
};
enum { BOARD_SWITCH_ACTIONS = 2 };
/* Appends the actions, at most BOARD_SWITCH_ACTIONS, to `to`, and returns how many. They belong
 * into a change whose `prepare` has found that the board is still as it was. The struct lives as
 * long as the change. */
size_t board_switch_actions(const struct board_switch *to_be, struct arena *arena,
                            struct action *to);
/* The action that has the instance's item not say `littered` any more: the entries of BOARD#<key>
 * that were garbage are gone. */
struct action board_unlitter_action(struct game *game, struct bytes key, struct arena *arena);

/* Whoever finds a board and writes to it in a later commit, beside others, may come after a switch.
 * That is for its commit to see, on the engine's thread: a switch is announced there when its
 * change is prepared, and its end on any thread when the change has come back, done or not. The
 * number that board_switches_seen() told before the board was found then says whether the entries
 * may be somewhere else by now. Costs a comparison while nothing is switched. */
void board_switch_begin(struct game *game);
void board_switch_end(struct game *game);
static inline uint64_t board_switches_seen(struct game *game) {
    return atomic_load_explicit(&game->switches_done, memory_order_acquire);
}
bool board_may_have_switched(struct game *game, const struct board *board, uint64_t seen,
                             struct scope in);

#endif

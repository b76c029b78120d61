/* Counting the boards that have entries, without a look at each.
 *
 * The engine counts the partitions BOARD#<name> of the index `ranks` whose name is that of an
 * instance (table/ranking.h). That is how many boards have entries, but for *odd* ones, which who
 * counts looks at one by one: counted they may be, or not, and be a board with entries, or not.
 *
 * Here a board is known by its key, as entry_key_of() its name. Functions are for any thread and
 * leave their results in the arena. An engine that cannot count so is UNSUPPORTED.
 */
#ifndef GT_GAME_BOARD_BOARD_COUNT_H
#define GT_GAME_BOARD_BOARD_COUNT_H

#include "game/game.h"
#include "table/ranking.h"

struct board_count {
    struct game *game;
    struct scope in;
    bool nonblocking;  /* rather than wait for the first count, or look at very much, be
                          WOULD_BLOCK */
    size_t looked;     /* at so much by now */
    struct bytes *odd; /* keys, in no order, some more than once; those of no board too */
    size_t odd_count, odd_room;
};

/* Counts what is looked at. OK, or WOULD_BLOCK. */
enum status board_count_look(struct board_count *count, size_t more);
void board_count_add_odd(struct board_count *count, struct bytes key);
/* Adds those that have another partition than BOARD#<name>, or have expired, or are being cleared,
 * or have a name that may be that of a definition's board: another period of it may be meant, and
 * it may be one that cannot be read. */
enum status board_count_find_odd(struct board_count *count, int64_t now_ms);
/* Adds the boards whose keys begin with `begin` and go on with the name of an entry in the
 * partition `list` of GSI1. */
enum status board_count_find_listed(struct board_count *count, struct bytes begin,
                                    struct bytes list);
/* Adds the counted boards of a span. */
enum status board_count_find_span(struct board_count *count, const struct name_span *span);

/* The span of one key alone. */
struct name_span board_count_span_of(struct bytes key, struct arena *arena);
/* Counts those that have an instance and entries in BOARD#<name>, of each span of keys; as of the
 * same commit if there are not hundreds of spans. */
enum status board_count_spans(const struct board_count *count, struct name_span *spans,
                              size_t span_count);
/* Whether there is an instance of that key. */
enum status board_count_has_instance(const struct board_count *count, struct bytes key, bool *out);

#endif

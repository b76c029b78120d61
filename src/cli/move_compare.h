/* Comparing both sides of a move while the side it comes from is written to.
 *
 * Items of each side are looked up on the other one, page by page, before the servers are made
 * read-only. An item that was the same at that moment can differ later only if it was written in
 * between, and then the stream tells of it. So what has to be compared while nobody writes is what
 * differed and what the stream has told since: keys, not tables.
 *
 * All of it runs on the thread of the command. */
#ifndef GT_CLI_MOVE_COMPARE_H
#define GT_CLI_MOVE_COMPARE_H

#include "base/map.h"
#include "cli/move_live.h"
#include "cli/progress.h"

/* A set of keys of items, with copies of its own. Past LIMIT_MOVE_KEYS it takes no more and says
 * so. */
struct move_keys {
    struct arena arena;
    struct map set; /* from the key's text to the key, a struct item */
    bool full;
};
void move_keys_init(struct move_keys *keys);
void move_keys_release(struct move_keys *keys);
void move_keys_add(struct move_keys *keys, const struct item *key);

struct move_comparison {
    struct engine *source;
    struct move_live *live;
    struct move_catch_up catch_up; /* `told` is set here */
    struct progress *progress;
    struct move_keys pending; /* to be compared (again) */
    uint64_t items;           /* of the source, that were looked up */
    uint64_t last;            /* keys that were compared while nobody wrote */
};
void move_comparison_init(struct move_comparison *on);
void move_comparison_release(struct move_comparison *on);

/* Before the servers are read-only: all items of both sides, and then, while it helps, what is
 * pending. Carries over what the stream has meanwhile. */
enum status move_compare_ahead(struct move_comparison *on, struct scope in);
/* While they are: what is pending. *same tells whether nothing differs; what does stays pending. */
enum status move_compare_pending(struct move_comparison *on, struct scope in, bool *same);

#endif

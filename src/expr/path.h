/* Document paths, and sets of them. */
#ifndef GT_EXPR_PATH_H
#define GT_EXPR_PATH_H

#include "expr/ast.h"

/* The value at the path, or NULL. */
const struct value *path_find(const struct path *path, const struct item *item);
bool path_equal(const struct path *a, const struct path *b);
/* "[a, b, [3]]", as faults show it. */
struct bytes path_text(const struct path *path, struct arena *arena);

/* Paths of which none is another's beginning, sorted: by each step in turn, indexes by number
 * before names by bytes. All that share their first d steps stand side by side, so a range and a
 * depth name a place in a document, and a walk of the set is a walk of the document. */
struct target {
    struct path *path;
    uint32_t position; /* in the order given */
};

struct path_set {
    struct target *targets;
    uint32_t count;
};

/* A range of a set whose paths agree in the first `depth` steps. */
struct path_range {
    const struct target *at, *end;
    uint32_t depth;
};

static inline struct path_range path_set_all(const struct path_set *set) {
    return (struct path_range){set->targets, set->targets + set->count, 0};
}
/* The step at the range's depth of its first path. */
static inline const struct step *path_range_step(const struct path_range *range) {
    return &range->at->path->steps[range->depth];
}
/* Takes the paths off the front of *range that agree in one more step, as a range of that depth. */
struct path_range path_range_take(struct path_range *range);
/* Whether the range is a single path that ends here. */
static inline bool path_range_ends(const struct path_range *range) {
    return range->at->path->count == range->depth;
}

/* Sorts the set; false when two of its paths cannot stand together. */
bool path_set_sort(struct path_set *set);
/* The fault of such a set. `set` need not be sorted. */
enum status path_set_fault(const struct expr_source *source, const struct path_set *set);
/* The parts of the item that the set's paths name. */
struct item path_set_project(const struct path_set *set, const struct item *item,
                             struct arena *arena);

#endif

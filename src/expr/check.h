/* The second and third pass over what a parser made (ast.h). */
#ifndef GT_EXPR_CHECK_H
#define GT_EXPR_CHECK_H

#include "expr/function.h"
#include "expr/path.h"

/* --- pass 2: shape --- */

enum status check_path_shape(const struct expr_source *source, const struct path *path);
/* The tree under `node`, which stands in `place`. */
enum status check_shape(const struct expr_source *source, const struct node *node,
                        enum function_place place);

/* --- pass 3: binding --- */

struct binder {
    const struct expr_source *source; /* no env: names and values are in place already */
    uint32_t operators;               /* seen so far */
};

/* Aliases in the paths, which are in the order given, become names; then the set is sorted. Faults
 * when two paths cannot stand together. The service binds from the last to the first. */
enum status bind_paths(struct binder *binder, struct path_set *set);
/* Binds the tree under `node`, children first, and checks each operator's operands. */
enum status bind_node(struct binder *binder, struct node *node);
/* Checks the number of operators; last. */
enum status bind_end(const struct binder *binder);

#endif

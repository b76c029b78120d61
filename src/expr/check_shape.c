#include "expr/check.h"

#include "expr/parse.h"
#include "expr/reserved.h"

enum status check_path_shape(const struct expr_source *source, const struct path *path) {
    for (uint32_t i = 0; i < path->count; i++) {
        const struct step *step = &path->steps[i];
        if (step->is_index && step->index > STEP_INDEX_MAX)
            return expr_fault(source, "List index is not within the allowable range; index: [%.*s]",
                              BYTES_ARG(step->name));
        if (!step->is_index && step->name.data[0] != '#' && reserved_word(step->name))
            return expr_fault(source,
                              "Attribute name is a reserved keyword; reserved keyword: %.*s",
                              BYTES_ARG(step->name));
    }
    return OK;
}

/* Where the children of a node stand, given where it stands itself. */
static enum function_place place_of_children(const struct node *node, enum function_place place) {
    switch (node->type) {
    case NODE_NOT:
    case NODE_AND:
    case NODE_OR:
        return PLACE_CONDITION;
    case NODE_PLUS:
    case NODE_MINUS:
        return PLACE_TERM;
    case NODE_FUNCTION:
        return place == PLACE_SET || place == PLACE_TERM ? PLACE_TERM : PLACE_OPERAND;
    default:
        return PLACE_OPERAND;
    }
}

enum status check_shape(const struct expr_source *source, const struct node *node,
                        enum function_place place) {
    if (node->type == NODE_VALUE)
        return OK;
    if (node->type == NODE_PATH)
        return check_path_shape(source, &node->path);
    enum status status = OK;
    if (node->type == NODE_FUNCTION)
        status = function_check_place(source, node, place);
    enum function_place below = place_of_children(node, place);
    for (const struct node *child = node->first; status == OK && child != NULL; child = child->next)
        status = check_shape(source, child, below);
    return status;
}

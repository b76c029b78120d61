/* Looking into expressions, for those who know what the attributes are for. */
#include "expr/update.h"

static bool path_nests(const struct path *path, struct bytes name) {
    return path->count > 1 && bytes_equal(path->steps[0].name, name);
}

static bool node_nests(const struct node *node, struct bytes name) {
    if (node->type == NODE_PATH)
        return path_nests(&node->path, name);
    if (node->type == NODE_VALUE)
        return false;
    for (const struct node *child = node->first; child != NULL; child = child->next)
        if (node_nests(child, name))
            return true;
    return false;
}

bool condition_nests(const struct condition *condition, struct bytes name) {
    return node_nests(condition->root, name);
}

bool update_nests(const struct update *update, struct bytes name) {
    for (uint32_t i = 0; i < update->count; i++)
        if (path_nests(&update->actions[i].path, name))
            return true;
    return false;
}

const struct value *update_literal(const struct update *update, struct bytes name) {
    for (uint32_t i = 0; i < update->count; i++) {
        const struct action *action = &update->actions[i];
        if (action->path.count == 1 && bytes_equal(action->path.steps[0].name, name))
            return action->value != NULL && action->value->type == NODE_VALUE ? action->value->value
                                                                              : NULL;
    }
    return NULL;
}

#include "expr/ast.h"

struct node *node_new(struct arena *arena, enum node_type type) {
    struct node *node = ARENA_NEW(arena, struct node);
    node->type = type;
    return node;
}

struct bytes node_name(const struct node *node) {
    static const struct bytes names[] = {
        [NODE_PATH] = BYTES(""),  [NODE_VALUE] = BYTES(""),  [NODE_FUNCTION] = BYTES(""),
        [NODE_PLUS] = BYTES("+"), [NODE_MINUS] = BYTES("-"), [NODE_EQ] = BYTES("="),
        [NODE_NE] = BYTES("<>"),  [NODE_LT] = BYTES("<"),    [NODE_LE] = BYTES("<="),
        [NODE_GT] = BYTES(">"),   [NODE_GE] = BYTES(">="),   [NODE_BETWEEN] = BYTES("BETWEEN"),
        [NODE_IN] = BYTES("IN"),  [NODE_NOT] = BYTES("NOT"), [NODE_AND] = BYTES("AND"),
        [NODE_OR] = BYTES("OR"),
    };
    return node->type == NODE_FUNCTION ? node->text : names[node->type];
}

bool node_visit(const struct node *node, expr_visit *visit, void *context) {
    if (node->type == NODE_PATH)
        return visit(node->path.steps[0].name, context);
    if (node->type == NODE_VALUE)
        return true;
    for (const struct node *child = node->first; child != NULL; child = child->next)
        if (!node_visit(child, visit, context))
            return false;
    return true;
}

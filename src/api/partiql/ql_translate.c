/* Conditions and updates of statements as those of expressions. */
#include "api/partiql/ql_ast.h"

static struct node *translate_operator(struct arena *arena, const struct ql_node *node,
                                       enum build_op op) {
    struct node **operands = ARENA_ARRAY(arena, struct node *, node->count);
    uint32_t count = 0;
    for (const struct ql_node *child = node->first; child != NULL; child = child->next)
        operands[count++] = ql_translate(arena, child);
    return build_operator(arena, op, operands, count);
}

static struct node *translate_in(struct arena *arena, const struct ql_node *node) {
    const struct ql_node *list = node->first->next;
    struct node **operands = ARENA_ARRAY(arena, struct node *, list->count + 1);
    uint32_t count = 0;
    operands[count++] = ql_translate(arena, node->first);
    for (const struct ql_node *child = list->first; child != NULL; child = child->next)
        operands[count++] = ql_translate(arena, child);
    return build_operator(arena, BUILD_IN, operands, count);
}

static struct node *translate_call(struct arena *arena, const struct ql_node *node) {
    struct node **operands = ARENA_ARRAY(arena, struct node *, node->count);
    uint32_t count = 0;
    for (const struct ql_node *child = node->first; child != NULL; child = child->next)
        operands[count++] = ql_translate(arena, child);
    return build_call(arena, node->text, operands, count);
}

/* MISSING is an attribute that is not there; the others are types. */
static struct node *translate_is(struct arena *arena, const struct ql_node *node) {
    static const struct {
        const char *name, *type;
    } types[] = {{"null", "NULL"}, {"string", "S"},  {"bool", "BOOL"}, {"boolean", "BOOL"},
                 {"list", "L"},    {"struct", "M"},  {"tuple", "M"},   {"int", "N"},
                 {"decimal", "N"}, {"numeric", "N"}, {"bag", "SS"}};
    struct node *operands[2] = {ql_translate(arena, node->first)};
    if (bytes_equal(node->text, BYTES("missing")))
        return build_call(arena, BYTES("attribute_not_exists"), operands, 1);
    struct value *type = ARENA_NEW(arena, struct value);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (bytes_equal(node->text, bytes_str(types[i].name)))
            *type = value_string(bytes_str(types[i].type));
    operands[1] = build_value(arena, type);
    return build_call(arena, BYTES("attribute_type"), operands, 2);
}

struct node *ql_translate(struct arena *arena, const struct ql_node *node) {
    switch (node->type) {
    case QL_VALUE:
        return build_value(arena, &node->value);
    case QL_PATH:
        return build_path(arena, &node->path);
    case QL_CALL:
        return translate_call(arena, node);
    case QL_PLUS:
        return translate_operator(arena, node, BUILD_PLUS);
    case QL_MINUS:
        return translate_operator(arena, node, BUILD_MINUS);
    case QL_BETWEEN:
        return translate_operator(arena, node, BUILD_BETWEEN);
    case QL_IN:
        return translate_in(arena, node);
    case QL_IS:
        return translate_is(arena, node);
    case QL_NOT:
        return translate_operator(arena, node, BUILD_NOT);
    case QL_AND:
        return translate_operator(arena, node, BUILD_AND);
    case QL_OR:
        return translate_operator(arena, node, BUILD_OR);
    default: /* = <> < <= > >=, in the same order */
        return translate_operator(arena, node, (enum build_op)(node->type - QL_EQ + BUILD_EQ));
    }
}

struct node *ql_all(struct arena *arena, struct ql_node *const *nodes, uint32_t count) {
    struct node **operands = ARENA_ARRAY(arena, struct node *, count);
    for (uint32_t i = 0; i < count; i++)
        operands[i] = ql_translate(arena, nodes[i]);
    return count == 1 ? operands[0] : build_operator(arena, BUILD_AND, operands, count);
}

enum status ql_update(const struct ql_context *context, const struct ql_statement *statement,
                      struct update **out) {
    struct arena *arena = context->arena;
    struct build_change *changes = ARENA_ARRAY(arena, struct build_change, statement->change_count);
    for (uint32_t i = 0; i < statement->change_count; i++) {
        const struct ql_change *from = &statement->changes[i];
        struct build_change *to = &changes[i];
        *to = (struct build_change){.verb = from->verb, .path = from->path};
        if (from->value == NULL)
            continue;
        if (!ql_is_set_function(from->value)) {
            to->value = ql_translate(arena, from->value);
            continue;
        }
        to->verb = bytes_equal(from->value->text, BYTES("set_add")) ? BUILD_ADD : BUILD_DELETE;
        to->value = ql_translate(arena, from->value->first->next);
    }
    return build_update(changes, statement->change_count, (struct scope){arena, context->failure},
                        out);
}

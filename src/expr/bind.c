#include "base/base64.h"
#include "base/limits.h"
#include "expr/check.h"
#include "expr/env.h"
#include "expr/parse.h"
#include "value/number.h"

static enum status bind_path(struct binder *binder, struct path *path) {
    const struct expr_source *source = binder->source;
    for (uint32_t i = 0; i < path->count; i++) {
        struct step *step = &path->steps[i];
        if (source->env == NULL || step->is_index || step->name.data[0] != '#')
            continue;
        const struct bytes *name = env_name(source->env, step->name);
        if (name == NULL)
            return expr_fault(source,
                              "An expression attribute name used in the document path is not "
                              "defined; attribute name: %.*s",
                              BYTES_ARG(step->name));
        step->name = *name;
    }
    if (path->count > LIMIT_NESTING)
        return expr_fault(source,
                          "The document path has too many nesting levels; nesting levels: %u",
                          path->count);
    return OK;
}

enum status bind_paths(struct binder *binder, struct path_set *set) {
    for (uint32_t i = set->count; i-- > 0;) {
        enum status status = bind_path(binder, set->targets[i].path);
        if (status == OK)
            continue;
        /* A clash among those bound already comes first. */
        struct path_set bound = {set->targets + i + 1, set->count - i - 1};
        return path_set_sort(&bound) ? status : path_set_fault(binder->source, &bound);
    }
    return path_set_sort(set) ? OK : path_set_fault(binder->source, set);
}

static enum status bind_value(struct binder *binder, struct node *node) {
    const struct expr_source *source = binder->source;
    if (source->env == NULL)
        return OK;
    node->value = env_value(source->env, node->text);
    if (node->value == NULL)
        return expr_fault(source,
                          "An expression attribute value used in expression is not defined; "
                          "attribute value: %.*s",
                          BYTES_ARG(node->text));
    return OK;
}

static struct bytes base64_text(struct bytes from, struct arena *arena) {
    struct buf text = {0};
    base64_put(&text, from);
    struct bytes copy = arena_copy(arena, buf_bytes(&text));
    buf_release(&text);
    return copy;
}

/* "AttributeValue: {N:12}" */
static struct bytes bound_text(const struct value *value, struct arena *arena) {
    char number[NUMBER_MAX_TEXT];
    struct bytes text = value->bytes;
    if (value->type == VALUE_N)
        text = bytes_of(number, number_text(value->bytes, number));
    else if (value->type == VALUE_B)
        text = base64_text(value->bytes, arena);
    return arena_printf(arena, "AttributeValue: {%s:%.*s}", value_type_name(value->type),
                        BYTES_ARG(text));
}

static enum status check_between(const struct expr_source *source, const struct node *node) {
    const struct node *low = node->first->next, *high = low->next;
    if (low->type != NODE_VALUE || high->type != NODE_VALUE)
        return OK;
    const char *wrong = NULL;
    if (low->value->type != high->value->type)
        wrong = "same data type for lower and upper bounds";
    else if (value_compare(low->value, high->value) > 0)
        wrong = "upper bound to be greater than or equal to lower bound";
    if (wrong == NULL)
        return OK;
    return expr_fault(source,
                      "The BETWEEN operator requires %s; lower bound operand: %.*s, upper bound "
                      "operand: %.*s",
                      wrong, BYTES_ARG(bound_text(low->value, source->arena)),
                      BYTES_ARG(bound_text(high->value, source->arena)));
}

static enum status check_in(const struct expr_source *source, const struct node *node) {
    if (node->count - 1 > LIMIT_IN_OPERANDS)
        return expr_fault(source,
                          "The IN operator is provided with too many operands; number of "
                          "operands: %u",
                          node->count - 1);
    return operands_check_distinct(source, node);
}

/* The operands of one operator, which are bound. */
static enum status check_operands(const struct expr_source *source, const struct node *node) {
    enum status status = OK;
    switch (node->type) {
    case NODE_FUNCTION:
        return function_check_operands(source, node);
    case NODE_PLUS:
    case NODE_MINUS:
        return operands_check_types(source, node, TYPE_MASK(VALUE_N));
    case NODE_EQ:
    case NODE_NE:
        return operands_check_distinct(source, node);
    case NODE_LT:
    case NODE_LE:
    case NODE_GT:
    case NODE_GE:
    case NODE_BETWEEN:
        status = operands_check_distinct(source, node);
        if (status == OK)
            status = operands_check_types(source, node, TYPES_ORDERED);
        if (status == OK && node->type == NODE_BETWEEN)
            status = check_between(source, node);
        return status;
    case NODE_IN:
        return check_in(source, node);
    default:
        return OK;
    }
}

static uint32_t operator_count(const struct node *node) {
    switch (node->type) {
    case NODE_AND:
    case NODE_OR:
        return node->count - 1;
    case NODE_NOT:
        return node->count;
    default:
        return 1;
    }
}

enum status bind_node(struct binder *binder, struct node *node) {
    if (node->type == NODE_PATH)
        return bind_path(binder, &node->path);
    if (node->type == NODE_VALUE)
        return bind_value(binder, node);
    for (struct node *child = node->first; child != NULL; child = child->next) {
        enum status status = bind_node(binder, child);
        if (status != OK)
            return status;
    }
    binder->operators += operator_count(node);
    return check_operands(binder->source, node);
}

enum status bind_end(const struct binder *binder) {
    return binder->operators > LIMIT_EXPRESSION_OPERATORS ? expr_fault_operators(binder->source)
                                                          : OK;
}

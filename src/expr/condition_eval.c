/* Asking a condition of an item. A comparison with something absent, or of unlike types, is false,
 * except that <> is then true; so there is no third truth value. */
#include "expr/ast.h"
#include "expr/path.h"
#include "value/number.h"

struct subject {
    const struct item *item;
    struct arena *arena;
};

static uint32_t utf16_units(struct bytes text) {
    uint32_t units = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if ((c & 0xc0) != 0x80)
            units += c >= 0xf0 ? 2 : 1;
    }
    return units;
}

static const struct value *operand_size(const struct value *of, struct arena *arena) {
    int64_t size;
    if (of == NULL)
        return NULL;
    switch (of->type) {
    case VALUE_S:
        size = utf16_units(of->bytes);
        break;
    case VALUE_B:
        size = (int64_t)of->bytes.size;
        break;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
    case VALUE_M:
    case VALUE_L:
        size = of->count;
        break;
    default:
        return NULL;
    }
    struct value *value = ARENA_NEW(arena, struct value);
    value->type = VALUE_N;
    value->bytes = number_from_int(arena, size);
    return value;
}

/* NULL: absent. */
static const struct value *operand_value(const struct node *node, const struct subject *subject) {
    if (node->type == NODE_VALUE)
        return node->value;
    if (node->type == NODE_PATH)
        return path_find(&node->path, subject->item);
    return operand_size(operand_value(node->first, subject), subject->arena);
}

static bool is_ordered(const struct value *a, const struct value *b) {
    return a != NULL && b != NULL && a->type == b->type && a->type >= VALUE_S && a->type <= VALUE_B;
}

static bool is_equal(const struct value *a, const struct value *b) {
    return a != NULL && b != NULL && value_equal(a, b);
}

static bool compare(const struct node *node, const struct subject *subject) {
    const struct value *left = operand_value(node->first, subject);
    const struct value *right = operand_value(node->first->next, subject);
    if (node->type == NODE_EQ)
        return is_equal(left, right);
    if (node->type == NODE_NE)
        return !is_equal(left, right);
    if (!is_ordered(left, right))
        return false;
    int order = value_compare(left, right);
    switch (node->type) {
    case NODE_LT:
        return order < 0;
    case NODE_LE:
        return order <= 0;
    case NODE_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

static bool between(const struct node *node, const struct subject *subject) {
    const struct value *value = operand_value(node->first, subject);
    const struct value *low = operand_value(node->first->next, subject);
    const struct value *high = operand_value(node->first->next->next, subject);
    return is_ordered(value, low) && is_ordered(value, high) && value_compare(value, low) >= 0 &&
           value_compare(value, high) <= 0;
}

static bool in(const struct node *node, const struct subject *subject) {
    const struct value *value = operand_value(node->first, subject);
    for (const struct node *child = node->first->next; child != NULL; child = child->next)
        if (is_equal(value, operand_value(child, subject)))
            return true;
    return false;
}

static bool contains(const struct value *whole, const struct value *part) {
    if (whole == NULL || part == NULL)
        return false;
    if (value_is_set(whole->type))
        return part->type == value_element_type(whole->type) && value_set_has(whole, part->bytes);
    if (whole->type == VALUE_L) {
        for (uint32_t i = 0; i < whole->count; i++)
            if (value_equal(&whole->elements[i], part))
                return true;
        return false;
    }
    return whole->type == part->type && (whole->type == VALUE_S || whole->type == VALUE_B) &&
           bytes_find(whole->bytes, part->bytes) != SIZE_MAX;
}

static bool begins_with(const struct value *whole, const struct value *part) {
    return whole != NULL && part != NULL && whole->type == part->type &&
           (whole->type == VALUE_S || whole->type == VALUE_B) &&
           bytes_starts(whole->bytes, part->bytes);
}

static bool call(const struct node *node, const struct subject *subject) {
    const struct value *first = operand_value(node->first, subject);
    switch (node->function) {
    case FUNCTION_ATTRIBUTE_EXISTS:
        return first != NULL;
    case FUNCTION_ATTRIBUTE_NOT_EXISTS:
        return first == NULL;
    case FUNCTION_ATTRIBUTE_TYPE:
        return first != NULL && first->type == value_type_named(node->first->next->value->bytes);
    case FUNCTION_BEGINS_WITH:
        return begins_with(first, operand_value(node->first->next, subject));
    case FUNCTION_CONTAINS:
        return contains(first, operand_value(node->first->next, subject));
    default:
        return false;
    }
}

static bool holds(const struct node *node, const struct subject *subject) {
    switch (node->type) {
    case NODE_AND:
        for (const struct node *child = node->first; child != NULL; child = child->next)
            if (!holds(child, subject))
                return false;
        return true;
    case NODE_OR:
        for (const struct node *child = node->first; child != NULL; child = child->next)
            if (holds(child, subject))
                return true;
        return false;
    case NODE_NOT:
        return holds(node->first, subject) != (node->count % 2 == 1);
    case NODE_BETWEEN:
        return between(node, subject);
    case NODE_IN:
        return in(node, subject);
    case NODE_FUNCTION:
        return call(node, subject);
    default:
        return compare(node, subject);
    }
}

bool condition_holds(const struct condition *condition, const struct item *item,
                     struct arena *arena) {
    static const struct item nothing;
    struct subject subject = {item != NULL ? item : &nothing, arena};
    return holds(condition->root, &subject);
}

#include "expr/function.h"

#include "expr/parse.h"
#include "expr/path.h"

enum {
    TYPES_TEXT = TYPE_MASK(VALUE_S) | TYPE_MASK(VALUE_B),
    TYPES_SIZED = TYPES_TEXT | TYPE_MASK(VALUE_SS) | TYPE_MASK(VALUE_NS) | TYPE_MASK(VALUE_BS) |
                  TYPE_MASK(VALUE_L) | TYPE_MASK(VALUE_M),
    PLACES_IN_CONDITION = PLACE_CONDITION | PLACE_OPERAND,
};

static const struct {
    struct bytes name;
    unsigned places;
    uint32_t operands;
} functions[] = {
    [FUNCTION_UNKNOWN] = {BYTES(""), 0, 0},
    [FUNCTION_ATTRIBUTE_EXISTS] = {BYTES("attribute_exists"), PLACE_CONDITION, 1},
    [FUNCTION_ATTRIBUTE_NOT_EXISTS] = {BYTES("attribute_not_exists"), PLACE_CONDITION, 1},
    [FUNCTION_ATTRIBUTE_TYPE] = {BYTES("attribute_type"), PLACE_CONDITION, 2},
    [FUNCTION_BEGINS_WITH] = {BYTES("begins_with"), PLACE_CONDITION, 2},
    [FUNCTION_CONTAINS] = {BYTES("contains"), PLACE_CONDITION, 2},
    [FUNCTION_SIZE] = {BYTES("size"), PLACE_OPERAND, 1},
    [FUNCTION_IF_NOT_EXISTS] = {BYTES("if_not_exists"), PLACE_SET | PLACE_TERM, 2},
    [FUNCTION_LIST_APPEND] = {BYTES("list_append"), PLACE_SET, 2},
};

enum function function_named(struct bytes name) {
    for (size_t i = 1; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (bytes_equal(functions[i].name, name))
            return (enum function)i;
    return FUNCTION_UNKNOWN;
}

enum status function_check_place(const struct expr_source *source, const struct node *call,
                                 enum function_place place) {
    unsigned places = functions[call->function].places;
    if (call->function == FUNCTION_UNKNOWN)
        return expr_fault(source, "Invalid function name; function: %.*s", BYTES_ARG(call->text));
    bool in_condition = (place & PLACES_IN_CONDITION) != 0;
    if (in_condition != ((places & PLACES_IN_CONDITION) != 0))
        return expr_fault(source, "The function is not allowed in %s expression; function: %.*s",
                          in_condition ? "a condition" : "an update", BYTES_ARG(call->text));
    if ((places & place) == 0)
        return expr_fault(source,
                          "The function is not allowed to be used this way in an expression; "
                          "function: %.*s",
                          BYTES_ARG(call->text));
    return OK;
}

enum value_type operand_type(const struct node *operand) {
    if (operand->type == NODE_VALUE)
        return operand->value->type;
    if (operand->type == NODE_FUNCTION && operand->function == FUNCTION_SIZE)
        return VALUE_N;
    return VALUE_NONE;
}

static enum status fault_type(const struct expr_source *source, const struct node *operator,
                              const char * type) {
    return expr_fault(source,
                      "Incorrect operand type for operator or function; operator or function: "
                      "%.*s, operand type: %s",
                      BYTES_ARG(node_name(operator)), type);
}

enum status operands_check_types(const struct expr_source *source, const struct node *operator,
                                 unsigned allowed) {
    for (const struct node *child = operator->first; child != NULL; child = child->next) {
        enum value_type type = operand_type(child);
        if (type != VALUE_NONE && (allowed & TYPE_MASK(type)) == 0)
            return fault_type(source, operator, value_type_name(type));
    }
    return OK;
}

enum status operands_check_distinct(const struct expr_source *source, const struct node *operator) {
    const struct node *first = operator->first;
    if (first->type != NODE_PATH)
        return OK;
    for (const struct node *child = first->next; child != NULL; child = child->next)
        if (child->type == NODE_PATH && path_equal(&child->path, &first->path))
            return expr_fault(source,
                              "The first operand must be distinct from the remaining operands for "
                              "this operator or function; operator: %.*s, first operand: %.*s",
                              BYTES_ARG(node_name(operator)),
                              BYTES_ARG(path_text(&first->path, source->arena)));
    return OK;
}

static enum status check_attribute_type(const struct expr_source *source, const struct node *call) {
    const struct node *named = call->first->next;
    enum value_type type = operand_type(named);
    if (type != VALUE_S)
        return fault_type(source, call,
                          type == VALUE_NONE ? "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
                                             : value_type_name(type));
    if (value_type_named(named->value->bytes) == VALUE_NONE)
        return expr_fault(source,
                          "Invalid attribute type name found; type: %.*s, valid types: "
                          "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
                          BYTES_ARG(named->value->bytes));
    return OK;
}

static enum status check_first_is_path(const struct expr_source *source, const struct node *call) {
    if (call->first->type == NODE_PATH)
        return OK;
    return expr_fault(source,
                      "Operator or function requires a document path; operator or function: %.*s",
                      BYTES_ARG(call->text));
}

enum status function_check_operands(const struct expr_source *source, const struct node *call) {
    if (call->count != functions[call->function].operands)
        return expr_fault(source,
                          "Incorrect number of operands for operator or function; operator or "
                          "function: %.*s, number of operands: %u",
                          BYTES_ARG(call->text), call->count);
    if ((functions[call->function].places & PLACE_CONDITION) != 0) {
        enum status status = operands_check_distinct(source, call);
        if (status != OK)
            return status;
    }
    switch (call->function) {
    case FUNCTION_ATTRIBUTE_EXISTS:
    case FUNCTION_ATTRIBUTE_NOT_EXISTS:
    case FUNCTION_IF_NOT_EXISTS:
        return check_first_is_path(source, call);
    case FUNCTION_ATTRIBUTE_TYPE:
        return check_attribute_type(source, call);
    case FUNCTION_BEGINS_WITH:
        return operands_check_types(source, call, TYPES_TEXT);
    case FUNCTION_SIZE:
        return operands_check_types(source, call, TYPES_SIZED);
    case FUNCTION_LIST_APPEND:
        return operands_check_types(source, call, TYPE_MASK(VALUE_L));
    case FUNCTION_CONTAINS:
    case FUNCTION_UNKNOWN:
        break;
    }
    return OK;
}

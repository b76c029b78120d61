/* What may stand where in a statement that is well formed. */
#include "api/partiql/ql_ast.h"

enum status ql_fault(const struct ql_source *source, const char *format, ...) {
    va_list args;
    va_start(args, format);
    *source->failure = (struct failure){INVALID, arena_vprintf(source->arena, format, args)};
    va_end(args);
    return INVALID;
}

struct bytes ql_place(const struct ql_source *source, size_t start, size_t end) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < start; i++) {
        column++;
        if (source->text.data[i] == '\n') {
            line++;
            column = 1;
        }
    }
    return arena_printf(source->arena, " at %zu:%zu:%zu", line, column,
                        end > start ? end - start : 0);
}

/* --- functions --- */

enum standing { IN_CONDITION = 1, AS_OPERAND = 2, IN_UPDATE = 4 };

static const struct {
    struct bytes name;
    enum standing place;
} functions[] = {
    {BYTES("attribute_exists"), IN_CONDITION}, {BYTES("attribute_not_exists"), IN_CONDITION},
    {BYTES("attribute_type"), IN_CONDITION},   {BYTES("begins_with"), IN_CONDITION},
    {BYTES("contains"), IN_CONDITION},         {BYTES("size"), AS_OPERAND},
    {BYTES("if_not_exists"), IN_UPDATE},       {BYTES("list_append"), IN_UPDATE},
};

/* 0: there is none of that name. */
static unsigned place_of(const struct ql_node *call) {
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (bytes_equal(functions[i].name, call->text))
            return functions[i].place;
    return 0;
}

static enum status check_operands(const struct ql_source *source, const struct ql_node *node);

static enum status check_call(const struct ql_source *source, const struct ql_node *call,
                              enum standing place) {
    unsigned allowed = place_of(call);
    if (allowed == 0)
        return ql_fault(source, "Unrecognized function: %.*s", BYTES_ARG(call->text));
    if ((allowed == IN_UPDATE) != (place == IN_UPDATE))
        return ql_fault(source, "The function is not allowed in %s expression; function: %.*s",
                        place == IN_UPDATE ? "an update" : "a condition", BYTES_ARG(call->text));
    if (allowed != place)
        return ql_fault(source,
                        "The function is not allowed to be used this way in an expression; "
                        "function: %.*s",
                        BYTES_ARG(call->text));
    return OK;
}

/* --- conditions --- */

static enum status check_operand(const struct ql_source *source, const struct ql_node *node) {
    enum status status;
    switch (node->type) {
    case QL_VALUE:
    case QL_PATH:
        return OK;
    case QL_CALL:
        status = check_call(source, node, AS_OPERAND);
        return status == OK ? check_operands(source, node) : status;
    case QL_MISSING:
        return ql_fault(source, "MISSING must be compared using IS operator");
    case QL_LIST:
        return OK;
    case QL_PLUS:
    case QL_MINUS:
    case QL_OTHER:
        return ql_fault(source, "Unsupported operator in Condition Expression. Operator: %.*s",
                        BYTES_ARG(node->text));
    default:
        return ql_fault(source, "Conditions cannot be operands of other operators");
    }
}

static enum status check_operands(const struct ql_source *source, const struct ql_node *node) {
    enum status status = OK;
    for (const struct ql_node *child = node->first; status == OK && child != NULL;
         child = child->next)
        status = check_operand(source, child);
    return status;
}

static enum status check_in(const struct ql_source *source, const struct ql_node *node) {
    const struct ql_node *list = node->first->next;
    if (list->type != QL_LIST || list->count == 0)
        return ql_fault(source,
                        "IN operator must have a left hand argument of type Variable Reference "
                        "and right hand argument of type Seq with at least one member");
    enum status status = check_operand(source, node->first);
    return status == OK ? check_operands(source, list) : status;
}

static enum status check_is(const struct ql_source *source, const struct ql_node *node) {
    if (node->first->type != QL_PATH)
        return ql_fault(source, "The left hand side argument to IS must be a Variable Reference, "
                                "Literal, or Path");
    return OK;
}

static bool is_boolean(const struct ql_node *node) {
    return ql_is_condition(node) || node->type == QL_OTHER || node->type == QL_PLUS ||
           node->type == QL_MINUS ||
           (node->type == QL_CALL && !bytes_equal(node->text, BYTES("size")));
}

static enum status check_condition(const struct ql_source *source, const struct ql_node *node,
                                   const char *otherwise) {
    enum status status;
    if (!is_boolean(node))
        return ql_fault(source, "%s", otherwise);
    switch (node->type) {
    case QL_AND:
    case QL_OR:
    case QL_NOT:
        status = OK;
        for (const struct ql_node *child = node->first; status == OK && child != NULL;
             child = child->next)
            status = check_condition(source, child,
                                     node->type == QL_NOT
                                         ? "The argument to NOT must be a Type or Expression"
                                         : "The arguments to AND/OR must be Expressions");
        return status;
    case QL_CALL:
        status = check_call(source, node, IN_CONDITION);
        return status == OK ? check_operands(source, node) : status;
    case QL_IN:
        return check_in(source, node);
    case QL_IS:
        return check_is(source, node);
    case QL_OTHER:
    case QL_PLUS:
    case QL_MINUS:
        return check_operand(source, node);
    default:
        return check_operands(source, node);
    }
}

/* --- updates --- */

static enum status check_term(const struct ql_source *source, const struct ql_node *node) {
    enum status status = OK;
    switch (node->type) {
    case QL_VALUE:
    case QL_PATH:
        return OK;
    case QL_MISSING:
        return ql_fault(source, "MISSING must be compared using IS operator");
    case QL_CALL:
        status = check_call(source, node, IN_UPDATE);
        break;
    case QL_PLUS:
    case QL_MINUS:
        break;
    default:
        return ql_fault(source, "Unsupported operator in Update Expression. Operator: %.*s",
                        BYTES_ARG(node->text));
    }
    for (const struct ql_node *child = node->first; status == OK && child != NULL;
         child = child->next)
        status = check_term(source, child);
    return status;
}

static bool same_path(const struct expr_path *a, const struct expr_path *b) {
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = a->steps[i].is_index == b->steps[i].is_index &&
               a->steps[i].index == b->steps[i].index &&
               bytes_equal(a->steps[i].name, b->steps[i].name);
    return same;
}

/* SET path = set_add(path, set): the one function that does something to a place. */
static enum status check_set_function(const struct ql_source *source,
                                      const struct ql_change *change) {
    const struct ql_node *call = change->value, *first = call->first;
    const char *name = bytes_equal(call->text, BYTES("set_add")) ? "SET_ADD" : "SET_DELETE";
    if (call->count != 2)
        return ql_fault(source, "%s must have exactly two arguments%.*s", name,
                        BYTES_ARG(ql_place(source, call->start, call->end)));
    if (first->type != QL_PATH || !same_path(&first->path, &change->path))
        return ql_fault(source, "The first argument to %s must equal the assignment value", name);
    if (first->next->type != QL_VALUE || !value_is_set(first->next->value.type))
        return ql_fault(source, "The second argument to %s must be a value with type SET%.*s", name,
                        BYTES_ARG(ql_place(source, first->start, first->end)));
    return OK;
}

bool ql_is_set_function(const struct ql_node *node) {
    return node->type == QL_CALL && (bytes_equal(node->text, BYTES("set_add")) ||
                                     bytes_equal(node->text, BYTES("set_delete")));
}

static enum status check_changes(const struct ql_source *source,
                                 const struct ql_statement *statement) {
    enum status status = OK;
    for (uint32_t i = 0; status == OK && i < statement->change_count; i++) {
        const struct ql_change *change = &statement->changes[i];
        if (change->value == NULL)
            continue;
        status = ql_is_set_function(change->value) ? check_set_function(source, change)
                                                   : check_term(source, change->value);
    }
    return status;
}

/* --- SELECT --- */

static enum status check_paths(const struct ql_source *source,
                               const struct ql_statement *statement) {
    for (uint32_t i = 0; i < statement->path_count; i++) {
        struct bytes name = ql_path_name(&statement->paths[i], source->arena);
        for (uint32_t j = 0; j < i; j++)
            if (bytes_equal(ql_path_name(&statement->paths[j], source->arena), name))
                return ql_fault(source, "Duplicate identifiers in select clause: %.*s",
                                BYTES_ARG(name));
    }
    return expr_paths_check(statement->paths, statement->path_count,
                            (struct scope){source->arena, source->failure});
}

enum status ql_check(const struct ql_source *source, const struct ql_statement *statement) {
    enum status status = check_changes(source, statement);
    if (status == OK && statement->path_count > 0)
        status = check_paths(source, statement);
    if (status == OK && statement->where != NULL)
        status = check_condition(source, statement->where,
                                 "WHERE clause must contain an expression that resolves to a "
                                 "boolean");
    return status;
}

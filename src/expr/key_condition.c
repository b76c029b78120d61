/* Key conditions: the grammar of conditions, of which only a conjunction of simple tests is
 * allowed. What is refused here is told without the "Invalid KeyConditionExpression" in front. */
#include "expr/condition.h"
#include "expr/parse.h"

#define BAD_OPERATOR  "Invalid operator used in KeyConditionExpression: %.*s"
#define BAD_CONDITION "Invalid condition in KeyConditionExpression: "

struct key_reader {
    const struct expr_source *source;
    struct key_condition *out;
};

static enum status refuse_key_condition(const struct key_reader *reader, const char *text) {
    return failure_set(reader->source->failure, reader->source->arena, INVALID, "%s", text);
}

static enum status refuse_operator(const struct key_reader *reader, const struct node *node) {
    return failure_set(reader->source->failure, reader->source->arena, INVALID, BAD_OPERATOR,
                       BYTES_ARG(node_name(node)));
}

static bool is_key_operator(const struct node *node) {
    if (node->type == NODE_FUNCTION)
        return node->function == FUNCTION_BEGINS_WITH;
    return node->type >= NODE_EQ && node->type <= NODE_BETWEEN && node->type != NODE_NE;
}

/* The one path among the operands. */
static enum status find_attribute(const struct key_reader *reader, const struct node *node,
                                  const struct node **out) {
    *out = NULL;
    bool first_only = node->type == NODE_BETWEEN || node->type == NODE_FUNCTION;
    if (first_only && node->first->type == NODE_VALUE)
        return failure_set(reader->source->failure, reader->source->arena, INVALID,
                           BAD_CONDITION "%.*s operator must have the key attribute as its first "
                                         "operand",
                           BYTES_ARG(node_name(node)));
    for (const struct node *child = node->first; child != NULL; child = child->next) {
        if (child->type == NODE_FUNCTION)
            return refuse_key_condition(reader,
                                        "KeyConditionExpressions cannot contain nested operations");
        if (child->type != NODE_PATH)
            continue;
        if (*out != NULL)
            return refuse_key_condition(reader, BAD_CONDITION
                                        "Multiple attribute names used in one condition");
        if (child->path.count > 1)
            return refuse_key_condition(
                reader, "KeyConditionExpressions cannot have conditions on nested attributes");
        *out = child;
    }
    if (*out == NULL)
        return refuse_key_condition(reader, BAD_CONDITION "No key attribute specified");
    return OK;
}

/* `mirrored`: the value stands on the left, as in :v < a. */
static enum key_op key_op_of(const struct node *node, bool mirrored) {
    switch (node->type) {
    case NODE_LT:
        return mirrored ? KEY_GT : KEY_LT;
    case NODE_LE:
        return mirrored ? KEY_GE : KEY_LE;
    case NODE_GT:
        return mirrored ? KEY_LT : KEY_GT;
    case NODE_GE:
        return mirrored ? KEY_LE : KEY_GE;
    case NODE_BETWEEN:
        return KEY_BETWEEN;
    case NODE_FUNCTION:
        return KEY_BEGINS;
    default:
        return KEY_EQ;
    }
}

static enum status read_test(const struct key_reader *reader, const struct node *node) {
    const struct node *attribute;
    enum status status = find_attribute(reader, node, &attribute);
    if (status != OK)
        return status;
    struct key_condition *out = reader->out;
    struct bytes name = attribute->path.steps[0].name;
    for (unsigned i = 0; i < out->count; i++)
        if (bytes_equal(out->tests[i].name, name))
            return refuse_key_condition(
                reader, "KeyConditionExpressions must only contain one condition per key");
    if (out->count == KEY_TESTS_MAX)
        return refuse_key_condition(reader, "Conditions can be of length 1 or 2 only");
    bool mirrored = attribute != node->first;
    const struct node *low = mirrored ? node->first : node->first->next;
    struct key_test *test = &out->tests[out->count++];
    *test = (struct key_test){name, key_op_of(node, mirrored), *low->value, {0}};
    if (test->op == KEY_BETWEEN)
        test->high = *low->next->value;
    return OK;
}

static enum status read_tests(const struct key_reader *reader, const struct node *node) {
    if (node->type != NODE_AND)
        return is_key_operator(node) ? read_test(reader, node) : refuse_operator(reader, node);
    for (const struct node *child = node->first; child != NULL; child = child->next) {
        enum status status = read_tests(reader, child);
        if (status != OK)
            return status;
    }
    return OK;
}

enum status key_condition_parse_tree(const struct expr_source *source, struct node **out) {
    return condition_parse_tree(source, out);
}

enum status key_condition_read(const struct expr_source *source, const struct node *root,
                               struct key_condition *out) {
    out->count = 0;
    struct key_reader reader = {source, out};
    return read_tests(&reader, root);
}

enum status key_condition_parse(const struct expr_source *source, struct key_condition *out) {
    struct node *root;
    enum status status = key_condition_parse_tree(source, &root);
    return status == OK ? key_condition_read(source, root, out) : status;
}

/* Conditions, filters and (as far as syntax goes) key conditions:
 *
 *   condition  := conjunction (OR conjunction)*
 *   conjunction := negation (AND negation)*
 *   negation   := NOT* primary
 *   primary    := '(' condition ')' | function | operand comparison
 *   comparison := (= | <> | < | <= | > | >=) operand
 *               | BETWEEN operand AND operand
 *               | IN '(' operand (',' operand)* ')'
 *
 * '(' may open a condition or an operand, which only what follows tells. So a condition is read
 * as "condition or operand", and whoever needs a condition checks that it got one.
 */
#include "expr/check.h"
#include "expr/condition.h"
#include "expr/parse.h"
#include "expr/parse_cache.h"

static struct node *parse_either(struct parser *parser);

static struct node *parse_between(struct parser *parser, struct node_list *list) {
    struct node *low = parse_operand(parser);
    if (low == NULL || !parse_expect(parser, TOKEN_AND))
        return NULL;
    node_list_add(list, low);
    struct node *high = parse_operand(parser);
    if (high == NULL)
        return NULL;
    node_list_add(list, high);
    return list->parent;
}

static bool is_comparison(enum token_type token) {
    return (token >= TOKEN_EQ && token <= TOKEN_GE) || token == TOKEN_IN || token == TOKEN_BETWEEN;
}

/* What follows an operand, if it makes a comparison; else the operand itself. */
static struct node *parse_comparison(struct parser *parser, struct node *left) {
    static const enum node_type types[] = {
        [TOKEN_EQ] = NODE_EQ, [TOKEN_NE] = NODE_NE,           [TOKEN_LT] = NODE_LT,
        [TOKEN_LE] = NODE_LE, [TOKEN_GT] = NODE_GT,           [TOKEN_GE] = NODE_GE,
        [TOKEN_IN] = NODE_IN, [TOKEN_BETWEEN] = NODE_BETWEEN,
    };
    enum token_type token = parser->current.type;
    if (!is_comparison(token) || left->type > NODE_FUNCTION)
        return left;
    parse_advance(parser);
    struct node *node = node_new(parser->source->arena, types[token]);
    struct node_list list = node_list_of(node);
    node_list_add(&list, left);
    if (token == TOKEN_BETWEEN)
        return parse_between(parser, &list);
    if (token == TOKEN_IN) {
        struct node *rest = node_new(parser->source->arena, NODE_IN);
        if (!parse_expect(parser, TOKEN_OPEN) || !parse_operands(parser, rest))
            return NULL;
        left->next = rest->first;
        node->count += rest->count;
        return node;
    }
    struct node *right = parse_operand(parser);
    if (right == NULL)
        return NULL;
    node_list_add(&list, right);
    return node;
}

/* A path or value twice in parentheses is a syntax error before it is redundant, unless a
 * comparison follows the last of them. */
static bool check_group(struct parser *parser, const struct node *inner) {
    if (!inner->grouped || !node_is_leaf(inner))
        return true;
    for (unsigned open = parser->depth; open > 0 && parser->current.type == TOKEN_CLOSE; open--)
        parse_advance(parser);
    return is_comparison(parser->current.type) || parse_fail_syntax(parser) != NULL;
}

static struct node *parse_primary(struct parser *parser) {
    struct node *node;
    if (parser->current.type == TOKEN_OPEN) {
        parse_advance(parser);
        if (!parse_enter(parser))
            return NULL;
        node = parse_either(parser);
        if (node == NULL || !parse_expect(parser, TOKEN_CLOSE))
            return NULL;
        parse_leave(parser);
        node = check_group(parser, node) ? parse_group(parser, node) : NULL;
    } else {
        node = parse_operand(parser);
    }
    return node == NULL ? NULL : parse_comparison(parser, node);
}

static struct node *parse_negation(struct parser *parser) {
    uint32_t times = 0;
    while (parse_accept(parser, TOKEN_NOT))
        times++;
    struct node *inner = parse_primary(parser);
    if (times == 0 || inner == NULL)
        return inner;
    if (!node_is_condition(inner))
        return parse_fail_syntax(parser);
    struct node *node = node_new(parser->source->arena, NODE_NOT);
    node->first = inner;
    node->count = times;
    return node;
}

/* Operands of AND or OR, which are read by `parse_part`. */
static struct node *parse_chain(struct parser *parser, enum token_type token, enum node_type type,
                                struct node *(*parse_part)(struct parser *)) {
    struct node *first = parse_part(parser);
    if (first == NULL || parser->current.type != token)
        return first;
    if (!node_is_condition(first))
        return parse_fail_syntax(parser);
    struct node *node = node_new(parser->source->arena, type);
    struct node_list list = node_list_of(node);
    node_list_add(&list, first);
    while (parse_accept(parser, token)) {
        struct node *part = parse_part(parser);
        if (part == NULL)
            return NULL;
        if (!node_is_condition(part))
            return parse_fail_syntax(parser);
        node_list_add(&list, part);
    }
    return node;
}

static struct node *parse_conjunction(struct parser *parser) {
    return parse_chain(parser, TOKEN_AND, NODE_AND, parse_negation);
}

static struct node *parse_either(struct parser *parser) {
    return parse_chain(parser, TOKEN_OR, NODE_OR, parse_conjunction);
}

/* Passes 1 and 2. */
static enum status read_text(const struct expr_source *source, struct node **out) {
    struct parser parser;
    enum status status = parse_begin(&parser, source);
    if (status != OK)
        return status;
    struct node *root = parse_either(&parser);
    if (root != NULL && !node_is_condition(root))
        parse_fail_syntax(&parser);
    if (parser.status != OK || !parse_end(&parser))
        return parser.status;
    *out = root;
    return check_shape(source, root, PLACE_CONDITION);
}

enum status condition_parse_tree(const struct expr_source *source, struct node **out) {
    struct binder binder = {.source = source};
    struct node *root = parse_cache_condition(source);
    enum status status = OK;
    if (root == NULL) {
        status = read_text(source, &root);
        if (status == OK)
            parse_cache_keep_condition(source, root);
    }
    if (status == OK)
        status = bind_node(&binder, root);
    if (status == OK)
        status = bind_end(&binder);
    if (status == OK)
        *out = root;
    return status;
}

enum status condition_parse(const struct expr_source *source, struct condition **out) {
    struct node *root = NULL;
    enum status status = condition_parse_tree(source, &root);
    if (status != OK)
        return status;
    *out = ARENA_NEW(source->arena, struct condition);
    (*out)->root = root;
    return OK;
}

bool condition_visit(const struct condition *condition, expr_visit *visit, void *context) {
    return node_visit(condition->root, visit, context);
}

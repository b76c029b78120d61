/* Expressions, from the loosest operator to the tightest:
 *
 *   OR, AND, NOT, comparisons (= <> < <= > >= IN BETWEEN IS LIKE), ||, + and -, * / %, signs
 *
 * All of them are read, whether or not they mean anything here: ql_check() tells. */
#include "api/partiql/ql_parse.h"
#include "base/limits.h"
#include "value/number.h"

static struct ql_node *parse_unary(struct ql_parser *parser);

struct operation {
    enum ql_node_type type;
    struct bytes text;
};

static struct ql_node *operator_of(struct ql_parser *parser, struct operation operation,
                                   struct ql_node *left, struct ql_node *right) {
    struct ql_node *node = ql_node_new(parser, operation.type, left->start);
    node->text = operation.text;
    ql_node_add(node, left);
    if (right != NULL)
        ql_node_add(node, right);
    return node;
}

static struct ql_node *negate(struct ql_parser *parser, struct ql_node *node) {
    struct ql_node *negation = ql_node_new(parser, QL_NOT, node->start);
    ql_node_add(negation, node);
    return negation;
}

/* --- the tightest --- */

static struct ql_node *parse_arguments(struct ql_parser *parser, struct ql_node *call) {
    if (!ql_enter(parser))
        return NULL;
    bool more = parser->current.type != QL_TOKEN_CLOSE;
    while (more) {
        struct ql_node *argument;
        struct ql_token token = parser->current;
        if (ql_accept(parser, QL_TOKEN_STAR)) {
            argument = ql_node_new(parser, QL_OTHER, token.start);
            argument->text = BYTES("*");
        } else {
            argument = ql_parse_expression(parser);
        }
        if (argument == NULL)
            return NULL;
        ql_node_add(call, argument);
        more = ql_accept(parser, QL_TOKEN_COMMA);
    }
    ql_leave(parser);
    return ql_expect(parser, QL_TOKEN_CLOSE) ? call : NULL;
}

static struct ql_node *parse_call(struct ql_parser *parser) {
    struct ql_node *call = ql_node_new(parser, QL_CALL, parser->current.start);
    struct bytes name = arena_copy(parser->arena, ql_text(parser, parser->current));
    uint8_t *letters = (uint8_t *)name.data;
    for (size_t i = 0; i < name.size; i++)
        if (letters[i] >= 'A' && letters[i] <= 'Z')
            letters[i] = (uint8_t)(letters[i] + ('a' - 'A'));
    call->text = name;
    call->end = parser->current.end;
    ql_advance(parser);
    ql_advance(parser);
    return parse_arguments(parser, call);
}

/* (a) is a, (1, 2) is [1, 2]. */
static struct ql_node *parse_parentheses(struct ql_parser *parser) {
    struct ql_node *list = ql_parse_list(parser);
    if (list == NULL || list->count == 0)
        return list == NULL ? NULL : ql_break(parser);
    if (list->count == 1)
        return list->first;
    struct value *elements = ARENA_ARRAY(parser->arena, struct value, list->count);
    uint32_t count = 0;
    for (struct ql_node *node = list->first; node != NULL; node = node->next) {
        if (node->type != QL_VALUE)
            ql_refuse(parser, "Unsupported data type in list%.*s",
                      BYTES_ARG(ql_place(parser->source, node->start, node->end)));
        else
            elements[count++] = node->value;
    }
    list->type = QL_VALUE;
    list->value = (struct value){.type = VALUE_L, .count = count, .elements = elements};
    return list;
}

static struct ql_node *parse_primary(struct ql_parser *parser) {
    struct ql_token token = parser->current;
    if (token.type == QL_TOKEN_OPEN)
        return parse_parentheses(parser);
    if (ql_at_literal(parser))
        return ql_parse_literal(parser);
    if (ql_at_word(parser, "select")) {
        ql_refuse(parser, "Unsupported token in expression: SELECT%.*s",
                  BYTES_ARG(ql_place(parser->source, token.start, token.end)));
        parser->settled = true;
        return ql_break(parser);
    }
    if (token.type == QL_TOKEN_WORD && parser->next.type == QL_TOKEN_OPEN)
        return parse_call(parser);
    struct expr_path path;
    if (!ql_parse_path(parser, &path))
        return NULL;
    struct ql_node *node = ql_node_new(parser, QL_PATH, token.start);
    node->path = path;
    return node;
}

/* --- arithmetic --- */

static struct ql_node *parse_sign(struct ql_parser *parser, bool minus) {
    struct ql_token token = parser->current;
    ql_advance(parser);
    if (!ql_enter(parser))
        return NULL;
    struct ql_node *node = parse_unary(parser);
    ql_leave(parser);
    if (node == NULL)
        return NULL;
    if (node->type != QL_VALUE || node->value.type != VALUE_N)
        return operator_of(parser, (struct operation){QL_OTHER, ql_text(parser, token)}, node,
                           NULL);
    if (minus) {
        struct bytes zero = number_from_int(parser->arena, 0);
        number_subtract(parser->arena, zero, node->value.bytes, &node->value.bytes);
    }
    node->start = token.start;
    return node;
}

static struct ql_node *parse_unary(struct ql_parser *parser) {
    if (parser->current.type == QL_TOKEN_MINUS)
        return parse_sign(parser, true);
    if (parser->current.type == QL_TOKEN_PLUS)
        return parse_sign(parser, false);
    return parse_primary(parser);
}

static bool is_operator(enum ql_token_type token, unsigned level) {
    if (level == 0)
        return token == QL_TOKEN_CONCAT;
    if (level == 1)
        return token == QL_TOKEN_PLUS || token == QL_TOKEN_MINUS;
    return token == QL_TOKEN_STAR || token == QL_TOKEN_SLASH || token == QL_TOKEN_PERCENT;
}

/* Levels: 0 ||, 1 + and -, 2 * / %. */
static struct ql_node *parse_arithmetic(struct ql_parser *parser, unsigned level) {
    struct ql_node *left = level == 2 ? parse_unary(parser) : parse_arithmetic(parser, level + 1);
    unsigned chained = 0;
    while (left != NULL && is_operator(parser->current.type, level)) {
        struct ql_token token = parser->current;
        ql_advance(parser);
        struct ql_node *right =
            level == 2 ? parse_unary(parser) : parse_arithmetic(parser, level + 1);
        if (right == NULL || ++chained > LIMIT_EXPRESSION_OPERATORS)
            return ql_break(parser);
        enum ql_node_type type = token.type == QL_TOKEN_PLUS    ? QL_PLUS
                                 : token.type == QL_TOKEN_MINUS ? QL_MINUS
                                                                : QL_OTHER;
        left = operator_of(parser, (struct operation){type, ql_text(parser, token)}, left, right);
        left->start = token.start; /* a sum is told by its operator */
        left->end = token.end;
    }
    return left;
}

struct ql_node *ql_parse_term(struct ql_parser *parser) {
    return parse_arithmetic(parser, 0);
}

/* --- comparisons --- */

static struct ql_node *parse_in(struct ql_parser *parser, struct ql_node *left) {
    enum ql_token_type open = parser->current.type;
    bool listed = open == QL_TOKEN_OPEN || open == QL_TOKEN_OPEN_LIST || open == QL_TOKEN_OPEN_BAG;
    struct ql_node *right = listed ? ql_parse_list(parser) : ql_parse_term(parser);
    return right == NULL ? NULL
                         : operator_of(parser, (struct operation){QL_IN, BYTES("in")}, left, right);
}

static struct ql_node *parse_between(struct ql_parser *parser, struct ql_node *left) {
    struct ql_node *low = ql_parse_term(parser);
    if (low == NULL || !ql_expect_word(parser, "and"))
        return NULL;
    struct ql_node *high = ql_parse_term(parser);
    if (high == NULL)
        return NULL;
    struct ql_node *node =
        operator_of(parser, (struct operation){QL_BETWEEN, BYTES("between")}, left, low);
    ql_node_add(node, high);
    return node;
}

static struct ql_node *parse_is(struct ql_parser *parser, struct ql_node *left) {
    static const char *const types[] = {"missing", "null", "string", "bool",    "boolean", "list",
                                        "struct",  "bag",  "int",    "decimal", "numeric", "tuple"};
    bool negated = ql_accept_word(parser, "not");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!ql_accept_word(parser, types[i]))
            continue;
        struct ql_node *node =
            operator_of(parser, (struct operation){QL_IS, bytes_str(types[i])}, left, NULL);
        return negated ? negate(parser, node) : node;
    }
    return ql_break(parser);
}

static struct ql_node *parse_like(struct ql_parser *parser, struct ql_node *left) {
    struct ql_node *right = ql_parse_term(parser);
    if (right == NULL || (ql_accept_word(parser, "escape") && ql_parse_term(parser) == NULL))
        return NULL;
    return operator_of(parser, (struct operation){QL_OTHER, BYTES("like")}, left, right);
}

/* What may follow NOT in the middle: IN, BETWEEN, LIKE. */
static struct ql_node *parse_keyword_comparison(struct ql_parser *parser, struct ql_node *left) {
    if (ql_accept_word(parser, "in"))
        return parse_in(parser, left);
    if (ql_accept_word(parser, "between"))
        return parse_between(parser, left);
    return ql_expect_word(parser, "like") ? parse_like(parser, left) : NULL;
}

static bool comparison_type(enum ql_token_type token, enum ql_node_type *out) {
    if (token < QL_TOKEN_EQ || token > QL_TOKEN_GE)
        return false;
    *out = (enum ql_node_type)(token - QL_TOKEN_EQ + QL_EQ);
    return true;
}

static struct ql_node *parse_one_comparison(struct ql_parser *parser, struct ql_node *left) {
    enum ql_node_type type;
    struct ql_token token = parser->current;
    if (comparison_type(token.type, &type)) {
        ql_advance(parser);
        struct ql_node *right = ql_parse_term(parser);
        return right == NULL ? NULL
                             : operator_of(parser, (struct operation){type, ql_text(parser, token)},
                                           left, right);
    }
    if (ql_accept_word(parser, "is"))
        return parse_is(parser, left);
    if (!ql_accept_word(parser, "not"))
        return parse_keyword_comparison(parser, left);
    struct ql_node *node = parse_keyword_comparison(parser, left);
    return node == NULL ? NULL : negate(parser, node);
}

static bool at_comparison(const struct ql_parser *parser) {
    enum ql_node_type type;
    return comparison_type(parser->current.type, &type) || ql_at_word(parser, "is") ||
           ql_at_word(parser, "in") || ql_at_word(parser, "between") ||
           ql_at_word(parser, "like") || ql_at_word(parser, "not");
}

static struct ql_node *parse_comparison(struct ql_parser *parser) {
    struct ql_node *left = ql_parse_term(parser);
    unsigned chained = 0;
    while (left != NULL && at_comparison(parser)) {
        left = parse_one_comparison(parser, left);
        if (++chained > LIMIT_EXPRESSION_OPERATORS)
            return ql_break(parser);
    }
    return left;
}

/* --- the loosest --- */

static struct ql_node *parse_negation(struct ql_parser *parser) {
    if (!ql_accept_word(parser, "not"))
        return parse_comparison(parser);
    if (!ql_enter(parser))
        return NULL;
    struct ql_node *node = parse_negation(parser);
    ql_leave(parser);
    return node == NULL ? NULL : negate(parser, node);
}

static struct ql_node *parse_chain(struct ql_parser *parser, const char *word,
                                   enum ql_node_type type,
                                   struct ql_node *(*parse_part)(struct ql_parser *)) {
    struct ql_node *first = parse_part(parser);
    if (first == NULL || !ql_at_word(parser, word))
        return first;
    struct ql_node *node = ql_node_new(parser, type, first->start);
    ql_node_add(node, first);
    while (ql_accept_word(parser, word)) {
        struct ql_node *part = parse_part(parser);
        if (part == NULL)
            return NULL;
        ql_node_add(node, part);
    }
    return node;
}

static struct ql_node *parse_conjunction(struct ql_parser *parser) {
    return parse_chain(parser, "and", QL_AND, parse_negation);
}

struct ql_node *ql_parse_expression(struct ql_parser *parser) {
    if (!ql_enter(parser))
        return NULL;
    struct ql_node *node = parse_chain(parser, "or", QL_OR, parse_conjunction);
    ql_leave(parser);
    return node;
}

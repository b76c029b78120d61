#include "expr/parse.h"

#include "base/limits.h"
#include "expr/function.h"

/* Each level of a valid expression has an operator of its own, or its parentheses are redundant. */
enum { DEPTH_MAX = LIMIT_EXPRESSION_OPERATORS + 2 };

enum status(expr_fault)(const struct expr_source *source, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct bytes text = arena_vprintf(source->arena, format, args);
    va_end(args);
    if (source->parameter == NULL)
        return failure_set(source->failure, source->arena, INVALID, "%.*s", BYTES_ARG(text));
    return failure_set(source->failure, source->arena, INVALID, "Invalid %s: %.*s",
                       source->parameter, BYTES_ARG(text));
}

/* The service stops counting at the first that is too many. */
enum status expr_fault_operators(const struct expr_source *source) {
    return expr_fault(source, "The expression contains too many operators; operator count: %d",
                      LIMIT_EXPRESSION_OPERATORS + 1);
}

enum status parse_begin(struct parser *parser, const struct expr_source *source) {
    *parser = (struct parser){.source = source};
    if (source->text.size == 0)
        return expr_fault(source, "The expression can not be empty;");
    if (source->text.size > LIMIT_EXPRESSION_SIZE)
        return expr_fault(source,
                          "Expression size has exceeded the maximum allowed size; "
                          "expression size: %zu",
                          source->text.size);
    parser->current = lex_next(source->text, 0);
    parser->next = lex_next(source->text, parser->current.end);
    return OK;
}

bool parse_end(struct parser *parser) {
    if (parser->current.type != TOKEN_END)
        parse_fail_syntax(parser);
    return parser->status == OK;
}

void parse_advance(struct parser *parser) {
    parser->previous = parser->current;
    parser->started = true;
    parser->current = parser->next;
    parser->next = lex_next(parser->source->text, parser->current.end);
}

bool parse_accept(struct parser *parser, enum token_type type) {
    if (parser->current.type != type)
        return false;
    parse_advance(parser);
    return true;
}

bool parse_expect(struct parser *parser, enum token_type type) {
    if (parse_accept(parser, type))
        return true;
    parse_fail_syntax(parser);
    return false;
}

/* "near" runs from the token before to the token after, blanks and all. */
void *parse_fail_syntax(struct parser *parser) {
    if (parser->status != OK)
        return NULL;
    struct bytes text = parser->source->text, token = lex_text(text, parser->current);
    if (parser->current.type == TOKEN_END)
        token = BYTES("<EOF>");
    size_t start = parser->started ? parser->previous.start : 0;
    struct bytes near = bytes_of(text.data + start, parser->next.end - start);
    parser->status = expr_fault(parser->source, "Syntax error; token: \"%.*s\", near: \"%.*s\"",
                                BYTES_ARG(token), BYTES_ARG(near));
    return NULL;
}

bool parse_enter(struct parser *parser) {
    if (++parser->depth <= DEPTH_MAX)
        return true;
    if (parser->status == OK)
        parser->status = expr_fault_operators(parser->source);
    return false;
}

void parse_leave(struct parser *parser) {
    parser->depth--;
}

struct node *parse_group(struct parser *parser, struct node *inner) {
    if (inner->grouped) {
        parser->status = expr_fault(parser->source, "The expression has redundant parentheses;");
        return NULL;
    }
    inner->grouped = true;
    return inner;
}

/* --- paths --- */

static void step_read_index(struct step *step) {
    step->is_index = true;
    uint64_t index = 0;
    for (size_t i = 0; i < step->name.size && index <= STEP_INDEX_MAX; i++)
        index = index * 10 + (step->name.data[i] - (unsigned)'0');
    step->index = index <= STEP_INDEX_MAX ? (uint32_t)index : UINT32_MAX;
}

/* A step that begins at the current token; the dot or bracket before it is read. */
static bool parse_step(struct parser *parser, bool is_index, struct step *out) {
    enum token_type type = parser->current.type;
    *out = (struct step){.name = lex_text(parser->source->text, parser->current)};
    if (is_index) {
        if (!parse_expect(parser, TOKEN_INDEX))
            return false;
        step_read_index(out);
        return parse_expect(parser, TOKEN_CLOSE_INDEX);
    }
    if (type == TOKEN_NAME || type == TOKEN_NAME_ALIAS)
        parse_advance(parser);
    else
        parse_fail_syntax(parser);
    return parser->status == OK;
}

bool parse_path(struct parser *parser, struct path *out) {
    struct arena *arena = parser->source->arena;
    struct step *steps = arena_alloc(arena, sizeof(struct step));
    *out = (struct path){steps, 1};
    if (!parse_step(parser, false, &steps[0]))
        return false;
    for (;;) {
        bool is_index = parser->current.type == TOKEN_OPEN_INDEX;
        if (!is_index && parser->current.type != TOKEN_DOT)
            return true;
        parse_advance(parser);
        /* In place: nothing else is allocated meanwhile. */
        size_t size = sizeof(struct step) * out->count;
        out->steps = steps = arena_grow(arena, steps, size, size + sizeof(struct step));
        if (!parse_step(parser, is_index, &steps[out->count]))
            return false;
        out->count++;
    }
}

/* --- operands --- */

static struct node *parse_function(struct parser *parser) {
    struct node *node = node_new(parser->source->arena, NODE_FUNCTION);
    node->text = lex_text(parser->source->text, parser->current);
    node->function = function_named(node->text);
    parse_advance(parser);
    parse_advance(parser);
    if (!parse_enter(parser) || !parse_operands(parser, node))
        return NULL;
    parse_leave(parser);
    return node;
}

static struct node *parse_grouped_operand(struct parser *parser) {
    parse_advance(parser);
    if (!parse_enter(parser))
        return NULL;
    struct node *inner = parse_operand(parser);
    if (inner == NULL || !parse_expect(parser, TOKEN_CLOSE))
        return NULL;
    parse_leave(parser);
    return parse_group(parser, inner);
}

struct node *parse_operand(struct parser *parser) {
    if (parser->current.type == TOKEN_OPEN)
        return parse_grouped_operand(parser);
    if (parser->current.type == TOKEN_NAME && parser->next.type == TOKEN_OPEN)
        return parse_function(parser);
    if (parser->current.type == TOKEN_VALUE_ALIAS) {
        struct node *value = node_new(parser->source->arena, NODE_VALUE);
        value->text = lex_text(parser->source->text, parser->current);
        parse_advance(parser);
        return value;
    }
    struct node *node = node_new(parser->source->arena, NODE_PATH);
    return parse_path(parser, &node->path) ? node : NULL;
}

bool parse_operands(struct parser *parser, struct node *parent) {
    struct node_list list = node_list_of(parent);
    do {
        struct node *operand = parse_operand(parser);
        if (operand == NULL)
            return false;
        node_list_add(&list, operand);
    } while (parse_accept(parser, TOKEN_COMMA));
    return parse_expect(parser, TOKEN_CLOSE);
}

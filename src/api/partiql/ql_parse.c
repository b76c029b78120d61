/* Tokens, names and paths. */
#include "api/partiql/ql_parse.h"

#include "base/limits.h"
#include "value/number.h"

void ql_advance(struct ql_parser *parser) {
    parser->end = parser->current.end;
    parser->current = parser->next;
    parser->next = ql_lex(parser->source->text, parser->current.end);
}

struct bytes ql_text(const struct ql_parser *parser, struct ql_token token) {
    return bytes_of(parser->source->text.data + token.start, token.end - token.start);
}

void *ql_break(struct ql_parser *parser) {
    parser->broken = true;
    return NULL;
}

bool ql_accept(struct ql_parser *parser, enum ql_token_type type) {
    if (parser->current.type != type)
        return false;
    ql_advance(parser);
    return true;
}

bool ql_expect(struct ql_parser *parser, enum ql_token_type type) {
    return ql_accept(parser, type) || ql_break(parser) != NULL;
}

bool ql_at_word(const struct ql_parser *parser, const char *word) {
    return parser->current.type == QL_TOKEN_WORD &&
           ql_word_is(ql_text(parser, parser->current), word);
}

bool ql_accept_word(struct ql_parser *parser, const char *word) {
    if (!ql_at_word(parser, word))
        return false;
    ql_advance(parser);
    return true;
}

bool ql_expect_word(struct ql_parser *parser, const char *word) {
    return ql_accept_word(parser, word) || ql_break(parser) != NULL;
}

void ql_refuse(struct ql_parser *parser, const char *format, ...) {
    if (parser->refused.status != OK)
        return;
    va_list args;
    va_start(args, format);
    parser->refused = (struct failure){INVALID, arena_vprintf(parser->arena, format, args)};
    va_end(args);
}

bool ql_enter(struct ql_parser *parser) {
    return ++parser->depth <= LIMIT_STATEMENT_DEPTH || ql_break(parser) != NULL;
}

void ql_leave(struct ql_parser *parser) {
    parser->depth--;
}

struct ql_node *ql_node_new(struct ql_parser *parser, enum ql_node_type type, size_t start) {
    struct ql_node *node = ARENA_NEW(parser->arena, struct ql_node);
    node->type = type;
    node->start = start;
    node->end = parser->end;
    return node;
}

void ql_node_add(struct ql_node *parent, struct ql_node *operand) {
    if (parent->first == NULL)
        parent->first = operand;
    else
        parent->last->next = operand;
    parent->last = operand;
    parent->count++;
}

struct bytes ql_unquote(struct ql_parser *parser, struct ql_token token) {
    struct bytes text = ql_text(parser, token);
    uint8_t quote = text.data[0];
    text = bytes_of(text.data + 1, text.size - 2);
    if (memchr(text.data, quote, text.size) == NULL)
        return text;
    uint8_t *to = arena_alloc(parser->arena, text.size);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        to[size++] = text.data[i];
        i += text.data[i] == quote;
    }
    return bytes_of(to, size);
}

/* --- names and paths --- */

bool ql_parse_name(struct ql_parser *parser, struct bytes *out) {
    struct ql_token token = parser->current;
    if (token.type == QL_TOKEN_QUOTED) {
        *out = ql_unquote(parser, token);
        if (out->size == 0)
            ql_refuse(parser, "Path component cannot be an empty string");
    } else if (token.type == QL_TOKEN_WORD && !token.keyword) {
        *out = ql_text(parser, token);
    } else {
        return ql_break(parser) != NULL;
    }
    ql_advance(parser);
    return true;
}

static void refuse_component(struct ql_parser *parser, struct ql_token token, const char *what) {
    ql_refuse(parser, "%s%.*s", what, BYTES_ARG(ql_place(parser->source, token.start, token.end)));
}

static void read_index(struct ql_parser *parser, struct ql_token token, bool negative,
                       struct expr_step *out) {
    struct bytes text = ql_text(parser, token), number;
    int64_t index = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            refuse_component(parser, token, "Unexpected path component");
            return;
        }
    }
    if (negative || number_read(parser->arena, text, &number) != NUMBER_OK ||
        !number_to_int(number, &index) || index > INT32_MAX)
        ql_refuse(parser, "List index is not within the allowable range; index: [%s%.*s]%.*s",
                  negative ? "-" : "", BYTES_ARG(text),
                  BYTES_ARG(ql_place(parser->source, token.start, token.end)));
    else
        out->index = (uint32_t)index;
    out->is_index = true;
}

/* What stands in [ ]. */
static bool parse_index(struct ql_parser *parser, struct expr_step *out) {
    bool negative = ql_accept(parser, QL_TOKEN_MINUS);
    struct ql_token token = parser->current;
    *out = (struct expr_step){0};
    switch (token.type) {
    case QL_TOKEN_NUMBER:
        read_index(parser, token, negative, out);
        break;
    case QL_TOKEN_STRING:
        out->name = ql_unquote(parser, token);
        if (out->name.size == 0)
            ql_refuse(parser, "Path component cannot be an empty string");
        break;
    case QL_TOKEN_STAR:
        refuse_component(parser, token, "Wildcard path component like a[*].b are not supported");
        break;
    case QL_TOKEN_PARAMETER:
    case QL_TOKEN_WORD:
    case QL_TOKEN_QUOTED:
        refuse_component(parser, token, "Unexpected path component");
        parser->parameters += token.type == QL_TOKEN_PARAMETER;
        break;
    default:
        return ql_break(parser) != NULL;
    }
    ql_advance(parser);
    return ql_expect(parser, QL_TOKEN_CLOSE_LIST);
}

/* The next step, if there is one; false at the path's end or when broken. */
static bool parse_step(struct ql_parser *parser, struct expr_step *out) {
    if (ql_accept(parser, QL_TOKEN_OPEN_LIST))
        return parse_index(parser, out);
    if (!ql_accept(parser, QL_TOKEN_DOT))
        return false;
    *out = (struct expr_step){0};
    struct ql_token token = parser->current;
    if (!ql_accept(parser, QL_TOKEN_STAR))
        return ql_parse_name(parser, &out->name);
    refuse_component(parser, token, "Unpivot path component like a.*.b are not supported");
    return true;
}

bool ql_parse_path(struct ql_parser *parser, struct expr_path *out) {
    uint32_t room = 2, count = 0;
    struct expr_step *steps = ARENA_ARRAY(parser->arena, struct expr_step, room), step = {0};
    if (!ql_parse_name(parser, &step.name))
        return false;
    do {
        if (count == room) {
            steps = arena_grow(parser->arena, steps, sizeof step * room, sizeof step * room * 2);
            room *= 2;
        }
        steps[count++] = step;
    } while (parse_step(parser, &step));
    *out = (struct expr_path){steps, count};
    return !parser->broken;
}

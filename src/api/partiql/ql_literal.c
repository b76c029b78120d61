/* Literals: 'text', 1.5, true, null, [lists], {'maps': ...}, <<sets>>, and what ? stands for. */
#include "api/partiql/ql_parse.h"
#include "base/limits.h"
#include "value/number.h"

bool ql_at_literal(const struct ql_parser *parser) {
    switch (parser->current.type) {
    case QL_TOKEN_STRING:
    case QL_TOKEN_NUMBER:
    case QL_TOKEN_FOREIGN:
    case QL_TOKEN_PARAMETER:
    case QL_TOKEN_OPEN_LIST:
    case QL_TOKEN_OPEN_MAP:
    case QL_TOKEN_OPEN_BAG:
        return true;
    default:
        return ql_at_word(parser, "true") || ql_at_word(parser, "false") ||
               ql_at_word(parser, "null") || ql_at_word(parser, "missing");
    }
}

/* --- elements --- */

static struct value nothing(void) {
    return (struct value){.type = VALUE_NULL};
}

/* A literal inside another one. What is not a value is refused. */
static bool parse_element(struct ql_parser *parser, struct value *out) {
    struct ql_node *node = ql_parse_expression(parser);
    if (node == NULL)
        return false;
    *out = nothing();
    if (node->type == QL_VALUE)
        *out = node->value;
    else
        ql_refuse(parser, "Unsupported data type: %.*s under key root%.*s",
                  (int)(node->end - node->start),
                  (const char *)parser->source->text.data + node->start,
                  BYTES_ARG(ql_place(parser->source, node->start, node->end)));
    return true;
}

struct values {
    struct value *at;
    uint32_t count, room;
};

static void values_add(struct ql_parser *parser, struct values *values, struct value value) {
    if (values->count == values->room) {
        uint32_t room = values->room == 0 ? 4 : values->room * 2;
        values->at = arena_grow(parser->arena, values->at, sizeof(struct value) * values->room,
                                sizeof(struct value) * room);
        values->room = room;
    }
    values->at[values->count++] = value;
}

static bool parse_elements(struct ql_parser *parser, enum ql_token_type close,
                           struct values *values) {
    ql_advance(parser);
    if (ql_accept(parser, close))
        return true;
    do {
        struct value value;
        if (!parse_element(parser, &value))
            return false;
        values_add(parser, values, value);
    } while (ql_accept(parser, QL_TOKEN_COMMA));
    return ql_expect(parser, close);
}

/* --- containers --- */

static bool parse_bag(struct ql_parser *parser, size_t start, struct value *out) {
    struct values values = {0};
    if (!parse_elements(parser, QL_TOKEN_CLOSE_BAG, &values))
        return false;
    struct bytes place = ql_place(parser->source, start, parser->end);
    *out = nothing();
    if (values.count == 0) {
        ql_refuse(parser, "Empty bags are not supported%.*s", BYTES_ARG(place));
        return true;
    }
    enum value_type type = values.at[0].type;
    for (uint32_t i = 0; i < values.count; i++) {
        if (values.at[i].type == type && type >= VALUE_S && type <= VALUE_B)
            continue;
        ql_refuse(parser, "Unsupported data type in Bag. DynamoDB only supports either numbers or "
                          "strings in bags");
        return true;
    }
    if (!value_sort_elements(values.at, values.count))
        ql_refuse(parser, "Input collection contains duplicates");
    *out = (struct value){.type = (enum value_type)(type - VALUE_S + VALUE_SS),
                          .count = values.count,
                          .elements = values.at};
    return true;
}

static bool parse_pair(struct ql_parser *parser, struct pair *out) {
    struct ql_token name = parser->current;
    struct bytes place = ql_place(parser->source, name.start, name.end);
    switch (name.type) {
    case QL_TOKEN_STRING:
        out->name = ql_unquote(parser, name);
        break;
    case QL_TOKEN_WORD:
    case QL_TOKEN_QUOTED:
        ql_refuse(parser,
                  "Tuple keys must be of type String. Actual type: VariableReference under root"
                  "%.*s",
                  BYTES_ARG(place));
        break;
    case QL_TOKEN_NUMBER:
        ql_refuse(parser, "Tuple keys must be of type String. Actual type: INT under root%.*s",
                  BYTES_ARG(place));
        break;
    default:
        return ql_break(parser) != NULL;
    }
    if (name.type == QL_TOKEN_STRING && out->name.size == 0)
        ql_refuse(parser, "Path component cannot be an empty string");
    ql_advance(parser);
    return ql_expect(parser, QL_TOKEN_COLON) && parse_element(parser, &out->value);
}

static bool parse_map(struct ql_parser *parser, struct value *out) {
    struct pair *pairs = NULL, pair = {0};
    uint32_t count = 0, room = 0;
    ql_advance(parser);
    bool more = parser->current.type != QL_TOKEN_CLOSE_MAP;
    while (more) {
        struct ql_token name = parser->current;
        if (!parse_pair(parser, &pair))
            return false;
        for (uint32_t i = 0; i < count; i++)
            if (bytes_equal(pairs[i].name, pair.name))
                ql_refuse(parser, "Duplicate keys in tuple. Key: %.*s under root%.*s",
                          BYTES_ARG(pair.name),
                          BYTES_ARG(ql_place(parser->source, name.start, name.end)));
        if (count == room) {
            pairs =
                arena_grow(parser->arena, pairs, sizeof pair * room, sizeof pair * (room * 2 + 4));
            room = room * 2 + 4;
        }
        pairs[count++] = pair;
        more = ql_accept(parser, QL_TOKEN_COMMA);
    }
    *out = (struct value){.type = VALUE_M, .count = value_sort_pairs(pairs, count), .pairs = pairs};
    return ql_expect(parser, QL_TOKEN_CLOSE_MAP);
}

/* --- scalars --- */

static void read_number(struct ql_parser *parser, struct value *out) {
    *out = (struct value){.type = VALUE_N};
    switch (number_read(parser->arena, ql_text(parser, parser->current), &out->bytes)) {
    case NUMBER_OK:
        break;
    case NUMBER_PRECISION:
        ql_refuse(parser, "DynamoDB only supports precision up to 38 digits");
        break;
    case NUMBER_UNDERFLOW:
        ql_refuse(parser, "Number underflow. Attempting to store a number with magnitude smaller "
                          "than supported range");
        break;
    case NUMBER_OVERFLOW:
    case NUMBER_MALFORMED: /* its exponent does not fit anywhere */
        ql_refuse(parser, "Number overflow. Attempting to store a number with magnitude larger "
                          "than supported range");
        break;
    }
    if (parser->refused.status != OK)
        out->bytes = number_from_int(parser->arena, 0);
    ql_advance(parser);
}

static void read_parameter(struct ql_parser *parser, struct value *out) {
    size_t at = parser->parameters++;
    *out = at < parser->source->parameter_count ? parser->source->parameters[at] : nothing();
    ql_advance(parser);
}

static void read_word(struct ql_parser *parser, struct ql_node *out) {
    if (ql_at_word(parser, "missing"))
        out->type = QL_MISSING;
    else if (ql_at_word(parser, "null"))
        out->value = nothing();
    else
        out->value = value_bool(ql_at_word(parser, "true"));
    ql_advance(parser);
}

static bool parse_value(struct ql_parser *parser, struct ql_node *out) {
    struct values values = {0};
    switch (parser->current.type) {
    case QL_TOKEN_STRING:
        out->value = value_string(ql_unquote(parser, parser->current));
        ql_advance(parser);
        return true;
    case QL_TOKEN_NUMBER:
        read_number(parser, &out->value);
        return true;
    case QL_TOKEN_PARAMETER:
        out->parameter = true;
        read_parameter(parser, &out->value);
        return true;
    case QL_TOKEN_FOREIGN:
        ql_refuse(parser, "Ion Literals are not supported%.*s",
                  BYTES_ARG(ql_place(parser->source, parser->current.start, parser->current.end)));
        out->value = nothing();
        ql_advance(parser);
        return true;
    case QL_TOKEN_OPEN_BAG:
        return parse_bag(parser, out->start, &out->value);
    case QL_TOKEN_OPEN_MAP:
        return parse_map(parser, &out->value);
    case QL_TOKEN_OPEN_LIST:
        if (!parse_elements(parser, QL_TOKEN_CLOSE_LIST, &values))
            return false;
        out->value = (struct value){.type = VALUE_L, .count = values.count, .elements = values.at};
        return true;
    default:
        read_word(parser, out);
        return true;
    }
}

struct ql_node *ql_parse_literal(struct ql_parser *parser) {
    struct ql_node *node = ql_node_new(parser, QL_VALUE, parser->current.start);
    if (!ql_enter(parser) || !parse_value(parser, node))
        return NULL;
    ql_leave(parser);
    node->end = parser->end;
    if (node->type == QL_VALUE && value_depth(&node->value) >= LIMIT_NESTING)
        ql_refuse(parser, "Nesting Levels have exceeded supported limits");
    return node;
}

struct ql_node *ql_parse_list(struct ql_parser *parser) {
    enum ql_token_type close = parser->current.type == QL_TOKEN_OPEN        ? QL_TOKEN_CLOSE
                               : parser->current.type == QL_TOKEN_OPEN_LIST ? QL_TOKEN_CLOSE_LIST
                                                                            : QL_TOKEN_CLOSE_BAG;
    struct ql_node *list = ql_node_new(parser, QL_LIST, parser->current.start);
    if (!ql_enter(parser))
        return NULL;
    ql_advance(parser);
    bool more = parser->current.type != close;
    while (more) {
        struct ql_node *element = ql_parse_expression(parser);
        if (element == NULL)
            return NULL;
        ql_node_add(list, element);
        more = ql_accept(parser, QL_TOKEN_COMMA);
    }
    ql_leave(parser);
    if (!ql_expect(parser, close))
        return NULL;
    list->end = parser->end;
    return list;
}

/* Statements:
 *
 *   SELECT * | path, ... FROM table[.index] [WHERE condition] [ORDER BY key [ASC | DESC], ...]
 *   INSERT INTO table VALUE {'name': value, ...}
 *   UPDATE table (SET path = term, ... | REMOVE path)+ [WHERE condition] [RETURNING what]
 *   DELETE FROM table [WHERE condition] [RETURNING what]
 *   EXISTS(SELECT ...)
 */
#include "api/partiql/ql_parse.h"
#include "base/limits.h"

static bool name_fits(struct bytes name) {
    if (name.size < LIMIT_TABLE_NAME_MIN || name.size > LIMIT_TABLE_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_' || c == '.'))
            return false;
    }
    return true;
}

/* A name that is told in full (arn:...) is for the caller to look at. */
static void check_name(struct ql_parser *parser, struct bytes name) {
    if (!name_fits(name) && !bytes_starts(name, BYTES("arn:")))
        ql_refuse(parser, "Table name should be within the length [3, 255] and only contain 'a-z', "
                          "'A-Z', '0-9', '-', '_', '.'.");
}

/* [AS] name */
static bool parse_alias(struct ql_parser *parser) {
    struct bytes name;
    bool word = parser->current.type == QL_TOKEN_WORD && !parser->current.keyword;
    if (!ql_at_word(parser, "as") && !word && parser->current.type != QL_TOKEN_QUOTED)
        return true;
    ql_accept_word(parser, "as");
    ql_refuse(parser, "Aliasing is not supported");
    return ql_parse_name(parser, &name);
}

static bool parse_source(struct ql_parser *parser, struct expr_path *out) {
    *out = (struct expr_path){0};
    bool grouped = parser->current.type == QL_TOKEN_OPEN;
    if (grouped || ql_at_literal(parser)) {
        ql_refuse(parser, "Unexpected from source");
        parser->settled |= grouped;
        return grouped ? ql_break(parser) != NULL : ql_parse_literal(parser) != NULL;
    }
    return ql_parse_path(parser, out) && parse_alias(parser);
}

/* The table of what changes one. */
static bool parse_target(struct ql_parser *parser, struct ql_statement *out, const char *refusal) {
    struct expr_path path;
    if (!parse_source(parser, &path))
        return false;
    if (path.count > 1)
        ql_refuse(parser, "%s", refusal);
    if (path.count > 0) {
        out->table = path.steps[0].name;
        check_name(parser, out->table);
    }
    return true;
}

static bool parse_where(struct ql_parser *parser, struct ql_statement *out) {
    if (!ql_accept_word(parser, "where"))
        return true;
    out->where = ql_parse_expression(parser);
    return out->where != NULL;
}

/* --- RETURNING --- */

static bool parse_returning_element(struct ql_parser *parser, enum ql_returning *out) {
    struct expr_path path;
    bool all = ql_accept_word(parser, "all");
    if (!all && !ql_expect_word(parser, "modified"))
        return false;
    bool old = ql_accept_word(parser, "old");
    if (!old && !ql_expect_word(parser, "new"))
        return false;
    *out = all ? (old ? QL_RETURN_ALL_OLD : QL_RETURN_ALL_NEW)
               : (old ? QL_RETURN_MODIFIED_OLD : QL_RETURN_MODIFIED_NEW);
    if (ql_accept(parser, QL_TOKEN_STAR))
        return true;
    ql_refuse(parser, "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause");
    return ql_parse_path(parser, &path);
}

static bool parse_returning(struct ql_parser *parser, enum ql_returning *out) {
    *out = QL_RETURN_NONE;
    if (!ql_accept_word(parser, "returning"))
        return true;
    if (!parse_returning_element(parser, out))
        return false;
    while (ql_accept(parser, QL_TOKEN_COMMA)) {
        ql_refuse(parser, "Invalid syntax with multiple returning elements in RETURNING clause");
        if (!parse_returning_element(parser, out))
            return false;
    }
    return true;
}

/* --- SELECT --- */

static bool parse_selected(struct ql_parser *parser, struct ql_statement *out, uint32_t *room) {
    struct ql_node *node = ql_parse_term(parser);
    if (node == NULL)
        return false;
    if (node->type != QL_PATH) {
        ql_refuse(parser, "Unexpected path component%.*s",
                  BYTES_ARG(ql_place(parser->source, node->start, node->end)));
        return parse_alias(parser);
    }
    if (out->path_count == *room) {
        uint32_t more = *room == 0 ? 4 : *room * 2;
        out->paths = arena_grow(parser->arena, out->paths, sizeof(struct expr_path) * *room,
                                sizeof(struct expr_path) * more);
        *room = more;
    }
    out->paths[out->path_count++] = node->path;
    return parse_alias(parser);
}

static bool parse_projection(struct ql_parser *parser, struct ql_statement *out) {
    if (ql_accept_word(parser, "distinct"))
        ql_refuse(parser, "Unsupported token in expression: DISTINCT");
    else
        ql_accept_word(parser, "all");
    if (ql_accept_word(parser, "value") || ql_accept_word(parser, "pivot")) {
        ql_refuse(parser, "Select projection doesn't support value or pivot keywords");
        return ql_parse_expression(parser) != NULL;
    }
    if (ql_accept(parser, QL_TOKEN_STAR))
        return true;
    uint32_t room = 0;
    do {
        if (!parse_selected(parser, out, &room))
            return false;
    } while (ql_accept(parser, QL_TOKEN_COMMA));
    return true;
}

static bool parse_from(struct ql_parser *parser, struct ql_statement *out) {
    struct expr_path path, other;
    if (!ql_expect_word(parser, "from") || !parse_source(parser, &path))
        return false;
    if (path.count > 2)
        ql_refuse(parser, "A path may contain at most 2 components in the FROM clause");
    for (uint32_t i = 0; i < path.count && i < 2; i++)
        check_name(parser, path.steps[i].name);
    out->table = path.count > 0 ? path.steps[0].name : (struct bytes){0};
    out->index = path.count > 1 ? path.steps[1].name : (struct bytes){0};
    while (ql_accept(parser, QL_TOKEN_COMMA)) {
        ql_refuse(parser, "Only select from a single table or index is supported.");
        if (!parse_source(parser, &other))
            return false;
    }
    return true;
}

static bool parse_order_key(struct ql_parser *parser, struct ql_statement *out, uint32_t *room) {
    struct ql_node *node = ql_parse_term(parser);
    if (node == NULL)
        return false;
    struct ql_order order = {0};
    if (node->type == QL_PATH && node->path.count == 1)
        order.name = node->path.steps[0].name;
    else if (node->type == QL_PATH)
        ql_refuse(parser, "Argument to ORDER BY must be of type VariableReference. Type: PATH");
    else
        ql_refuse(parser, "Argument to ORDER BY must be of type VariableReference. Type: %.*s",
                  (int)(node->end - node->start),
                  (const char *)parser->source->text.data + node->start);
    order.descending = ql_accept_word(parser, "desc");
    if (!order.descending)
        ql_accept_word(parser, "asc");
    if (out->order_count == *room) {
        uint32_t more = *room + 4;
        out->order =
            arena_grow(parser->arena, out->order, sizeof order * *room, sizeof order * more);
        *room = more;
    }
    out->order[out->order_count++] = order;
    return true;
}

static bool parse_order(struct ql_parser *parser, struct ql_statement *out) {
    if (!ql_accept_word(parser, "order"))
        return true;
    if (!ql_expect_word(parser, "by"))
        return false;
    uint32_t room = 0;
    do {
        if (!parse_order_key(parser, out, &room))
            return false;
    } while (ql_accept(parser, QL_TOKEN_COMMA));
    if (out->where == NULL)
        ql_refuse(parser, "Must have WHERE clause in the statement when using ORDER BY clause.");
    return true;
}

/* A clause that is known and not done. */
static bool parse_unsupported(struct ql_parser *parser, const char *word, const char *name) {
    if (!ql_accept_word(parser, word))
        return true;
    struct ql_node *node = ql_parse_expression(parser);
    if (node == NULL)
        return false;
    ql_refuse(parser, "Unsupported clause: %s%.*s", name,
              BYTES_ARG(ql_place(parser->source, node->start, node->end)));
    return true;
}

static bool parse_group(struct ql_parser *parser) {
    if (!ql_accept_word(parser, "group"))
        return true;
    if (!ql_expect_word(parser, "by"))
        return false;
    ql_refuse(parser, "Unsupported clause: GROUP BY");
    do {
        if (ql_parse_expression(parser) == NULL)
            return false;
    } while (ql_accept(parser, QL_TOKEN_COMMA));
    return true;
}

static bool parse_select(struct ql_parser *parser, struct ql_statement *out) {
    out->kind = QL_SELECT;
    return parse_projection(parser, out) && parse_from(parser, out) && parse_where(parser, out) &&
           parse_group(parser) && parse_unsupported(parser, "having", "HAVING") &&
           parse_order(parser, out) && parse_unsupported(parser, "limit", "LIMIT");
}

static bool parse_exists(struct ql_parser *parser, struct ql_statement *out) {
    ql_advance(parser);
    if (!ql_expect_word(parser, "select") || !parse_select(parser, out))
        return false;
    out->kind = QL_EXISTS;
    return ql_expect(parser, QL_TOKEN_CLOSE);
}

/* --- INSERT, UPDATE, DELETE --- */

static bool parse_insert(struct ql_parser *parser, struct ql_statement *out) {
    out->kind = QL_INSERT;
    if (!ql_expect_word(parser, "into") ||
        !parse_target(parser, out,
                      "FROM clause may only contain a single table name in data manipulation "
                      "statements"))
        return false;
    if (parser->current.type == QL_TOKEN_OPEN_BAG) {
        ql_refuse(parser, "Unsupported operation: InsertOp");
        return ql_parse_literal(parser) != NULL;
    }
    if (!ql_expect_word(parser, "value"))
        return false;
    struct ql_node *node = ql_parse_expression(parser);
    enum ql_returning returning;
    if (node == NULL || !parse_returning(parser, &returning))
        return false;
    if (returning != QL_RETURN_NONE)
        ql_refuse(parser, "RETURNING is not supported in INSERT");
    if (node->type != QL_VALUE || node->parameter || node->value.type != VALUE_M)
        ql_refuse(parser,
                  "Unsupported format in item expression. Please use struct format {...} to "
                  "express item values for insert statement.%.*s",
                  BYTES_ARG(ql_place(parser->source, node->start, node->end)));
    else
        out->item = (struct item){node->value.pairs, node->value.count};
    return true;
}

static struct ql_change *add_change(struct ql_parser *parser, struct ql_statement *out,
                                    enum build_verb verb, uint32_t *room) {
    if (out->change_count == *room) {
        uint32_t more = *room == 0 ? 4 : *room * 2;
        out->changes = arena_grow(parser->arena, out->changes, sizeof(struct ql_change) * *room,
                                  sizeof(struct ql_change) * more);
        *room = more;
    }
    struct ql_change *change = &out->changes[out->change_count++];
    *change = (struct ql_change){.verb = verb};
    return change;
}

static bool parse_changes(struct ql_parser *parser, struct ql_statement *out) {
    uint32_t room = 0;
    while (ql_at_word(parser, "set") || ql_at_word(parser, "remove")) {
        if (ql_accept_word(parser, "remove")) {
            if (!ql_parse_path(parser, &add_change(parser, out, BUILD_REMOVE, &room)->path))
                return false;
            continue;
        }
        ql_advance(parser);
        do {
            struct ql_change *change = add_change(parser, out, BUILD_SET, &room);
            if (!ql_parse_path(parser, &change->path) || !ql_expect(parser, QL_TOKEN_EQ))
                return false;
            change->value = ql_parse_expression(parser);
            if (change->value == NULL)
                return false;
        } while (ql_accept(parser, QL_TOKEN_COMMA));
    }
    return out->change_count > 0 || ql_break(parser) != NULL;
}

static bool parse_update(struct ql_parser *parser, struct ql_statement *out) {
    out->kind = QL_UPDATE;
    return parse_target(parser, out, "This operation is not supported on an index") &&
           parse_changes(parser, out) && parse_where(parser, out) &&
           parse_returning(parser, &out->returning);
}

static bool parse_delete(struct ql_parser *parser, struct ql_statement *out) {
    static const char *const names[] = {"", "", "ALL NEW", "MODIFIED OLD", "MODIFIED NEW"};
    out->kind = QL_DELETE;
    if (!ql_expect_word(parser, "from") ||
        !parse_target(parser, out, "This operation is not supported on an index") ||
        !parse_where(parser, out) || !parse_returning(parser, &out->returning))
        return false;
    if (out->returning > QL_RETURN_ALL_OLD)
        ql_refuse(parser,
                  "Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is allowed "
                  "in DELETE statements.",
                  names[out->returning]);
    return true;
}

/* --- what is no statement for items --- */

/* CREATE and DROP are told by what they would make or drop. */
static bool parse_definition(struct ql_parser *parser, const char *verb) {
    bool table = ql_accept_word(parser, "table");
    if (!table && !ql_expect_word(parser, "index"))
        return false;
    if (parser->current.type == QL_TOKEN_END)
        return ql_break(parser) != NULL;
    ql_refuse(parser, "Unsupported operation: %s%s", verb, table ? "Table" : "Index");
    while (parser->current.type != QL_TOKEN_END)
        ql_advance(parser);
    return true;
}

static const char *operation_name(const struct ql_node *node) {
    switch (node->type) {
    case QL_PATH:
        return node->path.count == 1 ? "VariableReference" : "Path";
    case QL_VALUE:
        break;
    default:
        return "Expression";
    }
    if (node->parameter)
        return "Parameter";
    return node->value.type == VALUE_M                                     ? "Struct"
           : node->value.type == VALUE_L || value_is_set(node->value.type) ? "Seq"
                                                                           : "Literal";
}

static bool parse_bare(struct ql_parser *parser) {
    struct ql_node *node = ql_parse_expression(parser);
    if (node != NULL)
        ql_refuse(parser, "Unsupported operation: %s", operation_name(node));
    return node != NULL;
}

static bool parse_statement(struct ql_parser *parser, struct ql_statement *out) {
    if (ql_accept_word(parser, "select"))
        return parse_select(parser, out);
    if (ql_accept_word(parser, "insert"))
        return parse_insert(parser, out);
    if (ql_accept_word(parser, "update"))
        return parse_update(parser, out);
    if (ql_accept_word(parser, "delete"))
        return parse_delete(parser, out);
    if (ql_at_word(parser, "exists") && parser->next.type == QL_TOKEN_OPEN) {
        ql_advance(parser);
        return parse_exists(parser, out);
    }
    if (ql_accept_word(parser, "create"))
        return parse_definition(parser, "Create");
    if (ql_accept_word(parser, "drop"))
        return parse_definition(parser, "Drop");
    return parse_bare(parser);
}

enum status ql_parse(const struct ql_source *source, struct ql_statement **out) {
    struct ql_parser parser = {.source = source, .arena = source->arena};
    struct ql_statement *statement = ARENA_NEW(source->arena, struct ql_statement);
    parser.current = ql_lex(source->text, 0);
    parser.next = ql_lex(source->text, parser.current.end);
    if (parse_statement(&parser, statement)) {
        ql_accept(&parser, QL_TOKEN_SEMICOLON);
        ql_expect(&parser, QL_TOKEN_END);
    }
    if (parser.broken && !parser.settled)
        return ql_fault(source, "Statement wasn't well formed, can't be processed: %.*s",
                        BYTES_ARG(source->text));
    if (parser.refused.status != OK) {
        *source->failure = parser.refused;
        return INVALID;
    }
    if (parser.parameters != source->parameter_count)
        return ql_fault(source, "Number of parameters in request and statement don't match.");
    enum status status = ql_check(source, statement);
    if (status == OK)
        *out = statement;
    return status;
}

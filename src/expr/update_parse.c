/* Updates:
 *
 *   update  := section+                      each kind once
 *   section := SET set (',' set)*            set    := path = sum
 *            | REMOVE path (',' path)*       sum    := operand ((+ | -) operand)? | '(' sum ')'
 *            | ADD change (',' change)*      change := path :value
 *            | DELETE change (',' change)*
 */
#include "expr/update.h"

#include "expr/check.h"
#include "expr/parse.h"
#include "expr/parse_cache.h"

static const char *const section_names[] = {"SET", "REMOVE", "ADD", "DELETE"};

struct action *update_add(struct update *update, struct arena *arena, enum action_type type) {
    if (update->count == update->room) {
        uint32_t room = update->room == 0 ? 4 : update->room * 2;
        update->actions = arena_grow(arena, update->actions, sizeof(struct action) * update->room,
                                     sizeof(struct action) * room);
        update->room = room;
    }
    struct action *action = &update->actions[update->count++];
    *action = (struct action){.type = type};
    return action;
}

void update_fill_set(struct update *update, struct arena *arena) {
    update->set.targets = arena_alloc(arena, sizeof(struct target) * update->count);
    update->set.count = update->count;
    for (uint32_t i = 0; i < update->count; i++)
        update->set.targets[i] = (struct target){&update->actions[i].path, i};
}

/* --- parsing --- */

static bool section_type(enum token_type token, enum action_type *out) {
    switch (token) {
    case TOKEN_SET:
        *out = ACTION_SET;
        return true;
    case TOKEN_REMOVE:
        *out = ACTION_REMOVE;
        return true;
    case TOKEN_ADD:
        *out = ACTION_ADD;
        return true;
    case TOKEN_DELETE:
        *out = ACTION_DELETE;
        return true;
    default:
        return false;
    }
}

static bool is_sum(const struct node *node) {
    return node->type == NODE_PLUS || node->type == NODE_MINUS;
}

static struct node *parse_sum(struct parser *parser) {
    struct node *left;
    if (parser->current.type == TOKEN_OPEN) {
        parse_advance(parser);
        if (!parse_enter(parser))
            return NULL;
        left = parse_sum(parser);
        if (left == NULL || !parse_expect(parser, TOKEN_CLOSE))
            return NULL;
        parse_leave(parser);
        left = parse_group(parser, left);
    } else {
        left = parse_operand(parser);
    }
    enum token_type token = parser->current.type;
    if (left == NULL || is_sum(left) || (token != TOKEN_PLUS && token != TOKEN_MINUS))
        return left;
    parse_advance(parser);
    struct node *right = parse_operand(parser);
    if (right == NULL)
        return NULL;
    struct node *sum =
        node_new(parser->source->arena, token == TOKEN_PLUS ? NODE_PLUS : NODE_MINUS);
    struct node_list list = node_list_of(sum);
    node_list_add(&list, left);
    node_list_add(&list, right);
    return sum;
}

static bool parse_action(struct parser *parser, struct action *action) {
    if (!parse_path(parser, &action->path))
        return false;
    if (action->type == ACTION_REMOVE)
        return true;
    if (action->type == ACTION_SET) {
        if (!parse_expect(parser, TOKEN_EQ))
            return false;
        action->value = parse_sum(parser);
    } else if (parser->current.type == TOKEN_VALUE_ALIAS) {
        action->value = parse_operand(parser);
    } else {
        parse_fail_syntax(parser);
    }
    return action->value != NULL;
}

/* *twice becomes the name of the first section that comes again. */
static enum status parse_sections(const struct expr_source *source, struct update *update,
                                  const char **twice) {
    struct parser parser;
    enum status status = parse_begin(&parser, source);
    if (status != OK)
        return status;
    bool seen[4] = {false};
    enum action_type type;
    do {
        if (!section_type(parser.current.type, &type)) {
            parse_fail_syntax(&parser);
            return parser.status;
        }
        if (seen[type] && *twice == NULL)
            *twice = section_names[type];
        seen[type] = true;
        parse_advance(&parser);
        do {
            if (!parse_action(&parser, update_add(update, source->arena, type)))
                return parser.status;
        } while (parse_accept(&parser, TOKEN_COMMA));
    } while (parser.current.type != TOKEN_END);
    return parser.status;
}

/* --- checking --- */

static enum status check_actions_shape(const struct expr_source *source,
                                       const struct update *update) {
    enum status status = OK;
    for (uint32_t i = 0; status == OK && i < update->count; i++) {
        const struct action *action = &update->actions[i];
        status = check_path_shape(source, &action->path);
        if (status == OK && action->value != NULL)
            status = check_shape(source, action->value, PLACE_SET);
    }
    return status;
}

static const char *long_type_name(enum value_type type) {
    static const char *const names[] = {
        [VALUE_NONE] = "",         [VALUE_S] = "STRING",      [VALUE_N] = "NUMBER",
        [VALUE_B] = "BINARY",      [VALUE_SS] = "STRING_SET", [VALUE_NS] = "NUMBER_SET",
        [VALUE_BS] = "BINARY_SET", [VALUE_M] = "MAP",         [VALUE_L] = "LIST",
        [VALUE_BOOL] = "BOOLEAN",  [VALUE_NULL] = "NULL",
    };
    return names[type];
}

static enum status check_change(const struct expr_source *source, const struct action *action) {
    if (action->type != ACTION_ADD && action->type != ACTION_DELETE)
        return OK;
    enum value_type type = action->value->value->type;
    if (value_is_set(type) || (action->type == ACTION_ADD && type == VALUE_N))
        return OK;
    const char *name = section_names[action->type];
    return expr_fault(source,
                      "Incorrect operand type for operator or function; operator: %s, operand "
                      "type: %s, typeSet: ALLOWED_FOR_%s_OPERAND",
                      name, long_type_name(type), name);
}

/* Paths and values go from the last to the first. */
enum status update_bind(const struct expr_source *source, struct update *update) {
    struct binder binder = {.source = source};
    update_fill_set(update, source->arena);
    enum status status = bind_paths(&binder, &update->set);
    for (uint32_t i = update->count; status == OK && i-- > 0;) {
        struct action *action = &update->actions[i];
        if (action->value == NULL)
            continue;
        status = bind_node(&binder, action->value);
        if (status == OK)
            status = check_change(source, action);
    }
    return status == OK ? bind_end(&binder) : status;
}

/* Passes 1 and 2. */
static enum status read_text(const struct expr_source *source, struct update *update) {
    const char *twice = NULL;
    enum status status = parse_sections(source, update, &twice);
    if (status == OK)
        status = check_actions_shape(source, update);
    if (status == OK && twice != NULL)
        status = expr_fault(
            source, "The \"%s\" section can only be used once in an update expression;", twice);
    return status;
}

enum status update_parse(const struct expr_source *source, struct update **out) {
    struct update *update = ARENA_NEW(source->arena, struct update);
    enum status status = OK;
    if (!parse_cache_update(source, update)) {
        status = read_text(source, update);
        if (status == OK)
            parse_cache_keep_update(source, update);
    }
    if (status == OK)
        status = update_bind(source, update);
    if (status == OK)
        *out = update;
    return status;
}

/* Definitions of boards: list, make, look at, change, remove. */
#include "api/rest/rest_board_rules.h"
#include "api/rest/rest_cursor.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"

enum { LIST_LIMIT = 100 };

static enum status answer_board(struct rest_call *call, struct bytes id) {
    struct board_rules rules;
    enum status status =
        board_rules_get(call->game, id, (struct scope){call->arena, &call->failure}, &rules);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no board %.*s", BYTES_ARG(id));
    if (status == OK)
        rest_rules_put(call, &rules);
    return status;
}

enum status rest_boards_list(struct rest_call *call) {
    struct bytes after;
    struct board_list list;
    size_t limit = cursor_limit(call, LIST_LIMIT);
    enum status status = cursor_name(call, &after);
    if (status == OK)
        status = board_list(call->game,
                            &(struct list_range){
                                .of = rest_query(call, "game"), .after = after, .limit = limit + 1},
                            (struct scope){call->arena, &call->failure}, &list);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"boards\":[");
    for (size_t i = 0; i < list.count && i < limit; i++) {
        rest_put_comma(call->reply);
        rest_rules_put(call, &list.boards[i]);
    }
    buf_byte(call->reply, ']');
    if (list.count > limit)
        cursor_next(call, list.boards[limit - 1].id);
    buf_byte(call->reply, '}');
    return OK;
}

enum status rest_boards_get(struct rest_call *call) {
    enum status status = rest_board(call);
    if (status == INVALID) /* between seasons there is a definition all the same */
        return answer_board(call, call->path[0]);
    if (status != OK)
        return status;
    if (rest_unchanged(call))
        return OK;
    if (call->board->rules.plain) {
        rest_rules_put(call, &call->board->rules);
        return OK;
    }
    return answer_board(call, call->board->rules.id);
}

/* --- making and changing --- */

struct defining {
    struct board_rules rules;
    bool made;
};

static enum status defined(struct rest_call *call) {
    const struct defining *defining = call->state;
    enum status status = rest_changed(call);
    if (status != OK)
        return status;
    if (defining->made) {
        call->status = 201;
        buf_printf(&call->headers, "Location: /v1/boards/%.*s\r\n", BYTES_ARG(defining->rules.id));
    }
    return answer_board(call, defining->rules.id);
}

static enum status define(struct rest_call *call, struct defining *defining, bool create) {
    struct change *change = rest_change(call);
    struct bytes token = change->token;
    enum status status = board_rules_check(call->game, &defining->rules,
                                           (struct scope){call->arena, &call->failure});
    if (status == OK)
        status = board_define_prepare(call->game, &defining->rules, create, change);
    if (change->failure.status != OK)
        call->failure = change->failure;
    if (status != OK)
        return status;
    change->token = token;
    call->state = defining;
    return rest_then(call, change, defined);
}

enum status rest_boards_create(struct rest_call *call) {
    struct defining *defining = ARENA_NEW(call->arena, struct defining);
    defining->rules = rest_rules_default(form_text(&call->body, "id"));
    defining->made = true;
    enum status status = rest_rules_read(call, &call->body, &defining->rules);
    return status == OK ? define(call, defining, true) : status;
}

/* The present definition; `there` is false if there is none. */
static enum status find_definition(struct rest_call *call, struct board_rules *out, bool *there) {
    struct failure failure = {0};
    enum status status =
        board_rules_get(call->game, call->path[0], (struct scope){call->arena, &failure}, out);
    *there = status == OK;
    if (status != OK && status != NOT_FOUND)
        call->failure = failure;
    return status == NOT_FOUND ? OK : status;
}

enum status rest_boards_put(struct rest_call *call) {
    struct defining *defining = ARENA_NEW(call->arena, struct defining);
    struct bytes id = form_text(&call->body, "id");
    struct board_rules old;
    bool there;
    if (id.size != 0 && !bytes_equal(id, call->path[0]))
        return rest_invalid(call, "id", "id is not the one of the path");
    enum status status = find_definition(call, &old, &there);
    if (status == INVALID) { /* what cannot be read can be replaced */
        call->failure = (struct failure){0};
        old = (struct board_rules){.created_ms = 0};
        there = true;
    } else if (status != OK)
        return status;
    defining->rules = rest_rules_default(call->path[0]);
    defining->rules.created_ms = there ? old.created_ms : 0;
    defining->made = !there;
    status = rest_rules_read(call, &call->body, &defining->rules);
    return status == OK ? define(call, defining, false) : status;
}

enum status rest_boards_patch(struct rest_call *call) {
    struct defining *defining = ARENA_NEW(call->arena, struct defining);
    bool there;
    enum status status = find_definition(call, &defining->rules, &there);
    if (status != OK)
        return status;
    if (!there)
        return rest_fail(call, NOT_FOUND, "there is no board %.*s", BYTES_ARG(call->path[0]));
    status = rest_rules_read(call, &call->body, &defining->rules);
    return status == OK ? define(call, defining, false) : status;
}

/* --- removing --- */

static void remove_work(struct rest_call *call) {
    call->worked =
        board_remove(call->game, call->path[0], (struct scope){call->arena, &call->failure});
}

static enum status removed(struct rest_call *call) {
    if (call->worked == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no board %.*s", BYTES_ARG(call->path[0]));
    return call->worked;
}

enum status rest_boards_delete(struct rest_call *call) {
    return rest_background(call, remove_work, removed);
}

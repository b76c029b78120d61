/* Authentication and authorization of routes, by caller.h and access_control.h. */
#include "api/rest/rest_route.h"

/* A key that may only write cannot make a token, with which it would read. */
static unsigned access_of(const struct route *route) {
    if ((route->flags & ROUTE_ADMIN) != 0)
        return ACCESS_ADMIN;
    if ((route->flags & ROUTE_GRANTS) != 0)
        return ACCESS_READ | ACCESS_WRITE;
    return (route->flags & ROUTE_WRITES) != 0 ? ACCESS_WRITE : ACCESS_READ;
}

/* The path's argument of that name; empty if it has none. */
static struct bytes path_argument(const struct rest_call *call, struct bytes name) {
    size_t index = 0;
    for (const char *at = strchr(call->route->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
        struct bytes found = bytes_of(at + 1, strcspn(at + 1, "}"));
        if (bytes_equal(found, name))
            return call->path[index];
        index++;
    }
    return (struct bytes){0};
}

static enum status decide_route(struct rest_call *call, struct bytes player) {
    struct touch touch = {.what = call->route->touches,
                          .access = access_of(call->route),
                          .table = (call->route->flags & ROUTE_ADMIN) != 0
                                       ? BYTES("*")
                                       : call->rest->settings.game->table,
                          .player = player,
                          .room = path_argument(call, BYTES("room"))};
    enum denial denial = access_decide(&call->caller, &touch);
    if (denial == DENIAL_NONE)
        return OK;
    if (denial == DENIAL_UNKNOWN)
        call->status = 401;
    return access_explain(denial, &touch, (struct scope){call->arena, &call->failure});
}

/* A member of a board is a player. */
static struct bytes path_player(const struct rest_call *call) {
    struct bytes player = path_argument(call, BYTES("player"));
    return player.size != 0 ? player : path_argument(call, BYTES("member"));
}

static enum status find_route_caller(struct rest_call *call) {
    const struct rest_settings *settings = &call->rest->settings;
    struct caller_lookup lookup = {settings->keys, settings->game, call->arena, &call->failure,
                                   settings->sessions};
    struct credentials shown = {
        .authorization = http_header(call->exchange, "Authorization"),
        .player_token = http_header(call->exchange, "X-Player-Token"),
        .invitation = http_header(call->exchange, "X-Room-Invite"),
        .exchange = call->exchange,
    };
    if (call->route->touches == TOUCHES_NOTHING)
        return OK;
    enum status status = caller_find(&lookup, &shown, &call->caller);
    if (status != OK)
        call->status = 401;
    return status;
}

/* What operators do: changes by the console, and of what is no player's own, but for what servers
 * of the game do for each player. */
static bool is_audited(const struct rest_call *call) {
    const struct route *route = call->route;
    if ((route->flags & (ROUTE_WRITES | ROUTE_GRANTS)) == 0)
        return false;
    return call->caller.console || (route->flags & ROUTE_ADMIN) != 0 ||
           (route->touches == TOUCHES_TABLE && (route->flags & ROUTE_ROUTINE) == 0);
}

enum status rest_authorize(struct rest_call *call) {
    enum status status = find_route_caller(call);
    if (status == OK)
        status = decide_route(call, path_player(call));
    if (status == OK)
        call->game = call->rest->settings.game;
    call->exchange->note.audited = is_audited(call);
    if (call->caller.player.size != 0)
        call->exchange->note.who = call->caller.player;
    else if (call->caller.key != NULL)
        call->exchange->note.who = call->caller.key->id;
    return status;
}

enum status rest_authorize_player(struct rest_call *call) {
    if (call->route->touches != TOUCHES_PLAYER && call->route->touches != TOUCHES_JOIN)
        return OK;
    enum status status = decide_route(call, rest_query(call, "player"));
    if (status == OK && call->body.type == JSON_OBJECT)
        status = decide_route(call, form_text(&call->body, "player"));
    return status;
}

enum status rest_own(struct rest_call *call, struct bytes player) {
    return decide_route(call, player);
}

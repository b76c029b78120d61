/* Rooms: made, listed, looked at, joined, left, closed. What happens in them goes over their live
 * line (api/live). */
#include "api/act.h"
#include "api/live/render.h"
#include "api/rest/cursor.h"
#include "api/rest/handlers.h"
#include "api/rest/out.h"
#include "base/clock.h"
#include "base/ulid.h"
#include "game/match.h"

enum { LIST_LIMIT = 25 };

/* Something done to a room for a request. */
struct rooming {
    struct act act;
    struct rest_call *call;
    struct bytes player, name;
    enum status (*apply)(struct rooming *rooming, struct room *room, struct failure *failure);
};

/* ---- going through an act ---- */

static enum status apply(struct act *act) {
    struct rooming *rooming = act->user;
    return rooming->apply(rooming, &act->room, &act->failure);
}

static void finished(struct act *act) {
    struct rooming *rooming = act->user;
    rest_wake(rooming->call);
}

static void begin(struct rest_call *call) {
    struct rooming *rooming = call->state;
    act_start(&rooming->act);
}

static void release(struct rest_call *call) {
    struct rooming *rooming = call->state;
    act_release(&rooming->act);
}

static struct rooming *rooming_new(struct rest_call *call, struct bytes code,
                                   enum status (*what)(struct rooming *rooming, struct room *room,
                                                       struct failure *failure)) {
    struct rooming *rooming = ARENA_NEW(call->arena, struct rooming);
    rooming->call = call;
    rooming->apply = what;
    rooming->act = (struct act){
        .game = call->game, .code = code, .apply = apply, .finished = finished, .user = rooming};
    call->state = rooming;
    return rooming;
}

static enum status go(struct rest_call *call, enum status (*next)(struct rest_call *call)) {
    call->release = release;
    return rest_after(call, begin, next);
}

static enum status outcome(struct rest_call *call) {
    const struct rooming *rooming = call->state;
    const struct failure *failure = &rooming->act.failure;
    if (failure->status != OK)
        failure_set(&call->failure, call->arena, failure->status, "%.*s", BYTES_ARG(failure->text));
    return failure->status;
}

/* ---- answers ---- */

static enum status answer_state(struct rest_call *call) {
    const struct rooming *rooming = call->state;
    enum status status = outcome(call);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    out_int(call->reply, "now", clock_now_ms());
    render_room(call->reply, &rooming->act.room);
    buf_byte(call->reply, '}');
    return OK;
}

/* The state, with whose seat it is and the token that keeps it. */
static enum status answer_seat(struct rest_call *call) {
    const struct rooming *rooming = call->state;
    struct buf token = {0};
    enum status status = answer_state(call);
    if (status != OK)
        return status;
    room_token(call->game, rooming->act.room.code, rooming->player, &token);
    call->reply->size--; /* into the object */
    out_text(call->reply, "player", rooming->player);
    out_text(call->reply, "token", buf_bytes(&token));
    buf_byte(call->reply, '}');
    buf_release(&token);
    return OK;
}

static enum status answer_nothing(struct rest_call *call) {
    return outcome(call);
}

/* ---- making and joining ---- */

/* Who asks: by its token, by the body, or (where nobody is asked who they are) somebody new. */
static enum status take_player(struct rest_call *call, struct rooming *rooming) {
    rooming->player = form_text(&call->body, "player");
    rooming->name = form_text(&call->body, "name");
    if (rooming->player.size == 0)
        rooming->player = call->who.player;
    if (rooming->player.size == 0) {
        char *id = arena_alloc(call->arena, ULID_SIZE);
        ulid_make(clock_now_ms(), id);
        rooming->player = bytes_of(id, ULID_SIZE);
    }
    return rest_own(call, rooming->player);
}

static enum status make(struct rooming *rooming, struct room *room, struct failure *failure) {
    struct rest_call *call = rooming->call;
    const struct json *options = form_get(&call->body, "options");
    struct value map = {.type = VALUE_M};
    enum status status = OK;
    if (options != NULL)
        status = plain_read(options, &rooming->act.arena, failure, &map);
    struct room_settings settings = {.kind = form_text(&call->body, "kind"),
                                     .title = form_text(&call->body, "title"),
                                     .capacity = (unsigned)form_count(&call->body, "capacity", 0),
                                     .listed = form_flag(&call->body, "listed", true),
                                     .options = {map.pairs, map.count},
                                     .host = rooming->player,
                                     .host_name = rooming->name};
    return status == OK ? room_make(call->game, &settings, &rooming->act.arena, failure, room)
                        : status;
}

enum status rest_rooms_create(struct rest_call *call) {
    struct rooming *rooming = rooming_new(call, (struct bytes){0}, make);
    enum status status = take_player(call, rooming);
    return status == OK ? go(call, answer_seat) : status;
}

static enum status join(struct rooming *rooming, struct room *room, struct failure *failure) {
    return room_join(room, rooming->player, rooming->name,
                     form_flag(&rooming->call->body, "spectator", false), failure);
}

enum status rest_rooms_join(struct rest_call *call) {
    struct rooming *rooming = rooming_new(call, call->path[0], join);
    enum status status = take_player(call, rooming);
    return status == OK ? go(call, answer_seat) : status;
}

/* ---- leaving and closing ---- */

/* A player leaves; a server takes it out. */
static enum status leave(struct rooming *rooming, struct room *room, struct failure *failure) {
    return room_leave(room, rooming->player, failure);
}

enum status rest_rooms_leave(struct rest_call *call) {
    struct rooming *rooming = rooming_new(call, call->path[0], leave);
    rooming->player = call->path[1];
    enum status status = rest_own(call, rooming->player);
    return status == OK ? go(call, answer_nothing) : status;
}

static enum status close_room(struct rooming *rooming, struct room *room, struct failure *failure) {
    (void)rooming;
    return room_close(room, room->host, failure);
}

enum status rest_rooms_close(struct rest_call *call) {
    rooming_new(call, call->path[0], close_room);
    return go(call, answer_nothing);
}

/* ---- looking ---- */

enum status rest_rooms_get(struct rest_call *call) {
    struct room *room = ARENA_NEW(call->arena, struct room);
    enum status status = room_load(call->game, call->path[0], call->arena, &call->failure, room);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    out_int(call->reply, "now", clock_now_ms());
    render_room(call->reply, room);
    buf_byte(call->reply, '}');
    return OK;
}

static enum room_status status_of(struct bytes name) {
    for (enum room_status status = ROOM_LOBBY; status <= ROOM_OVER; status++)
        if (bytes_equal(name, bytes_str(room_status_name(status))))
            return status;
    return ROOM_LOBBY;
}

enum status rest_rooms_list(struct rest_call *call) {
    struct room_list list;
    struct bytes cursor;
    enum status status = cursor_name(call, &cursor);
    if (status == OK)
        status =
            room_list(call->game, rest_query(call, "kind"), status_of(rest_query(call, "status")),
                      cursor, (size_t)rest_query_count(call, "limit", LIST_LIMIT), call->arena,
                      &call->failure, &list);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"rooms\":[");
    for (size_t i = 0; i < list.count; i++) {
        out_next(call->reply);
        render_room_item(call->reply, &list.rooms[i], call->arena);
    }
    buf_byte(call->reply, ']');
    if (list.cursor.size != 0)
        cursor_next(call, list.cursor);
    buf_byte(call->reply, '}');
    return OK;
}

static void put_kind(struct buf *to, const struct match_kind *kind) {
    out_next(to);
    buf_byte(to, '{');
    out_word(to, "kind", kind->name);
    out_word(to, "title", kind->title);
    out_uint(to, "playersMin", kind->players_min);
    out_uint(to, "playersMax", kind->players_max);
    buf_byte(to, '}');
}

enum status rest_kinds_list(struct rest_call *call) {
    const struct match_kind *kind;
    buf_lit(call->reply, "{\"kinds\":[");
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL;)
        put_kind(call->reply, kind);
    buf_lit(call->reply, "]}");
    return OK;
}

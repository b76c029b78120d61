/* A room's line: the state on every change, and what its player does.
 *
 * What a client says is an object {"do": "...", "id": ...}; each is answered by {"type": "ok"} or
 * {"type": "refused", "reason": "..."} with the same id. */
#include "api/act.h"
#include "api/live/live_int.h"
#include "api/live/presence.h"
#include "api/rest/out.h"
#include "base/clock.h"
#include "base/mem.h"
#include "game/clocks.h"

#include <stdio.h>

struct room_line {
    struct watcher watcher; /* first */
    struct live *live;
    struct loop *loop;
    unsigned holds; /* the channel, and each thing under way */
    unsigned acts;
    uint64_t version; /* of what was last shown */
    bool behind, open;
    int64_t allowance_ms; /* a token bucket: when it would be empty of debts */
    char code[ROOM_CODE_SIZE];
    struct bytes player;       /* empty: looks on */
    struct presence *presence; /* of a player; NULL: not yet, or looks on */
    uint8_t memory[];
};

/* ---- showing ---- */

static void send_text(struct room_line *line, struct buf *text) {
    if (line->open) {
        struct message *message = message_new(buf_bytes(text));
        if (channel_send(line->watcher.channel, message))
            atomic_fetch_add_explicit(&line->live->messages, 1, memory_order_relaxed);
        message_unref(message);
    }
    buf_release(text);
}

static bool is_seated(const struct room_line *line, const struct snapshot *snapshot) {
    for (size_t i = 0; i < snapshot->player_count; i++)
        if (bytes_equal(snapshot->players[i], line->player))
            return true;
    return line->player.size == 0;
}

static void seen(struct watcher *watcher, struct snapshot *snapshot) {
    struct room_line *line = (struct room_line *)watcher;
    if (snapshot->version < line->version && !snapshot->over)
        return; /* it has seen a newer one */
    if (channel_send(watcher->channel, snapshot->message)) {
        line->version = snapshot->version;
        atomic_fetch_add_explicit(&line->live->messages, 1, memory_order_relaxed);
    } else if (!line->behind) {
        line->behind = true;
        atomic_fetch_add_explicit(&line->live->lagged, 1, memory_order_relaxed);
    }
    if (snapshot->over)
        channel_close(watcher->channel, LINE_ROOM_CLOSED, "the room was closed");
    else if (!is_seated(line, snapshot))
        channel_close(watcher->channel, LINE_NOT_SEATED, "you are not in the room any more");
}

static void caught_up(struct channel *channel, void *user) {
    struct room_line *line = user;
    (void)channel;
    line->behind = false;
    line->version = 0;
    hub_retell(line->live->hub, &line->watcher);
}

static void release(struct room_line *line) {
    if (--line->holds == 0)
        mem_free(line);
}

/* ---- answering ---- */

static void put_answer(struct buf *to, const char *type, struct bytes id) {
    buf_printf(to, "{\"type\":\"%s\",\"v\":1", type);
    if (id.size != 0) {
        out_name(to, "id");
        buf_put(to, id);
    }
}

static void answer(struct room_line *line, struct bytes id, const struct failure *failure) {
    struct buf text = {0};
    put_answer(&text, failure->status == OK ? "ok" : "refused", id);
    if (failure->status != OK)
        out_text(&text, "reason", failure->text);
    buf_byte(&text, '}');
    send_text(line, &text);
}

static void refuse(struct room_line *line, struct bytes id, const char *reason) {
    struct failure failure = {INVALID, bytes_str(reason)};
    answer(line, id, &failure);
}

/* ---- doing ---- */

/* What is asked for, while it is under way. */
struct doing {
    struct act *act; /* NULL: a reaction, or nothing yet; it has a whole room in it */
    struct room_line *line;
    struct arena arena; /* of the request */
    struct json request;
    struct bytes id; /* as JSON */
    enum status (*apply)(struct doing *doing, struct room *room, struct failure *failure);
    struct change change; /* of a reaction */
    struct task task;
};

static void doing_free(struct doing *doing) {
    struct room_line *line = doing->line;
    arena_release(&doing->arena);
    mem_free(doing->act);
    mem_free(doing);
    line->acts--;
    atomic_fetch_sub(&line->live->acts, 1);
    release(line);
}

static struct bytes text_of(const struct doing *doing, const char *name) {
    const struct json *value = json_get(&doing->request, bytes_str(name));
    return value != NULL && value->type == JSON_STRING ? value->text : (struct bytes){0};
}

static int64_t int_of(const struct doing *doing, const char *name) {
    const struct json *value = json_get(&doing->request, bytes_str(name));
    int64_t number = 0;
    if (value == NULL || value->type != JSON_NUMBER || value->text.size > 9)
        return -1;
    for (size_t i = 0; i < value->text.size; i++) {
        if (value->text.data[i] < '0' || value->text.data[i] > '9')
            return -1;
        number = number * 10 + (value->text.data[i] - '0');
    }
    return number;
}

static enum status do_ready(struct doing *doing, struct room *room, struct failure *failure) {
    const struct json *ready = json_get(&doing->request, BYTES("ready"));
    return room_ready(room, doing->line->player, ready == NULL || ready->type == JSON_TRUE,
                      failure);
}

static enum status do_start(struct doing *doing, struct room *room, struct failure *failure) {
    return room_start(room, doing->line->player, failure);
}

static enum status do_leave(struct doing *doing, struct room *room, struct failure *failure) {
    return room_leave(room, doing->line->player, failure);
}

static enum status do_kick(struct doing *doing, struct room *room, struct failure *failure) {
    return room_kick(room, doing->line->player, text_of(doing, "player"), failure);
}

static enum status do_close(struct doing *doing, struct room *room, struct failure *failure) {
    return room_close(room, doing->line->player, failure);
}

static enum status do_rematch(struct doing *doing, struct room *room, struct failure *failure) {
    return room_rematch(room, doing->line->player, failure);
}

static enum status do_input(struct doing *doing, struct room *room, struct failure *failure) {
    struct value input;
    enum status status = plain_read(&doing->request, room->arena, failure, &input);
    if (status != OK)
        return status;
    return room_input(room, doing->line->player, &(struct item){input.pairs, input.count}, failure);
}

static const struct {
    const char *name;
    enum status (*apply)(struct doing *doing, struct room *room, struct failure *failure);
} verbs[] = {
    {"ready", do_ready}, {"start", do_start},     {"leave", do_leave}, {"kick", do_kick},
    {"close", do_close}, {"rematch", do_rematch}, {"roll", do_input},
};

static enum status apply(struct act *act) {
    struct doing *doing = act->user;
    return doing->apply(doing, &act->room, &act->failure);
}

static void finished(struct act *act) {
    struct doing *doing = act->user;
    struct live *live = doing->line->live;
    if (act->failure.status == OK) {
        hub_hint(live->hub, &topic_room, act->code);
        if (live->settings.clocks != NULL && act->room.due_ms != 0)
            clocks_wake(live->settings.clocks);
    }
    answer(doing->line, doing->id, &act->failure);
    act_release(act);
    doing_free(doing);
}

static void begin_act(struct doing *doing) {
    doing->act = mem_zalloc(sizeof(*doing->act));
    doing->act->game = doing->line->live->settings.game;
    doing->act->code = bytes_of(doing->line->code, ROOM_CODE_SIZE);
    doing->act->apply = apply;
    doing->act->finished = finished;
    doing->act->user = doing;
    act_start(doing->act);
}

/* ---- reacting ---- */

static void run_reacted(struct task *task) {
    struct doing *doing = (struct doing *)((char *)task - offsetof(struct doing, task));
    struct failure failure;
    room_saved(&doing->change, &failure);
    answer(doing->line, doing->id, &failure);
    doing_free(doing);
}

static void on_reacted(struct change *change) {
    struct doing *doing = change->user;
    loop_post(doing->line->loop, &doing->task);
}

static void begin_reaction(struct doing *doing, int64_t now_ms) {
    struct room_line *line = doing->line;
    struct failure failure = {0};
    int64_t round = int_of(doing, "round");
    doing->change = (struct change){.arena = &doing->arena, .done = on_reacted, .user = doing};
    doing->task.run = run_reacted;
    enum status status = room_react_prepare(
        line->live->settings.game, bytes_of(line->code, ROOM_CODE_SIZE), line->player,
        round < 0 || round > 9999 ? 0 : (unsigned)round, now_ms, &doing->change, &failure);
    if (status == OK) {
        engine_submit(line->live->settings.game->engine, &doing->change);
        return;
    }
    answer(line, doing->id, &failure);
    doing_free(doing);
}

/* ---- listening ---- */

/* Whether the client keeps to its rate. */
static bool within_rate(struct room_line *line, int64_t now_ms) {
    int64_t floor_ms = now_ms - LINE_BURST * 1000 / LINE_RATE;
    if (line->allowance_ms < floor_ms)
        line->allowance_ms = floor_ms;
    if (line->allowance_ms > now_ms)
        return false;
    line->allowance_ms += 1000 / LINE_RATE;
    return true;
}

static void dispatch(struct doing *doing, int64_t now_ms) {
    struct bytes verb = text_of(doing, "do");
    if (bytes_equal(verb, BYTES("react"))) {
        begin_reaction(doing, now_ms);
        return;
    }
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        if (bytes_equal(verb, bytes_str(verbs[i].name)))
            doing->apply = verbs[i].apply;
    if (doing->apply != NULL) {
        begin_act(doing);
        return;
    }
    if (bytes_equal(verb, BYTES("sync"))) {
        caught_up(doing->line->watcher.channel, doing->line);
        answer(doing->line, doing->id, &(struct failure){0});
    } else
        refuse(doing->line, doing->id,
               "\"do\" is react, roll, ready, start, rematch, leave, "
               "kick, close or sync");
    doing_free(doing);
}

/* The request's id as it came: a number or a string. */
static void keep_id(struct doing *doing) {
    const struct json *id = json_get(&doing->request, BYTES("id"));
    struct buf text = {0};
    if (id == NULL || (id->type != JSON_NUMBER && id->type != JSON_STRING) || id->text.size > 64)
        return;
    json_put(&text, id);
    doing->id = arena_copy(&doing->arena, buf_bytes(&text));
    buf_release(&text);
}

static void received(struct channel *channel, struct bytes text, void *user) {
    struct room_line *line = user;
    int64_t now_ms = clock_now_ms(); /* a reaction is stamped before anything else */
    size_t at;
    (void)channel;
    bool too_much = !within_rate(line, now_ms) || line->acts >= LINE_ACTS_MAX;
    struct doing *doing = mem_zalloc(sizeof(*doing));
    arena_init(&doing->arena);
    doing->line = line;
    line->acts++;
    atomic_fetch_add(&line->live->acts, 1);
    line->holds++;
    struct bytes kept = arena_copy(&doing->arena, text);
    if (json_parse(kept, &doing->arena, &doing->request, &at) != OK ||
        doing->request.type != JSON_OBJECT) {
        refuse(line, (struct bytes){0}, "a message is a JSON object");
        doing_free(doing);
        return;
    }
    keep_id(doing);
    bool looks_on = line->player.size == 0 && !bytes_equal(text_of(doing, "do"), BYTES("sync"));
    if (!too_much && !looks_on) {
        dispatch(doing, now_ms);
        return;
    }
    refuse(line, doing->id,
           too_much ? "too much at once: slow down"
                    : "who looks on without a seat's token cannot do that");
    doing_free(doing);
}

/* ---- its life ---- */

static void closed(struct channel *channel, void *user) {
    struct room_line *line = user;
    (void)channel;
    line->open = false;
    hub_unwatch(line->live->hub, &line->watcher);
    if (line->presence != NULL)
        presence_gone(line->presence);
    atomic_fetch_sub(&line->live->lines, 1);
    release(line);
}

static const struct channel_handler handler = {received, caught_up, closed};

static struct room_line *line_new(struct live *live, struct bytes code, struct bytes player) {
    struct room_line *line = mem_zalloc(sizeof(*line) + player.size);
    line->live = live;
    line->loop = loop_current();
    line->holds = 1;
    line->watcher.seen = seen;
    memcpy(line->code, code.data, ROOM_CODE_SIZE);
    if (player.size != 0)
        memcpy(line->memory, player.data, player.size);
    line->player = bytes_of(line->memory, player.size);
    return line;
}

/* Whose seat it is, by the token; or nobody's, if who asks may look on. False: refused. */
static bool identify(struct live *live, struct http_exchange *exchange, struct bytes code,
                     struct bytes *player) {
    struct bytes token = live_query(exchange, "token"), of;
    struct failure failure = {0};
    *player = (struct bytes){0};
    if (token.size == 0 && live_may_look(live, exchange, &exchange->arena))
        return true;
    if (token.size == 0)
        live_refuse(exchange, 401, "say who you are: ?token= of a seat, or ?key=ID:SECRET");
    else if (room_token_read(live->settings.game, token, &exchange->arena, &failure, &of, player) ==
                 OK &&
             bytes_equal(of, code))
        return true;
    else
        live_refuse(exchange, 403, "the token is not that of a seat in this room");
    return false;
}

/* Who has just sat down must not be shown a room without their seat: what others were shown last
 * may be from before. 0: not known. */
static uint64_t version_now(struct live *live, struct bytes code, struct arena *arena) {
    struct failure failure = {0};
    uint64_t version = 0;
    int64_t due_ms;
    room_look(live->settings.game, code, arena, &failure, &version, &due_ms);
    return version;
}

static void open_line(struct live *live, struct http_exchange *exchange, struct bytes code,
                      struct bytes player) {
    struct room_line *line = line_new(live, code, player);
    struct channel_settings settings = {.handler = &handler,
                                        .user = line,
                                        .message_max = LINE_MESSAGE_MAX,
                                        .queue_max = LINE_QUEUE_MAX,
                                        .ping_ms = LINE_PING_MS};
    struct failure failure = {0};
    struct arena arena;
    line->watcher.channel = channel_open(exchange, &settings);
    if (line->watcher.channel == NULL) {
        mem_free(line);
        return;
    }
    line->open = true;
    atomic_fetch_add(&live->lines, 1);
    arena_init(&arena);
    if (player.size != 0)
        line->version = version_now(live, code, &arena);
    if (hub_watch(live->hub, &topic_room, bytes_of(line->code, ROOM_CODE_SIZE), &line->watcher,
                  &arena, &failure) != OK)
        channel_close(line->watcher.channel, LINE_ROOM_CLOSED, "there is no such room");
    else if (player.size != 0)
        line->presence = presence_here(live, bytes_of(line->code, ROOM_CODE_SIZE), line->player);
    arena_release(&arena);
}

void room_line_open(struct live *live, struct http_exchange *exchange, struct bytes code) {
    struct bytes player;
    if (code.size != ROOM_CODE_SIZE) {
        live_refuse(exchange, 404, "there is no such room");
        return;
    }
    if (identify(live, exchange, code, &player))
        open_line(live, exchange, code, player);
}

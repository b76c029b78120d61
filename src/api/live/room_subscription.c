/* A subscription to a room: its state on every change, and the commands of its player.
 *
 * A command is an object {"do": "...", "id": ...}; each is answered by {"type": "ok"} or
 * {"type": "refused", "reason": "..."} with the same id. */
#include "api/live/live_int.h"
#include "api/live/live_presence.h"
#include "api/offload.h"
#include "api/rest/rest_json.h"
#include "api/room_txn.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "game/room/match.h"
#include "game/room/room_scheduler.h"

#include <stdio.h>

struct room_subscription {
    struct watcher watcher; /* first */
    struct live *live;
    struct loop *loop;
    const struct access_key *key; /* that it was opened by; NULL: none */
    unsigned holds; /* references: the channel's, and one for each command under way */
    unsigned txns;
    uint64_t version; /* of what was last shown */
    bool behind, open;
    int64_t allowance_ms; /* a token bucket: when it would be empty of debts */
    char code[ROOM_CODE_SIZE];
    struct bytes player;       /* empty: looks on */
    struct presence *presence; /* of a player; NULL: not yet, or looks on */
    uint8_t memory[];
};

/* ---- showing ---- */

static void send_text(struct room_subscription *subscription, struct buf *text) {
    if (subscription->open) {
        struct message *message = message_new(buf_bytes(text));
        if (channel_send(subscription->watcher.channel, message))
            atomic_fetch_add_explicit(&subscription->live->messages, 1, memory_order_relaxed);
        message_unref(message);
    }
    buf_release(text);
}

static bool is_seated(const struct room_subscription *subscription,
                      const struct topic_state *state) {
    for (size_t i = 0; i < state->player_count; i++)
        if (bytes_equal(state->players[i], subscription->player))
            return true;
    return subscription->player.size == 0;
}

static void seen(struct watcher *watcher, struct topic_state *state) {
    struct room_subscription *subscription = (struct room_subscription *)watcher;
    if (state->version < subscription->version && !state->over)
        return; /* it has seen a newer one */
    if (channel_send(watcher->channel, state->message)) {
        subscription->version = state->version;
        atomic_fetch_add_explicit(&subscription->live->messages, 1, memory_order_relaxed);
    } else if (!subscription->behind) {
        subscription->behind = true;
        atomic_fetch_add_explicit(&subscription->live->lagged, 1, memory_order_relaxed);
    }
    if (state->over)
        channel_close(watcher->channel, CLOSE_ROOM_CLOSED, "the room was closed");
    else if (!is_seated(subscription, state))
        channel_close(watcher->channel, CLOSE_NOT_SEATED, "you are not in the room any more");
}

static void caught_up(struct channel *channel, void *user) {
    struct room_subscription *subscription = user;
    (void)channel;
    subscription->behind = false;
    subscription->version = 0;
    hub_resend(subscription->live->hub, &subscription->watcher);
}

static void subscription_unref(struct room_subscription *subscription) {
    if (--subscription->holds == 0)
        mem_free(subscription);
}

/* ---- answering ---- */

static void put_answer(struct buf *to, const char *type, struct bytes id) {
    buf_printf(to, "{\"type\":\"%s\",\"v\":1", type);
    if (id.size != 0) {
        rest_put_name(to, "id");
        buf_put(to, id);
    }
}

static void answer_command(struct room_subscription *subscription, struct bytes id,
                           const struct failure *failure) {
    struct buf text = {0};
    put_answer(&text, failure->status == OK ? "ok" : "refused", id);
    if (failure->status != OK)
        rest_put_text(&text, "reason", failure->text);
    buf_byte(&text, '}');
    send_text(subscription, &text);
}

static void refuse_command(struct room_subscription *subscription, struct bytes id,
                           const char *reason) {
    struct failure failure = {INVALID, bytes_str(reason)};
    answer_command(subscription, id, &failure);
}

/* ---- doing ---- */

/* A command of the client, from its message to its answer. */
struct room_command {
    struct room_txn *txn; /* allocated; NULL: a reaction, or not started */
    struct room_subscription *subscription;
    struct room_queue_entry entry; /* of one that waits for its turn in the room */
    bool queued;
    struct arena arena; /* of the request */
    struct json request;
    struct bytes id; /* the client's, as JSON */
    enum status (*apply)(struct room_command *command, struct room *room, struct failure *failure);
    struct change change; /* of a reaction */
    struct change_submit submit;
    struct task task;       /* posts it from the pool back to the loop */
    struct failure failure; /* how the reaction went */
    int64_t arrived_ms;     /* when it came to this machine */
};

static void room_command_free(struct room_command *command) {
    struct room_subscription *subscription = command->subscription;
    arena_release(&command->arena);
    mem_free(command->txn);
    mem_free(command);
    subscription->txns--;
    atomic_fetch_sub(&subscription->live->txns, 1);
    subscription_unref(subscription);
}

static struct bytes text_of(const struct room_command *command, const char *name) {
    const struct json *value = json_get(&command->request, bytes_str(name));
    return value != NULL && value->type == JSON_STRING ? value->text : (struct bytes){0};
}

static int64_t int_of(const struct room_command *command, const char *name) {
    const struct json *value = json_get(&command->request, bytes_str(name));
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

static enum status do_ready(struct room_command *command, struct room *room,
                            struct failure *failure) {
    const struct json *ready = json_get(&command->request, BYTES("ready"));
    return room_ready(room, command->subscription->player,
                      ready == NULL || ready->type == JSON_TRUE, failure);
}

static enum status do_start(struct room_command *command, struct room *room,
                            struct failure *failure) {
    return room_start(room, command->subscription->player, failure);
}

static enum status do_leave(struct room_command *command, struct room *room,
                            struct failure *failure) {
    return room_leave(room, command->subscription->player, failure);
}

static enum status do_kick(struct room_command *command, struct room *room,
                           struct failure *failure) {
    const struct json *ban = json_get(&command->request, BYTES("ban"));
    bool for_good = ban != NULL && ban->type == JSON_TRUE;
    return (for_good ? room_ban : room_kick)(room, command->subscription->player,
                                             text_of(command, "player"), failure);
}

static enum status do_play(struct room_command *command, struct room *room,
                           struct failure *failure) {
    const struct json *play = json_get(&command->request, BYTES("play"));
    return room_play(room, command->subscription->player, play == NULL || play->type == JSON_TRUE,
                     failure);
}

static enum status do_bot(struct room_command *command, struct room *room,
                          struct failure *failure) {
    return room_add_bot(room, command->subscription->player, failure);
}

static enum status do_change(struct room_command *command, struct room *room,
                             struct failure *failure) {
    const struct json *given = json_get(&command->request, BYTES("options"));
    struct value map = {.type = VALUE_M};
    if (given != NULL && given->type != JSON_OBJECT)
        return failure_set(failure, room->arena, INVALID, "options is an object");
    if (given != NULL) {
        enum status status = rest_value_read(given, (struct scope){room->arena, failure}, &map);
        if (status != OK)
            return status;
    }
    struct item options = {map.pairs, map.count};
    struct room_changes changes = {.kind = text_of(command, "kind"),
                                   .options = given != NULL ? &options : NULL};
    return room_change(room, command->subscription->player, &changes, failure);
}

static enum status do_close(struct room_command *command, struct room *room,
                            struct failure *failure) {
    return room_close(room, command->subscription->player, failure);
}

static enum status do_rematch(struct room_command *command, struct room *room,
                              struct failure *failure) {
    return room_rematch(room, command->subscription->player, failure);
}

static enum status do_input(struct room_command *command, struct room *room,
                            struct failure *failure) {
    struct value input;
    enum status status =
        rest_value_read(&command->request, (struct scope){room->arena, failure}, &input);
    if (status != OK)
        return status;
    return room_input(room, command->subscription->player, &(struct item){input.pairs, input.count},
                      failure);
}

static const struct {
    const char *name;
    enum status (*apply)(struct room_command *command, struct room *room, struct failure *failure);
} verbs[] = {
    {"ready", do_ready}, {"start", do_start}, {"leave", do_leave},
    {"kick", do_kick},   {"close", do_close}, {"rematch", do_rematch},
    {"play", do_play},   {"bot", do_bot},     {"change", do_change},
};

/* Finds the function of a verb: the room's own, then those of the kinds of games. False: there is
 * none. */
static bool find_verb(struct room_command *command, struct bytes name, bool *reaction) {
    const struct match_verb *verb = match_verb_find(name);
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        if (bytes_equal(name, bytes_str(verbs[i].name)))
            command->apply = verbs[i].apply;
    *reaction = command->apply == NULL && verb != NULL && verb->play == NULL;
    if (command->apply == NULL && verb != NULL)
        command->apply = do_input;
    return command->apply != NULL;
}

static enum status apply_command(struct room_txn *txn) {
    struct room_command *command = txn->user;
    return command->apply(command, &txn->room, &txn->failure);
}

static void command_finished(struct room_txn *txn) {
    struct room_command *command = txn->user;
    struct live *live = command->subscription->live;
    if (txn->failure.status == OK) {
        hub_notify(live->hub, (struct topic_id){&topic_room, txn->code});
        if (live->settings.scheduler != NULL && txn->room.due_ms != 0)
            room_scheduler_wake(live->settings.scheduler);
    }
    answer_command(command->subscription, command->id, &txn->failure);
    room_txn_release(txn);
    if (command->queued)
        room_queue_done(&live_loop_here(live)->rooms, command->subscription->code);
    room_command_free(command);
}

static void begin_txn(struct room_command *command) {
    command->txn = mem_zalloc(sizeof(*command->txn));
    command->txn->game = command->subscription->live->settings.game;
    command->txn->pool = command->subscription->live->settings.pool;
    command->txn->code = bytes_of(command->subscription->code, ROOM_CODE_SIZE);
    command->txn->apply = apply_command;
    command->txn->finished = command_finished;
    command->txn->user = command;
    room_txn_start(command->txn);
}

static void begin_entry(struct room_queue_entry *entry) {
    begin_txn((struct room_command *)((char *)entry - offsetof(struct room_command, entry)));
}

/* What is done to the room itself takes its turn behind who came before; a move of a game does not
 * wait. */
static void begin_command(struct room_command *command) {
    if (command->apply == do_input) {
        begin_txn(command);
        return;
    }
    command->queued = true;
    command->entry =
        (struct room_queue_entry){.code = command->subscription->code, .begin = begin_entry};
    room_queue_add(&live_loop_here(command->subscription->live)->rooms, &command->entry);
}

/* ---- reacting ---- */

/* On the loop. */
static void answer_reaction(struct room_command *command) {
    answer_command(command->subscription, command->id, &command->failure);
    room_command_free(command);
}

static enum status prepare_reaction(struct room_command *command) {
    const struct room_subscription *subscription = command->subscription;
    int64_t round = int_of(command, "round");
    command->change = (struct change){.arena = &command->arena};
    struct reaction reaction = {.code = bytes_of(subscription->code, ROOM_CODE_SIZE),
                                .player = subscription->player,
                                .round =
                                    round < 0 || round > LIMIT_ROOM_ROUNDS ? 0 : (unsigned)round,
                                .at_ms = command->arrived_ms};
    return room_react_prepare(subscription->live->settings.game, &reaction, &command->change,
                              &command->failure);
}

static void run_answer_reaction(struct task *task) {
    answer_reaction((struct room_command *)((char *)task - offsetof(struct room_command, task)));
}

static void reacted(struct change_submit *submit) {
    struct room_command *command =
        (struct room_command *)((char *)submit - offsetof(struct room_command, submit));
    room_save_result(&command->change, &command->failure);
    answer_reaction(command);
}

/* On a thread of the pool. */
static void react_and_wait(void *argument) {
    struct room_command *command = argument;
    struct live *live = command->subscription->live;
    if (prepare_reaction(command) == OK) {
        engine_submit_wait(live->settings.game->engine, &command->change);
        room_save_result(&command->change, &command->failure);
    }
    command->task.run = run_answer_reaction;
    loop_post(command->subscription->loop, &command->task);
}

static void begin_reaction(struct room_command *command) {
    const struct live_settings *settings = &command->subscription->live->settings;
    if (settings->pool != NULL && offload_needed(settings->game->engine)) {
        if (background_run(settings->pool, react_and_wait, command))
            return;
        failure_set(&command->failure, &command->arena, BUSY, "%s", OFFLOAD_BUSY);
    } else if (prepare_reaction(command) == OK) {
        command->submit.back = reacted;
        change_submit(settings->game->engine, &command->change, &command->submit);
        return;
    }
    answer_reaction(command);
}

/* ---- listening ---- */

/* Whether the client keeps to its rate. */
static bool within_rate(struct room_subscription *subscription) {
    int64_t now_ms = clock_ticks_us() / 1000;
    int64_t floor_ms = now_ms - LIVE_BURST * 1000 / LIVE_RATE;
    if (subscription->allowance_ms < floor_ms)
        subscription->allowance_ms = floor_ms;
    if (subscription->allowance_ms > now_ms)
        return false;
    subscription->allowance_ms += 1000 / LIVE_RATE;
    return true;
}

static void dispatch(struct room_command *command) {
    struct bytes verb = text_of(command, "do");
    bool reaction;
    if (find_verb(command, verb, &reaction)) {
        if (reaction)
            begin_reaction(command);
        else
            begin_command(command);
        return;
    }
    if (bytes_equal(verb, BYTES("sync"))) {
        caught_up(command->subscription->watcher.channel, command->subscription);
        answer_command(command->subscription, command->id, &(struct failure){0});
    } else
        refuse_command(
            command->subscription, command->id,
            "\"do\" is ready, start, rematch, play, change, bot, leave, kick, close, sync, "
            "or a move of the game (GET /v1/kinds)");
    room_command_free(command);
}

/* The request's id as it came: a number or a string. */
static void keep_id(struct room_command *command) {
    const struct json *id = json_get(&command->request, BYTES("id"));
    struct buf text = {0};
    if (id == NULL || (id->type != JSON_NUMBER && id->type != JSON_STRING) || id->text.size > 64)
        return;
    json_put(&text, id);
    command->id = arena_copy(&command->arena, buf_bytes(&text));
    buf_release(&text);
}

static void received(struct channel *channel, struct bytes text, void *user) {
    struct room_subscription *subscription = user;
    size_t at;
    bool too_much = !within_rate(subscription) || subscription->txns >= LIVE_TXNS_MAX;
    struct room_command *command = mem_zalloc(sizeof(*command));
    arena_init(&command->arena);
    command->subscription = subscription;
    subscription->txns++;
    atomic_fetch_add(&subscription->live->txns, 1);
    subscription->holds++;
    struct bytes kept = arena_copy(&command->arena, text);
    if (json_parse(kept, &command->arena, &command->request, &at) != OK ||
        command->request.type != JSON_OBJECT) {
        refuse_command(subscription, (struct bytes){0}, "a message is a JSON object");
        room_command_free(command);
        return;
    }
    keep_id(command);
    bool looks_on =
        subscription->player.size == 0 && !bytes_equal(text_of(command, "do"), BYTES("sync"));
    if (!too_much && !looks_on) {
        command->arrived_ms = channel_arrived_ms(channel);
        dispatch(command);
        return;
    }
    refuse_command(subscription, command->id,
                   too_much ? "too much at once: slow down"
                            : "who looks on without a seat's token cannot do that");
    room_command_free(command);
}

/* ---- its life ---- */

static void closed(struct channel *channel, void *user) {
    struct room_subscription *subscription = user;
    subscription->open = false;
    hub_unwatch(subscription->live->hub, &subscription->watcher);
    if (subscription->presence != NULL)
        presence_close(subscription->presence, channel_silent_ms(channel));
    atomic_fetch_sub(&subscription->live->subscriptions, 1);
    subscription_unref(subscription);
}

static void review(struct channel *channel, void *user) {
    const struct room_subscription *subscription = user;
    live_review(subscription->live, channel, subscription->key);
}

static const struct channel_handler handler = {received, caught_up, closed, review};

static struct room_subscription *subscription_new(struct live *live, struct bytes code,
                                                  struct bytes player) {
    struct room_subscription *subscription = mem_zalloc(sizeof(*subscription) + player.size);
    subscription->live = live;
    subscription->loop = loop_current();
    subscription->holds = 1;
    subscription->watcher.seen = seen;
    memcpy(subscription->code, code.data, ROOM_CODE_SIZE);
    if (player.size != 0)
        memcpy(subscription->memory, player.data, player.size);
    subscription->player = bytes_of(subscription->memory, player.size);
    return subscription;
}

/* Who has just sat down must not be shown a room without their seat: what others were shown last
 * may be from before. 0: not known. */
static uint64_t version_now(struct live *live, struct bytes code, struct arena *arena) {
    struct failure failure = {0};
    struct room_version present;
    room_read_version(live->settings.game, code, (struct scope){arena, &failure}, &present);
    return present.version;
}

/* Whether the room is for whoever asks: the seat is still the one of the token, and a guest's
 * invitation holds. WOULD_BLOCK: to be asked again where one may wait. */
static enum status check_room(struct live *live, const struct caller *caller, struct bytes code,
                              struct scope in) {
    struct game *game = live->settings.game;
    struct room_token seat = {code, caller->player, caller->joined_ms};
    int64_t joined_ms = 0;
    if (caller->room.size != 0) {
        enum status status = room_seat_joined(game, &seat, in, &joined_ms);
        if (status != OK || joined_ms == 0 || joined_ms == caller->joined_ms)
            return status; /* one who is not there any more is told so */
        return failure_set(in.failure, in.arena, DENIED,
                           "the token is of a seat that was given up");
    }
    if (caller->invitation.code.size == 0)
        return OK;
    struct room *room = ARENA_NEW(in.arena, struct room);
    enum status status = room_load(game, code, in, room);
    if (status == OK && !room_invitation_holds(room, &caller->invitation))
        return failure_set(in.failure, in.arena, DENIED, "this invitation is not good any more");
    return status;
}

bool room_subscription_prepare(struct live_opening *opening, bool *later) {
    struct live *live = opening->live;
    struct http_exchange *exchange = opening->exchange;
    struct failure failure = {0};
    *later = false;
    if (opening->id.size != ROOM_CODE_SIZE) {
        live_refuse(exchange, 404, "there is no such room");
        return false;
    }
    struct live_request request = {.kind = &topic_room, .room = opening->id};
    if (!live_authorize(live, exchange, &request))
        return false;
    struct scope in = {&exchange->arena, &failure};
    enum status status = check_room(live, &request.caller, opening->id, in);
    *later = status == WOULD_BLOCK;
    if (status != OK) {
        if (!*later)
            live_refuse(exchange, status == DENIED ? 403 : 404,
                        arena_str(&exchange->arena, failure.text));
        return false;
    }
    opening->key = request.caller.key;
    /* A player's own token looks on; a seat's token says whose seat it is. */
    if (request.caller.room.size != 0)
        opening->player = request.caller.player;
    if (opening->player.size != 0)
        opening->version = version_now(live, opening->id, &exchange->arena);
    opening->held = hub_hold(live->hub, (struct topic_id){&topic_room, opening->id},
                             (struct scope){&exchange->arena, &failure});
    *later = failure.status == WOULD_BLOCK;
    return !*later;
}

static bool watch_room(struct room_subscription *subscription, const struct live_opening *opening) {
    struct failure failure = {0};
    struct arena arena;
    arena_init(&arena);
    enum status status = opening->held == NULL
                             ? NOT_FOUND
                             : hub_watch(opening->live->hub,
                                         (struct topic_id){&topic_room, bytes_of(subscription->code,
                                                                                 ROOM_CODE_SIZE)},
                                         &subscription->watcher, (struct scope){&arena, &failure});
    arena_release(&arena);
    return status == OK;
}

void room_subscription_open(const struct live_opening *given) {
    struct live_opening opening = *given; /* a copy: the given one ends with the exchange */
    struct live *live = opening.live;
    struct room_subscription *subscription = subscription_new(live, opening.id, opening.player);
    struct channel_settings settings = {.handler = &handler,
                                        .user = subscription,
                                        .message_max = LIVE_MESSAGE_MAX,
                                        .queue_max = LIVE_QUEUE_MAX,
                                        .ping_ms = LIVE_PING_MS};
    subscription->version = opening.version;
    subscription->key = opening.key;
    subscription->watcher.channel = channel_open(opening.exchange, &settings);
    if (subscription->watcher.channel == NULL) {
        mem_free(subscription);
        return;
    }
    subscription->open = true;
    atomic_fetch_add(&live->subscriptions, 1);
    if (!watch_room(subscription, &opening))
        channel_close(subscription->watcher.channel, CLOSE_ROOM_CLOSED, "there is no such room");
    else if (subscription->player.size != 0)
        subscription->presence =
            presence_open(live, bytes_of(subscription->code, ROOM_CODE_SIZE), subscription->player);
    review(subscription->watcher.channel, subscription); /* keys may have changed meanwhile */
}

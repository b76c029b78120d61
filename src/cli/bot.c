#include "cli/bot.h"

#include "api/rest/rest_json.h"
#include "base/clock.h"
#include "game/room/match.h"

enum {
    WAIT_FIRST_MS = 200,
    WAIT_MAX_MS = 3000,
    ROOM_GONE = 4000,
    SEAT_GONE = 4001,
};

/* ---- looking at a state ---- */

static const struct json *member_of(const struct json *object, const char *name) {
    return object == NULL ? NULL : json_get(object, bytes_str(name));
}

static int64_t number_of(const struct json *object, const char *name) {
    const struct json *value = member_of(object, name);
    int64_t sum = 0;
    if (value == NULL || value->type != JSON_NUMBER)
        return 0;
    for (size_t i = 0; i < value->text.size; i++)
        if (value->text.data[i] >= '0' && value->text.data[i] <= '9')
            sum = sum * 10 + (value->text.data[i] - '0');
    return sum;
}

static bool member_is(const struct json *object, const char *name, struct bytes text) {
    const struct json *value = member_of(object, name);
    return value != NULL && value->type == JSON_STRING && bytes_equal(value->text, text);
}

static bool is_true(const struct json *object, const char *name) {
    const struct json *value = member_of(object, name);
    return value != NULL && value->type == JSON_TRUE;
}

/* ---- doing something, later ---- */

static void on_timer(uv_timer_t *timer);

static void plan(struct bot *bot, enum bot_plan what, unsigned after_ms) {
    bot->plan = what;
    uv_timer_start(&bot->timer, on_timer, after_ms, 0);
}

static void say(struct bot *bot, struct bytes text) {
    bot_socket_send(&bot->socket, text);
}

/* What has been handed to the system before the round's end has been sent in time. */
static void say_move(struct bot *bot) {
    uint32_t bit = 1U << (bot->said % 32);
    bot->bots->moves++;
    say(bot, buf_bytes(&bot->move));
    bool early = clock_now_ms() < bot->ends_ms;
    bot->early = early ? bot->early | bit : bot->early & ~bit;
    bot->said++;
}

static void set_in_match(struct bot *bot, bool in_match) {
    bot->bots->in_match += (unsigned)in_match - (unsigned)bot->in_match;
    bot->in_match = in_match;
}

static void finish_bot(struct bot *bot) {
    if (bot->done)
        return;
    bot->done = true;
    set_in_match(bot, false);
    bot->bots->playing--;
    uv_timer_stop(&bot->timer);
    bot_socket_close(&bot->socket);
}

static void come_back(struct bot *bot) {
    unsigned wait = (unsigned)WAIT_FIRST_MS << (bot->waits < 4 ? bot->waits : 4);
    bot->waits++;
    if (wait > WAIT_MAX_MS)
        wait = WAIT_MAX_MS;
    plan(bot, PLAN_OPEN, wait / 2 + (unsigned)random_below(&bot->bots->random, wait));
}

static void on_timer(uv_timer_t *timer) {
    struct bot *bot = timer->data;
    enum bot_plan what = bot->plan;
    bot->plan = PLAN_NOTHING;
    switch (what) {
    case PLAN_NOTHING:
        break;
    case PLAN_OPEN:
        if (!bot_socket_open(&bot->socket, buf_bytes(&bot->path)))
            come_back(bot);
        break;
    case PLAN_MOVE:
        say_move(bot);
        break;
    case PLAN_REMATCH:
        say(bot, BYTES("{\"do\":\"rematch\"}"));
        break;
    case PLAN_START:
        say(bot, BYTES("{\"do\":\"start\"}"));
        break;
    }
}

/* ---- playing ---- */

static const struct json *own_seat(const struct bot *bot, const struct json *state) {
    const struct json *players = member_of(state, "players");
    for (uint32_t i = 0; players != NULL && i < players->count; i++)
        if (member_is(&players->elements[i], "player", buf_bytes(&bot->player)))
            return &players->elements[i];
    return NULL;
}

/* All who are to come are there, and ready. */
static bool all_ready(const struct bot *bot, const struct json *state) {
    const struct json *players = member_of(state, "players");
    unsigned count = 0;
    for (uint32_t i = 0; players != NULL && i < players->count; i++) {
        const struct json *seat = &players->elements[i];
        if (is_true(seat, "spectator"))
            continue;
        count++;
        if (!is_true(seat, "ready") && !member_is(seat, "player", buf_bytes(&bot->player)))
            return false;
    }
    return count >= bot->seats;
}

static bool is_host(const struct bot *bot, const struct json *state) {
    return bot->seats != 0 && member_is(member_of(state, "room"), "host", buf_bytes(&bot->player));
}

static void in_lobby(struct bot *bot, const struct json *state) {
    const struct json *seat = own_seat(bot, state);
    bool ready = seat != NULL && is_true(seat, "ready");
    bool host = is_host(bot, state);
    if (host && all_ready(bot, state) && !bot->said_start) {
        bot->said_start = true;
        plan(bot, PLAN_START, 1);
    } else if (!host && !ready && seat != NULL && !bot->said_ready) {
        bot->said_ready = true;
        say(bot, BYTES("{\"do\":\"ready\",\"ready\":true}"));
    }
}

/* A part of the state as the kinds read it. */
static struct item item_of(const struct json *object, struct arena *arena) {
    struct failure failure = {0};
    struct value map = {0};
    if (object == NULL || object->type != JSON_OBJECT ||
        rest_value_read(object, (struct scope){arena, &failure}, &map) != OK)
        return (struct item){0};
    return (struct item){map.pairs, map.count};
}

static void plan_move(struct bot *bot, const struct match_reply *reply) {
    struct value message = {
        .type = VALUE_M, .count = reply->message.count, .pairs = reply->message.pairs};
    bot->answered = reply->about;
    bot->may_repeat = reply->repeats;
    if (reply->message.count == 0)
        return;
    buf_clear(&bot->move);
    rest_put_value(&bot->move, &message);
    bot->move.size--; /* its brace */
    buf_printf(&bot->move, ",\"id\":%u}", bot->said);
    plan(bot, PLAN_MOVE, reply->after_ms);
}

static void in_match(struct bot *bot, const struct json *state, struct arena *arena) {
    const struct json *room = member_of(state, "room"), *name = member_of(room, "kind");
    const struct match_kind *kind =
        name != NULL && name->type == JSON_STRING ? match_kind_named(name->text) : NULL;
    struct match_view view = {.player = buf_bytes(&bot->player),
                              .state = item_of(member_of(room, "state"), arena),
                              .round = item_of(member_of(state, "round"), arena),
                              .random = &bot->bots->random,
                              .arena = arena,
                              .error_percent = (unsigned)bot->bots->error_percent,
                              .slow_ms = (unsigned)bot->bots->slow_ms,
                              .eager = bot->bots->eager};
    struct match_reply reply = {0};
    bot->said_ready = bot->said_start = false;
    if (kind != NULL)
        kind->bot(&view, &reply);
    if (reply.about != 0 && reply.about != bot->answered) {
        bot->ends_ms = number_of(member_of(state, "round"), "endsAt");
        plan_move(bot, &reply);
    }
}

static void after_match(struct bot *bot, const struct json *state) {
    unsigned match = (unsigned)number_of(member_of(state, "room"), "match");
    if (bot->match != match) {
        bot->match = match;
        bot->bots->finished++;
    }
    if (match >= bot->bots->matches)
        finish_bot(bot);
    else if (is_host(bot, state) && bot->plan != PLAN_REMATCH)
        plan(bot, PLAN_REMATCH, 500);
}

/* ---- what the room tells it ---- */

/* How long a new round took to get here, from when the room's clock began it. */
static void note_latency(struct bot *bot, const struct json *state) {
    const struct json *round = member_of(state, "round");
    int64_t version = number_of(member_of(state, "room"), "version");
    int64_t took = clock_now_ms() - number_of(round, "startsAt");
    bool open = member_is(round, "status", BYTES("open"));
    bool news = open && number_of(round, "n") != bot->round;
    if (open)
        bot->round = number_of(round, "n");
    bot->bots->states++;
    /* The first state of a connection may have been rendered long ago. */
    if (news && bot->version != 0 && took >= 0 && bot->bots->in_match == bot->bots->count)
        bot->bots->latency[took < LATENCY_BUCKETS ? took : LATENCY_BUCKETS - 1]++;
    bot->version = (uint64_t)version;
}

static void on_state(struct bot *bot, const struct json *state, struct arena *arena) {
    const struct json *room = member_of(state, "room");
    bot->waits = 0;
    set_in_match(bot, member_is(room, "status", BYTES("playing")));
    note_latency(bot, state);
    if (member_is(room, "status", BYTES("lobby")))
        in_lobby(bot, state);
    else if (member_is(room, "status", BYTES("playing")))
        in_match(bot, state, arena);
    else if (member_is(room, "status", BYTES("over")))
        after_match(bot, state);
    else
        finish_bot(bot);
}

static void on_refused(struct bot *bot, const struct json *message) {
    const struct json *reason = member_of(message, "reason");
    unsigned number = (unsigned)number_of(message, "id");
    bot->bots->refused++;
    bot->said_start = false; /* somebody was not ready any more: the next state tells */
    if (reason == NULL || reason->type != JSON_STRING || member_of(message, "id") == NULL ||
        reason->text.size < 8 || memcmp(reason->text.data, "Too late", 8) != 0)
        return;
    if ((bot->early >> number % 32 & 1) != 0)
        bot->bots->refused_early++;
    else
        bot->bots->refused_late++;
}

static void received(struct bot_socket *socket, struct bytes text) {
    struct bot *bot = socket->user;
    struct arena arena;
    struct json message;
    size_t where;
    arena_init(&arena);
    if (json_parse(text, &arena, &message, &where) == OK) {
        if (member_is(&message, "type", BYTES("state")))
            on_state(bot, &message, &arena);
        if (member_is(&message, "type", BYTES("refused")))
            on_refused(bot, &message);
    }
    arena_release(&arena);
}

static void lost(struct bot_socket *socket, int code) {
    struct bot *bot = socket->user;
    if (bot->done)
        return;
    if (code == ROOM_GONE || code == SEAT_GONE) {
        finish_bot(bot);
        return;
    }
    bot->bots->lost++;
    set_in_match(bot, false);
    bot->version = 0;
    if (bot->may_repeat)
        bot->answered = 0;
    bot->said_ready = bot->said_start = false;
    come_back(bot);
}

void bot_begin(struct bot *bot) {
    bot->socket.loop = bot->bots->loop;
    bot->socket.received = received;
    bot->socket.lost = lost;
    bot->socket.user = bot;
    uv_timer_init(bot->bots->loop, &bot->timer);
    bot->timer.data = bot;
    bot->bots->playing++;
    plan(bot, PLAN_OPEN, bot->begin_ms + (unsigned)random_below(&bot->bots->random, 100));
}

void bot_end(struct bot *bot) {
    finish_bot(bot);
    uv_close((uv_handle_t *)&bot->timer, NULL);
    buf_release(&bot->path);
    buf_release(&bot->move);
    buf_release(&bot->player);
}

uint64_t bots_counted(const struct bots *bots) {
    uint64_t all = 0;
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
        all += bots->latency[i];
    return all;
}

unsigned bots_latency(const struct bots *bots, double percent) {
    uint64_t all = bots_counted(bots), sum = 0;
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        sum += bots->latency[i];
        if ((double)sum >= (double)all * percent / 100)
            return i;
    }
    return 0;
}

#include "cli/bot.h"

#include "base/clock.h"
#include "game/content.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    WAIT_FIRST_MS = 200,
    WAIT_MAX_MS = 3000,
    ROLL_MIN_MS = 20,
    ROOM_GONE = 4000,
    SEAT_GONE = 4001,
};

/* ---- looking at a state ---- */

static const struct json *at(const struct json *object, const char *name) {
    return object == NULL ? NULL : json_get(object, bytes_str(name));
}

static int64_t number(const struct json *object, const char *name) {
    const struct json *value = at(object, name);
    int64_t sum = 0;
    if (value == NULL || value->type != JSON_NUMBER)
        return 0;
    for (size_t i = 0; i < value->text.size; i++)
        if (value->text.data[i] >= '0' && value->text.data[i] <= '9')
            sum = sum * 10 + (value->text.data[i] - '0');
    return sum;
}

static bool is(const struct json *object, const char *name, struct bytes text) {
    const struct json *value = at(object, name);
    return value != NULL && value->type == JSON_STRING && bytes_equal(value->text, text);
}

static bool is_true(const struct json *object, const char *name) {
    const struct json *value = at(object, name);
    return value != NULL && value->type == JSON_TRUE;
}

/* ---- doing something, later ---- */

static void on_timer(uv_timer_t *timer);

static void plan(struct bot *bot, enum bot_plan what, unsigned after_ms) {
    bot->plan = what;
    uv_timer_start(&bot->timer, on_timer, after_ms, 0);
}

static void say(struct bot *bot, const char *format, ...) {
    struct buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    char line[160];
    int size = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    buf_append(&text, line, (size_t)size);
    bot_socket_send(&bot->socket, buf_bytes(&text));
    buf_release(&text);
}

static void set_in_match(struct bot *bot, bool in_match) {
    bot->bots->in_match += (unsigned)in_match - (unsigned)bot->in_match;
    bot->in_match = in_match;
}

static void finish(struct bot *bot) {
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
    case PLAN_TAP:
        bot->bots->reactions++;
        say(bot, "{\"do\":\"react\",\"round\":%u}", bot->round);
        break;
    case PLAN_ROLL:
        bot->bots->rolls++;
        say(bot, "{\"do\":\"roll\",\"turn\":%lld}", (long long)bot->turn);
        break;
    case PLAN_REMATCH:
        say(bot, "{\"do\":\"rematch\"}");
        break;
    case PLAN_START:
        say(bot, "{\"do\":\"start\"}");
        break;
    }
}

/* ---- playing ---- */

static const struct json *own_seat(const struct bot *bot, const struct json *state) {
    const struct json *players = at(state, "players");
    for (uint32_t i = 0; players != NULL && i < players->count; i++)
        if (is(&players->elements[i], "player", buf_bytes(&bot->player)))
            return &players->elements[i];
    return NULL;
}

/* All who are to come are there, and ready. */
static bool all_ready(const struct bot *bot, const struct json *state) {
    const struct json *players = at(state, "players");
    unsigned count = 0;
    for (uint32_t i = 0; players != NULL && i < players->count; i++) {
        const struct json *seat = &players->elements[i];
        if (is_true(seat, "spectator"))
            continue;
        count++;
        if (!is_true(seat, "ready") && !is(seat, "player", buf_bytes(&bot->player)))
            return false;
    }
    return count >= bot->seats;
}

static void in_lobby(struct bot *bot, const struct json *state) {
    const struct json *seat = own_seat(bot, state);
    bool ready = seat != NULL && is_true(seat, "ready");
    if (bot->host && all_ready(bot, state))
        plan(bot, PLAN_START, 1);
    else if (!bot->host && !ready && seat != NULL && !bot->said_ready) {
        bot->said_ready = true;
        say(bot, "{\"do\":\"ready\",\"ready\":true}");
    }
}

static void tap_or_not(struct bot *bot, const struct json *round) {
    struct random *random = &bot->bots->random;
    const struct json *object = at(round, "object");
    bool flies = object != NULL && content_flies(object->text) == 1;
    bool wrong = random_below(random, 100) < (uint64_t)bot->bots->error_percent;
    int64_t length = number(round, "endsAt") - number(round, "startsAt");
    int64_t slowest = bot->bots->slow_ms < length - 200 ? bot->bots->slow_ms : length - 200;
    bot->round = (unsigned)number(round, "n");
    if ((flies == wrong && !bot->bots->eager) || slowest <= 0)
        return;
    plan(bot, PLAN_TAP, (unsigned)random_below(random, (uint64_t)slowest));
}

static void in_match(struct bot *bot, const struct json *state) {
    const struct json *round = at(state, "round"), *own = at(at(state, "room"), "state");
    bot->said_ready = false;
    if (is(round, "status", BYTES("open")) && number(round, "n") != bot->round)
        tap_or_not(bot, round);
    if (is(own, "turn", buf_bytes(&bot->player)) && number(own, "turnNumber") != bot->turn) {
        bot->turn = number(own, "turnNumber");
        plan(bot, PLAN_ROLL,
             ROLL_MIN_MS +
                 (unsigned)random_below(&bot->bots->random, (uint64_t)bot->bots->slow_ms + 1));
    }
}

static void after_match(struct bot *bot, const struct json *state) {
    unsigned match = (unsigned)number(at(state, "room"), "match");
    if (bot->match != match) {
        bot->match = match;
        bot->bots->finished++;
    }
    if (match >= bot->bots->matches)
        finish(bot);
    else if (bot->host && bot->plan != PLAN_REMATCH)
        plan(bot, PLAN_REMATCH, 500);
}

/* ---- what its line tells it ---- */

/* How long a new round took to get here, from when the room's clock began it. */
static void note_latency(struct bot *bot, const struct json *state) {
    const struct json *round = at(state, "round");
    int64_t version = number(at(state, "room"), "version");
    int64_t took = clock_now_ms() - number(round, "startsAt");
    bool news = is(round, "status", BYTES("open")) && number(round, "n") != bot->round;
    bot->bots->states++;
    /* The first state of a line may have been made long ago. */
    if (news && bot->version != 0 && took >= 0 && bot->bots->in_match == bot->bots->count)
        bot->bots->latency[took < LATENCY_BUCKETS ? took : LATENCY_BUCKETS - 1]++;
    bot->version = (uint64_t)version;
}

static void on_state(struct bot *bot, const struct json *state) {
    const struct json *room = at(state, "room");
    bot->waits = 0;
    set_in_match(bot, is(room, "status", BYTES("playing")));
    note_latency(bot, state);
    if (is(room, "status", BYTES("lobby")))
        in_lobby(bot, state);
    else if (is(room, "status", BYTES("playing")))
        in_match(bot, state);
    else if (is(room, "status", BYTES("over")))
        after_match(bot, state);
    else
        finish(bot);
}

static void received(struct bot_socket *socket, struct bytes text) {
    struct bot *bot = socket->user;
    struct arena arena;
    struct json message;
    size_t where;
    arena_init(&arena);
    if (json_parse(text, &arena, &message, &where) == OK) {
        if (is(&message, "type", BYTES("state")))
            on_state(bot, &message);
        bot->bots->refused += is(&message, "type", BYTES("refused"));
    }
    arena_release(&arena);
}

static void lost(struct bot_socket *socket, int code) {
    struct bot *bot = socket->user;
    if (bot->done)
        return;
    if (code == ROOM_GONE || code == SEAT_GONE) {
        finish(bot);
        return;
    }
    bot->bots->lost++;
    set_in_match(bot, false);
    bot->version = 0;
    bot->turn = 0;
    bot->said_ready = false;
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
    finish(bot);
    uv_close((uv_handle_t *)&bot->timer, NULL);
    buf_release(&bot->path);
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

#include "api/live/live_render.h"

#include "api/live/live_hub.h"
#include "api/rest/rest_json.h"
#include "base/clock.h"
#include "game/board/standings.h"
#include "game/room/match.h"
#include "json/json.h"

enum {
    STEP_WAIT_MS = 250,       /* for a due step of a room, before its state is shown without */
    ASK_AGAIN_MS = 60 * 1000, /* how often a board's current period is looked up, */
    NO_PERIOD_MS = 1000,      /* and how often while it has none; */
    REPLACED_MS = 2000, /* how often it is asked where the entries of one without periods are */
};

/* ---- rooms ---- */

/* A key or other attribute that clients are not shown. */
static bool is_inner(struct bytes name) {
    static const char *const inner[] = {"PK",     "SK",      "GSI1PK", "GSI1SK",
                                        "GSI2PK", "GSI2SK",  "ttl",    "seated",
                                        "points", "streaks", "banned", "invitation"};
    for (size_t i = 0; i < sizeof(inner) / sizeof(*inner); i++)
        if (bytes_equal(name, bytes_str(inner[i])))
            return true;
    return false;
}

static void put_item(struct buf *to, const struct item *item) {
    buf_byte(to, '{');
    for (uint32_t i = 0; i < item->count; i++) {
        if (is_inner(item->pairs[i].name))
            continue;
        rest_put_comma(to);
        json_put_string(to, item->pairs[i].name);
        buf_byte(to, ':');
        rest_put_value(to, &item->pairs[i].value);
    }
    buf_byte(to, '}');
}

static void put_map(struct buf *to, const char *name, const struct item *map) {
    struct value value = {.type = VALUE_M, .pairs = map->pairs, .count = map->count};
    rest_put_name(to, name);
    rest_put_value(to, &value);
}

static void put_seat(struct buf *to, const struct seat *seat) {
    buf_byte(to, '{');
    rest_put_text(to, "player", seat->player);
    rest_put_text(to, "name", seat->name);
    rest_put_text(to, "colour", seat->colour);
    rest_put_uint(to, "seat", seat->number);
    rest_put_bool(to, "spectator", seat->spectator);
    rest_put_bool(to, "waiting", seat->waiting);
    rest_put_bool(to, "ready", seat->ready);
    rest_put_bool(to, "connected", seat->connected);
    rest_put_bool(to, "bot", seat->bot);
    rest_put_int(to, "points", seat->score);
    rest_put_int(to, "streak", seat->streak);
    put_map(to, "state", &seat->state);
    buf_byte(to, '}');
}

/* The kind's state without its secrets, which it knows by the name they have in the room's item. */
static struct item shown_state(const struct room *room) {
    struct pair pair = {BYTES("state"),
                        {.type = VALUE_M, .count = room->state.count, .pairs = room->state.pairs}};
    struct item shown = match_shown(room->kind, &(struct item){&pair, 1}, room->arena);
    const struct value *state = item_get(&shown, BYTES("state"));
    return state != NULL ? (struct item){state->pairs, state->count} : (struct item){0};
}

/* For whoever is in the room to bring others in. */
static void put_invitation(struct buf *to, const struct room *room) {
    struct buf token = {0};
    if (!room->game->settings.guests)
        return;
    room_invitation(room, &token);
    rest_put_text(to, "invite", buf_bytes(&token));
    buf_release(&token);
}

static void put_room(struct buf *to, const struct room *room) {
    struct item state = shown_state(room);
    buf_byte(to, '{');
    rest_put_text(to, "code", room->code);
    rest_put_str(to, "kind", room->kind->name);
    rest_put_str(to, "status", room_status_name(room->status));
    rest_put_text(to, "host", room->host);
    rest_put_text(to, "title", room->title);
    rest_put_bool(to, "listed", room->listed);
    rest_put_uint(to, "capacity", room->capacity);
    rest_put_uint(to, "players", room_players(room));
    rest_put_uint(to, "version", room->version);
    rest_put_uint(to, "match", room->match);
    rest_put_uint(to, "round", room->round);
    rest_put_int(to, "dueAt", room->due_ms);
    rest_put_int(to, "createdAt", room->created_ms);
    put_invitation(to, room);
    put_map(to, "options", &room->options);
    put_map(to, "state", &state);
    buf_byte(to, '}');
}

void render_room(struct buf *to, const struct room *room) {
    rest_put_name(to, "room");
    put_room(to, room);
    rest_put_name(to, "players");
    buf_byte(to, '[');
    for (size_t i = 0; i < room->seat_count; i++) {
        if (room->seats[i].mark == MARK_REMOVED)
            continue;
        rest_put_comma(to);
        put_seat(to, &room->seats[i]);
    }
    buf_byte(to, ']');
    rest_put_name(to, "round");
    if (room->round_item.count == 0) {
        buf_lit(to, "null");
        return;
    }
    struct item round = match_shown(room->kind, &room->round_item, room->arena);
    put_item(to, &round);
}

void render_room_item(struct buf *to, const struct item *meta, struct arena *arena) {
    const struct value *name = item_get(meta, BYTES("kind"));
    const struct match_kind *kind = name != NULL ? match_kind_named(name->bytes) : NULL;
    struct item shown = kind != NULL ? match_shown(kind, meta, arena) : *meta;
    put_item(to, &shown);
}

static struct bytes room_partition(struct game *game, struct bytes name, struct arena *arena,
                                   int64_t *until_ms) {
    (void)game;
    *until_ms = INT64_MAX;
    return room_pk(arena, name);
}

struct topic_state *render_topic_state(const struct room *room) {
    struct bytes players[ROOM_SEATS_MAX];
    struct buf text = {0};
    buf_printf(&text, "{\"type\":\"state\",\"v\":1,\"now\":%lld", (long long)clock_now_ms());
    render_room(&text, room);
    buf_byte(&text, '}');
    for (size_t i = 0; i < room->seat_count; i++)
        players[i] = room->seats[i].player;
    struct topic_state *topic_state = topic_state_new(buf_bytes(&text), players, room->seat_count);
    topic_state->version = room->version;
    topic_state->over = room->status == ROOM_CLOSED;
    buf_release(&text);
    return topic_state;
}

static struct topic_state *room_snapshot(struct game *game, struct bytes name, struct scope in) {
    struct room *room = ARENA_NEW(in.arena, struct room);
    return room_load(game, name, in, room) == OK ? render_topic_state(room) : NULL;
}

/* A write to the partition need not change what is shown: a lease, a round, a write of our own that
 * was published already. A room whose next step is due is about to change again. */
static enum topic_change room_news(struct game *game, struct bytes name, uint64_t version,
                                   struct arena *arena) {
    struct failure failure = {0};
    struct room_version present;
    int64_t now_ms = clock_now_ms();
    if (room_read_version(game, name, (struct scope){arena, &failure}, &present) != OK)
        return TOPIC_CHANGED;
    if (present.version == version)
        return TOPIC_UNCHANGED;
    bool about_to_change =
        present.due_ms != 0 && present.due_ms <= now_ms && now_ms - present.due_ms < STEP_WAIT_MS;
    return about_to_change ? TOPIC_CHANGING : TOPIC_CHANGED;
}

const struct topic_kind topic_room = {.touches = TOUCHES_ROOM,
                                      .look_ms = 200,
                                      .partition = room_partition,
                                      .render = room_snapshot,
                                      .change = room_news};

/* ---- boards ---- */

/* "<limit> <name>" */
static struct bytes split_name(struct bytes name, uint32_t *limit) {
    *limit = 0;
    while (name.size > 0 && name.data[0] != ' ') {
        *limit = *limit * 10 + (uint32_t)(name.data[0] - '0');
        name = bytes_skip(name, 1);
    }
    return bytes_skip(name, name.size > 0);
}

/* The partition changes when the board's period ends; while there is no period, and because seasons
 * may be changed, it is looked up again now and then. */
static struct bytes board_partition(struct game *game, struct bytes name, struct arena *arena,
                                    int64_t *until_ms) {
    const struct board *board;
    struct failure failure = {0};
    struct bytes partition = {0};
    uint32_t limit;
    int64_t now_ms = clock_now_ms();
    *until_ms = now_ms + NO_PERIOD_MS;
    if (board_find(game, split_name(name, &limit), (struct scope){arena, &failure}, &board) != OK)
        return partition;
    *until_ms = now_ms + ASK_AGAIN_MS;
    if (board->rules.timeframe == FRAME_ALL) /* its entries may be replaced by a generation */
        *until_ms = now_ms + REPLACED_MS;
    else if (board->period.ends_ms > now_ms && board->period.ends_ms < *until_ms)
        *until_ms = board->period.ends_ms;
    partition = arena_copy(arena, board->pk);
    board_drop(board);
    return partition;
}

static void put_board(struct rest_call *call, const struct board *board,
                      const struct standings *standings) {
    struct buf *to = call->reply;
    buf_printf(to, "{\"type\":\"board\",\"v\":1,\"now\":%lld", (long long)clock_now_ms());
    rest_put_board(call, board);
    rest_put_uint(to, "total", standings->total);
    rest_put_name(to, "entries");
    buf_byte(to, '[');
    for (size_t i = 0; i < standings->count; i++) {
        rest_put_comma(to);
        buf_byte(to, '{');
        rest_put_standing(call, board, &standings->rows[i]);
        buf_byte(to, '}');
    }
    buf_lit(to, "]}");
}

static struct topic_state *board_snapshot(struct game *game, struct bytes name, struct scope in) {
    const struct board *board;
    struct standings standings;
    struct buf text = {0};
    struct standings_request request = {.from = 1, .detail = DETAIL_FULL};
    if (board_find(game, split_name(name, &request.limit), in, &board) != OK)
        return NULL;
    request.board = board;
    struct topic_state *topic_state = NULL;
    if (standings_page(game, &request, in, &standings) == OK) {
        struct rest_call call = {.game = game, .arena = in.arena, .reply = &text};
        put_board(&call, board, &standings);
        topic_state = topic_state_new(buf_bytes(&text), NULL, 0);
    }
    board_drop(board);
    buf_release(&text);
    return topic_state;
}

const struct topic_kind topic_board = {.touches = TOUCHES_GAME,
                                       .every_ms = 200,
                                       .look_ms = 50,
                                       .partition = board_partition,
                                       .render = board_snapshot};

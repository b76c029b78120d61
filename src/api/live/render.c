#include "api/live/render.h"

#include "api/live/hub.h"
#include "api/rest/out.h"
#include "base/clock.h"
#include "game/match.h"
#include "game/standings.h"
#include "json/json.h"

enum {
    STEP_WAIT_MS = 250,       /* for a step that is due, before the state is shown without it */
    ASK_AGAIN_MS = 60 * 1000, /* which period it is, */
    NO_PERIOD_MS = 1000,      /* and whether there is one again */
};

/* ---- rooms ---- */

/* An attribute that is for the table, not for people. */
static bool is_inner(struct bytes name) {
    static const char *const inner[] = {"PK",     "SK",  "GSI1PK", "GSI1SK", "GSI2PK",
                                        "GSI2SK", "ttl", "seated", "points", "streaks"};
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
        out_next(to);
        json_put_string(to, item->pairs[i].name);
        buf_byte(to, ':');
        out_value(to, &item->pairs[i].value);
    }
    buf_byte(to, '}');
}

static void put_map(struct buf *to, const char *name, const struct item *map) {
    struct value value = {.type = VALUE_M, .pairs = map->pairs, .count = map->count};
    out_name(to, name);
    out_value(to, &value);
}

static void put_seat(struct buf *to, const struct seat *seat) {
    buf_byte(to, '{');
    out_text(to, "player", seat->player);
    out_text(to, "name", seat->name);
    out_text(to, "colour", seat->colour);
    out_uint(to, "seat", seat->number);
    out_flag(to, "spectator", seat->spectator);
    out_flag(to, "waiting", seat->waiting);
    out_flag(to, "ready", seat->ready);
    out_flag(to, "connected", seat->connected);
    out_int(to, "points", seat->score);
    out_int(to, "streak", seat->streak);
    put_map(to, "state", &seat->state);
    buf_byte(to, '}');
}

/* The kind's state without its secrets, which it knows by the name they have in the room's item. */
static struct item shown_state(const struct room *room) {
    struct pair pair = {BYTES("state"),
                        {.type = VALUE_M, .count = room->state.count, .pairs = room->state.pairs}};
    struct item shown = room->kind->show(&(struct item){&pair, 1}, room->arena);
    const struct value *state = item_get(&shown, BYTES("state"));
    return state != NULL ? (struct item){state->pairs, state->count} : (struct item){0};
}

static void put_room(struct buf *to, const struct room *room) {
    struct item state = shown_state(room);
    buf_byte(to, '{');
    out_text(to, "code", room->code);
    out_word(to, "kind", room->kind->name);
    out_word(to, "status", room_status_name(room->status));
    out_text(to, "host", room->host);
    out_text(to, "title", room->title);
    out_flag(to, "listed", room->listed);
    out_uint(to, "capacity", room->capacity);
    out_uint(to, "players", room_players(room));
    out_uint(to, "version", room->version);
    out_uint(to, "match", room->match);
    out_uint(to, "round", room->round);
    out_int(to, "dueAt", room->due_ms);
    out_int(to, "createdAt", room->created_ms);
    put_map(to, "options", &room->options);
    put_map(to, "state", &state);
    buf_byte(to, '}');
}

void render_room(struct buf *to, const struct room *room) {
    out_name(to, "room");
    put_room(to, room);
    out_name(to, "players");
    buf_byte(to, '[');
    for (size_t i = 0; i < room->seat_count; i++) {
        if (room->seats[i].mark == MARK_REMOVED)
            continue;
        out_next(to);
        put_seat(to, &room->seats[i]);
    }
    buf_byte(to, ']');
    out_name(to, "round");
    if (room->round_item.count == 0) {
        buf_lit(to, "null");
        return;
    }
    struct item round = room->kind->show(&room->round_item, room->arena);
    put_item(to, &round);
}

void render_room_item(struct buf *to, const struct item *meta, struct arena *arena) {
    const struct value *name = item_get(meta, BYTES("kind"));
    const struct match_kind *kind = name != NULL ? match_kind_named(name->bytes) : NULL;
    struct item shown = kind != NULL ? kind->show(meta, arena) : *meta;
    put_item(to, &shown);
}

static struct bytes room_partition(struct game *game, struct bytes name, struct arena *arena,
                                   int64_t *until_ms) {
    (void)game;
    *until_ms = INT64_MAX;
    return arena_printf(arena, "ROOM#%.*s", BYTES_ARG(name));
}

struct snapshot *render_snapshot(const struct room *room) {
    struct bytes players[ROOM_SEATS_MAX];
    struct buf text = {0};
    buf_printf(&text, "{\"type\":\"state\",\"v\":1,\"now\":%lld", (long long)clock_now_ms());
    render_room(&text, room);
    buf_byte(&text, '}');
    for (size_t i = 0; i < room->seat_count; i++)
        players[i] = room->seats[i].player;
    struct snapshot *snapshot = snapshot_new(buf_bytes(&text), players, room->seat_count);
    snapshot->version = room->version;
    snapshot->over = room->status == ROOM_CLOSED;
    buf_release(&text);
    return snapshot;
}

static struct snapshot *room_snapshot(struct game *game, struct bytes name, struct arena *arena,
                                      struct failure *failure) {
    struct room *room = ARENA_NEW(arena, struct room);
    return room_load(game, name, arena, failure, room) == OK ? render_snapshot(room) : NULL;
}

/* What touched the partition need not change what is shown: a lease, a round, a write of our own
 * that was shown already. A room whose clock is due is about to change again. */
static enum news room_news(struct game *game, struct bytes name, uint64_t version,
                           struct arena *arena) {
    struct failure failure = {0};
    uint64_t present;
    int64_t due_ms, now_ms = clock_now_ms();
    if (room_look(game, name, arena, &failure, &present, &due_ms) != OK)
        return NEWS_NOW;
    if (present == version)
        return NEWS_NONE;
    bool about_to_change = due_ms != 0 && due_ms <= now_ms && now_ms - due_ms < STEP_WAIT_MS;
    return about_to_change ? NEWS_SOON : NEWS_NOW;
}

const struct topic_kind topic_room = {
    .look_ms = 200, .partition = room_partition, .render = room_snapshot, .news = room_news};

/* ---- boards ---- */

/* "<limit> <name>" */
static struct bytes split(struct bytes name, uint32_t *limit) {
    *limit = 0;
    while (name.size > 0 && name.data[0] != ' ') {
        *limit = *limit * 10 + (uint32_t)(name.data[0] - '0');
        name = bytes_skip(name, 1);
    }
    return bytes_skip(name, name.size > 0);
}

/* Its period ends; and while it has none, or somebody has changed the seasons, asking again tells.
 */
static struct bytes board_partition(struct game *game, struct bytes name, struct arena *arena,
                                    int64_t *until_ms) {
    const struct board *board;
    struct failure failure = {0};
    struct bytes partition = {0};
    uint32_t limit;
    int64_t now_ms = clock_now_ms();
    *until_ms = now_ms + NO_PERIOD_MS;
    if (board_find(game, split(name, &limit), arena, &failure, &board) != OK)
        return partition;
    *until_ms = now_ms + ASK_AGAIN_MS;
    if (board->rules.timeframe == FRAME_ALL)
        *until_ms = INT64_MAX;
    else if (board->period.ends_ms > now_ms && board->period.ends_ms < *until_ms)
        *until_ms = board->period.ends_ms;
    partition = arena_copy(arena, board->pk);
    board_drop(board);
    return partition;
}

static void put_board(struct game *game, const struct board *board,
                      const struct standings *standings, struct arena *arena, struct buf *to) {
    struct rest_call call = {.game = game, .arena = arena, .reply = to};
    buf_printf(to, "{\"type\":\"board\",\"v\":1,\"now\":%lld", (long long)clock_now_ms());
    out_board(&call, board);
    out_uint(to, "total", standings->total);
    out_name(to, "entries");
    buf_byte(to, '[');
    for (size_t i = 0; i < standings->count; i++) {
        out_next(to);
        buf_byte(to, '{');
        out_standing(&call, board, &standings->rows[i]);
        buf_byte(to, '}');
    }
    buf_lit(to, "]}");
}

static struct snapshot *board_snapshot(struct game *game, struct bytes name, struct arena *arena,
                                       struct failure *failure) {
    const struct board *board;
    struct standings standings;
    struct buf text = {0};
    struct standings_request request = {.from = 1, .detail = DETAIL_FULL};
    if (board_find(game, split(name, &request.limit), arena, failure, &board) != OK)
        return NULL;
    request.board = board;
    struct snapshot *snapshot = NULL;
    if (standings_page(game, &request, arena, failure, &standings) == OK) {
        put_board(game, board, &standings, arena, &text);
        snapshot = snapshot_new(buf_bytes(&text), NULL, 0);
    }
    board_drop(board);
    buf_release(&text);
    return snapshot;
}

const struct topic_kind topic_board = {
    .every_ms = 200, .look_ms = 50, .partition = board_partition, .render = board_snapshot};

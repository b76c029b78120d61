/* What people do in a room. */
#include "base/clock.h"
#include "base/random.h"
#include "game/player.h"
#include "game/room_int.h"

/* No vowels, so that no word comes out, and nothing that looks like something else. */
static const char letters[] = "BCDFGHJKMNPQRSTVWXZ23456789";

uint32_t room_random(uint32_t below) {
    uint32_t number, limit = UINT32_MAX - UINT32_MAX % below;
    do
        random_secure(&number, sizeof(number));
    while (number >= limit); /* else the first ones would come more often */
    return number % below;
}

bool room_code_valid(struct bytes code) {
    bool valid = code.size == ROOM_CODE_SIZE;
    for (size_t i = 0; valid && i < code.size; i++)
        valid = code.data[i] != 0 && strchr(letters, code.data[i]) != NULL;
    return valid;
}

static struct bytes make_code(struct arena *arena) {
    char *code = arena_alloc(arena, ROOM_CODE_SIZE);
    for (int i = 0; i < ROOM_CODE_SIZE; i++)
        code[i] = letters[room_random(sizeof(letters) - 1)];
    return bytes_of(code, ROOM_CODE_SIZE);
}

/* --- names --- */

static size_t characters(struct bytes text) {
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += (text.data[i] & 0xc0) != 0x80;
    return count;
}

static enum status check_text(const struct room *room, const char *what, struct bytes text,
                              size_t least, size_t most, struct failure *failure) {
    bool fits = characters(text) >= least && characters(text) <= most;
    for (size_t i = 0; fits && i < text.size; i++)
        fits = text.data[i] >= 0x20 && text.data[i] != 0x7f;
    if (fits)
        return OK;
    return failure_set(failure, room->arena, INVALID,
                       "A %s has %zu to %zu characters, none of them a control character", what,
                       least, most);
}

static enum status check_host(const struct room *room, struct bytes player,
                              struct failure *failure) {
    if (bytes_equal(room->host, player))
        return OK;
    return failure_set(failure, room->arena, DENIED, "Only the room's host may do that");
}

static enum status find_seat(struct room *room, struct bytes player, struct failure *failure,
                             struct seat **out) {
    *out = room_seat(room, player);
    if (*out != NULL)
        return OK;
    return failure_set(failure, room->arena, NOT_FOUND, "%.*s is not in room %.*s",
                       BYTES_ARG(player), BYTES_ARG(room->code));
}

/* --- coming --- */

static const char *const colours[] = {"#e6194b", "#3cb44b", "#4363d8", "#f58231",
                                      "#911eb4", "#008c8c", "#c2185b", "#9a6324",
                                      "#5a7d00", "#000075", "#b8860b", "#5f6b7a"};
enum { COLOURS = sizeof(colours) / sizeof(*colours) };

static unsigned free_number(const struct room *room) {
    for (unsigned number = 1;; number++) {
        bool taken = false;
        for (size_t i = 0; i < room->seat_count; i++)
            taken |= room->seats[i].mark != MARK_REMOVED && room->seats[i].number == number;
        if (!taken)
            return number;
    }
}

/* A seat that is free: one given up in this same change, or a new one. */
static struct seat *new_seat(struct room *room) {
    if (room->seat_count < ROOM_SEATS_MAX)
        return &room->seats[room->seat_count++];
    return NULL;
}

/* Who looks on must not take the seats of those who would play. */
static bool has_standing_room(const struct room *room) {
    unsigned spectators = (unsigned)room->seat_count - room_players(room);
    return spectators < ROOM_SEATS_MAX - room->capacity;
}

static enum status sit_down(struct room *room, struct bytes player, struct bytes name,
                            bool spectator, struct failure *failure) {
    unsigned number = free_number(room);
    struct seat *seat = new_seat(room);
    if (seat == NULL)
        return failure_set(failure, room->arena, LIMIT_EXCEEDED, "Room %.*s is full",
                           BYTES_ARG(room->code));
    *seat = (struct seat){.player = player,
                          .name = name,
                          .colour = bytes_str(colours[(number - 1) % COLOURS]),
                          .number = number,
                          .spectator = spectator,
                          .joined_ms = room->now_ms,
                          .mark = MARK_NEW};
    return OK;
}

enum status room_make(struct game *game, const struct room_settings *settings, struct arena *arena,
                      struct failure *failure, struct room *out) {
    *out = (struct room){.game = game, .arena = arena, .now_ms = clock_now_ms()};
    out->created_ms = out->now_ms;
    out->code = make_code(arena);
    out->kind = match_kind_named(settings->kind);
    if (out->kind == NULL)
        return failure_set(failure, arena, INVALID, "There is no game called %.*s",
                           BYTES_ARG(settings->kind));
    unsigned most = out->kind->players_max;
    out->capacity = settings->capacity == 0 ? most : settings->capacity;
    if (out->capacity < out->kind->players_min || out->capacity > most)
        return failure_set(failure, arena, INVALID, "%s is for %u to %u players", out->kind->title,
                           out->kind->players_min, most);
    enum status status =
        check_text(out, "room's title", settings->title, 0, ROOM_TITLE_MAX, failure);
    if (status == OK && out->kind->check != NULL)
        status = out->kind->check(&settings->options, arena, failure);
    if (status != OK)
        return status;
    out->title = settings->title;
    out->listed = settings->listed;
    out->options = settings->options;
    out->host = settings->host;
    return room_join(out, settings->host, settings->host_name, false, failure);
}

enum status room_join(struct room *room, struct bytes player, struct bytes name, bool spectator,
                      struct failure *failure) {
    struct seat *seat = room_seat(room, player);
    if (room->status == ROOM_CLOSED)
        return failure_set(failure, room->arena, INVALID, "Room %.*s was closed",
                           BYTES_ARG(room->code));
    if (seat != NULL)
        return OK; /* back again */
    enum status status = player_check_id(player, room->arena, failure);
    if (status == OK)
        status = check_text(room, "player's name", name, 1, ROOM_NAME_MAX, failure);
    if (status != OK)
        return status;
    bool waiting = !spectator && room->status == ROOM_PLAYING;
    if (!spectator && !waiting && room_players(room) >= room->capacity)
        return failure_set(failure, room->arena, LIMIT_EXCEEDED,
                           "Room %.*s is full: it takes %u players", BYTES_ARG(room->code),
                           room->capacity);
    if ((spectator || waiting) && !has_standing_room(room))
        return failure_set(failure, room->arena, LIMIT_EXCEEDED,
                           "Room %.*s is full: as many look on as it has room for",
                           BYTES_ARG(room->code));
    status = sit_down(room, player, name, spectator || waiting, failure);
    if (status == OK)
        room->seats[room->seat_count - 1].waiting = waiting;
    return status;
}

enum status room_connected(struct room *room, struct bytes player, bool connected,
                           struct failure *failure) {
    struct seat *seat;
    enum status status = find_seat(room, player, failure, &seat);
    if (status == OK && seat->connected != connected) {
        seat->connected = connected;
        seat_touch(seat);
    }
    return status;
}

enum status room_ready(struct room *room, struct bytes player, bool ready,
                       struct failure *failure) {
    struct seat *seat;
    enum status status = find_seat(room, player, failure, &seat);
    if (status != OK)
        return status;
    if (room->status != ROOM_LOBBY || seat->spectator)
        return failure_set(failure, room->arena, INVALID,
                           "Players get ready in the lobby, before a match");
    seat->ready = ready;
    seat_touch(seat);
    return OK;
}

/* --- playing --- */

/* The host may start when all the others are ready. */
static enum status check_start(struct room *room, struct bytes player, struct failure *failure) {
    enum status status = check_host(room, player, failure);
    if (status != OK)
        return status;
    if (room->status != ROOM_LOBBY)
        return failure_set(failure, room->arena, INVALID, "The match has begun already");
    if (room_players(room) < room->kind->players_min)
        return failure_set(failure, room->arena, INVALID, "%s takes at least %u players",
                           room->kind->title, room->kind->players_min);
    for (size_t i = 0; i < room->seat_count; i++) {
        const struct seat *seat = &room->seats[i];
        if (!seat->spectator && !seat->ready && !bytes_equal(seat->player, room->host))
            return failure_set(failure, room->arena, INVALID, "%.*s is not ready yet",
                               BYTES_ARG(seat->name));
    }
    return OK;
}

enum status room_start(struct room *room, struct bytes player, struct failure *failure) {
    enum status status = check_start(room, player, failure);
    if (status != OK)
        return status;
    room->status = ROOM_PLAYING;
    room->match++;
    for (size_t i = 0; i < room->seat_count; i++) {
        room->seats[i].score = room->seats[i].streak = 0;
        room->seats[i].state = (struct item){0};
        seat_touch(&room->seats[i]);
    }
    return room->kind->start(room, failure);
}

enum status room_input(struct room *room, struct bytes player, const struct item *input,
                       struct failure *failure) {
    struct seat *seat;
    enum status status = find_seat(room, player, failure, &seat);
    if (status != OK)
        return status;
    if (seat->spectator)
        return failure_set(failure, room->arena, DENIED, "Spectators only look on");
    if (room->status != ROOM_PLAYING)
        return failure_set(failure, room->arena, INVALID, "There is no match at present");
    return room->kind->input(room, seat, input, failure);
}

enum status room_rematch(struct room *room, struct bytes player, struct failure *failure) {
    struct seat *seat;
    enum status status = find_seat(room, player, failure, &seat);
    if (status != OK)
        return status;
    if (room->status != ROOM_OVER)
        return failure_set(failure, room->arena, INVALID, "The match is not over yet");
    room->status = ROOM_LOBBY;
    room->state = (struct item){0};
    for (size_t i = 0; i < room->seat_count; i++) {
        struct seat *each = &room->seats[i];
        each->ready = false;
        if (each->waiting && room_players(room) < room->capacity)
            each->spectator = each->waiting = false;
        seat_touch(each);
    }
    return OK;
}

/* --- going --- */

static void hand_over(struct room *room) {
    const struct seat *next = NULL;
    for (size_t i = 0; i < room->seat_count; i++) {
        const struct seat *seat = &room->seats[i];
        if (seat->mark != MARK_REMOVED && !seat->spectator &&
            (next == NULL || seat->number < next->number))
            next = seat;
    }
    if (next != NULL)
        room->host = next->player;
    else {
        room->status = ROOM_CLOSED;
        room->due_ms = 0;
    }
}

static enum status take_away(struct room *room, struct seat *seat, struct failure *failure) {
    bool played = !seat->spectator;
    seat->mark = MARK_REMOVED;
    if (bytes_equal(room->host, seat->player))
        hand_over(room);
    if (!played || room->status != ROOM_PLAYING)
        return OK;
    return room->kind->left(room, seat, failure);
}

enum status room_leave(struct room *room, struct bytes player, struct failure *failure) {
    struct seat *seat;
    enum status status = find_seat(room, player, failure, &seat);
    return status == OK ? take_away(room, seat, failure) : status;
}

enum status room_kick(struct room *room, struct bytes host, struct bytes player,
                      struct failure *failure) {
    struct seat *seat;
    enum status status = check_host(room, host, failure);
    if (status == OK)
        status = find_seat(room, player, failure, &seat);
    if (status == OK && bytes_equal(host, player))
        status = failure_set(failure, room->arena, INVALID, "The host leaves, or closes the room");
    return status == OK ? take_away(room, seat, failure) : status;
}

enum status room_close(struct room *room, struct bytes host, struct failure *failure) {
    enum status status = check_host(room, host, failure);
    if (status == OK) {
        room->status = ROOM_CLOSED;
        room->due_ms = 0;
    }
    return status;
}

/* The commands of people in a room: making, joining, starting, playing, leaving, closing. */
#include "base/clock.h"
#include "base/random.h"
#include "game/player/player.h"
#include "game/room/room_int.h"
#include "game/shown_text.h"

/* What codes are made of: no vowels, so that no word comes out, and no characters that look alike.
 */
static const char letters[] = "BCDFGHJKMNPQRSTVWXZ23456789";

uint32_t room_random(uint32_t below) {
    uint32_t number, limit = UINT32_MAX - UINT32_MAX % below;
    do
        random_secure(&number, sizeof(number));
    while (number >= limit); /* else small numbers would be more likely */
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

/* --- checks --- */

/* How many characters a text has. */
struct text_rule {
    const char *what;
    size_t least, most;
};
static const struct text_rule title_rule = {"room's title", 0, ROOM_TITLE_MAX};
static const struct text_rule name_rule = {"player's name", 1, ROOM_NAME_MAX};

static enum status check_text(const struct room *room, const struct text_rule *rule,
                              struct bytes text, struct failure *failure) {
    size_t length = shown_text_length(text);
    bool fits = length >= rule->least && length <= rule->most;
    for (size_t i = 0; fits && i < text.size; i++)
        fits = text.data[i] >= 0x20 && text.data[i] != 0x7f;
    if (fits)
        return OK;
    return failure_set(failure, room->arena, INVALID,
                       "A %s has %zu to %zu characters, none of them a control character",
                       rule->what, rule->least, rule->most);
}

enum status room_check_host(const struct room *room, struct bytes player, struct failure *failure) {
    if (bytes_equal(room->host, player))
        return OK;
    return failure_set(failure, room->arena, DENIED, "Only the room's host may do that");
}

enum status room_find_seat(struct room *room, struct bytes player, struct failure *failure,
                           struct seat **out) {
    *out = room_seat(room, player);
    if (*out != NULL)
        return OK;
    return failure_set(failure, room->arena, NOT_FOUND, "%.*s is not in room %.*s",
                       BYTES_ARG(player), BYTES_ARG(room->code));
}

/* --- making and joining --- */

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

/* A new seat at the end; NULL if there are as many as a room can have. */
static struct seat *new_seat(struct room *room) {
    if (room->seat_count < ROOM_SEATS_MAX)
        return &room->seats[room->seat_count++];
    return NULL;
}

static bool is_banned(const struct room *room, struct bytes player) {
    for (size_t i = 0; i < room->banned_count; i++)
        if (bytes_equal(room->banned[i], player))
            return true;
    return false;
}

/* Whether another spectator can come: they must leave seats for all who can play. */
static bool has_spectator_seat(const struct room *room) {
    unsigned spectators = (unsigned)room->seat_count - room_players(room);
    return spectators < ROOM_SEATS_MAX - room->capacity;
}

enum status room_take_seat(struct room *room, const struct seat_request *request, bool waiting,
                           struct failure *failure) {
    unsigned number = free_number(room);
    struct seat *seat = new_seat(room);
    if (seat == NULL)
        return failure_set(failure, room->arena, LIMIT_EXCEEDED, "Room %.*s is full",
                           BYTES_ARG(room->code));
    *seat = (struct seat){.player = request->player,
                          .name = request->name,
                          .colour = bytes_str(colours[(number - 1) % COLOURS]),
                          .number = number,
                          .spectator = request->spectator || waiting,
                          .waiting = waiting,
                          .joined_ms = room->now_ms,
                          .mark = MARK_NEW};
    return OK;
}

enum status room_make(struct game *game, const struct room_settings *settings, struct scope in,
                      struct room *out) {
    *out = (struct room){.game = game, .arena = in.arena, .now_ms = clock_now_ms()};
    out->created_ms = out->now_ms;
    out->code = make_code(in.arena);
    out->kind = match_kind_named(settings->kind);
    if (out->kind == NULL)
        return failure_set(in.failure, in.arena, INVALID, "There is no game called %.*s",
                           BYTES_ARG(settings->kind));
    unsigned most = out->kind->players_max;
    out->capacity = settings->capacity == 0 ? most : settings->capacity;
    if (out->capacity < out->kind->players_min || out->capacity > most)
        return failure_set(in.failure, in.arena, INVALID, "%s is for %u to %u players",
                           out->kind->title.en, out->kind->players_min, most);
    enum status status =
        check_text(out, &title_rule, shown_text(settings->title, in.arena), in.failure);
    if (status == OK)
        status = match_options_check(out->kind, &settings->options, in);
    if (status != OK)
        return status;
    out->title = shown_text(settings->title, in.arena);
    out->listed = settings->listed;
    out->options = settings->options;
    out->host = settings->host;
    struct seat_request host = {.player = settings->host, .name = settings->host_name};
    return room_join(out, &host, in.failure);
}

enum status room_join(struct room *room, const struct seat_request *request,
                      struct failure *failure) {
    bool spectator = request->spectator;
    struct bytes name = shown_text(request->name, room->arena);
    if (room->status == ROOM_CLOSED)
        return failure_set(failure, room->arena, INVALID, "Room %.*s was closed",
                           BYTES_ARG(room->code));
    if (room_seat(room, request->player) != NULL)
        return OK; /* back again */
    if (is_banned(room, request->player))
        return failure_set(failure, room->arena, DENIED, "The host does not let you in again");
    enum status status = player_check_id(request->player, (struct scope){room->arena, failure});
    if (status == OK)
        status = check_text(room, &name_rule, name, failure);
    if (status != OK)
        return status;
    bool waiting = !spectator && room->status == ROOM_PLAYING;
    if (!spectator && !waiting && room_players(room) >= room->capacity)
        return failure_set(failure, room->arena, LIMIT_EXCEEDED,
                           "Room %.*s is full: it takes %u players", BYTES_ARG(room->code),
                           room->capacity);
    if ((spectator || waiting) && !has_spectator_seat(room))
        return failure_set(failure, room->arena, LIMIT_EXCEEDED,
                           "Room %.*s is full: as many look on as it has room for",
                           BYTES_ARG(room->code));
    struct seat_request shown = *request;
    shown.name = name;
    return room_take_seat(room, &shown, waiting, failure);
}

enum status room_set_connected(struct room *room, struct bytes player, bool connected,
                               struct failure *failure) {
    struct seat *seat;
    enum status status = room_find_seat(room, player, failure, &seat);
    if (status != OK || seat->connected == connected)
        return status;
    seat->connected = connected;
    seat->since_ms = room->now_ms;
    seat_mark_changed(seat);
    room_watch_host(room);
    return OK;
}

enum status room_ready(struct room *room, struct bytes player, bool ready,
                       struct failure *failure) {
    struct seat *seat;
    enum status status = room_find_seat(room, player, failure, &seat);
    if (status != OK)
        return status;
    if (room->status != ROOM_LOBBY || seat->spectator)
        return failure_set(failure, room->arena, INVALID,
                           "Players get ready in the lobby, before a match");
    seat->ready = ready;
    seat_mark_changed(seat);
    return OK;
}

/* --- playing --- */

/* The host may start when all the others are ready. */
static enum status check_start(struct room *room, struct bytes player, struct failure *failure) {
    enum status status = room_check_host(room, player, failure);
    if (status != OK)
        return status;
    if (room->status != ROOM_LOBBY)
        return failure_set(failure, room->arena, INVALID, "The match has begun already");
    if (room_players(room) < room->kind->players_min)
        return failure_set(failure, room->arena, INVALID, "%s takes at least %u players",
                           room->kind->title.en, room->kind->players_min);
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
    room->due_ms = 0;
    room->match++;
    for (size_t i = 0; i < room->seat_count; i++) {
        room->seats[i].score = room->seats[i].streak = 0;
        room->seats[i].ready = room->seats[i].bot; /* afterwards: for another match */
        room->seats[i].state = (struct item){0};
        seat_mark_changed(&room->seats[i]);
    }
    return room->kind->start(room, failure);
}

enum status room_input(struct room *room, struct bytes player, const struct item *input,
                       struct failure *failure) {
    const struct match_verb *verb;
    struct seat *seat;
    enum status status = room_find_seat(room, player, failure, &seat);
    if (status != OK)
        return status;
    if (seat->spectator)
        return failure_set(failure, room->arena, DENIED, "Spectators only look on");
    if (room->status != ROOM_PLAYING)
        return failure_set(failure, room->arena, INVALID, "There is no match at present");
    status = match_verb_check(room, input, failure, &verb);
    return status == OK ? verb->play(room, seat, input, failure) : status;
}

/* Back to the lobby: who asked for it is ready already, and who waited plays. */
static void begin_again(struct room *room) {
    room->status = ROOM_LOBBY;
    room->state = (struct item){0};
    for (size_t i = 0; i < room->seat_count; i++) {
        struct seat *seat = &room->seats[i];
        if (seat->waiting && room_players(room) < room->capacity)
            seat->spectator = seat->waiting = false;
        seat_mark_changed(seat);
    }
    room_watch_host(room);
}

enum status room_rematch(struct room *room, struct bytes player, struct failure *failure) {
    struct seat *seat;
    enum status status = room_find_seat(room, player, failure, &seat);
    if (status != OK)
        return status;
    if (room->status != ROOM_OVER)
        return failure_set(failure, room->arena, INVALID, "The match is not over yet");
    if (bytes_equal(room->host, player)) {
        begin_again(room);
        return OK;
    }
    seat->ready = !seat->spectator;
    seat_mark_changed(seat);
    return OK;
}

enum status room_play(struct room *room, struct bytes player, bool play, struct failure *failure) {
    struct seat *seat;
    enum status status = room_find_seat(room, player, failure, &seat);
    if (status != OK)
        return status;
    bool spectates = seat->spectator && !seat->waiting;
    if (spectates == !play)
        return OK;
    if (!play && room->status == ROOM_PLAYING && !seat->spectator)
        return failure_set(failure, room->arena, INVALID, "Leave the match first");
    if (play && room->status != ROOM_PLAYING && room_players(room) >= room->capacity)
        return failure_set(failure, room->arena, LIMIT_EXCEEDED,
                           "Room %.*s is full: it takes %u players", BYTES_ARG(room->code),
                           room->capacity);
    seat->waiting = play && room->status == ROOM_PLAYING;
    seat->spectator = !play || seat->waiting;
    seat->ready = false;
    seat_mark_changed(seat);
    if (!play && bytes_equal(room->host, player))
        room_choose_host(room);
    return OK;
}

/* --- leaving --- */

enum status room_remove_seat(struct room *room, struct seat *seat, struct failure *failure) {
    bool played = !seat->spectator;
    seat->mark = MARK_REMOVED;
    if (bytes_equal(room->host, seat->player))
        room_choose_host(room);
    if (!played || room->status != ROOM_PLAYING)
        return OK;
    return room->kind->left(room, seat, failure);
}

enum status room_leave(struct room *room, struct bytes player, struct failure *failure) {
    struct seat *seat;
    enum status status = room_find_seat(room, player, failure, &seat);
    return status == OK ? room_remove_seat(room, seat, failure) : status;
}

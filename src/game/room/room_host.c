/* The host of a room: who it is, and what only the host may do. */
#include "game/room/room_int.h"

/* --- who it is --- */

static bool may_host(const struct seat *seat) {
    return seat->mark != MARK_REMOVED && !seat->spectator && !seat->bot;
}

/* NULL: nobody. */
static struct seat *first_host(struct room *room, bool connected) {
    struct seat *first = NULL;
    for (size_t i = 0; i < room->seat_count; i++) {
        struct seat *seat = &room->seats[i];
        if (may_host(seat) && (seat->connected || !connected) &&
            (first == NULL || seat->number < first->number))
            first = seat;
    }
    return first;
}

void room_choose_host(struct room *room) {
    struct seat *next = first_host(room, true);
    if (next == NULL)
        next = first_host(room, false);
    if (next != NULL)
        room->host = next->player;
    else {
        room->status = ROOM_CLOSED;
        room->due_ms = 0;
    }
}

void room_watch_host(struct room *room) {
    const struct seat *host = room_seat(room, room->host);
    bool away = host != NULL && !host->connected && first_host(room, true) != NULL;
    int64_t since_ms = host != NULL && host->since_ms != 0 ? host->since_ms : room->now_ms;
    int64_t due_ms = since_ms + ROOM_HOST_GRACE_MS;
    if (away && due_ms <= room->now_ms)
        room_choose_host(room);
    if (room->status == ROOM_PLAYING || room->status == ROOM_CLOSED)
        return; /* the timer is the match's, whose next step looks again */
    room->due_ms = away && due_ms > room->now_ms ? due_ms : 0;
}

/* --- what the host may do --- */

enum status room_kick(struct room *room, struct bytes host, struct bytes player,
                      struct failure *failure) {
    struct seat *seat;
    enum status status = room_check_host(room, host, failure);
    if (status == OK)
        status = room_find_seat(room, player, failure, &seat);
    if (status == OK && bytes_equal(host, player))
        status = failure_set(failure, room->arena, INVALID, "The host leaves, or closes the room");
    return status == OK ? room_remove_seat(room, seat, failure) : status;
}

enum status room_ban(struct room *room, struct bytes host, struct bytes player,
                     struct failure *failure) {
    enum status status = room_kick(room, host, player, failure);
    if (status != OK)
        return status;
    if (room->banned_count == ROOM_BANNED_MAX)
        return failure_set(failure, room->arena, LIMIT_EXCEEDED,
                           "A room bans at most %d players: close it, and make another",
                           ROOM_BANNED_MAX);
    room->banned[room->banned_count++] = player;
    room->invitation++;
    return OK;
}

enum status room_close(struct room *room, struct bytes host, struct failure *failure) {
    enum status status = room_check_host(room, host, failure);
    if (status == OK) {
        room->status = ROOM_CLOSED;
        room->due_ms = 0;
    }
    return status;
}

static enum status check_lobby(struct room *room, struct bytes host, struct failure *failure) {
    enum status status = room_check_host(room, host, failure);
    if (status == OK && room->status != ROOM_LOBBY)
        status = failure_set(failure, room->arena, INVALID, "That is for the lobby");
    return status;
}

/* Birds, as the first game is called after one. */
static const char *const bot_names[] = {"Maina", "Tota",   "Koel",    "Bulbul", "Hans",  "Ullu",
                                        "Mor",   "Baaz",   "Titar",   "Batakh", "Sarus", "Papiha",
                                        "Cheel", "Bagula", "Kabutar", "Chakor"};
enum { BOT_NAMES = sizeof(bot_names) / sizeof(*bot_names) };

/* The first name that nobody has, by its number. */
static unsigned free_bot_name(struct room *room, struct bytes *id) {
    for (unsigned i = 0;; i++) {
        *id = arena_printf(room->arena, "bot-%.*s-%u", BYTES_ARG(room->code), i + 1);
        if (room_seat(room, *id) == NULL)
            return i;
    }
}

enum status room_add_bot(struct room *room, struct bytes host, struct failure *failure) {
    struct bytes id = {0};
    enum status status = check_lobby(room, host, failure);
    if (status == OK && room_players(room) >= room->capacity)
        status = failure_set(failure, room->arena, LIMIT_EXCEEDED,
                             "Room %.*s is full: it takes %u players", BYTES_ARG(room->code),
                             room->capacity);
    if (status != OK)
        return status;
    unsigned name = free_bot_name(room, &id);
    struct seat_request request = {.player = id, .name = bytes_str(bot_names[name % BOT_NAMES])};
    status = room_take_seat(room, &request, false, failure);
    if (status != OK)
        return status;
    struct seat *seat = room_seat(room, id);
    seat->bot = seat->ready = seat->connected = true;
    return OK;
}

/* Another game with as many places as it has, and its own options. */
static enum status change_kind(struct room *room, struct bytes name, struct failure *failure) {
    const struct match_kind *kind = match_kind_named(name);
    if (kind == NULL)
        return failure_set(failure, room->arena, INVALID, "There is no game called %.*s",
                           BYTES_ARG(name));
    if (kind == room->kind)
        return OK;
    if (room_players(room) > kind->players_max)
        return failure_set(failure, room->arena, INVALID, "%s is for %u players at most",
                           kind->title.en, kind->players_max);
    room->kind = kind;
    room->capacity = kind->players_max;
    room->options = (struct item){0};
    return OK;
}

enum status room_change(struct room *room, struct bytes host, const struct room_changes *changes,
                        struct failure *failure) {
    enum status status = check_lobby(room, host, failure);
    if (status == OK && changes->kind.size != 0)
        status = change_kind(room, changes->kind, failure);
    if (status == OK && changes->options != NULL) {
        status =
            match_options_check(room->kind, changes->options, (struct scope){room->arena, failure});
        room->options = *changes->options;
    }
    return status;
}

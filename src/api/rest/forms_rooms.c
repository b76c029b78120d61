/* Forms of rooms. */
#include "api/rest/forms.h"
#include "api/rest/route.h"

static const char *const words_status[] = {"lobby", "playing", "over", NULL};

#define WHO_FIELDS                                                                           \
    {"player", FORM_TEXT, 0, "Who; left out: whose token it is, or somebody new", 1, 128}, { \
        "name", FORM_TEXT, FORM_REQUIRED, "As the others see it, 1 to 24 characters", 1, 96  \
    }

static const struct form_field room_new_fields[] = {
    {"kind", FORM_TEXT, FORM_REQUIRED, "What is played: see /kinds", 1, 64},
    {"title", FORM_TEXT, 0, "For the list of rooms", 0, 240},
    {"capacity", FORM_COUNT, 0, "Players; left out: as many as the kind takes", 1, 64},
    {"listed", FORM_FLAG, 0, "Whether it is in the list; true if left out"},
    {"options", FORM_MAP, 0, "The kind's own: rounds, seconds, language; turnSeconds"},
    WHO_FIELDS,
    {0},
};
const struct form form_room_new = {"RoomNew", "A room to make; who makes it is its host",
                                   room_new_fields};

static const struct form_field room_join_fields[] = {
    WHO_FIELDS,
    {"spectator", FORM_FLAG, 0, "To look on only"},
    {0},
};
const struct form form_room_join = {"RoomJoin", "Who comes in", room_join_fields};

#define STATE_FIELDS                                                                       \
    {"now", FORM_COUNT, FORM_REQUIRED, "The server's clock, ms since 1970"},               \
        {"room", FORM_MAP, FORM_REQUIRED, "Code, kind, status, host, clock and the like"}, \
        {"players", FORM_LIST, FORM_REQUIRED, "Seats", .element = FORM_MAP}, {             \
        "round", FORM_MAP, FORM_NULLABLE, "The present round, without its secrets"         \
    }

static const struct form_field room_fields[] = {STATE_FIELDS, {0}};
const struct form form_room = {"Room", "A room as its live line shows it", room_fields};

static const struct form_field seat_fields[] = {
    STATE_FIELDS,
    {"player", FORM_TEXT, FORM_REQUIRED, "Whose seat it is"},
    {"token", FORM_TEXT, FORM_REQUIRED, "Keeps the seat: for the live line"},
    {0},
};
const struct form form_seat = {"Seat", "A seat in a room", seat_fields};

static const struct form_field rooms_fields[] = {
    {"rooms", FORM_LIST, FORM_REQUIRED, "The newest first", .element = FORM_MAP},
    {"next", FORM_TEXT, 0, "cursor of the next page"},
    {0},
};
const struct form form_rooms = {"Rooms", "Rooms of a kind", rooms_fields};

static const struct form_field kind_fields[] = {
    {"kind", FORM_TEXT, FORM_REQUIRED, NULL},
    {"title", FORM_TEXT, FORM_REQUIRED, NULL},
    {"playersMin", FORM_COUNT, FORM_REQUIRED, NULL},
    {"playersMax", FORM_COUNT, FORM_REQUIRED, NULL},
    {0},
};
static const struct form form_kind = {"Kind", "A game that rooms can play", kind_fields};
static const struct form_field kinds_fields[] = {
    {"kinds", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_kind, .element = FORM_OBJECT},
    {0},
};
const struct form form_kinds = {"Kinds", "The games there are", kinds_fields};

const struct form_field query_rooms[] = {
    {"kind", FORM_TEXT, FORM_REQUIRED, "What is played", 1, 64},
    {"status", FORM_CHOICE, 0, "lobby unless told", .choices = words_status},
    {"limit", FORM_COUNT, 0, "At most so many; 25 unless told", 1, 100},
    {"cursor", FORM_TEXT, 0, "next of an earlier page", 1, 512},
    {0},
};

/* Forms of rooms. */
#include "api/rest/rest_forms.h"
#include "api/rest/rest_route.h"

static const char *const words_truth[] = {"true", "false", NULL};
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
    {"options", FORM_MAP, 0, "The kind's own: see options in /kinds"},
    WHO_FIELDS,
    {0},
};
const struct form form_room_new = {"RoomNew", "A room to make; who makes it is its host",
                                   room_new_fields};

static const struct form_field room_join_fields[] = {
    WHO_FIELDS,
    {"token", FORM_TEXT, 0, "Of the seat that the player has in the room, to come back to it", 1,
     512},
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

static const struct form_field player_rooms_fields[] = {
    {"rooms", FORM_LIST, FORM_REQUIRED, "Each with room and seat, the last one joined first",
     .element = FORM_MAP},
    {"next", FORM_TEXT, 0, "cursor of the next page"},
    {0},
};
const struct form form_player_rooms = {"PlayerRooms", "Rooms that a player sits in",
                                       player_rooms_fields};

static const char *const words_option[] = {"number", "choice", NULL};
static const char *const words_scope[] = {"global", "room", NULL};

static const struct form_field text_fields[] = {
    {"en", FORM_TEXT, FORM_REQUIRED, "English"},
    {"hi", FORM_TEXT, FORM_REQUIRED, "Hindi"},
    {0},
};
static const struct form form_texts = {"Texts", "A text in the languages there are", text_fields};

#define TEXTS(name, about) \
    { name, FORM_OBJECT, FORM_REQUIRED, about, .form = &form_texts }
#define LIST(name, about, of) \
    { name, FORM_LIST, FORM_REQUIRED, about, .form = &(of), .element = FORM_OBJECT }

static const struct form_field choice_fields[] = {
    {"word", FORM_TEXT, FORM_REQUIRED, "What is sent"},
    TEXTS("labels", NULL),
    {0},
};
static const struct form form_choice = {"KindChoice", "What an option can be", choice_fields};

static const struct form_field option_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED, "Its name in a room's options"},
    {"type", FORM_CHOICE, FORM_REQUIRED, NULL, .choices = words_option},
    TEXTS("labels", "For those who choose"),
    {"default", FORM_ANY, FORM_REQUIRED, "What holds unless told"},
    {"min", FORM_NUMBER, FORM_SHARE, "Of a number"},
    {"max", FORM_NUMBER, FORM_SHARE, "Of a number"},
    {"choices", FORM_LIST, 0, "Of a choice", .form = &form_choice, .element = FORM_OBJECT},
    {0},
};
static const struct form form_option = {"KindOption", "An option of a room", option_fields};

static const struct form_field verb_field_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED, NULL},
    {"min", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"max", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"required", FORM_FLAG, FORM_REQUIRED, "Whether the move must have it"},
    {0},
};
static const struct form form_verb_field = {"KindField", "A whole number that goes with a move",
                                            verb_field_fields};

static const struct form_field verb_fields[] = {
    {"do", FORM_TEXT, FORM_REQUIRED, "Its name on the live line"},
    TEXTS("about", NULL),
    LIST("fields", NULL, form_verb_field),
    {0},
};
static const struct form form_verb = {"KindVerb", "What a player can do", verb_fields};

static const struct form_field kind_board_fields[] = {
    {"board", FORM_TEXT, FORM_REQUIRED, "Its id"},
    {"title", FORM_TEXT, FORM_REQUIRED, NULL},
    {"scope", FORM_CHOICE, FORM_REQUIRED, "room: scope room:<code> for each room",
     .choices = words_scope},
    {0},
};
static const struct form form_kind_board = {"KindBoard", "A board that matches score on",
                                            kind_board_fields};

static const struct form_field kind_fields[] = {
    {"kind", FORM_TEXT, FORM_REQUIRED, NULL},
    {"title", FORM_TEXT, FORM_REQUIRED, "In English"},
    TEXTS("titles", NULL),
    TEXTS("about", "The rules in short"),
    {"emoji", FORM_TEXT, FORM_REQUIRED, NULL},
    {"page", FORM_TEXT, FORM_REQUIRED, "Which of the program's pages draws it"},
    {"playersMin", FORM_COUNT, FORM_REQUIRED, NULL},
    {"playersMax", FORM_COUNT, FORM_REQUIRED, NULL},
    LIST("options", "What a room can be given", form_option),
    LIST("verbs", "What a player can do in a match", form_verb),
    LIST("boards", "What its matches score on", form_kind_board),
    {0},
};
static const struct form form_kind = {"Kind", "A game that rooms can play", kind_fields};
static const struct form_field kinds_fields[] = {
    {"kinds", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_kind, .element = FORM_OBJECT},
    {0},
};
const struct form form_kinds = {"Kinds", "The games there are", kinds_fields};

const struct form_field query_rooms[] = {
    {"kind", FORM_TEXT, 0, "What is played; one kind after the other unless told", 1, 64},
    {"status", FORM_CHOICE, 0, "lobby unless told", .choices = words_status},
    {"open", FORM_CHOICE, 0, "true: only those that one can join now, with room and somebody there",
     .choices = words_truth},
    {"limit", FORM_COUNT, 0, "At most so many; 25 unless told", 1, 100},
    {"cursor", FORM_TEXT, 0, "next of an earlier page", 1, 512},
    {0},
};

/* Forms of players and plays. */
#include "api/rest/rest_forms.h"
#include "api/rest/rest_route.h"
#include "base/limits.h"

#define ID_TEXT 1, LIMIT_PLAYER_ID

/* --- players --- */

#define PROFILE_FIELDS                                                       \
    {"name", FORM_TEXT, FORM_NULLABLE, "As shown", 0, 256},                  \
        {"email", FORM_TEXT, FORM_NULLABLE, "Of one player only", 3, 320}, { \
        "meta", FORM_MAP, FORM_NULLABLE, "What else to keep"                 \
    }

static const struct form_field player_new_fields[] = {
    {"id", FORM_TEXT, FORM_REQUIRED, "Its name in paths", ID_TEXT},
    PROFILE_FIELDS,
    {0},
};
const struct form form_player_new = {"PlayerNew", "A player to make", player_new_fields};

static const struct form_field player_put_fields[] = {PROFILE_FIELDS, {0}};
const struct form form_player_put = {
    "PlayerPut", "A profile; in a PATCH what is left out stays, and null takes it away",
    player_put_fields};

static const struct form_field player_fields[] = {
    {"id", FORM_TEXT, FORM_REQUIRED, NULL},
    {"name", FORM_TEXT, 0, "As shown"},
    {"email", FORM_TEXT, 0, "In lower case"},
    {"meta", FORM_MAP, 0, "What else was kept"},
    {"hidden", FORM_FLAG, FORM_REQUIRED, "Stands on no board"},
    {"createdAt", FORM_TIME, 0, NULL},
    {"changedAt", FORM_TIME, 0, NULL},
    {0},
};
const struct form form_player = {"Player", "A player's profile", player_fields};

static const struct form_field players_fields[] = {
    {"players", FORM_LIST, FORM_REQUIRED, "By id, then by name, then by e-mail; each once",
     .form = &form_player, .element = FORM_OBJECT},
    {"next", FORM_TEXT, 0, "The cursor of the next page, which may be empty"},
    {0},
};
const struct form form_players = {"Players", "Those found", players_fields};

static const struct form_field stats_fields[] = {
    {"player", FORM_TEXT, FORM_REQUIRED, NULL},
    {"stats", FORM_MAP, FORM_REQUIRED, "What its plays added up to"},
    {0},
};
const struct form form_stats = {"Stats", "What a player's plays added up to", stats_fields};

static const struct form_field entry_of_fields[] = {
    {"board", FORM_TEXT, FORM_REQUIRED, "Its id"},
    {"instance", FORM_TEXT, FORM_REQUIRED, "Its name in full"},
    {"scope", FORM_TEXT, 0, NULL},
    {"period", FORM_TEXT, 0, NULL},
    {"starts", FORM_TIME, 0, NULL},
    {"ends", FORM_TIME, 0, NULL},
    {"sealed", FORM_FLAG, FORM_REQUIRED, NULL},
    {"total", FORM_COUNT, FORM_REQUIRED, "Entries on the board"},
    {"entry", FORM_ANY, FORM_REQUIRED, "An Entry, without ranks if it is hidden"},
    {0},
};
static const struct form form_entry_of = {"EntryOfPlayer", "What a player has on a board",
                                          entry_of_fields};
static const struct form_field player_boards_fields[] = {
    {"boards", FORM_LIST, FORM_REQUIRED, "By name", .form = &form_entry_of, .element = FORM_OBJECT},
    {"next", FORM_TEXT, 0, "The cursor of the next page"},
    {0},
};
const struct form form_player_boards = {"PlayerBoards", "All boards of a player",
                                        player_boards_fields};

static const struct form_field export_fields[] = {
    {"items", FORM_LIST, FORM_REQUIRED, "As they are in the table", .element = FORM_MAP},
    {"next", FORM_TEXT, 0, "The cursor of the next page"},
    {0},
};
const struct form form_export = {"Export", "All that is kept about a player", export_fields};

static const struct form_field erased_fields[] = {
    {"player", FORM_TEXT, FORM_REQUIRED, NULL},
    {"items", FORM_COUNT, FORM_REQUIRED, "How many went"},
    {0},
};
const struct form form_erased = {"Erased", "What is gone", erased_fields};

static const struct form_field token_ask_fields[] = {
    {"lifeSeconds", FORM_COUNT, FORM_NULLABLE, "How long it is good; an hour unless told", 1,
     30 * 24 * 3600},
    {0},
};
const struct form form_token_ask = {"TokenAsk", "How long a token is to be good", token_ask_fields};

static const struct form_field token_fields[] = {
    {"player", FORM_TEXT, FORM_REQUIRED, NULL},
    {"token", FORM_TEXT, FORM_REQUIRED, "For X-Player-Token, or as Bearer"},
    {"expires", FORM_TIME, FORM_REQUIRED, NULL},
    {0},
};
const struct form form_token = {"Token", "Lets a player speak for itself", token_fields};

/* --- plays --- */

static const struct form_field play_new_fields[] = {
    {"player", FORM_TEXT, 0, "Who plays; left out by a player with a token", ID_TEXT},
    {"game", FORM_TEXT, FORM_REQUIRED, "What", ID_TEXT},
    {"meta", FORM_MAP, FORM_NULLABLE, "What to keep with it"},
    {0},
};
const struct form form_play_new = {"PlayNew", "A play to open", play_new_fields};

static const struct form_field play_end_fields[] = {
    {"player", FORM_TEXT, 0, "Whose it is; left out by a player with a token", ID_TEXT},
    {"score", FORM_NUMBER, FORM_NULLABLE, "What it brought"},
    {"meta", FORM_MAP, FORM_NULLABLE, "What to keep with it"},
    {0},
};
const struct form form_play_end = {"PlayEnd", "How a play ended", play_end_fields};

static const char *const words_status[] = {"open", "ended", NULL};

#define PLAY_FIELDS                                                                         \
    {"id", FORM_TEXT, FORM_REQUIRED, "A ULID"}, {"player", FORM_TEXT, FORM_REQUIRED, NULL}, \
        {"game", FORM_TEXT, FORM_REQUIRED, NULL},                                           \
        {"status", FORM_CHOICE, FORM_REQUIRED, NULL, .choices = words_status},              \
        {"startedAt", FORM_TIME, FORM_REQUIRED, NULL}, {"endedAt", FORM_TIME, 0, NULL},     \
        {"durationMs", FORM_COUNT, 0, NULL}, {"score", FORM_NUMBER, 0, NULL}, {             \
        "meta", FORM_MAP, 0, NULL                                                           \
    }

static const struct form_field play_fields[] = {PLAY_FIELDS, {0}};
const struct form form_play = {"Play", "One play of a game", play_fields};

static const struct form_field opened_fields[] = {
    PLAY_FIELDS,
    {"token", FORM_TEXT, FORM_REQUIRED, "For one submission, as playToken"},
    {0},
};
const struct form form_play_opened = {"PlayOpened", "A play and its token", opened_fields};

static const struct form_field plays_fields[] = {
    {"plays", FORM_LIST, FORM_REQUIRED, "The newest first", .form = &form_play,
     .element = FORM_OBJECT},
    {"next", FORM_TEXT, 0, "The cursor of older ones"},
    {0},
};
const struct form form_plays = {"Plays", "A page of plays", plays_fields};

/* --- the rest --- */

static const struct form_field index_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED, NULL},
    {"links", FORM_MAP, FORM_REQUIRED, "Where to go from here"},
    {0},
};
const struct form form_index = {"Index", "What is here", index_fields};

static const char *const words_search[] = {"id", "name", "email", NULL};

const struct form_field query_players[] = {
    {"q", FORM_TEXT, 0,
     "The beginning of an id, of a word of a name or of an e-mail address, in any case; left out: "
     "all who have a profile, by id",
     0, 320},
    {"by", FORM_CHOICE, 0, "Only by this", .choices = words_search},
    {"email", FORM_TEXT, 0, "The one player of this address in full, instead of a search", 3, 320},
    {"limit", FORM_COUNT, 0, "At most so many; 25 unless told", 1, 200},
    {"cursor", FORM_TEXT, 0, "`next` of the page before", 1, 4096},
    {0},
};
const struct form_field query_player[] = {
    {"player", FORM_TEXT, 0, "Whose it is; left out by a player with a token", ID_TEXT},
    {0},
};

const struct form_field route_arguments[] = {
    {"board", FORM_TEXT, FORM_REQUIRED, "A board's id, or an instance's name in full", 1, 2048},
    {"member", FORM_TEXT, FORM_REQUIRED, "Whose entry: a player's id", 1, 1000},
    {"game", FORM_TEXT, FORM_REQUIRED, "A game's id", ID_TEXT},
    {"player", FORM_TEXT, FORM_REQUIRED, "A player's id", ID_TEXT},
    {"play", FORM_TEXT, FORM_REQUIRED, "A play's id", 1, 64},
    {"room", FORM_TEXT, FORM_REQUIRED, "A room's code", 1, 16},
    {"key", FORM_TEXT, FORM_REQUIRED, "An access key's id", ID_TEXT},
    {"percentile", FORM_NUMBER, FORM_REQUIRED, "0 to 100; 100 is the first"},
    {0},
};

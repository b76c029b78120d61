/* A kind of game that rooms can play, described by one constant struct.
 *
 * A kind describes itself: what a player can do, which options a room has, how a bot plays, which
 * boards its matches score on, which page draws it. Everybody else (rooms, REST, live
 * subscriptions, bots, pages) asks the description, so a new game is one file in game/kinds that
 * ends with a `struct match_kind`, a line in match_kinds.c, and a folder of web/src/play.
 *
 * The functions change a loaded room, which belongs to the calling thread, and add what else is to
 * be written by room_add_action(); the time is room->now_ms, and random numbers come from
 * room_random(). They may be called on any thread, and keep no state. */
#ifndef GT_GAME_ROOM_MATCH_H
#define GT_GAME_ROOM_MATCH_H

#include "game/board/board.h"
#include "game/room/room.h"

struct random;

/* A text for people, in the languages there are. */
struct match_text {
    const char *en, *hi;
};

/* A whole number that goes with a verb. */
struct match_field {
    const char *name;
    int64_t least, most;
    bool optional;
};

/* What a player can do during a match: {"do": name, fields...}. */
struct match_verb {
    const char *name;
    struct match_text about;
    const struct match_field *fields; /* ends with one that has no name */
    /* Makes the player's move; the fields have been checked. NULL: the verb is a reaction, which is
     * written without loading the room (room_react_prepare). If several kinds have a verb of one
     * name, it must be a reaction in all of them or in none. */
    enum status (*play)(struct room *room, struct seat *seat, const struct item *given,
                        struct failure *failure);
};

/* One of the words that an option can be. */
struct match_choice {
    const char *word;
    struct match_text label;
};

/* What may be chosen when a room is made. */
struct match_option {
    const char *name;
    struct match_text label;
    int64_t least, most, otherwise; /* of a number; otherwise: the default */
    /* Of a word: the first one is the default; ends with one that has no word. NULL: a number. */
    const struct match_choice *choices;
};

/* A board that the matches of a kind score on: its id is "<kind>:<name>". */
struct match_board {
    const char *name, *title; /* the title follows the kind's: "Kauwa Udd, today" */
    enum timeframe timeframe;
    enum keep keep;
    const char *scope; /* "global", or "room": an instance for each room */
};

/* What a bot knows of its room, which is what everybody is shown, and how well it plays. */
struct match_view {
    struct bytes player; /* the bot */
    struct item state;   /* of the match, as shown */
    struct item round;   /* count 0: none */
    struct random *random;
    struct arena *arena;
    unsigned error_percent; /* how often it is wrong */
    unsigned slow_ms;       /* the longest it takes */
    bool eager;             /* it reacts to whatever there is to react to */
};

/* What a bot is going to do. */
struct match_reply {
    int64_t about; /* the round or turn that it answers, once; 0: none */
    bool repeats;  /* it may be sent again if the connection was lost before the answer */
    unsigned after_ms;
    struct item message; /* {"do": ...}; count 0: it does nothing */
};

struct match_kind {
    const char *name; /* "kauwa-udd", as in keys, addresses and board ids */
    const char *page; /* the folder of web/src/play that draws it */
    const char *emoji;
    struct match_text title, about; /* about: the rules in a sentence or two */
    unsigned players_min, players_max;
    /* Arrays that end with an element that has no name. */
    const struct match_verb *verbs;
    const struct match_option *options;
    const struct match_board *boards;

    /* Writes items that the kind needs, such as its questions, if they are not in the table.
     * Blocks. NULL: it needs none. */
    enum status (*seed)(struct game *game, struct scope in);
    /* A match begins: sets room->state, round, due_ms and the seats' state. */
    enum status (*start)(struct room *room, struct failure *failure);
    /* Until when what players say counts in the step that is due: the step is made when all that
     * came by then has been submitted (room_scheduler_listener). 0: the step does not depend on
     * what they say. NULL: until room->due_ms. */
    int64_t (*counts_until)(const struct room *room);
    /* room->due_ms has come. */
    enum status (*step)(struct room *room, struct failure *failure);
    /* A player has left during a match. */
    enum status (*left)(struct room *room, struct seat *seat, struct failure *failure);
    /* Returns the item of a match or round without attributes that are secret until the round ends.
     * NULL: nothing is secret. */
    struct item (*show)(const struct item *item, struct arena *arena);
    /* Decides what a bot does. The reply's message is in the view's arena. */
    void (*bot)(const struct match_view *view, struct match_reply *out);
};

/* --- the kinds there are --- */

const struct match_kind *match_kind_named(struct bytes name);
const struct match_kind *match_kind_next(size_t *at); /* all of them; NULL at the end */

/* Writes items and boards that the kinds need and that are not in the table. Blocks. */
enum status match_kinds_prepare(struct game *game, struct scope in);
/* The boards alone. Blocks. */
enum status match_boards(struct game *game, struct scope in);
/* The boards that most kinds have: the best of the day, the week and all time, and the sum in each
 * room. */
extern const struct match_board match_boards_usual[];

/* --- options --- */

/* Refuses options that the kind does not have, and values out of range: options are stored with the
 * room and shown to everybody, so nothing else may be among them. */
enum status match_options_check(const struct match_kind *kind, const struct item *options,
                                struct scope in);
/* The room's value of an option, or the default. The kind must have such a number. */
int64_t match_option_number(const struct room *room, const char *name);

/* --- verbs --- */

/* The verb of that name of the first kind that has one; NULL if none has. */
const struct match_verb *match_verb_find(struct bytes name);
/* Finds the verb that `given` names ("do") among the kind's, and checks its fields. INVALID with a
 * sentence that lists the verbs or the field's range. */
enum status match_verb_check(const struct room *room, const struct item *given,
                             struct failure *failure, const struct match_verb **out);

/* --- for kinds --- */

/* The item without secrets (match_kind.show), in the arena. */
struct item match_shown(const struct match_kind *kind, const struct item *item,
                        struct arena *arena);
/* A random number in 0 .. below-1, from the system's secure generator. */
uint32_t room_random(uint32_t below);
/* Whether the seat takes part in the match: it is not a spectator's and not being given up. */
bool match_plays(const struct seat *seat);
/* The next player after seat number `number`, beginning again after the last. NULL: nobody is left.
 */
struct seat *match_next_seat(struct room *room, unsigned number);
/* How long the seat's turn lasts, in a game with the option turnSeconds: for a bot as long as
 * people like to see it think, and short for a player who is away. */
int64_t match_turn_ms(const struct room *room, const struct seat *seat);
/* Whether the room's timer is served so late that people could not play: no server was there. */
bool match_was_down(const struct room *room);
/* What the bot in the seat does about the present state and round; in the room's arena. */
void match_bot_reply(const struct room *room, const struct seat *seat, struct match_reply *out);
/* Ends the match: sets the room's status, and adds the match's record, the players' scores on the
 * kind's boards and the players' records to what is written with the room. */
enum status match_end(struct room *room, struct failure *failure);

#endif

/* A kind of game that rooms can play. Pure: it works on a loaded room and leaves it changed, with
 * what else is to be written in room_also(); time is room->now_ms, and chance comes from
 * room_random(). */
#ifndef GT_GAME_MATCH_H
#define GT_GAME_MATCH_H

#include "game/room.h"

struct match_kind {
    const char *name; /* "kauwa-udd", "snakes-and-ladders" */
    const char *title;
    unsigned players_min, players_max;
    /* Checks the options given at a room's making. */
    enum status (*check)(const struct item *options, struct arena *arena, struct failure *failure);
    /* A match begins: sets room->state, round, due_ms and the seats' state. */
    enum status (*start)(struct room *room, struct failure *failure);
    /* A move of a player. */
    enum status (*input)(struct room *room, struct seat *seat, const struct item *input,
                         struct failure *failure);
    /* room->due_ms has come. */
    enum status (*step)(struct room *room, struct failure *failure);
    /* A player has left during a match. */
    enum status (*left)(struct room *room, struct seat *seat, struct failure *failure);
    /* What of the room's items everybody may see: some are secrets until the round ends. */
    struct item (*show)(const struct item *item, struct arena *arena);
};

/* Refuses an option whose name is not among those (the list ends with NULL): what a room is given
 * is stored with it and shown to all, so it is only what means something. */
enum status match_check_names(const struct item *options, const char *const *names,
                              struct arena *arena, struct failure *failure);

const struct match_kind *match_kind_named(struct bytes name);
const struct match_kind *match_kind_next(size_t *at); /* all of them; NULL at the end */

/* Makes the boards of all kinds that are not there yet. Blocks. */
enum status match_boards(struct game *game, struct arena *arena, struct failure *failure);
/* A number in 0 .. below-1 by the system's own chance. */
uint32_t room_random(uint32_t below);
/* The match is over: status, the match's record, and the players' scores into the boards of the
 * kind's game (room scope, daily, weekly, all-time) and their stats, all in the same commit as the
 * room. */
enum status match_end(struct room *room, struct failure *failure);

#endif

/* Opening the game for a server: its table, and the secret that its tokens are signed with. */
#ifndef GT_CLI_SERVE_GAME_H
#define GT_CLI_SERVE_GAME_H

#include "cli/settings.h"
#include "game/game.h"

/* *out is NULL if the settings want none. The secret is read from its file, which is made at the
 * first start; in memory it is new each time. */
enum status serve_game_start(const struct settings *settings, struct engine *engine,
                             struct scope in, struct game **out);

#endif

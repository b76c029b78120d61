/* Reads of one kind and key that follow one another in a client's pipeline (COMMAND_TOGETHER). They
 * are gathered as they are parsed and answered together: one look for the board and one at its
 * ranking, where what is asked of memory for one arrives while others are looked at.
 *
 * Only what could be run at once is gathered, and nothing of the client's comes in between: what is
 * gathered is answered before any other request of it is taken up. All on the loop's thread. */
#ifndef GT_API_REDIS_GATHER_H
#define GT_API_REDIS_GATHER_H

#include "api/redis/command.h"

enum { GATHER_MAX = 32, GATHER_MEMBER = 2 /* the argument that differs, the last */ };

struct gather {
    const struct redis_command *command;
    size_t count;                                  /* requests */
    struct bytes args[GATHER_MEMBER + GATHER_MAX]; /* name, key, then a member of each */
};

/* Whether the request is one to begin with; if so, it is the first. */
bool gather_begin(struct gather *gather, const struct redis_command *command,
                  const struct resp_parser *request);
/* Whether it is one more of those that are there; if so, it is added. */
bool gather_add(struct gather *gather, const struct resp_parser *request);

#endif

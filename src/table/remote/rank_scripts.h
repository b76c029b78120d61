/* The scripts that the ranking in Redis is made of; rank_scripts.c has them, and what is kept under
 * which key. Each runs as one step, is harmless to repeat, and costs O(log n) for each entry it is
 * given. */
#ifndef GT_TABLE_REMOTE_RANK_SCRIPTS_H
#define GT_TABLE_REMOTE_RANK_SCRIPTS_H

#include "base/bytes.h"

enum { RANK_SHA_SIZE = 40, RANK_KEYS = 6 };

struct rank_script {
    const char *text;
    char sha[RANK_SHA_SIZE + 1]; /* what EVALSHA calls it by */
};

struct rank_scripts {
    struct rank_script move;   /* entries go where they belong */
    struct rank_script fill;   /* entries of members that it does not know yet, by who builds it */
    struct rank_script look;   /* where entries stand */
    struct rank_script page;   /* entries of a range, by rank */
    struct rank_script group;  /* some more groups are made, for dense ranks */
    struct rank_script forget; /* that a member went */
    struct rank_script begin;  /* somebody begins to build it */
    struct rank_script finish; /* and is done */
    struct rank_script trial;  /* whether the server lets us do all of the above */
};

void rank_scripts_init(struct rank_scripts *scripts);

#endif

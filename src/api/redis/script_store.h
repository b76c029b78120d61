/* The scripts that the front end knows by their SHA1, the Lua states that run them, and those that
 * run now.
 *
 * What SCRIPT LOAD gave is kept until SCRIPT FLUSH. What EVAL was sent is kept as well, and the one
 * that was first sent goes first when there are too many. Any thread; a mutex of its own. */
#ifndef GT_API_REDIS_SCRIPT_STORE_H
#define GT_API_REDIS_SCRIPT_STORE_H

#include "api/script/script_vm.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SCRIPT_SHA_SIZE = 40 };

struct script;       /* a source */
struct script_state; /* a Lua state, in the list of free ones */

/* A script that runs where it may take long, and can be killed. */
struct script_running {
    struct script_running *next, *prev;
    atomic_bool killed;
};

struct scripts {
    pthread_mutex_t mutex;
    struct map by_sha;
    struct script *first, **last; /* oldest first */
    size_t count, size;
    unsigned generation; /* SCRIPT FLUSH raises it: compiled functions of before are forgotten */
    struct script_state *states;
    size_t state_count;
    struct script_running *running;
    int64_t logged_s; /* the second for which lines of logs are counted */
    unsigned logged;
};

void scripts_init(struct scripts *scripts);
void scripts_release(struct scripts *scripts);

/* The SHA1 in 40 lower-case letters. */
void script_sha(struct bytes body, char to[SCRIPT_SHA_SIZE]);
/* Remembers the script. False if there are too many that were loaded. */
bool scripts_add(struct scripts *scripts, struct bytes sha, struct bytes body, bool loaded);
/* A copy of the source, in the arena; `sha` may be in upper case. False if it is not known. */
bool scripts_find(struct scripts *scripts, struct bytes sha, struct arena *arena,
                  struct bytes *body);
bool scripts_has(struct scripts *scripts, struct bytes sha);
void scripts_flush(struct scripts *scripts);
size_t scripts_memory(struct scripts *scripts, size_t *count);

/* Takes a free state or makes one; NULL if there is no memory. It is used by one thread until it is
 * given back; with `collect` its garbage is collected first if there is much. */
struct script_vm *scripts_take_vm(struct scripts *scripts, script_library *library);
void scripts_give_vm(struct scripts *scripts, struct script_vm *vm, bool collect);

void scripts_enter(struct scripts *scripts, struct script_running *running);
void scripts_leave(struct scripts *scripts, struct script_running *running);
/* Kills all that run; returns how many. */
unsigned scripts_kill(struct scripts *scripts);
/* Whether one more line may be logged in this second. */
bool scripts_may_log(struct scripts *scripts);

#endif

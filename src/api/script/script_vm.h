/* A Lua 5.1 state that runs scripts of clients, and what bounds them.
 *
 * The globals are those that Redis gives to its scripts (script_sandbox.c); none can be made or
 * changed, so nothing is left behind by a script but garbage. Memory comes from an allocator with a
 * limit. Work is counted, by a hook every few instructions, by the allocator for what it hands out,
 * and by library functions that can take long; the host is told of it and may stop the script,
 * which no pcall() prevents.
 *
 * One thread at a time uses a state. Nothing here knows what a script is for: the host adds its own
 * library, and takes the result.
 */
#ifndef GT_API_SCRIPT_SCRIPT_VM_H
#define GT_API_SCRIPT_SCRIPT_VM_H

#include "base/bytes.h"

struct lua_State;
struct script_vm;

/* Why a script was ended from outside. */
enum script_stop {
    SCRIPT_RUNS,
    SCRIPT_OVER,      /* it may not do more where it runs */
    SCRIPT_KILLED,    /* somebody asked for that */
    SCRIPT_TIMED_OUT, /* it has run for too long */
    SCRIPT_TOO_LARGE, /* there was not enough memory */
};

/* Adds the host's library; the state's real table of globals is on top of the stack, and stays
 * there. Errors are thrown. */
typedef void script_library(struct lua_State *lua);

/* NULL if there is no memory. `memory_max` bounds all that the state has. */
struct script_vm *script_vm_new(script_library *library, size_t memory_max);
void script_vm_free(struct script_vm *vm);
/* Bytes that it has now. */
size_t script_vm_memory(const struct script_vm *vm);
/* Collects the garbage. Takes about a millisecond for each megabyte. */
void script_vm_collect(struct script_vm *vm);
/* Forgets the functions that it has compiled. */
void script_vm_forget(struct script_vm *vm);

struct script_run {
    struct bytes sha;  /* under which the compiled function is kept; 40 letters */
    struct bytes body; /* the source */
    const struct bytes *keys, *args;
    size_t key_count, arg_count;
    /* Called every few microseconds of the script's time with the work since the last call, in
     * units of a quarter of a microsecond. Anything but SCRIPT_RUNS ends the script. */
    enum script_stop (*tick)(void *user, uint64_t units);
    /* Takes the script's result or its error, which is on top of the stack. Errors that it throws
     * are lost: it has to leave no doubt about its own. */
    void (*take)(struct lua_State *lua, bool failed, void *user);
    void *user;
    bool compile_only;
};

enum script_result {
    SCRIPT_DONE,     /* `take` was called */
    SCRIPT_COMPILED, /* compile_only */
    SCRIPT_FAULTY,   /* the source has a fault: script_vm_fault() */
    SCRIPT_STOPPED,  /* script_vm_stop() says why */
};

enum script_result script_vm_run(struct script_vm *vm, struct script_run *run);
enum script_stop script_vm_stop(const struct script_vm *vm);
/* What the compiler said; good until the next run. */
struct bytes script_vm_fault(const struct script_vm *vm);

/* ---- for the host's library; on the thread of the run ---- */

/* The `user` of the run under way. */
void *script_vm_user(struct lua_State *lua);
/* Ends the script: throws, and whatever catches it is ended too. Does not return. */
int script_vm_end(struct lua_State *lua, enum script_stop stop);
/* Counts work that a library function does. May throw. */
void script_vm_work(struct lua_State *lua, uint64_t units);
/* Makes the table on top of the stack read-only: replaces it by one that shows it. */
void script_vm_protect(struct lua_State *lua);

#endif

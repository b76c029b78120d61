/* A command: what the table says of it, and one call of it.
 *
 * A command is a function `run` that reads and writes sorted sets through its call (space.h) and
 * puts its reply into call->out. It does not know where it runs:
 *
 *     it only reads                on the loop's thread, at once
 *     it writes (COMMAND_WRITE)    on the engine's thread, reading and writing as one step; the
 *                                  reply leaves after the commit
 *     between MULTI and EXEC       the same, all commands in one commit
 *
 * so `run` must not block, nor keep anything between calls but in what it is given. It may be run
 * again if nothing came of it: the last time counts.
 *
 * A write that is hot and touches known members may have a `start` besides: on the loop's thread it
 * fills in the call's change (ACTION_COMPUTE on each item), which then shares a commit with the
 * writes of others; `then` makes the reply when that is done, on the loop's thread again.
 *
 * Order. Replies leave in the order of a client's commands. Writes of a pipeline do not wait for
 * each other; everything else waits until the client's own writes before it are committed.
 */
#ifndef GT_API_REDIS_COMMAND_H
#define GT_API_REDIS_COMMAND_H

#include "game/board.h"
#include "net/loop.h"
#include "net/resp.h"

struct redis_call;
struct redis_client; /* client.h */
struct redis_face;   /* face_int.h */
struct space;        /* space.h */

/* OK: the whole reply is in call->out. Anything else: what there is of a reply is thrown away, and
 * the error is told: call_error()'s, or the failure of the engine in call->failure. */
typedef enum status redis_run(struct redis_call *call);

/* ---- the table ---- */

/* In the order in which COMMAND tells them. */
enum command_flags {
    COMMAND_WRITE = 1 << 0,
    COMMAND_READ = 1 << 1,
    COMMAND_DENYOOM = 1 << 2,
    COMMAND_ADMIN = 1 << 3,
    COMMAND_NOSCRIPT = 1 << 4,
    COMMAND_BLOCKING = 1 << 5,
    COMMAND_LOADING = 1 << 6,
    COMMAND_STALE = 1 << 7,
    COMMAND_SKIP_MONITOR = 1 << 8,
    COMMAND_SKIP_SLOWLOG = 1 << 9,
    COMMAND_FAST = 1 << 10,
    COMMAND_NO_AUTH = 1 << 11, /* also before AUTH */
    COMMAND_ALLOW_BUSY = 1 << 12,
    COMMAND_MOVABLE_KEYS = 1 << 13,
    COMMAND_NO_MULTI = 1 << 14, /* not between MULTI and EXEC */
    /* ours, not told: */
    COMMAND_AT_ONCE = 1 << 24, /* not queued by MULTI: EXEC, DISCARD, MULTI, WATCH, QUIT, RESET */
    COMMAND_ALONE = 1 << 27,   /* a write during which the client does nothing else: EXEC, and those
                                  that may wait */
    COMMAND_TOGETHER = 1 << 28, /* a read of one member: `run` may be given those of several
                                   requests after the key, and answers each (gather.h) */
    COMMAND_CATEGORY_KEYSPACE = 1 << 25,  /* @keyspace, @dangerous: ACL categories that do not */
    COMMAND_CATEGORY_DANGEROUS = 1 << 26, /* follow from the flags and the group */
};

enum command_group {
    GROUP_GENERIC,
    GROUP_CONNECTION,
    GROUP_SORTED_SET,
    GROUP_TRANSACTIONS,
    GROUP_SERVER,
};

/* Which arguments are keys: from `first` on, each `step`th, up to `last` (negative: from the end,
 * -1 the last); and those that follow the argument `counted`, which says how many (0: none). */
struct command_keys {
    int8_t first, last, step, counted;
};

struct redis_command {
    const char *name; /* lower case; a subcommand's own name only */
    int arity;        /* with the name; negative: at least */
    unsigned flags;
    struct command_keys keys;
    redis_run *run;
    redis_run *start; /* see above; or NULL */
    enum command_group group;
    const char *since;
    const char *summary;
    const struct redis_command *subs; /* subcommands, ended by one without a name */
};

/* One file, one list, ended by a command without a name; table.c has them all. */
extern const struct redis_command redis_connection_commands[]; /* connection.c */
extern const struct redis_command redis_client_commands[];     /* client_commands.c */
extern const struct redis_command redis_score_commands[];      /* scores.c: ZADD, ZSCORE, ... */
extern const struct redis_command redis_range_commands[];      /* ranges.c: ZRANGE, ZCOUNT, ... */
extern const struct redis_command redis_store_commands[];      /* stores.c: ZRANGESTORE */
extern const struct redis_command redis_removal_commands[];    /* removals.c: ZREMRANGEBY... */
extern const struct redis_command redis_pop_commands[];        /* pops.c: ZPOPMIN, BZPOPMIN, ... */
extern const struct redis_command redis_algebra_commands[];    /* algebra.c: ZUNION, ... */
extern const struct redis_command redis_random_commands[];     /* random.c: ZRANDMEMBER */
extern const struct redis_command redis_scan_commands[];       /* scan.c: SCAN, ZSCAN */
extern const struct redis_command redis_key_commands[];      /* keys.c: DEL, RENAME, OBJECT, ... */
extern const struct redis_command redis_keyspace_commands[]; /* keyspace.c: KEYS, FLUSHALL, ... */
extern const struct redis_command redis_expiry_commands[];   /* expiry.c: EXPIRE, TTL, ... */
extern const struct redis_command redis_transaction_commands[]; /* transactions.c: MULTI, ... */
extern const struct redis_command redis_command_commands[];     /* commands.c: COMMAND */
extern const struct redis_command redis_setting_commands[];     /* settings.c: CONFIG */
extern const struct redis_command redis_server_commands[];      /* server.c: INFO, TIME, WAIT */

/* Without case; NULL: there is none. */
const struct redis_command *redis_command_find(struct bytes name);
const struct redis_command *redis_subcommand_find(const struct redis_command *command,
                                                  struct bytes name);
/* Walks the table in the order of its lists: *at begins with 0. NULL at the end. */
const struct redis_command *redis_command_next(size_t *at);
/* "client|id": the full name, for errors. */
struct bytes redis_command_name(const struct redis_command *command, struct arena *arena);
/* Whether the number of arguments (with the name) can be. */
static inline bool redis_arity_fits(const struct redis_command *command, size_t count) {
    return command->arity >= 0 ? count == (size_t)command->arity : count >= (size_t)-command->arity;
}
/* The positions of keys among the arguments, in the arena. False: the arguments are wrong. */
struct key_positions {
    size_t *at;
    size_t count;
};
bool redis_command_keys(const struct redis_command *command, const struct bytes *args, size_t count,
                        struct arena *arena, struct key_positions *out);

/* ---- a call ---- */

struct redis_call {
    struct redis_face *face;
    struct redis_client *client; /* whose state is the call's to use while it runs */
    const struct redis_command *command;
    const struct bytes *args; /* args[0] is the command's name as sent; good while the call is */
    size_t count;
    bool together; /* the arguments are name, key and a member of each of several requests */
    struct resp out;
    struct arena *arena; /* everything made for the call */
    struct space *space; /* the sorted sets; see space.h */
    struct failure failure;
    struct bytes error; /* call_error() */

    /* for `start` */
    struct change change; /* with arena and kind filled in */
    struct action action; /* for those that need only one */
    redis_run *then;      /* makes the reply, if the change went through */
    void *user;           /* from start to then */

    /* call.c's own */
    struct task task;        /* carries it back to its loop */
    struct redis_call *next; /* in the client's queue, or in the pool */
    struct arena own_arena;
    struct buf reply;      /* until its turn comes */
    bool done;             /* its reply can be made */
    bool nested;           /* it is part of another */
    bool muted;            /* nobody wants its reply */
    bool again;            /* call_again() was called */
    bool waits;            /* call_wait() was called, */
    struct waiter *waiter; /* and made this */
    bool repaired;         /* see space_repair() */
    bool failed;           /* its reply is an error */
    bool counts;           /* it is counted when it is finished, */
    uint64_t usec;         /* with what it took on the engine's thread */
};

/* The reply is an error: "ERR syntax error". Returns INVALID: `return call_error(call, ...)`. */
enum status call_error(struct redis_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define ERROR_SYNTAX      "ERR syntax error"
#define ERROR_NOT_INTEGER "ERR value is not an integer or out of range"
#define ERROR_NOT_FLOAT   "ERR value is not a valid float"

/* Arguments. Without case. */
bool call_arg_is(const struct redis_call *call, size_t index, const char *word);
/* As the protocol reads numbers: no blanks, no "+", no leading zeros; errors as above. */
enum status call_int(struct redis_call *call, size_t index, int64_t *out);
/* Within bounds; `error` NULL: ERROR_NOT_INTEGER. */
enum status call_int_between(struct redis_call *call, size_t index, int64_t low, int64_t high,
                             const char *error, int64_t *out);
/* Also "inf", "+inf", "-inf", "1e5", hexadecimal; not NaN. */
enum status call_double(struct redis_call *call, size_t index, double *out);
bool redis_read_int(struct bytes text, int64_t *out);
bool redis_read_double(struct bytes text, double *out);

/* For a `start` that had better be a `run`: returns OK, and `run` it will be. */
enum status call_fall_back(struct redis_call *call);

/* ---- for commands that run others (EXEC) ---- */

/* Runs the command as part of `outer`: what it reads and writes is outer's, its reply (or its
 * error) is appended to outer's. Returns how it went. */
enum status call_run_nested(struct redis_call *outer, const struct redis_command *command,
                            const struct bytes *args, size_t count);

/* The same in two halves, for commands that have a `start`: *out then has the actions of that
 * command alone, or wants to be decided on. False if nothing is to be written: it was wrong, or has
 * a reply already. The other half makes the reply, of what was wrong too. */
bool call_start_nested(struct redis_call *outer, const struct redis_command *command,
                       const struct bytes *args, size_t count, struct redis_call *out);
void call_then_nested(struct redis_call *outer, struct redis_call *inner);

/* ---- for commands that do more than one commit holds ---- */

/* What was written so far is committed, then the command runs again and goes on. Not inside of
 * MULTI and EXEC, where all is one step. The reply is that of the last time. */
static inline void call_again(struct redis_call *call) {
    call->again = true;
}

/* ---- for commands that wait (BLPOP's family) ---- */

/* Whether the call may wait: not inside of MULTI and EXEC. */
static inline bool call_may_wait(const struct redis_call *call) {
    return !call->nested;
}
/* Nothing is there yet: the command is run again whenever one of the keys may have got entries.
 * `timeout_s` 0: for ever; after that the reply is null_array (or, `null_bulk`, a null). Returns
 * OK; `run` returns at once, without a reply and without having written. */
enum status call_wait(struct redis_call *call, const struct bytes *keys, size_t count,
                      double timeout_s, bool null_bulk);

#endif

/* A command: its row in the table of commands, and one call of it.
 *
 * A command is a function `run` that reads and writes sorted sets through its call (zset_txn.h) and
 * puts its reply into call->out. It does not know where it runs:
 *
 *     it only reads                on the client's loop, at once (where the engine may block: on
 *                                  a thread of the pool)
 *     it writes (COMMAND_WRITE)    on the engine's writer thread, where its reads and writes are
 *                                  one atomic step; the reply is sent after the commit
 *     between MULTI and EXEC       likewise on the writer thread, all commands in one commit
 *
 * so `run` must not block, and keeps state only in the call and in the client. It may be run
 * several times if nothing it did was committed; the reply of the last time is sent.
 *
 * A frequent write to members that it names (ZADD) may have a `start` as well. That runs on the
 * loop's thread and fills in the call's change (ACTION_COMPUTE on each item), which then shares a
 * commit with the writes of other clients. `then` makes the reply after the commit, on the loop's
 * thread again.
 *
 * Order. A client's replies are sent in the order of its commands. Writes in a pipeline do not wait
 * for each other; any other command waits until the client's earlier writes are committed.
 */
#ifndef GT_API_REDIS_REDIS_COMMAND_H
#define GT_API_REDIS_REDIS_COMMAND_H

#include "api/access_control.h"
#include "api/change_submit.h"
#include "api/redis/call_budget.h"
#include "api/redis/pubsub.h"
#include "game/board/board.h"
#include "net/loop.h"
#include "net/resp.h"

struct redis_call;
struct redis_client;   /* redis_client.h */
struct redis_frontend; /* redis_frontend_int.h */
struct zset_txn;       /* zset_txn.h */

/* Returns OK when the whole reply is in call->out. After any other status what it has written of a
 * reply is discarded, and the client gets an error reply: the text of call_error(), or else the
 * engine's failure in call->failure. */
typedef enum status redis_run(struct redis_call *call);

/* ---- the table ---- */

/* The first ones are those of Redis, in the order in which COMMAND lists them. */
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
    COMMAND_NO_AUTH = 1 << 11, /* allowed before AUTH */
    COMMAND_ALLOW_BUSY = 1 << 12,
    COMMAND_MOVABLE_KEYS = 1 << 13,
    COMMAND_NO_MULTI = 1 << 14, /* not allowed between MULTI and EXEC */
    COMMAND_NO_MANDATORY_KEYS = 1 << 15,
    COMMAND_PUBSUB = 1 << 16,
    COMMAND_SENDS = 1 << 17,      /* ours: it needs the right to write: PUBLISH */
    COMMAND_SUBSCRIBER = 1 << 18, /* ours: a subscriber of RESP 2 may send it */
    /* These are our own; COMMAND does not list them. */
    COMMAND_NOT_QUEUED =
        1 << 24, /* runs at once after MULTI: EXEC, DISCARD, MULTI, WATCH, QUIT, RESET */
    COMMAND_EXCLUSIVE = 1 << 27,     /* a write during which the client does nothing else: EXEC, and
                                    those that may wait */
    COMMAND_BATCHED = 1 << 28,       /* a read of one member: `run` may be given those of several
                                         requests after the key, and answers each (request_batch.h)
                                         */
    COMMAND_BATCHED_KEYS = 1 << 29,  /* likewise a read of one key: those of several requests */
    COMMAND_BATCHED_PAIRS = 1 << 23, /* likewise a read of one field of a key: the keys and fields
                                        of several requests. With COMMAND_BATCHED a read of two
                                        arguments behind one key, such as a range's ends; or a write
                                        of a value to a member: then `start` may be given those of
                                        several requests (write_batch.h) */
    COMMAND_COMMITS = 1 << 30,       /* runs as a write does, whatever it turns out to be: EVAL */
    COMMAND_CATEGORY_KEYSPACE = 1 << 25,  /* @keyspace, @dangerous: ACL categories that do not */
    COMMAND_CATEGORY_DANGEROUS = 1 << 26, /* follow from the flags and the group */
};

enum command_group {
    GROUP_GENERIC,
    GROUP_STRING,
    GROUP_HASH,
    GROUP_SET,
    GROUP_CONNECTION,
    GROUP_SORTED_SET,
    GROUP_TRANSACTIONS,
    GROUP_SERVER,
    GROUP_SCRIPTING,
    GROUP_PUBSUB,
};

/* Which arguments are keys: every `step`th one from `first` up to `last` (negative: from the end,
 * -1 is the last argument); and those after the argument `counted`, whose value is their number
 * (0: there is no such argument). */
struct command_keys {
    int8_t first, last, step, counted;
};

/* Of a command that may be carried out in parts (call_parts.h): how many arguments belong together,
 * and a function that tells where those begin that can be divided; 0: the call is not to be. On a
 * thread of the pool. */
struct command_parts {
    size_t step;
    size_t (*divides)(struct redis_call *call);
};

struct redis_command {
    const char *name; /* lower case; a subcommand's own name only */
    int arity;        /* number of arguments with the name; -3: three or more */
    unsigned flags;
    enum touches touches; /* what access is needed to; PARTITION: the boards that its keys name */
    struct command_keys keys;
    redis_run *run;
    redis_run *start; /* see the top of this file; or NULL */
    enum command_group group;
    const char *since;
    const char *summary;
    const struct redis_command *subs;  /* subcommands, ended by one without a name */
    const struct command_parts *parts; /* or NULL */
};

/* The rows of the table: a list for each file, ended by a row without a name. command_table.c joins
 * them. */
extern const struct redis_command redis_connection_commands[]; /* connection_commands.c */
extern const struct redis_command redis_client_commands[];     /* client_commands.c */
extern const struct redis_command redis_string_commands[];    /* string_commands.c: SET, GET, ... */
extern const struct redis_command redis_number_commands[];    /* string_numbers.c: INCR, ... */
extern const struct redis_command redis_substring_commands[]; /* string_ranges.c: APPEND, ... */
extern const struct redis_command redis_score_commands[];     /* zset_scores.c: ZADD, ZSCORE, ... */
extern const struct redis_command redis_rank_commands[];      /* zset_ranks.c: ZRANK, ZMRANK, ... */
extern const struct redis_command redis_lcs_commands[];       /* string_lcs.c: LCS */
extern const struct redis_command redis_zset_expiry_commands[]; /* zset_expiry.c: ZEXPIRE, ... */
extern const struct redis_command redis_range_commands[]; /* zset_ranges.c: ZRANGE, ZCOUNT, ... */
extern const struct redis_command redis_pop_commands[];   /* zset_pops.c: ZPOPMIN, BZPOPMIN, ... */
extern const struct redis_command redis_algebra_commands[]; /* zset_algebra.c: ZUNION, ... */
extern const struct redis_command redis_random_commands[];  /* zset_random.c: ZRANDMEMBER */
extern const struct redis_command redis_hash_commands[];    /* hash_commands.c: HSET, HGET, ... */
extern const struct redis_command redis_hash_expiry_commands[]; /* hash_expiry.c: HEXPIRE, HTTL */
extern const struct redis_command redis_set_commands[]; /* set_commands.c: SADD, SREM, ... */
extern const struct redis_command redis_set_algebra_commands[];  /* set_algebra.c: SINTER, ... */
extern const struct redis_command redis_field_random_commands[]; /* field_random.c: SPOP, ... */
extern const struct redis_command redis_scan_commands[];         /* scan_commands.c: SCAN, ZSCAN */
extern const struct redis_command redis_key_commands[];    /* key_commands.c: DEL, EXISTS, ... */
extern const struct redis_command redis_rename_commands[]; /* rename_commands.c: COPY, MOVE, ... */
extern const struct redis_command redis_object_commands[]; /* object_commands.c: OBJECT, MEMORY */
extern const struct redis_command
    redis_keyspace_commands[]; /* redis_keyspace.c: KEYS, FLUSHALL, ... */
extern const struct redis_command redis_expiry_commands[]; /* expire_commands.c: EXPIRE, TTL, ... */
extern const struct redis_command
    redis_transaction_commands[];                           /* transaction_commands.c: MULTI, ... */
extern const struct redis_command redis_command_commands[]; /* command_commands.c: COMMAND */
extern const struct redis_command redis_setting_commands[]; /* config_commands.c: CONFIG */
extern const struct redis_command redis_acl_commands[];     /* acl_commands.c: ACL */
extern const struct redis_command redis_slowlog_commands[]; /* slowlog.c: SLOWLOG, LATENCY */
extern const struct redis_command redis_admin_commands[]; /* admin_commands.c: ROLE, MONITOR, ... */
extern const struct redis_command redis_pubsub_commands[]; /* pubsub_commands.c: SUBSCRIBE, ... */
extern const struct redis_command redis_script_commands[]; /* script_commands.c: EVAL, SCRIPT */
extern const struct redis_command redis_server_commands[]; /* server_commands.c: INFO, TIME, WAIT */

/* Ignores case; NULL if there is no such command. */
const struct redis_command *redis_command_find(struct bytes name);
const struct redis_command *redis_subcommand_find(const struct redis_command *command,
                                                  struct bytes name);
/* Walks the table in the order of its lists; *at is 0 at first. NULL at the end. */
const struct redis_command *redis_command_next(size_t *at);
/* The full name, such as "client|id"; in the arena if it has to be put together. */
struct bytes redis_command_name(const struct redis_command *command, struct arena *arena);
/* Whether the command may write, as far as its row tells. */
static inline bool command_writes(const struct redis_command *command) {
    return (command->flags & (COMMAND_WRITE | COMMAND_COMMITS)) != 0;
}
/* Whether it is EXEC. */
static inline bool command_is_exec(const struct redis_command *command) {
    unsigned both = COMMAND_EXCLUSIVE | COMMAND_NOT_QUEUED;
    return (command->flags & both) == both;
}
/* Whether the command takes this number of arguments, its name included. */
static inline bool redis_arity_fits(const struct redis_command *command, size_t count) {
    return command->arity >= 0 ? count == (size_t)command->arity : count >= (size_t)-command->arity;
}
/* A command as a client sends it: args[0] is its name. */
struct redis_request {
    const struct redis_command *command;
    const struct bytes *args;
    size_t count;
};

/* The positions of keys among the arguments, in the arena. False: the arguments are wrong. */
struct key_positions {
    size_t *at;
    size_t count;
};
bool redis_command_keys(const struct redis_request *request, struct arena *arena,
                        struct key_positions *out);

/* ---- a call ---- */

/* Of a write that is worked out before the writer gets it (slow_calls.h). */
struct ahead {
    bool slow;      /* it took too long on the writer's thread; set there */
    bool put_off;   /* it has to wait until an earlier slow call is done; set there */
    bool deferred;  /* and has come back to its loop, which alone uses this */
    bool leads;     /* it was deferred, and all before it are done now */
    bool stale;     /* what it was worked out from has changed; set there */
    bool outdated;  /* likewise, before it has written what is large (set_staging.h) */
    bool long_try;  /* it may take long on the writer's thread */
    bool ran;       /* it was run ahead before */
    unsigned tries; /* that were stale */
    uint64_t work;  /* of the last one, in units of its budget */
    unsigned held;  /* tries while nobody writes to its keys (key_holds.h) */
    struct staged_before *before; /* what an earlier try has written (set_staging.h); or NULL */
    struct seen_versions *seen;   /* what has to be as it was; in the call's arena */
    struct action *actions;
    size_t action_count;
    struct failure failure; /* of making the actions */
};

/* A caller who is restricted to partitions may reach the key of a name and not the board, or the
 * reverse. Which of them a command touches is known when it has found the key (key_txn.c). */
enum denied_partitions {
    DENIED_KEYS = 1,      /* KEY#...: strings, hashes and sets */
    DENIED_BOARDS = 2,    /* BOARD#...: sorted sets */
    DENIED_DATABASES = 4, /* those of other databases than the call's */
};

struct redis_call {
    struct redis_frontend *frontend;
    struct redis_client *client; /* the call may use its state while it runs */
    const struct redis_command *command;
    const struct bytes *args; /* args[0] is the command's name as sent; valid while the call is */
    size_t count;
    bool allowed;         /* call_check() passed; asserted before anything runs */
    struct caller caller; /* whom it passed for; for the commands that a script runs */
    bool batched;         /* the arguments are those of several requests (request_batch.h) */
    size_t turn;          /* of such writes, for `then`: which request is answered, from 0 */
    unsigned denied; /* enum denied_partitions: what the caller may not touch of the call's keys */
    unsigned db;     /* the database: the client's, or what SELECT of the same MULTI has chosen */
    struct resp out;
    struct arena *arena;  /* memory that lives as long as the call */
    struct zset_txn *txn; /* the sorted sets it has opened (zset_txn.h); NULL: none yet */
    struct failure failure;
    struct bytes error;          /* what call_error() was given */
    struct published *published; /* what is sent after the commit; its own, or that of EXEC */
    struct absent_keys *absent;  /* of whose making is told; or NULL (presence_events.h) */
    struct call_budget *budget;  /* its own, or that of the EXEC it is part of; NULL: none */

    /* what `start` fills in */
    struct change change;   /* arena and kind are set already */
    struct action action;   /* room for the actions of a change that has one */
    redis_run *then;        /* makes the reply when the change is committed */
    void *user;             /* passed from start to then */
    redis_run *then_edited; /* for key_start_edit() */
    uint64_t switches_seen; /* board_switches_seen() before it has found its board */

    /* private to redis_call.c, its neighbours (README.md) and redis_wait.c */
    struct change_submit submit; /* brings the committed change back to the loop */
    struct task task;            /* posted to the loop by the pool and by redis_wait.c */
    struct redis_call *next;     /* in the client's queue of calls, or in the loop's free list */
    struct arena own_arena;
    struct {
        struct buf in;      /* the bytes that `args` are in; empty: they are in the arena */
        struct bytes *args; /* themselves; NULL: they are in the arena */
    } taken;                /* a large request that was not copied (call_keep_args) */
    struct buf reply;       /* the reply, until the client's earlier ones are sent */
    size_t queued_args;     /* by which the client's `pending_args` is larger while it is queued */
    struct {
        size_t count;             /* 0: the call is one request */
        const struct bytes *args; /* of all: those that they share, then those of each */
        size_t shared, differs;
    } writes;                 /* requests of a pipeline that are one call (write_batch.h) */
    bool done;                /* the reply can be sent when its turn comes */
    bool nested;              /* it runs as part of EXEC */
    bool muted;               /* CLIENT REPLY: the reply is not sent */
    bool again;               /* call_again() was called */
    bool waits;               /* call_wait() was called and set `waiter` */
    struct waiter *waiter;    /* in the arena; NULL: it has never waited */
    bool repaired;            /* zset_txn_repair() was asked */
    bool switches;            /* board_switch_begin() was called for its change */
    bool refused;             /* the change of a `start` cannot be made as it is: `run` decides; set
                                 on the engine's thread (call_refuse_start) */
    struct redis_call *outer; /* the EXEC that it is part of, of a nested `start`; or NULL */
    bool failed;              /* the reply is an error */
    bool counts;              /* command_stats counts it when it is finished */
    uint64_t usec;            /* how long it ran on the engine's thread */
    int64_t begun_us;         /* when its bytes were there, by clock_ticks_us(); if it `counts` */
    struct call_budget own_budget;
    struct published own_published;
    struct ahead ahead;
    struct call_parts *parts; /* NULL: it is carried out in one (call_parts.h) */
    bool told; /* an earlier part has told what the call does to its key; that it is gone is told in
                  any case */
    bool wrote; /* of a script: it has run a command that writes */
    struct {
        struct redis_call *next; /* of the group, or of those that wait for one */
        bool ran;                /* the group came to it; set on the engine's thread, */
        bool apart;              /* of the leader: and each has to be run by itself */
    } grouped;                   /* call_groups.h */
};

/* Sets the error reply, such as "ERR syntax error". Returns INVALID, so that a command can
 * `return call_error(call, ...)`. */
enum status call_error(struct redis_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__
#define call_error(...) STATUS_RETURNED(call_error(__VA_ARGS__), INVALID)
#endif
#define ERROR_SYNTAX      "ERR syntax error"
#define ERROR_NOT_INTEGER "ERR value is not an integer or out of range"
#define ERROR_NOT_FLOAT   "ERR value is not a valid float"

/* The reply of HELP subcommands: an array of the lines, of which NULL is the end. Returns OK. */
enum status reply_help(struct redis_call *call, const char *const *lines);

/* Whether the argument is this word; ignores case. */
bool call_arg_is(const struct redis_call *call, size_t index, const char *word);
/* Reads numbers as Redis does: no blanks, no "+", no leading zeros. Else the error is set. */
enum status call_int(struct redis_call *call, size_t index, int64_t *out);
/* From `low` to `high`, both allowed; `error` NULL: ERROR_NOT_INTEGER. */
struct int_bounds {
    int64_t low, high;
    const char *error;
};
enum status call_int_between(struct redis_call *call, size_t index, struct int_bounds bounds,
                             int64_t *out);
/* Also "inf", "+inf", "-inf", "1e5", hexadecimal; not NaN. */
enum status call_double(struct redis_call *call, size_t index, double *out);
bool redis_read_int(struct bytes text, int64_t *out);
bool redis_read_double(struct bytes text, double *out);

/* Called by a `start` that cannot do without reading more: the command's `run` is run on the
 * engine's thread instead. Returns OK, so that a `start` can `return call_fall_back(call)`. */
enum status call_fall_back(struct redis_call *call);

/* For the ACTION_COMPUTE of a `start`, on the engine's thread: what the `start` has seen is not so
 * any more, such as the type of its key. Nothing of the call's change is written, and its `run` is
 * run instead; the client's later writes follow it. Returns the status that `compute` returns. */
enum status call_refuse_start(struct redis_call *call, struct action *action, struct arena *arena);
/* Likewise: whether the call has to be refused, because an earlier write of its client was. */
bool call_is_overtaking(const struct redis_call *call);

/* ---- for commands that run others (EXEC) ---- */

/* Runs a command as part of `outer`, over the same sorted sets, and appends its reply or its error
 * to outer's. Returns the command's status. */
enum status call_run_nested(struct redis_call *outer, const struct redis_request *request);

/* Likewise in two halves, for commands that have a `start`. The first runs it: out->change has the
 * actions of that command alone, or a `prepare` if it fell back to its `run`. False if there is
 * nothing to write, because it failed or has its reply already. The second half, after the commit,
 * makes the reply or the error. */
bool call_start_nested(struct redis_call *outer, const struct redis_request *request,
                       struct redis_call *out);
void call_then_nested(struct redis_call *outer, struct redis_call *inner);

/* ---- for commands that do more than one commit holds ---- */

/* Commits what was written so far and then runs the command once more, to go on. Not between MULTI
 * and EXEC, where all is one commit. The reply of the last run is sent. */
static inline void call_again(struct redis_call *call) {
    call->again = true;
}

/* ---- for commands that block (BZPOPMIN) ---- */

/* Whether the call may wait, which it may not between MULTI and EXEC. */
static inline bool call_may_wait(const struct redis_call *call) {
    return !call->nested;
}
/* What a call waits for. */
struct key_wait {
    const struct bytes *keys;
    size_t count;
    double timeout_s; /* 0: for ever */
    bool null_bulk;   /* when the time is up the reply is a null, else a null array */
};
/* Called by `run` when the keys have no entries: it is run again whenever one of them may have got
 * some. Returns OK; `run` then returns at once, without a reply and without having written. */
enum status call_wait(struct redis_call *call, const struct key_wait *wait);

#endif

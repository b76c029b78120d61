/* Commands that name members: ZADD, ZINCRBY, ZREM, ZSCORE, ZMSCORE, ZCARD. */
#include "api/redis/key_txn_int.h"
#include "api/redis/notifications.h"
#include "api/redis/slow_calls.h"
#include "game/board/board_generation.h"

#define ERROR_NAN "ERR resulting score is not a number (NaN)"

/* ---- ZADD and ZINCRBY ---- */

struct zadd {
    unsigned flags;    /* ENTRY_... */
    bool tell_changed; /* CH: the reply counts changed members too */
    bool tell_score;   /* INCR, ZINCRBY: the reply is the new score */
    struct bytes *members;
    double *scores;
    size_t count;
    struct started_write *writes; /* of `start`: one for each member */
};

/* What a `start` asks of an entry; on the engine's thread it may turn out that `run` has to decide.
 */
struct started_write {
    struct entry_write write; /* first: action->user is both */
    struct redis_call *call;
};

static const struct {
    const char *name;
    unsigned flag;
} zadd_options[] = {{"nx", ENTRY_NEW_ONLY},
                    {"xx", ENTRY_OLD_ONLY},
                    {"gt", ENTRY_GREATER_ONLY},
                    {"lt", ENTRY_LESS_ONLY},
                    {"incr", ENTRY_ADD}};

static bool read_zadd_option(struct redis_call *call, size_t at, struct zadd *zadd) {
    if (call->args[at].size < 2 || call->args[at].size > 4)
        return false;
    for (size_t i = 0; i < sizeof(zadd_options) / sizeof(zadd_options[0]); i++)
        if (call_arg_is(call, at, zadd_options[i].name)) {
            zadd->flags |= zadd_options[i].flag;
            return true;
        }
    if (!call_arg_is(call, at, "ch"))
        return false;
    zadd->tell_changed = true;
    return true;
}

static enum status check_options(struct redis_call *call, const struct zadd *zadd, size_t count) {
    bool nx = zadd->flags & ENTRY_NEW_ONLY, xx = zadd->flags & ENTRY_OLD_ONLY;
    bool gt = zadd->flags & ENTRY_GREATER_ONLY, lt = zadd->flags & ENTRY_LESS_ONLY;
    if (nx && xx)
        return call_error(call, "ERR XX and NX options at the same time are not compatible");
    if ((gt && nx) || (lt && nx) || (gt && lt))
        return call_error(call, "ERR GT, LT, and/or NX options at the same time are not "
                                "compatible");
    if ((zadd->flags & ENTRY_ADD) && count > 1)
        return call_error(call, "ERR INCR option supports a single increment-element pair");
    return OK;
}

/* Reads the scores and members from the argument `at` on. */
static enum status read_pairs(struct redis_call *call, size_t at, struct zadd *zadd) {
    enum status status = OK;
    zadd->count = (call->count - at) / 2;
    zadd->members = arena_alloc(call->arena, zadd->count * sizeof(*zadd->members));
    zadd->scores = arena_alloc(call->arena, zadd->count * sizeof(*zadd->scores));
    for (size_t i = 0; i < zadd->count && status == OK; i++) {
        zadd->members[i] = call->args[at + 2 * i + 1];
        status = call_double(call, at + 2 * i, &zadd->scores[i]);
    }
    return status;
}

/* The requests of a batch have a score and a member each, and no options. */
static enum status read_zadd(struct redis_call *call, struct zadd *zadd) {
    size_t at = 2;
    while (!call->batched && at < call->count && read_zadd_option(call, at, zadd))
        at++;
    size_t left = call->count - at;
    if (left == 0 || left % 2 != 0)
        return call_error(call, ERROR_SYNTAX);
    zadd->tell_score = zadd->flags & ENTRY_ADD;
    enum status status = check_options(call, zadd, left / 2);
    return status == OK ? read_pairs(call, at, zadd) : status;
}

static enum status read_zincrby(struct redis_call *call, struct zadd *zadd) {
    zadd->flags = ENTRY_ADD;
    zadd->tell_score = true;
    return read_pairs(call, 2, zadd);
}

/* ---- ZADD and ZINCRBY as `run`, on the engine's thread ---- */

/* What became of the members so far. */
struct added {
    const struct zadd *zadd; /* what was asked for */
    uint64_t added, changed;
    bool done; /* a condition (NX, XX, GT, LT) did not prevent the last one */
    double score;
};

/* What the command asks for one of its members. */
static void fill_write(struct redis_call *call, const struct zadd *zadd, size_t index,
                       struct entry_write *write) {
    memset(write, 0, sizeof(*write));
    write->flags = zadd->flags;
    if (zadd->flags & ENTRY_ADD)
        write->delta = zadd->scores[index];
    else
        write->points = points_of_double(call->arena, zadd->scores[index]);
}

static enum status count_added(struct redis_call *call, size_t index,
                               const struct entry_write *write, struct added *out) {
    const struct zadd *zadd = out->zadd;
    double given = zadd->scores[index];
    if (write->outcome == ENTRY_NAN)
        return call_error(call, ERROR_NAN);
    out->added += write->outcome == ENTRY_ADDED;
    out->changed += write->outcome == ENTRY_CHANGED;
    out->done = write->outcome != ENTRY_NOT_DONE;
    if (zadd->tell_score && out->done) /* -0 is told too, which a board stores as 0 */
        out->score = out->added != 0 && given == 0 ? given : points_to_double(&write->after);
    return OK;
}

static enum status zadd_member(struct redis_call *call, struct zset *zset, size_t index,
                               struct added *out) {
    struct entry_write write;
    fill_write(call, out->zadd, index, &write);
    enum status status = zset_update(call, zset, out->zadd->members[index], &write);
    return status == OK ? count_added(call, index, &write, out) : status;
}

static void reply_added(struct redis_call *call, const struct added *added) {
    const struct zadd *zadd = added->zadd;
    if (added->added != 0 || added->changed != 0)
        notify_key(call, NOTIFY_ZSET, zadd->tell_score ? "zincr" : "zadd", call->args[1]);
    if (!zadd->tell_score)
        resp_int(&call->out, (int64_t)(added->added + (zadd->tell_changed ? added->changed : 0)));
    else if (added->done)
        resp_double(&call->out, added->score);
    else
        resp_null(&call->out);
}

static enum status run_add(struct redis_call *call, struct zadd *zadd) {
    struct added added = {.zadd = zadd};
    struct zset *zset;
    enum status status = zset_open(call, call->args[1], &zset);
    for (size_t i = 0; i < zadd->count && status == OK; i++)
        status = zadd_member(call, zset, i, &added);
    if (status == OK)
        reply_added(call, &added);
    return status;
}

static enum status run_zadd(struct redis_call *call) {
    struct zadd zadd = {0};
    enum status status = read_zadd(call, &zadd);
    return status == OK ? run_add(call, &zadd) : status;
}

static enum status run_zincrby(struct redis_call *call) {
    struct zadd zadd = {0};
    enum status status = read_zincrby(call, &zadd);
    return status == OK ? run_add(call, &zadd) : status;
}

/* ---- ZADD and ZINCRBY as `start`, on the loop's thread ---- */

enum { COMPARED_MAX = 16 }; /* more members are compared by a map */

/* Whether a member is named twice: one change cannot write an item twice. */
static bool has_repeats(const struct bytes *members, size_t count) {
    struct map seen = {0};
    bool repeats = false;
    for (size_t i = 1; i < count && count <= COMPARED_MAX; i++)
        for (size_t j = 0; j < i; j++)
            if (bytes_equal(members[i], members[j]))
                return true;
    for (size_t i = 0; i < count && count > COMPARED_MAX && !repeats; i++)
        repeats = map_put(&seen, members[i], &seen) != NULL;
    map_release(&seen);
    return repeats;
}

/* Opens the set and allocates an action for each member, and two to make the board; or falls back.
 */
static enum status begin_actions(struct redis_call *call, size_t count, struct zset **out) {
    struct change *change = &call->change;
    struct bytes name = key_board_name(call->db, call->args[1], call->arena);
    call->switches_seen = board_switches_seen(call->frontend->game);
    enum status status = zset_open_board(call, name, out);
    if (status != OK)
        return status;
    const struct board *board = (*out)->board;
    /* It is being cleared, has expired, loses its time to live, or holds another type. */
    if (((*out)->empty && board->exists) || (*out)->expires || board->keyed)
        return call_fall_back(call);
    status = zset_check_writable(call, *out);
    if (status != OK)
        return status;
    change->actions = count == 1 && board->exists
                          ? &call->action
                          : arena_alloc(call->arena, (count + 2) * sizeof(*change->actions));
    change->action_count = count;
    change->all_or_nothing = !board->exists || (count > 1 && !board->rules.plain);
    return OK;
}

/* In a batch only the request whose turn it is. */
static enum status then_added(struct redis_call *call) {
    const struct zadd *zadd = call->user;
    struct added added = {.zadd = zadd};
    size_t first = call->batched ? call->turn : 0;
    size_t end = call->batched ? first + 1 : zadd->count;
    enum status status = OK;
    for (size_t i = first; i < end && status == OK; i++)
        status = count_added(call, i, &zadd->writes[i].write, &added);
    if (status == OK)
        reply_added(call, &added);
    return status;
}

/* On the engine's thread: whether the set was replaced, or removed, since the `start` has looked.
 */
static bool has_moved(const struct redis_call *call, const struct board *board,
                      struct arena *arena) {
    struct failure failure;
    return board_may_have_switched(call->frontend->game, board, call->switches_seen,
                                   (struct scope){arena, &failure});
}

static enum status write_started(struct action *action, const struct item *old, struct arena *arena,
                                 struct item *new) {
    struct started_write *started = action->user;
    if (call_is_overtaking(started->call) || has_moved(started->call, started->write.board, arena))
        return call_refuse_start(started->call, action, arena);
    return zset_txn_write_entry(action, old, arena, new);
}

static enum status put_write(struct redis_call *call, const struct zset *zset,
                             const struct zadd *zadd, size_t index) {
    struct entry_write *write = &zadd->writes[index].write;
    struct bytes key;
    enum status status =
        entry_key_of(zadd->members[index], (struct scope){call->arena, &call->failure}, &key);
    if (status != OK)
        return status;
    fill_write(call, zadd, index, write);
    write->game = call->frontend->game;
    write->board = zset->board;
    write->now_ms = call->txn->now_ms;
    zadd->writes[index].call = call;
    entry_action(write, game_key(call->arena, zset->board->pk, key), write_started,
                 &call->change.actions[index]);
    return OK;
}

/* ---- a set that is made ---- */

/* Refuses the change if by now the key holds another type. */
static enum status check_no_key(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    (void)new;
    return old->count == 0 ? OK : call_refuse_start(action->user, action, arena);
}

/* Adds the actions that make the board, and check that the table has no key of its name. */
static enum status add_creation(struct redis_call *call, const struct zset *zset) {
    struct change *change = &call->change;
    struct key_address address;
    enum status status = key_address_of(call->db, call->args[1],
                                        (struct scope){call->arena, &call->failure}, &address);
    board_create_action(call->frontend->game, zset->board, call->arena,
                        &change->actions[change->action_count++]);
    if (status == OK)
        change->actions[change->action_count++] = game_compute_action(
            call->frontend->game, key_head_key(&address, call->arena), check_no_key, call);
    return status;
}

static enum status start_add(struct redis_call *call, struct zadd *zadd) {
    struct zset *zset;
    if (notify_wants(call, NOTIFY_NEW)) /* whether there were others the entries do not show */
        return call_fall_back(call);
    if (zadd->count > 1 && !call->batched && has_repeats(zadd->members, zadd->count))
        return call_fall_back(call);
    enum status status = begin_actions(call, zadd->count, &zset);
    if (status != OK || call->change.prepare != NULL)
        return status;
    zadd->writes = arena_alloc(call->arena, zadd->count * sizeof(*zadd->writes));
    for (size_t i = 0; i < zadd->count && status == OK; i++)
        status = put_write(call, zset, zadd, i);
    if (status == OK && !zset->board->exists)
        status = add_creation(call, zset);
    call->user = zadd;
    call->then = then_added;
    return status;
}

static enum status start_zadd(struct redis_call *call) {
    struct zadd *zadd = ARENA_NEW(call->arena, struct zadd);
    enum status status = read_zadd(call, zadd);
    return status == OK ? start_add(call, zadd) : status;
}

static enum status start_zincrby(struct redis_call *call) {
    struct zadd *zadd = ARENA_NEW(call->arena, struct zadd);
    enum status status = read_zincrby(call, zadd);
    return status == OK ? start_add(call, zadd) : status;
}

/* ---- ZREM ---- */

static enum status run_zrem(struct redis_call *call) {
    struct zset_entry entry;
    struct zset *zset;
    int64_t removed = 0;
    enum status status = zset_open(call, call->args[1], &zset);
    for (size_t i = 2; i < call->count && status == OK; i++) {
        entry = (struct zset_entry){.member = call->args[i]};
        status = zset_scores(call, zset, &entry, 1);
        if (status != OK || !entry.found)
            continue;
        removed++;
        status = zset_remove(call, zset, entry.member);
    }
    if (status == OK && removed != 0)
        status = zset_notify_removed(call, zset, "zrem", call->args[1]);
    if (status == OK)
        resp_int(&call->out, removed);
    return status;
}

struct started_removal {
    struct redis_call *call;
    const struct board *board;
    bool removed;
};

/* Removes the entry if it stands in the ranking: only such entries are members. */
static enum status remove_entry(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    struct started_removal *removal = action->user;
    if (call_is_overtaking(removal->call) || has_moved(removal->call, removal->board, arena))
        return call_refuse_start(removal->call, action, arena);
    removal->removed = item_get(old, GAME_SCORE) != NULL;
    if (removal->removed)
        *new = (struct item){0};
    return OK;
}

static enum status then_removed(struct redis_call *call) {
    const struct started_removal *removals = call->user;
    int64_t count = 0;
    for (size_t i = 0; i < call->count - 2; i++)
        count += removals[i].removed;
    resp_int(&call->out, count);
    return OK;
}

/* Falls back where there may be a key of another type by now, and where more than the entries may
 * change: a set with a time to live loses that with its last member, and a board that feeds
 * cross-game boards takes its part off them. So it does if somebody is told of a set's end, which
 * the entries alone do not show. */
static enum status start_zrem(struct redis_call *call) {
    size_t count = call->count - 2;
    struct zset *zset;
    if (slow_has_many_args(call)) /* most may not be there, which `run` finds out elsewhere */
        return call_fall_back(call);
    enum status status = begin_actions(call, count, &zset);
    if (status != OK || call->change.prepare != NULL)
        return status;
    if (!zset->board->exists || zset->board->expires_ms != 0 || notify_wants(call, NOTIFY_ZSET) ||
        notify_wants(call, NOTIFY_GENERIC) || zset->board->rules.feed_count != 0 ||
        (count > 1 && has_repeats(call->args + 2, count)))
        return call_fall_back(call);
    struct started_removal *removals = ARENA_ARRAY(call->arena, struct started_removal, count);
    call->change.action_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct failure failure;
        struct bytes key;
        if (entry_key_of(call->args[2 + i], (struct scope){call->arena, &failure}, &key) != OK)
            continue; /* a member that is too long is in no set */
        removals[i].call = call;
        removals[i].board = zset->board;
        call->change.actions[call->change.action_count++] =
            (struct action){.kind = ACTION_COMPUTE,
                            .table = call->frontend->game->table,
                            .item = game_key(call->arena, zset->board->pk, key),
                            .compute = remove_entry,
                            .user = &removals[i]};
    }
    call->change.all_or_nothing = false;
    call->user = removals;
    call->then = then_removed;
    return OK;
}

/* ---- in parts ---- */

/* Whether the members of a sorted set can be written some at a time: boards have rules, for which
 * all of a command's writes are one. */
static bool is_divisible_set(struct redis_call *call) {
    struct zset *zset;
    return zset_open(call, call->args[1], &zset) == OK && zset->board->rules.plain;
}

static bool are_names(struct redis_call *call, size_t first, size_t step) {
    struct scope in = {call->arena, &call->failure};
    struct bytes key;
    for (size_t i = first; i < call->count; i += step)
        if (entry_key_of(call->args[i], in, &key) != OK)
            return false;
    return true;
}

static size_t divides_zadd(struct redis_call *call) {
    struct zadd zadd = {0};
    if (read_zadd(call, &zadd) != OK || zadd.tell_score || !is_divisible_set(call))
        return 0;
    size_t first = call->count - 2 * zadd.count;
    return are_names(call, first + 1, 2) ? first : 0;
}

static size_t divides_zrem(struct redis_call *call) {
    return is_divisible_set(call) && are_names(call, 2, 1) ? 2 : 0;
}

static const struct command_parts parts_zadd = {2, divides_zadd}, parts_zrem = {1, divides_zrem};

/* ---- reading ---- */

static enum status run_zcard(struct redis_call *call) {
    struct zset *zset;
    uint64_t size;
    enum status status = zset_open(call, call->args[1], &zset);
    if (status == OK)
        status = zset_size(call, zset, &size);
    if (status == OK)
        resp_int(&call->out, (int64_t)size);
    return status;
}

static void reply_score(struct redis_call *call, const struct zset_entry *entry) {
    if (entry->found)
        resp_double(&call->out, entry->score);
    else
        resp_null(&call->out);
}

/* Replies with the score of each member; in a batch (COMMAND_BATCHED) there are several. */
static enum status run_zscore(struct redis_call *call) {
    size_t count = call->count - 2;
    struct zset_entry *entries = ARENA_ARRAY(call->arena, struct zset_entry, count);
    struct zset *zset;
    for (size_t i = 0; i < count; i++)
        entries[i].member = call->args[2 + i];
    enum status status = zset_open(call, call->args[1], &zset);
    if (status == OK)
        status = zset_scores(call, zset, entries, count);
    for (size_t i = 0; i < count && status == OK; i++)
        reply_score(call, &entries[i]);
    return status;
}

static enum status run_zmscore(struct redis_call *call) {
    resp_array(&call->out, call->count - 2);
    return run_zscore(call);
}

enum {
    WRITES = COMMAND_WRITE | COMMAND_DENYOOM | COMMAND_FAST,
    READS = COMMAND_READ | COMMAND_FAST,
    READS_MEMBER = READS | COMMAND_BATCHED,
    WRITES_MEMBER = WRITES | COMMAND_BATCHED | COMMAND_BATCHED_PAIRS,
};
#define ONE_KEY \
    { 1, 1, 1, 0 }

const struct redis_command redis_score_commands[] = {
    {"zadd", -4, WRITES_MEMBER, TOUCHES_PARTITION, ONE_KEY, run_zadd, start_zadd, GROUP_SORTED_SET,
     "1.2.0", "Adds members with their scores, or changes the scores of those that are there", NULL,
     &parts_zadd},
    {"zincrby", 4, WRITES_MEMBER, TOUCHES_PARTITION, ONE_KEY, run_zincrby, start_zincrby,
     GROUP_SORTED_SET, "1.2.0", "Adds to the score of a member", NULL},
    {"zrem", -3, COMMAND_WRITE | COMMAND_FAST, TOUCHES_PARTITION, ONE_KEY, run_zrem, start_zrem,
     GROUP_SORTED_SET, "1.2.0", "Removes members", NULL, &parts_zrem},
    {"zcard", 2, READS, TOUCHES_PARTITION, ONE_KEY, run_zcard, NULL, GROUP_SORTED_SET, "1.2.0",
     "Tells how many members there are", NULL},
    {"zscore", 3, READS_MEMBER, TOUCHES_PARTITION, ONE_KEY, run_zscore, NULL, GROUP_SORTED_SET,
     "1.2.0", "Tells the score of a member", NULL},
    {"zmscore", -3, READS, TOUCHES_PARTITION, ONE_KEY, run_zmscore, NULL, GROUP_SORTED_SET, "6.2.0",
     "Tells the scores of several members", NULL},
    {0},
};

/* Commands that name members: ZADD, ZINCRBY, ZREM, ZSCORE, ZMSCORE, ZRANK, ZREVRANK, ZCARD. */
#include "api/redis/space_int.h"

#include <math.h>

#define ERROR_NAN "ERR resulting score is not a number (NaN)"

/* ---- ZADD and ZINCRBY ---- */

struct zadd {
    unsigned flags; /* ENTRY_... */
    bool tell_changed, tell_score;
    struct bytes *members;
    double *scores;
    size_t count;
    struct entry_write *writes; /* one for each member */
};

static const struct {
    const char *name;
    unsigned flag;
} options[] = {{"nx", ENTRY_NEW_ONLY},
               {"xx", ENTRY_OLD_ONLY},
               {"gt", ENTRY_GREATER_ONLY},
               {"lt", ENTRY_LESS_ONLY},
               {"incr", ENTRY_ADD}};

static bool read_option(struct redis_call *call, size_t at, struct zadd *zadd) {
    if (call->args[at].size < 2 || call->args[at].size > 4)
        return false;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (call_arg_is(call, at, options[i].name)) {
            zadd->flags |= options[i].flag;
            return true;
        }
    if (!call_arg_is(call, at, "ch"))
        return false;
    zadd->tell_changed = true;
    return true;
}

static enum status check_options(struct redis_call *call, const struct zadd *zadd) {
    bool nx = zadd->flags & ENTRY_NEW_ONLY, xx = zadd->flags & ENTRY_OLD_ONLY;
    bool gt = zadd->flags & ENTRY_GREATER_ONLY, lt = zadd->flags & ENTRY_LESS_ONLY;
    if (nx && xx)
        return call_error(call, "ERR XX and NX options at the same time are not compatible");
    if ((gt && nx) || (lt && nx) || (gt && lt))
        return call_error(call, "ERR GT, LT, and/or NX options at the same time are not "
                                "compatible");
    if ((zadd->flags & ENTRY_ADD) && zadd->count > 1)
        return call_error(call, "ERR INCR option supports a single increment-element pair");
    return OK;
}

static void make_pairs(struct redis_call *call, struct zadd *zadd) {
    zadd->members = arena_alloc(call->arena, zadd->count * sizeof(*zadd->members));
    zadd->scores = arena_alloc(call->arena, zadd->count * sizeof(*zadd->scores));
}

static enum status read_zadd(struct redis_call *call, struct zadd *zadd) {
    size_t at = 2;
    while (at < call->count && read_option(call, at, zadd))
        at++;
    size_t left = call->count - at;
    if (left == 0 || left % 2 != 0)
        return call_error(call, ERROR_SYNTAX);
    zadd->count = left / 2;
    zadd->tell_score = zadd->flags & ENTRY_ADD;
    enum status status = check_options(call, zadd);
    make_pairs(call, zadd);
    for (size_t i = 0; i < zadd->count && status == OK; i++) {
        zadd->members[i] = call->args[at + 2 * i + 1];
        status = call_double(call, at + 2 * i, &zadd->scores[i]);
    }
    return status;
}

static enum status read_zincrby(struct redis_call *call, struct zadd *zadd) {
    zadd->flags = ENTRY_ADD;
    zadd->tell_score = true;
    zadd->count = 1;
    make_pairs(call, zadd);
    zadd->members[0] = call->args[3];
    return call_double(call, 2, &zadd->scores[0]);
}

/* ---- as one step on the engine's thread ---- */

struct added {
    uint64_t added, changed;
    bool done; /* the last one was not left alone */
    double score;
};

static enum status add_one(struct redis_call *call, struct zset *zset, const struct zadd *zadd,
                           size_t index, struct added *out) {
    struct zset_entry old = {.member = zadd->members[index]};
    enum status status = zset_scores(call, zset, &old, 1);
    double score = zadd->scores[index];
    if (status != OK)
        return status;
    out->done = !(old.found ? zadd->flags & ENTRY_NEW_ONLY : zadd->flags & ENTRY_OLD_ONLY);
    if (!out->done)
        return OK;
    if ((zadd->flags & ENTRY_ADD) && old.found)
        score += old.score;
    if (isnan(score))
        return call_error(call, ERROR_NAN);
    if (old.found && (((zadd->flags & ENTRY_GREATER_ONLY) && score <= old.score) ||
                      ((zadd->flags & ENTRY_LESS_ONLY) && score >= old.score))) {
        out->done = false;
        return OK;
    }
    out->score = score;
    out->added += !old.found;
    out->changed += old.found && score != old.score;
    return zset_put(call, zset, old.member, score);
}

static void reply_added(struct redis_call *call, const struct zadd *zadd,
                        const struct added *added) {
    if (!zadd->tell_score)
        resp_int(&call->out, (int64_t)(added->added + (zadd->tell_changed ? added->changed : 0)));
    else if (added->done)
        resp_double(&call->out, added->score);
    else
        resp_null(&call->out);
}

static enum status run_add(struct redis_call *call, struct zadd *zadd) {
    struct added added = {0};
    struct zset *zset;
    enum status status = zset_open(call, call->args[1], &zset);
    for (size_t i = 0; i < zadd->count && status == OK; i++)
        status = add_one(call, zset, zadd, i, &added);
    if (status == OK)
        reply_added(call, zadd, &added);
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

/* ---- as actions that share a commit with those of others ---- */

enum { COMPARED_MAX = 16 }; /* more are looked up */

/* One change cannot write an item twice. */
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

/* Opens the set and makes room for an action a member, and one more; or falls back. */
static enum status begin_actions(struct redis_call *call, size_t count, struct zset **out) {
    struct change *change = &call->change;
    enum status status = zset_open(call, call->args[1], out);
    if (status != OK)
        return status;
    const struct board *board = (*out)->board;
    if (((*out)->empty && board->exists) || (*out)->expires)
        return call_fall_back(call); /* it is being cleared, or has to be, or had an end */
    status = zset_check_writable(call, *out);
    if (status != OK)
        return status;
    change->actions = count == 1 && board->exists
                          ? &call->action
                          : arena_alloc(call->arena, (count + 1) * sizeof(*change->actions));
    change->action_count = count;
    change->all_or_nothing = !board->exists || (count > 1 && !board->rules.plain);
    return OK;
}

static enum status then_added(struct redis_call *call) {
    const struct zadd *zadd = call->user;
    struct added added = {0};
    for (size_t i = 0; i < zadd->count; i++) {
        const struct entry_write *write = &zadd->writes[i];
        if (write->outcome == ENTRY_NAN)
            return call_error(call, ERROR_NAN);
        added.added += write->outcome == ENTRY_ADDED;
        added.changed += write->outcome == ENTRY_CHANGED;
        added.done = write->outcome != ENTRY_NOT_DONE;
    }
    if (zadd->tell_score && added.done)
        added.score = added.added && zadd->scores[0] == 0 /* also -0, which no board keeps */
                          ? zadd->scores[0]
                          : points_to_double(&zadd->writes[0].after);
    reply_added(call, zadd, &added);
    return OK;
}

static enum status put_write(struct redis_call *call, const struct zset *zset,
                             const struct zadd *zadd, size_t index) {
    struct entry_write *write = &zadd->writes[index];
    struct bytes key;
    enum status status = entry_key_of(zadd->members[index], call->arena, &call->failure, &key);
    if (status != OK)
        return status;
    memset(write, 0, sizeof(*write));
    write->board = zset->board;
    write->flags = zadd->flags;
    write->now_ms = call->space->now_ms;
    if (zadd->flags & ENTRY_ADD)
        write->delta = zadd->scores[index];
    else
        write->points = points_of_double(call->arena, zadd->scores[index]);
    entry_action(call->face->game, zset->board, key, space_write_entry, write, call->arena,
                 &call->change.actions[index]);
    return OK;
}

static enum status start_add(struct redis_call *call, struct zadd *zadd) {
    struct zset *zset;
    if (zadd->count > 1 && has_repeats(zadd->members, zadd->count))
        return call_fall_back(call);
    enum status status = begin_actions(call, zadd->count, &zset);
    if (status != OK || call->change.decide != NULL)
        return status;
    zadd->writes = arena_alloc(call->arena, zadd->count * sizeof(*zadd->writes));
    for (size_t i = 0; i < zadd->count && status == OK; i++)
        status = put_write(call, zset, zadd, i);
    if (!zset->board->exists)
        board_make_action(call->face->game, zset->board, call->arena,
                          &call->change.actions[call->change.action_count++]);
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
    if (status == OK)
        resp_int(&call->out, removed);
    return status;
}

/* Only what stands in the ranking is a member. */
static enum status remove_entry(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    bool *removed = action->user;
    (void)arena;
    *removed = item_get(old, GAME_SCORE) != NULL;
    if (*removed)
        *new = (struct item){0};
    return OK;
}

static enum status then_removed(struct redis_call *call) {
    const bool *removed = call->user;
    int64_t count = 0;
    for (size_t i = 0; i < call->count - 2; i++)
        count += removed[i];
    resp_int(&call->out, count);
    return OK;
}

/* A set that has an end might lose it with its last member: that takes a look at the whole. */
static enum status start_zrem(struct redis_call *call) {
    size_t count = call->count - 2;
    struct zset *zset;
    enum status status = begin_actions(call, count, &zset);
    if (status != OK || call->change.decide != NULL)
        return status;
    if (zset->board->expires_ms != 0 || (count > 1 && has_repeats(call->args + 2, count)))
        return call_fall_back(call);
    bool *removed = ARENA_ARRAY(call->arena, bool, count);
    call->change.action_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct failure failure;
        struct bytes key;
        if (entry_key_of(call->args[2 + i], call->arena, &failure, &key) != OK)
            continue; /* too long to be there */
        call->change.actions[call->change.action_count++] =
            (struct action){.kind = ACTION_COMPUTE,
                            .table = call->face->game->table,
                            .item = game_key(call->arena, zset->board->pk, key),
                            .compute = remove_entry,
                            .user = &removed[i]};
    }
    call->change.all_or_nothing = false;
    call->user = removed;
    call->then = then_removed;
    return OK;
}

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

/* The scores of all members that the call names, each one's reply. */
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

static void reply_rank(struct redis_call *call, const struct zset_rank *rank, bool with_score) {
    if (!rank->found && with_score)
        resp_null_array(&call->out);
    else if (!rank->found)
        resp_null(&call->out);
    else if (with_score) {
        resp_array(&call->out, 2);
        resp_int(&call->out, (int64_t)rank->rank);
        resp_double(&call->out, rank->score);
    } else
        resp_int(&call->out, (int64_t)rank->rank);
}

static enum status run_rank(struct redis_call *call, bool reverse) {
    bool with_score = call->count > 3 && !call->together;
    if (with_score && (call->count > 4 || !call_arg_is(call, 3, "withscore")))
        return call_error(call, "ERR wrong number of arguments for '%s' command",
                          call->command->name);
    size_t count = with_score ? 1 : call->count - 2;
    struct zset_rank *ranks = ARENA_ARRAY(call->arena, struct zset_rank, count);
    struct zset *zset;
    for (size_t i = 0; i < count; i++)
        ranks[i].member = call->args[2 + i];
    enum status status = zset_open(call, call->args[1], &zset);
    if (status == OK)
        status = zset_ranks(call, zset, reverse, ranks, count);
    for (size_t i = 0; i < count && status == OK; i++)
        reply_rank(call, &ranks[i], with_score);
    return status;
}

static enum status run_zrank(struct redis_call *call) {
    return run_rank(call, false);
}

static enum status run_zrevrank(struct redis_call *call) {
    return run_rank(call, true);
}

enum {
    WRITES = COMMAND_WRITE | COMMAND_DENYOOM | COMMAND_FAST,
    READS = COMMAND_READ | COMMAND_FAST,
    READS_MEMBER = READS | COMMAND_TOGETHER,
};
#define ONE_KEY \
    { 1, 1, 1, 0 }

const struct redis_command redis_score_commands[] = {
    {"zadd", -4, WRITES, ONE_KEY, run_zadd, start_zadd, GROUP_SORTED_SET, "1.2.0",
     "Adds members with their scores, or changes the scores of those that are there", NULL},
    {"zincrby", 4, WRITES, ONE_KEY, run_zincrby, start_zincrby, GROUP_SORTED_SET, "1.2.0",
     "Adds to the score of a member", NULL},
    {"zrem", -3, COMMAND_WRITE | COMMAND_FAST, ONE_KEY, run_zrem, start_zrem, GROUP_SORTED_SET,
     "1.2.0", "Removes members", NULL},
    {"zcard", 2, READS, ONE_KEY, run_zcard, NULL, GROUP_SORTED_SET, "1.2.0",
     "Tells how many members there are", NULL},
    {"zscore", 3, READS_MEMBER, ONE_KEY, run_zscore, NULL, GROUP_SORTED_SET, "1.2.0",
     "Tells the score of a member", NULL},
    {"zmscore", -3, READS, ONE_KEY, run_zmscore, NULL, GROUP_SORTED_SET, "6.2.0",
     "Tells the scores of several members", NULL},
    {"zrank", -3, READS_MEMBER, ONE_KEY, run_zrank, NULL, GROUP_SORTED_SET, "2.0.0",
     "Tells how many members stand before one, the lowest score first", NULL},
    {"zrevrank", -3, READS_MEMBER, ONE_KEY, run_zrevrank, NULL, GROUP_SORTED_SET, "2.0.0",
     "Tells how many members stand before one, the highest score first", NULL},
    {0},
};

/* ZUNION, ZINTER, ZDIFF, with STORE and CARD: sorted sets out of several. A source may be a set,
 * whose members all have the score 1.
 *
 * Scores are added up in the order of the sets' sizes, smallest first, and a NaN becomes 0: so sums
 * are those of Redis to the last digit.
 */
#include "api/redis/key_txn.h"
#include "api/redis/set_staging.h"
#include "api/redis/zset_txn.h"
#include "base/map.h"

#include <math.h>
#include <stdlib.h>

enum operation { UNION, INTERSECTION, DIFFERENCE };
/* COUNT takes every score for 1: the sum is that of the weights of the sets that have the member.
 */
enum aggregate { AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_MAX, AGGREGATE_COUNT };
enum {
    CHUNK = 1024,     /* members looked up at once */
    UNITED_SIZE = 96, /* bytes of a member in a union, in the list and in the map */
};

struct source {
    struct bytes key;
    struct zset *zset;     /* or, */
    struct redis_key *set; /* if it is a set, this one */
    uint64_t size;
    double weight;
    size_t place; /* among the arguments */
};

struct algebra {
    enum operation operation;
    bool store, count_only, scores;
    enum aggregate aggregate;
    int64_t limit; /* of ZINTERCARD; 0: none */
    struct source *sources;
    size_t count;
};

/* ---- sources ---- */

static enum status open_source(struct redis_call *call, struct source *source) {
    enum key_type type;
    struct redis_key *key;
    enum status status = key_open(call, source->key, &key);
    if (status == OK)
        status = key_type_of(call, key, &type);
    if (status != OK)
        return status;
    if (type == KEY_SET) {
        source->set = key;
        return key_field_count(call, key, &source->size);
    }
    if (type != KEY_NONE && type != KEY_ZSET)
        return call_error(call, ERROR_WRONG_TYPE);
    status = key_zset(call, key, &source->zset);
    return status == OK ? zset_size(call, source->zset, &source->size) : status;
}

static enum status source_entries(struct redis_call *call, const struct source *source,
                                  struct zset_entries *out) {
    struct hash_fields all;
    if (source->set == NULL)
        return zset_all(call, source->zset, out);
    enum status status = key_all_fields(call, source->set, &all);
    if (status != OK)
        return status;
    out->list = arena_alloc(call->arena, (all.count + 1) * sizeof(*out->list));
    out->count = all.count;
    for (size_t i = 0; i < all.count; i++)
        out->list[i] = (struct zset_entry){.member = all.list[i].name, .score = 1};
    return OK;
}

/* Fills in which of at most CHUNK members the source has, and their scores. */
static enum status source_scores(struct redis_call *call, const struct source *source,
                                 struct zset_entry *asked, size_t count) {
    struct hash_field members[CHUNK];
    if (source->set == NULL)
        return zset_scores(call, source->zset, asked, count);
    for (size_t i = 0; i < count; i++)
        members[i] = (struct hash_field){.name = asked[i].member};
    enum status status = key_fields(call, source->set, members, count);
    for (size_t i = 0; i < count && status == OK; i++) {
        asked[i].found = members[i].found;
        asked[i].score = 1;
    }
    return status;
}

/* ---- arguments ---- */

static enum status read_keys(struct redis_call *call, size_t at, struct algebra *algebra) {
    int64_t number;
    enum status status = call_int(call, at, &number);
    if (status != OK)
        return status;
    if (number < 1)
        return call_error(call, "ERR at least 1 input key is needed for '%s' command",
                          call->command->name);
    if ((uint64_t)number > call->count - at - 1)
        return call_error(call, ERROR_SYNTAX);
    algebra->count = (size_t)number;
    algebra->sources = ARENA_ARRAY(call->arena, struct source, algebra->count);
    for (size_t i = 0; i < algebra->count && status == OK; i++) {
        struct source *source = &algebra->sources[i];
        *source = (struct source){.key = call->args[at + 1 + i], .weight = 1, .place = i};
        status = open_source(call, source);
    }
    return status;
}

static enum status read_weights(struct redis_call *call, size_t at, struct algebra *algebra) {
    for (size_t i = 0; i < algebra->count; i++)
        if (!redis_read_double(call->args[at + i], &algebra->sources[i].weight))
            return call_error(call, "ERR weight value is not a float");
    return OK;
}

static enum status read_aggregate(struct redis_call *call, size_t at, struct algebra *algebra) {
    static const char *const names[] = {"SUM", "MIN", "MAX", "COUNT"};
    for (unsigned i = 0; i < 4; i++)
        if (call_arg_is(call, at, names[i])) {
            algebra->aggregate = (enum aggregate)i;
            return OK;
        }
    return call_error(call, ERROR_SYNTAX);
}

/* Reads the option at `at`; *used is the number of its arguments. */
static enum status read_algebra_option(struct redis_call *call, size_t at, struct algebra *algebra,
                                       size_t *used) {
    size_t left = call->count - at;
    bool sums = algebra->operation != DIFFERENCE && !algebra->count_only;
    *used = 2;
    if (sums && left >= algebra->count + 1 && call_arg_is(call, at, "WEIGHTS")) {
        *used = 1 + algebra->count;
        return read_weights(call, at + 1, algebra);
    }
    if (sums && left >= 2 && call_arg_is(call, at, "AGGREGATE"))
        return read_aggregate(call, at + 1, algebra);
    if (algebra->count_only && left >= 2 && call_arg_is(call, at, "LIMIT"))
        return call_int_between(call, at + 1,
                                (struct int_bounds){0, INT64_MAX, "ERR LIMIT can't be negative"},
                                &algebra->limit);
    if (algebra->store || algebra->count_only || !call_arg_is(call, at, "WITHSCORES"))
        return call_error(call, ERROR_SYNTAX);
    algebra->scores = true;
    *used = 1;
    return OK;
}

static enum status read_algebra(struct redis_call *call, struct algebra *algebra) {
    size_t at = algebra->store ? 2 : 1, used;
    enum status status = read_keys(call, at, algebra);
    if (status != OK)
        return status;
    for (at += 1 + algebra->count; at < call->count && status == OK; at += used)
        status = read_algebra_option(call, at, algebra, &used);
    return status;
}

/* ---- the operations ---- */

static int by_size(const void *left, const void *right) {
    const struct source *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static double add_up(double sum, double score, enum aggregate aggregate) {
    if (aggregate == AGGREGATE_MIN)
        return score < sum ? score : sum;
    if (aggregate == AGGREGATE_MAX)
        return score > sum ? score : sum;
    sum += score;
    return isnan(sum) ? 0 : sum;
}

static double weigh(const struct algebra *algebra, double score, double weight) {
    score = algebra->aggregate == AGGREGATE_COUNT ? weight : score * weight;
    return isnan(score) ? 0 : score;
}

static enum status unite(struct redis_call *call, const struct algebra *algebra,
                         struct zset_entries *out) {
    struct map found = {0};
    enum status status = OK;
    uint64_t room = 0;
    for (size_t i = 0; i < algebra->count; i++)
        room += algebra->sources[i].size;
    status = call_spend(call, WORK_ENTRY * room);
    if (status == OK)
        status = call_need(call, room * UNITED_SIZE);
    if (status != OK)
        return status;
    out->list = arena_alloc(call->arena, (size_t)room * sizeof(*out->list));
    for (size_t i = 0; i < algebra->count && status == OK; i++) {
        const struct source *source = &algebra->sources[i];
        struct zset_entries all = {0};
        status = source_entries(call, source, &all);
        for (size_t j = 0; j < all.count && status == OK; j++) {
            double score = weigh(algebra, all.list[j].score, source->weight);
            struct zset_entry *entry = map_get(&found, all.list[j].member);
            if (entry != NULL)
                entry->score = add_up(entry->score, score, algebra->aggregate);
            else if (out->count < room) { /* a set may have grown since it was measured */
                entry = &out->list[out->count++];
                *entry = (struct zset_entry){.member = all.list[j].member, .score = score};
                map_put(&found, entry->member, entry);
            }
        }
    }
    map_release(&found);
    return status;
}

/* Leaves those of at most CHUNK entries that are in the source too (of a difference: those that are
 * not). */
static enum status sift(struct redis_call *call, const struct algebra *algebra,
                        const struct source *source, struct zset_entries *entries) {
    bool keep = algebra->operation == INTERSECTION;
    size_t left = 0;
    struct zset_entry asked[CHUNK];
    struct call_scratch scratch;
    for (size_t i = 0; i < entries->count; i++)
        asked[i] = (struct zset_entry){.member = entries->list[i].member};
    call_scratch_begin(call, &scratch);
    enum status status = source_scores(call, source, asked, entries->count);
    call_scratch_end(call, &scratch);
    for (size_t i = 0; i < entries->count && status == OK; i++) {
        if (asked[i].found != keep)
            continue;
        struct zset_entry entry = entries->list[i];
        double score = algebra->aggregate == AGGREGATE_COUNT ? 1 : asked[i].score;
        if (keep)
            entry.score = add_up(entry.score, score * source->weight, algebra->aggregate);
        entries->list[left++] = entry;
    }
    entries->count = left;
    return status;
}

/* The entries of the first set that are in all others (of a difference: in none of them). */
static enum status sift_first(struct redis_call *call, const struct algebra *algebra,
                              struct zset_entries *out) {
    const struct source *first = &algebra->sources[0];
    struct zset_entries all;
    enum status status = source_entries(call, first, &all);
    if (status != OK)
        return status;
    for (size_t i = 0; i < all.count; i++)
        all.list[i].score = weigh(algebra, all.list[i].score, first->weight);
    *out = (struct zset_entries){.list = all.list};
    for (size_t begin = 0; begin < all.count && status == OK; begin += CHUNK) {
        size_t size = all.count - begin < CHUNK ? all.count - begin : CHUNK;
        struct zset_entries chunk = {all.list + begin, size};
        for (size_t i = 1; i < algebra->count && chunk.count != 0 && status == OK; i++)
            status = sift(call, algebra, &algebra->sources[i], &chunk);
        memmove(all.list + out->count, chunk.list, chunk.count * sizeof(*chunk.list));
        out->count += chunk.count;
        if (algebra->limit != 0 && out->count >= (uint64_t)algebra->limit)
            break;
    }
    return status;
}

/* Refuses a result that is certain to be too large for one commit, before it is worked out. */
static enum status check_stored_size(struct redis_call *call, const struct algebra *algebra) {
    uint64_t least = 0, others = 0;
    for (size_t i = 0; i < algebra->count && algebra->operation == UNION; i++)
        least = algebra->sources[i].size > least ? algebra->sources[i].size : least;
    for (size_t i = 1; i < algebra->count && algebra->operation == DIFFERENCE; i++)
        others += algebra->sources[i].size;
    if (algebra->operation == DIFFERENCE && algebra->sources[0].size > others)
        least = algebra->sources[0].size - others;
    return staging_wants(call, least) ? OK : zset_check_stored(call, least);
}

static enum status run_algebra(struct redis_call *call, struct algebra *algebra) {
    struct zset_entries found = {0};
    enum status status = read_algebra(call, algebra);
    if (status != OK)
        return status;
    if (algebra->store)
        status = check_stored_size(call, algebra);
    if (status != OK)
        return status;
    if (algebra->operation != DIFFERENCE)
        qsort(algebra->sources, algebra->count, sizeof(*algebra->sources), by_size);
    if (algebra->operation == UNION)
        status = unite(call, algebra, &found);
    else
        status = sift_first(call, algebra, &found);
    if (status != OK)
        return status;
    if (algebra->count_only) {
        uint64_t limit = algebra->limit == 0 ? UINT64_MAX : (uint64_t)algebra->limit;
        resp_int(&call->out, (int64_t)(found.count < limit ? found.count : limit));
        return OK;
    }
    zset_entries_sort(&found);
    if (algebra->store)
        return zset_store(call, call->args[1], &found);
    reply_entries(call, &found, algebra->scores);
    return OK;
}

/* ---- the commands ---- */

static enum status run_zunion(struct redis_call *call) {
    return run_algebra(call, &(struct algebra){.operation = UNION});
}

static enum status run_zinter(struct redis_call *call) {
    return run_algebra(call, &(struct algebra){.operation = INTERSECTION});
}

static enum status run_zdiff(struct redis_call *call) {
    return run_algebra(call, &(struct algebra){.operation = DIFFERENCE});
}

static enum status run_zunionstore(struct redis_call *call) {
    return run_algebra(call, &(struct algebra){.operation = UNION, .store = true});
}

static enum status run_zinterstore(struct redis_call *call) {
    return run_algebra(call, &(struct algebra){.operation = INTERSECTION, .store = true});
}

static enum status run_zdiffstore(struct redis_call *call) {
    return run_algebra(call, &(struct algebra){.operation = DIFFERENCE, .store = true});
}

static enum status run_zintercard(struct redis_call *call) {
    return run_algebra(call, &(struct algebra){.operation = INTERSECTION, .count_only = true});
}

enum {
    READS = COMMAND_READ | COMMAND_MOVABLE_KEYS,
    STORES = COMMAND_WRITE | COMMAND_DENYOOM | COMMAND_MOVABLE_KEYS,
};

const struct redis_command redis_algebra_commands[] = {
    {"zunion",
     -3,
     READS,
     TOUCHES_PARTITION,
     {0, 0, 0, 1},
     run_zunion,
     NULL,
     GROUP_SORTED_SET,
     "6.2.0",
     "What is in any of several sorted sets"},
    {"zinter",
     -3,
     READS,
     TOUCHES_PARTITION,
     {0, 0, 0, 1},
     run_zinter,
     NULL,
     GROUP_SORTED_SET,
     "6.2.0",
     "What is in all of several sorted sets"},
    {"zdiff",
     -3,
     READS,
     TOUCHES_PARTITION,
     {0, 0, 0, 1},
     run_zdiff,
     NULL,
     GROUP_SORTED_SET,
     "6.2.0",
     "What is in the first of several sorted sets only"},
    {"zunionstore",
     -4,
     STORES,
     TOUCHES_PARTITION,
     {1, 1, 1, 2},
     run_zunionstore,
     NULL,
     GROUP_SORTED_SET,
     "2.0.0",
     "Keeps what is in any of several sorted sets"},
    {"zinterstore",
     -4,
     STORES,
     TOUCHES_PARTITION,
     {1, 1, 1, 2},
     run_zinterstore,
     NULL,
     GROUP_SORTED_SET,
     "2.0.0",
     "Keeps what is in all of several sorted sets"},
    {"zdiffstore",
     -4,
     STORES,
     TOUCHES_PARTITION,
     {1, 1, 1, 2},
     run_zdiffstore,
     NULL,
     GROUP_SORTED_SET,
     "6.2.0",
     "Keeps what is in the first of several sorted sets only"},
    {"zintercard",
     -3,
     READS,
     TOUCHES_PARTITION,
     {0, 0, 0, 1},
     run_zintercard,
     NULL,
     GROUP_SORTED_SET,
     "7.0.0",
     "How much is in all of several sorted sets"},
    {0},
};

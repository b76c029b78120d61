/* Sorted sets as the table has them: queries of the index (standings_index.h); a set that is marked
 * empty has no entries whatever the index still shows. */
#include "api/redis/zset_txn_int.h"
#include "base/limits.h"
#include "table/ranking.h"

/* ---- places ---- */

struct bytes ranked_place(const struct ranked_entry *entry, struct arena *arena) {
    const struct bytes parts[] = {entry->points.score, entry->points.subscore, entry->tie,
                                  entry->key};
    size_t size = 0;
    for (int i = 0; i < 4; i++)
        size += parts[i].size;
    uint8_t *place = arena_alloc(arena, size), *to = place;
    for (int i = 0; i < 4; i++) {
        if (parts[i].size != 0)
            memcpy(to, parts[i].data, parts[i].size);
        to += parts[i].size;
    }
    return bytes_of(place, size);
}

bool edge_is_after(const struct rank_edge *edge, struct bytes place, struct arena *arena) {
    struct ranked_entry at = {edge->key, edge->points, edge->tie};
    struct bytes prefix = ranked_place(&at, arena);
    /* With a key the prefix is a whole place: a key is not prefix-free, so one that only begins
     * with it is another entry's. */
    bool inside = edge->key.size != 0 ? bytes_equal(place, prefix) : bytes_starts(place, prefix);
    return inside ? edge->after : bytes_compare(place, prefix) < 0;
}

/* ---- pages ---- */

static struct standings_query query_of(struct redis_call *call, const struct zset *zset) {
    return (struct standings_query){call->frontend->game, zset->board, call->arena, &call->failure};
}

enum status stored_count(struct redis_call *call, const struct zset *zset,
                         const struct rank_window *window, uint64_t *out) {
    struct standings_query query = query_of(call, zset);
    enum status status = call_spend(call, WORK_SET);
    *out = 0;
    return zset->empty || status != OK ? status : standings_index_count(&query, window, out);
}

enum {
    COUNTED_FROM = 64,    /* a window of fewer entries is not worth counting first */
    RANKED_SIZE = 512,    /* bytes that a listed entry takes while it is read, with its item; */
    ENTRY_SIZE = 128,     /* and if only member and score are kept; */
    LOOKED_UP_SIZE = 512, /* and a member that is looked up */
};

/* At most how many entries the window has; spends the work of listing them. */
static enum status window_count(struct redis_call *call, const struct zset *zset,
                                const struct rank_window *window, uint64_t *out) {
    struct rank_window all = {.low = window->low, .high = window->high};
    uint64_t limit = window->limit == 0 ? UINT64_MAX : window->limit;
    uint64_t skip = window->skip + window->skip_end;
    enum status status = OK;
    *out = limit;
    if (limit > COUNTED_FROM) {
        status = stored_count(call, zset, &all, out);
        *out = *out > skip ? *out - skip : 0;
        *out = *out < limit ? *out : limit;
    }
    return status == OK ? call_spend(call, WORK_SET + WORK_ENTRY * *out) : status;
}

enum status stored_list(struct redis_call *call, const struct zset *zset,
                        const struct rank_window *window, struct ranked_list *out) {
    struct standings_query query = query_of(call, zset);
    uint64_t count = 0;
    *out = (struct ranked_list){0};
    enum status status = zset->empty ? OK : window_count(call, zset, window, &count);
    if (status == OK)
        status = call_need(call, count * RANKED_SIZE);
    return count == 0 || status != OK ? status : standings_index_list(&query, window, out);
}

/* Entries while they are listed; the list has room for `room` of them. */
struct listing {
    struct redis_call *call;
    struct zset_entries *out;
    size_t room;
};

static void list_entry(void *user, const struct ranked_entry *entry) {
    struct listing *listing = user;
    struct arena *arena = listing->call->arena;
    struct bytes member = entry_member_of(entry->key, arena);
    bool borrowed =
        member.data >= entry->key.data && member.data <= entry->key.data + entry->key.size;
    if (listing->out->count == listing->room) /* it has grown since it was counted */
        return;
    listing->out->list[listing->out->count++] =
        (struct zset_entry){.member = borrowed ? arena_copy(arena, member) : member,
                            .score = ranked_score(entry),
                            .found = true};
}

enum status stored_entries(struct redis_call *call, const struct zset *zset,
                           const struct rank_window *window, struct zset_entries *out) {
    struct standings_query query = query_of(call, zset);
    uint64_t count = 0;
    *out = (struct zset_entries){0};
    enum status status = zset->empty ? OK : window_count(call, zset, window, &count);
    if (status == OK)
        status = call_need(call, count * ENTRY_SIZE);
    if (status != OK || count == 0)
        return status;
    struct listing listing = {call, out, (size_t)count};
    struct rank_window counted = *window;
    counted.limit = count;
    out->list = arena_alloc(call->arena, (size_t)count * sizeof(*out->list));
    return standings_index_each(&query, &counted, &(struct ranked_visitor){list_entry, &listing});
}

/* ---- members ---- */

/* Fills in the keys of the members that can be in the table, marks those as found, and returns how
 * many they are. */
static size_t keys_of_members(struct redis_call *call, const struct zset *zset,
                              const struct stored_lookup *lookup, struct item *keys) {
    struct failure failure; /* not told: a member that is too long is in no table */
    size_t asked = 0;
    for (size_t i = 0; i < lookup->count; i++) {
        struct stored_rank *at = &lookup->list[i];
        struct bytes key;
        at->found = !zset->empty &&
                    entry_key_of(at->member, (struct scope){call->arena, &failure}, &key) == OK;
        if (at->found)
            keys[asked++] = game_key(call->arena, zset->board->pk, key);
    }
    return asked;
}

static void take_counts(const struct rank_reply *reply, enum ranking ties, struct stored_rank *at) {
    at->before = ties == RANK_ORDINAL       ? reply->before
                 : ties == RANK_COMPETITION ? reply->group_before
                                            : reply->groups_before;
    at->after = ties == RANK_ORDINAL       ? reply->after
                : ties == RANK_COMPETITION ? reply->group_after
                                           : reply->groups_after;
}

static enum status lookup_slice(struct redis_call *call, const struct zset *zset,
                                const struct stored_lookup *lookup) {
    struct standings_query query = query_of(call, zset);
    struct item *keys = arena_alloc(call->arena, lookup->count * sizeof(*keys));
    struct rank_reply *reply = arena_alloc(call->arena, lookup->count * sizeof(*reply));
    struct rank_question question = {.keys = keys,
                                     .entries_only = lookup->entries_only,
                                     .ties = lookup->ties,
                                     .nonblocking =
                                         call->budget != NULL && call->budget->work_max != 0};
    question.count = keys_of_members(call, zset, lookup, keys);
    enum status status = question.count == 0 ? OK : standings_index_ranks(&query, &question, reply);
    if (status == WOULD_BLOCK)
        return call_spend_all(call);
    for (size_t i = 0; i < lookup->count && status == OK; i++) {
        struct stored_rank *at = &lookup->list[i];
        if (!at->found)
            continue;
        at->found = reply->found;
        take_counts(reply, lookup->ties, at);
        if (reply->found)
            at->entry = ranked_entry_of(&reply->entry);
        reply++;
    }
    return status;
}

/* Very many are looked up a slice at a time, so that nobody waits for the lock that guards the
 * index for as long as all of them take. */
enum status stored_ranks(struct redis_call *call, const struct zset *zset,
                         const struct stored_lookup *lookup) {
    enum status status = call_spend(call, WORK_MEMBER * lookup->count);
    for (size_t at = 0; at < lookup->count && status == OK; at += LIMIT_LOOKED_UP) {
        size_t left = lookup->count - at;
        struct stored_lookup slice = *lookup;
        slice.list += at;
        slice.count = left < LIMIT_LOOKED_UP ? left : LIMIT_LOOKED_UP;
        status = call_need(call, slice.count * LOOKED_UP_SIZE);
        if (status == OK)
            status = lookup_slice(call, zset, &slice);
    }
    return status;
}

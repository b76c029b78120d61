/* The sorted-set transaction of a call: opens sets, reads them, and keeps its writes. */
#include "api/redis/key_txn_int.h"

#include "api/redis/set_staging.h"
#include "base/clock.h"
#include "base/limits.h"
#include "game/board/board_generation.h"
#include "game/board/entry_rules.h"
#include "game/record.h"
#include "table/engine.h"
#include "table/inprocess.h"

enum { MANY_SETS = 16 }; /* from this number on open sets are found by a map */

struct zset_txn *zset_txn_of(struct redis_call *call) {
    if (call->txn == NULL) {
        call->txn = ARENA_NEW(call->arena, struct zset_txn);
        call->txn->arena = call->arena;
    }
    return call->txn;
}

static int64_t now_of(struct zset_txn *txn) {
    if (txn->now_ms == 0)
        txn->now_ms = clock_now_ms();
    return txn->now_ms;
}

int64_t zset_txn_now(struct redis_call *call) {
    return now_of(zset_txn_of(call));
}

static void release_set(struct zset *zset) {
    board_drop(zset->board);
    board_drop(zset->borrowed);
    map_release(&zset->by_member);
}

void zset_txn_forget_read(struct zset_txn *txn) {
    struct zset **to = &txn->sets;
    for (struct zset *zset = txn->sets; zset != NULL; zset = zset->next)
        if (zset_is_written(zset)) {
            *to = zset;
            to = &zset->next;
        } else {
            release_set(zset);
            txn->count--;
        }
    *to = NULL;
    map_release(&txn->by_key);
    txn->by_key = (struct map){0};
    key_txn_forget_read(txn);
}

void zset_txn_release(struct zset_txn *txn) {
    for (struct zset *zset = txn->sets; zset != NULL; zset = zset->next)
        release_set(zset);
    txn->sets = NULL;
    txn->count = 0;
    map_release(&txn->by_key);
    txn->by_key = (struct map){0};
    key_txn_release(txn);
}

/* ---- opening ---- */

const struct board *zset_board(const struct zset *zset) {
    return zset->board;
}

static struct zset *find_set(struct zset_txn *txn, struct bytes key) {
    if (txn->count >= MANY_SETS && txn->by_key.count == 0)
        for (struct zset *zset = txn->sets; zset != NULL; zset = zset->next)
            map_put(&txn->by_key, zset->key, zset);
    if (txn->by_key.count != 0)
        return map_get(&txn->by_key, key);
    for (struct zset *zset = txn->sets; zset != NULL; zset = zset->next)
        if (bytes_equal(zset->key, key))
            return zset;
    return NULL;
}

/* A key that has lost its last member is gone, and its time to live with it. */
static enum status clear_expiry_if_empty(struct redis_call *call, struct zset *zset) {
    uint64_t size = 1;
    enum status status = OK;
    if (zset->expires ? zset->expires_ms != 0 : zset->board->expires_ms != 0)
        status = zset_size(call, zset, &size);
    if (size == 0) {
        zset->expires = true;
        zset->expires_ms = 0;
    }
    return status;
}

struct partition_seen zset_txn_see(struct redis_call *call, struct bytes pk) {
    const struct game *game = call->frontend->game;
    struct value key = value_string(pk);
    struct partition_seen seen = {0};
    seen.version = engine_partition_version_slot(game->engine, game->table, &key, &seen.slot);
    return seen;
}

static void see_set(struct redis_call *call, const struct zset *zset, struct seen_versions *seen) {
    struct partition_seen of_board[BOARD_VERSIONS];
    size_t count = board_versions(zset->board, of_board);
    for (size_t i = 0; i < count; i++)
        seen_add(seen, of_board[i], call->arena);
    seen_add(seen, zset->seen, call->arena);
    seen_ends(seen, zset->empty ? 0 : zset->board->expires_ms);
}

void zset_txn_seen(struct redis_call *call, bool strict, struct seen_versions *seen) {
    for (const struct zset *zset = call->txn->sets; zset != NULL; zset = zset->next)
        if (strict || zset->watched || zset_is_written(zset))
            see_set(call, zset, seen);
    key_txn_seen(call, strict, seen);
}

enum status zset_open(struct redis_call *call, struct bytes key, struct zset **out) {
    struct bytes name = key_board_name(call->db, key, call->arena);
    enum status status = zset_open_board(call, name, out);
    if (status == OK && ((*out)->board->keyed || call->txn->keys != NULL))
        status = key_check_zset(call, key);
    return status;
}

enum status zset_open_board(struct redis_call *call, struct bytes key, struct zset **out) {
    struct zset_txn *txn = zset_txn_of(call);
    *out = find_set(txn, key);
    if (*out != NULL)
        return OK;
    const struct board *board;
    enum status status = call_spend(call, WORK_SET);
    if (status == OK)
        status = board_find(call->frontend->game, key, (struct scope){call->arena, &call->failure},
                            &board);
    if (status != OK)
        return status;
    struct zset *zset = ARENA_NEW(txn->arena, struct zset);
    zset->key = txn->arena == call->arena ? key : arena_copy(txn->arena, key);
    zset->board = board;
    if (call->budget != NULL && call->budget->ahead)
        zset->seen = zset_txn_see(call, board->pk);
    /* Entries may be there without the board's item (a DynamoDB client's): they are members too. */
    zset->empty = board->exists && board_is_gone(board, board->expires_ms != 0 ? now_of(txn) : 0);
    zset->next = txn->sets;
    txn->sets = zset;
    txn->count++;
    if (txn->by_key.count != 0)
        map_put(&txn->by_key, zset->key, zset);
    *out = zset;
    return board->expires_ms != 0 && !zset->empty ? clear_expiry_if_empty(call, zset) : OK;
}

/* ---- reading members ---- */

struct zset_write *zset_find_write(const struct zset *zset, struct bytes member) {
    return zset->count == 0 ? NULL : map_get(&zset->by_member, member);
}

enum status zset_size(struct redis_call *call, struct zset *zset, uint64_t *out) {
    if (zset_has_writes(zset))
        return merged_size(call, zset, out);
    return stored_count(call, zset, &(struct rank_window){0}, out);
}

static enum status stored_scores(struct redis_call *call, struct zset *zset,
                                 struct zset_entry *entries, size_t count) {
    struct stored_rank *at = arena_alloc(call->arena, count * sizeof(*at));
    struct stored_lookup lookup = {.list = at, .count = count, .entries_only = true};
    for (size_t i = 0; i < count; i++)
        at[i].member = entries[i].member;
    enum status status = stored_ranks(call, zset, &lookup);
    for (size_t i = 0; i < count && status == OK; i++) {
        entries[i].found = at[i].found;
        entries[i].score = at[i].found ? ranked_score(&at[i].entry) : 0;
    }
    return status;
}

enum status zset_scores(struct redis_call *call, struct zset *zset, struct zset_entry *entries,
                        size_t count) {
    enum status status = stored_scores(call, zset, entries, count);
    for (size_t i = 0; i < count && status == OK && zset_has_writes(zset); i++) {
        const struct zset_write *written = zset_find_write(zset, entries[i].member);
        if (written != NULL) {
            entries[i].found = written->has;
            entries[i].score = written->score;
        }
    }
    return status;
}

/* What ranks are corrected by: the size of the set with the call's writes, and for dense ranks all
 * its entries. */
struct merged_ranks {
    struct zset *zset;
    const struct zset_ranks *asked;
    uint64_t size;
    struct ranked_list all;
};

/* The number of scores before (`reverse`: after) the entry's own. */
static uint64_t count_scores(const struct merged_ranks *merged, const struct ranked_entry *entry) {
    const struct ranked_list *all = &merged->all;
    uint64_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        int order = points_compare(&all->list[i].points, &entry->points);
        bool counts = merged->asked->reverse ? order > 0 : order < 0;
        count += counts &&
                 (i == 0 || points_compare(&all->list[i].points, &all->list[i - 1].points) != 0);
    }
    return count;
}

/* Corrects what the table has of a member by what the call has written: to the member itself, or to
 * others that stand before it. */
static enum status correct_rank(struct redis_call *call, const struct merged_ranks *merged,
                                const struct stored_rank *at, struct zset_rank *out) {
    struct zset *zset = merged->zset;
    const struct zset_write *written = zset_find_write(zset, out->member);
    bool reverse = merged->asked->reverse, shared = merged->asked->ties == RANK_COMPETITION;
    if (written != NULL) {
        out->found = written->has;
        out->score = written->score;
    }
    if (!out->found)
        return OK;
    struct ranked_entry entry = written != NULL ? ranked_of_write(written) : at->entry;
    if (merged->asked->ties == RANK_DENSE) {
        out->rank = count_scores(merged, &entry);
        return OK;
    }
    struct rank_edge edge = {.points = entry.points, .after = reverse && shared};
    if (!shared) {
        edge.tie = entry.tie;
        edge.key = entry.key;
    }
    enum status status = merged_before(call, zset, &edge, &out->rank);
    if (reverse)
        out->rank = merged->size - (shared ? 0 : 1) - out->rank;
    return status;
}

static enum status correct_ranks(struct redis_call *call, struct zset *zset,
                                 const struct stored_rank *at, const struct zset_ranks *ranks) {
    struct merged_ranks merged = {.zset = zset, .asked = ranks};
    enum status status = merged_size(call, zset, &merged.size);
    if (status == OK && ranks->ties == RANK_DENSE && merged.size != 0)
        status = merged_list(call, zset, (struct rank_span){0, merged.size - 1}, &merged.all);
    if (status == OK)
        status = call_spend(call, merged.all.count * ranks->count / 16);
    for (size_t i = 0; i < ranks->count && status == OK; i++)
        status = correct_rank(call, &merged, &at[i], &ranks->list[i]);
    return status;
}

enum status zset_ranks(struct redis_call *call, struct zset *zset, const struct zset_ranks *ranks) {
    struct stored_rank *at = arena_alloc(call->arena, ranks->count * sizeof(*at));
    struct stored_lookup lookup = {.list = at, .count = ranks->count, .ties = ranks->ties};
    for (size_t i = 0; i < ranks->count; i++)
        at[i].member = ranks->list[i].member;
    enum status status = stored_ranks(call, zset, &lookup);
    for (size_t i = 0; i < ranks->count && status == OK; i++) {
        struct zset_rank *rank = &ranks->list[i];
        rank->found = at[i].found;
        if (!rank->found)
            continue;
        rank->rank = ranks->reverse ? at[i].after : at[i].before;
        rank->score = ranked_score(&at[i].entry);
    }
    if (status == OK && zset_has_writes(zset))
        status = correct_ranks(call, zset, at, ranks);
    return status;
}

/* ---- writing ---- */

static void set_has(struct zset *zset, struct zset_write *written, bool has) {
    zset->size_delta += (int64_t)has - (int64_t)written->has;
    written->has = has;
}

/* Notes the member `at` as one that the call writes to; `key` is its sort key. */
static struct zset_write *add_write(struct redis_call *call, struct zset *zset, struct bytes key,
                                    const struct stored_rank *at) {
    if (zset->count == zset->room) {
        size_t room = zset->room == 0 ? 8 : zset->room * 2;
        zset->written = arena_grow(call->arena, zset->written, zset->room * sizeof(*zset->written),
                                   room * sizeof(*zset->written));
        zset->room = room;
    }
    struct zset_write *written = ARENA_NEW(call->arena, struct zset_write);
    written->member = arena_copy(call->arena, at->member);
    written->key = arena_copy(call->arena, key);
    if (at->found) {
        written->had = written->has = true;
        written->points = at->entry.points;
        written->tie = at->entry.tie;
        written->old = written->place = ranked_place(&at->entry, call->arena);
        written->score = ranked_score(&at->entry);
    }
    zset->written[zset->count++] = written;
    map_put(&zset->by_member, written->member, written);
    return written;
}

/* The set goes with all that the table has of it: by another generation, or, where it can have
 * none, by a mark that makes it read as empty. */
static void mark_dropped(struct redis_call *call, struct zset *zset) {
    struct zset_txn *txn = call->txn;
    zset->dropped = zset->empty = true;
    zset->listed_later = false;
    if (board_can_switch(call->frontend->game, zset->board)) {
        zset->fresh = key_generation_new(txn->arena);
        zset->fresh_pk = board_partition(zset->board->key, zset->fresh, txn->arena);
        zset->expires = true;
        zset->expires_ms = 0;
    }
    zset->count = 0;
    zset->size_delta = 0;
    map_release(&zset->by_member);
    zset->by_member = (struct map){0};
}

/* How many members one commit may remove, each with its parts of boards made of this one. A board
 * that can have another generation gets one where removing them would hold the writer for long. */
static size_t cleared_at_once(const struct redis_call *call, const struct zset *zset) {
    size_t most = engine_actions_max(call->frontend->game->engine) / 4;
    size_t bound = board_can_switch(call->frontend->game, zset->board) ? 4 * LIMIT_STORED_AT_ONCE
                                                                       : LIMIT_CLEARED_AT_ONCE;
    return most < bound ? most : bound;
}

/* Removes all entries that the table has. */
static enum status remove_all_stored(struct redis_call *call, struct zset *zset) {
    struct ranked_list stored = {0};
    uint64_t size;
    enum status status = stored_count(call, zset, &(struct rank_window){0}, &size);
    zset->had_entries = zset->had_entries || (status == OK && size != 0);
    if (status == OK && size > cleared_at_once(call, zset) &&
        (zset->board->exists || board_can_switch(call->frontend->game, zset->board))) {
        mark_dropped(call, zset);
        return OK;
    }
    if (status == OK)
        status = stored_list(call, zset, &(struct rank_window){0}, &stored);
    for (size_t i = 0; status == OK && i < stored.count; i++) {
        const struct ranked_entry *entry = &stored.list[i];
        struct stored_rank at = {entry_member_of(entry->key, call->arena), true, *entry, 0, 0};
        if (zset_find_write(zset, at.member) == NULL)
            add_write(call, zset, entry->key, &at);
    }
    for (size_t i = 0; i < zset->count; i++)
        set_has(zset, zset->written[i], false);
    return status;
}

enum status zset_check_writable(struct redis_call *call, struct zset *zset) {
    const struct board *board = zset->board;
    if (zset->fresh.size != 0)
        return OK;
    if (zset->dropped)
        return call_error(call,
                          "ERR a sorted set of more than %zu members cannot be replaced in "
                          "one step: delete it first",
                          cleared_at_once(call, zset));
    enum status status =
        board_check_open(board, now_of(call->txn), (struct scope){call->arena, &call->failure});
    if (status != BUSY || !zset->empty)
        return status == BUSY ? OK : status;
    uint64_t left = 0;
    zset->empty = false; /* it has expired: what the table still has is removed now */
    if (!board->clearing) {
        status = stored_count(call, zset, &(struct rank_window){0}, &left);
        if (status != OK)
            return status;
        zset->had_entries = left != 0;
    }
    if (left > cleared_at_once(call, zset) && board_can_switch(call->frontend->game, board)) {
        call->failure = (struct failure){0};
        mark_dropped(call, zset);
        return OK;
    }
    if (board->clearing || left > cleared_at_once(call, zset)) {
        zset->empty = true; /* housekeeping or lazyfree empties it: the call is tried again soon */
        call->txn->busy = true;
        return BUSY;
    }
    call->failure = (struct failure){0};
    zset->expires = true;
    zset->expires_ms = 0;
    return remove_all_stored(call, zset);
}

/* The write to the member, a new one that has it as the table does if there is none yet. */
static enum status open_write(struct redis_call *call, struct zset *zset, struct bytes member,
                              struct zset_write **out) {
    struct stored_rank at = {.member = member};
    struct stored_lookup lookup = {.list = &at, .count = 1, .entries_only = true};
    struct bytes key;
    enum status status = zset_check_writable(call, zset);
    if (status != OK)
        return status;
    *out = zset_find_write(zset, member);
    if (*out != NULL)
        return OK;
    status = entry_key_of(member, (struct scope){call->arena, &call->failure}, &key);
    if (status == OK)
        status = stored_ranks(call, zset, &lookup);
    if (status == OK)
        *out = add_write(call, zset, key, &at);
    return status;
}

/* Takes over what was decided: the call reads the member so from now on. */
static void take_decision(struct redis_call *call, struct zset *zset, struct zset_write *written,
                          const struct entry_write *write) {
    set_has(zset, written, true);
    written->points = write->after;
    written->tie = write->tie;
    written->score = points_to_double(&write->after);
    struct ranked_entry entry = ranked_of_write(written);
    written->place = ranked_place(&entry, call->arena);
}

/* A score outside of the board's limits: the whole change will be refused. */
static void note_refusal(struct redis_call *call, const struct board *board) {
    failure_set(&call->txn->refusal, call->arena, INVALID, OUT_OF_RANGE_TEXT,
                BYTES_ARG(board->instance));
}

enum status zset_update(struct redis_call *call, struct zset *zset, struct bytes member,
                        struct entry_write *write) {
    struct zset_write *written;
    enum status status = open_write(call, zset, member, &written);
    if (status != OK)
        return status;
    write->board = zset->board;
    write->now_ms = call->txn->now_ms;
    write->had_old = written->has;
    write->before = written->points;
    write->tie_before = written->tie;
    entry_decide_by_flags(write, call->arena);
    if (write->outcome == ENTRY_OUT_OF_RANGE)
        note_refusal(call, zset->board);
    if (write->outcome == ENTRY_ADDED || write->outcome == ENTRY_CHANGED)
        take_decision(call, zset, written, write);
    return OK;
}

enum status zset_put(struct redis_call *call, struct zset *zset, struct bytes member,
                     double score) {
    struct entry_write write = {.points = points_of_double(call->arena, score)};
    return zset_update(call, zset, member, &write);
}

enum status zset_remove(struct redis_call *call, struct zset *zset, struct bytes member) {
    struct zset_write *written;
    enum status status = open_write(call, zset, member, &written);
    if (status != OK)
        return status;
    set_has(zset, written, false);
    written->sets_end = written->had; /* if it is added again it has no end */
    written->end_s = 0;
    return clear_expiry_if_empty(call, zset);
}

enum status zset_end(struct redis_call *call, struct zset *zset, struct zset_entry *entry,
                     int64_t *out_s) {
    const struct zset_write *written = zset_find_write(zset, entry->member);
    struct game *game = call->frontend->game;
    struct scope in = {call->arena, &call->failure};
    struct get_reply reply = {0};
    struct bytes key;
    enum status status = zset_scores(call, zset, entry, 1);
    *out_s = written != NULL && written->sets_end ? written->end_s : 0;
    if (status != OK || !entry->found || (written != NULL && (written->sets_end || !written->had)))
        return status;
    status = entry_key_of(entry->member, in, &key);
    struct get_request request = {.table = game->table,
                                  .key = game_key(call->arena, zset->board->pk, key),
                                  .consistent = true};
    if (status == OK)
        status = engine_get(game->engine, &request, in, &reply);
    if (status == OK && reply.found)
        *out_s = item_int(&reply.item, ENTRY_TTL);
    return status;
}

enum status zset_set_end(struct redis_call *call, struct zset *zset, struct bytes member,
                         int64_t end_s) {
    struct zset_write *written;
    enum status status = open_write(call, zset, member, &written);
    if (status != OK)
        return status;
    written->sets_end = true;
    written->end_s = end_s;
    return OK;
}

enum status zset_clear(struct redis_call *call, struct zset *zset) {
    enum status status = zset_check_writable(call, zset);
    zset->cleared = true;
    if (status == OK)
        status = remove_all_stored(call, zset);
    if (status == OK && (!zset->dropped || zset->fresh.size != 0) &&
        (zset->expires || zset->board->expires_ms != 0))
        status = zset_expire(call, zset, 0);
    return status;
}

enum status zset_fill(struct redis_call *call, struct zset *zset,
                      const struct zset_entries *entries) {
    enum status status = zset_check_writable(call, zset);
    if (status != OK)
        return status;
    if (staging_wants(call, entries->count) &&
        board_can_switch(call->frontend->game, zset->board)) {
        status = staging_check_ahead(call);
        if (status != OK)
            return status;
        mark_dropped(call, zset);
        zset->listed_later = staging_is_later(call);
        zset->listed = zset->listed_later ? NULL : entries;
        if (zset->listed != NULL)
            return OK;
    } else
        status = zset_check_stored(call, entries->count);
    for (size_t i = 0; i < entries->count && status == OK; i++)
        status = zset_put(call, zset, entries->list[i].member, entries->list[i].score);
    return status;
}

enum status zset_expires(struct redis_call *call, struct zset *zset, int64_t *out_ms) {
    (void)call;
    *out_ms = zset->expires ? zset->expires_ms : zset->empty ? 0 : zset->board->expires_ms;
    return OK;
}

enum status zset_expire(struct redis_call *call, struct zset *zset, int64_t at_ms) {
    enum status status = zset_check_writable(call, zset);
    zset->expires = true;
    zset->expires_ms = at_ms;
    return status;
}

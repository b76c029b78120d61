/* A commit group: all the changes of one commit. Filled on the writer's thread.
 *
 * Each change is evaluated against the store and an overlay of the pending writes of the group, and
 * of the group below it, as if the changes before it were already committed. Nothing in memory
 * changes until the store has the whole group; so when the store refuses it, there is nothing to
 * undo, and since any change may have seen what another one did, all of them fail together. */
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/mem.h"
#include "table/hot_keys.h"
#include "table/local/load_filter.h"

#include <assert.h>

enum {
    AHEAD = 8, /* how many actions ahead are prefetched */
    OVERLAY_ROOM_MIN = 128,
    ARENA_USES = 64,                 /* groups after which memory goes that none of them needed */
    BULK = LIMIT_TRANSACT_ITEMS + 1, /* actions of a change that is a load rather than a request */
};

/* --- the overlay --- */

static size_t overlay_slot(const struct overlay *overlay, uint64_t hash, struct bytes key) {
    size_t mask = overlay->room - 1, at = hash & mask;
    for (const struct pending_write *pending; (pending = overlay->slots[at]) != NULL;
         at = (at + 1) & mask)
        if (pending->hash == hash && bytes_equal(pending->key, key))
            break;
    return at;
}

static void overlay_grow(struct overlay *overlay) {
    struct pending_write **old = overlay->slots;
    size_t old_room = overlay->room;
    overlay->room = old_room == 0 ? OVERLAY_ROOM_MIN : old_room * 2;
    overlay->slots = mem_zalloc(overlay->room * sizeof(struct pending_write *));
    for (size_t i = 0; i < old_room; i++)
        if (old[i] != NULL)
            overlay->slots[overlay_slot(overlay, old[i]->hash, old[i]->key)] = old[i];
    mem_free(old);
}

/* NULL if there is none. */
static struct pending_write *overlay_get(const struct overlay *overlay, uint64_t hash,
                                         struct bytes key) {
    return overlay->count == 0 ? NULL : overlay->slots[overlay_slot(overlay, hash, key)];
}

static void overlay_prefetch(const struct overlay *overlay, uint64_t hash) {
    if (overlay->room != 0)
        __builtin_prefetch(&overlay->slots[hash & (overlay->room - 1)], 1);
}

/* Adds one whose key is not there. */
static void overlay_add(struct overlay *overlay, struct pending_write *pending) {
    if (overlay->count * 2 >= overlay->room)
        overlay_grow(overlay);
    overlay->slots[overlay_slot(overlay, pending->hash, pending->key)] = pending;
    overlay->count++;
}

static void overlay_release(struct overlay *overlay) {
    mem_free(overlay->slots);
    *overlay = (struct overlay){0};
}

/* The next group is probably as large as this one was: the room is kept for it, unless it is far
 * too much. */
static void overlay_clear(struct overlay *overlay) {
    if (overlay->room > OVERLAY_ROOM_MIN && overlay->count < overlay->room / 16)
        overlay_release(overlay);
    else if (overlay->count != 0)
        memset(overlay->slots, 0, overlay->room * sizeof(struct pending_write *));
    overlay->count = 0;
}

/* --- the group --- */

static void reset(struct commit_group *group) {
    group->pending_writes = NULL;
    group->pending_writes_end = &group->pending_writes;
    group->edits = NULL;
    group->edits_end = &group->edits;
    group->edit_count = 0;
    group->asks = NULL;
    group->asks_end = &group->asks;
    group->ask_count = 0;
    group->tallies = NULL;
    group->tokens = NULL;
    group->tokens_end = &group->tokens;
    group->tokens_seen = (struct map){0};
    group->bundles = NULL;
    group->bundles_end = &group->bundles;
    group->record_count = 0;
    group->writes = 0;
    group->yielded = 0;
    group->large = 0;
    group->size = 0;
    group->failure = (struct failure){0};
}

void commit_group_init(struct commit_group *group, struct local *local, unsigned number) {
    *group = (struct commit_group){.local = local, .number = number};
    group->changes_end = &group->changes;
    reset(group);
}

/* Large groups and small ones take turns: memory goes when none of many needed it. */
static void recycle_memory(struct commit_group *group) {
    bool due = ++group->arena_uses == ARENA_USES;
    if (group->arena.used > group->arena_most)
        group->arena_most = group->arena.used;
    arena_rewind(&group->arena, due ? group->arena_most : SIZE_MAX);
    if (!due)
        return;
    group->arena_uses = 0;
    group->arena_most = 0;
}

void commit_group_clear(struct commit_group *group) {
    for (struct tally *tally = group->tallies; tally != NULL; tally = tally->next)
        tally->table->tally[group->number] = NULL;
    stream_close_bundles(group);
    overlay_clear(&group->overlay);
    map_release(&group->tokens_seen);
    recycle_memory(group);
    reset(group);
}

void commit_group_release(struct commit_group *group) {
    commit_group_clear(group);
    overlay_release(&group->overlay);
    arena_release(&group->arena);
    store_batch_free(group->batch);
    buf_release(&group->before);
    buf_release(&group->after);
}

/* The last pending write of the item, of this group or of the one below; NULL if there is none. */
static const struct pending_write *find_pending(const struct commit_group *group,
                                                const struct action_state *state) {
    const struct pending_write *pending = overlay_get(&group->overlay, state->hash, state->key);
    if (pending == NULL && group->below != NULL)
        pending = overlay_get(&group->below->overlay, state->hash, state->key);
    return pending;
}

/* Reads what is committed: from the covering index, the cache or the store. */
static enum status read_committed(struct commit_group *group, struct action_state *state,
                                  struct arena *arena, struct bytes *out) {
    if (state->looked_at != group->local->writer->fills)
        action_look_ahead(group->local, &(struct covering_batch){{state}, {arena}, 1});
    if (state->entry.size != 0)
        return OK;
    return local_read_now(group->local, (struct hashed_key){state->key, state->hash}, arena, out);
}

/* Whether a filter says that there is no such item. */
static bool is_excluded(struct commit_group *group, const struct action_state *state) {
    return partition_filter_excludes(&state->table->partition_filter, state->key) ||
           load_filter_excludes(group->local->writer->load_filter, state->key, state->hash);
}

/* Of an item that the cache has, if any memory does: filters and indexes are not asked. False if it
 * has it not, and nothing is pending. */
static bool find_uncovered(struct commit_group *group, struct action_state *state,
                           struct arena *arena, struct bytes *out) {
    const struct pending_write *pending = find_pending(group, state);
    state->index = covering_index(state->table);
    state->entry = (struct bytes){0};
    if (pending == NULL)
        *out = cache_get(group->local->cache, (struct hashed_key){state->key, state->hash},
                         UINT64_MAX, arena);
    else if (pending->value.data != NULL)
        *out = arena_copy(arena, pending->value);
    return pending != NULL || out->data != NULL;
}

enum status commit_group_read(struct commit_group *group, struct action_state *state,
                              struct arena *arena, struct bytes *out) {
    *out = (struct bytes){0};
    if (state->uncovered && find_uncovered(group, state, arena, out))
        return out->data == NULL ? NOT_FOUND : OK;
    bool excluded = state->absent || is_excluded(group, state);
    const struct pending_write *pending = excluded ? NULL : find_pending(group, state);
    if (!excluded && pending == NULL)
        return read_committed(group, state, arena, out);
    state->index = covering_index(state->table);
    state->entry = (struct bytes){0}; /* if it was looked up ahead, it is not so any more */
    if (excluded || pending->value.data == NULL)
        return NOT_FOUND;
    *out = arena_copy(arena, pending->value);
    return OK;
}

/* --- taking up what was decided --- */

/* What is kept of it is the group's: the change may be done before the group is forgotten. */
static void set_pending(struct commit_group *group, const struct action *action, bool bulk) {
    const struct action_state *state = action->engine_data;
    struct pending_write *pending = overlay_get(&group->overlay, state->hash, state->key);
    if (pending == NULL) {
        pending = ARENA_NEW(&group->arena, struct pending_write);
        pending->key = arena_copy(&group->arena, state->key);
        pending->hash = state->hash;
        pending->keeps_version = action->keeps_version;
        *group->pending_writes_end = pending;
        group->pending_writes_end = &pending->next;
        overlay_add(&group->overlay, pending);
    }
    load_filter_add(group->local->writer->load_filter, pending->key, pending->hash);
    if (!action->had_old)
        partition_filter_add(&state->table->partition_filter, partition_hash(pending->key));
    pending->value = state->stays ? state->value : (struct bytes){0};
    pending->bulk = bulk;
    pending->covered = state->stays && state->covered;
    pending->keeps_version &= action->keeps_version;
    if (action->kind == ACTION_PUT)
        pending->value = arena_copy(&group->arena, state->value);
    large_items_note(&group->local->large_items, state->hash,
                     state->stays ? pending->value.size : 0);
    group->size += pending->key.size + pending->value.size;
}

static struct tally *tally_of(struct commit_group *group, struct table *table) {
    struct tally **of = &table->tally[group->number];
    if (*of == NULL) {
        struct tally *tally = ARENA_NEW(&group->arena, struct tally);
        tally->table = table;
        tally->next = group->tallies;
        group->tallies = *of = tally;
    }
    return *of;
}

static void apply_changed(struct commit_group *group, const struct action *action, bool bulk) {
    struct action_state *state = action->engine_data;
    set_pending(group, action, bulk);
    struct tally *tally = tally_of(group, state->table);
    tally->count += (int64_t)state->stays - (int64_t)action->had_old;
    tally->size += (int64_t)state->new_size - (int64_t)state->old_size;
    *group->edits_end = state->edits;
    for (; *group->edits_end != NULL; group->edit_count++)
        group->edits_end = &(*group->edits_end)->next;
    stream_add(group, action);
    group->writes++;
}

static void apply_action(struct commit_group *group, const struct action *action, bool bulk) {
    const struct action_state *state = action->engine_data;
    struct rank_ask *ask = action->ranks != NULL ? rank_ask_add(group, action) : NULL;
    if (state->changes)
        apply_changed(group, action, bulk);
    if (ask != NULL)
        ask->end_edit = group->edit_count;
}

static void apply_actions(struct commit_group *group, const struct change *change) {
    bool bulk = change->action_count >= BULK;
    for (size_t i = 0; i < change->action_count; i++) {
        if (i + AHEAD < change->action_count) {
            const struct action_state *ahead = change->actions[i + AHEAD].engine_data;
            overlay_prefetch(&group->overlay, ahead->hash);
            load_filter_prefetch(group->local->writer->load_filter, ahead->hash);
        }
        if (!change->apart || change->actions[i].failure.status == OK)
            apply_action(group, &change->actions[i], bulk);
    }
}

/* Whether the fault says something about the request, not about the engine's state. */
static bool is_requests_fault(const struct action *action) {
    const struct action_state *state = action->engine_data;
    enum status status = action->failure.status;
    return status == CONDITION_FAILED || status == INVALID || status == COLLECTION_FULL ||
           state->refused;
}

static void fail_change(struct change *change) {
    const struct action *first = NULL;
    for (size_t i = change->action_count; i-- > 0;) {
        const struct action *action = &change->actions[i];
        if (action->failure.status == OK)
            continue;
        if (first == NULL || !is_requests_fault(action) || is_requests_fault(first))
            first = action;
    }
    assert(first != NULL); /* a change fails by one of its actions */
    if (change->all_or_nothing && is_requests_fault(first))
        failure_set(&change->failure, change->arena, CANCELLED, "The transaction was cancelled");
    else
        change->failure = first->failure;
}

/* --- tokens --- */

static struct bytes token_name(const struct token *token) {
    return bytes_of(token->name, sizeof(token->name));
}

/* The token of an earlier change that is the same, of this group or of any before; or NULL. */
static const struct token *find_token(struct commit_group *group, const struct token *like) {
    const struct token_note *note = map_get(&group->tokens_seen, token_name(like));
    if (note == NULL && group->below != NULL)
        note = map_get(&group->below->tokens_seen, token_name(like));
    return note != NULL ? &note->token : tokens_find(group->local->tokens, like, like->at_ms);
}

static void note_token(struct commit_group *group, const struct token *token) {
    struct token_note *note = ARENA_NEW(&group->arena, struct token_note);
    note->token = *token;
    *group->tokens_end = note;
    group->tokens_end = &note->next;
    map_put(&group->tokens_seen, token_name(&note->token), note);
}

/* Whether the change was done before: then it is `repeated`, or wrong. */
static bool is_repeat(struct commit_group *group, struct change *change,
                      const struct token *token) {
    const struct token *before = find_token(group, token);
    if (before == NULL)
        return false;
    if (memcmp(before->digest, token->digest, sizeof(token->digest)) != 0) {
        failure_set(&change->failure, change->arena, REPEAT_MISMATCH,
                    "The token was used before, with a different request");
        return true;
    }
    change->repeated = true;
    for (size_t i = 0; i < change->action_count; i++)
        action_read_again(group, change, &change->actions[i]);
    return true;
}

/* Has the change make its actions, of the state that all before it left. */
static enum status run_prepare(struct commit_group *group, struct change *change) {
    enum status status = change->prepare(change);
    if (status == OK)
        status = change_check_count(change);
    if (status == OK)
        return change_admit(group->local, change);
    change->action_count = 0; /* whatever there is was never prepared */
    if (change->failure.status == OK)
        failure_set(&change->failure, change->arena, status, "The change cannot be made");
    return status;
}

/* Prefetches what the filters are asked about the actions that will be looked up ahead after those
 * from `at` on. */
static void prefetch_filters(struct local *local, const struct change *change, size_t at) {
    for (size_t i = at == 0 ? 0 : at + COVERING_MANY;
         i < change->action_count && i < at + 2 * COVERING_MANY; i++)
        action_prefetch(local, &change->actions[i]);
}

/* Looks up ahead what the next actions will read. What a filter excludes stays absent until the
 * change's own actions are applied, which is after all of them were evaluated. */
static void look_ahead(struct commit_group *group, const struct change *change, size_t from) {
    struct covering_batch batch = {.count = 0};
    for (size_t i = from; i < change->action_count && i < from + COVERING_MANY; i++) {
        struct action_state *state = change->actions[i].engine_data;
        state->absent = !state->uncovered && is_excluded(group, state);
        if (state->uncovered || state->absent)
            continue;
        batch.states[batch.count] = state;
        batch.arenas[batch.count++] = change->arena;
    }
    action_look_ahead(group->local, &batch);
}

/* Decides on one action; false if the change is refused. Of a change whose actions are `apart` each
 * failure says what became of its action, so that one without a fault has none. */
static bool evaluate_one(struct commit_group *group, struct change *change, struct action *action) {
    enum status status = action_evaluate(group, change, action);
    if (change->apart && status == OK)
        action->failure = (struct failure){0};
    return status == OK || (change->apart && action->failure.status != CONFLICT);
}

/* Decides on all actions; false if the change is refused. */
static bool evaluate_actions(struct commit_group *group, struct change *change) {
    struct local *local = group->local;
    bool refused = false, bulk = change->action_count >= BULK;
    change->engine_data = NULL; /* what write rules add */
    if (bulk)
        load_filter_begin(group, change);
    for (size_t i = 0; i < change->action_count; i++) {
        if (change->action_count > 1 && i % COVERING_MANY == 0) {
            prefetch_filters(local, change, i);
            look_ahead(group, change, i);
        }
        if (i + AHEAD / 2 < change->action_count)
            action_prefetch_item(local, &change->actions[i + AHEAD / 2]);
        if (!evaluate_one(group, change, &change->actions[i]))
            refused = true;
    }
    return !refused && write_rules_finish(group, change);
}

void commit_group_add_yielding(struct commit_group *group, struct change *change) {
    group->yielded += change->action_count;
    group->large += change->all_bytes;
    commit_group_add(group, change);
}

void commit_group_add(struct commit_group *group, struct change *change) {
    struct token token;
    *group->changes_end = change;
    group->changes_end = &change->next;
    group->change_count++;
    if (change->token.size != 0) {
        token = token_make(change->token, change->token_digest, clock_now_ms());
        if (is_repeat(group, change, &token))
            return;
    }
    if (change->prepare != NULL && run_prepare(group, change) != OK)
        return;
    if (change->prepare != NULL) /* others were looked at when they were submitted */
        hot_keys_changed(group->local->engine.hot, &group->local->engine, change);
    group->action_count += change->action_count;
    if (!evaluate_actions(group, change)) {
        fail_change(change);
        return;
    }
    apply_actions(group, change);
    for (const struct rule_action *added = change->engine_data; added != NULL; added = added->next)
        apply_action(group, &added->action, false);
    if (change->token.size != 0)
        note_token(group, &token);
}

void commit_group_settle(struct commit_group *group) {
    struct tokens *tokens = group->local->tokens;
    bool done = group->failure.status == OK && group->tokens != NULL;
    if (done)
        tokens_forget(tokens, group->tokens_keep);
    for (struct token_note *note = group->tokens; done && note != NULL; note = note->next)
        tokens_add(tokens, &note->token);
    commit_group_clear(group);
    group->local->writer->fills++; /* what was looked up ahead may be out of date */
}

void commit_group_follow(struct commit_group *group, struct commit_group *next) {
    uint64_t first = group->record_count != 0 ? group->sequence : group->local->streams.next;
    next->below = group;
    next->sequence = first + group->record_count;
}

struct change *commit_group_take_changes(struct commit_group *group) {
    struct change *changes = group->changes;
    group->changes = NULL;
    group->changes_end = &group->changes;
    group->change_count = 0;
    group->action_count = 0;
    return changes;
}

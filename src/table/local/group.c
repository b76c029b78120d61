/* A group: all the changes of one commit.
 *
 * Each change is decided against the store and an overlay of what the group did before it, as if
 * those before it were already committed. Nothing in memory changes until the store has the whole
 * group; so when the store refuses it, there is nothing to undo, and since any change may have
 * seen what another one did, all of them fail together. */
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/mem.h"

static void start(struct group *group) {
    group->overlay = (struct map){0};
    group->effects = NULL;
    group->effects_end = &group->effects;
    group->moves = NULL;
    group->moves_end = &group->moves;
    group->tallies = NULL;
    group->tokens = NULL;
    group->tokens_end = &group->tokens;
    group->tokens_seen = (struct map){0};
    group->entries = NULL;
    group->entries_end = &group->entries;
    group->entry_count = 0;
    group->writes = 0;
    group->size = 0;
}

void group_init(struct group *group, struct local *local) {
    *group = (struct group){.local = local};
    group->changes_end = &group->changes;
    start(group);
}

static void clear(struct group *group) {
    for (struct tally *tally = group->tallies; tally != NULL; tally = tally->next)
        tally->table->tally = NULL;
    map_release(&group->overlay);
    map_release(&group->tokens_seen);
    arena_reset(&group->arena);
    start(group);
}

void group_release(struct group *group) {
    clear(group);
    arena_release(&group->arena);
    buf_release(&group->before);
    buf_release(&group->after);
}

enum status group_read(struct group *group, struct bytes key, struct arena *arena,
                       struct bytes *out) {
    const struct effect *effect = map_get(&group->overlay, key);
    if (effect == NULL)
        return local_read(group->local, NULL, key, arena, out);
    if (effect->value.data == NULL)
        return NOT_FOUND;
    /* The bytes are another change's, which may be done with before this one. */
    *out = arena_copy(arena, effect->value);
    return OK;
}

/* --- taking up what was decided --- */

static void set_effect(struct group *group, struct bytes key, struct bytes value) {
    struct effect *effect = map_get(&group->overlay, key);
    if (effect == NULL) {
        effect = ARENA_NEW(&group->arena, struct effect);
        effect->key = key;
        *group->effects_end = effect;
        group->effects_end = &effect->next;
        map_put(&group->overlay, effect->key, effect);
    }
    effect->value = value;
    group->size += key.size + value.size;
}

static struct tally *tally_of(struct group *group, struct table *table) {
    if (table->tally == NULL) {
        struct tally *tally = ARENA_NEW(&group->arena, struct tally);
        tally->table = table;
        tally->next = group->tallies;
        group->tallies = table->tally = tally;
    }
    return table->tally;
}

static void take_up(struct group *group, const struct action *action) {
    struct prepared *prepared = action->engine_data;
    if (!prepared->changes)
        return;
    bool stays = prepared->stays;
    set_effect(group, prepared->key, stays ? prepared->value : (struct bytes){0});
    struct tally *tally = tally_of(group, prepared->table);
    tally->count += (int64_t)stays - (int64_t)action->had_old;
    tally->size += (int64_t)prepared->new_size - (int64_t)prepared->old_size;
    *group->moves_end = prepared->moves;
    while (*group->moves_end != NULL)
        group->moves_end = &(*group->moves_end)->next;
    stream_add(group, action);
    group->writes++;
}

/* Whether the fault says something about the request, not about the engine's state. */
static bool is_reason(const struct action *action) {
    const struct prepared *prepared = action->engine_data;
    enum status status = action->failure.status;
    return status == CONDITION_FAILED || status == INVALID || status == COLLECTION_FULL ||
           prepared->refused;
}

static void refuse(struct change *change) {
    const struct action *first = NULL;
    for (size_t i = change->action_count; i-- > 0;) {
        const struct action *action = &change->actions[i];
        if (action->failure.status == OK)
            continue;
        if (first == NULL || !is_reason(action) || is_reason(first))
            first = action;
    }
    if (change->all_or_nothing && is_reason(first))
        failure_set(&change->failure, change->arena, CANCELLED, "The transaction was cancelled");
    else
        change->failure = first->failure;
}

/* --- tokens --- */

static struct bytes token_name(const struct token *token) {
    return bytes_of(token->name, sizeof(token->name));
}

/* The token of an earlier change, of this group or of one before, that is the same; or NULL. */
static const struct token *find_token(struct group *group, const struct token *like) {
    const struct token_note *note = map_get(&group->tokens_seen, token_name(like));
    return note != NULL ? &note->token : tokens_find(group->local->tokens, like, like->at_ms);
}

static void note_token(struct group *group, const struct token *token) {
    struct token_note *note = ARENA_NEW(&group->arena, struct token_note);
    note->token = *token;
    *group->tokens_end = note;
    group->tokens_end = &note->next;
    map_put(&group->tokens_seen, token_name(&note->token), note);
}

/* Whether the change was done before: then it is `repeated`, or wrong. */
static bool is_repeat(struct group *group, struct change *change, const struct token *token) {
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
        action_look(group, change, &change->actions[i]);
    return true;
}

/* Has the change make its actions, of the state that all before it left. */
static enum status decide(struct group *group, struct change *change) {
    enum status status = change->decide(change);
    if (status == OK)
        status = change_check_count(change);
    if (status == OK)
        return change_prepare(group->local, change);
    change->action_count = 0; /* whatever there is was never prepared */
    if (change->failure.status == OK)
        failure_set(&change->failure, change->arena, status, "The change cannot be made");
    return status;
}

void group_add(struct group *group, struct change *change) {
    bool refused = false;
    struct token token;
    *group->changes_end = change;
    group->changes_end = &change->next;
    group->change_count++;
    if (change->token.size != 0) {
        token = token_make(change->token, change->token_digest, clock_now_ms());
        if (is_repeat(group, change, &token))
            return;
    }
    if (change->decide != NULL && decide(group, change) != OK)
        return;
    group->action_count += change->action_count;
    for (size_t i = 0; i < change->action_count; i++)
        if (action_decide(group, change, &change->actions[i]) != OK)
            refused = true;
    if (refused) {
        refuse(change);
        return;
    }
    for (size_t i = 0; i < change->action_count; i++)
        take_up(group, &change->actions[i]);
    if (change->token.size != 0)
        note_token(group, &token);
}

/* --- committing --- */

/* Returns the number before which tokens are to be forgotten. */
static uint64_t put_tokens(struct group *group, struct store_batch *batch) {
    if (group->tokens == NULL)
        return 0;
    struct tokens_step step = tokens_begin(group->local->tokens, batch, clock_now_ms());
    for (struct token_note *note = group->tokens; note != NULL; note = note->next)
        tokens_put(&step, batch, &note->token);
    return step.keep;
}

/* After the commit. Nobody but the writer looks at them. */
static void keep_tokens(struct group *group, uint64_t keep) {
    tokens_forget(group->local->tokens, keep);
    for (struct token_note *note = group->tokens; note != NULL; note = note->next)
        tokens_add(group->local->tokens, &note->token);
}

static enum status write_out(struct group *group, struct failure *failure) {
    struct local *local = group->local;
    struct store_batch *batch = store_batch_new(local->store);
    int names = names_count(local->names);
    catalogue_put_names(batch, local, names);
    for (struct effect *effect = group->effects; effect != NULL; effect = effect->next)
        if (effect->value.data != NULL)
            store_put(batch, STORE_ITEMS, effect->key, effect->value);
        else
            store_del(batch, STORE_ITEMS, effect->key);
    for (struct tally *tally = group->tallies; tally != NULL; tally = tally->next)
        if (tally->count != 0 || tally->size != 0)
            catalogue_put_counts(batch, tally->table,
                                 tally->table->item_count + (uint64_t)tally->count,
                                 tally->table->size + (uint64_t)tally->size);
    uint64_t keep = put_tokens(group, batch);
    stream_put_entries(batch, group);
    enum status status = store_write(local->store, batch, &group->arena, failure);
    store_batch_free(batch);
    if (status == OK) {
        local->names_stored = names;
        keep_tokens(group, keep);
    }
    return status;
}

static void note(struct index *index, struct bytes key, bool put, int64_t size_change) {
    struct index_note *note = mem_alloc(sizeof(*note) + key.size);
    *note = (struct index_note){.put = put, .size_change = size_change, .key_size = key.size};
    if (key.size != 0)
        memcpy(note->key, key.data, key.size);
    *index->notes_end = note;
    index->notes_end = &note->next;
}

static void note_move(const struct move *move) {
    if (move->del.size != 0)
        note(move->index, move->del, false, 0);
    note(move->index, move->put, move->put.size != 0, move->size_change);
}

static void make_move(struct local *local, const struct move *move) {
    struct index *index = move->index;
    if (index->tree == NULL) {
        note_move(move);
        return;
    }
    size_t memory = index_memory(index);
    if (move->del.size != 0)
        index_del(index, move->del);
    if (move->put.size != 0)
        index_put(index, move->put);
    index->size += (uint64_t)move->size_change;
    atomic_fetch_add_explicit(&local->index_memory, index_memory(index) - memory,
                              memory_order_relaxed);
}

static void make_visible(struct group *group) {
    struct local *local = group->local;
    pthread_rwlock_wrlock(&local->moment);
    for (struct effect *effect = group->effects; effect != NULL; effect = effect->next) {
        touch_item(local, effect->key, local->view->commit + 1);
        cache_write(local->cache, effect->key, effect->value, local->view->commit + 1);
    }
    for (struct move *move = group->moves; move != NULL; move = move->next)
        make_move(local, move);
    for (struct tally *tally = group->tallies; tally != NULL; tally = tally->next) {
        tally->table->item_count += (uint64_t)tally->count;
        tally->table->size += (uint64_t)tally->size;
    }
    stream_take_entries(group);
    view_advance(local);
    pthread_rwlock_unlock(&local->moment);
    atomic_fetch_add_explicit(&local->commits, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&local->writes, group->writes, memory_order_relaxed);
}

static void fail_all(struct group *group, const struct failure *failure) {
    for (struct change *change = group->changes; change != NULL; change = change->next)
        change->failure =
            (struct failure){failure->status, arena_copy(change->arena, failure->text)};
}

void group_commit(struct group *group) {
    struct failure failure;
    if (!group_idle(group)) {
        if (write_out(group, &failure) == OK)
            make_visible(group);
        else
            fail_all(group, &failure);
    }
    clear(group);
}

struct change *group_take(struct group *group) {
    struct change *changes = group->changes;
    group->changes = NULL;
    group->changes_end = &group->changes;
    group->change_count = 0;
    group->action_count = 0;
    return changes;
}

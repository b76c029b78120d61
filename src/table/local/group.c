/* A group: all the changes of one commit.
 *
 * Each change is decided against the store and an overlay of what the group, and the group below
 * it, did before, as if those before it were already committed. Nothing in memory changes until the
 * store has the whole group; so when the store refuses it, there is nothing to undo, and since any
 * change may have seen what another one did, all of them fail together. */
#include "table/local/writer.h"

#include "base/clock.h"
#include "table/local/absent.h"

enum {
    AHEAD = 8, /* actions that the memory is asked for before they are decided */
    BULK = LIMIT_TRANSACT_ITEMS + 1, /* actions of a change that is a load rather than a request */
};

static void start(struct group *group) {
    group->effects = NULL;
    group->effects_end = &group->effects;
    group->moves = NULL;
    group->moves_end = &group->moves;
    group->move_count = 0;
    group->tallies = NULL;
    group->tokens = NULL;
    group->tokens_end = &group->tokens;
    group->tokens_seen = (struct map){0};
    group->bundles = NULL;
    group->bundles_end = &group->bundles;
    group->record_count = 0;
    group->writes = 0;
    group->size = 0;
    group->failure = (struct failure){0};
}

void group_init(struct group *group, struct local *local, unsigned number) {
    *group = (struct group){.local = local, .number = number};
    group->changes_end = &group->changes;
    start(group);
}

void group_clear(struct group *group) {
    for (struct tally *tally = group->tallies; tally != NULL; tally = tally->next)
        tally->table->tally[group->number] = NULL;
    stream_close_bundles(group);
    overlay_clear(&group->overlay);
    map_release(&group->tokens_seen);
    arena_recycle(&group->arena);
    start(group);
}

void group_release(struct group *group) {
    group_clear(group);
    overlay_release(&group->overlay);
    arena_release(&group->arena);
    buf_release(&group->before);
    buf_release(&group->after);
}

enum status group_read(struct group *group, const struct prepared *prepared, struct arena *arena,
                       struct bytes *out) {
    if (absent_is(group->local->writer->absent, prepared->key, prepared->hash))
        return NOT_FOUND;
    const struct effect *effect = overlay_get(&group->overlay, prepared->hash, prepared->key);
    if (effect == NULL && group->below != NULL)
        effect = overlay_get(&group->below->overlay, prepared->hash, prepared->key);
    if (effect == NULL)
        return local_read_hashed(group->local, NULL, prepared->key, prepared->hash, arena, out);
    if (effect->value.data == NULL)
        return NOT_FOUND;
    *out = arena_copy(arena, effect->value);
    return OK;
}

/* --- taking up what was decided --- */

/* What is kept of it is the group's: the change may be done before the group is forgotten. */
static void set_effect(struct group *group, const struct action *action, bool bulk) {
    const struct prepared *prepared = action->engine_data;
    struct effect *effect = overlay_get(&group->overlay, prepared->hash, prepared->key);
    if (effect == NULL) {
        effect = ARENA_NEW(&group->arena, struct effect);
        effect->key = arena_copy(&group->arena, prepared->key);
        effect->hash = prepared->hash;
        effect->quiet = action->quiet;
        *group->effects_end = effect;
        group->effects_end = &effect->next;
        overlay_add(&group->overlay, effect);
    }
    absent_note(group->local->writer->absent, effect->key, effect->hash);
    effect->value = prepared->stays ? prepared->value : (struct bytes){0};
    effect->bulk = bulk;
    effect->quiet &= action->quiet;
    if (action->kind == ACTION_PUT)
        effect->value = arena_copy(&group->arena, prepared->value);
    group->size += effect->key.size + effect->value.size;
}

static struct tally *tally_of(struct group *group, struct table *table) {
    struct tally **of = &table->tally[group->number];
    if (*of == NULL) {
        struct tally *tally = ARENA_NEW(&group->arena, struct tally);
        tally->table = table;
        tally->next = group->tallies;
        group->tallies = *of = tally;
    }
    return *of;
}

static void take_up(struct group *group, const struct action *action, bool bulk) {
    struct prepared *prepared = action->engine_data;
    if (!prepared->changes)
        return;
    set_effect(group, action, bulk);
    struct tally *tally = tally_of(group, prepared->table);
    tally->count += (int64_t)prepared->stays - (int64_t)action->had_old;
    tally->size += (int64_t)prepared->new_size - (int64_t)prepared->old_size;
    *group->moves_end = prepared->moves;
    for (; *group->moves_end != NULL; group->move_count++)
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

/* The token of an earlier change that is the same, of this group or of any before; or NULL. */
static const struct token *find_token(struct group *group, const struct token *like) {
    const struct token_note *note = map_get(&group->tokens_seen, token_name(like));
    if (note == NULL && group->below != NULL)
        note = map_get(&group->below->tokens_seen, token_name(like));
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

/* Decides on all actions; false if one is refused. */
static bool decide_actions(struct group *group, struct change *change) {
    struct local *local = group->local;
    bool refused = false, bulk = change->action_count >= BULK;
    if (bulk)
        absent_begin(group, change);
    for (size_t i = 0; i < change->action_count; i++) {
        if (i + AHEAD < change->action_count)
            action_soon(local, &change->actions[i + AHEAD]);
        if (i + AHEAD / 2 < change->action_count)
            action_sooner(local, &change->actions[i + AHEAD / 2]);
        if (action_decide(group, change, &change->actions[i]) != OK)
            refused = true;
    }
    return !refused;
}

void group_add(struct group *group, struct change *change) {
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
    if (!decide_actions(group, change)) {
        refuse(change);
        return;
    }
    for (size_t i = 0; i < change->action_count; i++)
        take_up(group, &change->actions[i], change->action_count >= BULK);
    if (change->token.size != 0)
        note_token(group, &token);
}

void group_settle(struct group *group) {
    struct tokens *tokens = group->local->tokens;
    bool done = group->failure.status == OK && group->tokens != NULL;
    if (done)
        tokens_forget(tokens, group->tokens_keep);
    for (struct token_note *note = group->tokens; done && note != NULL; note = note->next)
        tokens_add(tokens, &note->token);
    group_clear(group);
}

void group_follow(struct group *group, struct group *next) {
    uint64_t first = group->record_count != 0 ? group->sequence : group->local->streams.next;
    next->below = group;
    next->sequence = first + group->record_count;
}

struct change *group_take(struct group *group) {
    struct change *changes = group->changes;
    group->changes = NULL;
    group->changes_end = &group->changes;
    group->change_count = 0;
    group->action_count = 0;
    return changes;
}

#include "api/redis/field_edit.h"

#include "api/redis/key_txn_int.h"
#include "api/redis/notifications.h"
#include "base/limits.h"

struct field_edit *field_edit_new(struct redis_call *call, enum key_type type,
                                  struct field_args args) {
    struct field_edit *edit = ARENA_NEW(call->arena, struct field_edit);
    edit->type = type;
    edit->count = (call->count - args.first) / args.step;
    edit->list = ARENA_ARRAY(call->arena, struct field_change, edit->count);
    for (size_t i = 0; i < edit->count; i++) {
        const struct bytes *arg = &call->args[args.first + i * args.step];
        edit->list[i].name = arg[0];
        if (args.step == 2)
            edit->list[i].value = arg[1];
    }
    return edit;
}

int64_t field_edit_total(const struct field_edit *edit) {
    int64_t total = 0;
    for (size_t i = 0; i < edit->count; i++)
        total += edit->list[i].outcome;
    return total;
}

static enum status notify_and_reply(struct redis_call *call, struct field_edit *edit) {
    enum notify_class class = edit->type == KEY_HASH ? NOTIFY_HASH : NOTIFY_SET;
    if (edit->written)
        notify_key(call, class, edit->event, call->args[1]);
    if (edit->written && edit->emptied)
        notify_key(call, NOTIFY_GENERIC, "del", call->args[1]);
    call->user = edit;
    return edit->reply(call);
}

/* ---- as `run` ---- */

static enum status edit_field(struct redis_call *call, struct redis_key *key,
                              struct field_edit *edit, size_t index) {
    struct hash_field field = {.name = edit->list[index].name};
    enum status status = key_fields(call, key, &field, 1);
    if (status != OK)
        return status;
    struct field_state state = {.has = field.found};
    if (field.found) {
        state.value = field.value;
        state.expires_ms = field.expires_ms;
    }
    const char *error = edit->decide(edit, index, &state, call->txn->arena);
    if (error != NULL)
        return call_error(call, "%s", error);
    if (!state.written)
        return OK;
    edit->written = true;
    if (!state.has)
        return key_remove_field(call, key, field.name, NULL);
    field.value = state.value;
    field.expires_ms = state.expires_ms;
    return key_put_field(call, key, &field, NULL);
}

enum status field_edit_run(struct redis_call *call, struct field_edit *edit) {
    struct redis_key *key;
    enum status status = key_open_as(call, call->args[1], edit->type, &key);
    edit->now_ms = zset_txn_now(call);
    for (size_t i = 0; i < edit->count && status == OK; i++)
        status = edit_field(call, key, edit, i);
    if (status != OK)
        return status;
    edit->emptied = !key_is_there(key);
    return notify_and_reply(call, edit);
}

/* ---- as `start`: fields in the key's head ---- */

/* What a `start` hands to the engine's thread. */
struct field_start {
    struct key_edit on_head; /* the first member: call->user is a pointer to it */
    struct field_edit *edit;
    /* of a large key: */
    struct bytes generation;
    struct large_field *fields; /* one for each of edit->list */
};

static const char *decide_field(struct field_start *start, size_t index, struct field_state *state,
                                struct arena *arena) {
    struct field_edit *edit = start->edit;
    edit->now_ms = start->on_head.now_ms;
    return edit->decide(edit, index, state, arena);
}

static void write_to_head(const struct field_edit *edit, size_t index,
                          const struct field_state *state, struct key_head *head,
                          struct arena *arena) {
    struct key_field field = {edit->list[index].key, state->value, state->expires_ms};
    if (!state->has) {
        key_head_remove(head, field.key);
        return;
    }
    head->type = edit->type;
    key_head_put(head, &field, arena);
}

/* For key_start_edit(). */
static enum status apply_fields(struct key_edit *on_head, struct key_head *head,
                                struct arena *arena) {
    struct field_start *start = on_head->user;
    struct field_edit *edit = start->edit;
    for (size_t i = 0; i < edit->count && on_head->error == NULL; i++) {
        const struct key_field *field = key_head_find(head, edit->list[i].key);
        struct field_state state = {.has = field != NULL};
        if (field != NULL) {
            state.value = field->value;
            state.expires_ms = field->expires_ms;
        }
        on_head->error = decide_field(start, i, &state, arena);
        if (on_head->error != NULL || !state.written)
            continue;
        on_head->changed = true;
        write_to_head(edit, i, &state, head, arena);
    }
    edit->written = on_head->changed;
    edit->emptied = head->type == KEY_NONE;
    on_head->too_much = head->type != KEY_NONE && !key_head_is_small(head);
    return OK;
}

static enum status then_fields_edited(struct redis_call *call) {
    const struct field_start *start = call->user;
    return notify_and_reply(call, start->edit);
}

/* ---- as `start`: fields of a large key, an item each ---- */

/* An action on the item of one field. */
struct large_field {
    struct field_start *start;
    size_t index;
    /* filled in on the engine's thread */
    int added; /* how many items there are more, or less */
    bool written;
};

static enum status apply_large_field(struct action *action, const struct item *old,
                                     struct arena *arena, struct item *new) {
    struct large_field *large = action->user;
    struct field_start *start = large->start;
    struct key_edit *on_head = &start->on_head;
    struct key_generation of = {on_head->call->frontend->game, &on_head->address,
                                start->generation};
    struct key_field field = {.key = start->edit->list[large->index].key};
    large->added = 0;
    large->written = false;
    if (large->index == 0)
        on_head->error = NULL;
    if (old->count != 0)
        key_field_read(old, &field);
    bool live = field.expires_ms == 0 || field.expires_ms > on_head->now_ms;
    struct field_state state = {.has = old->count != 0 && live};
    if (state.has) {
        state.value = field.value;
        state.expires_ms = field.expires_ms;
    }
    const char *error = decide_field(start, large->index, &state, arena);
    if (error != NULL)
        on_head->error = error;
    if (error != NULL || !state.written)
        return OK;
    large->written = true;
    large->added = (int)state.has - (int)(old->count != 0);
    field.value = state.value;
    field.expires_ms = state.expires_ms;
    *new = state.has ? key_field_item(&of, &field, arena) : (struct item){0};
    return OK;
}

/* The end that the key has to be looked at again for: the earliest of the fields that were set. */
static void note_ends(const struct field_start *start, struct key_head *head) {
    int64_t end_ms = start->edit->end_ms;
    if (end_ms != 0 && (head->fields_end_ms == 0 || end_ms < head->fields_end_ms))
        head->fields_end_ms = end_ms;
}

/* For notifications. */
static void note_outcome(struct field_start *start, bool emptied) {
    start->edit->emptied = emptied;
    start->edit->written = false;
    for (size_t i = 0; i < start->edit->count; i++)
        start->edit->written |= start->fields[i].written;
}

/* The last action: the head is still that of the generation, and counts its items. */
static enum status apply_large_head(struct action *action, const struct item *old,
                                    struct arena *arena, struct item *new) {
    struct field_start *start = action->user;
    struct key_edit *on_head = &start->on_head;
    struct key_head head;
    int64_t added = 0;
    if (call_is_overtaking(on_head->call) ||
        key_head_read(old, on_head->now_ms, (struct scope){arena, &action->failure}, &head) != OK ||
        head.type != start->edit->type || !bytes_equal(head.generation, start->generation))
        return call_refuse_start(on_head->call, action, arena);
    for (size_t i = 0; i < start->edit->count; i++)
        added += start->fields[i].added;
    note_outcome(start, head.count + (uint64_t)added == 0);
    bool ends = start->edit->end_ms != 0;
    if (added == 0 && !ends)
        return OK;
    head.count += (uint64_t)added;
    note_ends(start, &head);
    if (head.count == 0)
        head.type = KEY_NONE;
    *new = key_head_item(&head, &on_head->address, arena);
    return OK;
}

enum { COMPARED_MAX = 16 }; /* more fields are compared by a map */

/* Whether a field is named twice: one change cannot write an item twice. */
static bool has_repeats(const struct field_edit *edit) {
    struct map seen = {0};
    bool repeats = false;
    for (size_t i = 1; i < edit->count && edit->count <= COMPARED_MAX; i++)
        for (size_t j = 0; j < i; j++)
            if (bytes_equal(edit->list[i].key, edit->list[j].key))
                return true;
    for (size_t i = 0; i < edit->count && edit->count > COMPARED_MAX && !repeats; i++)
        repeats = map_put(&seen, edit->list[i].key, &seen) != NULL;
    map_release(&seen);
    return repeats;
}

/* For key_start_edit(): the key has fields of this generation. */
static bool start_large(struct redis_call *call, struct key_edit *on_head,
                        struct bytes generation) {
    struct field_start *start = on_head->user;
    struct field_edit *edit = start->edit;
    struct game *game = call->frontend->game;
    struct key_generation of = {game, &on_head->address, generation};
    if (has_repeats(edit))
        return false;
    start->generation = generation;
    start->fields = ARENA_ARRAY(call->arena, struct large_field, edit->count);
    call->change.actions = ARENA_ARRAY(call->arena, struct action, edit->count + 1);
    for (size_t i = 0; i < edit->count; i++) {
        start->fields[i] = (struct large_field){.start = start, .index = i};
        call->change.actions[i] =
            game_compute_action(game, key_field_item_key(&of, edit->list[i].key, call->arena),
                                apply_large_field, &start->fields[i]);
    }
    call->change.actions[edit->count] = game_compute_action(
        game, key_head_key(&on_head->address, call->arena), apply_large_head, start);
    call->change.action_count = edit->count + 1;
    call->change.all_or_nothing = true;
    return true;
}

/* Escapes the names. False if one of them, or a value, is too long: `run` tells. */
static bool fits(struct redis_call *call, struct field_edit *edit) {
    for (size_t i = 0; i < edit->count; i++)
        if (edit->list[i].value.size > KEY_VALUE_MAX ||
            !key_field_name(edit->list[i].name, call->arena, &edit->list[i].key))
            return false;
    return true;
}

enum status field_edit_start(struct redis_call *call, struct field_edit *edit) {
    if (!fits(call, edit))
        return call_fall_back(call);
    struct field_start *start = ARENA_NEW(call->arena, struct field_start);
    start->edit = edit;
    start->on_head = (struct key_edit){
        .type = edit->type, .apply = apply_fields, .start_large = start_large, .user = start};
    return key_start_edit(call, &start->on_head, then_fields_edited);
}

/* ---- in parts ---- */

/* Whether there is one name after the other, or names and values, none of them too long. */
static size_t divides_fields(struct redis_call *call, size_t step) {
    struct bytes key;
    if ((call->count - 2) % step != 0)
        return 0;
    for (size_t i = 2; i < call->count; i += step)
        if (!key_field_name(call->args[i], call->arena, &key) ||
            (step == 2 && call->args[i + 1].size > KEY_VALUE_MAX))
            return 0;
    return 2;
}

static size_t divides_names(struct redis_call *call) {
    return divides_fields(call, 1);
}

static size_t divides_pairs(struct redis_call *call) {
    return divides_fields(call, 2);
}

const struct command_parts field_parts = {1, divides_names};
const struct command_parts field_pair_parts = {2, divides_pairs};

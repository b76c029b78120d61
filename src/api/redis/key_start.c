/* Writes to one key that share a commit with those of other clients: a `start` of SET, INCR, HSET
 * and others is one action on the key's head; and reads of heads without a transaction.
 *
 * A name must not be a key and a board at once. The head of a key that is there says that there is
 * no board; whoever makes one checks in the same commit that the table has no board of that name.
 * The first member of a sorted set is added with the mirror image of that check (zset_scores.c).
 *
 * Mostly the `start` reads nothing: a filter in memory says that there probably is a head, or that
 * no board has the name, and the change is one action. If there turns out to be no head, the filter
 * is asked about boards in the commit; if it only knows that there are no entries, the action
 * brings the check with it (action->also). If it does not even know that, the change is refused,
 * and the key's hash is remembered: the next `start` reads. If that finds a head, the change is
 * refused should it be gone by its commit; if there is none, the check is its second action.
 *
 * The fields of a large key are items of their own, which the `start` has to know. One that did not
 * look is refused by its action, and the key is remembered likewise. */
#include "api/redis/key_txn_int.h"
#include "api/redis/presence_events.h"

#include "base/clock.h"
#include "base/hash.h"
#include "game/record.h"
#include "table/inprocess.h"

/* ---- keys that a `start` has to look at ---- */

static atomic_uint_fast64_t *noted_slot(const struct key_edit *edit, uint64_t *hash) {
    *hash = hash_keyed(edit->address.pk, edit->address.db);
    return &edit->call->frontend->noted_keys[*hash % NOTED_KEY_SLOTS];
}

static void note_key(const struct key_edit *edit) {
    uint64_t hash;
    atomic_store_explicit(noted_slot(edit, &hash), hash, memory_order_relaxed);
}

static bool is_noted(const struct key_edit *edit) {
    uint64_t hash;
    return atomic_load_explicit(noted_slot(edit, &hash), memory_order_relaxed) == hash;
}

/* ---- on the engine's thread ---- */

/* An action's function: there is no board of the key's name. */
static enum status check_no_board(struct action *action, const struct item *old,
                                  struct arena *arena, struct item *new) {
    (void)new;
    return old->count == 0 ? OK : call_refuse_start(action->user, action, arena);
}

static enum status make_check(struct redis_call *call, struct scope in, struct action *out) {
    struct item state;
    enum status status =
        board_state_key(key_board_name(call->db, call->args[1], in.arena), in, &state);
    if (status == OK)
        *out = game_compute_action(call->frontend->game, state, check_no_board, call);
    return status;
}

/* Has the change check it, unless that is known. False if a check of one item is not enough. */
static bool ask_for_board(struct action *action, struct arena *arena) {
    struct key_edit *edit = action->user;
    struct redis_call *call = edit->call;
    struct game *game = call->frontend->game;
    struct bytes name = key_board_name(call->db, call->args[1], arena);
    if (board_name_is_surely_free(game, name, arena))
        return true;
    if (!board_is_surely_empty(game, name, arena)) {
        note_key(edit);
        redis_frontend_ask_engine(call->frontend);
        return false;
    }
    struct action *check = arena_alloc(arena, sizeof(*check));
    action->also = check;
    action->wants_also = true;
    return make_check(call, (struct scope){arena, &action->failure}, check) == OK;
}

static enum status apply_edit(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    struct key_edit *edit = action->user;
    struct key_head head;
    edit->changed = edit->too_much = edit->absent = false;
    edit->error = NULL;
    if (call_is_overtaking(edit->call) || (old->count == 0 && !edit->checked && !edit->unread) ||
        key_head_read(old, edit->now_ms, (struct scope){arena, &action->failure}, &head) != OK)
        return call_refuse_start(edit->call, action, arena);
    if (head.generation.size != 0) {
        note_key(edit);
        return call_refuse_start(edit->call, action, arena);
    }
    if (old->count == 0 && edit->unread && !ask_for_board(action, arena))
        return call_refuse_start(edit->call, action, arena);
    if (head.type != KEY_NONE && edit->type != KEY_NONE && head.type != edit->type) {
        edit->error = ERROR_WRONG_TYPE;
        return OK;
    }
    edit->absent = head.type == KEY_NONE;
    enum status status = edit->apply(edit, &head, arena);
    if (edit->too_much)
        return call_refuse_start(edit->call, action, arena);
    if (status == OK && edit->error == NULL && edit->changed)
        *new = key_head_item(&head, &edit->address, arena);
    return status;
}

/* ---- on the loop's thread ---- */

static enum status then_edited(struct redis_call *call) {
    const struct key_edit *edit = call->user;
    if (edit->absent)
        presence_note_absent(call);
    return edit->error != NULL ? call_error(call, "%s", edit->error) : call->then_edited(call);
}

static enum status read_item(struct redis_call *call, const struct key_edit *edit,
                             struct get_reply *reply) {
    struct game *game = call->frontend->game;
    struct get_request request = {
        .table = game->table, .key = key_head_key(&edit->address, call->arena), .consistent = true};
    return engine_get(game->engine, &request, (struct scope){call->arena, &call->failure}, reply);
}

static struct action edit_action(struct redis_call *call, struct key_edit *edit) {
    struct action action = game_compute_action(
        call->frontend->game, key_head_key(&edit->address, call->arena), apply_edit, edit);
    action.uncovered = true;
    return action;
}

/* The key has no head: whether it is a board. If not, the change gets the check. */
static enum status check_board(struct redis_call *call, struct key_edit *edit, bool *is_board) {
    struct game *game = call->frontend->game;
    struct scope in = {call->arena, &call->failure};
    struct bytes name = key_board_name(call->db, call->args[1], call->arena);
    bool is_free = false;
    enum status status = board_name_is_free(game, name, in, &is_free);
    if (status == OK)
        status = make_check(call, in, &call->change.actions[1]);
    *is_board = !is_free;
    if (status != OK || *is_board)
        return status;
    call->change.action_count = 2;
    call->change.all_or_nothing = true;
    edit->checked = true;
    return OK;
}

/* The head is read first: fills in the change by what it says, or falls back. */
static enum status start_read(struct redis_call *call, struct key_edit *edit) {
    struct get_reply reply;
    bool is_board = false;
    enum status status = read_item(call, edit, &reply);
    if (status != OK)
        return status;
    call->change.actions = ARENA_ARRAY(call->arena, struct action, 2);
    call->change.action_count = 1;
    if (!reply.found)
        status = check_board(call, edit, &is_board);
    if (status != OK || is_board)
        return status != OK ? status : call_fall_back(call);
    struct bytes generation =
        reply.found ? item_string(&reply.item, BYTES("generation")) : (struct bytes){0};
    if (generation.size == 0)
        call->change.actions[0] = edit_action(call, edit);
    else if (edit->start_large == NULL || !edit->start_large(call, edit, generation))
        return call_fall_back(call);
    return OK;
}

static void start_unread(struct redis_call *call, struct key_edit *edit) {
    edit->unread = true;
    call->action = edit_action(call, edit);
    call->change.actions = &call->action;
    call->change.action_count = 1;
}

/* Whether the change can be made without a look at the head: there probably is one, or there is no
 * board. */
static bool needs_no_read(struct redis_call *call, const struct key_edit *edit) {
    struct game *game = call->frontend->game;
    struct value own = value_string(edit->address.pk);
    if (!atomic_load_explicit(&call->frontend->knows_absent, memory_order_relaxed) ||
        is_noted(edit))
        return false;
    return !engine_partitions_absent(game->engine, game->table, &own, 1) ||
           board_name_is_surely_free(game, key_board_name(call->db, call->args[1], call->arena),
                                     call->arena);
}

enum status key_start_edit(struct redis_call *call, struct key_edit *edit, redis_run *then) {
    if (call->denied != 0) /* what a restricted caller reaches is looked at by `run` */
        return call_fall_back(call);
    enum status status = key_address_of(
        call->db, call->args[1], (struct scope){call->arena, &call->failure}, &edit->address);
    if (status != OK)
        return status;
    edit->call = call;
    edit->now_ms = clock_now_ms();
    call->change.all_or_nothing = false;
    if (needs_no_read(call, edit))
        start_unread(call, edit);
    else
        status = start_read(call, edit);
    if (status != OK || call->change.prepare != NULL)
        return status;
    call->user = edit;
    call->then_edited = then;
    call->then = then_edited;
    return OK;
}

/* ---- reads ---- */

/* A key without a head may be a sorted set. */
static enum status look_for_board(struct redis_call *call, struct bytes name,
                                  struct key_head *head) {
    struct zset *zset;
    uint64_t size = 0;
    struct bytes board = key_board_name(call->db, name, call->arena);
    enum status status = zset_open_board(call, board, &zset);
    if (status == OK)
        status = zset_size(call, zset, &size);
    if (size != 0)
        head->type = KEY_ZSET;
    return status;
}

static enum status fill_requests(struct redis_call *call, const struct bytes *names, size_t count,
                                 struct get_request *requests) {
    struct scope in = {call->arena, &call->failure};
    enum status status = OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        struct key_address address;
        status = key_address_of(call->db, names[i], in, &address);
        if (status == OK)
            requests[i] = (struct get_request){.table = call->frontend->game->table,
                                               .key = key_head_key(&address, call->arena),
                                               .consistent = true,
                                               .takes_stored = true,
                                               .brief = call_is_bounded(call)};
    }
    return status;
}

enum status key_read_heads(struct redis_call *call, const struct bytes *names, size_t count,
                           struct key_head *heads) {
    struct scope in = {call->arena, &call->failure};
    struct get_request *requests = arena_alloc(call->arena, count * sizeof(*requests));
    struct get_reply *replies = arena_alloc(call->arena, count * sizeof(*replies));
    struct key_head_source from = {call->frontend->game, clock_now_ms(), in};
    enum status status = call_spend(call, WORK_MEMBER * count);
    if (status == OK)
        status = fill_requests(call, names, count, requests);
    if (status == OK)
        status = engine_get_many(call->frontend->game->engine, requests, count, in, replies);
    if (status == WOULD_BLOCK)
        return call_spend_all(call);
    for (size_t i = 0; i < count && status == OK; i++) {
        status = key_head_read_reply(&from, &replies[i], &heads[i]);
        if (status == OK)
            status = call_spend_bytes(call, heads[i].value.size);
        if (status == OK && heads[i].type == KEY_NONE)
            status = look_for_board(call, names[i], &heads[i]);
    }
    return status;
}

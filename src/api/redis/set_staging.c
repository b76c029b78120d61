#include "api/redis/set_staging.h"

#include "api/redis/key_txn_int.h"
#include "api/redis/slow_calls.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "game/board/board_generation.h"
#include "game/keyspace/key_garbage.h"
#include "game/player/hidden_players.h"

#include <semaphore.h>

bool staging_wants(const struct redis_call *call, size_t members) {
    return members > LIMIT_STORED_AT_ONCE && !call->frontend->blocks;
}

enum status staging_check_ahead(struct redis_call *call) {
    return call->budget != NULL && call->budget->ahead ? OK : call_spend_all(call);
}

/* ---- writing ---- */

/* Some of the items, in one commit. */
struct staged_batch {
    struct arena arena;
    struct change change;
    struct failure failure; /* of making the actions */
    sem_t done;
};

/* What is being written. */
struct staging {
    struct redis_call *call;
    struct key_garbage note;
    const struct zset *zset;     /* or */
    const struct redis_key *key; /* of a hash or set */
    size_t count;
    struct zset_entries puts;     /* of a sorted set: what is written, */
    struct zset_entries removals; /* and what an earlier try has written and is not there now */
    struct staged_batch batch;    /* the one that is made or under way */
    struct failure failure;       /* of the first that has failed; its text is the call's */
};

/* On the engine's thread. */
static void batch_done(struct change *change) {
    struct staged_batch *batch = change->user;
    sem_post(&batch->done);
}

static void note_failure(struct staging *staging, const struct staged_batch *batch) {
    const struct change *change = &batch->change;
    struct failure failure = batch->failure.status != OK ? batch->failure : change->failure;
    if (failure.status == OK || staging->failure.status != OK)
        return;
    enum status status = failure.status;
    for (size_t i = 0; i < change->action_count && failure.text.size == 0; i++)
        if (change->actions[i].failure.status != OK)
            failure = change->actions[i].failure;
    failure.status = status;
    failure.text = arena_copy(staging->call->arena, failure.text);
    staging->failure = failure;
}

/* Waits until the batch is committed. */
static void end_batch(struct staging *staging) {
    struct staged_batch *batch = &staging->batch;
    while (sem_wait(&batch->done) != 0) /* a signal */
        ;
    note_failure(staging, batch);
    sem_destroy(&batch->done);
    arena_release(&batch->arena);
}

static void submit_batch(struct staging *staging) {
    struct staged_batch *batch = &staging->batch;
    batch->change.kind = CHANGE_WRITE;
    batch->change.arena = &batch->arena;
    batch->change.all_or_nothing = true;
    batch->change.done = batch_done;
    batch->change.user = batch;
    if (batch->failure.status == OK)
        engine_submit(staging->call->frontend->game->engine, &batch->change);
    else
        sem_post(&batch->done);
}

/* Writes the note, or moves its end on. */
static struct action note_action(struct staging *staging, struct arena *arena) {
    staging->note.after_ms = clock_now_ms() + LIMIT_GENERATION_LEASE_MS;
    return key_garbage_note(staging->call->frontend->game, &staging->note, arena);
}

static bool is_note_old(const struct staging *staging) {
    return clock_now_ms() > staging->note.after_ms - LIMIT_GENERATION_LEASE_MS / 2;
}

static enum status entry_to_remove(const struct staging *staging, struct scope in, size_t at,
                                   struct action *out) {
    struct bytes key;
    enum status status = entry_key_of(staging->removals.list[at].member, in, &key);
    *out = (struct action){.kind = ACTION_DELETE, .table = staging->call->frontend->game->table};
    if (status == OK)
        out->item = game_key(in.arena, staging->zset->fresh_pk, key);
    return status;
}

static enum status entry_to_put(const struct staging *staging, struct scope in, size_t at,
                                struct action *out) {
    if (at >= staging->puts.count)
        return entry_to_remove(staging, in, at - staging->puts.count, out);
    const struct zset_entry *entry = &staging->puts.list[at];
    struct entry_write *write = ARENA_NEW(in.arena, struct entry_write);
    struct bytes key;
    enum status status = entry_key_of(entry->member, in, &key);
    if (status != OK)
        return status;
    write->game = staging->call->frontend->game;
    write->board = staging->zset->board;
    write->flags = ENTRY_EXACT;
    write->points = points_of_double(in.arena, entry->score);
    write->now_ms = staging->call->txn->now_ms;
    entry_action(write, game_key(in.arena, staging->zset->fresh_pk, key), zset_txn_write_entry,
                 out);
    return OK;
}

static enum status field_to_put(const struct staging *staging, struct scope in, size_t at,
                                struct action *out) {
    const struct redis_key *key = staging->key;
    const struct hash_field *from = &key->listed->list[at];
    struct key_generation of = {staging->call->frontend->game, &key->address, key->head.generation};
    struct key_field field = {.expires_ms = from->expires_ms};
    if (key->head.type == KEY_HASH)
        field.value = from->value;
    if (!key_field_name(from->name, in.arena, &field.key))
        return failure_set(in.failure, in.arena, INVALID, "the name of a member is too long");
    *out = key_field_put_action(&of, &field, in.arena);
    out->keeps_version = true; /* the key itself is as it was */
    return OK;
}

/* Makes the actions for the items from `first` on, as many as one commit has. */
static void fill_batch(struct staging *staging, struct staged_batch *batch, size_t first) {
    size_t left = staging->count - first, count = 0;
    size_t some = left < LIMIT_STAGED_AT_ONCE ? left : LIMIT_STAGED_AT_ONCE;
    struct action *actions = ARENA_ARRAY(&batch->arena, struct action, some + 1);
    struct scope in = {&batch->arena, &batch->failure};
    enum status status = OK;
    for (; count < some && status == OK; count++)
        status = staging->zset != NULL ? entry_to_put(staging, in, first + count, &actions[count])
                                       : field_to_put(staging, in, first + count, &actions[count]);
    if (is_note_old(staging))
        actions[count++] = note_action(staging, &batch->arena);
    batch->change.actions = actions;
    batch->change.action_count = count;
}

static struct staged_batch *begin_batch(struct staging *staging) {
    struct staged_batch *batch = &staging->batch;
    *batch = (struct staged_batch){0};
    arena_init(&batch->arena);
    sem_init(&batch->done, 0, 0);
    return batch;
}

/* The note is on the disk before any of the items. */
static void write_note(struct staging *staging) {
    struct staged_batch *batch = begin_batch(staging);
    struct action *note = ARENA_NEW(&batch->arena, struct action);
    *note = note_action(staging, &batch->arena);
    batch->change.actions = note;
    batch->change.action_count = 1;
    submit_batch(staging);
    end_batch(staging);
}

/* Also if a stop is asked for, which does not wait for seconds: the key stays as it was. */
static bool goes_on(struct staging *staging) {
    struct redis_call *call = staging->call;
    if (call->ahead.held != 0)
        key_hold_end_late(call);
    if (staging->failure.status == OK && atomic_load(&call->frontend->stopping))
        failure_set(&staging->failure, call->arena, BUSY, "the server is being stopped");
    return staging->failure.status == OK;
}

static enum status write_all(struct staging *staging) {
    write_note(staging);
    for (size_t at = 0; at < staging->count && goes_on(staging); at += LIMIT_STAGED_AT_ONCE) {
        int64_t begun_us = clock_ticks_us();
        fill_batch(staging, begin_batch(staging), at);
        submit_batch(staging);
        end_batch(staging);
        clock_give_way(begun_us);
    }
    if (staging->failure.status != OK)
        staging->call->failure = staging->failure;
    return staging->failure.status;
}

static uint64_t hidden_version(const struct redis_call *call) {
    return hidden_players_version(call->frontend->game);
}

/* ---- what an earlier try has written ---- */

struct staged_before {
    struct arena arena;       /* the list is in it, */
    struct bytes key;         /* the board, */
    struct bytes fresh;       /* and the generation */
    struct zset_entries list; /* sorted by zset_entries_sort() */
    uint64_t hidden_version;
};

size_t staging_kept_size(const struct redis_call *call) {
    return call->ahead.before != NULL ? call->ahead.before->arena.used : 0;
}

void staging_forget(struct redis_call *call) {
    struct staged_before *before = call->ahead.before;
    call->ahead.before = NULL;
    if (before == NULL)
        return;
    slow_release_arena(call->frontend, &before->arena);
    mem_free(before);
}

/* The sorted set that is listed, if nothing else is. */
static const struct zset *only_listed(const struct redis_call *call) {
    const struct zset *found = NULL;
    for (const struct redis_key *key = call->txn->keys; key != NULL; key = key->next)
        if (key->listed != NULL)
            return NULL;
    for (const struct zset *zset = call->txn->sets; zset != NULL; zset = zset->next)
        if (zset->listed != NULL && found != NULL)
            return NULL;
        else if (zset->listed != NULL)
            found = zset;
    return found;
}

bool staging_can_keep(const struct redis_call *call) {
    return only_listed(call) != NULL;
}

bool staging_keep(struct redis_call *call, const struct arena *arena) {
    bool staged = call->txn != NULL && call->txn->staged;
    const struct zset *zset = staged ? only_listed(call) : NULL;
    if (zset == NULL || call->ahead.failure.status != OK)
        return false;
    staging_forget(call);
    struct staged_before *before = mem_zalloc(sizeof(*before));
    *before = (struct staged_before){.arena = *arena,
                                     .key = zset->key,
                                     .fresh = zset->fresh,
                                     .list = call->txn->sorted,
                                     .hidden_version = call->txn->hidden_version};
    call->ahead.before = before;
    return true;
}

/* Walks two sorted lists: what is only in the old one is in `gone`, what is only in the new one in
 * `puts`; their lists are NULL to be counted. */
static void compare_lists(const struct zset_entries *old, const struct zset_entries *new,
                          struct zset_entries *gone, struct zset_entries *puts) {
    size_t i = 0, j = 0;
    gone->count = puts->count = 0;
    while (i < old->count || j < new->count) {
        int order = i == old->count   ? 1
                    : j == new->count ? -1
                                      : zset_entry_compare(&old->list[i], &new->list[j]);
        struct zset_entries *to = order < 0 ? gone : puts;
        if (order != 0 && to->list != NULL)
            to->list[to->count] = order < 0 ? old->list[i] : new->list[j];
        to->count += order != 0;
        i += order <= 0;
        j += order >= 0;
    }
}

/* Fills in what differs from an earlier try. A member whose score is another is among those that
 * are put, which is enough. */
static void plan_changes(struct staging *staging, const struct zset_entries *old,
                         const struct zset_entries *new) {
    struct arena *arena = staging->call->arena;
    struct zset_entries *puts = &staging->puts, *gone = &staging->removals;
    struct map changed = {0};
    size_t kept = 0;
    puts->list = gone->list = NULL;
    compare_lists(old, new, gone, puts);
    puts->list = ARENA_ARRAY(arena, struct zset_entry, puts->count + 1);
    gone->list = ARENA_ARRAY(arena, struct zset_entry, gone->count + 1);
    compare_lists(old, new, gone, puts);
    for (size_t i = 0; i < puts->count; i++)
        map_put(&changed, puts->list[i].member, &changed);
    for (size_t i = 0; i < gone->count; i++)
        if (map_get(&changed, gone->list[i].member) == NULL)
            gone->list[kept++] = gone->list[i];
    gone->count = kept;
    map_release(&changed);
}

/* The list in order: itself, if it is, as what was read of one set mostly is. */
static struct zset_entries sorted_list(struct redis_call *call, const struct zset_entries *list) {
    struct zset_entries sorted = *list;
    size_t at = 1;
    while (at < list->count && zset_entry_compare(&list->list[at - 1], &list->list[at]) <= 0)
        at++;
    if (at >= list->count)
        return sorted;
    sorted.list = arena_alloc(call->arena, list->count * sizeof(*sorted.list));
    memcpy(sorted.list, list->list, list->count * sizeof(*sorted.list));
    zset_entries_sort(&sorted);
    return sorted;
}

/* Says what is to be written of a sorted set: all, or what is not there from an earlier try. */
static void plan_entries(struct staging *staging, struct zset *zset) {
    struct redis_call *call = staging->call;
    const struct staged_before *before = call->ahead.before;
    struct zset_entries *sorted = &call->txn->sorted;
    *sorted = sorted_list(call, zset->listed);
    staging->puts = *sorted;
    if (before != NULL && bytes_equal(before->key, zset->key) &&
        before->hidden_version == call->txn->hidden_version) {
        zset->fresh = arena_copy(call->txn->arena, before->fresh);
        zset->fresh_pk = board_partition(zset->board->key, zset->fresh, call->txn->arena);
        plan_changes(staging, &before->list, sorted);
    }
    staging->count = staging->puts.count + staging->removals.count;
}

/* ---- lists ---- */

/* Lists what the call has written to the set. Members that have an end of their own, which a list
 * does not tell, stay writes of the commit. */
static void list_entries(struct redis_call *call, struct zset *zset) {
    struct zset_entries *all = ARENA_NEW(call->arena, struct zset_entries);
    size_t kept = 0;
    all->list = ARENA_ARRAY(call->arena, struct zset_entry, zset->count);
    for (size_t i = 0; i < zset->count; i++) {
        struct zset_write *written = zset->written[i];
        if (written->has && written->sets_end && written->end_s != 0)
            zset->written[kept++] = written;
        else if (written->has)
            all->list[all->count++] =
                (struct zset_entry){.member = written->member, .score = written->score};
    }
    zset->count = kept;
    zset->listed = all;
}

static void list_fields(struct redis_call *call, struct redis_key *key) {
    struct hash_fields *all = ARENA_NEW(call->arena, struct hash_fields);
    all->list = ARENA_ARRAY(call->arena, struct hash_field, key->write_count);
    for (size_t i = 0; i < key->write_count; i++) {
        const struct key_field *field = &key->writes[i]->field;
        if (key->writes[i]->has)
            all->list[all->count++] =
                (struct hash_field){.name = entry_member_of(field->key, call->arena),
                                    .value = field->value,
                                    .expires_ms = field->expires_ms};
    }
    key->write_count = 0;
    key->listed = all;
}

bool staging_is_needed(struct redis_call *call) {
    bool needed = false;
    for (struct zset *zset = call->txn->sets; zset != NULL; zset = zset->next) {
        if (zset->listed_later && zset->count > LIMIT_STORED_AT_ONCE)
            list_entries(call, zset);
        needed = needed || zset->listed != NULL;
    }
    for (struct redis_key *key = call->txn->keys; key != NULL; key = key->next) {
        if (key->listed_later && key->write_count > LIMIT_STORED_AT_ONCE)
            list_fields(call, key);
        needed = needed || key->listed != NULL;
    }
    return needed;
}

enum status staging_write(struct redis_call *call) {
    enum status status = OK;
    call->txn->hidden_version = hidden_version(call);
    for (struct zset *zset = call->txn->sets; zset != NULL && status == OK; zset = zset->next) {
        if (zset->listed == NULL)
            continue;
        struct staging staging = {.call = call, .zset = zset};
        plan_entries(&staging, zset);
        staging.note = (struct key_garbage){
            .id = zset->fresh, .partition = zset->fresh_pk, .entries = true, .staged = true};
        call->txn->staged = true;
        status = write_all(&staging);
    }
    for (struct redis_key *key = call->txn->keys; key != NULL && status == OK; key = key->next) {
        if (key->listed == NULL)
            continue;
        struct staging staging = {
            .call = call,
            .key = key,
            .count = key->listed->count,
            .note = {.id = key->head.generation, .partition = key->address.pk, .staged = true}};
        call->txn->staged = true;
        status = write_all(&staging);
    }
    return status;
}

bool staging_is_current(struct redis_call *call) {
    const struct zset_txn *txn = call->txn;
    return txn == NULL || !txn->staged || txn->hidden_version == hidden_version(call);
}

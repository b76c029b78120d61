#include "api/redis/set_staging.h"

#include "api/redis/key_txn_int.h"
#include "base/clock.h"
#include "base/limits.h"
#include "game/board/board_generation.h"
#include "game/keyspace/key_garbage.h"
#include "game/player/hidden_players.h"

bool staging_wants(const struct redis_call *call, size_t members) {
    return members > LIMIT_STORED_AT_ONCE && !call->nested && !call->frontend->blocks;
}

enum status staging_check_ahead(struct redis_call *call) {
    return call->budget != NULL && call->budget->ahead ? OK : call_spend_all(call);
}

/* ---- writing ---- */

/* What is being written. */
struct staging {
    struct redis_call *call;
    struct key_garbage note;
    const struct zset *zset;     /* or */
    const struct redis_key *key; /* of a hash or set */
    size_t count;
    struct arena arena;     /* of one commit */
    struct failure failure; /* of the last one */
};

static enum status commit_actions(struct staging *staging, struct action *actions, size_t count) {
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = &staging->arena,
                            .actions = actions,
                            .action_count = count,
                            .all_or_nothing = true};
    enum status status = game_wait(staging->call->frontend->game, &change);
    staging->failure = change.failure;
    for (size_t i = 0; i < count && status != OK && staging->failure.text.size == 0; i++)
        if (actions[i].failure.status != OK)
            staging->failure = actions[i].failure;
    return status;
}

/* Writes the note, or moves its end on. */
static struct action note_action(struct staging *staging) {
    staging->note.after_ms = clock_now_ms() + LIMIT_GENERATION_LEASE_MS;
    return key_garbage_note(staging->call->frontend->game, &staging->note, &staging->arena);
}

static bool is_note_old(const struct staging *staging) {
    return clock_now_ms() > staging->note.after_ms - LIMIT_GENERATION_LEASE_MS / 2;
}

static enum status entry_to_put(struct staging *staging, size_t at, struct action *out) {
    const struct zset_entry *entry = &staging->zset->listed->list[at];
    struct entry_write *write = ARENA_NEW(&staging->arena, struct entry_write);
    struct bytes key;
    enum status status =
        entry_key_of(entry->member, (struct scope){&staging->arena, &staging->failure}, &key);
    if (status != OK)
        return status;
    write->game = staging->call->frontend->game;
    write->board = staging->zset->board;
    write->flags = ENTRY_EXACT;
    write->points = points_of_double(&staging->arena, entry->score);
    write->now_ms = staging->call->txn->now_ms;
    entry_action(write, game_key(&staging->arena, staging->zset->fresh_pk, key),
                 zset_txn_write_entry, out);
    return OK;
}

static enum status field_to_put(struct staging *staging, size_t at, struct action *out) {
    const struct redis_key *key = staging->key;
    const struct hash_field *from = &key->listed->list[at];
    struct key_generation of = {staging->call->frontend->game, &key->address, key->head.generation};
    struct key_field field = {.expires_ms = from->expires_ms};
    if (key->head.type == KEY_HASH)
        field.value = from->value;
    if (!key_field_name(from->name, &staging->arena, &field.key))
        return failure_set(&staging->failure, &staging->arena, INVALID,
                           "the name of a member is too long");
    *out = key_field_put_action(&of, &field, &staging->arena);
    out->keeps_version = true; /* the key itself is as it was */
    return OK;
}

/* Writes the items from `first` on, as many as one commit has. */
static enum status write_some(struct staging *staging, size_t first) {
    size_t left = staging->count - first, count = 0;
    size_t some = left < LIMIT_STAGED_AT_ONCE ? left : LIMIT_STAGED_AT_ONCE;
    struct action *actions = ARENA_ARRAY(&staging->arena, struct action, some + 1);
    enum status status = OK;
    for (; count < some && status == OK; count++)
        status = staging->zset != NULL ? entry_to_put(staging, first + count, &actions[count])
                                       : field_to_put(staging, first + count, &actions[count]);
    if (is_note_old(staging))
        actions[count++] = note_action(staging);
    return status == OK ? commit_actions(staging, actions, count) : status;
}

/* A stop does not wait for seconds: the key stays as it was. */
static bool is_stopping(struct staging *staging) {
    bool stopping = atomic_load(&staging->call->frontend->stopping);
    if (stopping)
        failure_set(&staging->failure, &staging->arena, BUSY, "the server is being stopped");
    return stopping;
}

static enum status write_all(struct staging *staging) {
    struct redis_call *call = staging->call;
    arena_init(&staging->arena);
    struct action note = note_action(staging);
    enum status status = commit_actions(staging, &note, 1);
    for (size_t at = 0; at < staging->count && status == OK; at += LIMIT_STAGED_AT_ONCE) {
        arena_reset(&staging->arena);
        status = is_stopping(staging) ? BUSY : write_some(staging, at);
    }
    if (status != OK) {
        call->failure = staging->failure;
        call->failure.status = status;
        call->failure.text = arena_copy(call->arena, staging->failure.text);
    }
    arena_release(&staging->arena);
    return status;
}

static uint64_t hidden_version(const struct redis_call *call) {
    return hidden_players_version(call->frontend->game);
}

bool staging_is_needed(const struct redis_call *call) {
    for (const struct zset *zset = call->txn->sets; zset != NULL; zset = zset->next)
        if (zset->listed != NULL)
            return true;
    for (const struct redis_key *key = call->txn->keys; key != NULL; key = key->next)
        if (key->listed != NULL)
            return true;
    return false;
}

enum status staging_write(struct redis_call *call) {
    enum status status = OK;
    call->txn->hidden_version = hidden_version(call);
    for (struct zset *zset = call->txn->sets; zset != NULL && status == OK; zset = zset->next) {
        if (zset->listed == NULL)
            continue;
        struct staging staging = {
            .call = call,
            .zset = zset,
            .count = zset->listed->count,
            .note = {
                .id = zset->fresh, .partition = zset->fresh_pk, .entries = true, .staged = true}};
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

/* Keys of any type in a transaction: opening them, their type, strings, expiry, and the change that
 * is made of what was written. Fields are in key_txn_fields.c. */
#include "api/redis/key_txn_int.h"

#include "base/clock.h"
#include "base/limits.h"
#include "game/keyspace/key_garbage.h"
#include "table/inprocess.h"

/* ---- opening ---- */

static struct scope scope_of(struct redis_call *call) {
    return (struct scope){call->txn->arena, &call->failure};
}

static uint64_t partition_version(struct redis_call *call, struct bytes pk) {
    return zset_txn_see(call, pk).version;
}

static struct redis_key *find_key(const struct zset_txn *txn, struct bytes pk) {
    if (txn->keys_by_pk.count != 0)
        return map_get(&txn->keys_by_pk, pk);
    for (struct redis_key *key = txn->keys; key != NULL; key = key->next)
        if (bytes_equal(key->address.pk, pk))
            return key;
    return NULL;
}

static void add_key(struct zset_txn *txn, struct redis_key *key) {
    enum { MANY = 16 };
    key->next = txn->keys;
    txn->keys = key;
    if (++txn->key_count == MANY)
        for (struct redis_key *each = txn->keys; each != NULL; each = each->next)
            map_put(&txn->keys_by_pk, each->address.pk, each);
    else if (txn->key_count > MANY)
        map_put(&txn->keys_by_pk, key->address.pk, key);
}

/* Reads the head. One that has expired is removed by a call that writes, so that whatever takes its
 * name is alone. */
static enum status read_head(struct redis_call *call, struct redis_key *key) {
    struct game *game = call->frontend->game;
    struct get_request request = {.table = game->table,
                                  .key = key_head_key(&key->address, call->txn->arena),
                                  .consistent = true,
                                  .takes_stored = true};
    struct get_reply reply;
    if (call->budget != NULL && call->budget->ahead)
        key->seen = zset_txn_see(call, key->address.pk);
    enum status status = engine_get(game->engine, &request, scope_of(call), &reply);
    if (status != OK)
        return status;
    key->had = reply.found;
    struct key_head_source from = {game, zset_txn_now(call), scope_of(call)};
    status = key_head_read_reply(&from, &reply, &key->head);
    key->stored = key->head.generation;
    key->expired_ms = key->head.expires_ms;
    key->written = key->had && key->head.type == KEY_NONE;
    if (status == OK)
        status = call_spend_bytes(call, key->head.value.size);
    if (status == OK && key->stored.size != 0)
        status = key_drop_if_expired(call, key);
    return status;
}

#define ERROR_NO_ACCESS \
    "NOPERM this user has no permissions to access one of the keys used as arguments"

/* A caller who is restricted to partitions may have been let in for the board of that name alone.
 */
static enum status check_reached(struct redis_call *call, const struct redis_key *key) {
    bool elsewhere = key->address.db != call->db && (call->denied & DENIED_DATABASES) != 0;
    bool denied = key->head.type != KEY_NONE && (call->denied & DENIED_KEYS) != 0;
    return elsewhere || denied ? call_error(call, ERROR_NO_ACCESS) : OK;
}

enum status key_open_in(struct redis_call *call, unsigned db, struct bytes name,
                        struct redis_key **out) {
    struct zset_txn *txn = zset_txn_of(call);
    struct key_address address;
    enum status status = key_address_of(db, name, scope_of(call), &address);
    if (status != OK)
        return status;
    *out = find_key(txn, address.pk);
    if (*out != NULL)
        return check_reached(call, *out);
    status = call_spend(call, WORK_SET);
    if (status != OK)
        return status;
    struct redis_key *key = ARENA_NEW(txn->arena, struct redis_key);
    key->name = txn->arena == call->arena ? name : arena_copy(txn->arena, name);
    key->address = address;
    key->address.name = arena_copy(txn->arena, address.name);
    status = read_head(call, key);
    if (status != OK)
        return status;
    add_key(txn, key);
    *out = key;
    return check_reached(call, key);
}

enum status key_open(struct redis_call *call, struct bytes name, struct redis_key **out) {
    return key_open_in(call, call->db, name, out);
}

enum status key_zset(struct redis_call *call, struct redis_key *key, struct zset **out) {
    enum status status = OK;
    if (key->zset == NULL)
        status = zset_open_board(call, key_board_name(key->address.db, key->name, call->txn->arena),
                                 &key->zset);
    *out = key->zset;
    return status;
}

bool key_is_only_read(const struct redis_call *call) {
    return !call->nested && call->outer == NULL && !command_writes(call->command) &&
           (call->budget == NULL || !call->budget->ahead);
}

/* Whether a filter in memory says that no board has the key's name, so that it need not be opened.
 */
static bool is_surely_no_board(struct redis_call *call, const struct redis_key *key) {
    if (!key_is_only_read(call) || key->zset != NULL)
        return false;
    struct arena names;
    arena_init(&names);
    struct bytes board = key_board_name(key->address.db, key->name, &names);
    bool free = board_name_is_surely_free(call->frontend->game, board, &names);
    arena_release(&names);
    return free;
}

/* Whether the key is a sorted set with members. */
static enum status has_members(struct redis_call *call, struct redis_key *key, bool *out) {
    struct zset *zset;
    uint64_t size = 0;
    *out = false;
    if (is_surely_no_board(call, key))
        return OK;
    enum status status = key_zset(call, key, &zset);
    if (status == OK)
        status = zset_size(call, zset, &size);
    *out = size != 0;
    if (status == OK && *out && (call->denied & DENIED_BOARDS) != 0)
        return call_error(call, ERROR_NO_ACCESS); /* or for the key alone */
    return status;
}

enum status key_type_of(struct redis_call *call, struct redis_key *key, enum key_type *out) {
    bool members = false;
    *out = key->head.type;
    if (*out != KEY_NONE)
        return OK;
    enum status status = has_members(call, key, &members);
    if (members)
        *out = KEY_ZSET;
    return status;
}

enum status key_open_as(struct redis_call *call, struct bytes name, enum key_type type,
                        struct redis_key **out) {
    enum key_type now;
    enum status status = key_open(call, name, out);
    if (status == OK)
        status = key_type_of(call, *out, &now);
    if (status != OK)
        return status;
    (*out)->as = type;
    return now == KEY_NONE || now == type ? OK : call_error(call, ERROR_WRONG_TYPE);
}

bool key_is_there(const struct redis_key *key) {
    return key->head.type != KEY_NONE;
}

enum status key_check_zset(struct redis_call *call, struct bytes name) {
    struct redis_key *key;
    enum status status = key_open(call, name, &key);
    if (status != OK)
        return status;
    return key->head.type == KEY_NONE ? OK : call_error(call, ERROR_WRONG_TYPE);
}

void key_set_written(struct redis_key *key) {
    key->written = true;
}

/* ---- keys of any type ---- */

/* Forgets the head and the fields; what the table has of them goes with the commit. */
static void drop_head(struct redis_key *key) {
    if (key->stored.size != 0)
        key->garbage = key->stored;
    key->stored = (struct bytes){0};
    key->head = (struct key_head){0};
    key->written = true;
    key->write_count = 0;
    key->listed = NULL;
    key->listed_later = false;
    map_release(&key->by_field);
    key->by_field = (struct map){0};
}

enum status key_remove(struct redis_call *call, struct redis_key *key) {
    bool members = false;
    if (key->head.type != KEY_NONE) {
        drop_head(key);
        return OK;
    }
    enum status status = has_members(call, key, &members);
    return status == OK && members ? zset_clear(call, key->zset) : status;
}

enum status key_expires(struct redis_call *call, struct redis_key *key, int64_t *out_ms) {
    struct zset *zset;
    *out_ms = key->head.expires_ms;
    if (key->head.type != KEY_NONE)
        return OK;
    enum status status = key_zset(call, key, &zset);
    return status == OK ? zset_expires(call, zset, out_ms) : status;
}

enum status key_expire(struct redis_call *call, struct redis_key *key, int64_t at_ms) {
    struct zset *zset;
    if (key->head.type != KEY_NONE) {
        key->head.expires_ms = at_ms;
        key->written = true;
        return OK;
    }
    enum status status = key_zset(call, key, &zset);
    return status == OK ? zset_expire(call, zset, at_ms) : status;
}

static enum status copy_zset(struct redis_call *call, struct redis_key *from,
                             struct redis_key *to) {
    struct zset *source, *target;
    struct zset_entries *all = ARENA_NEW(call->arena, struct zset_entries);
    int64_t expires_ms = 0;
    enum status status = key_zset(call, from, &source);
    if (status == OK)
        status = key_zset(call, to, &target);
    if (status == OK)
        status = zset_all(call, source, all);
    if (status == OK)
        status = zset_expires(call, source, &expires_ms);
    if (status == OK)
        status = zset_fill(call, target, all);
    if (status == OK && expires_ms != 0)
        status = zset_expire(call, target, expires_ms);
    return status;
}

static enum status copy_fields(struct redis_call *call, struct redis_key *from,
                               struct redis_key *to) {
    struct hash_fields *all = ARENA_NEW(call->arena, struct hash_fields);
    enum status status = key_all_fields(call, from, all);
    to->as = from->head.type;
    if (status == OK)
        status = key_fill_fields(call, to, all);
    to->head.expires_ms = from->head.expires_ms;
    return status;
}

enum status key_copy(struct redis_call *call, struct redis_key *from, struct redis_key *to) {
    enum status status = key_remove(call, to);
    if (status != OK)
        return status;
    if (from->head.type == KEY_NONE)
        return copy_zset(call, from, to);
    if (from->head.type != KEY_STRING)
        return copy_fields(call, from, to);
    to->as = KEY_STRING;
    status = key_set_string(call, to, from->head.value);
    to->head.expires_ms = from->head.expires_ms;
    return status;
}

/* Of all versions together: the entries may be in another partition by then, so a sum would not do.
 */
uint64_t key_version(struct redis_call *call, const struct redis_key *key) {
    uint64_t version = partition_version(call, key->address.pk);
    if (key->zset == NULL)
        return version;
    const struct board *board = zset_board(key->zset);
    uint64_t entries = partition_version(call, board->pk);
    uint64_t state = partition_version(call, board_state_partition(board, call->arena));
    return version + entries * UINT64_C(0x9e3779b97f4a7c15) + state * UINT64_C(0xc2b2ae3d27d4eb4f);
}

void key_set_watched(struct redis_key *key) {
    key->watched = true;
    if (key->zset != NULL)
        key->zset->watched = true;
}

/* ---- strings ---- */

struct bytes key_string(const struct redis_key *key) {
    return key->head.value;
}

enum status key_set_string(struct redis_call *call, struct redis_key *key, struct bytes value) {
    if (value.size > KEY_VALUE_MAX)
        return call_error(call, ERROR_STRING_SIZE);
    key->head.type = KEY_STRING;
    key->head.value = value;
    key->written = true;
    return call_spend_bytes(call, value.size);
}

enum status key_overwrite(struct redis_call *call, struct redis_key *key, struct bytes value) {
    enum status status = key_remove(call, key);
    key->as = KEY_STRING;
    return status == OK ? key_set_string(call, key, value) : status;
}

/* ---- edits ---- */

/* Takes over the head that an edit has made. */
static enum status take_edited(struct redis_call *call, struct redis_key *key,
                               const struct key_edit *edit, const struct key_head *head) {
    if (edit->is_zset) {
        enum status status = zset_clear(call, key->zset);
        if (status != OK)
            return status;
    }
    if (key->head.generation.size != 0)
        drop_head(key);
    key->head = *head;
    key->head.generation = (struct bytes){0};
    key->written = true;
    return OK;
}

enum status key_run_edit(struct redis_call *call, struct key_edit *edit, redis_run *then) {
    struct redis_key *key;
    enum key_type type;
    enum status status = key_open(call, call->args[1], &key);
    if (status == OK)
        status = key_type_of(call, key, &type);
    if (status != OK)
        return status;
    if (type != KEY_NONE && edit->type != KEY_NONE && type != edit->type)
        return call_error(call, ERROR_WRONG_TYPE);
    edit->now_ms = zset_txn_now(call);
    edit->is_zset = type == KEY_ZSET;
    struct key_head head = key->head;
    if (edit->is_zset)
        status = key_expires(call, key, &head.expires_ms); /* which SET KEEPTTL keeps */
    if (status == OK)
        status = edit->apply(edit, &head, call->arena);
    if (status == OK && edit->error != NULL)
        return call_error(call, "%s", edit->error);
    if (status == OK && edit->changed)
        status = take_edited(call, key, edit, &head);
    call->user = edit;
    return status == OK ? then(call) : status;
}

/* ---- the change ---- */

void key_txn_release(struct zset_txn *txn) {
    for (struct redis_key *key = txn->keys; key != NULL; key = key->next)
        map_release(&key->by_field);
    txn->keys = NULL;
    txn->key_count = 0;
    map_release(&txn->keys_by_pk);
    txn->keys_by_pk = (struct map){0};
}

size_t key_txn_room(const struct zset_txn *txn) {
    size_t room = 0;
    for (const struct redis_key *key = txn->keys; key != NULL; key = key->next)
        room += key->written ? key->write_count + 3 : 0;
    return room;
}

static struct action head_action(struct redis_call *call, const struct redis_key *key) {
    struct item item = key_head_item(&key->head, &key->address, call->arena);
    if (item.count != 0)
        return (struct action){
            .kind = ACTION_PUT, .table = call->frontend->game->table, .item = item};
    return (struct action){.kind = ACTION_DELETE,
                           .table = call->frontend->game->table,
                           .item = key_head_key(&key->address, call->arena)};
}

static void append_fields(struct redis_call *call, const struct redis_key *key, struct action *to,
                          size_t *count) {
    struct key_generation of = {call->frontend->game, &key->address, key->head.generation};
    for (size_t i = 0; i < key->write_count; i++) {
        const struct field_write *write = key->writes[i];
        if (write->has)
            to[(*count)++] = key_field_put_action(&of, &write->field, call->arena);
        else if (write->had)
            to[(*count)++] = key_field_delete_action(&of, write->field.key, call->arena);
    }
}

enum status key_txn_actions(struct redis_call *call, struct action *to, size_t *count) {
    for (const struct redis_key *key = call->txn->keys; key != NULL; key = key->next) {
        if (!key->written)
            continue;
        if (key->had || key->head.type != KEY_NONE)
            to[(*count)++] = head_action(call, key);
        if (key->garbage.size != 0) {
            struct key_generation of = {call->frontend->game, &key->address, key->garbage};
            to[(*count)++] = key_garbage_action(&of, call->arena);
        }
        if (key->listed != NULL)
            to[(*count)++] =
                key_garbage_unnote(call->frontend->game, key->head.generation, call->arena);
        append_fields(call, key, to, count);
    }
    return OK;
}

void key_txn_seen(struct redis_call *call, bool strict, struct seen_versions *seen) {
    for (const struct redis_key *key = call->txn->keys; key != NULL; key = key->next)
        if (strict || key->written || key->watched) {
            seen_add(seen, key->seen, call->arena);
            seen_ends(seen, key->expired_ms);
        }
}

void key_txn_forget_read(struct zset_txn *txn) {
    struct redis_key **to = &txn->keys;
    for (struct redis_key *key = txn->keys; key != NULL; key = key->next)
        if (key->written) {
            *to = key;
            to = &key->next;
        } else {
            map_release(&key->by_field);
            txn->key_count--;
        }
    *to = NULL;
    map_release(&txn->keys_by_pk);
    txn->keys_by_pk = (struct map){0};
}

void key_txn_committed(struct redis_call *call) {
    const struct redis_key *key = call->txn == NULL ? NULL : call->txn->keys;
    for (; key != NULL; key = key->next)
        if (key->garbage.size != 0) {
            lazyfree_collect(&call->frontend->lazyfree);
            return;
        }
}

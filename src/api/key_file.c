#include "api/key_file.h"

void key_file_init(struct key_file *file) {
    pthread_mutex_init(&file->mutex, NULL);
}

void key_file_release(struct key_file *file) {
    pthread_mutex_destroy(&file->mutex);
}

void key_file_reload(struct key_file *file) {
    pthread_mutex_lock(&file->mutex);
    file->reload(file->context);
    pthread_mutex_unlock(&file->mutex);
}

/* --- what stays possible --- */

static bool is_operator(const struct access_key *key) {
    if ((key->allow & ACCESS_ADMIN) == 0 || key->client || key->partition_count != 0)
        return false;
    for (size_t i = 0; i < key->table_count; i++)
        if (bytes_equal(key->tables[i], BYTES("*")))
            return true;
    return false;
}

/* Whether somebody may administer everything, of the file as it would be or of the environment:
 * those are in force and not in the file as it was. */
static bool leaves_operator(const struct key_file *file, const struct keyring *was,
                            const struct keyring *will) {
    const struct keyring *now = keys_now(file->keys);
    for (size_t i = 0; i < will->count; i++)
        if (is_operator(will->keys[i]))
            return true;
    for (size_t i = 0; i < now->count; i++)
        if (is_operator(now->keys[i]) && keyring_find(was, now->keys[i]->id) == NULL)
            return true;
    return false;
}

/* --- the file as it would be --- */

static struct access_key changed_key(const struct access_key *old, const struct key_edit *edit) {
    struct access_key key = *old;
    if (edit->parts.name)
        key.name = edit->key.name;
    if (edit->parts.allow)
        key.allow = edit->key.allow;
    if (edit->parts.tables) {
        key.tables = edit->key.tables;
        key.table_count = edit->key.table_count;
    }
    if (edit->parts.partitions) {
        key.partitions = edit->key.partitions;
        key.partition_count = edit->key.partition_count;
    }
    return key;
}

/* The keys in their order, with the edit carried out. */
static enum status make_edited(const struct keyring *was, struct key_edit *edit, struct scope in,
                               struct keyring *will) {
    enum status status = OK;
    for (size_t i = 0; status == OK && i < was->count; i++) {
        struct access_key key = *was->keys[i];
        if (edit->kind != KEY_ADD && bytes_equal(key.id, edit->key.id)) {
            if (edit->kind == KEY_REMOVE)
                continue;
            key = changed_key(&key, edit);
            edit->key = key;
            edit->key.secret = (struct bytes){0};
        }
        status = keyring_add(will, &key, in);
    }
    if (status == OK && edit->kind == KEY_ADD) {
        access_key_draw(&edit->key, in.arena);
        status = keyring_add(will, &edit->key, in);
    }
    return status;
}

static enum status find_edited(const struct key_file *file, const struct keyring *was,
                               const struct key_edit *edit, struct scope in) {
    if (edit->kind == KEY_ADD || keyring_find(was, edit->key.id) != NULL)
        return OK;
    if (keyring_find(keys_now(file->keys), edit->key.id) != NULL)
        return failure_set(in.failure, in.arena, CONFLICT,
                           "the key %.*s comes from the server's environment: it is changed there",
                           BYTES_ARG(edit->key.id));
    return failure_set(in.failure, in.arena, NOT_FOUND, "there is no key %.*s",
                       BYTES_ARG(edit->key.id));
}

/* --- the whole --- */

/* A file that cannot be written is the operator's to mend, so it is told and not hidden. */
static enum status save_edited(const struct key_file *file, const struct keyring *will,
                               struct scope in) {
    struct failure inner = {0};
    if (keyring_save(will, file->path, (struct scope){in.arena, &inner}) == OK)
        return OK;
    return failure_set(in.failure, in.arena, CONFLICT, "%.*s", BYTES_ARG(inner.text));
}

static enum status edit_file(const struct key_file *file, struct key_edit *edit, struct scope in,
                             struct keyring *rings[2]) {
    struct keyring *was = rings[0], *will = rings[1];
    bool exposed = false;
    enum status status = keyring_load(was, file->path, in, &exposed);
    if (status != OK)
        return failure_set(in.failure, in.arena, CONFLICT, "%.*s",
                           BYTES_ARG(arena_copy(in.arena, in.failure->text)));
    status = find_edited(file, was, edit, in);
    if (status == OK)
        status = make_edited(was, edit, in, will);
    if (status == OK && !leaves_operator(file, was, will))
        return failure_set(in.failure, in.arena, CONFLICT,
                           "no key would be left that may administer all tables: make another one "
                           "first");
    return status == OK ? save_edited(file, will, in) : status;
}

enum status key_file_edit(struct key_file *file, struct key_edit *edit, struct scope in) {
    if (file == NULL || file->keys == NULL || file->path == NULL || file->path[0] == '\0')
        return failure_set(in.failure, in.arena, CONFLICT,
                           "this server was started without a key file: make one with gametable "
                           "keys add --keys keys.json --table '*' --allow all, and start the "
                           "server with --keys keys.json");
    struct keyring *rings[2] = {keyring_new(), keyring_new()};
    pthread_mutex_lock(&file->mutex);
    enum status status = edit_file(file, edit, in, rings);
    if (status == OK && edit->kind == KEY_CHANGE) { /* it outlives the rings */
        edit->key.id = arena_copy(in.arena, edit->key.id);
        edit->key.name = arena_copy(in.arena, edit->key.name);
        edit->key.tables = access_list_copy(in.arena, edit->key.tables, edit->key.table_count);
        edit->key.partitions =
            access_list_copy(in.arena, edit->key.partitions, edit->key.partition_count);
    }
    if (status == OK)
        file->reload(file->context);
    pthread_mutex_unlock(&file->mutex);
    keyring_free(rings[0]);
    keyring_free(rings[1]);
    return status;
}

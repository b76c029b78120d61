/* Access keys, for operators: listed without their secrets, made, changed, revoked
 * (api/key_file.h).
 *
 * Who changes keys by a session of the console shows the secret of its key once more, in
 * X-Key-Secret: a session that somebody has got hold of cannot make itself a key that outlives it.
 */
#include "api/console_sessions.h"
#include "api/key_file.h"
#include "api/rest/rest_forms.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "base/limits.h"

static const char *const words_role[] = {"server", "client", NULL};

enum status rest_keys_list(struct rest_call *call) {
    const struct keys *keys = call->rest->settings.keys;
    const struct keyring *ring = keys == NULL ? NULL : keys_now(keys);
    const struct key_file *file = call->rest->settings.key_file;
    struct buf *to = call->reply;
    buf_byte(to, '{');
    rest_put_bool(to, "changeable",
                  ring != NULL && file != NULL && file->path != NULL && file->path[0] != '\0');
    rest_put_name(to, "keys");
    buf_byte(to, '[');
    for (size_t i = 0; ring != NULL && i < ring->count; i++) {
        const struct access_key *key = ring->keys[i];
        rest_put_comma(to);
        buf_byte(to, '{');
        rest_put_key(to, key);
        rest_put_time_if(to, "lastUsed", atomic_load(key->used_s) * 1000);
        buf_byte(to, '}');
    }
    buf_lit(to, "]}");
    return OK;
}

/* --- changing --- */

static enum status check_secret(struct rest_call *call) {
    const struct rest_settings *settings = &call->rest->settings;
    struct bytes secret = http_header(call->exchange, "X-Key-Secret");
    struct caller again = {0};
    if (!call->caller.console || call->caller.key == NULL)
        return OK;
    if (console_sessions_guessed(settings->sessions)) {
        call->status = 429;
        return rest_fail(call, DENIED, "too many wrong secrets: try again in a minute");
    }
    if (secret.size != 0 &&
        caller_find_secret(settings->keys, call->caller.key->id, secret, &again))
        return OK;
    if (secret.size != 0)
        console_sessions_note_guess(settings->sessions);
    return rest_fail(call, DENIED,
                     "changing keys in the console takes the secret of the key it was opened "
                     "with, in X-Key-Secret");
}

static void edit_work(struct rest_call *call) {
    call->worked = key_file_edit(call->rest->settings.key_file, call->state,
                                 (struct scope){call->arena, &call->failure});
}

static enum status answer_edited(struct rest_call *call) {
    const struct key_edit *edit = call->state;
    if (call->worked != OK || edit->kind == KEY_REMOVE)
        return call->worked;
    buf_byte(call->reply, '{');
    rest_put_key(call->reply, &edit->key);
    if (edit->kind == KEY_ADD) {
        rest_put_text(call->reply, "secret", edit->key.secret);
        buf_lit(&call->headers, "Cache-Control: no-store\r\n");
    }
    buf_byte(call->reply, '}');
    return OK;
}

static const struct bytes *read_names(struct rest_call *call, const char *member, size_t *count) {
    const struct json *list = form_get(&call->body, member);
    *count = list == NULL ? 0 : list->count;
    struct bytes *names = ARENA_ARRAY(call->arena, struct bytes, *count + 1);
    for (size_t i = 0; i < *count; i++)
        names[i] = list->elements[i].text;
    return names;
}

static enum status read_allow(struct rest_call *call, unsigned *allow) {
    size_t count;
    const struct bytes *names = read_names(call, "allow", &count);
    for (size_t i = 0; i < count; i++) {
        unsigned access = access_named(names[i]);
        if (access == 0)
            return rest_invalid(call, "allow", "allow is of read, write, admin, all");
        *allow |= access;
    }
    return OK;
}

/* What the body says of a key. */
static enum status read_key(struct rest_call *call, struct key_edit *edit) {
    struct access_key *key = &edit->key;
    edit->parts.name = json_get(&call->body, BYTES("name")) != NULL;
    edit->parts.allow = form_get(&call->body, "allow") != NULL;
    edit->parts.tables = form_get(&call->body, "tables") != NULL;
    edit->parts.partitions = json_get(&call->body, BYTES("partitions")) != NULL;
    key->name = form_text(&call->body, "name");
    key->tables = read_names(call, "tables", &key->table_count);
    key->partitions = read_names(call, "partitions", &key->partition_count);
    key->client = bytes_equal(form_text(&call->body, "role"), BYTES("client"));
    return read_allow(call, &key->allow);
}

static enum status begin_edit(struct rest_call *call, enum key_edit_kind kind) {
    struct key_edit *edit = ARENA_NEW(call->arena, struct key_edit);
    enum status status = check_secret(call);
    edit->kind = kind;
    if (status == OK && kind != KEY_REMOVE)
        status = read_key(call, edit);
    if (status != OK)
        return status;
    if (kind != KEY_ADD)
        edit->key.id = call->path[0];
    call->state = edit;
    return rest_background(call, edit_work, answer_edited);
}

enum status rest_keys_add(struct rest_call *call) {
    return begin_edit(call, KEY_ADD);
}

enum status rest_keys_change(struct rest_call *call) {
    return begin_edit(call, KEY_CHANGE);
}

enum status rest_keys_remove(struct rest_call *call) {
    return begin_edit(call, KEY_REMOVE);
}

/* --- forms --- */

static const struct form_field keys_fields[] = {
    {"changeable", FORM_FLAG, FORM_REQUIRED, "The server has a key file, so keys can be changed"},
    {"keys", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_key, .element = FORM_OBJECT},
    {0},
};
const struct form form_keys = {"AccessKeys", "Who may come in", keys_fields};

#define NAMES 1, LIMIT_KEY_NAMES

static const struct form_field key_new_fields[] = {
    {"name", FORM_TEXT, FORM_NULLABLE, "Who it is for", 0, 256},
    {"role", FORM_CHOICE, 0, "client: what a player may do, and no table; server unless told",
     .choices = words_role},
    {"allow", FORM_LIST, FORM_REQUIRED, "read, write, admin, all", NAMES, .element = FORM_TEXT},
    {"tables", FORM_LIST, FORM_REQUIRED, "By name, or by a beginning and *", NAMES,
     .element = FORM_TEXT},
    {"partitions", FORM_LIST, FORM_NULLABLE, "That it is kept to; left out: all", NAMES,
     .element = FORM_TEXT},
    {0},
};
const struct form form_key_new = {"AccessKeyNew", "An access key to make", key_new_fields};

static const struct form_field key_patch_fields[] = {
    {"name", FORM_TEXT, FORM_NULLABLE, "Who it is for; null takes it away", 0, 256},
    {"allow", FORM_LIST, 0, "read, write, admin, all", NAMES, .element = FORM_TEXT},
    {"tables", FORM_LIST, 0, "By name, or by a beginning and *", NAMES, .element = FORM_TEXT},
    {"partitions", FORM_LIST, FORM_NULLABLE, "That it is kept to; null: all", NAMES,
     .element = FORM_TEXT},
    {0},
};
const struct form form_key_patch = {"AccessKeyPatch", "What is to be another; the rest stays",
                                    key_patch_fields};

static const struct form_field key_made_fields[] = {
    {"id", FORM_TEXT, FORM_REQUIRED, NULL},
    {"secret", FORM_TEXT, FORM_REQUIRED, "Told this once"},
    {"name", FORM_TEXT, 0, "Who it is for"},
    {"role", FORM_TEXT, FORM_REQUIRED, "server or client"},
    {"allow", FORM_LIST, FORM_REQUIRED, "read, write, admin", .element = FORM_TEXT},
    {"tables", FORM_LIST, FORM_REQUIRED, "By name, or by a beginning and *", .element = FORM_TEXT},
    {"partitions", FORM_LIST, 0, "That it is kept to", .element = FORM_TEXT},
    {0},
};
const struct form form_key_made = {"AccessKeyMade", "A new access key with its secret",
                                   key_made_fields};

/* Fields of hashes and members of sets in a transaction.
 *
 * Those of a small key are in its head, and are changed there. Those of a large one are items
 * (key_fields.h): what the call writes is kept in a list, which reads look at first. A key that
 * grows past what one item holds becomes large, with all of its fields in that list. */
#include "api/redis/key_txn_int.h"

#include "api/redis/set_staging.h"
#include "base/limits.h"

enum { FIELD_SIZE = 512 }; /* bytes that a field takes while it is read, besides its own */

static bool is_large(const struct redis_key *key) {
    return key->head.generation.size != 0;
}

static struct key_generation generation_of(struct redis_call *call, const struct redis_key *key) {
    return (struct key_generation){call->frontend->game, &key->address, key->head.generation};
}

/* The escaped name; false if it is too long, so that there can be no such field. */
static bool field_key(struct redis_call *call, struct bytes name, struct bytes *out) {
    return key_field_name(name, call->txn->arena, out);
}

static bool is_live(struct redis_call *call, const struct key_field *field) {
    return field->expires_ms == 0 || field->expires_ms > zset_txn_now(call);
}

static void fill_found(const struct key_field *field, struct hash_field *out) {
    out->found = true;
    out->value = field->value;
    out->expires_ms = field->expires_ms;
}

/* ---- reading ---- */

static struct field_write *find_write(const struct redis_key *key, struct bytes field) {
    return key->write_count == 0 ? NULL : map_get(&key->by_field, field);
}

static enum status spend_values(struct redis_call *call, const struct key_field *list,
                                size_t count) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += list[i].value.size;
    return call_spend_bytes(call, bytes);
}

/* Looks up what the call has not written itself. */
static enum status lookup_stored(struct redis_call *call, const struct redis_key *key,
                                 struct hash_field **ask, const struct bytes *keys, size_t count) {
    struct key_generation of = generation_of(call, key);
    struct key_field *list = ARENA_ARRAY(call->arena, struct key_field, count);
    bool *found = ARENA_ARRAY(call->arena, bool, count);
    struct key_field_lookup lookup = {list, found, count};
    for (size_t i = 0; i < count; i++)
        list[i].key = keys[i];
    enum status status = call_need(call, count * FIELD_SIZE);
    if (status == OK && count != 0)
        status = key_fields_get(&of, &lookup, (struct scope){call->arena, &call->failure});
    if (status == OK)
        status = spend_values(call, list, count);
    for (size_t i = 0; i < count && status == OK; i++)
        if (found[i] && is_live(call, &list[i]))
            fill_found(&list[i], ask[i]);
    return status;
}

static enum status lookup_large(struct redis_call *call, const struct redis_key *key,
                                struct hash_field *list, size_t count) {
    struct hash_field **ask = arena_alloc(call->arena, count * sizeof(struct hash_field *) + 1);
    struct bytes *keys = arena_alloc(call->arena, count * sizeof(*keys) + 1);
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        struct bytes field;
        if (!field_key(call, list[i].name, &field))
            continue;
        const struct field_write *write = find_write(key, field);
        if (write != NULL && write->has && is_live(call, &write->field))
            fill_found(&write->field, &list[i]);
        if (write != NULL || key->stored.size == 0)
            continue;
        ask[asked] = &list[i];
        keys[asked++] = field;
    }
    return lookup_stored(call, key, ask, keys, asked);
}

enum status key_fields(struct redis_call *call, struct redis_key *key, struct hash_field *list,
                       size_t count) {
    enum status status = call_spend(call, WORK_MEMBER * count);
    for (size_t i = 0; i < count; i++)
        list[i].found = false;
    if (status != OK || !key_is_there(key))
        return status;
    if (is_large(key))
        return lookup_large(call, key, list, count);
    for (size_t i = 0; i < count; i++) {
        struct bytes field;
        const struct key_field *found =
            field_key(call, list[i].name, &field) ? key_head_find(&key->head, field) : NULL;
        if (found != NULL)
            fill_found(found, &list[i]);
    }
    return OK;
}

/* ---- listing ---- */

static void list_field(struct redis_call *call, const struct key_field *field,
                       struct hash_fields *to) {
    to->list[to->count++] = (struct hash_field){.name = entry_member_of(field->key, call->arena),
                                                .value = field->value,
                                                .expires_ms = field->expires_ms,
                                                .found = true};
}

static enum status list_small(struct redis_call *call, const struct redis_key *key,
                              struct hash_fields *out) {
    out->list = arena_alloc(call->arena, (size_t)(key->head.count + 1) * sizeof(*out->list));
    for (uint64_t i = 0; i < key->head.count; i++)
        list_field(call, &key->head.fields[i], out);
    return OK;
}

/* Makes room for so many more fields in the list. */
static void grow_list(struct redis_call *call, struct hash_fields *list, size_t *room,
                      size_t more) {
    if (list->count + more <= *room)
        return;
    size_t wanted = *room * 2 > list->count + more ? *room * 2 : list->count + more;
    list->list = arena_grow(call->arena, list->list, *room * sizeof(*list->list),
                            wanted * sizeof(*list->list));
    *room = wanted;
}

/* Appends a page of what the table has, without what the call has written. */
static enum status list_page(struct redis_call *call, const struct redis_key *key,
                             struct key_field_page *page, struct hash_fields *out, size_t *room) {
    struct key_generation of = generation_of(call, key);
    page->brief = call_is_bounded(call);
    enum status status = key_fields_page(&of, (struct scope){call->arena, &call->failure}, page);
    if (status == WOULD_BLOCK)
        return call_spend_all(call);
    if (status == OK)
        status = spend_values(call, page->list, page->count);
    if (status != OK)
        return status;
    grow_list(call, out, room, page->count);
    for (size_t i = 0; i < page->count; i++)
        if (find_write(key, page->list[i].key) == NULL && is_live(call, &page->list[i]))
            list_field(call, &page->list[i], out);
    if (page->count != 0)
        page->after = page->list[page->count - 1].key;
    return OK;
}

static enum status list_large(struct redis_call *call, const struct redis_key *key,
                              struct hash_fields *out) {
    struct key_field_page page = {0}; /* all of one snapshot */
    size_t room = 0;
    enum status status = call_need(call, key->head.count * FIELD_SIZE);
    if (status == OK && key->stored.size != 0)
        status = list_page(call, key, &page, out, &room);
    grow_list(call, out, &room, key->write_count);
    for (size_t i = 0; i < key->write_count && status == OK; i++)
        if (key->writes[i]->has && is_live(call, &key->writes[i]->field))
            list_field(call, &key->writes[i]->field, out);
    return status;
}

enum status key_all_fields(struct redis_call *call, struct redis_key *key,
                           struct hash_fields *out) {
    *out = (struct hash_fields){0};
    enum status status = call_spend(call, WORK_ENTRY * key->head.count);
    if (status != OK || !key_is_there(key))
        return status;
    return is_large(key) ? list_large(call, key, out) : list_small(call, key, out);
}

enum status key_field_at(struct redis_call *call, struct redis_key *key, uint64_t rank,
                         struct hash_fields *to) {
    struct key_generation of = generation_of(call, key);
    struct key_field_page page = {.limit = 1, .skip = rank, .nonblocking = call_is_bounded(call)};
    enum status status = call_spend(call, WORK_MEMBER);
    if (status == OK)
        status = key_fields_page(&of, (struct scope){call->arena, &call->failure}, &page);
    if (status == WOULD_BLOCK)
        return call_spend_all(call);
    if (status == OK && page.count != 0 && is_live(call, &page.list[0]))
        list_field(call, &page.list[0], to);
    return status;
}

bool key_has_ranks(const struct redis_key *key) {
    return is_large(key) && key->stored.size != 0 && key->write_count == 0;
}

enum status key_page_fields(struct redis_call *call, struct redis_key *key,
                            struct field_page *page) {
    struct key_field_page stored = {.after = page->after, .limit = page->limit};
    size_t room = 0;
    page->next = (struct bytes){0};
    page->fields = (struct hash_fields){0};
    if (!is_large(key) || key->write_count != 0 || call->nested)
        return key_all_fields(call, key, &page->fields);
    enum status status = call_spend(call, WORK_ENTRY * page->limit);
    if (status == OK)
        status = list_page(call, key, &stored, &page->fields, &room);
    if (status == OK && stored.more)
        page->next = stored.after;
    return status;
}

enum status key_field_count(struct redis_call *call, struct redis_key *key, uint64_t *out) {
    struct hash_fields all;
    *out = key_is_there(key) ? key->head.count : 0;
    if (!is_large(key) || key->head.fields_end_ms == 0 ||
        key->head.fields_end_ms > zset_txn_now(call))
        return OK;
    enum status status = key_all_fields(call, key, &all); /* some have expired */
    *out = all.count;
    return status;
}

/* Most often one of the first fields that are read is there, and that is all there is to know. */
enum status key_drop_if_expired(struct redis_call *call, struct redis_key *key) {
    struct key_generation of = generation_of(call, key);
    struct key_field_page page = {.limit = 64, .more = true};
    enum status status = OK;
    bool live = key->head.fields_end_ms == 0 || key->head.fields_end_ms > zset_txn_now(call);
    while (!live && page.more && status == OK) {
        status = call_spend(call, WORK_ENTRY * page.limit);
        if (status == OK)
            status = key_fields_page(&of, (struct scope){call->arena, &call->failure}, &page);
        for (size_t i = 0; i < page.count && status == OK && !live; i++)
            live = is_live(call, &page.list[i]);
        if (page.count != 0)
            page.after = page.list[page.count - 1].key;
    }
    if (live || status != OK)
        return status;
    key->garbage = key->stored;
    key->stored = (struct bytes){0};
    key->head = (struct key_head){0};
    key->written = true;
    return OK;
}

/* ---- writing ---- */

static struct field_write *add_write(struct redis_call *call, struct redis_key *key,
                                     const struct key_field *field) {
    if (key->write_count == key->write_room) {
        size_t room = key->write_room == 0 ? 8 : key->write_room * 2;
        key->writes =
            arena_grow(call->arena, key->writes, key->write_room * sizeof(struct field_write *),
                       room * sizeof(struct field_write *));
        key->write_room = room;
    }
    struct field_write *write = ARENA_NEW(call->arena, struct field_write);
    write->field = *field;
    key->writes[key->write_count++] = write;
    map_put(&key->by_field, write->field.key, write);
    return write;
}

/* The key has outgrown its head: each field becomes an item. */
static void make_large(struct redis_call *call, struct redis_key *key) {
    key->write_count = 0;
    for (uint64_t i = 0; i < key->head.count; i++)
        add_write(call, key, &key->head.fields[i])->has = true;
    key->head.generation = key_generation_new(call->arena);
    key->head.fields = NULL;
    key->head.room = 0;
}

/* The write of a field of a large key: a new one that has it as the table does, if need be. */
static enum status open_write(struct redis_call *call, struct redis_key *key, struct bytes field,
                              struct field_write **out) {
    struct key_field stored = {.key = field};
    struct key_generation of = generation_of(call, key);
    bool found = false;
    struct key_field_lookup lookup = {&stored, &found, 1};
    enum status status = call_spend(call, WORK_MEMBER);
    *out = find_write(key, field);
    if (*out != NULL || status != OK)
        return status;
    if (key->stored.size != 0)
        status = key_fields_get(&of, &lookup, (struct scope){call->arena, &call->failure});
    if (status == OK) {
        *out = add_write(call, key, &stored);
        (*out)->had = (*out)->has = found;
    }
    return status;
}

static enum status put_large(struct redis_call *call, struct redis_key *key,
                             const struct key_field *field, bool *added) {
    struct field_write *write;
    enum status status = open_write(call, key, field->key, &write);
    if (status != OK)
        return status;
    *added = !write->has || !is_live(call, &write->field);
    key->head.count += !write->has;
    write->has = true;
    write->field.value = field->value;
    write->field.expires_ms = field->expires_ms;
    if (field->expires_ms != 0 &&
        (key->head.fields_end_ms == 0 || field->expires_ms < key->head.fields_end_ms))
        key->head.fields_end_ms = field->expires_ms;
    return OK;
}

enum status key_put_field(struct redis_call *call, struct redis_key *key,
                          const struct hash_field *field, bool *added) {
    struct key_field put = {.value = field->value, .expires_ms = field->expires_ms};
    bool ignored, *tell = added != NULL ? added : &ignored;
    if (!field_key(call, field->name, &put.key))
        return call_error(call,
                          "ERR the name of a field or member has %zu bytes: at most %d can "
                          "be, and fewer if it is not UTF-8",
                          field->name.size, LIMIT_KEY_FIELD);
    if (field->value.size > KEY_VALUE_MAX)
        return call_error(call, ERROR_STRING_SIZE);
    if (!key_is_there(key))
        key->head.type = key->as;
    key_set_written(key);
    if (is_large(key))
        return put_large(call, key, &put, tell);
    *tell = key_head_put(&key->head, &put, call->arena);
    if (!key_head_is_small(&key->head))
        make_large(call, key);
    return OK;
}

/* All of it will be written before the commit: the head says what there is then. */
static void list_fields(struct redis_call *call, struct redis_key *key,
                        const struct hash_fields *fields) {
    key->head = (struct key_head){.type = key->as,
                                  .generation = key_generation_new(call->txn->arena),
                                  .count = fields->count};
    for (size_t i = 0; i < fields->count; i++) {
        int64_t end_ms = fields->list[i].expires_ms;
        if (end_ms != 0 && (key->head.fields_end_ms == 0 || end_ms < key->head.fields_end_ms))
            key->head.fields_end_ms = end_ms;
    }
    key->listed = fields;
    key_set_written(key);
}

enum status key_fill_fields(struct redis_call *call, struct redis_key *key,
                            const struct hash_fields *fields) {
    enum status status = OK;
    if (staging_wants(call, fields->count)) {
        status = staging_check_ahead(call);
        key->listed_later = staging_is_later(call);
        if (status == OK && !key->listed_later)
            list_fields(call, key, fields);
        if (status != OK || !key->listed_later)
            return status;
    } else if (fields->count > LIMIT_CHANGE_ACTIONS)
        return call_error(call, "ERR a key of more than %d members cannot be stored in one step",
                          LIMIT_CHANGE_ACTIONS);
    for (size_t i = 0; i < fields->count && status == OK; i++)
        status = key_put_field(call, key, &fields->list[i], NULL);
    return status;
}

static enum status remove_large(struct redis_call *call, struct redis_key *key, struct bytes field,
                                bool *removed) {
    struct field_write *write;
    enum status status = open_write(call, key, field, &write);
    if (status != OK || !write->has)
        return status;
    *removed = is_live(call, &write->field);
    write->has = false;
    key_set_written(key);
    return --key->head.count == 0 ? key_remove(call, key) : OK;
}

enum status key_remove_field(struct redis_call *call, struct redis_key *key, struct bytes name,
                             bool *removed) {
    struct bytes field;
    bool ignored, *tell = removed != NULL ? removed : &ignored;
    *tell = false;
    if (!key_is_there(key) || !field_key(call, name, &field))
        return OK;
    if (is_large(key))
        return remove_large(call, key, field, tell);
    *tell = key_head_remove(&key->head, field);
    if (!*tell)
        return OK;
    key_set_written(key);
    if (!key_is_there(key))
        key->head = (struct key_head){0};
    return OK;
}

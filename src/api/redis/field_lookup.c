#include "api/redis/field_lookup.h"

#include "api/redis/redis_frontend_int.h"
#include "base/clock.h"

/* ---- fields of large keys ---- */

/* Looks up `count` fields of one generation. */
static enum status lookup_items(struct redis_call *call, struct bytes generation,
                                struct field_lookup *list, size_t count) {
    struct scope in = {call->arena, &call->failure};
    struct key_address address;
    struct key_generation of = {call->frontend->game, &address, generation};
    struct key_field *fields = ARENA_ARRAY(call->arena, struct key_field, count);
    bool *found = ARENA_ARRAY(call->arena, bool, count);
    enum status status = key_address_of(call->db, list->key, in, &address);
    for (size_t i = 0; i < count; i++)
        if (!key_field_name(list[i].field, call->arena, &fields[i].key))
            fields[i].key = BYTES(""); /* it is too long: no field has this key */
    if (status == OK)
        status = key_fields_get(&of, &(struct key_field_lookup){fields, found, count}, in);
    int64_t now_ms = clock_now_ms();
    for (size_t i = 0; i < count && status == OK; i++) {
        bool live = fields[i].expires_ms == 0 || fields[i].expires_ms > now_ms;
        list[i].found = found[i] && live && fields[i].key.size != 0;
        list[i].value = fields[i].value;
    }
    return status;
}

/* A field that was not found may have been in the generation that has followed on this one since
 * the head was read: then all is looked up once more. */
static enum status check_generation(struct redis_call *call, const struct field_lookup *missed,
                                    struct bytes generation, bool *again) {
    struct key_head head;
    enum status status = key_read_heads(call, &missed->key, 1, &head);
    *again = status == OK && !bytes_equal(head.generation, generation);
    return status;
}

static enum status lookup_large(struct redis_call *call, const struct key_head *heads,
                                struct field_lookups *lookups, bool *again) {
    enum status status = OK;
    for (size_t i = 0, end; i < lookups->count && status == OK && !*again; i = end) {
        struct bytes generation = heads[i].generation;
        for (end = i + 1; end < lookups->count && generation.size != 0 &&
                          bytes_equal(heads[end].generation, generation);)
            end++;
        if (generation.size == 0)
            continue;
        status = lookup_items(call, generation, &lookups->list[i], end - i);
        for (size_t j = i; j < end && status == OK && !*again; j++)
            if (!lookups->list[j].found)
                status = check_generation(call, &lookups->list[j], generation, again);
    }
    return status;
}

/* ---- all ---- */

static enum status lookup_small(struct redis_call *call, const struct key_head *head,
                                enum key_type type, struct field_lookup *out) {
    struct bytes key;
    out->found = false;
    if (head->type != KEY_NONE && head->type != type)
        return call_error(call, ERROR_WRONG_TYPE);
    if (head->type == KEY_NONE || head->generation.size != 0 ||
        !key_field_name(out->field, call->arena, &key))
        return OK;
    const struct key_field *field = key_head_find(head, key);
    out->found = field != NULL;
    if (field != NULL)
        out->value = field->value;
    return OK;
}

/* Reads the heads; keys that follow one another and are the same are read once. */
static enum status read_heads(struct redis_call *call, const struct field_lookups *lookups,
                              struct key_head *heads) {
    struct bytes *names = arena_alloc(call->arena, lookups->count * sizeof(*names));
    struct key_head *found = ARENA_ARRAY(call->arena, struct key_head, lookups->count);
    size_t count = 0;
    for (size_t i = 0; i < lookups->count; i++)
        if (i == 0 || !bytes_equal(lookups->list[i].key, names[count - 1]))
            names[count++] = lookups->list[i].key;
    enum status status = key_read_heads(call, names, count, found);
    size_t at = 0;
    for (size_t i = 0; i < lookups->count && status == OK; i++) {
        at += i != 0 && !bytes_equal(lookups->list[i].key, names[at]);
        heads[i] = found[at];
    }
    return status;
}

static enum status lookup_all(struct redis_call *call, enum key_type type,
                              struct field_lookups *lookups, bool *again) {
    struct key_head *heads = ARENA_ARRAY(call->arena, struct key_head, lookups->count);
    bool large = false;
    *again = false;
    enum status status = read_heads(call, lookups, heads);
    for (size_t i = 0; i < lookups->count && status == OK; i++) {
        status = lookup_small(call, &heads[i], type, &lookups->list[i]);
        large = large || heads[i].generation.size != 0;
    }
    return status == OK && large ? lookup_large(call, heads, lookups, again) : status;
}

static enum status lookup_in_txn(struct redis_call *call, enum key_type type,
                                 struct field_lookup *out) {
    struct hash_field field = {.name = out->field};
    struct redis_key *key;
    enum status status = key_open_as(call, out->key, type, &key);
    if (status == OK)
        status = key_fields(call, key, &field, 1);
    out->found = field.found;
    out->value = field.value;
    return status;
}

enum status field_lookup(struct redis_call *call, enum key_type type, struct field_lookups *out) {
    enum { TRIES = 8 };
    bool again = true;
    enum status status = OK;
    out->count = (call->count - 1) / 2;
    out->list = ARENA_ARRAY(call->arena, struct field_lookup, out->count);
    for (size_t i = 0; i < out->count; i++) {
        out->list[i].key = call->args[1 + 2 * i];
        out->list[i].field = call->args[2 + 2 * i];
    }
    if (call->nested)
        return lookup_in_txn(call, type, &out->list[0]);
    for (int i = 0; i < TRIES && again && status == OK; i++)
        status = lookup_all(call, type, out, &again);
    return status;
}

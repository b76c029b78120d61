#include "game/keyspace/key_head.h"

#include "base/decimal.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "game/record.h"
#include "value/number.h"

#include <inttypes.h>

#define SORT_KEY BYTES("KEY")

static const char *const type_names[] = {"none", "string", "hash", "set", "zset"};

struct bytes key_type_name(enum key_type type) {
    return bytes_str(type_names[type]);
}

struct item key_head_key(const struct key_address *address, struct arena *arena) {
    return game_key(arena, address->pk, SORT_KEY);
}

bool key_address_of_head(const struct item *item, struct key_address *out) {
    struct bytes list = item_string(item, BYTES("GSI1PK")), prefix = BYTES("KEYS#");
    unsigned db = 0;
    *out = (struct key_address){.name = item_string(item, BYTES("GSI1SK")),
                                .pk = item_string(item, GAME_PK)};
    if (!bytes_starts(list, prefix) || out->name.size == 0 || out->pk.size == 0)
        return false;
    for (size_t i = prefix.size; i < list.size && db < KEY_DATABASES; i++)
        db = db * 10 + (unsigned)(list.data[i] - '0');
    out->db = db;
    return db < KEY_DATABASES;
}

/* ---- reading ---- */

static enum key_type type_named(struct bytes name) {
    for (int type = KEY_STRING; type <= KEY_SET; type++)
        if (bytes_equal(name, bytes_str(type_names[type])))
            return (enum key_type)type;
    return KEY_NONE;
}

static bool is_text(const struct value *value) {
    return value != NULL && (value->type == VALUE_S || value->type == VALUE_B);
}

/* The attributes that a head is read from, in the order of their names. */
enum head_attribute {
    HEAD_COUNT,
    HEAD_EXPIRES,
    HEAD_FIELD_ENDS,
    HEAD_FIELDS,
    HEAD_FIELDS_END,
    HEAD_GENERATION,
    HEAD_MEMBERS,
    HEAD_TYPE,
    HEAD_VALUE,
    HEAD_ATTRIBUTES
};
#define NAME(literal) \
    { (const uint8_t *)(literal), sizeof(literal) - 1 }
static const struct bytes head_names[HEAD_ATTRIBUTES] = {
    NAME("count"),      NAME("expiresAt"), NAME("fieldEnds"), NAME("fields"), NAME("fieldsEndAt"),
    NAME("generation"), NAME("members"),   NAME("type"),      NAME("value")};

static struct bytes string_of(const struct value *value) {
    return value->type == VALUE_S ? value->bytes : (struct bytes){0};
}

static int64_t int_of(const struct value *value) {
    int64_t out;
    return value->type == VALUE_N && number_to_int(value->bytes, &out) ? out : 0;
}

static int64_t field_end(const struct value *ends, struct bytes key) {
    const struct value *end = ends == NULL ? NULL : value_get(ends, key);
    int64_t at = 0;
    if (end != NULL && end->type == VALUE_N)
        number_to_int(end->bytes, &at);
    return at;
}

static void read_hash_fields(const struct value *map, const struct value *ends, int64_t now_ms,
                             struct key_head *head) {
    for (uint32_t i = 0; i < map->count; i++) {
        const struct pair *pair = &map->pairs[i];
        int64_t end = field_end(ends, pair->name);
        if (!is_text(&pair->value) || (end != 0 && end <= now_ms))
            continue;
        head->fields[head->count++] = (struct key_field){pair->name, pair->value.bytes, end};
        if (end != 0 && (head->fields_end_ms == 0 || end < head->fields_end_ms))
            head->fields_end_ms = end;
    }
}

static void read_inline(const struct value *values, int64_t now_ms, struct arena *arena,
                        struct key_head *head) {
    bool hash = head->type == KEY_HASH;
    const struct value *all = &values[hash ? HEAD_FIELDS : HEAD_MEMBERS];
    const struct value *ends = &values[HEAD_FIELD_ENDS];
    if (all->type != (hash ? VALUE_M : VALUE_SS) || all->count == 0) {
        head->type = KEY_NONE;
        return;
    }
    head->room = all->count;
    head->fields = arena_alloc(arena, head->room * sizeof(*head->fields));
    if (hash)
        read_hash_fields(all, ends->type == VALUE_M ? ends : NULL, now_ms, head);
    else
        for (uint32_t i = 0; i < all->count; i++)
            head->fields[head->count++] = (struct key_field){.key = all->elements[i].bytes};
    if (head->count == 0)
        head->type = KEY_NONE;
}

/* values[i] is the attribute head_names[i] of an item that is there. */
static enum status read_values(const struct value *values, int64_t now_ms, struct scope in,
                               struct key_head *out) {
    int64_t expires_ms = int_of(&values[HEAD_EXPIRES]);
    *out = (struct key_head){0};
    if (expires_ms != 0 && expires_ms <= now_ms)
        return OK;
    out->type = type_named(string_of(&values[HEAD_TYPE]));
    const struct value *value = &values[HEAD_VALUE];
    if (out->type == KEY_NONE || (out->type == KEY_STRING && !is_text(value)))
        return failure_set(in.failure, in.arena, INVALID,
                           "The item of this key was not written by a Redis command");
    out->expires_ms = expires_ms;
    if (out->type == KEY_STRING) {
        out->value = value->bytes;
        return OK;
    }
    out->generation = string_of(&values[HEAD_GENERATION]);
    if (out->generation.size == 0) {
        read_inline(values, now_ms, in.arena, out);
        return OK;
    }
    out->count = (uint64_t)int_of(&values[HEAD_COUNT]);
    out->fields_end_ms = int_of(&values[HEAD_FIELDS_END]);
    return OK;
}

enum status key_head_read(const struct item *item, int64_t now_ms, struct scope in,
                          struct key_head *out) {
    struct value values[HEAD_ATTRIBUTES];
    *out = (struct key_head){0};
    if (item->count == 0)
        return OK;
    item_get_some(item, head_names, HEAD_ATTRIBUTES, values);
    return read_values(values, now_ms, in, out);
}

struct item_extractor *key_head_extractor_new(void) {
    struct item_extractor *extractor = mem_alloc(sizeof(*extractor));
    item_extractor_init(extractor, head_names, HEAD_ATTRIBUTES);
    return extractor;
}

enum status key_head_read_reply(const struct key_head_source *from, const struct get_reply *reply,
                                struct key_head *out) {
    struct value values[HEAD_ATTRIBUTES];
    const struct item none = {0};
    if (reply->stored.bytes.data == NULL)
        return key_head_read(reply->found ? &reply->item : &none, from->now_ms, from->in, out);
    if (item_extract(&reply->stored, from->game->heads, from->in.arena, values) != OK)
        return failure_set(from->in.failure, from->in.arena, DAMAGED, ITEM_DAMAGED);
    return read_values(values, from->now_ms, from->in, out);
}

/* ---- writing ---- */

enum { PAIRS_MAX = 15 };

/* Attributes are added in the order of their names. */
struct head_writer {
    struct arena *arena;
    struct pair *pairs;
    uint32_t count;
};

static void put(struct head_writer *to, const char *name, struct value value) {
    to->pairs[to->count++] = (struct pair){bytes_str(name), value};
}

static struct value text_value(struct bytes text) {
    return (struct value){.type = utf8_valid(text) ? VALUE_S : VALUE_B, .bytes = text};
}

static struct value pairs_value(struct pair *pairs, uint32_t count) {
    return (struct value){.type = VALUE_M, .count = count, .pairs = pairs};
}

static void put_field_ends(struct head_writer *to, const struct key_head *head) {
    struct pair *pairs = arena_alloc(to->arena, (size_t)head->count * sizeof(*pairs));
    uint32_t count = 0;
    for (uint64_t i = 0; i < head->count; i++)
        if (head->fields[i].expires_ms != 0)
            pairs[count++] = (struct pair){head->fields[i].key,
                                           value_int(to->arena, head->fields[i].expires_ms)};
    if (count != 0)
        put(to, "fieldEnds", pairs_value(pairs, count));
}

static void put_fields(struct head_writer *to, const struct key_head *head) {
    struct pair *pairs = arena_alloc(to->arena, (size_t)head->count * sizeof(*pairs));
    for (uint64_t i = 0; i < head->count; i++)
        pairs[i] = (struct pair){head->fields[i].key, text_value(head->fields[i].value)};
    put(to, "fields", pairs_value(pairs, (uint32_t)head->count));
}

static void put_members(struct head_writer *to, const struct key_head *head) {
    struct value *elements = arena_alloc(to->arena, (size_t)head->count * sizeof(*elements));
    for (uint64_t i = 0; i < head->count; i++)
        elements[i] = value_string(head->fields[i].key);
    put(to, "members",
        (struct value){.type = VALUE_SS, .count = (uint32_t)head->count, .elements = elements});
}

/* When housekeeping has to look at the key (key_ends.h): a field expires, or a large key does,
 * which has no ttl. 0: never. */
static int64_t housekeeping_due_ms(const struct key_head *head) {
    bool expires = head->generation.size != 0 && head->expires_ms != 0;
    if (!expires)
        return head->fields_end_ms;
    return head->fields_end_ms != 0 && head->fields_end_ms < head->expires_ms ? head->fields_end_ms
                                                                              : head->expires_ms;
}

static void put_index_keys(struct head_writer *to, const struct key_head *head,
                           const struct key_address *address) {
    put(to, "GSI1PK", value_string(decimal_text(to->arena, BYTES("KEYS#"), address->db)));
    put(to, "GSI1SK", value_string(address->name));
    int64_t due_ms = housekeeping_due_ms(head);
    if (due_ms == 0)
        return;
    char *digits = arena_str(to->arena, arena_printf(to->arena, "%020" PRId64 "#", due_ms));
    put(to, "GSI2PK", value_string(BYTES("KEYENDS")));
    put(to, "GSI2SK", value_string(record_join(to->arena, digits, address->pk)));
}

struct item key_head_item(const struct key_head *head, const struct key_address *address,
                          struct arena *arena) {
    struct head_writer to = {arena, NULL, 0};
    bool large = head->generation.size != 0;
    if (head->type == KEY_NONE)
        return (struct item){0};
    to.pairs = arena_alloc(arena, PAIRS_MAX * sizeof(*to.pairs));
    put_index_keys(&to, head, address);
    put(&to, "PK", value_string(address->pk));
    put(&to, "SK", value_string(SORT_KEY));
    if (large)
        put(&to, "count", value_int(arena, (int64_t)head->count));
    if (head->expires_ms != 0)
        put(&to, "expiresAt", value_int(arena, head->expires_ms));
    if (head->type == KEY_HASH && !large) {
        if (head->fields_end_ms != 0)
            put_field_ends(&to, head);
        put_fields(&to, head);
    }
    if (large && head->fields_end_ms != 0)
        put(&to, "fieldsEndAt", value_int(arena, head->fields_end_ms));
    if (large)
        put(&to, "generation", value_string(head->generation));
    if (head->type == KEY_SET && !large)
        put_members(&to, head);
    if (head->expires_ms != 0 && !large)
        put(&to, "ttl", value_int(arena, head->expires_ms / 1000 + 1));
    put(&to, "type", value_string(key_type_name(head->type)));
    if (head->type == KEY_STRING)
        put(&to, "value", text_value(head->value));
    return (struct item){to.pairs, to.count};
}

/* ---- fields of a small hash or set ---- */

/* Where the field is, or would be inserted. */
static size_t place_of(const struct key_head *head, struct bytes key, bool *found) {
    size_t low = 0, high = (size_t)head->count;
    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bytes_compare(head->fields[middle].key, key);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct key_field *key_head_find(const struct key_head *head, struct bytes key) {
    bool found;
    size_t at = place_of(head, key, &found);
    return found ? &head->fields[at] : NULL;
}

static void note_end(struct key_head *head, int64_t end_ms) {
    if (end_ms != 0 && (head->fields_end_ms == 0 || end_ms < head->fields_end_ms))
        head->fields_end_ms = end_ms;
}

bool key_head_put(struct key_head *head, const struct key_field *field, struct arena *arena) {
    bool found;
    size_t at = place_of(head, field->key, &found), count = (size_t)head->count;
    note_end(head, field->expires_ms);
    if (found) {
        head->fields[at] = *field;
        return false;
    }
    if (count == head->room) {
        size_t room = count < 8 ? 8 : count * 2;
        head->fields = arena_grow(arena, head->fields, count * sizeof(*head->fields),
                                  room * sizeof(*head->fields));
        head->room = room;
    }
    memmove(head->fields + at + 1, head->fields + at, (count - at) * sizeof(*head->fields));
    head->fields[at] = *field;
    head->count++;
    return true;
}

bool key_head_remove(struct key_head *head, struct bytes key) {
    bool found;
    size_t at = place_of(head, key, &found);
    if (!found)
        return false;
    head->count--;
    memmove(head->fields + at, head->fields + at + 1,
            ((size_t)head->count - at) * sizeof(*head->fields));
    if (head->count == 0)
        head->type = KEY_NONE;
    return true;
}

bool key_head_is_small(const struct key_head *head) {
    size_t size = 0;
    if (head->count > KEY_INLINE_FIELDS)
        return false;
    for (uint64_t i = 0; i < head->count; i++)
        size += head->fields[i].key.size + head->fields[i].value.size;
    return size <= KEY_INLINE_SIZE;
}

/* ---- a key that must not be there ---- */

static enum status refuse_head(struct action *action, const struct item *old, struct arena *arena,
                               struct item *new) {
    (void)new;
    if (old->count == 0)
        return OK;
    return failure_set(&action->failure, arena, CONFLICT, "There is a key of that name");
}

void key_absent_action(struct game *game, const struct key_address *address, struct arena *arena,
                       struct action *out) {
    *out = game_compute_action(game, key_head_key(address, arena), refuse_head, NULL);
}

#include "game/record.h"

#include "value/number.h"

#include <assert.h>

struct value value_number(struct bytes encoded) {
    return (struct value){.type = VALUE_N, .bytes = encoded};
}

struct value value_int(struct arena *arena, int64_t number) {
    return value_number(number_from_int(arena, number));
}

struct value value_list(struct value *elements, uint32_t count) {
    return (struct value){.type = VALUE_L, .count = count, .elements = elements};
}

void record_put(struct record *record, struct bytes name, struct value value) {
    assert(record->count < RECORD_MAX);
    record->pairs[record->count++] = (struct pair){name, value};
}

void record_string(struct record *record, struct bytes name, struct bytes text) {
    if (text.size != 0)
        record_put(record, name, value_string(text));
}

void record_number(struct record *record, struct bytes name, struct bytes number) {
    if (number.size != 0)
        record_put(record, name, value_number(number));
}

void record_value(struct record *record, struct bytes name, const struct value *value) {
    if (value != NULL)
        record_put(record, name, *value);
}

void record_int(struct record *record, struct bytes name, int64_t number) {
    record_put(record, name, value_int(record->arena, number));
}

struct item record_item(struct record *record) {
    struct pair *pairs = ARENA_ARRAY(record->arena, struct pair, record->count + 1);
    memcpy(pairs, record->pairs, record->count * sizeof(*pairs));
    return (struct item){pairs, value_sort_pairs(pairs, record->count)};
}

struct bytes record_join(struct arena *arena, const char *prefix, struct bytes rest) {
    size_t size = strlen(prefix);
    uint8_t *to = arena_alloc(arena, size + rest.size + 1);
    memcpy(to, prefix, size);
    if (rest.size != 0)
        memcpy(to + size, rest.data, rest.size);
    return bytes_of(to, size + rest.size);
}

static const struct value *value_of_type(const struct item *item, struct bytes name,
                                         enum value_type type) {
    const struct value *value = item_get(item, name);
    return value != NULL && value->type == type ? value : NULL;
}

struct bytes item_string(const struct item *item, struct bytes name) {
    const struct value *value = value_of_type(item, name, VALUE_S);
    return value != NULL ? value->bytes : (struct bytes){0};
}

struct bytes item_number(const struct item *item, struct bytes name) {
    const struct value *value = value_of_type(item, name, VALUE_N);
    return value != NULL ? value->bytes : (struct bytes){0};
}

int64_t item_int(const struct item *item, struct bytes name) {
    struct bytes number = item_number(item, name);
    int64_t out;
    return number.size != 0 && number_to_int(number, &out) ? out : 0;
}

bool item_bool(const struct item *item, struct bytes name) {
    const struct value *value = value_of_type(item, name, VALUE_BOOL);
    return value != NULL && value->count == 1;
}

const struct value *item_map(const struct item *item, struct bytes name) {
    return value_of_type(item, name, VALUE_M);
}

void record_flag(struct record *record, struct bytes name, bool flag) {
    if (flag)
        record_put(record, name, value_bool(true));
}

void record_strings(struct record *record, struct bytes name, const struct bytes *texts,
                    size_t count) {
    if (count == 0)
        return;
    struct value *elements = ARENA_ARRAY(record->arena, struct value, count);
    for (size_t i = 0; i < count; i++)
        elements[i] = value_string(texts[i]);
    record_put(record, name, value_list(elements, (uint32_t)count));
}

const struct bytes *item_strings(const struct item *item, struct bytes name, struct arena *arena,
                                 uint32_t *count) {
    const struct value *value = item_get(item, name);
    *count = 0;
    if (value == NULL || value->type != VALUE_L || value->count == 0)
        return NULL;
    struct bytes *texts = ARENA_ARRAY(arena, struct bytes, value->count);
    for (uint32_t i = 0; i < value->count; i++)
        if (value->elements[i].type == VALUE_S)
            texts[(*count)++] = value->elements[i].bytes;
    return texts;
}

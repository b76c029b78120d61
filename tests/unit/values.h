/* Random values and items for model tests: every type, empty and escaped strings, numbers at the
 * borders, a few levels of nesting. */
#ifndef GT_TEST_VALUES_H
#define GT_TEST_VALUES_H

#include "test.h"

#include "base/random.h"
#include "value/number.h"
#include "value/value.h"

/* UTF-8 if `text`, else any bytes; those that codecs treat specially come often. */
static struct bytes random_bytes(struct random *random, struct arena *arena, bool text) {
    static const uint8_t special[] = {0x00, 0x01, 0x02, '"', '\\', '\n', 0x1f, 0x7f, 0xff, 0xfe};
    size_t size = random_below(random, random_below(random, 8) == 0 ? 200 : 12), to = 0;
    uint8_t *bytes = arena_alloc(arena, size + 1);
    bool mixed = random_below(random, 2) == 0;
    while (to < size) {
        if (mixed && random_below(random, 3) == 0)
            bytes[to++] = special[random_below(random, text ? 8 : 10)];
        else if (text && size - to >= 2 && random_below(random, 8) == 0) {
            bytes[to++] = 0xc3;
            bytes[to++] = (uint8_t)(0x80 + random_below(random, 64));
        } else
            bytes[to++] = (uint8_t)('a' + random_below(random, 3));
    }
    return bytes_of(bytes, size);
}

static struct bytes random_number(struct random *random, struct arena *arena) {
    char text[80];
    struct bytes out;
    int count = 1 + (int)random_below(random, random_below(random, 4) == 0 ? 38 : 5), to = 0;
    if (random_below(random, 2) == 0)
        text[to++] = '-';
    for (int i = 0; i < count; i++)
        text[to++] = (char)('0' + random_below(random, 10));
    sprintf(text + to, "e%d", (int)random_below(random, random_below(random, 8) == 0 ? 80 : 3));
    assert_int_equal(number_read(arena, bytes_str(text), &out), NUMBER_OK);
    return out;
}

static struct bytes random_scalar(struct random *random, struct arena *arena,
                                  enum value_type type) {
    if (type == VALUE_N)
        return random_number(random, arena);
    return random_bytes(random, arena, type == VALUE_S);
}

static struct value random_value(struct random *random, struct arena *arena, unsigned depth);

static struct value random_set(struct random *random, struct arena *arena, enum value_type type) {
    uint32_t count = 1 + (uint32_t)random_below(random, random_below(random, 8) == 0 ? 60 : 4);
    struct value *elements = ARENA_ARRAY(arena, struct value, count);
    for (uint32_t i = 0; i < count; i++)
        elements[i] =
            (struct value){.type = value_element_type(type),
                           .bytes = random_scalar(random, arena, value_element_type(type))};
    while (!value_sort_elements(elements, count)) {
        uint32_t kept = 1;
        for (uint32_t i = 1; i < count; i++)
            if (value_compare(&elements[kept - 1], &elements[i]) != 0)
                elements[kept++] = elements[i];
        count = kept;
    }
    return (struct value){.type = type, .count = count, .elements = elements};
}

static struct item random_pairs(struct random *random, struct arena *arena, unsigned depth,
                                uint32_t count) {
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, count);
    for (uint32_t i = 0; i < count; i++) {
        do
            pairs[i].name = random_bytes(random, arena, true);
        while (pairs[i].name.size == 0);
        pairs[i].value = random_value(random, arena, depth);
    }
    return (struct item){.pairs = pairs, .count = value_sort_pairs(pairs, count)};
}

static struct value random_value(struct random *random, struct arena *arena, unsigned depth) {
    enum value_type type = (enum value_type)(VALUE_S + random_below(random, VALUE_NULL));
    if (depth == 0 && (type == VALUE_M || type == VALUE_L))
        type = VALUE_S;
    struct value value = {.type = type};
    if (type <= VALUE_B)
        value.bytes = random_scalar(random, arena, type);
    else if (value_is_set(type))
        return random_set(random, arena, type);
    else if (type == VALUE_BOOL)
        return value_bool(random_below(random, 2) == 0);
    else if (type == VALUE_M) {
        struct item pairs =
            random_pairs(random, arena, depth - 1, (uint32_t)random_below(random, 5));
        value.pairs = pairs.pairs;
        value.count = pairs.count;
    } else if (type == VALUE_L) {
        value.count = (uint32_t)random_below(random, 5);
        struct value *elements = ARENA_ARRAY(arena, struct value, value.count);
        for (uint32_t i = 0; i < value.count; i++)
            elements[i] = random_value(random, arena, depth - 1);
        value.elements = elements;
    }
    return value;
}

static inline struct item random_item(struct random *random, struct arena *arena) {
    uint32_t count = (uint32_t)random_below(random, random_below(random, 10) == 0 ? 70 : 9);
    return random_pairs(random, arena, 4, count);
}

#endif

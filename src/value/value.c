#include "value/value.h"

#include "base/mem.h"
#include "value/name_order.h"
#include "value/number.h"

#include <stdlib.h>

/* Sizes that the service adds for a list or map, and for each element of one. */
enum { CONTAINER_SIZE = 3, ELEMENT_SIZE = 1 };

/* At most this many are sorted by insertion, which is quick and finds sorted input sorted. */
enum { INSERTION_MAX = 24 };

/* Names among so few pairs are looked for one after the other. */
enum { FEW = 16 };

static const char *const type_names[] = {
    [VALUE_NONE] = "", [VALUE_S] = "S",       [VALUE_N] = "N",       [VALUE_B] = "B",
    [VALUE_SS] = "SS", [VALUE_NS] = "NS",     [VALUE_BS] = "BS",     [VALUE_M] = "M",
    [VALUE_L] = "L",   [VALUE_BOOL] = "BOOL", [VALUE_NULL] = "NULL",
};

const char *value_type_name(enum value_type type) {
    return type_names[type];
}

static enum value_type type_of_letter(uint8_t letter) {
    switch (letter) {
    case 'S':
        return VALUE_S;
    case 'N':
        return VALUE_N;
    case 'B':
        return VALUE_B;
    case 'M':
        return VALUE_M;
    case 'L':
        return VALUE_L;
    default:
        return VALUE_NONE;
    }
}

enum value_type value_type_named(struct bytes name) {
    if (name.size == 1)
        return type_of_letter(name.data[0]);
    if (name.size == 2 && name.data[1] == 'S') {
        enum value_type element = type_of_letter(name.data[0]);
        if (element >= VALUE_S && element <= VALUE_B)
            return (enum value_type)(element - VALUE_S + VALUE_SS);
        return VALUE_NONE;
    }
    if (name.size == 4 && memcmp(name.data, "BOOL", 4) == 0)
        return VALUE_BOOL;
    if (name.size == 4 && memcmp(name.data, "NULL", 4) == 0)
        return VALUE_NULL;
    return VALUE_NONE;
}

struct value value_string(struct bytes text) {
    return (struct value){.type = VALUE_S, .bytes = text};
}

struct value value_bool(bool truth) {
    return (struct value){.type = VALUE_BOOL, .count = truth};
}

/* ---- equality and order ---- */

static bool pairs_equal(const struct pair *a, const struct pair *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!bytes_equal(a[i].name, b[i].name) || !value_equal(&a[i].value, &b[i].value))
            return false;
    return true;
}

bool value_equal(const struct value *a, const struct value *b) {
    if (a->type != b->type || a->count != b->count)
        return false;
    switch (a->type) {
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        return bytes_equal(a->bytes, b->bytes);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
    case VALUE_L:
        for (uint32_t i = 0; i < a->count; i++)
            if (!value_equal(&a->elements[i], &b->elements[i]))
                return false;
        return true;
    case VALUE_M:
        return pairs_equal(a->pairs, b->pairs, a->count);
    case VALUE_NONE:
    case VALUE_BOOL:
    case VALUE_NULL:
        break;
    }
    return true;
}

int value_compare(const struct value *a, const struct value *b) {
    return bytes_compare(a->bytes, b->bytes);
}

bool value_set_has(const struct value *set, struct bytes element) {
    uint32_t low = 0, high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = bytes_compare(element, set->elements[middle].bytes);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* ---- sorting ---- */

static int element_order(const void *a, const void *b) {
    return value_compare(a, b);
}

static void insert_elements(struct value *elements, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        struct value moved = elements[i];
        uint32_t at = i;
        for (; at > 0 && value_compare(&moved, &elements[at - 1]) < 0; at--)
            elements[at] = elements[at - 1];
        elements[at] = moved;
    }
}

bool value_sort_elements(struct value *elements, uint32_t count) {
    if (count <= INSERTION_MAX)
        insert_elements(elements, count);
    else
        qsort(elements, count, sizeof(*elements), element_order);
    for (uint32_t i = 1; i < count; i++)
        if (value_compare(&elements[i - 1], &elements[i]) == 0)
            return false;
    return true;
}

static void insert_pairs(struct pair *pairs, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        uint32_t at = i;
        while (at > 0 && name_compare(pairs[i].name, pairs[at - 1].name) < 0)
            at--;
        if (at == i)
            continue;
        struct pair moved = pairs[i];
        memmove(&pairs[at + 1], &pairs[at], (i - at) * sizeof(moved));
        pairs[at] = moved;
    }
}

/* Stable, as qsort need not be: `spare` has room for half of them. */
static void merge_pairs(struct pair *pairs, uint32_t count, struct pair *spare) {
    if (count <= INSERTION_MAX) {
        insert_pairs(pairs, count);
        return;
    }
    uint32_t half = count / 2, left = 0, right = half, to = 0;
    merge_pairs(pairs, half, spare);
    merge_pairs(pairs + half, count - half, spare);
    memcpy(spare, pairs, half * sizeof(*pairs));
    while (left < half && right < count) {
        if (name_compare(pairs[right].name, spare[left].name) < 0)
            pairs[to++] = pairs[right++];
        else
            pairs[to++] = spare[left++];
    }
    memcpy(pairs + to, spare + left, (half - left) * sizeof(*pairs));
}

uint32_t value_sort_pairs(struct pair *pairs, uint32_t count) {
    uint32_t kept = 0;
    if (count <= INSERTION_MAX)
        insert_pairs(pairs, count);
    else {
        struct pair *spare = mem_alloc(count / 2 * sizeof(*spare));
        merge_pairs(pairs, count, spare);
        mem_free(spare);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && bytes_equal(pairs[kept - 1].name, pairs[i].name))
            kept--;
        if (kept != i)
            pairs[kept] = pairs[i];
        kept++;
    }
    return kept;
}

/* ---- looking up ---- */

/* The place of the name, or where it would be. */
static uint32_t pairs_seek(const struct pair *pairs, uint32_t count, struct bytes name) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (name_compare(pairs[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool pairs_have(const struct pair *pairs, uint32_t count, uint32_t at, struct bytes name) {
    return at < count && bytes_equal(pairs[at].name, name);
}

static const struct value *pairs_get(const struct pair *pairs, uint32_t count, struct bytes name) {
    if (count <= FEW) { /* looking at each is sooner done: sizes and first bytes mostly differ */
        for (uint32_t i = 0; i < count; i++)
            if (name_equal(pairs[i].name, name))
                return &pairs[i].value;
        return NULL;
    }
    uint32_t at = pairs_seek(pairs, count, name);
    return pairs_have(pairs, count, at, name) ? &pairs[at].value : NULL;
}

const struct value *item_get(const struct item *item, struct bytes name) {
    return pairs_get(item->pairs, item->count, name);
}

bool item_get_all(const struct item *item, const struct bytes *names, unsigned count,
                  const struct value **out) {
    unsigned found = 0;
    for (uint32_t i = 0; i < item->count && found < count; i++) {
        int order = name_compare(item->pairs[i].name, names[found]);
        if (order > 0)
            return false;
        if (order == 0)
            out[found++] = &item->pairs[i].value;
    }
    return found == count;
}

void item_get_some(const struct item *item, const struct bytes *names, unsigned count,
                   struct value *out) {
    unsigned at = 0;
    for (uint32_t i = 0; i < item->count && at < count; i++) {
        int order = -1;
        while (at < count && (order = name_compare(item->pairs[i].name, names[at])) > 0)
            out[at++] = (struct value){0};
        if (order == 0)
            out[at++] = item->pairs[i].value;
    }
    while (at < count)
        out[at++] = (struct value){0};
}

const struct value *value_get(const struct value *map, struct bytes name) {
    return map->type == VALUE_M ? pairs_get(map->pairs, map->count, name) : NULL;
}

bool item_equal(const struct item *a, const struct item *b) {
    return a->count == b->count && pairs_equal(a->pairs, b->pairs, a->count);
}

/* ---- measuring ---- */

static size_t pairs_size(const struct pair *pairs, uint32_t count) {
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct value *value = &pairs[i].value;
        size += pairs[i].name.size;
        size += value->type == VALUE_S ? value->bytes.size : value_size(value);
    }
    return size;
}

static size_t elements_size(const struct value *elements, uint32_t count) {
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += value_size(&elements[i]);
    return size;
}

size_t value_size(const struct value *value) {
    switch (value->type) {
    case VALUE_S:
    case VALUE_B:
        return value->bytes.size;
    case VALUE_N:
        return number_size(value->bytes);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return elements_size(value->elements, value->count);
    case VALUE_L:
        return CONTAINER_SIZE + ELEMENT_SIZE * value->count +
               elements_size(value->elements, value->count);
    case VALUE_M:
        return CONTAINER_SIZE + ELEMENT_SIZE * value->count +
               pairs_size(value->pairs, value->count);
    case VALUE_BOOL:
    case VALUE_NULL:
        return 1;
    case VALUE_NONE:
        break;
    }
    return 0;
}

size_t item_size(const struct item *item) {
    return pairs_size(item->pairs, item->count);
}

unsigned value_depth(const struct value *value) {
    unsigned deepest = 0;
    if (value->type != VALUE_L && value->type != VALUE_M)
        return 0;
    for (uint32_t i = 0; i < value->count; i++) {
        const struct value *child =
            value->type == VALUE_L ? &value->elements[i] : &value->pairs[i].value;
        unsigned depth = value_depth(child);
        if (depth > deepest)
            deepest = depth;
    }
    return deepest + 1;
}

/* ---- copying ---- */

static const struct pair *pairs_copy(struct arena *arena, const struct pair *pairs,
                                     uint32_t count) {
    struct pair *copy = arena_alloc(arena, count * sizeof(*copy));
    for (uint32_t i = 0; i < count; i++)
        copy[i] = (struct pair){.name = arena_copy(arena, pairs[i].name),
                                .value = value_copy(arena, &pairs[i].value)};
    return copy;
}

static const struct value *elements_copy(struct arena *arena, const struct value *elements,
                                         uint32_t count) {
    struct value *copy = arena_alloc(arena, count * sizeof(*copy));
    for (uint32_t i = 0; i < count; i++)
        copy[i] = value_copy(arena, &elements[i]);
    return copy;
}

struct value value_copy(struct arena *arena, const struct value *value) {
    struct value copy = *value;
    switch (value->type) {
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        copy.bytes = arena_copy(arena, value->bytes);
        break;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
    case VALUE_L:
        copy.elements = elements_copy(arena, value->elements, value->count);
        break;
    case VALUE_M:
        copy.pairs = pairs_copy(arena, value->pairs, value->count);
        break;
    case VALUE_NONE:
    case VALUE_BOOL:
    case VALUE_NULL:
        break;
    }
    return copy;
}

struct item item_copy(struct arena *arena, const struct item *item) {
    return (struct item){.pairs = pairs_copy(arena, item->pairs, item->count),
                         .count = item->count};
}

struct item item_with(struct arena *arena, const struct item *item, struct bytes name,
                      const struct value *value) {
    uint32_t at = pairs_seek(item->pairs, item->count, name);
    bool there = pairs_have(item->pairs, item->count, at, name);
    uint32_t after = at + there, rest = item->count - after;
    if (value == NULL && !there)
        return *item;
    struct pair *pairs = arena_alloc(arena, (item->count + 1) * sizeof(*pairs));
    uint32_t to = at;
    if (at > 0)
        memcpy(pairs, item->pairs, at * sizeof(*pairs));
    if (value != NULL)
        pairs[to++] = (struct pair){.name = name, .value = *value};
    if (rest > 0)
        memcpy(pairs + to, item->pairs + after, rest * sizeof(*pairs));
    return (struct item){.pairs = pairs, .count = to + rest};
}

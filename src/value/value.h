/* Attribute values and items, as a tree in a request's arena.
 *
 * Values are canonical, so that equality is structural: numbers are encoded (number.h), sets and
 * the pairs of a map are sorted by bytes and free of duplicates. Strings and binaries are borrowed
 * from wherever they were read (the request's body, a stored item): a value lives as long as
 * that and its arena. Values are never changed once made; an update builds a new top.
 */
#ifndef GT_VALUE_VALUE_H
#define GT_VALUE_VALUE_H

#include "base/arena.h"
#include "base/status.h"

enum value_type {
    VALUE_NONE = 0, /* no value: an absent attribute */
    VALUE_S,
    VALUE_N,
    VALUE_B,
    VALUE_SS,
    VALUE_NS,
    VALUE_BS,
    VALUE_M,
    VALUE_L,
    VALUE_BOOL,
    VALUE_NULL,
};

struct pair;

struct value {
    enum value_type type;
    uint32_t count; /* of elements or pairs; for BOOL 0 or 1 */
    union {
        struct bytes bytes;           /* S, N (encoded), B */
        const struct value *elements; /* SS, NS, BS (sorted, all of one kind), L */
        const struct pair *pairs;     /* M (sorted by name) */
    };
};

struct pair {
    struct bytes name;
    struct value value;
};

/* An item is a map of attributes: sorted by name, no duplicates. */
struct item {
    const struct pair *pairs;
    uint32_t count;
};

/* "S", "NS", ...; "" for VALUE_NONE. */
const char *value_type_name(enum value_type type);
/* The type named, or VALUE_NONE. */
enum value_type value_type_named(struct bytes name);
static inline bool value_is_set(enum value_type type) {
    return type >= VALUE_SS && type <= VALUE_BS;
}
/* The type of a set's elements. */
static inline enum value_type value_element_type(enum value_type set) {
    return (enum value_type)(set - VALUE_SS + VALUE_S);
}

struct value value_string(struct bytes text);
struct value value_bool(bool truth);

/* Structural equality: same type and same content. */
bool value_equal(const struct value *a, const struct value *b);
/* Order of two S, N or B values of the same type: by bytes, which is by value for N. */
int value_compare(const struct value *a, const struct value *b);
/* Whether the sorted set holds the element. O(log n). */
bool value_set_has(const struct value *set, struct bytes element);
/* Sorts elements in place by bytes; false if two are equal. */
bool value_sort_elements(struct value *elements, uint32_t count);
/* Sorts pairs in place by name; of equal names the last one given stays. Returns the new count. */
uint32_t value_sort_pairs(struct pair *pairs, uint32_t count);

/* The attribute, or NULL. O(log n). */
const struct value *item_get(const struct item *item, struct bytes name);
/* Those of several names, which rise strictly, in one pass. False if one of them is absent. */
bool item_get_all(const struct item *item, const struct bytes *names, unsigned count,
                  const struct value **out);
/* Copies of those of several names, which rise strictly, in one pass; of type VALUE_NONE for a name
 * that the item has not. item_decode_some() does the same with an encoded item. */
void item_get_some(const struct item *item, const struct bytes *names, unsigned count,
                   struct value *out);
const struct value *value_get(const struct value *map, struct bytes name);
bool item_equal(const struct item *a, const struct item *b);

/* Sizes as the service counts them: names and strings in UTF-8 bytes, numbers by digits, 3 bytes
 * for a list or map and 1 for each of its elements, 1 for a bool or null. */
size_t value_size(const struct value *value);
size_t item_size(const struct item *item);
/* How deep lists and maps are nested: a scalar 0, an empty list 1. */
unsigned value_depth(const struct value *value);

/* Copies everything, down to the strings, into the arena. */
struct value value_copy(struct arena *arena, const struct value *value);
struct item item_copy(struct arena *arena, const struct item *item);
/* The item with `name` set to `value` (replaced or added), or removed when value is NULL. Shares
 * the rest with the old one. */
struct item item_with(struct arena *arena, const struct item *item, struct bytes name,
                      const struct value *value);

#endif

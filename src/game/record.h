/* Building items attribute by attribute, and reading attributes by type. No locks; a record belongs
 * to one thread. */
#ifndef GT_GAME_RECORD_H
#define GT_GAME_RECORD_H

#include "value/value.h"

enum { RECORD_MAX = 40 };

/* An item under construction. Names and values that are added are borrowed. */
struct record {
    struct arena *arena;
    struct pair pairs[RECORD_MAX];
    uint32_t count;
};

static inline struct record record_of(struct arena *arena) {
    return (struct record){.arena = arena};
}
void record_put(struct record *record, struct bytes name, struct value value);
/* These add no attribute for an empty string, an empty number, NULL or false. record_int() adds all
 * numbers, 0 too. */
void record_string(struct record *record, struct bytes name, struct bytes text);
void record_number(struct record *record, struct bytes name,
                   struct bytes number); /* as value/number.h encodes it */
void record_value(struct record *record, struct bytes name, const struct value *value);
void record_int(struct record *record, struct bytes name, int64_t number);
void record_flag(struct record *record, struct bytes name, bool flag);
/* Adds a list of strings. */
void record_strings(struct record *record, struct bytes name, const struct bytes *texts,
                    size_t count);
/* The item, in the arena. Of an attribute that was added twice the last value is kept. */
struct item record_item(struct record *record);

/* "<prefix><rest>" in the arena. */
struct bytes record_join(struct arena *arena, const char *prefix, struct bytes rest);

/* The value of an attribute, borrowed from the item; empty, 0, false or NULL if the item has no
 * such attribute of that type. */
struct bytes item_string(const struct item *item, struct bytes name);
struct bytes item_number(const struct item *item, struct bytes name);
int64_t item_int(const struct item *item, struct bytes name);
bool item_bool(const struct item *item, struct bytes name);
/* The strings of a list, as an array in the arena; NULL and 0 if there is none. */
const struct bytes *item_strings(const struct item *item, struct bytes name, struct arena *arena,
                                 uint32_t *count);
const struct value *item_map(const struct item *item, struct bytes name);

struct value value_number(struct bytes encoded);
struct value value_int(struct arena *arena, int64_t number);
struct value value_list(struct value *elements, uint32_t count);

#endif

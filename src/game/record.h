/* Items made attribute by attribute, and attributes read out of them. */
#ifndef GT_GAME_RECORD_H
#define GT_GAME_RECORD_H

#include "value/value.h"

enum { RECORD_MAX = 40 };

/* An item in the making. What is added is borrowed, names too. */
struct record {
    struct arena *arena;
    struct pair pairs[RECORD_MAX];
    uint32_t count;
};

static inline struct record record_of(struct arena *arena) {
    return (struct record){.arena = arena};
}
void record_put(struct record *record, struct bytes name, struct value value);
/* Each adds nothing for an empty string or number, a NULL. */
void record_string(struct record *record, struct bytes name, struct bytes text);
void record_number(struct record *record, struct bytes name, struct bytes number); /* encoded */
void record_value(struct record *record, struct bytes name, const struct value *value);
void record_int(struct record *record, struct bytes name, int64_t number);
void record_flag(struct record *record, struct bytes name, bool flag); /* nothing for false */
/* A list of strings; nothing for none. */
void record_strings(struct record *record, struct bytes name, const struct bytes *texts,
                    size_t count);
/* The item, in the arena. Of attributes added twice the last one stays. */
struct item record_item(struct record *record);

/* "<prefix><rest>" in the arena. */
struct bytes record_join(struct arena *arena, const char *prefix, struct bytes rest);

/* What an attribute holds: empty, 0, false, NULL if there is none of that type. */
struct bytes item_string(const struct item *item, struct bytes name);
struct bytes item_number(const struct item *item, struct bytes name);
int64_t item_int(const struct item *item, struct bytes name);
bool item_bool(const struct item *item, struct bytes name);
/* The strings of a list, in the arena; NULL and 0 if there is none. */
const struct bytes *item_strings(const struct item *item, struct bytes name, struct arena *arena,
                                 uint32_t *count);
const struct value *item_map(const struct item *item, struct bytes name);

struct value value_number(struct bytes encoded);
struct value value_int(struct arena *arena, int64_t number);
struct value value_list(struct value *elements, uint32_t count);

#endif

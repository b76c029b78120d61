/* What the tests of places share: boards of a table with two ranking indexes, beside the scores as
 * a model keeps them. */
#ifndef GT_TEST_PLACES_H
#define GT_TEST_PLACES_H

#include "base/random.h"
#include "table/local/engine.h"

enum { BOARDS = 3, MEMBERS = 60, PARTS = 3, MANY = 40 /* more than are looked for at once */ };

/* A score as the model keeps it: small numbers, so that much is equal. */
struct entry {
    bool here;
    unsigned board, member;
    int score[PARTS];
};

struct fixture {
    struct random random;
    struct arena arena; /* of one request */
    struct engine *engine;
    struct entry entries[BOARDS][MEMBERS];
};

/* Keys PK, SK; index `ranks` on PK, score, subscore, tie, and `global`, the same with a partition
 * of its own, so that an entry has both of the table's keys as well. Both show keys. */
static inline struct table_schema ranks_schema(struct arena *arena) {
    struct key_part *parts = ARENA_ARRAY(arena, struct key_part, 6);
    parts[0] = (struct key_part){BYTES("PK"), VALUE_S};
    parts[1] = (struct key_part){BYTES("SK"), VALUE_S};
    parts[2] = (struct key_part){BYTES("score"), VALUE_N};
    parts[3] = (struct key_part){BYTES("subscore"), VALUE_N};
    parts[4] = (struct key_part){BYTES("tie"), VALUE_N};
    parts[5] = (struct key_part){BYTES("board"), VALUE_S};
    struct index_schema *indexes = ARENA_ARRAY(arena, struct index_schema, 2);
    indexes[0] = (struct index_schema){.name = BYTES("ranks"),
                                       .keys = {.parts = {parts[0], parts[2], parts[3], parts[4]},
                                                .partition_count = 1,
                                                .sort_count = 3},
                                       .projected = PROJECTED_KEYS};
    indexes[1] = indexes[0];
    indexes[1].name = BYTES("global");
    indexes[1].keys.parts[0] = parts[5];
    return (struct table_schema){
        .name = BYTES("game"),
        .attributes = parts,
        .attribute_count = 6,
        .keys = {.parts = {parts[0], parts[1]}, .partition_count = 1, .sort_count = 1},
        .indexes = indexes,
        .index_count = 2,
        .billing = BILLING_ON_DEMAND};
}

static inline void open_settings(struct fixture *f, const struct local_settings *settings) {
    *f = (struct fixture){0};
    arena_init(&f->arena);
    f->engine = engine_open(settings);
    struct table_schema schema = ranks_schema(&f->arena);
    create_table(f->engine, &f->arena, &schema);
    for (unsigned b = 0; b < BOARDS; b++)
        for (unsigned m = 0; m < MEMBERS; m++)
            f->entries[b][m] = (struct entry){.board = b, .member = m};
}

static inline void open_with(struct fixture *f, size_t cache_memory) {
    struct local_settings settings = {
        .store.memory = true, .threads = 1, .cache_memory = cache_memory};
    open_settings(f, &settings);
}

static inline void teardown(struct fixture *f) {
    engine_close(f->engine);
    arena_release(&f->arena);
}

/* Names with bytes that keys escape. */
static inline struct value board_name(struct arena *arena, unsigned board) {
    struct value value = {.type = VALUE_S};
    value.bytes = board == 2 ? bytes_of("B\0\0\1\0\1", 6) : arena_printf(arena, "B%u", board);
    return value;
}

static inline struct value member_name(struct arena *arena, unsigned member) {
    struct value value = value_string(arena_printf(arena, "m%02u", member));
    if (member % 7 == 0)
        memset((void *)(uintptr_t)(value.bytes.data + 1), (int)(member / 7 % 2), 1);
    return value;
}

static inline struct value number(struct arena *arena, int number) {
    return (struct value){.type = VALUE_N, .bytes = number_from_int(arena, number)};
}

static const char *const part_names[PARTS] = {"score", "subscore", "tie"};

/* The item's partition in the index, and as many sort attributes as told; then the table's keys. */
static inline struct item item_for(struct arena *arena, const struct entry *entry,
                                   const char *index, unsigned parts, bool keys) {
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, 6);
    uint32_t count = 0;
    bool global = index != NULL && strcmp(index, "global") == 0;
    if (index == NULL || global)
        pairs[count++] = (struct pair){BYTES("board"), board_name(arena, entry->board)};
    if (keys || !global)
        pairs[count++] = (struct pair){BYTES("PK"), board_name(arena, entry->board)};
    if (keys)
        pairs[count++] = (struct pair){BYTES("SK"), member_name(arena, entry->member)};
    for (unsigned i = 0; i < parts; i++)
        pairs[count++] = (struct pair){bytes_str(part_names[i]), number(arena, entry->score[i])};
    return (struct item){pairs, value_sort_pairs(pairs, count)};
}

static inline struct item key_for(struct arena *arena, const struct entry *entry) {
    return item_for(arena, entry, "ranks", 0, true);
}

#endif

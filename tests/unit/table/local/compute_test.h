/* What the tests of computed items and of decisions share: a world of scores, and a function that
 * adds to one. */
#ifndef GT_TEST_COMPUTE_H
#define GT_TEST_COMPUTE_H

#include "engine.h"

struct world {
    struct engine *engine;
    struct arena arena;
};

static inline void world_open_in(struct world *world, const char *folder) {
    struct local_settings settings = {.store = {.path = folder, .memory = folder == NULL},
                                      .threads = 1,
                                      .commit_thread_from = folder == NULL ? 0 : 2};
    arena_init(&world->arena);
    world->engine = engine_open(&settings);
    struct table_schema schema = game_schema(&world->arena, "game");
    schema.stream = STREAM_BOTH;
    schema.expiry = BYTES("ends");
    create_table(world->engine, &world->arena, &schema);
}

static inline void world_open(struct world *world) {
    world_open_in(world, NULL);
}

static inline void world_close(struct world *world) {
    check_engine(world->engine);
    engine_close(world->engine);
    arena_release(&world->arena);
}

static inline struct item key(struct arena *arena, const char *name) {
    return item_of(arena, arena_printf(arena, "pk=S:%s%c", name, 0).data, "sk=S:0", NULL);
}

static inline int64_t score_of(const struct item *item) {
    int64_t score = 0;
    const struct value *value = item_get(item, BYTES("score"));
    require(value != NULL && number_to_int(value->bytes, &score));
    return score;
}

static inline struct item with_score(struct arena *arena, const struct item *item, int64_t score) {
    struct value number = {.type = VALUE_N, .bytes = number_from_int(arena, score)};
    struct value board = value_string(BYTES("b"));
    struct item next = item_with(arena, item, BYTES("score"), &number);
    return item_with(arena, &next, BYTES("board"), &board);
}

/* Adds *user; what comes to 0 goes. */
static inline enum status add(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    int64_t more = *(const int64_t *)action->user;
    int64_t score = old->count != 0 ? score_of(old) : 0;
    if (more == 0)
        return OK;
    if (score + more == 0)
        *new = (struct item){0};
    else
        *new = with_score(arena, old->count != 0 ? old : &action->item, score + more);
    return OK;
}

static inline struct action compute_of(struct arena *arena, const char *name,
                                       action_compute *compute, void *user) {
    return (struct action){.kind = ACTION_COMPUTE,
                           .table = BYTES("game"),
                           .item = key(arena, name),
                           .compute = compute,
                           .user = user};
}

static inline struct action do_compute(struct world *world, const char *name,
                                       action_compute *compute, void *user, enum status want) {
    struct action action = compute_of(&world->arena, name, compute, user);
    struct change change = write_of(&world->arena, &action, 1);
    engine_do(world->engine, &change);
    assert_status(&change, want);
    return action;
}

static inline uint64_t writes(struct engine *engine) {
    struct engine_figures figures;
    engine_figures(engine, &figures);
    return figures.writes;
}

#endif

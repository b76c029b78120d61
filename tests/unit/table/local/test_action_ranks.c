/* Places that are asked for with an action: however many threads write at once, and however their
 * changes come together in commits, the answers are those of doing them one after the other in the
 * order in which the writer decided on them. The model is the dumbest there is: an array of scores,
 * counted. */
#include "base/mem.h"
#include "base/random.h"
#include "table/local/rank_lookup_test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { WRITERS = 4, ROUNDS = 60, BATCH = 25, SCORES = 12 };

/* One write of a member's score, and what was told of it. */
struct asked {
    uint64_t turn; /* when the writer decided on it */
    struct arena arena;
    struct change change;
    struct action action;
    struct action_ranks ranks;
    unsigned board, member;
    int score[2];
    bool deletes;
    atomic_uint *left;
};

static void note_done(struct change *change) {
    struct asked *asked = change->user;
    atomic_fetch_sub(asked->left, 1);
}

static struct item asked_item(struct asked *asked) {
    struct arena *arena = &asked->arena;
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, 5);
    pairs[0] = (struct pair){BYTES("PK"), board_name(arena, asked->board)};
    pairs[1] = (struct pair){BYTES("SK"), member_name(arena, asked->member)};
    pairs[2] = (struct pair){BYTES("score"), number(arena, asked->score[0])};
    pairs[3] = (struct pair){BYTES("subscore"), number(arena, asked->score[1])};
    pairs[4] = (struct pair){BYTES("tie"), number(arena, 0)};
    return (struct item){pairs, 5};
}

/* On the writer's thread, one after the other. Decided on again, the last time counts. */
static enum status decide(struct action *action, const struct item *old, struct arena *arena,
                          struct item *new) {
    static uint64_t turns;
    struct asked *asked = action->user;
    (void)old, (void)arena;
    asked->turn = ++turns;
    *new = asked->deletes ? (struct item){0} : asked_item(asked);
    return OK;
}

struct writer_of_scores {
    struct fixture *fixture;
    uint64_t seed;
    struct asked *all; /* ROUNDS * BATCH */
};

static void ask_one(struct writer_of_scores *writer, struct random *random, struct asked *asked,
                    atomic_uint *left) {
    arena_init(&asked->arena);
    asked->left = left;
    asked->board = random_below(random, 4) == 0; /* most on one board, which all of them touch */
    asked->member = (unsigned)random_below(random, MEMBERS);
    asked->score[0] = (int)random_below(random, SCORES);
    asked->score[1] = (int)random_below(random, 3);
    asked->deletes = random_below(random, 8) == 0;
    asked->ranks = (struct action_ranks){
        .index = BYTES("ranks"), .group_parts = 2, .groups = random_below(random, 2) == 0};
    asked->action = (struct action){.kind = ACTION_COMPUTE,
                                    .table = BYTES("game"),
                                    .item = {asked_item(asked).pairs, 2},
                                    .compute = decide,
                                    .user = asked,
                                    .ranks = random_below(random, 5) != 0 ? &asked->ranks : NULL};
    asked->change = write_of(&asked->arena, &asked->action, 1);
    asked->change.done = note_done;
    asked->change.user = asked;
    engine_submit(writer->fixture->engine, &asked->change);
}

/* Several under way at once, so that commits have many of them. */
static void *write_scores(void *argument) {
    struct writer_of_scores *writer = argument;
    struct random random;
    atomic_uint left = 0;
    random_seed(&random, writer->seed);
    for (unsigned round = 0; round < ROUNDS; round++) {
        atomic_store(&left, BATCH);
        for (unsigned i = 0; i < BATCH; i++)
            ask_one(writer, &random, &writer->all[round * BATCH + i], &left);
        while (atomic_load(&left) != 0)
            sched_yield();
    }
    return NULL;
}

/* --- the model --- */

static int compare_scores(const struct entry *a, const struct entry *b) {
    for (unsigned i = 0; i < 2; i++)
        if (a->score[i] != b->score[i])
            return a->score[i] < b->score[i] ? -1 : 1;
    return 0;
}

/* Members are names: what is equal stands in their order. */
static bool stands_before(struct arena *arena, const struct entry *a, const struct entry *b) {
    int order = compare_scores(a, b);
    struct value one = member_name(arena, a->member), two = member_name(arena, b->member);
    return order < 0 || (order == 0 && bytes_compare(one.bytes, two.bytes) < 0);
}

static uint64_t count_groups(const struct entry *board, const struct entry *of, int side) {
    uint64_t count = 0;
    for (unsigned i = 0; i < MEMBERS; i++) {
        bool first = board[i].here && compare_scores(&board[i], of) * side > 0;
        for (unsigned j = 0; j < i && first; j++)
            first = !board[j].here || compare_scores(&board[i], &board[j]) != 0;
        count += first;
    }
    return count;
}

static void check_reply(struct arena *arena, const struct entry *board, const struct entry *of,
                        const struct action_ranks *ranks, const struct rank_reply *reply) {
    struct rank_reply want = {.found = of->here};
    for (unsigned i = 0; i < MEMBERS && of->here; i++) {
        if (!board[i].here || i == of->member)
            continue;
        int order = compare_scores(&board[i], of);
        want.before += stands_before(arena, &board[i], of);
        want.after += !stands_before(arena, &board[i], of);
        want.group_before += order < 0;
        want.group_after += order > 0;
    }
    assert_int_equal(reply->found, want.found);
    assert_int_equal(reply->before, want.before);
    assert_int_equal(reply->after, want.after);
    assert_int_equal(reply->group_before, want.group_before);
    assert_int_equal(reply->group_after, want.group_after);
    if (!ranks->groups || !of->here)
        return;
    assert_int_equal(reply->groups_before, count_groups(board, of, -1));
    assert_int_equal(reply->groups_after, count_groups(board, of, 1));
}

/* Does it in the model, and holds what was told against it. */
static void check_asked(struct fixture *f, const struct asked *asked) {
    struct entry *board = f->entries[asked->board], *entry = &board[asked->member];
    bool told = asked->action.ranks != NULL;
    assert_int_equal(asked->change.failure.status, OK);
    assert_int_equal(asked->ranks.counted, told);
    if (told)
        check_reply(&f->arena, board, entry, &asked->ranks, &asked->ranks.before);
    entry->here = !asked->deletes;
    for (unsigned i = 0; i < 2; i++)
        entry->score[i] = asked->score[i];
    if (told)
        check_reply(&f->arena, board, entry, &asked->ranks, &asked->ranks.after);
    uint64_t total = 0;
    for (unsigned i = 0; i < MEMBERS; i++)
        total += board[i].here;
    if (told)
        assert_int_equal(asked->ranks.total, total);
    arena_reset(&f->arena);
}

static int by_turn(const void *a, const void *b) {
    const struct asked *one = *(struct asked *const *)a, *two = *(struct asked *const *)b;
    return (one->turn > two->turn) - (one->turn < two->turn);
}

/* All that were asked, in the order they were decided on. */
static void check_all(struct fixture *f, struct writer_of_scores *writers) {
    enum { ALL = WRITERS * ROUNDS * BATCH };
    struct asked **all = mem_alloc(ALL * sizeof(struct asked *));
    for (size_t i = 0; i < ALL; i++)
        all[i] = &writers[i % WRITERS].all[i / WRITERS];
    qsort(all, ALL, sizeof(*all), by_turn);
    for (size_t i = 0; i < ALL; i++)
        check_asked(f, all[i]);
    mem_free(all);
}

static void run(const struct local_settings *settings, uint64_t seed) {
    struct fixture f;
    struct writer_of_scores writers[WRITERS];
    pthread_t threads[WRITERS];
    open_settings(&f, settings);
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer_of_scores){&f, seed + i,
                                               mem_zalloc(ROUNDS * BATCH * sizeof(struct asked))};
        assert_int_equal(pthread_create(&threads[i], NULL, write_scores, &writers[i]), 0);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    check_all(&f, writers);
    check_engine(f.engine);
    for (unsigned i = 0; i < WRITERS; i++) {
        for (unsigned j = 0; j < ROUNDS * BATCH; j++)
            arena_release(&writers[i].all[j].arena);
        mem_free(writers[i].all);
    }
    teardown(&f);
}

static void answers_are_of_one_serial_order(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    run(&(struct local_settings){.store.memory = true, .threads = 1}, seed);
    /* the committer's thread makes all of them visible */
    run(&(struct local_settings){.store.memory = true, .threads = 1, .commit_thread_from = 1},
        seed + 100);
}

/* --- what is not written, or not told --- */

static enum status write_one(struct fixture *f, struct asked *asked, bool changes) {
    arena_init(&asked->arena);
    asked->action = (struct action){.kind = changes ? ACTION_PUT : ACTION_CHECK,
                                    .table = BYTES("game"),
                                    .item = asked_item(asked),
                                    .ranks = &asked->ranks};
    if (!changes)
        asked->action.item.count = 2;
    asked->change = write_of(&asked->arena, &asked->action, 1);
    return engine_do(f->engine, &asked->change);
}

static void what_changes_nothing_is_told_too(void **state) {
    (void)state;
    struct fixture f;
    struct asked asked = {.ranks = {.index = BYTES("ranks")}};
    open_with(&f, 0);
    for (unsigned i = 0; i < 3; i++) {
        asked.member = i + 1, asked.score[0] = (int)i;
        assert_int_equal(write_one(&f, &asked, true), OK);
        arena_release(&asked.arena);
    }
    struct engine_figures before, after;
    engine_figures(f.engine, &before);
    asked.ranks = (struct action_ranks){.index = BYTES("ranks")};
    asked.member = 2;
    assert_int_equal(write_one(&f, &asked, false), OK);
    assert_true(asked.ranks.counted && asked.ranks.before.found && asked.ranks.after.found);
    assert_int_equal(asked.ranks.before.before, 1);
    assert_int_equal(asked.ranks.after.after, 1);
    assert_int_equal(asked.ranks.total, 3);
    arena_release(&asked.arena);
    engine_figures(f.engine, &after);
    assert_int_equal(after.commits, before.commits); /* for nothing was written */
    asked.ranks = (struct action_ranks){.index = BYTES("nothing")};
    assert_int_equal(write_one(&f, &asked, true), OK);
    assert_false(asked.ranks.counted);
    arena_release(&asked.arena);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_of_one_serial_order),
        cmocka_unit_test(what_changes_nothing_is_told_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

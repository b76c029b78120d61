/* Boards of every kind against a plain sorted array: each submission's answer, and every way to
 * read. */
#include "base/clock.h"
#include "base/random.h"
#include "game/world.h"

#include <math.h>

enum { MEMBERS = 14, SUBMISSIONS = 45 };

struct row {
    unsigned member;
    int64_t score, sub; /* tenths, and whole */
    uint64_t since;
};

struct model {
    struct random random;
    struct world world;
    struct board_rules rules;
    struct row rows[MEMBERS];
    size_t count;
    uint64_t time;
};

static struct bytes member_name(struct model *model, unsigned member) {
    return arena_printf(&model->world.arena, "m%02u", member);
}

static struct bytes score_number(struct model *model, int64_t tenths) {
    struct bytes text = arena_printf(&model->world.arena, "%llde-1", (long long)tenths);
    struct bytes number;
    assert_int_equal(number_read(&model->world.arena, text, &number), NUMBER_OK);
    return number;
}

static int compare_points(const struct model *model, const struct row *a, const struct row *b) {
    int order = (a->score > b->score) - (a->score < b->score);
    if (order == 0)
        order = (a->sub > b->sub) - (a->sub < b->sub);
    return model->rules.order == ORDER_HIGH ? -order : order;
}

static bool before(const struct model *model, const struct row *a, const struct row *b) {
    int order = compare_points(model, a, b);
    if (order != 0)
        return order < 0;
    if (model->rules.tie == TIE_EARLIEST)
        return a->since < b->since;
    return model->rules.order == ORDER_HIGH ? a->member > b->member : a->member < b->member;
}

static void sort(struct model *model) {
    for (size_t i = 1; i < model->count; i++)
        for (size_t j = i; j > 0 && before(model, &model->rows[j], &model->rows[j - 1]); j--) {
            struct row row = model->rows[j];
            model->rows[j] = model->rows[j - 1];
            model->rows[j - 1] = row;
        }
}

static size_t find(const struct model *model, unsigned member) {
    size_t at = 0;
    while (at < model->count && model->rows[at].member != member)
        at++;
    return at;
}

static uint64_t rank_among(const struct model *model, const struct row *rows, size_t at) {
    size_t better = 0, groups = 0;
    for (size_t i = 0; i < at; i++)
        if (compare_points(model, &rows[i], &rows[at]) != 0) {
            better = i + 1;
            groups += i + 1 > at || compare_points(model, &rows[i], &rows[i + 1]) != 0;
        }
    switch (model->rules.ranking) {
    case RANK_ORDINAL:
        return at + 1;
    case RANK_COMPETITION:
        return better + 1;
    default:
        return groups + 1;
    }
}

static uint64_t rank_at(const struct model *model, size_t at) {
    return at == model->count ? 0 : rank_among(model, model->rows, at);
}

/* What the array says of a submission; true if it is accepted. */
static bool apply(struct model *model, unsigned member, int64_t score, int64_t sub) {
    size_t at = find(model, member);
    struct row new = {member, score, sub, model->time};
    if (at == model->count) {
        model->rows[model->count++] = new;
        sort(model);
        return true;
    }
    struct row *old = &model->rows[at];
    if (model->rules.keep == KEEP_FIRST ||
        (model->rules.keep == KEEP_BEST && compare_points(model, &new, old) >= 0))
        return false;
    if (model->rules.keep == KEEP_SUM) {
        new.score += old->score;
        new.sub += old->sub;
    }
    if (new.score == old->score &&new.sub == old->sub)
        new.since = old->since;
    *old = new;
    sort(model);
    return true;
}

/* --- comparing --- */

static void check_points(struct model *model, const struct points *points, const struct row *row) {
    assert_bytes_equal(points->score, score_number(model, row->score));
    assert_bytes_equal(points->subscore, number_from_int(&model->world.arena, row->sub));
}

static void check_row(struct model *model, const struct standing *row, size_t at) {
    size_t better = at;
    assert_true(at < model->count);
    assert_true(row->found);
    assert_bytes_equal(row->entry.member, member_name(model, model->rows[at].member));
    check_points(model, &row->entry.points, &model->rows[at]);
    assert_int_equal(row->position, at + 1);
    assert_int_equal(row->rank, rank_at(model, at));
    while (better > 0 && compare_points(model, &model->rows[better - 1], &model->rows[at]) == 0)
        better--;
    double others = (double)model->count - 1;
    double wanted = others == 0 ? 100 : 100 * (others - (double)better) / others;
    assert_true(fabs(row->percentile - wanted) < 1e-9);
}

static void check_rows(struct model *model, const struct standings *rows, size_t from,
                       size_t count) {
    assert_int_equal(rows->count, count);
    assert_int_equal(rows->total, model->count);
    for (size_t i = 0; i < count; i++)
        check_row(model, &rows->rows[i], from + i);
}

static struct standings page(struct model *model, const struct standings_request *request) {
    struct standings rows;
    assert_ok(standings_page(model->world.game, request,
                             (struct scope){&model->world.arena, &model->world.failure}, &rows),
              model->world.failure);
    return rows;
}

static size_t min_size(size_t a, size_t b) {
    return a < b ? a : b;
}

static void check_pages(struct model *model, const struct board *board) {
    uint32_t limit = (uint32_t)random_below(&model->random, 6) + 1;
    uint64_t from = random_below(&model->random, MEMBERS + 2) + 1;
    struct standings_request request = {.board = board, .from = from, .limit = limit};
    struct standings rows = page(model, &request);
    size_t left = from > model->count ? 0 : model->count - (from - 1);
    check_rows(model, &rows, from - 1, min_size(left, limit));
    assert_int_equal(rows.more, left > limit);
    assert_int_equal(rows.before, from > 1 && model->count != 0);
    /* all of it, by cursor, there and back */
    size_t at = 0;
    request = (struct standings_request){.board = board, .limit = limit, .detail = DETAIL_FULL};
    do {
        rows = page(model, &request);
        check_rows(model, &rows, at, min_size(model->count - at, limit));
        at += rows.count;
        if (rows.count != 0)
            request.cursor = &rows.rows[rows.count - 1].entry;
    } while (rows.more);
    assert_int_equal(at, model->count);
    request.backward = true;
    for (at = at == 0 ? 0 : at - 1; at > 0;) {
        rows = page(model, &request);
        size_t count = min_size(at, limit);
        check_rows(model, &rows, at - count, count);
        at -= count;
        assert_int_equal(rows.before, at > 0);
        request.cursor = &rows.rows[0].entry;
    }
}

static void check_window(struct model *model, const struct board *board) {
    int64_t low = (int64_t)random_below(&model->random, 60) - 10;
    int64_t high = low + (int64_t)random_below(&model->random, 30);
    size_t first = 0, count = 0;
    struct standings_request request = {.board = board,
                                        .limit = MEMBERS,
                                        .score_low = score_number(model, low),
                                        .score_high = score_number(model, high)};
    for (size_t i = 0; i < model->count; i++)
        if (model->rows[i].score >= low && model->rows[i].score <= high && count++ == 0)
            first = i;
    struct standings rows = page(model, &request);
    check_rows(model, &rows, first, count);
    assert_false(rows.more);
    if (count < 2)
        return;
    request.cursor = &rows.rows[0].entry;
    request.limit = 1;
    rows = page(model, &request);
    check_rows(model, &rows, first + 1, 1);
    assert_int_equal(rows.more, count > 2);
    /* a cursor outside of it */
    request.score_low = request.score_high = score_number(model, 10000);
    assert_int_equal(page(model, &request).count, 0);
}

static void check_around(struct model *model, const struct board *board) {
    struct world *world = &model->world;
    unsigned member = (unsigned)random_below(&model->random, MEMBERS);
    uint32_t each = (uint32_t)random_below(&model->random, 5);
    size_t at = find(model, member);
    struct standings rows;
    struct standings_query query = {world->game, board, &world->arena, &world->failure};
    enum status status = standings_around(&query, member_name(model, member), each, &rows);
    if (at == model->count) {
        assert_int_equal(status, NOT_FOUND);
        return;
    }
    size_t from = at > each ? at - each : 0, end = min_size(at + each + 1, model->count);
    check_rows(model, &rows, from, end - from);
}

static void check_members(struct model *model, const struct board *board) {
    struct world *world = &model->world;
    struct bytes names[MEMBERS];
    unsigned members[MEMBERS];
    size_t count = random_below(&model->random, MEMBERS);
    struct standings rows;
    for (size_t i = 0; i < count; i++) {
        members[i] = (unsigned)random_below(&model->random, MEMBERS + 3);
        names[i] = member_name(model, members[i]);
    }
    struct standings_query query = {world->game, board, &world->arena, &world->failure};
    struct standings_lookup lookup = {names, count, DETAIL_RANKS};
    assert_ok(standings_members(&query, &lookup, &rows), world->failure);
    assert_int_equal(rows.count, count);
    assert_int_equal(rows.total, model->count);
    for (size_t i = 0; i < count; i++) {
        size_t at = find(model, members[i]);
        assert_int_equal(rows.rows[i].found, at < model->count);
        if (at < model->count)
            check_row(model, &rows.rows[i], at);
    }
    /* among themselves */
    struct row friends[MEMBERS];
    size_t friend_count = 0;
    for (size_t i = 0; i < model->count; i++)
        for (size_t j = 0; j < count; j++)
            if (members[j] == model->rows[i].member) {
                friends[friend_count++] = model->rows[i];
                break;
            }
    uint64_t *among;
    lookup.detail = DETAIL_FULL;
    assert_ok(standings_friends(&query, &lookup, &rows, &among), world->failure);
    assert_int_equal(rows.count, friend_count);
    for (size_t i = 0; i < friend_count; i++) {
        check_row(model, &rows.rows[i], find(model, friends[i].member));
        assert_int_equal(among[i], rank_among(model, friends, i));
    }
}

static void check_if(struct model *model, const struct board *board) {
    struct world *world = &model->world;
    struct row rows[MEMBERS + 1];
    struct row new = {99, (int64_t)random_below(&model->random, 60) - 10, 0, model->time};
    struct points points = {score_number(model, new.score), points_zero()};
    size_t at = 0;
    uint64_t rank, total;
    while (at < model->count && compare_points(model, &new, &model->rows[at]) >= 0) {
        rows[at] = model->rows[at];
        at++;
    }
    rows[at] = new;
    struct standings_query query = {world->game, board, &world->arena, &world->failure};
    assert_ok(standings_rank_for_points(&query, &points, &rank, &total), world->failure);
    assert_int_equal(total, model->count);
    assert_int_equal(rank, rank_among(model, rows, at));
}

static void check_percentile(struct model *model, const struct board *board) {
    struct world *world = &model->world;
    double percentile = (double)random_below(&model->random, 101);
    struct standing row;
    struct standings_query query = {world->game, board, &world->arena, &world->failure};
    enum status status = standings_percentile(&query, percentile, &row);
    if (model->count == 0) {
        assert_int_equal(status, NOT_FOUND);
        return;
    }
    assert_int_equal(status, OK);
    size_t at = model->count - 1;
    double others = (double)at;
    while (at > 0 && 100 * (others - (double)at) / others < percentile - 1e-6)
        at--;
    check_row(model, &row, at);
}

static void check_histogram(struct model *model, const struct board *board) {
    struct world *world = &model->world;
    unsigned buckets = (unsigned)random_below(&model->random, 12) + 1;
    struct histogram spread;
    uint64_t sum = 0;
    struct standings_query query = {world->game, board, &world->arena, &world->failure};
    assert_ok(standings_histogram(&query, buckets, &spread), world->failure);
    assert_int_equal(spread.total, model->count);
    assert_true(spread.count == buckets || spread.count <= 1);
    for (size_t i = 0; i < spread.count; i++) {
        uint64_t count = 0;
        bool last = i + 1 == spread.count;
        assert_true(bytes_compare(spread.edges[i], spread.edges[i + 1]) < (last ? 1 : 0));
        for (size_t j = 0; j < model->count; j++) {
            struct bytes score = score_number(model, model->rows[j].score);
            int above = bytes_compare(score, spread.edges[i + 1]);
            count += bytes_compare(score, spread.edges[i]) >= 0 && (last ? above <= 0 : above < 0);
        }
        assert_int_equal(spread.counts[i], count);
        sum += count;
    }
    assert_int_equal(sum, model->count);
}

static void check_all(struct model *model) {
    const struct board *board = world_board(&model->world, "board");
    uint64_t total;
    assert_ok(standings_total(model->world.game, board,
                              (struct scope){&model->world.arena, &model->world.failure}, &total),
              model->world.failure);
    assert_int_equal(total, model->count);
    check_pages(model, board);
    check_window(model, board);
    check_around(model, board);
    check_members(model, board);
    check_if(model, board);
    check_percentile(model, board);
    check_histogram(model, board);
    board_drop(board);
}

static void submit_one(struct model *model) {
    struct world *world = &model->world;
    unsigned member = (unsigned)random_below(&model->random, MEMBERS);
    int64_t score = (int64_t)random_below(&model->random, 40) - 5;
    int64_t sub = model->rules.subscores ? (int64_t)random_below(&model->random, 4) : 0;
    size_t at = find(model, member);
    uint64_t rank_before = rank_at(model, at);
    struct row old = at < model->count ? model->rows[at] : (struct row){0};
    bool had = at < model->count;
    struct submission submission = {.board = BYTES("board"),
                                    .player = member_name(model, member),
                                    .score = score_number(model, score)};
    if (sub != 0)
        submission.subscore = number_from_int(&world->arena, sub);
    struct submit submit;
    clock_shift_ms(2); /* no two at one time */
    model->time++;
    assert_ok(world_submit(world, &submission, &submit), world->failure);
    bool accepted = apply(model, member, score, sub);
    at = find(model, member);
    assert_int_equal(submit.result_count, 1);
    const struct submit_result *result = &submit.results[0];
    assert_int_equal(result->accepted, accepted);
    assert_int_equal(result->reason == NULL, accepted);
    assert_int_equal(result->had_old, had);
    assert_int_equal(result->rank_before, rank_before);
    assert_int_equal(result->rank_after, rank_at(model, at));
    assert_int_equal(result->total, model->count);
    if (had)
        check_points(model, &result->before, &old);
    check_points(model, &result->after, &model->rows[at]);
    submit_release(&submit);
}

static void run(uint64_t seed, const struct board_rules *rules) {
    struct model model = {.rules = *rules};
    random_seed(&model.random, seed);
    world_open(&model.world);
    world_define(&model.world, rules);
    check_all(&model);
    for (unsigned i = 0; i < SUBMISSIONS; i++) {
        submit_one(&model);
        if (i % 3 == 0)
            check_all(&model);
        if (i % 10 == 9) { /* all of it is in the table */
            game_close(model.world.game);
            world_open_game(&model.world);
        }
        arena_reset(&model.world.arena);
    }
    check_all(&model);
    world_close(&model.world);
}

static void every_kind_agrees_with_an_array(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    for (unsigned kind = 0; kind < 48; kind++) {
        struct board_rules rules = {.id = BYTES("board"),
                                    .game = BYTES("g"),
                                    .order = (enum order)(kind % 2),
                                    .tie = (enum tie)(kind / 2 % 2),
                                    .keep = (enum keep)(kind / 4 % 4),
                                    .ranking = (enum ranking)(kind / 16),
                                    .decimals = -1,
                                    .subscores = random_below(&random, 2) == 0};
        run(random_next(&random), &rules);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_agrees_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

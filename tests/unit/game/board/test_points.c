/* Doubles come back as they were, and points order as they do. */
#include "base/random.h"
#include "game/board/points.h"
#include "test.h"

#include <float.h>
#include <math.h>

static void check_back(struct arena *arena, double x) {
    struct points points = points_of_double(arena, x);
    assert_true(number_valid(points.score));
    assert_true(number_valid(points.subscore));
    double back = points_to_double(&points);
    if (back != x)
        print_message("%a came back as %a\n", x, back);
    assert_true(back == x);
}

static void check_order(struct arena *arena, double x, double y) {
    struct points a = points_of_double(arena, x), b = points_of_double(arena, y);
    int order = points_compare(&a, &b);
    if ((order < 0) != (x < y) || (order > 0) != (x > y))
        print_message("%a and %a are in the wrong order\n", x, y);
    assert_true((order < 0) == (x < y) && (order > 0) == (x > y));
}

static double any_double(struct random *random) {
    for (;;) {
        uint64_t bits = random_next(random);
        double x;
        switch (random_below(random, 6)) {
        case 0: /* an integer */
            return (double)(int64_t)random_next(random) / (double)(1u << random_below(random, 31));
        case 1: /* a short decimal */
            return (double)(int64_t)random_below(random, 2000000) / 1000 - 1000;
        case 2: /* a power of ten, and its neighbours */
            x = pow(10, (double)random_below(random, 620) - 310);
            x = random_below(random, 2) ? x : -x;
            return random_below(random, 2) ? x
                                           : nextafter(x, random_below(random, 2) ? 0 : INFINITY);
        case 3: /* subnormal */
            bits &= UINT64_C(0x800fffffffffffff);
            break;
        default:
            break;
        }
        memcpy(&x, &bits, sizeof(x));
        if (!isnan(x))
            return x;
    }
}

static const double corners[] = {0,        -0.0,      1,          -1,        0.1,
                                 1e125,    -1e125,    1e-130,     -1e-130,   1e-131,
                                 9.9e125,  DBL_MAX,   -DBL_MAX,   DBL_MIN,   5e-324,
                                 -5e-324,  0x1p53,    0x1p53 + 2, 1e22,      1e23,
                                 INFINITY, -INFINITY, 123456.789, 3.0000001, 0.30000000000000004};
enum { CORNERS = sizeof(corners) / sizeof(corners[0]) };

static void doubles_come_back_in_order(void **state) {
    (void)state;
    struct arena arena;
    struct random random;
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (unsigned i = 0; i < CORNERS; i++) {
        check_back(&arena, corners[i]);
        for (unsigned j = 0; j < CORNERS; j++)
            check_order(&arena, corners[i], corners[j]);
    }
    for (unsigned i = 0; i < 40000; i++) {
        double x = any_double(&random), y = any_double(&random);
        arena_reset(&arena);
        check_back(&arena, x);
        check_order(&arena, x, y);
        check_order(&arena, x, nextafter(x, INFINITY));
        check_order(&arena, x, corners[i % CORNERS]);
    }
    arena_release(&arena);
}

static void check_text(struct arena *arena, double x, const char *wanted) {
    char text[NUMBER_MAX_TEXT];
    struct points points = points_of_double(arena, x);
    size_t size = number_text(points.score, text);
    assert_int_equal(size, strlen(wanted));
    assert_memory_equal(text, wanted, size);
    assert_true(bytes_equal(points.subscore, points_zero()));
}

static void the_shortest_decimal_is_kept(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    check_text(&arena, 0.1, "0.1");
    check_text(&arena, -2.5, "-2.5");
    check_text(&arena, 1.0 / 3, "0.3333333333333333");
    check_text(&arena, 0.1 + 0.2, "0.30000000000000004");
    check_text(&arena, 9007199254740993.0, "9007199254740992");
    check_text(&arena, 1e21, "1000000000000000000000");
    check_text(&arena, 123456789.000001, "123456789.000001");
    check_text(&arena, -0.0, "0");
    arena_release(&arena);
}

/* Numbers that no double made give the nearest. */
static void other_points_give_the_nearest(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct points points = {.subscore = points_zero()};
    assert_int_equal(number_read(&arena, BYTES("12345678901234567890.123"), &points.score),
                     NUMBER_OK);
    assert_true(points_to_double(&points) == 12345678901234567890.123);
    points = (struct points){points_zero(), number_from_int(&arena, INT64_MAX)};
    assert_true(points_to_double(&points) == 0);
    static const int64_t subscores[] = {6, -6, 1, 1763308800000, -1763308800000000000};
    for (unsigned i = 0; i < sizeof(subscores) / sizeof(subscores[0]); i++) {
        points.subscore = number_from_int(&arena, subscores[i]);
        assert_true(points_to_double(&points) == 0);
        struct points next = points_of_double(&arena, subscores[i] < 0 ? -5e-324 : 5e-324);
        assert_int_equal(points_compare(&points, &next) < 0, subscores[i] > 0);
    }
    struct points large = points_of_double(&arena, INFINITY);
    large.subscore = number_from_int(&arena, INT64_C(0x7ff0000000000001));
    assert_true(points_to_double(&large) < INFINITY);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_come_back_in_order),
        cmocka_unit_test(the_shortest_decimal_is_kept),
        cmocka_unit_test(other_points_give_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Periods and time zones: days that are not 24 hours, weeks at the turn of a year, names that come
 * back as the same period; and every moment in exactly one period, for all zones there are. */
#include "base/random.h"
#include "game/board/period.h"
#include "game/board/time_zone.h"
#include "test.h"

#include <time.h>

#define HOUR INT64_C(3600000)

static struct arena arena;

static const struct zone *zone_of(const char *name) {
    const struct zone *zone = NULL;
    struct failure failure;
    enum status status =
        zone_find((struct bytes){0}, bytes_str(name), (struct scope){&arena, &failure}, &zone);
    if (status != OK)
        print_message("%.*s\n", BYTES_ARG(failure.text));
    assert_int_equal(status, OK);
    return zone;
}

static struct timing timing_of(enum timeframe frame, const char *zone) {
    return (struct timing){.frame = frame, .zone = zone_of(zone)};
}

/* "2026-11-16T13:00:00" as UTC. */
static int64_t utc(const char *text) {
    struct tm tm = {0};
    assert_non_null(strptime(text, "%Y-%m-%dT%H:%M:%S", &tm));
    return (int64_t)timegm(&tm) * 1000;
}

static void check(const struct timing *timing, const char *moment, const char *name,
                  const char *starts, const char *ends) {
    struct period period, named;
    assert_int_equal(period_at(timing, utc(moment), &arena, &period), OK);
    if (!bytes_equal(period.name, bytes_str(name)))
        print_message("%s is in %.*s\n", moment, BYTES_ARG(period.name));
    assert_bytes_equal(period.name, bytes_str(name));
    assert_int_equal(period.starts_ms, utc(starts));
    assert_int_equal(period.ends_ms, utc(ends));
    assert_int_equal(period_named(timing, bytes_str(name), &arena, &named), OK);
    assert_int_equal(named.starts_ms, period.starts_ms);
    assert_int_equal(named.ends_ms, period.ends_ms);
}

static void days_follow_the_zone(void **state) {
    (void)state;
    struct timing berlin = timing_of(FRAME_DAILY, "Europe/Berlin");
    check(&berlin, "2026-11-16T12:00:00", "2026-11-16", "2026-11-15T23:00:00",
          "2026-11-16T23:00:00");
    /* 23 hours, then 25 */
    check(&berlin, "2026-03-29T12:00:00", "2026-03-29", "2026-03-28T23:00:00",
          "2026-03-29T22:00:00");
    check(&berlin, "2026-10-25T12:00:00", "2026-10-25", "2026-10-24T22:00:00",
          "2026-10-25T23:00:00");
    struct timing kolkata = timing_of(FRAME_DAILY, "Asia/Kolkata");
    check(&kolkata, "2026-11-15T18:30:00", "2026-11-16", "2026-11-15T18:30:00",
          "2026-11-16T18:30:00");
    check(&kolkata, "2026-11-15T18:29:59", "2026-11-15", "2026-11-14T18:30:00",
          "2026-11-15T18:30:00");
    struct timing york = timing_of(FRAME_DAILY, "America/New_York");
    check(&york, "2026-03-08T15:00:00", "2026-03-08", "2026-03-08T05:00:00", "2026-03-09T04:00:00");
    check(&york, "2026-11-01T15:00:00", "2026-11-01", "2026-11-01T04:00:00", "2026-11-02T05:00:00");
    /* by the rule at the file's end */
    check(&york, "2150-03-08T15:00:00", "2150-03-08", "2150-03-08T05:00:00", "2150-03-09T04:00:00");
    struct timing universal = timing_of(FRAME_DAILY, "UTC");
    check(&universal, "9998-12-31T23:59:59", "9998-12-31", "9998-12-31T00:00:00",
          "9999-01-01T00:00:00");
    /* a day that began at one, and one that was left out */
    struct timing paulo = timing_of(FRAME_DAILY, "America/Sao_Paulo");
    check(&paulo, "2018-11-04T12:00:00", "2018-11-04", "2018-11-04T03:00:00",
          "2018-11-05T02:00:00");
    struct timing apia = timing_of(FRAME_DAILY, "Pacific/Apia");
    struct period period;
    check(&apia, "2011-12-30T09:59:59", "2011-12-29", "2011-12-29T10:00:00", "2011-12-30T10:00:00");
    check(&apia, "2011-12-30T10:00:00", "2011-12-31", "2011-12-30T10:00:00", "2011-12-31T10:00:00");
    assert_int_equal(period_named(&apia, BYTES("2011-12-30"), &arena, &period), NOT_FOUND);
}

static void an_hour_that_comes_twice_is_one(void **state) {
    (void)state;
    struct timing berlin = timing_of(FRAME_HOURLY, "Europe/Berlin");
    struct period period;
    check(&berlin, "2026-10-25T00:30:00", "2026-10-25T02", "2026-10-25T00:00:00",
          "2026-10-25T02:00:00");
    check(&berlin, "2026-10-25T01:30:00", "2026-10-25T02", "2026-10-25T00:00:00",
          "2026-10-25T02:00:00");
    check(&berlin, "2026-10-25T02:00:00", "2026-10-25T03", "2026-10-25T02:00:00",
          "2026-10-25T03:00:00");
    check(&berlin, "2026-03-29T00:30:00", "2026-03-29T01", "2026-03-29T00:00:00",
          "2026-03-29T01:00:00");
    check(&berlin, "2026-03-29T01:00:00", "2026-03-29T03", "2026-03-29T01:00:00",
          "2026-03-29T02:00:00");
    assert_int_equal(period_named(&berlin, BYTES("2026-03-29T02"), &arena, &period), NOT_FOUND);
    /* set back by half an hour: the hour has an hour and a half */
    struct timing howe = timing_of(FRAME_HOURLY, "Australia/Lord_Howe");
    check(&howe, "2026-04-04T15:10:00", "2026-04-05T01", "2026-04-04T14:00:00",
          "2026-04-04T15:30:00");
}

static void weeks_and_months_turn_with_the_year(void **state) {
    (void)state;
    struct timing weekly = timing_of(FRAME_WEEKLY, "UTC");
    struct timing monthly = timing_of(FRAME_MONTHLY, "Europe/Berlin");
    struct period period;
    check(&weekly, "2026-11-16T00:00:00", "2026-W47", "2026-11-16T00:00:00", "2026-11-23T00:00:00");
    check(&weekly, "2026-12-31T10:00:00", "2026-W53", "2026-12-28T00:00:00", "2027-01-04T00:00:00");
    check(&weekly, "2027-01-03T23:59:59", "2026-W53", "2026-12-28T00:00:00", "2027-01-04T00:00:00");
    check(&weekly, "2025-12-29T00:00:00", "2026-W01", "2025-12-29T00:00:00", "2026-01-05T00:00:00");
    check(&weekly, "2021-01-02T00:00:00", "2020-W53", "2020-12-28T00:00:00", "2021-01-04T00:00:00");
    assert_int_equal(period_named(&weekly, BYTES("2025-W53"), &arena, &period), NOT_FOUND);
    assert_int_equal(period_named(&weekly, BYTES("2026-W00"), &arena, &period), NOT_FOUND);
    check(&monthly, "2026-10-31T23:00:00", "2026-11", "2026-10-31T23:00:00", "2026-11-30T23:00:00");
    check(&monthly, "2024-02-29T12:00:00", "2024-02", "2024-01-31T23:00:00", "2024-02-29T23:00:00");
}

static void names_that_are_none_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",           "2026",        "2026-13-01",    "2026-02-29",
                                      "2026-1-1",   "2026-11-16 ", "2026-11-16T13", "x",
                                      "2026-11-00", "-026-11-16",  "0000-00-00",    "9999-12-31"};
    struct timing daily = timing_of(FRAME_DAILY, "UTC");
    struct timing hourly = timing_of(FRAME_HOURLY, "UTC");
    struct timing all = timing_of(FRAME_ALL, "UTC");
    struct period period;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(period_named(&daily, bytes_str(bad[i]), &arena, &period), NOT_FOUND);
    assert_int_equal(period_named(&hourly, BYTES("2026-11-16T24"), &arena, &period), NOT_FOUND);
    assert_int_equal(period_named(&all, BYTES("x"), &arena, &period), NOT_FOUND);
    assert_int_equal(period_named(&all, (struct bytes){0}, &arena, &period), OK);
    assert_int_equal(period_at(&daily, INT64_MAX, &arena, &period), NOT_FOUND);
    assert_int_equal(period_at(&daily, INT64_MIN, &arena, &period), NOT_FOUND);
}

static void seasons_have_gaps(void **state) {
    (void)state;
    struct season seasons[] = {
        {BYTES("one"), 100, 200}, {BYTES("two"), 200, 300}, {BYTES("three"), 500, 600}};
    struct timing timing = {.frame = FRAME_SEASON, .seasons = seasons, .season_count = 3};
    struct period period;
    assert_int_equal(period_at(&timing, 99, &arena, &period), NOT_FOUND);
    assert_int_equal(period_at(&timing, 199, &arena, &period), OK);
    assert_bytes_equal(period.name, BYTES("one"));
    assert_int_equal(period_at(&timing, 200, &arena, &period), OK);
    assert_bytes_equal(period.name, BYTES("two"));
    assert_int_equal(period_at(&timing, 300, &arena, &period), NOT_FOUND);
    assert_int_equal(period_named(&timing, BYTES("three"), &arena, &period), OK);
    assert_int_equal(period.starts_ms, 500);
    assert_int_equal(period_named(&timing, BYTES("four"), &arena, &period), NOT_FOUND);
}

static void zones_that_are_none_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "../passwd", "/etc/passwd", "Europe/../../x", "Nowhere",        "Europe",
        "zone.tab",  "a\nb",        "tzdata.zi",      "Europe/Berlin/", "right/UTC/x"};
    const struct zone *zone;
    struct failure failure;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(zone_find((struct bytes){0}, bytes_str(bad[i]),
                                   (struct scope){&arena, &failure}, &zone),
                         INVALID);
    assert_int_equal(zone_offset_s(zone_of("Asia/Kathmandu"), utc("2026-01-01T00:00:00")), 20700);
    assert_int_equal(zone_offset_s(zone_of("Europe/Dublin"), utc("2060-07-01T00:00:00")), 3600);
    assert_int_equal(zone_offset_s(zone_of("Europe/Dublin"), utc("2060-01-01T00:00:00")), 0);
    assert_int_equal(zone_offset_s(zone_of("America/Nuuk"), utc("2060-07-01T00:00:00")), -3600);
}

/* The system's own idea of a zone, for as long as it can tell. */
static void offsets_are_the_system_s(void **state) {
    (void)state;
    static const char *const names[] = {
        "Europe/Berlin",    "America/New_York",  "Asia/Kolkata",        "Australia/Lord_Howe",
        "Pacific/Apia",     "Africa/Casablanca", "America/Sao_Paulo",   "Asia/Tehran",
        "Antarctica/Troll", "Africa/Cairo",      "America/Los_Angeles", "Asia/Gaza"};
    struct random random;
    random_seed(&random, test_seed());
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct zone *zone = zone_of(names[i]);
        setenv("TZ", names[i], 1);
        tzset();
        for (unsigned j = 0; j < 2000; j++) {
            time_t at = (time_t)random_below(&random, UINT64_C(6000000000));
            struct tm tm;
            assert_non_null(localtime_r(&at, &tm));
            if (zone_offset_s(zone, (int64_t)at * 1000) != tm.tm_gmtoff)
                print_message("%s at %lld\n", names[i], (long long)at);
            assert_int_equal(zone_offset_s(zone, (int64_t)at * 1000), tm.tm_gmtoff);
        }
    }
    unsetenv("TZ");
    tzset();
}

/* Periods follow one another without gaps, hold their moments, and are found by their names. */
static void every_moment_is_in_one_period(void **state) {
    (void)state;
    static const char *const names[] = {"Europe/Berlin",     "America/St_Johns",    "Pacific/Apia",
                                        "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Beirut",
                                        "America/Havana"};
    static const enum timeframe frames[] = {FRAME_HOURLY, FRAME_DAILY, FRAME_WEEKLY, FRAME_MONTHLY};
    struct random random;
    random_seed(&random, test_seed());
    for (unsigned i = 0; i < 20000; i++) {
        struct timing timing =
            timing_of(frames[random_below(&random, 4)], names[random_below(&random, 7)]);
        int64_t at = (int64_t)random_below(&random, UINT64_C(5000000000000));
        struct zone_change change;
        /* mostly near a change of the clock, where it is hard */
        if (random_below(&random, 4) != 0 && zone_change_before(timing.zone, at / 1000, &change))
            at = change.at * 1000 + (int64_t)random_below(&random, 8 * HOUR) - 4 * HOUR;
        struct period period, next, named;
        assert_int_equal(period_at(&timing, at, &arena, &period), OK);
        assert_true(period.starts_ms <= at && at < period.ends_ms);
        assert_int_equal(period_at(&timing, period.ends_ms, &arena, &next), OK);
        assert_int_equal(next.starts_ms, period.ends_ms);
        assert_true(bytes_compare(period.name, next.name) < 0);
        assert_int_equal(period_named(&timing, period.name, &arena, &named), OK);
        assert_int_equal(named.starts_ms, period.starts_ms);
        assert_int_equal(named.ends_ms, period.ends_ms);
        arena_reset(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_follow_the_zone),
        cmocka_unit_test(an_hour_that_comes_twice_is_one),
        cmocka_unit_test(weeks_and_months_turn_with_the_year),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(seasons_have_gaps),
        cmocka_unit_test(zones_that_are_none_are_refused),
        cmocka_unit_test(offsets_are_the_system_s),
        cmocka_unit_test(every_moment_is_in_one_period),
    };
    arena_init(&arena);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}

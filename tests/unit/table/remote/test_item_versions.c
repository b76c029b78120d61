/* Versions that items carry: always later, on the way out and back, and those of before. */
#include "test.h"

#include "base/clock.h"
#include "base/limits.h"
#include "table/remote/remote_parts.h"

static struct remote make_remote(void) {
    struct remote remote = {.table = BYTES("game"), .node = "0badcafe"};
    return remote;
}

static void later_each_time(void **state) {
    struct remote remote = make_remote();
    struct arena arena;
    struct bytes last = {0};
    (void)state;
    arena_init(&arena);
    for (unsigned i = 0; i < 1000; i++) {
        struct bytes next = remote_version_next(&remote, last, &arena);
        assert_int_equal(next.size, REMOTE_VERSION_SIZE);
        assert_memory_equal(next.data + REMOTE_VERSION_DIGITS, "-0badcafe", 9);
        assert_true(last.size == 0 || bytes_compare(last, next) < 0);
        last = next;
    }
    /* an item of a node whose clock is ahead, and one that was only seen */
    struct bytes ahead = BYTES("4000000000000000-ffffffff");
    assert_true(bytes_compare(ahead, remote_version_next(&remote, ahead, &arena)) < 0);
    struct pair pairs[] = {{BYTES("PK"), value_string(BYTES("x"))},
                           {BYTES("v"), value_string(BYTES("5000000000000000-ffffffff"))}};
    struct item item = {pairs, 2};
    remote_item_received(&remote, &item, &arena);
    struct bytes none = {0};
    assert_int_equal(remote_version_time(remote_version_next(&remote, none, &arena)),
                     5000000000000001);
    arena_release(&arena);
}

static void on_the_way(void **state) {
    struct remote remote = make_remote();
    struct arena arena;
    (void)state;
    arena_init(&arena);
    struct pair pairs[] = {{BYTES("PK"), value_string(BYTES("x"))},
                           {BYTES("score"), value_string(BYTES("9"))}};
    struct item item = {pairs, 2};
    struct bytes version = remote_version_next(&remote, (struct bytes){0}, &arena);
    struct item sent = remote_item_sent(&item, version, &arena);
    assert_int_equal(sent.count, 3);
    struct remote_item back = remote_item_received(&remote, &sent, &arena);
    assert_true(item_equal(&back.item, &item));
    assert_bytes_equal(back.version, version);
    back = remote_item_received(&remote, &item, &arena); /* written past the nodes */
    assert_true(item_equal(&back.item, &item));
    assert_int_equal(back.version.size, 0);
    arena_release(&arena);
}

/* Who lost the answer to its write finds its version on the item, though others wrote since; when
 * so many did that it may have been dropped, `dropped` says so. */
static void those_of_before(void **state) {
    struct remote remote = make_remote();
    struct arena arena;
    struct bytes value = {0}, first = {0};
    bool dropped;
    (void)state;
    arena_init(&arena);
    for (unsigned i = 0; i < LIMIT_REMOTE_PAST_VERSIONS; i++) {
        struct bytes version = remote_version_next(&remote, remote_version_newest(value), &arena);
        value = remote_versions_with(version, value, &arena);
        if (i == 0)
            first = version;
        assert_bytes_equal(remote_version_newest(value), version);
        assert_true(remote_versions_have(value, version, &dropped));
        assert_true(remote_versions_have(value, first, &dropped));
        assert_false(dropped);
    }
    struct bytes more = remote_version_next(&remote, remote_version_newest(value), &arena);
    value = remote_versions_with(more, value, &arena);
    assert_false(remote_versions_have(value, first, &dropped));
    assert_true(dropped);
    assert_int_equal(value.size, LIMIT_REMOTE_PAST_VERSIONS * (REMOTE_VERSION_SIZE + 1) - 1);
    /* what is older than any attempt can be is left out */
    uint64_t later = remote_version_time(more) + (LIMIT_REMOTE_PAST_MS + 1) * UINT64_C(1000);
    struct bytes much_later = arena_printf(&arena, "%016llu-0badcafe", (unsigned long long)later);
    assert_int_equal(remote_versions_with(much_later, value, &arena).size, REMOTE_VERSION_SIZE);
    assert_false(remote_versions_have(BYTES("short"), first, &dropped));
    arena_release(&arena);
}

/* The version that was made so many microseconds after some moment. */
static struct bytes version_at(struct arena *arena, unsigned long long time_us) {
    return arena_printf(arena, "%016llu-%.8s", 1700000000000000 + time_us, "node0001");
}

/* The value of `v` after writes at the times from, from + 10, ..., up to `to`. */
static struct bytes history(struct arena *arena, unsigned long long from, unsigned long long to) {
    struct bytes all = {0};
    for (unsigned long long at = from; at <= to; at += 10)
        all = remote_versions_with(version_at(arena, at), all, arena);
    return all;
}

/* An item that is written often has a full list: only what is older than all of it is in doubt. */
static void a_full_list_is_in_doubt_about_older_ones_alone(void **state) {
    (void)state;
    struct arena arena;
    bool dropped = true;
    arena_init(&arena);
    unsigned long long oldest = 5000, last = oldest + 10 * (LIMIT_REMOTE_PAST_VERSIONS - 1);
    struct bytes full = history(&arena, 1000, last);
    assert_true(remote_versions_have(full, version_at(&arena, oldest), &dropped));
    assert_false(remote_versions_have(full, version_at(&arena, oldest + 5), &dropped));
    assert_false(dropped);
    assert_false(remote_versions_have(full, version_at(&arena, last + 5), &dropped));
    assert_false(dropped);
    assert_false(remote_versions_have(full, version_at(&arena, oldest - 5), &dropped));
    assert_true(dropped);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_each_time),
        cmocka_unit_test(on_the_way),
        cmocka_unit_test(those_of_before),
        cmocka_unit_test(a_full_list_is_in_doubt_about_older_ones_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

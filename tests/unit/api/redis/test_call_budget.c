#include "api/redis/call_budget.h"

#include "api/redis/redis_frontend_int.h"
#include "base/limits.h"
#include "test.h"

struct spender {
    struct redis_frontend frontend;
    struct redis_call call;
    struct call_budget budget;
    struct arena arena;
    struct buf reply;
};

static void spender_init(struct spender *spender, uint64_t work_max) {
    memset(spender, 0, sizeof(*spender));
    arena_init(&spender->arena);
    spender->budget.work_max = work_max;
    spender->call.frontend = &spender->frontend;
    spender->call.budget = &spender->budget;
    spender->call.arena = &spender->arena;
    spender->call.out.to = &spender->reply;
}

static void spender_release(struct spender *spender) {
    call_budget_release(&spender->frontend, &spender->budget);
    assert_int_equal(atomic_load(&spender->frontend.calls_memory), 0);
    arena_release(&spender->arena);
}

static void test_work(void **state) {
    static struct spender spender;
    (void)state;
    spender_init(&spender, 100);
    assert_int_equal(call_spend(&spender.call, 60), OK);
    assert_int_equal(call_spend(&spender.call, 40), OK);
    assert_int_equal(call_spend(&spender.call, 1), WOULD_BLOCK);
    assert_int_equal(spender.call.failure.status, WOULD_BLOCK);
    spender_release(&spender);
    spender_init(&spender, 0);
    assert_int_equal(call_spend(&spender.call, UINT64_MAX / 2), OK);
    spender.call.budget = NULL;
    assert_int_equal(call_spend(&spender.call, UINT64_MAX / 2), OK);
    spender_release(&spender);
}

static void test_memory_of_one(void **state) {
    static struct spender spender;
    (void)state;
    spender_init(&spender, 0);
    assert_int_equal(call_need(&spender.call, LIMIT_CALL_MEMORY), OK);
    assert_false(spender.budget.exhausted);
    assert_int_equal(call_need(&spender.call, LIMIT_CALL_MEMORY + 1), INVALID);
    assert_true(spender.budget.exhausted);
    assert_true(bytes_starts(spender.call.error, BYTES("OOM the command needs more than 512 MB")));
    spender.reply.size = 1; /* what it has said by now counts as well, */
    assert_int_equal(call_need(&spender.call, LIMIT_CALL_MEMORY), INVALID);
    spender.reply.size = 0;
    spender.budget.elsewhere = 1; /* and so does what it has elsewhere */
    assert_int_equal(call_need(&spender.call, LIMIT_CALL_MEMORY), INVALID);
    spender_release(&spender);
}

static void test_memory_of_all(void **state) {
    static struct spender spender;
    struct call_budget others[2] = {0};
    (void)state;
    spender_init(&spender, 0);
    for (int i = 0; i < 2; i++) {
        spender.call.budget = &others[i];
        assert_int_equal(call_need(&spender.call, LIMIT_CALLS_MEMORY / 2), OK);
    }
    spender.call.budget = &spender.budget;
    assert_int_equal(call_need(&spender.call, 2 << 20), BUSY);
    assert_int_equal(spender.call.failure.status, BUSY);
    for (int i = 0; i < 2; i++)
        call_budget_release(&spender.frontend, &others[i]);
    assert_int_equal(call_need(&spender.call, 2 << 20), OK);
    spender_release(&spender);
}

static void test_scratch(void **state) {
    static struct spender spender;
    struct call_scratch scratch;
    (void)state;
    spender_init(&spender, 0);
    arena_alloc(&spender.arena, 1000);
    call_scratch_begin(&spender.call, &scratch);
    assert_ptr_not_equal(spender.call.arena, &spender.arena);
    assert_true(spender.budget.elsewhere >= 1000);
    arena_alloc(&spender.arena, 5000); /* a set that stays open */
    call_error(&spender.call, "ERR %d", 42);
    call_scratch_end(&spender.call, &scratch);
    assert_ptr_equal(spender.call.arena, &spender.arena);
    assert_int_equal(spender.budget.elsewhere, 0);
    assert_bytes_equal(spender.call.error, BYTES("ERR 42"));
    spender_release(&spender);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_memory_of_one),
        cmocka_unit_test(test_memory_of_all),
        cmocka_unit_test(test_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

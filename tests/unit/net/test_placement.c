/* Which loop connections are on, and that they come to no harm on the way to another. */
#include "net/shard.h"
#include "server.h"

#include "base/limits.h"
#include "net/placement.h"

enum { CLIENTS = 8 };

static struct server server;
static atomic_uint answered_by[2];

/* Counts which loop answers. */
static void handle_counted(struct http_exchange *exchange, void *context) {
    (void)context;
    atomic_fetch_add(&answered_by[loop_index(exchange->loop)], 1);
    handle(exchange, &server);
}

static int setup(void **state) {
    (void)state;
    server_open(&server, 2, (struct http_settings){.handler = handle_counted});
    return 0;
}

static int teardown(void **state) {
    (void)state;
    server_close(&server);
    return 0;
}

static void ask_all(const int *clients) {
    for (int i = 0; i < CLIENTS; i++) {
        client_send(clients[i], "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
        client_expect(clients[i], 200, "hi");
    }
}

/* After the first answers they are where they belong; then the next ones are counted. */
static void expect_after(const int *clients, unsigned first, unsigned second) {
    ask_all(clients);
    atomic_store(&answered_by[0], 0);
    atomic_store(&answered_by[1], 0);
    ask_all(clients);
    assert_int_equal(atomic_load(&answered_by[0]), first);
    assert_int_equal(atomic_load(&answered_by[1]), second);
}

static void test_connections_move(void **state) {
    (void)state;
    struct placement *placement = &server.listener->placement;
    int clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = client_open(&server);
    expect_after(clients, CLIENTS / 2, CLIENTS / 2);
    for (int round = 0; round < 20; round++) {
        placement_set(placement, true);
        expect_after(clients, CLIENTS, 0);
        placement_set(placement, false);
        expect_after(clients, CLIENTS / 2, CLIENTS / 2);
    }
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
}

static void test_new_ones_are_gathered(void **state) {
    (void)state;
    int clients[CLIENTS];
    placement_set(&server.listener->placement, true);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = client_open(&server);
    expect_after(clients, CLIENTS, 0);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
}

/* Beyond a bound they are spread: not all of them can move later. */
static void test_many_are_spread(void **state) {
    (void)state;
    enum { MANY = LIMIT_GATHERED + 20 };
    int clients[MANY];
    placement_set(&server.listener->placement, true);
    for (int i = 0; i < MANY; i++)
        clients[i] = client_open(&server);
    ask_all(clients + MANY - CLIENTS);
    assert_int_equal(atomic_load(&server.listener->shards[0].count), LIMIT_GATHERED);
    assert_int_equal(atomic_load(&server.listener->shards[1].count), 20);
    for (int i = 0; i < MANY; i++)
        close(clients[i]);
}

/* The listener ends while connections are on their way: it waits for them, and no answer is lost
 * that was begun. */
static void test_end_while_moving(void **state) {
    (void)state;
    for (int round = 0; round < 50; round++) {
        int clients[CLIENTS];
        struct server other = {0};
        server_open(&other, 2, (struct http_settings){0});
        for (int i = 0; i < CLIENTS; i++)
            clients[i] = client_open(&other);
        placement_set(&other.listener->placement, round % 2 == 0);
        ask_all(clients);
        server_close(&other);
        for (int i = 0; i < CLIENTS; i++)
            close(clients[i]);
    }
}

/* Microseconds of a tenth of a second. */
static bool decide(bool gathered, int64_t first, int64_t others, int64_t unused) {
    struct placement_sample from = {1000, 2000, 3000, 4000, 0};
    struct placement_sample to = {from.at + 100000, from.first + first, from.others + others,
                                  from.unused + unused, 0};
    return placement_decide(gathered, &from, &to);
}

static void test_decisions(void **state) {
    (void)state;
    /* One loop manages; it does not, but nobody could help; somebody could. */
    assert_true(decide(true, 50000, 0, 140000));
    assert_true(decide(true, 97000, 0, 10000));
    assert_false(decide(true, 97000, 0, 50000));
    /* Spread: more than one could do; what one could do, with a core to spare and without; little.
     */
    assert_false(decide(false, 80000, 70000, 10000));
    assert_false(decide(false, 50000, 50000, 50000));
    assert_true(decide(false, 50000, 50000, 0));
    assert_true(decide(false, 20000, 20000, 150000));
}

/* Requests that are answered later are spread, however little the loops do. */
static void test_deferred_are_spread(void **state) {
    (void)state;
    struct placement_sample from = {0}, to = {.at = 100000, .first = 30000, .unused = 60000};
    assert_true(placement_decide(true, &from, &to));
    to.deferred = 1000;
    assert_false(placement_decide(true, &from, &to));
    assert_false(placement_decide(false, &from, &to));
    to.deferred = 10;
    assert_true(placement_decide(false, &from, &to));
}

static int64_t looked_us(void) {
    const struct shard *shards = server.listener->shards;
    return loop_looked_us(shards[0].loop) + loop_looked_us(shards[1].loop);
}

static int64_t processor_us(void) {
    int64_t sum = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct timespec used;
        assert_int_equal(clock_gettime(server.listener->shards[i].processor_clock, &used), 0);
        sum += (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
    }
    return sum;
}

/* A loop that looks for what comes next leaves its processor to others. While others have all
 * processors no look lasts: then it takes longer until there is one. */
static void test_looking_is_no_use(void **state) {
    (void)state;
    struct placement_sample sample = {0};
    int clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = client_open(&server);
    for (int64_t end = now_ms() + 60000; looked_us() == 0 && now_ms() < end;)
        ask_all(clients);
    int64_t looked = looked_us();
    assert_true(looked > 0);
    assert_true(placement_sample_take(server.listener, &sample));
    assert_true(sample.first + sample.others <= processor_us() - looked);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_connections_move, setup, teardown),
        cmocka_unit_test_setup_teardown(test_new_ones_are_gathered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_are_spread, setup, teardown),
        cmocka_unit_test_setup_teardown(test_looking_is_no_use, setup, teardown),
        cmocka_unit_test(test_end_while_moving),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_deferred_are_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

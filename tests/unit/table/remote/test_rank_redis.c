/* The Redis client: addresses, slots, users, servers that are away or whose slots have gone, and
 * sentinels. */
#include "test.h"

#include "base/limits.h"
#include "redis_server.h"

#include <pthread.h>

static void addresses(void **state) {
    struct redis_address address;
    (void)state;
    assert_true(redis_address_read(BYTES("cache.example:7000"), &address));
    assert_string_equal(address.host, "cache.example");
    assert_int_equal(address.port, 7000);
    assert_true(redis_address_read(BYTES("cache"), &address));
    assert_int_equal(address.port, 6379);
    assert_true(redis_address_read(BYTES("[::1]:7001"), &address));
    assert_string_equal(address.host, "::1");
    assert_int_equal(address.port, 7001);
    assert_true(redis_address_read(BYTES("unix:/run/redis"), &address));
    assert_string_equal(address.host, "/run/redis");
    assert_int_equal(address.port, 0);
    assert_false(redis_address_read(BYTES(""), &address));
    assert_false(redis_address_read(BYTES("host:"), &address));
    assert_false(redis_address_read(BYTES("host:0"), &address));
    assert_false(redis_address_read(BYTES("host:70000"), &address));
    assert_false(redis_address_read(BYTES("[::1"), &address));
    assert_false(redis_address_read(BYTES("[::1]x"), &address));
}

/* The check value of the CRC, and what a hash tag is: as the cluster specification has it. */
static void slots(void **state) {
    (void)state;
    assert_int_equal(redis_slot(BYTES("123456789")), 0x31c3);
    assert_int_equal(redis_slot(BYTES("{user1000}.following")), redis_slot(BYTES("user1000")));
    assert_int_equal(redis_slot(BYTES("foo{{bar}}zap")), redis_slot(BYTES("{bar")));
    assert_int_equal(redis_slot(BYTES("foo{bar}{zap}")), redis_slot(BYTES("bar")));
    assert_int_not_equal(redis_slot(BYTES("foo{}{bar}")), redis_slot(BYTES("bar")));
}

static enum status ask_text(struct rank_redis *client, struct arena *arena, const char *key,
                            struct redis_reply *reply) {
    struct failure failure = {0};
    struct buf command = {0};
    redis_command_words(&command, BYTES("INCR"), bytes_str(key));
    struct bytes bytes = arena_copy(arena, buf_bytes(&command));
    buf_release(&command);
    struct redis_request request = {.key = bytes_str(key), .commands = &bytes, .count = 1};
    return redis_ask(client, &request, (struct scope){arena, &failure}, reply);
}

static enum status open_as(const struct rank_redis_settings *settings, struct arena *arena,
                           struct failure *failure) {
    struct rank_redis *client = NULL;
    struct rank_redis_settings patient = *settings;
    patient.timeout_ms = 20000;
    enum status status = rank_redis_open(&patient, (struct scope){arena, failure}, &client);
    struct redis_reply reply;
    if (status == OK)
        assert_int_equal(ask_text(client, arena, "a", &reply), OK);
    rank_redis_close(client);
    return status;
}

static void users(void **state) {
    struct test_redis redis = {.more = {"--user", "game", "on", ">secret", "~*", "+@all"}};
    struct arena arena;
    struct failure failure = {0};
    struct redis_reply reply;
    (void)state;
    arena_init(&arena);
    test_redis_start(&redis, 0);
    assert_true(test_redis_ask(&redis, &arena, "ACL SETUSER default off", &reply));
    struct rank_redis_settings settings = {.address = redis.address};
    assert_int_equal(open_as(&settings, &arena, &failure), DENIED);
    assert_true(bytes_find(failure.text, BYTES("password")) != SIZE_MAX);
    settings.login = (struct redis_login){.user = "game", .password = "wrong"};
    assert_int_equal(open_as(&settings, &arena, &failure), DENIED);
    settings.login.password = "secret";
    assert_int_equal(open_as(&settings, &arena, &failure), OK);
    test_redis_stop(&redis);
    arena_release(&arena);
}

static void wrong_addresses(void **state) {
    static const char *const wrong[] = {"", "host:x", "sentinel:@a:1", "sentinel:main", "a:1,b:y"};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct rank_redis_settings settings = {.address = wrong[i]};
        struct failure failure = {0};
        assert_int_equal(open_as(&settings, &arena, &failure), INVALID);
        assert_true(failure.text.size != 0);
    }
    struct rank_redis_settings nobody = {.address = "unix:/nonexistent/socket"};
    struct failure failure = {0};
    assert_int_equal(open_as(&nobody, &arena, &failure), IO_FAILED);
    arena_release(&arena);
}

/* A server that went is found again when it is back; meanwhile calls fail, soon and each. */
static void away_and_back(void **state) {
    struct test_redis redis = {0};
    struct arena arena;
    struct redis_reply reply;
    (void)state;
    arena_init(&arena);
    test_redis_start(&redis, test_free_port());
    struct rank_redis *client = test_rank_redis(redis.address, &arena);
    assert_int_equal(ask_text(client, &arena, "a", &reply), OK);
    assert_true(rank_redis_healthy(client));
    test_redis_kill(&redis);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(ask_text(client, &arena, "a", &reply), IO_FAILED);
    assert_false(rank_redis_healthy(client));
    test_redis_run(&redis);
    test_redis_await(&redis, "PING", "PONG");
    while (ask_text(client, &arena, "a", &reply) != OK)
        usleep(10000);
    assert_int_equal(reply.number, 1);
    assert_true(rank_redis_healthy(client));
    rank_redis_close(client);
    test_redis_stop(&redis);
    arena_release(&arena);
}

/* More threads than connections share one client, and every command is answered to who sent it. */
enum { THREADS = LIMIT_REDIS_CONNECTIONS + 8, TIMES = 30 };

struct thread_work {
    struct rank_redis *client;
    unsigned number;
    int64_t last;
};

static void *count_up(void *user) {
    struct thread_work *work = user;
    struct arena arena;
    struct redis_reply reply;
    char key[16];
    arena_init(&arena);
    snprintf(key, sizeof(key), "t%u", work->number);
    for (unsigned i = 0; i < TIMES; i++) {
        if (ask_text(work->client, &arena, key, &reply) == OK)
            work->last = reply.number;
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

static void many_threads(void **state) {
    struct test_redis redis = {0};
    struct thread_work works[THREADS];
    pthread_t threads[THREADS];
    struct arena arena;
    (void)state;
    arena_init(&arena);
    test_redis_start(&redis, 0);
    struct rank_redis *client = test_rank_redis(redis.address, &arena);
    for (unsigned i = 0; i < THREADS; i++) {
        works[i] = (struct thread_work){.client = client, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, &works[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(works[i].last, TIMES);
    rank_redis_close(client);
    test_redis_stop(&redis);
    arena_release(&arena);
}

/* A slot that goes to another server while it is used: first some of it (ASK), then all (MOVED). */
static void moving_slot(void **state) {
    struct test_redis nodes[3];
    struct arena arena;
    struct redis_reply reply, ids[3];
    char command[160];
    unsigned slot = redis_slot(BYTES("{a}"));
    unsigned from = slot / 5462, to = (from + 1) % 3;
    (void)state;
    arena_init(&arena);
    test_cluster_start(nodes);
    struct rank_redis *client = test_rank_redis(nodes[0].address, &arena);
    assert_int_equal(ask_text(client, &arena, "{a}1", &reply), OK);
    for (unsigned i = 0; i < 3; i++)
        assert_true(test_redis_ask(&nodes[i], &arena, "CLUSTER MYID", &ids[i]));
    snprintf(command, sizeof(command), "CLUSTER SETSLOT %u IMPORTING %.*s", slot,
             BYTES_ARG(ids[from].text));
    assert_true(test_redis_ask(&nodes[to], &arena, command, &reply));
    assert_int_equal(reply.type, REDIS_STATUS);
    snprintf(command, sizeof(command), "CLUSTER SETSLOT %u MIGRATING %.*s", slot,
             BYTES_ARG(ids[to].text));
    assert_true(test_redis_ask(&nodes[from], &arena, command, &reply));
    assert_int_equal(ask_text(client, &arena, "{a}2", &reply), OK); /* is not there: ASK */
    assert_int_equal(reply.number, 1);
    assert_int_equal(ask_text(client, &arena, "{a}2", &reply), OK);
    assert_int_equal(reply.number, 2);
    assert_int_equal(ask_text(client, &arena, "{a}1", &reply), OK); /* still there */
    assert_int_equal(reply.number, 2);
    snprintf(command, sizeof(command), "MIGRATE 127.0.0.1 %u {a}1 0 5000", nodes[to].port);
    assert_true(test_redis_ask(&nodes[from], &arena, command, &reply));
    assert_int_equal(reply.type, REDIS_STATUS);
    for (unsigned i = 0; i < 2; i++) {
        snprintf(command, sizeof(command), "CLUSTER SETSLOT %u NODE %.*s", slot,
                 BYTES_ARG(ids[to].text));
        assert_true(test_redis_ask(&nodes[i == 0 ? to : from], &arena, command, &reply));
        assert_int_equal(reply.type, REDIS_STATUS);
    }
    assert_int_equal(ask_text(client, &arena, "{a}1", &reply), OK);
    assert_int_equal(reply.number, 3);
    assert_int_equal(rank_redis_masters(client, &arena).count, 3);
    rank_redis_close(client);
    for (unsigned i = 0; i < 3; i++)
        test_redis_stop(&nodes[i]);
    arena_release(&arena);
}

/* Sentinels name the master; when it is gone and they name another, that one is asked. */
static void sentinels(void **state) {
    struct test_redis master = {0}, other = {0}, sentinel = {0};
    char address[192], config[128], command[160];
    struct arena arena;
    struct redis_reply reply;
    (void)state;
    arena_init(&arena);
    test_redis_start(&master, test_free_port());
    test_redis_start(&other, test_free_port());
    sentinel.port = test_free_port();
    strcpy(sentinel.folder, "/tmp/gt-redis-XXXXXX");
    assert_non_null(mkdtemp(sentinel.folder));
    snprintf(sentinel.address, sizeof(sentinel.address), "127.0.0.1:%u", sentinel.port);
    snprintf(config, sizeof(config), "%s/sentinel.conf", sentinel.folder);
    FILE *file = fopen(config, "w");
    assert_non_null(file);
    fprintf(file, "port %u\nsentinel monitor main 127.0.0.1 %u 1\n", sentinel.port, master.port);
    fclose(file);
    sentinel.pid = fork();
    if (sentinel.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("redis-server", "redis-server", config, "--sentinel", "--logfile", "/dev/null",
               (char *)NULL);
        _exit(127);
    }
    test_redis_await(&sentinel, "PING", "PONG");
    snprintf(address, sizeof(address), "sentinel:main@127.0.0.1:1,%s", sentinel.address);
    struct rank_redis *client = test_rank_redis(address, &arena);
    assert_int_equal(ask_text(client, &arena, "a", &reply), OK);
    assert_true(test_redis_ask(&other, &arena, "SET a 41", &reply));
    assert_true(test_redis_ask(&sentinel, &arena, "SENTINEL REMOVE main", &reply));
    snprintf(command, sizeof(command), "SENTINEL MONITOR main 127.0.0.1 %u 1", other.port);
    assert_true(test_redis_ask(&sentinel, &arena, command, &reply));
    assert_int_equal(reply.type, REDIS_STATUS);
    test_redis_kill(&master);
    assert_int_equal(ask_text(client, &arena, "a", &reply), OK);
    assert_int_equal(reply.number, 42);
    rank_redis_close(client);
    test_redis_stop(&sentinel);
    test_redis_stop(&other);
    test_redis_stop(&master);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),     cmocka_unit_test(slots),
        cmocka_unit_test(users),         cmocka_unit_test(wrong_addresses),
        cmocka_unit_test(away_and_back), cmocka_unit_test(many_threads),
        cmocka_unit_test(moving_slot),   cmocka_unit_test(sentinels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

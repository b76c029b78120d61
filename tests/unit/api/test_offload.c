/* All front ends on an engine whose calls block, behind one loop: the loop never waits for it. */
#include "test.h"

#include "api/change_submit.h"
#include "api/dynamodb/dynamodb_frontend.h"
#include "api/live/live_fixture.h"
#include "api/offload.h"
#include "api/redis/redis_frontend.h"
#include "api/rest/rest.h"
#include "api/slow_engine.h"
#include "game/kinds/kauwa_udd_objects.h"

#include <semaphore.h>

struct world {
    struct live_fixture base; /* what a live fixture has, put together here */
    struct slow_engine slow;
    struct background *pool;
    struct dynamodb_frontend *dynamodb;
    struct rest *rest;
    struct redis_frontend *redis;
    struct listener *redis_listener;
};

static unsigned pool_threads = 16, pool_waiting = 16;

static void handle(struct http_exchange *exchange, void *context) {
    struct world *world = context;
    if (bytes_equal(exchange->path, BYTES("/")))
        dynamodb_handle(exchange, world->dynamodb);
    else if (live_takes(exchange->path))
        live_handle(exchange, world->base.live);
    else if (rest_takes(exchange->path))
        rest_handle(exchange, world->rest);
    else
        http_answer(exchange, &(struct http_answer){.status = 200, .body = BYTES("ok\n")});
}

struct note {
    struct task task;
    struct slow_engine *slow;
    sem_t done;
};

/* Remembers the loop's thread: from now on the engine must not be called from it. */
static void note_loop(struct task *task) {
    struct note *note = (struct note *)task;
    note->slow->no_loop = pthread_self();
    note->slow->guarded = true;
    sem_post(&note->done);
}

static void guard_loop(struct world *world) {
    struct note note = {.task.run = note_loop, .slow = &world->slow};
    sem_init(&note.done, 0, 0);
    loop_post(loops_get(world->base.loops, 0), &note.task);
    while (sem_wait(&note.done) != 0)
        ;
    sem_destroy(&note.done);
}

static void listen_all(struct world *world) {
    struct live_fixture *base = &world->base;
    struct http_settings http = {.host = "127.0.0.1", .handler = handle, .context = world};
    struct stream_settings stream = {.host = "127.0.0.1",
                                     .handler = redis_handler,
                                     .context = world->redis,
                                     .full = redis_full()};
    assert_int_equal(http_listen(base->loops, &http, (struct scope){&base->arena, &base->failure},
                                 &base->listener),
                     OK);
    assert_int_equal(stream_listen(base->loops, &stream,
                                   (struct scope){&base->arena, &base->failure},
                                   &world->redis_listener),
                     OK);
}

static int begin(void **state) {
    struct world *world = test_calloc(1, sizeof(*world));
    struct live_fixture *base = &world->base;
    struct game_settings settings = {.secret = BYTES("0123456789abcdef0123456789abcdef"),
                                     .may_wait = offload_may_wait};
    struct local_settings local = {
        .store = {.memory = true}, .cache_memory = 1 << 20, .index_memory = 64 << 20, .threads = 1};
    struct engine *behind;
    arena_init(&base->arena);
    assert_int_equal(local_open(&local, (struct scope){&base->arena, &base->failure}, &behind), OK);
    base->engine = slow_engine_init(&world->slow, behind);
    assert_int_equal(game_open(base->engine, &settings,
                               (struct scope){&base->arena, &base->failure}, &base->game),
                     OK);
    world->pool = background_pool_new(pool_threads, pool_waiting);
    base->live = live_new(&(struct live_settings){.game = base->game, .pool = world->pool});
    world->dynamodb =
        dynamodb_frontend_new(base->engine, &(struct dynamodb_settings){.pool = world->pool});
    world->rest = rest_new(&(struct rest_settings){
        .game = base->game, .background = world->pool, .pool = world->pool, .live = base->live});
    world->redis =
        redis_frontend_new(base->game, &(struct redis_settings){.loops = 1, .pool = world->pool});
    base->loops = loops_new(1);
    change_submit_attach(base->loops);
    loops_start(base->loops);
    listen_all(world);
    guard_loop(world);
    *state = world;
    return 0;
}

static int end(void **state) {
    struct world *world = *state;
    struct live_fixture *base = &world->base;
    listener_close(base->listener, 5000);
    listener_close(world->redis_listener, 5000);
    redis_frontend_stop(world->redis);
    background_stop(world->pool);
    live_stop(base->live);
    rest_stop(world->rest);
    engine_close(base->engine);
    game_engine_closed(base->game);
    loops_free(base->loops);
    redis_frontend_free(world->redis);
    dynamodb_frontend_free(world->dynamodb);
    rest_free(world->rest);
    live_free(base->live);
    game_close(base->game);
    background_free(world->pool);
    arena_release(&base->arena);
    bool caught = world->slow.caught;
    test_free(world);
    assert_false(caught); /* no call came from the loop */
    return 0;
}

/* --- clients --- */

static int dial(const struct listener *listener) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)listener_port(listener)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static int redis_say(const struct world *world, const char *text) {
    int fd = dial(world->redis_listener);
    live_put(fd, bytes_str(text));
    return fd;
}

static int http_say(const struct world *world, const char *method, const char *path,
                    const char *body) {
    int fd = dial(world->base.listener);
    struct buf text = {0};
    buf_printf(&text,
               "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Amz-Date: 20260101T000000Z\r\n"
               "X-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Type: application/json\r\n"
               "Authorization: AWS4-HMAC-SHA256 Credential=key/20260101/eu-west-1/dynamodb/"
               "aws4_request, SignedHeaders=host, Signature=00\r\nContent-Length: %zu\r\n\r\n%s",
               method, path, strlen(body), body);
    live_put(fd, buf_bytes(&text));
    buf_release(&text);
    return fd;
}

/* Waits for the text, and closes. */
static void expect(int fd, const char *text) {
    struct buf heard = {0};
    bool came = live_wait(fd, &heard, bytes_str(text));
    if (!came)
        print_message("not %s but %.*s\n", text, BYTES_ARG(buf_bytes(&heard)));
    close(fd);
    buf_release(&heard);
    assert_true(came);
}

static bool has_nothing(int fd) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 0;
}

/* --- tests --- */

/* Each front end has a request inside of the engine; everything else is answered all the same. */
static void test_loop_goes_on(void **state) {
    struct world *world = *state;
    expect(http_say(world, "PUT", "/v1/boards/b", "{\"game\":\"g\"}"), "HTTP/1.1 201");
    slow_shut(&world->slow, true);
    int zadd = redis_say(world, "ZADD b 5 ann\r\n");
    int list = http_say(world, "POST", "/", "{}");
    int board = http_say(world, "GET", "/v1/boards/b/entries", "");
    slow_await(&world->slow, 3);
    expect(redis_say(world, "PING\r\n"), "+PONG\r\n");
    expect(http_say(world, "GET", "/healthz", ""), "ok\n");
    assert_true(has_nothing(zadd) && has_nothing(list) && has_nothing(board));
    slow_shut(&world->slow, false);
    expect(zadd, ":1\r\n");
    expect(list, "TableNames");
    expect(board, "\"entries\"");
}

static void test_pipeline_in_order(void **state) {
    struct world *world = *state;
    int fd = redis_say(world, "ZADD p 1 a 2 b\r\nPING one\r\nZINCRBY p 5 a\r\nZSCORE p a\r\n"
                              "MULTI\r\nZADD p 9 c\r\nZCARD p\r\nEXEC\r\nZPOPMAX p\r\n"
                              "PING two\r\nZRANGE p 0 -1\r\nNOSUCH\r\nDEL p\r\nZCARD p\r\n");
    expect(fd, ":2\r\n$3\r\none\r\n$1\r\n6\r\n$1\r\n6\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n"
               ":3\r\n*2\r\n$1\r\nc\r\n$1\r\n9\r\n$3\r\ntwo\r\n*2\r\n$1\r\nb\r\n$1\r\na\r\n"
               "-ERR unknown command 'NOSUCH', with args beginning with: \r\n:1\r\n:0\r\n");
}

/* Boards by all front ends, and one who waits for an entry. */
static void test_boards(void **state) {
    struct world *world = *state;
    expect(http_say(world, "PUT", "/v1/boards/r", "{\"game\":\"g\",\"ranking\":\"dense\"}"),
           "HTTP/1.1 201");
    expect(http_say(world, "PUT", "/v1/boards/r/entries/ann", "{\"score\":3}"), "\"rankAfter\":1");
    expect(http_say(world, "POST", "/v1/scores:batch",
                    "{\"scores\":[{\"board\":\"r\",\"player\":\"bob\",\"score\":4},"
                    "{\"board\":\"r\",\"player\":\"cid\",\"score\":1}]}"),
           "\"submitted\"");
    expect(redis_say(world, "ZREVRANGE r 0 -1\r\n"),
           "*3\r\n$3\r\nbob\r\n$3\r\nann\r\n$3\r\ncid\r\n");
    expect(http_say(world, "GET", "/v1/boards/r/entries/ann", ""), "\"rank\":2");
    int waits = redis_say(world, "BZPOPMIN later 0\r\n");
    expect(redis_say(world, "ZADD later 7 x\r\n"), ":1\r\n");
    expect(waits, "*3\r\n$5\r\nlater\r\n$1\r\nx\r\n$1\r\n7\r\n");
}

static void test_rooms(void **state) {
    struct world *world = *state;
    struct live_fixture *base = &world->base;
    struct failure failure = {0};
    assert_int_equal(kauwa_objects_seed(base->game, (struct scope){&base->arena, &failure}), OK);
    assert_int_equal(match_boards(base->game, (struct scope){&base->arena, &failure}), OK);
    struct bytes code = live_room(base, "kauwa-udd");
    struct buf heard = {0};
    int ann = live_open(base, code, "ann");
    assert_true(live_wait(ann, &heard, BYTES("\"type\":\"state\"")));
    live_say(ann, BYTES("{\"do\":\"ready\",\"id\":7}"));
    assert_true(live_wait(ann, &heard, BYTES("{\"type\":\"ok\",\"v\":1,\"id\":7}")));
    live_say(ann, BYTES("{\"do\":\"react\",\"round\":1,\"id\":8}"));
    assert_true(live_wait(ann, &heard, BYTES("\"id\":8")));
    close(ann);
    buf_release(&heard);
    expect(http_say(world, "GET", "/v1/boards/none/live", ""), "HTTP/1.1 404");
}

/* A pool that is full says so, in each protocol's words, and takes more when it is not. */
static void test_busy(void **state) {
    struct world *world = *state;
    slow_shut(&world->slow, true);
    int runs = http_say(world, "GET", "/v1/boards/b/entries", "");
    slow_await(&world->slow, 1);
    expect(http_say(world, "GET", "/v1/boards/b/entries", ""), "HTTP/1.1 429");
    expect(redis_say(world, "ZCARD b\r\n"), "-TRYAGAIN ");
    expect(http_say(world, "POST", "/", "{}"), OFFLOAD_BUSY);
    slow_shut(&world->slow, false);
    expect(runs, "HTTP/1.1 404");
    expect(redis_say(world, "PING\r\n"), "+PONG\r\n");
}

static int begin_narrow(void **state) {
    pool_threads = 1;
    pool_waiting = 0;
    return begin(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_loop_goes_on), TEST(test_pipeline_in_order), TEST(test_boards), TEST(test_rooms),
        cmocka_unit_test_setup_teardown(test_busy, begin_narrow, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Streams over real sockets. The handler takes lines:
 *
 *     echo X     X, at once
 *     later N X  X, from another thread after N ms; nothing else is taken meanwhile
 *     held X     the same when the test opens the gate
 *     big N      N bytes
 *     crowded?   yes or no
 *     keep       takes the buffer over that it came in: "kept", and soon "more"; or "shared"
 *     end        "bye", and the end
 */
#include "server.h"

#include "net/placement.h"
#include "net/shard.h"
#include "net/stream.h"

static struct server server; /* with the listener of a stream */
static atomic_uint opened, closed, taken;
static atomic_uint taken_by[2];     /* lines, by loop */
static atomic_uint leaving;         /* streams on their way to another loop */
static atomic_bool revoked;         /* none may go on */
static struct stream *_Atomic held; /* of the last "held": good until its answer */

struct later {
    struct task task;
    struct stream *stream;
    long ms; /* -1: until the gate opens */
    char text[32];
};

static void answer_line(struct stream *stream, const char *text) {
    buf_put(&stream->out, bytes_str(text));
    buf_byte(&stream->out, '\n');
}

static void run_later_answer(struct task *task) {
    struct later *later = (struct later *)task;
    struct stream *stream = later->stream;
    assert_ptr_equal(loop_current(), stream->loop);
    answer_line(stream, later->text);
    stream_resume(stream);
    stream_release(stream);
    free(later);
    atomic_fetch_sub(&server.running, 1);
}

static void *sleep_and_post(void *argument) {
    struct later *later = argument;
    if (later->ms < 0)
        gate_wait(&server);
    else
        sleep_ms(later->ms);
    later->task.run = run_later_answer;
    loop_post(later->stream->loop, &later->task);
    return NULL;
}

static void begin_later(struct stream *stream, const char *text) {
    struct later *later = calloc(1, sizeof(*later));
    pthread_t thread;
    later->stream = stream;
    assert_int_equal(sscanf(text, "%ld %31s", &later->ms, later->text), 2);
    stream->stalled = true;
    stream_hold(stream);
    atomic_fetch_add(&server.running, 1);
    assert_int_equal(pthread_create(&thread, NULL, sleep_and_post, later), 0);
    pthread_detach(thread);
}

static void begin_held(struct stream *stream, const char *text) {
    char line[300];
    snprintf(line, sizeof(line), "-1 %s", text);
    begin_later(stream, line);
    atomic_store(&held, stream);
}

/* What is behind it comes again, elsewhere: the buffer is overwritten and freed at once. */
static bool keep_line(struct stream *stream, struct bytes bytes, size_t end) {
    struct buf kept;
    if (!stream_take_in(stream, bytes.data + end, &kept))
        return false;
    assert_true(bytes.data >= kept.data && bytes.data + bytes.size == kept.data + kept.size);
    memset(kept.data, '?', kept.size);
    buf_release(&kept);
    answer_line(stream, "kept");
    begin_later(stream, "1 more");
    return true;
}

static void take_line(struct stream *stream, const char *line) {
    if (strcmp(line, "keep") == 0)
        answer_line(stream, "shared");
    else if (strncmp(line, "echo ", 5) == 0)
        answer_line(stream, line + 5);
    else if (strncmp(line, "later ", 6) == 0)
        begin_later(stream, line + 6);
    else if (strncmp(line, "held ", 5) == 0)
        begin_held(stream, line + 5);
    else if (strncmp(line, "big ", 4) == 0) {
        size_t size = (size_t)atoll(line + 4);
        memset(buf_reserve(&stream->out, size), 'x', size);
        stream->out.size += size;
    } else if (strcmp(line, "crowded?") == 0)
        answer_line(stream, stream_is_crowded(stream) ? "yes" : "no");
    else {
        answer_line(stream, "bye");
        stream_end(stream);
    }
    atomic_fetch_add(&taken, 1);
    atomic_fetch_add(&taken_by[loop_index(stream->loop)], 1);
}

static void on_opened(struct stream *stream, void *context) {
    assert_ptr_equal(context, &server);
    stream->user = &server;
    atomic_fetch_add(&opened, 1);
}

static size_t on_arrived(struct stream *stream, struct bytes bytes, void *context) {
    size_t at = 0;
    (void)context;
    assert_ptr_equal(loop_current(), stream->loop);
    while (!stream->stalled && !stream->ending && !stream_is_full(stream)) {
        const uint8_t *end =
            at < bytes.size ? memchr(bytes.data + at, '\n', bytes.size - at) : NULL;
        char line[256];
        if (end == NULL)
            break;
        size_t size = (size_t)(end - bytes.data) - at;
        assert_true(size < sizeof(line));
        memcpy(line, bytes.data + at, size);
        line[size] = '\0';
        at += size + 1;
        if (strcmp(line, "keep") == 0 && keep_line(stream, bytes, at))
            break;
        take_line(stream, line);
    }
    return at;
}

static void on_closed(struct stream *stream, void *context) {
    (void)context;
    assert_ptr_equal(stream->user, &server);
    assert_true(stream->gone);
    atomic_fetch_add(&closed, 1);
}

static bool review(struct stream *stream, void *context) {
    (void)context;
    assert_ptr_equal(loop_current(), stream->loop);
    return !atomic_load(&revoked);
}

static bool may_move(const struct stream *stream, void *context) {
    (void)context;
    assert_ptr_equal(loop_current(), stream->loop);
    return true;
}

static void leaves(struct stream *stream, struct loop *to, void *context) {
    (void)context;
    assert_ptr_equal(loop_current(), stream->loop);
    assert_ptr_not_equal(to, stream->loop);
    atomic_fetch_add(&leaving, 1);
}

static void moved(struct stream *stream, void *context) {
    (void)context;
    assert_ptr_equal(loop_current(), stream->loop);
    atomic_fetch_sub(&leaving, 1);
}

static const struct stream_handler handler = {.opened = on_opened,
                                              .arrived = on_arrived,
                                              .closed = on_closed,
                                              .review = review,
                                              .may_move = may_move,
                                              .leaves = leaves,
                                              .moved = moved};

static void open_with(struct stream_settings settings) {
    struct failure failure = {0};
    memset(&server, 0, sizeof(server));
    opened = closed = taken = leaving = 0;
    taken_by[0] = taken_by[1] = 0;
    revoked = false;
    sem_init(&server.gate, 0, 0);
    arena_init(&server.arena);
    server.loops = loops_new(2);
    loops_start(server.loops);
    settings.host = "127.0.0.1";
    settings.handler = handler;
    settings.context = &server;
    settings.full = BYTES("full\n");
    assert_int_equal(stream_listen(server.loops, &settings, (struct scope){&server.arena, &failure},
                                   &server.listener),
                     OK);
}

static int setup(void **state) {
    (void)state;
    open_with((struct stream_settings){0});
    return 0;
}

static int teardown(void **state) {
    (void)state;
    server_close(&server);
    assert_int_equal(opened, closed);
    return 0;
}

static void expect_text(int fd, const char *text) {
    char got[256];
    size_t size = strlen(text);
    assert_true(size < sizeof(got));
    read_exactly(fd, got, size);
    assert_memory_equal(got, text, size);
}

static void expect_big(int fd, size_t size) {
    char *got = malloc(size);
    read_exactly(fd, got, size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(got[i], 'x');
    free(got);
}

static void wait_for(atomic_uint *count, unsigned value) {
    for (int i = 0; i < 60000 && atomic_load(count) != value; i++)
        sleep_ms(1);
    assert_int_equal(atomic_load(count), value);
}

/* ---- in order ---- */

static void test_pieces(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "echo a\necho b\necho");
    expect_text(fd, "a\nb\n");
    for (const char *at = " c\necho d\n"; *at != '\0'; at++) {
        client_send_bytes(fd, at, 1);
        sleep_ms(1);
    }
    expect_text(fd, "c\nd\n");
    close(fd);
}

static void test_pipeline(void **state) {
    (void)state;
    enum { COUNT = 50000 };
    struct buf text = {0}, expected = {0};
    for (int i = 0; i < COUNT; i++) {
        buf_printf(&text, "echo %d\n", i);
        buf_printf(&expected, "%d\n", i);
    }
    int fd = client_open(&server);
    client_send_bytes(fd, text.data, text.size);
    char *got = malloc(expected.size);
    read_exactly(fd, got, expected.size);
    assert_memory_equal(got, expected.data, expected.size);
    free(got);
    buf_release(&text);
    buf_release(&expected);
    close(fd);
}

static void test_kept(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "echo 1\nkeep\necho 2\nec");
    expect_text(fd, "1\nshared\n2\n");
    client_send(fd,
                "ho 3\nkeep\necho 4\nkeep\nkeep\nec"); /* with what is there, in its own buffer */
    expect_text(fd, "3\nkept\nmore\n4\nkept\nmore\nkept\nmore\n");
    client_send(fd, "ho 5\nkeep\n");
    expect_text(fd, "5\nkept\nmore\n");
    client_send(fd, "keep\necho 6\n");
    expect_text(fd, "shared\n6\n");
    close(fd);
}

/* With much behind it, the buffer stays where it is; how much has come by then, only the machine
 * knows. */
static void test_kept_flood(void **state) {
    (void)state;
    enum { COUNT = 100000 };
    struct buf text = {0};
    buf_lit(&text, "later 50 first\nkeep\n");
    for (int i = 0; i < COUNT; i++)
        buf_lit(&text, "echo a\n");
    int fd = client_open(&server);
    client_send_bytes(fd, text.data, text.size);
    char first;
    expect_text(fd, "first\n");
    read_exactly(fd, &first, 1);
    expect_text(fd, first == 's' ? "hared\n" : "ept\nmore\n");
    for (int i = 0; i < COUNT; i++)
        expect_text(fd, "a\n");
    buf_release(&text);
    close(fd);
}

static void test_stalled(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "echo 1\nlater 30 2\necho 3\nlater 5 4\nlater 5 5\necho 6\n");
    sleep_ms(10);
    client_send(fd, "echo 7\n");
    expect_text(fd, "1\n2\n3\n4\n5\n6\n7\n");
    close(fd);
}

/* A client whose requests wait may go on sending, up to a point, and nothing is lost. */
static void test_stalled_flood(void **state) {
    (void)state;
    enum { COUNT = 300000 };
    struct buf text = {0};
    buf_lit(&text, "later 50 first\n");
    for (int i = 0; i < COUNT; i++)
        buf_lit(&text, "echo a\n");
    int fd = client_open(&server);
    client_send_bytes(fd, text.data, text.size);
    expect_text(fd, "first\n");
    for (int i = 0; i < COUNT / 100; i++) {
        char got[200];
        read_exactly(fd, got, sizeof(got));
        for (int j = 0; j < 100; j++)
            assert_memory_equal(got + 2 * j, "a\n", 2);
    }
    buf_release(&text);
    close(fd);
}

/* ---- ends ---- */

static void test_end(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "echo 1\nend\necho 2\n");
    expect_text(fd, "1\nbye\n");
    client_expect_end(fd);
    close(fd);
    wait_for(&closed, 1);
    assert_int_equal(taken, 2);
}

/* Whoever says that it sends no more gets the replies to what it sent. */
static void test_half_closed(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "later 20 1\necho 2\nbig 3000000\n");
    shutdown(fd, SHUT_WR);
    expect_text(fd, "1\n2\n");
    expect_big(fd, 3000000);
    client_expect_end(fd);
    close(fd);
}

/* Looks at the stream that is held, on its loop. */
struct look {
    struct task task;
    struct stream *stream;
    bool gone;
    sem_t looked;
};

static void run_look(struct task *task) {
    struct look *look = (struct look *)task;
    look->gone = look->stream->gone;
    sem_post(&look->looked);
}

static bool held_is_gone(void) {
    struct look look = {.task.run = run_look, .stream = atomic_load(&held)};
    sem_init(&look.looked, 0, 0);
    loop_post(look.stream->loop, &look.task);
    while (sem_wait(&look.looked) != 0) {
    }
    sem_destroy(&look.looked);
    return look.gone;
}

static void test_gone_while_held(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "held 1\n");
    wait_for(&taken, 1);
    struct linger now = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close(fd); /* with a reset */
    for (int i = 0; i < 60000 && !held_is_gone(); i++)
        sleep_ms(1);
    assert_true(held_is_gone());
    assert_int_equal(closed, 0);
    sem_post(&server.gate);
    wait_for(&closed, 1);
}

static void test_close_waits(void **state) {
    (void)state;
    int idle = client_open(&server), busy = client_open(&server);
    client_send(idle, "echo 1\n");
    expect_text(idle, "1\n");
    client_send(busy, "later 100 done\n");
    wait_for(&taken, 2);
    int64_t began = now_ms();
    listener_close(server.listener, 20000);
    assert_true(now_ms() - began < 15000); /* not the whole grace */
    expect_text(busy, "done\n");
    client_expect_end(busy);
    client_expect_end(idle);
    close(idle);
    close(busy);
    assert_int_equal(closed, 2);
    struct stream_settings again = {.host = "127.0.0.1", .handler = handler, .context = &server};
    struct failure failure = {0};
    assert_int_equal(stream_listen(server.loops, &again, (struct scope){&server.arena, &failure},
                                   &server.listener),
                     OK);
}

/* ---- those who do not read ---- */

static void test_slow_reader(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "big 20000000\necho after\n");
    sleep_ms(30);
    expect_big(fd, 20000000);
    expect_text(fd, "after\n");
    close(fd);
}

static void test_paused(void **state) {
    (void)state;
    server_close(&server);
    open_with((struct stream_settings){.out_pause = 1000000});
    enum { COUNT = 40, SIZE = 1000000 };
    int fd = client_open(&server);
    for (int i = 0; i < COUNT; i++) {
        client_send(fd, "big 1000000\n");
        sleep_ms(2);
    }
    sleep_ms(50);
    assert_true(taken < COUNT); /* the rest waits in the socket */
    for (int i = 0; i < COUNT; i++)
        expect_big(fd, SIZE);
    assert_int_equal(taken, COUNT);
    close(fd);
}

/* All requests arrive in one piece: they are left undone while their answers are not read. */
static void check_paused_pipeline(int count, size_t size) {
    int fd = client_open(&server);
    char line[32];
    snprintf(line, sizeof(line), "big %zu\n", size);
    struct buf all = {0};
    for (int i = 0; i < count; i++)
        buf_put(&all, bytes_str(line));
    buf_byte(&all, 0);
    client_send(fd, (const char *)all.data);
    buf_release(&all);
    for (int i = 0; i < count; i++)
        expect_big(fd, size);
    assert_int_equal(taken, count);
    close(fd);
}

static void test_paused_pipeline(void **state) {
    (void)state;
    server_close(&server);
    open_with((struct stream_settings){.out_pause = 1000000, .out_max = 30000000});
    check_paused_pipeline(60, 1000000); /* it would be cut off if all were answered at once */
}

/* What waits is sent in one go, and nothing tells that there is room again. */
static void test_paused_by_little(void **state) {
    (void)state;
    server_close(&server);
    open_with((struct stream_settings){.out_pause = 1000});
    check_paused_pipeline(100, 2000);
}

/* Asks until this is the answer: what waits is counted right after it was sent. */
static void wait_for_crowd(int fd, const char *wanted) {
    char answer[8] = "";
    for (int i = 0; i < 60000 && strcmp(answer, wanted) != 0; i++) {
        client_send(fd, "crowded?\n");
        memset(answer, 0, sizeof(answer));
        read_exactly(fd, answer, 3);
        if (answer[0] == 'y')
            read_exactly(fd, answer + 3, 1);
        sleep_ms(1);
    }
    assert_string_equal(answer, wanted);
}

static void test_crowded(void **state) {
    (void)state;
    server_close(&server);
    open_with((struct stream_settings){.out_total = 1000000});
    int a = client_open(&server), b = client_open(&server);
    wait_for_crowd(b, "no\n");
    client_send(a, "big 20000000\n");
    wait_for_crowd(b, "yes\n");
    expect_big(a, 20000000);
    wait_for_crowd(b, "no\n");
    close(a);
    close(b);
}

static void test_cut_off(void **state) {
    (void)state;
    server_close(&server);
    open_with((struct stream_settings){.out_max = 1000000});
    int fd = client_open(&server);
    client_send(fd, "big 900000\n");
    expect_big(fd, 900000);
    client_send(fd, "big 1000001\n");
    wait_for(&closed, 1);
    close(fd);
}

/* ---- limits ---- */

static void test_full(void **state) {
    (void)state;
    server_close(&server);
    open_with((struct stream_settings){.connections_max = 2});
    int a = client_open(&server), b = client_open(&server);
    client_send(a, "echo 1\n");
    client_send(b, "echo 1\n");
    expect_text(a, "1\n");
    expect_text(b, "1\n");
    int c = client_open(&server);
    expect_text(c, "full\n");
    client_expect_end(c);
    close(c);
    close(a);
    wait_for(&closed, 1);
    int d = client_open(&server);
    client_send(d, "echo 4\n");
    expect_text(d, "4\n");
    close(b);
    close(d);
}

/* One that has something under way; one that came too late to ask has ended by then. */
static int open_held(void) {
    for (int i = 0; i < 1000; i++) {
        unsigned before = atomic_load(&taken), ended = atomic_load(&closed);
        int fd = client_open(&server);
        client_send_some(fd, "held done\n", 10);
        while (atomic_load(&taken) == before && atomic_load(&closed) == ended)
            sleep_ms(1);
        if (atomic_load(&taken) != before)
            return fd;
        close(fd);
    }
    fail_msg("no request is taken");
    return -1;
}

/* Half a request, and nothing else: there is no end to being idle. */
static void test_half_a_request(void **state) {
    (void)state;
    server_close(&server);
    open_with((struct stream_settings){.request_ms = 100});
    int idle = client_open(&server), busy = open_held(), half = client_open(&server);
    int64_t began = now_ms();
    client_send(half, "echo");
    client_expect_end(half);
    assert_true(now_ms() - began >= 90);
    client_send(idle, "echo 1\n");
    expect_text(idle, "1\n");
    sem_post(&server.gate);
    expect_text(busy, "done\n"); /* the handler has all the time it wants */
    close(idle);
    close(half);
    close(busy);
}

/* Who says nothing has another time than who has said half of something. */
static void test_idle(void **state) {
    (void)state;
    server_close(&server);
    open_with((struct stream_settings){.idle_ms = 400, .request_ms = 100});
    int busy = open_held();
    int64_t began = now_ms();
    int idle = client_open(&server);
    client_expect_end(idle);
    assert_true(now_ms() - began >= 390);
    sem_post(&server.gate);
    expect_text(busy, "done\n");
    close(idle);
    close(busy);
}

/* ---- from loop to loop ---- */

enum { CLIENTS = 8 };

static void open_clients(int *clients) {
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = client_open(&server);
}

static void close_clients(const int *clients) {
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
}

static void ask_all(const int *clients, const char *line, const char *answer) {
    for (int i = 0; i < CLIENTS; i++)
        client_send(clients[i], line);
    for (int i = 0; i < CLIENTS; i++)
        expect_text(clients[i], answer);
}

/* After the first answers they are where they belong; then the next ones are counted. */
static void expect_after(const int *clients, unsigned first, unsigned second) {
    ask_all(clients, "echo a\n", "a\n");
    ask_all(clients, "later 1 b\n", "b\n");
    wait_for(&leaving, 0);
    atomic_store(&taken_by[0], 0);
    atomic_store(&taken_by[1], 0);
    ask_all(clients, "echo c\nlater 1 d\necho e\n", "c\nd\ne\n");
    assert_int_equal(atomic_load(&taken_by[0]), 3 * first);
    assert_int_equal(atomic_load(&taken_by[1]), 3 * second);
}

static void test_moves(void **state) {
    (void)state;
    struct placement *placement = &server.listener->placement;
    int clients[CLIENTS];
    open_clients(clients);
    for (int round = 0; round < 20; round++) {
        placement_set(placement, true);
        expect_after(clients, CLIENTS, 0);
        placement_set(placement, false);
        expect_after(clients, CLIENTS / 2, CLIENTS / 2);
    }
    close_clients(clients);
}

/* What is under way, or only half there, keeps a stream where it is; it leaves after that. */
static void test_moves_at_rest(void **state) {
    (void)state;
    placement_set(&server.listener->placement, true);
    int fd = client_open(&server);
    client_send(fd, "held 1\nec");
    wait_for(&taken, 1);
    server.listener->shards[0].dealt = 1; /* the next one goes to the other loop */
    placement_set(&server.listener->placement, false);
    sem_post(&server.gate);
    expect_text(fd, "1\n");
    client_send(fd, "ho 2\n");
    expect_text(fd, "2\n");
    assert_int_equal(atomic_load(&taken_by[1]), 0);
    client_send(fd, "echo 3\n");
    expect_text(fd, "3\n");
    assert_int_equal(atomic_load(&taken_by[1]), 1);
    close(fd);
}

/* Whoever reviews the streams does not find one that is on its way: it is asked when it arrives. */
static void test_reviewed_on_arrival(void **state) {
    (void)state;
    struct placement *placement = &server.listener->placement;
    int clients[CLIENTS];
    placement_set(placement, true);
    open_clients(clients);
    ask_all(clients, "echo a\n", "a\n");
    atomic_store(&revoked, true);
    placement_set(placement, false);
    ask_all(clients, "echo b\n", "b\n");
    wait_for(&closed, CLIENTS / 2);
    close_clients(clients);
}

/* The listener ends while streams are on their way: it waits for them. */
static void test_end_while_moving(void **state) {
    (void)state;
    for (int round = 0; round < 50; round++) {
        int clients[CLIENTS];
        open_clients(clients);
        placement_set(&server.listener->placement, round % 2 == 0);
        ask_all(clients, "echo a\n", "a\n");
        teardown(state);
        close_clients(clients);
        setup(state);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pipeline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kept_flood, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stalled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stalled_flood, setup, teardown),
        cmocka_unit_test_setup_teardown(test_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_half_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gone_while_held, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_reader, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paused_pipeline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paused_by_little, setup, teardown),
        cmocka_unit_test_setup_teardown(test_crowded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full, setup, teardown),
        cmocka_unit_test_setup_teardown(test_half_a_request, setup, teardown),
        cmocka_unit_test_setup_teardown(test_idle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_moves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_moves_at_rest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reviewed_on_arrival, setup, teardown),
        cmocka_unit_test_setup_teardown(test_end_while_moving, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

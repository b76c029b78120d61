/* Redis servers for tests, each in a temporary folder, ended with the test that started them. */
#ifndef GT_TEST_REDIS_SERVER_H
#define GT_TEST_REDIS_SERVER_H

#include "base/clock.h"
#include "base/random.h"
#include "table/remote/rank_redis.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEST_REDIS_WAIT_S = 60, TEST_REDIS_ARGS = 32 };

struct test_redis {
    pid_t pid;
    char folder[64];
    char address[128]; /* "unix:..." or "127.0.0.1:PORT" */
    uint16_t port;     /* 0: a local socket */
    const char *more[8];
};

static inline bool test_port_is_free(unsigned port) {
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool is_free = bind(fd, (struct sockaddr *)&local, sizeof(local)) == 0;
    close(fd);
    return is_free;
}

/* Keeps the port for this process: a name that no other test can have until it ends. Between the
 * look at a port and the server that takes it another test might find it free as well. */
static inline bool test_port_reserve(unsigned port) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int size =
        snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "gametable-test-port-%u", port);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t whole = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
    if (bind(fd, (struct sockaddr *)&name, whole) == 0)
        return true; /* open until the process ends */
    close(fd);
    return false;
}

/* A port that nobody has now, nor the one that a cluster uses beside it, and that the system does
 * not give to connections. */
static inline uint16_t test_free_port(void) {
    for (;;) {
        uint16_t chance;
        random_secure(&chance, sizeof(chance));
        unsigned port = 11000 + chance % 10000;
        if (test_port_reserve(port) && test_port_is_free(port) && test_port_is_free(port + 10000))
            return (uint16_t)port;
    }
}

/* One command to the server; false if it cannot be asked. */
static inline bool test_redis_ask(const struct test_redis *redis, struct arena *arena,
                                  const char *words, struct redis_reply *out) {
    struct redis_address address;
    struct redis_connection *connection;
    struct failure failure = {0};
    struct bytes args[16];
    size_t count = 0;
    struct buf command = {0};
    int64_t deadline = clock_ticks_us() + 10 * 1000000;
    char *copy = arena_str(arena, bytes_str(words)), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        args[count++] = bytes_str(word);
    redis_command(&command, args, count);
    assert_true(redis_address_read(bytes_str(redis->address), &address));
    struct redis_login login = {0};
    bool asked = redis_connect(&(struct redis_peer){&address, &login, deadline},
                               (struct scope){arena, &failure}, &connection) == OK;
    if (asked) {
        asked = redis_send(connection, buf_bytes(&command), deadline) == OK &&
                redis_receive(connection, deadline, arena, out) == OK;
        redis_disconnect(connection);
    }
    buf_release(&command);
    return asked;
}

static inline void test_redis_await(const struct test_redis *redis, const char *command,
                                    const char *part) {
    struct arena arena;
    arena_init(&arena);
    for (unsigned i = 0;; i++) {
        struct redis_reply reply = {0};
        if (test_redis_ask(redis, &arena, command, &reply) &&
            bytes_find(reply.text, bytes_str(part)) != SIZE_MAX)
            break;
        if (i == TEST_REDIS_WAIT_S * 50)
            fail_msg("redis-server at %s does not come up", redis->address);
        usleep(20000);
    }
    arena_release(&arena);
}

static inline void test_redis_run(struct test_redis *redis) {
    char port[8], socket_path[96];
    const char *args[TEST_REDIS_ARGS] = {
        "redis-server", "--port", port,          "--save",    "",         "--appendonly",
        "no",           "--dir",  redis->folder, "--logfile", "/dev/null"};
    size_t count = 11;
    snprintf(port, sizeof(port), "%u", redis->port);
    snprintf(socket_path, sizeof(socket_path), "%s/socket", redis->folder);
    if (redis->port == 0) {
        args[count++] = "--unixsocket";
        args[count++] = socket_path;
    }
    for (size_t i = 0; i < 8 && redis->more[i] != NULL; i++)
        args[count++] = redis->more[i];
    redis->pid = fork();
    if (redis->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp(args[0], (char *const *)args);
        _exit(127);
    }
    assert_true(redis->pid > 0);
}

static inline void test_redis_start(struct test_redis *redis, uint16_t port) {
    strcpy(redis->folder, "/tmp/gt-redis-XXXXXX");
    assert_non_null(mkdtemp(redis->folder));
    redis->port = port;
    if (port == 0)
        snprintf(redis->address, sizeof(redis->address), "unix:%s/socket", redis->folder);
    else
        snprintf(redis->address, sizeof(redis->address), "127.0.0.1:%u", port);
    test_redis_run(redis);
    test_redis_await(redis, "PING", "PONG");
}

static inline void test_redis_kill(struct test_redis *redis) {
    kill(redis->pid, SIGKILL);
    waitpid(redis->pid, NULL, 0);
    redis->pid = 0;
}

static inline void test_redis_stop(struct test_redis *redis) {
    char command[128];
    if (redis->pid != 0)
        test_redis_kill(redis);
    snprintf(command, sizeof(command), "rm -rf %s", redis->folder);
    assert_int_equal(system(command), 0);
}

/* Three masters with a third of the slots each. */
static inline void test_cluster_start(struct test_redis nodes[3]) {
    struct arena arena;
    char command[128];
    struct redis_reply reply;
    arena_init(&arena);
    for (unsigned i = 0; i < 3; i++) {
        nodes[i] = (struct test_redis){
            .more = {"--cluster-enabled", "yes", "--cluster-node-timeout", "5000"}};
        test_redis_start(&nodes[i], test_free_port());
        snprintf(command, sizeof(command), "CLUSTER ADDSLOTSRANGE %u %u", i * 5462,
                 i == 2 ? 16383 : i * 5462 + 5461);
        assert_true(test_redis_ask(&nodes[i], &arena, command, &reply));
        assert_int_equal(reply.type, REDIS_STATUS);
        snprintf(command, sizeof(command), "CLUSTER SET-CONFIG-EPOCH %u", i + 1);
        assert_true(test_redis_ask(&nodes[i], &arena, command, &reply));
    }
    for (unsigned i = 1; i < 3; i++) {
        snprintf(command, sizeof(command), "CLUSTER MEET 127.0.0.1 %u", nodes[0].port);
        assert_true(test_redis_ask(&nodes[i], &arena, command, &reply));
    }
    for (unsigned i = 0; i < 3; i++) {
        test_redis_await(&nodes[i], "CLUSTER INFO", "cluster_state:ok");
        test_redis_await(&nodes[i], "CLUSTER INFO", "cluster_slots_ok:16384");
    }
    arena_release(&arena);
}

static inline struct rank_redis *test_rank_redis(const char *address, struct arena *arena) {
    struct failure failure = {0};
    struct rank_redis *client = NULL;
    struct rank_redis_settings settings = {.address = address, .timeout_ms = 20000};
    if (rank_redis_open(&settings, (struct scope){arena, &failure}, &client) != OK)
        fail_msg("%.*s", BYTES_ARG(failure.text));
    return client;
}

#endif

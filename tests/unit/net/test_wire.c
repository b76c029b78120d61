/* When bytes came to the machine, as a wire says it: plain and encrypted. */
#include "test.h"

#include "base/clock.h"
#include "net/wire.h"

#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* A server's wire and the client's socket. */
struct pair {
    struct wire wire;
    int client;
    SSL *ssl; /* the client's; NULL: plain */
};

static void pair_open(struct pair *pair, struct tls *tls) {
    struct failure failure = {0};
    struct arena arena;
    int listening, port = 0;
    arena_init(&arena);
    assert_int_equal(wire_listen("127.0.0.1", &port, (struct scope){&arena, &failure}, &listening),
                     OK);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *pair = (struct pair){.client = socket(AF_INET, SOCK_STREAM, 0)};
    assert_int_equal(connect(pair->client, (struct sockaddr *)&to, sizeof(to)), 0);
    struct pollfd waits = {.fd = listening, .events = POLLIN};
    assert_int_equal(poll(&waits, 1, 60000), 1);
    wire_open(&pair->wire, wire_accept(listening), tls);
    close(listening);
    arena_release(&arena);
}

static void pair_close(struct pair *pair) {
    SSL_free(pair->ssl);
    wire_close(&pair->wire);
    close(pair->client);
}

static void say(struct pair *pair, const char *text) {
    int size = (int)strlen(text);
    if (pair->ssl != NULL)
        assert_int_equal(SSL_write(pair->ssl, text, size), size);
    else
        assert_int_equal(send(pair->client, text, (size_t)size, 0), size);
}

static void read_text(struct pair *pair, const char *text) {
    char in[100] = {0};
    struct pollfd waits = {.fd = pair->wire.fd, .events = POLLIN};
    ssize_t got;
    do {
        assert_int_equal(poll(&waits, 1, 60000), 1);
        got = wire_read(&pair->wire, in, sizeof(in) - 1);
    } while (got == WIRE_AGAIN);
    assert_string_equal(in, text);
}

static int64_t later_than(int64_t wall_ms) {
    int64_t now_ms;
    while ((now_ms = clock_read().wall_ms) <= wall_ms)
        usleep(1000);
    return now_ms;
}

/* The system begins to stamp a moment after it was first told to. */
static void await_stamps(struct pair *pair) {
    wire_stamp(&pair->wire);
    for (int i = 0; i < 1000 && pair->wire.arrived_ms == 0; i++) {
        say(pair, "is it time?");
        read_text(pair, "is it time?");
        usleep(1000);
    }
    assert_true(pair->wire.arrived_ms != 0);
}

/* However late it is read, it came when it was sent; and what is read together came with the last
 * of it. */
static void check_stamps(struct pair *pair) {
    await_stamps(pair);
    int64_t before_ms = clock_read().wall_ms;
    say(pair, "one");
    int64_t after_ms = clock_read().wall_ms;
    later_than(after_ms + 20);
    read_text(pair, "one");
    assert_in_range(pair->wire.arrived_ms, before_ms, after_ms);
    say(pair, "two ");
    before_ms = later_than(clock_read().wall_ms + 20);
    say(pair, "three");
    after_ms = clock_read().wall_ms;
    later_than(after_ms + 20);
    read_text(pair, "two three");
    assert_in_range(pair->wire.arrived_ms, before_ms, after_ms);
}

static void test_plain(void **state) {
    struct pair pair;
    (void)state;
    pair_open(&pair, NULL);
    say(&pair, "hello");
    read_text(&pair, "hello");
    assert_int_equal(pair.wire.arrived_ms, 0); /* nobody asked */
#ifdef __linux__
    check_stamps(&pair);
#endif
    pair_close(&pair);
}

/* A certificate that signs itself, and its key, in the two files. */
static void make_certificate(const char *certificate, const char *key) {
    EVP_PKEY *pair = EVP_EC_gen("P-256");
    X509 *made = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), 0);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_set_pubkey(made, pair);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                               (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(made, X509_get_subject_name(made));
    assert_true(X509_sign(made, pair, EVP_sha256()) != 0);
    FILE *file = fopen(certificate, "w");
    assert_int_equal(PEM_write_X509(file, made), 1);
    fclose(file);
    file = fopen(key, "w");
    assert_int_equal(PEM_write_PrivateKey(file, pair, NULL, NULL, 0, NULL, NULL), 1);
    fclose(file);
    X509_free(made);
    EVP_PKEY_free(pair);
}

static struct tls *open_tls(void) {
    char folder[] = "/tmp/gametable-test-XXXXXX", certificate[100], key[100];
    struct failure failure = {0};
    struct arena arena;
    struct tls *tls = NULL;
    arena_init(&arena);
    assert_non_null(mkdtemp(folder));
    snprintf(certificate, sizeof(certificate), "%s/certificate", folder);
    snprintf(key, sizeof(key), "%s/key", folder);
    make_certificate(certificate, key);
    assert_int_equal(tls_open(certificate, key, (struct scope){&arena, &failure}, &tls), OK);
    unlink(certificate);
    unlink(key);
    rmdir(folder);
    arena_release(&arena);
    return tls;
}

/* Both sides take turns until they agree. */
static void greet(struct pair *pair) {
    bool done = false, server_done = false;
    for (int i = 0; i < 60000 && !(done && server_done); i++) {
        done = done || SSL_connect(pair->ssl) == 1;
        server_done = server_done || wire_greet(&pair->wire) == WIRE_READY;
        usleep(1000);
    }
    assert_true(done && server_done);
}

static void test_encrypted(void **state) {
    struct pair pair;
    struct tls *tls = open_tls();
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    (void)state;
    pair_open(&pair, tls);
    pair.ssl = SSL_new(context);
    SSL_set_fd(pair.ssl, pair.client);
    struct timeval soon = {.tv_usec = 1000};
    setsockopt(pair.client, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
    greet(&pair);
    say(&pair, "hello");
    read_text(&pair, "hello");
    assert_int_equal(pair.wire.arrived_ms, 0);
#ifdef __linux__
    check_stamps(&pair);
#endif
    /* It is still written to, and ends as ever. */
    char in[10] = {0};
    assert_int_equal(wire_write(&pair.wire, BYTES("bye"), (struct bytes){0}), 3);
    while (SSL_read(pair.ssl, in, 9) != 3)
        ;
    assert_string_equal(in, "bye");
    SSL_shutdown(pair.ssl);
    usleep(1000);
    ssize_t end;
    while ((end = wire_read(&pair.wire, in, sizeof(in))) == WIRE_AGAIN)
        usleep(1000);
    assert_int_equal(end, 0);
    pair_close(&pair);
    SSL_CTX_free(context);
    tls_close(tls);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_encrypted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A request's head to the verifier: lines of "Name: value", the first "METHOD path?query".
 *
 * Checked: nothing is ever let in that was not signed (the key's secret is not in the input),
 * faults have a name and a text, and the canonical query of a canonical query is itself. */
#include "api/signature.h"
#include "net/canonical.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

enum { HEADERS_MAX = 64 };

static struct keyring *ring;

static void start(struct arena *arena) {
    struct failure failure;
    struct bytes all = BYTES("*");
    struct access_key key = {.id = BYTES("AKIDEXAMPLE"),
                             .secret = BYTES("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY-not"),
                             .allow = ACCESS_ALL,
                             .tables = &all,
                             .table_count = 1};
    ring = keyring_new();
    CHECK(keyring_add(ring, &key, (struct scope){arena, &failure}) == OK);
}

static void read_head(struct bytes text, struct http_exchange *exchange,
                      struct http_header *headers) {
    struct bytes line, name;
    bytes_cut(&text, '\n', &line);
    bytes_cut(&line, ' ', &exchange->method);
    bytes_cut(&line, '?', &exchange->path);
    exchange->query = line;
    exchange->headers = headers;
    while (exchange->header_count < HEADERS_MAX && bytes_cut(&text, '\n', &line)) {
        if (line.size == 0) {
            exchange->body = text;
            return;
        }
        bytes_cut(&line, ':', &name);
        headers[exchange->header_count++] = (struct http_header){name, line};
    }
}

static void check_query(struct bytes query) {
    struct buf once = {0}, twice = {0};
    if (canonical_query(&once, query) && canonical_query(&twice, buf_bytes(&once)))
        CHECK(bytes_equal(buf_bytes(&once), buf_bytes(&twice)));
    buf_release(&once);
    buf_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct http_exchange exchange = {0};
    struct http_header headers[HEADERS_MAX];
    struct signature signature;
    struct failure failure = {0};
    struct arena arena;
    arena_init(&arena);
    if (ring == NULL)
        start(&arena);
    struct bytes text = arena_copy(&arena, bytes_of(data, size)); /* its end is watched */
    read_head(text, &exchange, headers);
    const char *fault = signature_read(&exchange, (struct scope){&arena, &failure}, &signature);
    struct signature_settings settings = {NULL, "dynamodb", 1440938160, ring};
    if (fault == NULL)
        fault =
            signature_verify(&exchange, &settings, (struct scope){&arena, &failure}, &signature);
    CHECK(fault != NULL && signature.key == NULL);
    CHECK(failure.text.size != 0);
    check_query(exchange.query);
    arena_release(&arena);
    return 0;
}

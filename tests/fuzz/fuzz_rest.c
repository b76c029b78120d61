/* A request to /v1, on an engine in memory: the first byte picks a method and a type, the first
 * line is the path and query, the rest is the body. Some boards and a player stand there, or are
 * made again when a request has removed them. Checked: each is answered once, with a status that
 * the front end has, and a body that is JSON. */
#include "../unit/api/rest/rest_fixture.h"

#include "json/json.h"

#include <openssl/crypto.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static struct rest_fixture asking;
static unsigned runs;

static void make(void) {
    static const char *const bodies[] = {
        "{\"id\":\"b\",\"game\":\"g\",\"subscores\":true,\"ranking\":\"dense\"}",
        "{\"id\":\"d\",\"game\":\"g\",\"timeframe\":\"daily\",\"scopes\":[\"global\",\"*\"]}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        rest_ask(&asking, BYTES("POST"), BYTES("/v1/boards"), "application/json",
                 bytes_str(bodies[i]));
    rest_ask(&asking, BYTES("POST"), BYTES("/v1/games/g/scores"), "application/json",
             BYTES("{\"player\":\"p\",\"score\":1}"));
}

static void finish(void) {
    rest_fixture_close(&asking);
}

static void start(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
                        NULL); /* is cleaned up after our threads */
    rest_fixture_open(&asking);
    atexit(finish);
    make();
}

static bool is_known(int status) {
    static const int known[] = {200, 201, 204, 304, 400, 401, 403, 404,
                                405, 409, 413, 415, 422, 429, 503};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i] == status)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct bytes methods[] = {BYTES("GET"),   BYTES("POST"),   BYTES("PUT"),
                                           BYTES("PATCH"), BYTES("DELETE"), BYTES("OPTIONS")};
    static const char *const types[] = {"application/json", "text/csv", "application/x-ndjson"};
    char target[4096];
    if (size < 2)
        return 0;
    if (runs++ == 0)
        start();
    if (runs % 256 == 0)
        make();
    const uint8_t *line = memchr(data + 1, '\n', size - 1);
    size_t head = line == NULL ? size - 1 : (size_t)(line - data - 1);
    int length = snprintf(target, sizeof target, "/v1%.*s", (int)head, (const char *)data + 1);
    if (length >= (int)sizeof target)
        return 0;
    struct bytes body = line == NULL ? (struct bytes){0} : bytes_of(line + 1, size - head - 2);
    int status = rest_ask(&asking, methods[data[0] % 6], bytes_of(target, strlen(target)),
                          types[data[0] / 6 % 3], body);
    CHECK(is_known(status));
    struct arena arena;
    struct json answer;
    size_t at;
    arena_init(&arena);
    CHECK(asking.body.size == 0 || json_parse(buf_bytes(&asking.body), &arena, &answer, &at) == OK);
    arena_release(&arena);
    return 0;
}

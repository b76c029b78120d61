/* Bytes of a connection, cut anywhere, into the request parser.
 *
 * The first byte seeds the cuts, the second picks the limits; the rest is what a client sends.
 * Checked: what an exchange points at lies in the buffer; the buffer does not move while an
 * exchange has it; its size stays within the limits; and how the bytes are cut makes no
 * difference to the requests that come out. */
#include "net/request.h"

#include "base/hash.h"
#include "base/random.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static const struct request_limits all_limits[] = {
    {32 * 1024, 1024 * 1024}, {64, 16}, {1024, 5}, {200, 1}};

static uint64_t fold(uint64_t hash, struct bytes bytes) {
    return hash_keyed(bytes, hash + 1);
}

static void check_inside(const struct request *request, struct bytes bytes) {
    if (bytes.size == 0)
        return;
    CHECK(bytes.data >= request->in.data + request->start);
    CHECK(bytes.data + bytes.size <= request->in.data + request->parsed);
}

/* Everything a handler may read, read. */
static uint64_t fold_exchange(const struct request *request, uint64_t hash) {
    const struct http_exchange *exchange = &request->exchange;
    CHECK(exchange->body.size <= request->limits.body_max);
    check_inside(request, exchange->query);
    check_inside(request, exchange->body);
    hash = fold(fold(hash, exchange->method), exchange->path);
    hash = fold(fold(hash, exchange->query), exchange->body);
    for (size_t i = 0; i < exchange->header_count; i++) {
        check_inside(request, exchange->headers[i].name);
        check_inside(request, exchange->headers[i].value);
        hash = fold(fold(hash, exchange->headers[i].name), exchange->headers[i].value);
    }
    http_header(exchange, "content-type");
    return hash + request->keep_alive;
}

/* Copies from the input into the room there is, at most `most` bytes. */
static size_t feed(struct request *request, struct bytes *input, size_t most) {
    size_t room;
    uint8_t *to = request_room(request, &room);
    size_t count = input->size < most ? input->size : most;
    if (count > room)
        count = room;
    if (count != 0)
        memcpy(to, input->data, count);
    request_added(request, count);
    *input = bytes_skip(*input, count);
    return count;
}

struct outcome {
    uint64_t hash;
    unsigned ready;
    int refusal;
    bool too_large; /* its headers */
};

static struct outcome run(struct bytes input, const struct request_limits *limits,
                          struct random *cuts) {
    struct outcome outcome = {0};
    struct request *request = request_new();
    request_begin(request, limits);
    for (;;) {
        enum request_state state = request_parse(request);
        if (state == REQUEST_REFUSED) {
            CHECK(request->refusal >= 400 && request->refusal_text != NULL);
            outcome.refusal = request->refusal;
            outcome.too_large = strcmp(request->refusal_text, "the headers are too large") == 0 ||
                                request->refusal == 431;
            break;
        }
        if (state == REQUEST_READY) {
            const uint8_t *where = request->in.data;
            if (cuts != NULL) /* the client goes on while the handler works */
                feed(request, &input, random_below(cuts, 64));
            CHECK(request->in.data == where);
            outcome.hash = fold_exchange(request, outcome.hash);
            outcome.ready++;
            request_next(request);
        } else if (feed(request, &input, cuts == NULL ? SIZE_MAX : 1 + random_below(cuts, 40)) == 0)
            break;
        CHECK(request->in.room <=
              4 * (limits->header_max + limits->body_max + REQUEST_READ_MAX + REQUEST_ROOM));
    }
    request_end(request);
    request_free(request);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    struct random cuts;
    random_seed(&cuts, data[0]);
    const struct request_limits *limits = &all_limits[data[1] % 4];
    struct bytes input = bytes_of(data + 2, size - 2);
    struct outcome cut = run(input, limits, &cuts);
    struct outcome whole = run(input, limits, NULL);
    /* The size of headers is measured where a read ends, so near its limit a cut may decide. */
    if (cut.too_large || whole.too_large)
        return 0;
    CHECK(cut.ready == whole.ready && cut.hash == whole.hash);
    CHECK(cut.refusal == whole.refusal);
    return 0;
}

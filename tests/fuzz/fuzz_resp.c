/* Bytes of a connection, cut anywhere, into the RESP parser.
 *
 * The first byte seeds the cuts, the second picks the limits; the rest is what a client sends.
 * Checked: arguments lie in the bytes given or in the parser's own copy of a line; limits hold; and
 * how the bytes are cut makes no difference to the requests that come out. */
#include "net/resp.h"

#include "base/hash.h"
#include "base/random.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static const struct resp_limits all_limits[] = {
    {1024, 64 * 1024, 1024 * 1024, false},
    {1024, 64 * 1024, 1024 * 1024, true},
    {3, 8, 64, false},
    {1, 0, 16, false},
};

struct outcome {
    uint64_t hash;
    unsigned ready;
    bool refused;
};

static uint64_t fold_request(const struct resp_parser *parser, struct bytes from,
                             const struct resp_limits *limits, uint64_t hash) {
    bool line = parser->words.size != 0;
    struct bytes inside = line ? buf_bytes(&parser->words) : from;
    CHECK(parser->used <= from.size);
    CHECK(line || parser->count <= limits->args_max);
    for (size_t i = 0; i < parser->count; i++) {
        struct bytes arg = parser->args[i];
        CHECK(line || arg.size <= limits->bulk_max);
        CHECK(arg.data >= inside.data && arg.data + arg.size <= inside.data + inside.size);
        hash = hash_keyed(arg, hash + 1);
    }
    return hash + parser->count;
}

static struct outcome run(struct bytes input, const struct resp_limits *limits,
                          struct random *cuts) {
    struct outcome outcome = {0};
    struct resp_parser parser;
    size_t begin = 0, end = 0;
    resp_init(&parser);
    for (;;) {
        /* Exactly what has arrived, in memory of its own: one byte further is a fault. */
        struct buf arrived = {0};
        buf_append(&arrived, input.data + begin, end - begin);
        enum resp_state state = resp_parse(&parser, buf_bytes(&arrived), limits);
        if (state == RESP_READY) {
            outcome.hash = fold_request(&parser, buf_bytes(&arrived), limits, outcome.hash);
            outcome.ready++;
            begin += parser.used;
            resp_next(&parser);
        }
        buf_release(&arrived);
        if (state == RESP_REFUSED) {
            CHECK(resp_fault(&parser)[0] != '\0');
            outcome.refused = true;
            break;
        }
        if (state == RESP_MORE) {
            if (end == input.size)
                break;
            size_t more = cuts == NULL ? input.size - end : 1 + random_below(cuts, 20);
            end = more > input.size - end ? input.size : end + more;
        }
    }
    resp_release(&parser);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    struct random cuts;
    random_seed(&cuts, data[0]);
    const struct resp_limits *limits = &all_limits[data[1] % 4];
    struct bytes input = bytes_of(data + 2, size - 2);
    struct outcome cut = run(input, limits, &cuts);
    struct outcome whole = run(input, limits, NULL);
    CHECK(cut.ready == whole.ready && cut.hash == whole.hash);
    CHECK(cut.refused == whole.refused);
    return 0;
}

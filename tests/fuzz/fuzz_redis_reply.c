/* Bytes of a Redis server, cut anywhere, into the parser of replies.
 *
 * The first byte seeds the cuts; the rest is what a server sends. Checked: strings lie in the bytes
 * given; a reply that was found whole is read or refused, and nothing beyond it is looked at; how
 * the bytes are cut makes no difference. */
#include "base/buf.h"
#include "base/random.h"
#include "table/remote/redis_reply.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

static void check_reply(const struct redis_reply *reply, struct bytes from) {
    if (reply->text.size != 0)
        CHECK(reply->text.data >= from.data &&
              reply->text.data + reply->text.size <= from.data + from.size);
    if (reply->type == REDIS_ARRAY)
        for (size_t i = 0; i < reply->count; i++)
            check_reply(&reply->elements[i], from);
    (void)redis_reply_number(reply);
}

/* The size of the reply that the input begins with, by pieces; 0: none. */
static size_t scan_pieces(struct bytes input, struct random *cuts) {
    struct redis_scan scan = {0};
    size_t have = 0;
    for (;;) {
        /* Exactly what has arrived, in memory of its own: one byte further is a fault. */
        struct buf arrived = {0};
        buf_append(&arrived, input.data, have);
        enum status status = redis_scan(&scan, buf_bytes(&arrived));
        buf_release(&arrived);
        if (status == OK)
            return scan.size;
        if (status != WOULD_BLOCK || have == input.size)
            return 0;
        size_t more = cuts == NULL ? input.size - have : 1 + random_below(cuts, 20);
        have = more > input.size - have ? input.size : have + more;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct random cuts;
    struct arena arena;
    struct redis_reply reply;
    if (size < 1)
        return 0;
    random_seed(&cuts, data[0]);
    struct bytes input = bytes_of(data + 1, size - 1);
    size_t whole = scan_pieces(input, NULL);
    CHECK(whole <= input.size && scan_pieces(input, &cuts) == whole);
    if (whole == 0)
        return 0;
    struct buf exact = {0};
    buf_append(&exact, input.data, whole);
    arena_init(&arena);
    if (redis_reply_read(buf_bytes(&exact), &arena, &reply) == OK)
        check_reply(&reply, buf_bytes(&exact));
    arena_release(&arena);
    buf_release(&exact);
    return 0;
}

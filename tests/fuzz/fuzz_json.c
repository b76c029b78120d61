/* Any bytes are JSON or refused; what is read is written and read again to the same tree. */
#include "base/arena.h"
#include "json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct json json, again;
    struct buf first = {0}, second = {0};
    size_t at;
    arena_init(&arena);
    if (json_parse(bytes_of(data, size), &arena, &json, &at) == OK) {
        json_put(&first, &json);
        require(json_parse(buf_bytes(&first), &arena, &again, &at) == OK);
        json_put(&second, &again);
        require(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
    } else
        require(at <= size);
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
    return 0;
}

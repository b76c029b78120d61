/* Any bytes are JSON or refused; what is read is written and read again to the same tree. */
#include "base/arena.h"
#include "json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

static void write(const struct json *json, struct buf *to) {
    static const char *const words[] = {"null", "false", "true"};
    switch (json->type) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        buf_put(to, bytes_str(words[json->type]));
        break;
    case JSON_NUMBER:
        buf_put(to, json->text);
        break;
    case JSON_STRING:
        json_put_string(to, json->text);
        break;
    case JSON_ARRAY:
        buf_byte(to, '[');
        for (uint32_t i = 0; i < json->count; i++) {
            if (i > 0)
                buf_byte(to, ',');
            write(&json->elements[i], to);
        }
        buf_byte(to, ']');
        break;
    case JSON_OBJECT:
        buf_byte(to, '{');
        for (uint32_t i = 0; i < json->count; i++) {
            if (i > 0)
                buf_byte(to, ',');
            json_put_string(to, json->members[i].name);
            buf_byte(to, ':');
            write(&json->members[i].value, to);
        }
        buf_byte(to, '}');
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct json json, again;
    struct buf first = {0}, second = {0};
    size_t at;
    arena_init(&arena);
    if (json_parse(bytes_of(data, size), &arena, &json, &at) == OK) {
        write(&json, &first);
        require(json_parse(buf_bytes(&first), &arena, &again, &at) == OK);
        write(&again, &second);
        require(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
    } else
        require(at <= size);
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
    return 0;
}

/* Any JSON is an item or refused with a text; an item that was read is written, stored and read
 * again as the same item. */
#include "base/limits.h"
#include "value/codec.h"
#include "json/attribute.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

static void check_item(const struct item *item, struct arena *arena) {
    struct buf text = {0}, stored = {0};
    struct names *names = names_new();
    struct failure failure = {0};
    struct json json;
    struct item again, decoded;
    size_t at;
    attribute_write_item(&text, item);
    require(json_parse(buf_bytes(&text), arena, &json, &at) == OK);
    require(attribute_check_item(&json, "", (struct scope){arena, &failure}) == OK);
    require(attribute_read_item(&json, (struct scope){arena, &failure}, &again) == OK);
    require(item_equal(item, &again));
    item_encode(item, names, &stored);
    require(item_decode(buf_bytes(&stored), names, arena, &decoded) == OK);
    require(item_equal(item, &decoded));
    require(item_size(item) == item_size(&decoded));
    for (uint32_t i = 0; i < item->count; i++)
        require(value_depth(&item->pairs[i].value) < LIMIT_NESTING);
    buf_release(&text);
    buf_release(&stored);
    names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct json json;
    struct item item;
    size_t at;
    arena_init(&arena);
    if (json_parse(bytes_of(data, size), &arena, &json, &at) == OK) {
        struct failure checked = {0}, read = {0};
        enum status types = attribute_check_item(&json, "", (struct scope){&arena, &checked});
        enum status status = attribute_read_item(&json, (struct scope){&arena, &read}, &item);
        if (status == OK) {
            require(types == OK);
            check_item(&item, &arena);
        } else {
            require(read.status == status && read.text.size > 0);
            require(types == OK ? status == INVALID || json.type == JSON_NULL
                                : checked.text.size > 0);
        }
    }
    arena_release(&arena);
    return 0;
}

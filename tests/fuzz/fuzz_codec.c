/* Any bytes are an item or DAMAGED; an item that was decoded is encoded and decoded to the same,
 * and each of its attributes is found by itself. Written as JSON without being decoded it is the
 * same, or refused just so. */
#include "value/codec.h"
#include "json/attribute.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

static void check_item(const struct item *item, struct bytes from, const struct names *names,
                       struct arena *arena) {
    struct names *own = names_new();
    struct buf encoded = {0};
    struct item again;
    struct value found;
    item_encode(item, own, &encoded);
    require(item_decode(buf_bytes(&encoded), own, arena, &again) == OK);
    require(item_equal(item, &again));
    require(item_size(item) == item_size(&again));
    for (uint32_t i = 0; i < item->count; i++) {
        struct bytes name = item->pairs[i].name;
        require(item_decode_some(from, &(struct item_wanted){names, &name, 1}, arena, &found) ==
                OK);
        require(value_equal(&found, &item->pairs[i].value));
        require(item_get(item, name) == &item->pairs[i].value);
    }
    buf_release(&encoded);
    names_free(own);
}

/* `item`: as it was decoded, or NULL. */
static void check_transcoded(const struct item *item, struct bytes from, const struct names *names,
                             struct arena *arena) {
    struct attribute_transcoder by = {.names = names, .arena = arena};
    struct buf json = {0}, want = {0};
    size_t size;
    require(attribute_transcode(&by, from, &json, &size) == (item != NULL));
    if (item != NULL) {
        attribute_write_item(&want, item);
        require(bytes_equal(buf_bytes(&json), buf_bytes(&want)) && size == item_size(item));
    }
    buf_release(&json);
    buf_release(&want);
}

/* A dictionary of three names that no input changes. */
static const struct names *three_names(void) {
    static struct names *names;
    if (names == NULL) {
        names = names_new();
        names_intern(names, BYTES("PK"));
        names_intern(names, BYTES("SK"));
        names_intern(names, BYTES("a"));
    }
    return names;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    const struct names *names = three_names();
    struct item item;
    struct value value;
    struct bytes from = bytes_of(data, size);
    arena_init(&arena);
    bool good = item_decode(from, names, &arena, &item) == OK;
    if (good)
        check_item(&item, from, names, &arena);
    check_transcoded(good ? &item : NULL, from, names, &arena);
    struct bytes wanted[] = {BYTES("PK"), BYTES("SK")};
    struct value found[2];
    item_decode_some(from, &(struct item_wanted){names, wanted, 2}, &arena, found);
    static struct item_extractor extractor;
    item_extractor_init(&extractor, wanted, 2);
    item_extract(&(struct item_encoded){from, names}, &extractor, &arena, found);
    while (value_decode(&from, &arena, &value) == OK)
        require(value_equal(&value, &value));
    arena_release(&arena);
    return 0;
}

/* Any bytes are an item or DAMAGED; an item that was decoded is encoded and decoded to the same,
 * and each of its attributes is found by itself. */
#include "value/codec.h"

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
        require(item_decode_some(from, names, &name, 1, arena, &found) == OK);
        require(value_equal(&found, &item->pairs[i].value));
        require(item_get(item, name) == &item->pairs[i].value);
    }
    buf_release(&encoded);
    names_free(own);
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
    if (item_decode(from, names, &arena, &item) == OK)
        check_item(&item, from, names, &arena);
    struct bytes wanted[] = {BYTES("PK"), BYTES("SK")};
    struct value found[2];
    item_decode_some(from, names, wanted, 2, &arena, found);
    static struct item_picks picks;
    item_picks_init(&picks, names, wanted, 2);
    item_pick(from, &picks, &arena, found);
    while (value_decode(&from, &arena, &value) == OK)
        require(value_equal(&value, &value));
    arena_release(&arena);
    return 0;
}

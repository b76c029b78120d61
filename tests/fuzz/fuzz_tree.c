/* Bytes as operations on a counted tree, each compared with a sorted array.
 *
 * An operation is one byte: what to do (low 3 bits), then a key: one byte for its length and as
 * many bytes; lengths from 200 on mean a long run of one byte instead, up to TREE_KEY_MAX. */
#include "rank/tree.h"

#include <stdio.h>
#include <stdlib.h>

enum { MODEL_MAX = 2000, CHECK_EVERY = 16 };

struct model {
    struct bytes keys[MODEL_MAX];
    size_t count;
};

#define MUST(condition)                                                          \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: not: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                             \
        }                                                                        \
    } while (0)

static size_t model_rank(const struct model *model, struct bytes key, bool *equal) {
    size_t at = 0;
    while (at < model->count && bytes_compare(model->keys[at], key) < 0)
        at++;
    *equal = at < model->count && bytes_equal(model->keys[at], key);
    return at;
}

static void model_put(struct model *model, size_t at, struct bytes key) {
    uint8_t *copy = malloc(key.size + 1);
    memcpy(copy, key.data, key.size);
    memmove(model->keys + at + 1, model->keys + at, (model->count - at) * sizeof(*model->keys));
    model->keys[at] = bytes_of(copy, key.size);
    model->count++;
}

static void model_del(struct model *model, size_t at) {
    free((void *)(uintptr_t)model->keys[at].data);
    model->count--;
    memmove(model->keys + at, model->keys + at + 1, (model->count - at) * sizeof(*model->keys));
}

static uint8_t take(struct bytes *in) {
    if (in->size == 0)
        return 0;
    uint8_t byte = in->data[0];
    *in = bytes_skip(*in, 1);
    return byte;
}

static struct bytes take_key(struct bytes *in, uint8_t *room) {
    size_t size = take(in);
    if (size >= 200) {
        size_t whole = (size - 199) * (size - 199) * 19; /* up to 59584 */
        memset(room, take(in), whole);
        room[whole - 1] = take(in);
        room[whole / 2] = take(in);
        return bytes_of(room, whole);
    }
    if (size > in->size)
        size = in->size;
    struct bytes key = bytes_of(in->data, size);
    *in = bytes_skip(*in, size);
    return key;
}

static void check_place(struct tree_cursor *cursor, const struct model *model, size_t at) {
    MUST(cursor->valid == (at < model->count));
    MUST(!cursor->valid || bytes_equal(tree_key(cursor), model->keys[at]));
}

static void look(const struct tree *tree, const struct model *model, struct bytes key) {
    struct tree_cursor cursor = {0};
    bool equal;
    size_t at = model_rank(model, key, &equal);
    MUST(tree_rank(tree, key) == at);
    MUST(tree_has(tree, key) == equal);
    tree_seek(&cursor, tree, key);
    check_place(&cursor, model, at);
    tree_seek_before(&cursor, tree, key);
    check_place(&cursor, model, at - 1);
    tree_seek_rank(&cursor, tree, at);
    check_place(&cursor, model, at);
    tree_cursor_release(&cursor);
}

static void walk(const struct tree *tree, const struct model *model) {
    struct tree_cursor cursor = {0};
    size_t at = 0;
    for (bool on = tree_seek_rank(&cursor, tree, 0); on; on = tree_next(&cursor))
        check_place(&cursor, model, at++);
    MUST(at == model->count);
    for (bool on = tree_seek_last(&cursor, tree); on; on = tree_prev(&cursor))
        check_place(&cursor, model, --at);
    MUST(at == 0);
    tree_cursor_release(&cursor);
}

static struct tree *reload(struct tree *tree, const struct model *model) {
    struct tree_loader *loader = tree_loader_new();
    for (size_t i = 0; i < model->count; i++)
        MUST(tree_loader_add(loader, model->keys[i]));
    tree_free(tree);
    return tree_loader_finish(loader);
}

static struct tree *step(struct tree *tree, struct model *model, unsigned what, struct bytes key) {
    bool equal;
    size_t at = model_rank(model, key, &equal);
    switch (what % 8) {
    case 0:
    case 1:
    case 2:
    case 3: /* more often than anything else, so that trees grow */
        if (model->count == MODEL_MAX)
            break;
        MUST(tree_put(tree, key) == !equal);
        if (!equal)
            model_put(model, at, key);
        break;
    case 4:
        MUST(tree_del(tree, key) == equal);
        if (equal)
            model_del(model, at);
        break;
    case 5: /* one that is likely there */
        if (at < model->count) {
            MUST(tree_del(tree, model->keys[at]));
            model_del(model, at);
        }
        break;
    case 6:
        look(tree, model, key);
        break;
    default:
        walk(tree, model);
        if (what == 255)
            tree = reload(tree, model);
    }
    MUST(tree_count(tree) == model->count);
    return tree;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct model model;
    static uint8_t room[TREE_KEY_MAX];
    struct bytes in = bytes_of(data, size);
    struct tree *tree = tree_new();
    for (unsigned steps = 1; in.size > 0; steps++) {
        unsigned what = take(&in);
        tree = step(tree, &model, what, take_key(&in, room));
        if (steps % CHECK_EVERY == 0)
            tree_check(tree);
    }
    walk(tree, &model);
    tree_check(tree);
    while (model.count > 0) {
        MUST(tree_del(tree, model.keys[model.count / 2]));
        model_del(&model, model.count / 2);
    }
    tree_check(tree);
    tree_free(tree);
    return 0;
}

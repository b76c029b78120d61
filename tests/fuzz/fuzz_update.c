/* Bytes as an update, applied to an item: the old item stays as it was, the new one is well formed,
 * and attributes the update does not name are the same in both. */
#include "expr.h"

struct named {
    struct bytes name;
    bool found;
};

static bool is_named(struct bytes name, void *context) {
    struct named *named = context;
    named->found |= bytes_equal(name, named->name);
    return true;
}

static void check_untouched(const struct update *update, const struct item *old,
                            const struct item *new) {
    for (uint32_t i = 0; i < old->count; i++) {
        struct named named = {old->pairs[i].name, false};
        update_visit(update, is_named, &named);
        const struct value *after = item_get(new, named.name);
        MUST(named.found || (after != NULL && value_equal(&old->pairs[i].value, after)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_expr f;
    fuzz_begin(&f, "UpdateExpression", data, size);
    struct item before = item_copy(&f.arena, &f.item), out;
    struct update *update;
    enum status status = update_parse(&f.source, &update);
    if (status == OK)
        status = update_apply(update, &f.item, (struct scope){&f.arena, &f.failure}, &out);
    if (status == OK) {
        fuzz_check_pairs(out.pairs, out.count);
        MUST(item_equal(&before, &f.item));
        check_untouched(update, &f.item, &out);
        struct item touched = update_touched(update, &out, &f.arena);
        fuzz_check_pairs(touched.pairs, touched.count);
        MUST(touched.count <= out.count);
    }
    fuzz_end(&f, status);
    return 0;
}

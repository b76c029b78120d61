/* Bytes as a projection, applied to an item: what comes out is part of it, and is what it gives
 * when applied again, unless lists closed up. */
#include "expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_expr f;
    fuzz_begin(&f, "ProjectionExpression", data, size);
    struct projection *projection;
    enum status status = projection_parse(&f.source, &projection);
    if (status == OK) {
        size_t names = 0;
        MUST(projection_visit(projection, fuzz_count, &names) && names > 0);
        struct item out = projection_apply(projection, &f.item, &f.arena);
        fuzz_check_pairs(out.pairs, out.count);
        MUST(item_size(&out) <= item_size(&f.item));
        for (uint32_t i = 0; i < out.count; i++) {
            const struct value *whole = item_get(&f.item, out.pairs[i].name);
            MUST(whole != NULL && whole->type == out.pairs[i].value.type);
        }
        if (memchr(data, '[', size) == NULL) {
            struct item again = projection_apply(projection, &out, &f.arena);
            MUST(item_equal(&out, &again));
        }
    }
    fuzz_end(&f, status);
    return 0;
}

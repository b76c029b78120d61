/* Bytes as a condition, asked of an item and of nothing. */
#include "expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_expr f;
    fuzz_begin(&f, "ConditionExpression", data, size);
    struct condition *condition;
    enum status status = condition_parse(&f.source, &condition);
    if (status == OK) {
        size_t names = 0;
        MUST(condition_visit(condition, fuzz_count, &names));
        bool once = condition_holds(condition, &f.item, &f.arena);
        MUST(once == condition_holds(condition, &f.item, &f.arena));
        struct item nothing = {0};
        MUST(condition_holds(condition, &nothing, &f.arena) ==
             condition_holds(condition, NULL, &f.arena));
    }
    fuzz_end(&f, status);
    return 0;
}

/* Bytes as a key condition. */
#include "expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_expr f;
    fuzz_begin(&f, "KeyConditionExpression", data, size);
    struct key_condition key;
    enum status status = key_condition_parse(&f.source, &key);
    if (status == OK) {
        MUST(key.count > 0 && key.count <= KEY_TESTS_MAX);
        for (unsigned i = 0; i < key.count; i++) {
            MUST(key.tests[i].low.type != VALUE_NONE);
            MUST((key.tests[i].op == KEY_BETWEEN) == (key.tests[i].high.type != VALUE_NONE));
            for (unsigned j = 0; j < i; j++)
                MUST(!bytes_equal(key.tests[i].name, key.tests[j].name));
        }
    }
    fuzz_end(&f, status);
    return 0;
}

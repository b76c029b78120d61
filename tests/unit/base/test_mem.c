/* The allocator as the program sets it up. */
#include "base/mem.h"
#include "test.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Freed large blocks go back to the system, also after a larger one has been. */
static void test_large_blocks_stay_mapped(void **unused) {
    (void)unused;
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    mem_configure();
    mem_free(mem_alloc(8 * 1024 * 1024));
    size_t before = mallinfo2().hblks;
    void *block = mem_alloc(MEM_MAPPED);
    assert_int_equal(mallinfo2().hblks, before + 1);
    mem_free(block);
    assert_int_equal(mallinfo2().hblks, before);
#else
    skip(); /* it is another allocator */
#endif
}

/* What was given back is zeros, and what is beside it stays. */
static void test_discard(void **unused) {
    (void)unused;
    enum { PIECE = 64 * 1024 };
    uint8_t *block = mem_small_pages(MEM_LARGE);
    memset(block, 7, MEM_LARGE);
    mem_discard(block + PIECE, PIECE);
    for (size_t i = 0; i < MEM_LARGE; i++)
        assert_int_equal(block[i], i / PIECE == 1 ? 0 : 7);
    mem_large(block, MEM_LARGE, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_blocks_stay_mapped),
        cmocka_unit_test(test_discard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Two texts, split at a newline: each is a number or not; what is one keeps its value when written
 * and read, orders by its bytes as its difference says, and adds and subtracts back. */
#include "value/number.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

static void check_one(struct arena *arena, struct bytes number) {
    char text[NUMBER_MAX_TEXT];
    struct bytes again;
    int64_t whole;
    require(number_valid(number) && number_span(number) == number.size);
    size_t size = number_text(number, text);
    require(size <= NUMBER_MAX_TEXT);
    require(number_read(arena, bytes_of(text, size), &again) == NUMBER_OK);
    require(bytes_equal(number, again));
    if (number_to_int(number, &whole))
        require(bytes_equal(number_from_int(arena, whole), number));
    number_to_double(number);
}

static void check_two(struct arena *arena, struct bytes a, struct bytes b) {
    struct bytes sum, back, difference;
    const uint8_t zero = 0x80;
    if (number_add(arena, a, b, &sum) == NUMBER_OK) {
        require(number_valid(sum));
        require(number_subtract(arena, sum, b, &back) == NUMBER_OK && bytes_equal(back, a));
    }
    if (number_subtract(arena, a, b, &difference) == NUMBER_OK) {
        int order = bytes_compare(a, b), against = bytes_compare(difference, bytes_of(&zero, 1));
        require((order > 0) == (against > 0) && (order < 0) == (against < 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct bytes a, b, rest = bytes_of(data, size);
    arena_init(&arena);
    number_span(rest);
    if (number_valid(rest))
        check_one(&arena, rest);
    const uint8_t *line = size != 0 ? memchr(data, '\n', size) : NULL;
    size_t first = line != NULL ? (size_t)(line - data) : size;
    bool one = number_read(&arena, bytes_of(data, first), &a) == NUMBER_OK;
    if (one)
        check_one(&arena, a);
    if (one && line != NULL && number_read(&arena, bytes_skip(rest, first + 1), &b) == NUMBER_OK)
        check_two(&arena, a, b);
    arena_release(&arena);
    return 0;
}

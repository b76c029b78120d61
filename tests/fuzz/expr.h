/* What the expression targets share: names and values of every type, and an item to meet. */
#ifndef GT_FUZZ_EXPR_H
#define GT_FUZZ_EXPR_H

#include "expr/expr.h"
#include "value/number.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                          \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: not: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                             \
        }                                                                        \
    } while (0)

enum { FUZZ_NAMES = 3, FUZZ_VALUES = 10, FUZZ_PAIRS = 7 };

struct fuzz_expr {
    struct arena arena;
    struct failure failure;
    struct expr_name names[FUZZ_NAMES];
    struct expr_value values[FUZZ_VALUES];
    struct value elements[4];
    struct pair inner[2], pairs[FUZZ_PAIRS];
    struct expr_env env;
    struct item item;
    struct expr_source source;
};

static struct value fuzz_text(enum value_type type, struct bytes bytes) {
    return (struct value){.type = type, .bytes = bytes};
}

static struct value fuzz_elements(enum value_type type, const struct value *elements,
                                  uint32_t count) {
    return (struct value){.type = type, .count = count, .elements = elements};
}

/* Aliases and attributes have names of one letter, so that inputs find them soon. */
static void fuzz_fill(struct fuzz_expr *f) {
    struct value one = fuzz_text(VALUE_N, number_from_int(&f->arena, 1));
    struct value *e = f->elements;
    e[0] = value_string(BYTES("x"));
    e[1] = value_string(BYTES("y"));
    e[2] = one;
    e[3] = fuzz_elements(VALUE_L, e, 2);
    f->inner[0] = (struct pair){BYTES("a"), one};
    f->inner[1] = (struct pair){BYTES("b"), fuzz_elements(VALUE_L, e, 4)};
    struct value map = {.type = VALUE_M, .count = 2, .pairs = f->inner};

    f->names[0] = (struct expr_name){BYTES("#a"), BYTES("a"), false};
    f->names[1] = (struct expr_name){BYTES("#s"), BYTES("status"), false};
    f->names[2] = (struct expr_name){BYTES("#d"), BYTES("a.b"), false};
    const struct value values[FUZZ_VALUES] = {e[0],
                                              one,
                                              fuzz_text(VALUE_B, BYTES("x")),
                                              fuzz_elements(VALUE_SS, e, 2),
                                              fuzz_elements(VALUE_NS, &e[2], 1),
                                              map,
                                              fuzz_elements(VALUE_L, e, 4),
                                              value_bool(true),
                                              (struct value){.type = VALUE_NULL},
                                              fuzz_text(VALUE_S, BYTES("N"))};
    static const char aliases[FUZZ_VALUES][3] = {":s", ":n", ":b", ":t", ":u",
                                                 ":m", ":l", ":o", ":z", ":y"};
    for (size_t i = 0; i < FUZZ_VALUES; i++)
        f->values[i] = (struct expr_value){bytes_str(aliases[i]), values[i], false};
    const struct pair pairs[FUZZ_PAIRS] = {{BYTES("a"), map},       {BYTES("a.b"), e[0]},
                                           {BYTES("l"), values[6]}, {BYTES("n"), one},
                                           {BYTES("s"), e[1]},      {BYTES("status"), values[7]},
                                           {BYTES("t"), values[3]}};
    memcpy(f->pairs, pairs, sizeof(pairs));
}

static void fuzz_begin(struct fuzz_expr *f, const char *parameter, const uint8_t *data,
                       size_t size) {
    arena_init(&f->arena);
    fuzz_fill(f);
    f->env = (struct expr_env){f->names, FUZZ_NAMES, f->values, FUZZ_VALUES};
    f->item = (struct item){f->pairs, FUZZ_PAIRS};
    f->source =
        (struct expr_source){parameter, bytes_of(data, size), &f->env, &f->arena, &f->failure};
}

static void fuzz_end(struct fuzz_expr *f, enum status status) {
    MUST(status == OK || (status == INVALID && f->failure.status == INVALID));
    MUST(status == OK || f->failure.text.size > 0);
    arena_release(&f->arena);
}

static inline void fuzz_check_value(const struct value *value);

/* Sorted, without duplicates, and each value in turn. */
static inline void fuzz_check_pairs(const struct pair *pairs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        MUST(i == 0 || bytes_compare(pairs[i - 1].name, pairs[i].name) < 0);
        fuzz_check_value(&pairs[i].value);
    }
}

static inline void fuzz_check_value(const struct value *value) {
    MUST(value->type > VALUE_NONE && value->type <= VALUE_NULL);
    if (value->type == VALUE_M)
        fuzz_check_pairs(value->pairs, value->count);
    if (value->type == VALUE_N)
        MUST(number_valid(value->bytes));
    MUST(!value_is_set(value->type) || value->count > 0);
    if (value->type == VALUE_L || value_is_set(value->type))
        for (uint32_t i = 0; i < value->count; i++) {
            fuzz_check_value(&value->elements[i]);
            if (i > 0 && value_is_set(value->type))
                MUST(value_compare(&value->elements[i - 1], &value->elements[i]) < 0);
        }
}

static inline bool fuzz_count(struct bytes name, void *context) {
    (void)name;
    ++*(size_t *)context;
    return true;
}

#endif

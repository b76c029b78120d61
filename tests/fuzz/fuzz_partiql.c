/* Bytes as a statement, planned for a table with an index. */
#include "api/partiql/partiql.h"
#include "base/limits.h"
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

static const struct key_part p = {{(const uint8_t *)"p", 1}, VALUE_S};
static const struct key_part s = {{(const uint8_t *)"s", 1}, VALUE_N};

static void check_select(const struct ql_plan *plan, const struct item *item, struct arena *arena) {
    MUST(plan->page_count > 0 && plan->page_count <= LIMIT_STATEMENT_QUERIES);
    MUST(!plan->single || (plan->query && plan->page_count == 1));
    for (uint32_t i = 0; i < plan->page_count; i++) {
        MUST((plan->pages[i].keys != NULL) == plan->query);
        if (plan->pages[i].filter != NULL)
            condition_holds(plan->pages[i].filter, item, arena);
    }
    ql_show(plan->statement, item, arena);
}

static void check_write(const struct ql_plan *plan, const struct item *item, struct arena *arena) {
    struct failure failure = {0};
    struct item new;
    MUST(plan->key.count == 2);
    if (plan->action.condition != NULL)
        condition_holds(plan->action.condition, item, arena);
    if (plan->action.update != NULL)
        update_apply(plan->action.update, item, (struct scope){arena, &failure}, &new);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct failure failure = {0};
    if (size > LIMIT_STATEMENT_SIZE)
        return 0;
    arena_init(&arena);
    struct index_schema index = {
        .name = BYTES("idx"),
        .keys = {.parts = {s, p}, .partition_count = 1, .sort_count = 1},
    };
    struct table_schema schema = {
        .name = BYTES("tab"),
        .keys = {.parts = {p, s}, .partition_count = 1, .sort_count = 1},
        .indexes = &index,
        .index_count = 1,
    };
    struct value parameters[2] = {value_string(BYTES("x")), {.type = VALUE_N}};
    parameters[1].bytes = number_from_int(&arena, 1);
    struct pair pairs[3] = {
        {BYTES("p"), parameters[0]},
        {BYTES("s"), parameters[1]},
        {BYTES("v"), {.type = VALUE_L, .count = 2, .elements = parameters}},
    };
    struct item item = {pairs, 3};
    for (size_t count = 0; count <= 2; count++) {
        struct ql_source source = {.text = bytes_of(data, size),
                                   .parameters = parameters,
                                   .parameter_count = count,
                                   .arena = &arena,
                                   .failure = &failure};
        struct ql_statement *statement;
        struct ql_plan plan;
        enum status status = ql_parse(&source, &statement);
        if (status == OK)
            status = ql_plan(statement, &schema, (struct scope){&arena, &failure}, &plan);
        MUST(status == OK || (status == INVALID && failure.text.size > 0));
        if (status != OK)
            continue;
        if (ql_kind(statement) == QL_SELECT)
            check_select(&plan, &item, &arena);
        else
            check_write(&plan, &item, &arena);
    }
    arena_release(&arena);
    return 0;
}

/* What the planners share; private to this folder. */
#ifndef GT_API_PARTIQL_QL_PLAN_H
#define GT_API_PARTIQL_QL_PLAN_H

#include "api/partiql/ql_ast.h"

struct ql_planner {
    const struct ql_statement *statement;
    const struct table_schema *schema;
    const struct key_schema *keys; /* of the table or of the index that is selected from */
    struct ql_context context;
};

/* Conditions that must all hold: what stands between the ANDs. */
struct ql_tests {
    struct ql_node **at;
    uint32_t count;
};

/* Takes AND apart, also in parentheses. `where` NULL: none. */
struct ql_tests ql_conjuncts(struct arena *arena, struct ql_node *where);
/* Whether the condition compares a whole attribute with a value, as a key condition may. */
bool ql_key_test(const struct ql_node *node, struct key_test *out);
/* The first test of the attribute by '=' with a value, at or after *at; NULL if there is none. */
const struct value *ql_equality(const struct ql_tests *tests, struct bytes name, uint32_t *at);

enum status ql_refuse_plan(const struct ql_planner *planner, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* That the value is of the key's type. */
enum status ql_check_key_type(const struct ql_planner *planner, const struct key_part *part,
                              const struct value *value);

enum status ql_plan_select(const struct ql_planner *planner, struct ql_plan *out);
enum status ql_plan_write(const struct ql_planner *planner, struct ql_plan *out);

#endif

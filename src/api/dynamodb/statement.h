/* One statement of a request: read, then planned for its table. What the three operations that take
 * statements share. Faults go where the caller says, since those of a batch are told one by one. */
#ifndef GT_API_DYNAMODB_STATEMENT_H
#define GT_API_DYNAMODB_STATEMENT_H

#include "api/dynamodb/ddb_call.h"
#include "api/partiql/partiql.h"

struct statement {
    struct ql_statement *parsed;
    struct table_description table;
    struct ql_plan plan;
    bool consistent;
    bool old_on_failure; /* tell the item if the condition failed */
};

/* Statement, Parameters and the like of a structure. INVALID. */
enum status statement_parse(struct call *call, const struct args *args, struct failure *failure,
                            struct statement *out);
/* For the table as it is now. INVALID, NO_TABLE. */
enum status statement_plan(struct call *call, struct failure *failure, struct statement *out);

static inline bool statement_reads(const struct statement *statement) {
    return ql_kind(statement->parsed) == QL_SELECT;
}
static inline struct bytes statement_table(const struct statement *statement) {
    return statement->table.schema.name;
}

/* After its action: an INSERT whose condition failed is told as a DUPLICATE. */
void statement_name_fault(const struct statement *statement, struct failure *failure,
                          struct arena *arena);
/* What RETURNING asks for of an action that went through. */
struct item statement_returned(const struct statement *statement, const struct action *action,
                               struct arena *arena);

/* statement_select.c: a SELECT's answer, with all its pages. */
enum status statement_select(struct call *call, struct statement *statement);

#endif

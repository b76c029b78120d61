/* PartiQL: statements in a dialect of SQL to requests of the table interface. Pure: no I/O, no
 * clock, nothing of the protocol that carried the text. Everything made lives in the arena and
 * borrows from the text, the parameters and the schema.
 *
 *   ql_parse()   text and parameters to a statement; faults that need no table
 *   ql_plan()    a statement and its table's schema to requests; faults that do
 *
 * A WHERE that names the partition key by = or IN (also in each branch of an OR) becomes queries,
 * with what it says of the sort key in the key condition and the rest as a filter. Else a SELECT
 * is a scan.
 */
#ifndef GT_API_PARTIQL_PARTIQL_H
#define GT_API_PARTIQL_PARTIQL_H

#include "base/limits.h"
#include "table/change.h"

enum ql_kind { QL_SELECT, QL_INSERT, QL_UPDATE, QL_DELETE, QL_EXISTS };

enum ql_returning {
    QL_RETURN_NONE,
    QL_RETURN_ALL_OLD,
    QL_RETURN_ALL_NEW,
    QL_RETURN_MODIFIED_OLD,
    QL_RETURN_MODIFIED_NEW,
};

struct ql_source {
    struct bytes text;
    const struct value *parameters; /* what each ? stands for, in order */
    size_t parameter_count;
    struct arena *arena;
    struct failure *failure;
};

struct ql_statement;

/* INVALID with DynamoDB's text. */
enum status ql_parse(const struct ql_source *source, struct ql_statement **out);

enum ql_kind ql_kind(const struct ql_statement *statement);
struct bytes ql_table(const struct ql_statement *statement);
/* The name of the index that is selected from, or empty. */
struct bytes ql_index(const struct ql_statement *statement);
enum ql_returning ql_returning(const struct ql_statement *statement);

struct ql_plan {
    const struct ql_statement *statement;

    /* SELECT: pages to be read one after the other; limit, start and consistent are the caller's
     * to fill in. */
    struct page_request *pages;
    uint32_t page_count;
    bool query;             /* not a scan */
    bool single;            /* the WHERE is the whole key of one item, no more */
    struct get_request get; /* then: the same as a get */

    /* INSERT, UPDATE, DELETE, and EXISTS as a check. The condition of an INSERT fails when the
     * item is there. */
    struct action action;
    struct item key;  /* of the action's item */
    bool conditional; /* the WHERE says more than the key */
};

/* INVALID with DynamoDB's text. `schema` must outlive the plan. */
enum status ql_plan(const struct ql_statement *statement, const struct table_schema *schema,
                    struct scope in, struct ql_plan *out);

/* What the SELECT shows of an item that one of its pages found: each path's value under the path's
 * last name. */
struct item ql_show(const struct ql_statement *statement, const struct item *item,
                    struct arena *arena);

#endif

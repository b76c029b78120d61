/* The shapes of the operations that take statements. */
#include "api/dynamodb/shapes.h"

#define STRING   .spec = &shape_string
#define CAPACITY SHAPE_FIELD(RETURN_CONSUMED_CAPACITY, .choices = "INDEXES, TOTAL, NONE", STRING)
#define STATEMENT \
    SHAPE_FIELD(STATEMENT, .required = true, .length_min = 1, .length_max = 8192, STRING)
#define PARAMETERS SHAPE_FIELD(PARAMETERS, .length_min = 1, .spec = &shape_attributes)
#define CONSISTENT SHAPE_FIELD(CONSISTENT_READ, .spec = &shape_boolean)
#define ON_FAILURE SHAPE_FIELD(RETURN_VALUES_ON_FAILURE, .choices = "ALL_OLD, NONE", STRING)

static const struct spec_field execute_statement_fields[] = {
    STATEMENT,  PARAMETERS,
    CONSISTENT, SHAPE_FIELD(NEXT_TOKEN, .length_min = 1, .length_max = 32768, STRING),
    CAPACITY,   SHAPE_FIELD(LIMIT, .ranged = true, .min = 1, .spec = &shape_integer),
    ON_FAILURE,
};
SHAPE_STRUCT(shape_execute_statement, "ExecuteStatementInput", execute_statement_fields);

static const struct spec_field batch_statement_fields[] = {STATEMENT, PARAMETERS, CONSISTENT,
                                                           ON_FAILURE};
SHAPE_STRUCT(shape_batch_statement, "BatchStatementRequest", batch_statement_fields);
static SHAPE_LIST(batch_statements, shape_batch_statement);
static const struct spec_field batch_execute_statement_fields[] = {
    SHAPE_FIELD(STATEMENTS, .required = true, .length_min = 1, .length_max = 25,
                .spec = &batch_statements),
    CAPACITY,
};
SHAPE_STRUCT(shape_batch_execute_statement, "BatchExecuteStatementInput",
             batch_execute_statement_fields);

static const struct spec_field transact_statement_fields[] = {STATEMENT, PARAMETERS, ON_FAILURE};
SHAPE_STRUCT(shape_transact_statement, "ParameterizedStatement", transact_statement_fields);
static SHAPE_LIST(transact_statements, shape_transact_statement);
static const struct spec_field execute_transaction_fields[] = {
    SHAPE_FIELD(TRANSACT_STATEMENTS, .required = true, .length_min = 1, .length_max = 100,
                .spec = &transact_statements),
    SHAPE_FIELD(CLIENT_REQUEST_TOKEN, .length_min = 1, .length_max = 36, STRING),
    CAPACITY,
};
SHAPE_STRUCT(shape_execute_transaction, "ExecuteTransactionInput", execute_transaction_fields);

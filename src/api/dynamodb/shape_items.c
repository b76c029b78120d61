/* The shapes of the operations on items, and of those that take statements. Fields are in the order
 * in which DynamoDB reports faults. */
#include "api/dynamodb/shapes.h"

#define STRING  .spec = &shape_string
#define BOOLEAN .spec = &shape_boolean

const struct spec shape_attribute = {
    .type = SPEC_STRUCT,
    .attribute = true,
    .class = "AttributeValue",
};
SHAPE_LIST(shape_attributes, shape_attribute);
SHAPE_MAP(shape_item, shape_attribute);
static SHAPE_MAP(names, shape_string);

/* A table's name may have one letter here: then there is no such table. */
#define TABLE                                                                               \
    SHAPE_FIELD(TABLE_NAME, .required = true, .table = true, .echoed = true, .named = true, \
                .length_min = 1, .length_max = 255, STRING)
#define INDEX SHAPE_FIELD(INDEX_NAME, .named = true, .length_min = 3, .length_max = 255, STRING)
#define CAPACITY \
    SHAPE_FIELD(RETURN_CONSUMED_CAPACITY, .echoed = true, .choices = "INDEXES, TOTAL, NONE", STRING)
#define METRICS SHAPE_FIELD(RETURN_ITEM_COLLECTION_METRICS, .choices = "SIZE, NONE", STRING)
#define RETURN_VALUES                                                                         \
    SHAPE_FIELD(RETURN_VALUES, .choices = "ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW", \
                STRING)
#define ON_FAILURE SHAPE_FIELD(RETURN_VALUES_ON_FAILURE, .choices = "ALL_OLD, NONE", STRING)
#define KEY        SHAPE_FIELD(KEY, .required = true, .spec = &shape_item)
#define ITEM       SHAPE_FIELD(ITEM, .required = true, .spec = &shape_item)
#define AND_OR     SHAPE_FIELD(CONDITIONAL_OPERATOR, .choices = "OR, AND", STRING)
#define CONSISTENT SHAPE_FIELD(CONSISTENT_READ, BOOLEAN)
#define TO_GET \
    SHAPE_FIELD(ATTRIBUTES_TO_GET, .length_min = 1, .length_max = 255, .spec = &shape_strings)
#define EXPRESSION(name) SHAPE_FIELD(name, STRING)
#define NAMES            SHAPE_FIELD(EXPRESSION_ATTRIBUTE_NAMES, .spec = &names)
#define VALUES           SHAPE_FIELD(EXPRESSION_ATTRIBUTE_VALUES, .spec = &shape_item)
#define OPERATORS \
    "IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS"

static const struct spec_field expected_fields[] = {
    SHAPE_FIELD(ATTRIBUTE_VALUE_LIST, .spec = &shape_attributes),
    SHAPE_FIELD(COMPARISON_OPERATOR, .choices = OPERATORS, STRING),
    SHAPE_FIELD(EXISTS, BOOLEAN),
    SHAPE_FIELD(VALUE, .spec = &shape_attribute),
};
SHAPE_STRUCT(shape_expected, "ExpectedAttributeValue", expected_fields);
static SHAPE_MAP(expected, shape_expected);
#define EXPECTED SHAPE_FIELD(EXPECTED, .spec = &expected)

static const struct spec_field condition_fields[] = {
    SHAPE_FIELD(ATTRIBUTE_VALUE_LIST, .spec = &shape_attributes),
    SHAPE_FIELD(COMPARISON_OPERATOR, .required = true, .choices = OPERATORS, STRING),
};
SHAPE_STRUCT(shape_condition, "Condition", condition_fields);
static SHAPE_MAP(conditions, shape_condition);

static const struct spec_field attribute_update_fields[] = {
    SHAPE_FIELD(ACTION, .choices = "ADD, PUT, DELETE", STRING),
    SHAPE_FIELD(VALUE, .spec = &shape_attribute),
};
SHAPE_STRUCT(shape_attribute_update, "AttributeValueUpdate", attribute_update_fields);
static SHAPE_MAP(attribute_updates, shape_attribute_update);

static const struct spec_field put_item_fields[] = {
    RETURN_VALUES, CAPACITY,   TABLE,
    ITEM,          AND_OR,     EXPECTED,
    METRICS,       ON_FAILURE, EXPRESSION(CONDITION_EXPRESSION),
    VALUES,        NAMES,
};
SHAPE_STRUCT(shape_put_item, "PutItemInput", put_item_fields);

static const struct spec_field get_item_fields[] = {
    CAPACITY, TO_GET, TABLE, KEY, CONSISTENT, EXPRESSION(PROJECTION_EXPRESSION), NAMES,
};
SHAPE_STRUCT(shape_get_item, "GetItemInput", get_item_fields);

static const struct spec_field delete_item_fields[] = {
    RETURN_VALUES, CAPACITY,   TABLE,
    METRICS,       ON_FAILURE, KEY,
    AND_OR,        EXPECTED,   EXPRESSION(CONDITION_EXPRESSION),
    VALUES,        NAMES,
};
SHAPE_STRUCT(shape_delete_item, "DeleteItemInput", delete_item_fields);

static const struct spec_field update_item_fields[] = {
    CAPACITY,
    TABLE,
    METRICS,
    RETURN_VALUES,
    ON_FAILURE,
    KEY,
    AND_OR,
    EXPECTED,
    SHAPE_FIELD(ATTRIBUTE_UPDATES, .spec = &attribute_updates),
    EXPRESSION(CONDITION_EXPRESSION),
    EXPRESSION(UPDATE_EXPRESSION),
    VALUES,
    NAMES,
};
SHAPE_STRUCT(shape_update_item, "UpdateItemInput", update_item_fields);

#define SELECT                                                                                     \
    SHAPE_FIELD(SELECT,                                                                            \
                .choices = "SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES", \
                STRING)
#define COUNT(least) .ranged = true, .min = (least), .spec = &shape_integer
#define LIMIT        SHAPE_FIELD(LIMIT, COUNT(1))
#define START        SHAPE_FIELD(EXCLUSIVE_START_KEY, .spec = &shape_item)

static const struct spec_field query_fields[] = {
    SELECT,
    INDEX,
    CAPACITY,
    SHAPE_FIELD(QUERY_FILTER, .spec = &conditions),
    TABLE,
    AND_OR,
    TO_GET,
    LIMIT,
    SHAPE_FIELD(KEY_CONDITIONS, .spec = &conditions),
    START,
    CONSISTENT,
    SHAPE_FIELD(SCAN_INDEX_FORWARD, BOOLEAN),
    EXPRESSION(KEY_CONDITION_EXPRESSION),
    EXPRESSION(FILTER_EXPRESSION),
    EXPRESSION(PROJECTION_EXPRESSION),
    VALUES,
    NAMES,
};
SHAPE_QUIET(shape_query, "QueryInput", query_fields);

static const struct spec_field scan_fields[] = {
    SELECT,
    INDEX,
    SHAPE_FIELD(TOTAL_SEGMENTS, .max = 1000000, COUNT(1)),
    CAPACITY,
    TABLE,
    AND_OR,
    SHAPE_FIELD(SCAN_FILTER, .spec = &conditions),
    SHAPE_FIELD(SEGMENT, .max = 999999, COUNT(0)),
    LIMIT,
    TO_GET,
    START,
    CONSISTENT,
    EXPRESSION(FILTER_EXPRESSION),
    EXPRESSION(PROJECTION_EXPRESSION),
    VALUES,
    NAMES,
};
SHAPE_STRUCT(shape_scan, "ScanInput", scan_fields);

static SHAPE_LIST(keys, shape_item);
static const struct spec_field keys_and_attributes_fields[] = {
    SHAPE_FIELD(KEYS, .required = true, .length_min = 1, .length_max = 100, .spec = &keys),
    TO_GET,
    CONSISTENT,
    EXPRESSION(PROJECTION_EXPRESSION),
    NAMES,
};
SHAPE_STRUCT(shape_keys_and_attributes, "KeysAndAttributes", keys_and_attributes_fields);
static SHAPE_MAP(gets, shape_keys_and_attributes);
static const struct spec_field batch_get_item_fields[] = {
    CAPACITY,
    SHAPE_FIELD(REQUEST_ITEMS, .required = true, .table_keys = true, .spec = &gets),
};
SHAPE_QUIET(shape_batch_get_item, "BatchGetItemInput", batch_get_item_fields);

static const struct spec_field delete_request_fields[] = {KEY};
SHAPE_STRUCT(shape_delete_request, "DeleteRequest", delete_request_fields);
static const struct spec_field put_request_fields[] = {ITEM};
SHAPE_STRUCT(shape_put_request, "PutRequest", put_request_fields);
static const struct spec_field write_request_fields[] = {
    SHAPE_FIELD(DELETE_REQUEST, .spec = &shape_delete_request),
    SHAPE_FIELD(PUT_REQUEST, .spec = &shape_put_request),
};
SHAPE_STRUCT(shape_write_request, "WriteRequest", write_request_fields);
static SHAPE_LIST(write_requests, shape_write_request);
static SHAPE_MAP(writes, write_requests);
static const struct spec_field batch_write_item_fields[] = {
    CAPACITY,
    METRICS,
    SHAPE_FIELD(REQUEST_ITEMS, .required = true, .table_keys = true, .values_max = 25,
                .spec = &writes),
};
SHAPE_STRUCT(shape_batch_write_item, "BatchWriteItemInput", batch_write_item_fields);

static const struct spec_field transact_get_one_fields[] = {
    TABLE, KEY, EXPRESSION(PROJECTION_EXPRESSION), NAMES};
SHAPE_STRUCT(shape_transact_get_one, "Get", transact_get_one_fields);
static const struct spec_field transact_get_fields[] = {
    SHAPE_FIELD(GET, .required = true, .spec = &shape_transact_get_one),
};
SHAPE_STRUCT(shape_transact_get, "TransactGetItem", transact_get_fields);
static SHAPE_LIST(transact_gets, shape_transact_get);
#define TRANSACT_ITEMS(of) \
    SHAPE_FIELD(TRANSACT_ITEMS, .required = true, .length_min = 1, .length_max = 100, .spec = &(of))
static const struct spec_field transact_get_items_fields[] = {CAPACITY,
                                                              TRANSACT_ITEMS(transact_gets)};
SHAPE_STRUCT(shape_transact_get_items, "TransactGetItemsInput", transact_get_items_fields);

#define REQUIRED(name) SHAPE_FIELD(name, .required = true, STRING)
static const struct spec_field transact_check_fields[] = {
    TABLE, KEY, REQUIRED(CONDITION_EXPRESSION), ON_FAILURE, VALUES, NAMES};
SHAPE_STRUCT(shape_transact_check, "ConditionCheck", transact_check_fields);
static const struct spec_field transact_delete_fields[] = {
    TABLE, KEY, EXPRESSION(CONDITION_EXPRESSION), ON_FAILURE, VALUES, NAMES};
SHAPE_STRUCT(shape_transact_delete, "Delete", transact_delete_fields);
static const struct spec_field transact_put_fields[] = {
    TABLE, ITEM, EXPRESSION(CONDITION_EXPRESSION), ON_FAILURE, VALUES, NAMES};
SHAPE_STRUCT(shape_transact_put, "Put", transact_put_fields);
static const struct spec_field transact_update_fields[] = {
    TABLE,  KEY,  REQUIRED(UPDATE_EXPRESSION), EXPRESSION(CONDITION_EXPRESSION), ON_FAILURE,
    VALUES, NAMES};
SHAPE_STRUCT(shape_transact_update, "Update", transact_update_fields);
static const struct spec_field transact_write_fields[] = {
    SHAPE_FIELD(CONDITION_CHECK, .spec = &shape_transact_check),
    SHAPE_FIELD(DELETE, .spec = &shape_transact_delete),
    SHAPE_FIELD(PUT, .spec = &shape_transact_put),
    SHAPE_FIELD(UPDATE, .spec = &shape_transact_update),
};
SHAPE_STRUCT(shape_transact_write, "TransactWriteItem", transact_write_fields);
static SHAPE_LIST(transact_writes, shape_transact_write);
static const struct spec_field transact_write_items_fields[] = {
    CAPACITY,
    METRICS,
    SHAPE_FIELD(CLIENT_REQUEST_TOKEN, .length_min = 1, .length_max = 36, STRING),
    TRANSACT_ITEMS(transact_writes),
};
SHAPE_STRUCT(shape_transact_write_items, "TransactWriteItemsInput", transact_write_items_fields);

/* --- statements --- */

#define STATEMENT \
    SHAPE_FIELD(STATEMENT, .required = true, .length_min = 1, .length_max = 8192, STRING)
#define PARAMETERS SHAPE_FIELD(PARAMETERS, .length_min = 1, .spec = &shape_attributes)

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

/* Requests against their shapes: which fault is told, and in which words. */
#include "api/dynamodb/operation.h"
#include "api/dynamodb/spec.h"
#include "test.h"

struct sample {
    const char *operation, *body;
    enum status status;
    const char *text;
};

static const struct sample samples[] = {
    /* types */
    {"ListTables", "[]", PARSE_FAILED, ""},
    {"ListTables", "{\"Limit\":\"1\"}", PARSE_FAILED,
     "STRING_VALUE cannot be converted to Integer"},
    {"ListTables", "{\"Limit\":true}", PARSE_FAILED, "TRUE_VALUE cannot be converted to Integer"},
    {"ListTables", "{\"Limit\":false}", PARSE_FAILED, "FALSE_VALUE cannot be converted to Integer"},
    {"ListTables", "{\"Limit\":[]}", PARSE_FAILED,
     "Unrecognized collection type class java.lang.Integer"},
    {"ListTables", "{\"Limit\":{}}", PARSE_FAILED,
     "Start of structure or map found where not expected"},
    {"ListTables", "{\"Limit\":null,\"Other\":[1]}", OK, ""},
    {"GetItem", "{\"TableName\":23}", PARSE_FAILED, "NUMBER_VALUE cannot be converted to String"},
    {"GetItem", "{\"TableName\":2.5}", PARSE_FAILED, "DECIMAL_VALUE cannot be converted to String"},
    {"GetItem", "{\"ConsistentRead\":\"maybe\"}", PARSE_FAILED,
     "Unexpected token received from parser"},
    {"GetItem", "{\"ConsistentRead\":1}", PARSE_FAILED,
     "NUMBER_VALUE cannot be converted to Boolean"},
    {"GetItem", "{\"Key\":[]}", PARSE_FAILED,
     "Unrecognized collection type java.util.Map<java.lang.String, "
     "com.amazonaws.dynamodb.v20120810.AttributeValue>"},
    {"GetItem", "{\"Key\":\"a\"}", PARSE_FAILED, "Unexpected field type"},
    {"GetItem", "{\"AttributesToGet\":\"a\"}", PARSE_FAILED, "Unexpected field type"},
    {"GetItem", "{\"AttributesToGet\":{}}", PARSE_FAILED,
     "Start of structure or map found where not expected"},
    {"PutItem", "{\"Expected\":{\"a\":\"b\"}}", PARSE_FAILED, "Unexpected value type in payload"},
    {"PutItem", "{\"Expected\":{\"a\":[]}}", PARSE_FAILED,
     "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue"},
    {"PutItem", "{\"ExpressionAttributeNames\":{\"#a\":1}}", PARSE_FAILED,
     "NUMBER_VALUE cannot be converted to String"},
    {"BatchWriteItem", "{\"RequestItems\":[]}", PARSE_FAILED,
     "Unrecognized collection type java.util.Map<java.lang.String, "
     "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>"},
    {"CreateTable", "{\"KeySchema\":[1]}", PARSE_FAILED, "Unexpected value type in payload"},
    {"CreateTable", "{\"ProvisionedThroughput\":1}", PARSE_FAILED, "Unexpected field type"},
    {"CreateTable", "{\"ProvisionedThroughput\":{\"ReadCapacityUnits\":\"1\"}}", PARSE_FAILED,
     "STRING_VALUE cannot be converted to Long"},

    /* limits */
    {"DescribeTable", "{}", INVALID,
     "The parameter 'TableName' is required but was not present in the request"},
    {"DescribeTable", "{\"TableName\":\"a;\"}", INVALID,
     "1 validation error detected: Value 'a;' at 'tableName' failed to satisfy constraint: Member "
     "must have length greater than or equal to 3"},
    {"DescribeTable", "{\"TableName\":\"abc;\"}", INVALID,
     "1 validation error detected: Value 'abc;' at 'tableName' failed to satisfy constraint: "
     "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"},
    {"DescribeTable", "{\"TableName\":\"arn:aws:dynamodb:us-east-1:000000000000:table/abc\"}", OK,
     ""},
    {"ListTables", "{\"Limit\":0}", INVALID,
     "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must "
     "have value greater than or equal to 1"},
    {"ListTables", "{\"Limit\":101}", INVALID,
     "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member "
     "must have value less than or equal to 100"},
    {"ListTables", "{\"Limit\":1.9}", OK, ""},
    {"GetItem", "{}", INVALID,
     "2 validation errors detected: Value null at 'tableName' failed to satisfy constraint: Member "
     "must not be null; Value null at 'key' failed to satisfy constraint: Member must not be null"},
    {"GetItem", "{\"TableName\":\"a;\",\"Key\":{},\"ReturnConsumedCapacity\":\"hi\"}", INVALID,
     "2 validation errors detected: Value 'hi' at 'returnConsumedCapacity' failed to satisfy "
     "constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; Value 'a;' at "
     "'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: "
     "[a-zA-Z0-9_.-]+"},
    {"GetItem", "{\"TableName\":\"\",\"Key\":{}}", INVALID,
     "1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: Member "
     "must have length greater than or equal to 1"},
    {"Query", "{\"TableName\":\"abc\",\"Limit\":0,\"ReturnConsumedCapacity\":\"hi\"}", INVALID,
     "2 validation errors detected: Value 'hi' at 'returnConsumedCapacity' failed to satisfy "
     "constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; Value at 'Limit' "
     "failed to satisfy constraint: Member must have value greater than or equal to 1"},
    {"GetItem", "{\"TableName\":\"abc\",\"Key\":{},\"AttributesToGet\":[]}", INVALID,
     "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy constraint: "
     "Member must have length greater than or equal to 1"},
    {"CreateTable",
     "{\"TableName\":\"abc\",\"AttributeDefinitions\":[{}],\"KeySchema\":[{\"KeyType\":\"HASH\"},{"
     "\"AttributeName\":\"a\"},{\"KeyType\":\"Woop\",\"AttributeName\":\"a\"}]}",
     INVALID,
     "6 validation errors detected: Value null at 'attributeDefinitions.1.member.attributeName' "
     "failed to satisfy constraint: Member must not be null; Value null at "
     "'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must not "
     "be null; Value '[KeySchemaElement(keyType=HASH), KeySchemaElement(attributeName=a), "
     "KeySchemaElement(keyType=Woop, attributeName=a)]' at 'keySchema' failed to satisfy "
     "constraint: Member must have length less than or equal to 2; Value null at "
     "'keySchema.1.member.attributeName' failed to satisfy constraint: Member must not be null; "
     "Value null at 'keySchema.2.member.keyType' failed to satisfy constraint: Member must not be "
     "null; Value 'Woop' at 'keySchema.3.member.keyType' failed to satisfy constraint: Member must "
     "satisfy enum value set: [HASH, RANGE]"},
    {"BatchGetItem", "{\"RequestItems\":{\"a\":{}}}", INVALID,
     "2 validation errors detected: Value at 'RequestItems' failed to "
     "satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or "
     "equal to 255, Member must have length greater than or equal to 3, Member must satisfy "
     "regular expression pattern: [a-zA-Z0-9_.-]+]; Value null at 'requestItems.a.member.keys' "
     "failed to satisfy constraint: Member must not be null"},
    {"BatchWriteItem", "{\"RequestItems\":{\"abc\":[]}}", INVALID,
     "1 validation error detected: Value '{abc=[]}' at 'requestItems' failed to satisfy "
     "constraint: Map value must satisfy constraint: [Member must have length less than or equal "
     "to 25, Member must have length greater than or equal to 1]"},
    {"PutItem",
     "{\"TableName\":\"abc\",\"Item\":{},\"Expected\":{\"x\":{\"ComparisonOperator\":"
     "\"hi\"}}}",
     INVALID,
     "1 validation error detected: Value 'hi' at 'expected.x.member.comparisonOperator' failed to "
     "satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, "
     "NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]"},
    {"GetItem", "{\"TableName\":\"abc\",\"Key\":{},\"AttributesToGet\":[null]}", INVALID,
     "1 validation error detected: Value null at 'attributesToGet.1.member' failed to satisfy "
     "constraint: Member must not be null"},
};

static enum status check(const struct sample *sample, struct scope in) {
    const struct spec *spec = operation_find(bytes_str(sample->operation))->spec;
    struct json request;
    struct args args;
    size_t at;
    assert_int_equal(json_parse(bytes_str(sample->body), in.arena, &request, &at), OK);
    enum status status = spec_read(spec, &request, in, &args);
    return status == OK ? spec_check_limits(spec, &args, in) : status;
}

static void test_samples(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        struct failure failure = {0};
        enum status status = check(&samples[i], (struct scope){&arena, &failure});
        assert_string_equal(arena_str(&arena, failure.text), samples[i].text);
        assert_int_equal(status, samples[i].status);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

/* Attribute values are looked into only when asked. */
static void test_deep(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    const struct spec *spec = operation_find(BYTES("PutItem"))->spec;
    struct json request;
    struct failure failure = {0};
    struct args args;
    size_t at;
    assert_int_equal(json_parse(BYTES("{\"Item\":{\"a\":{\"N\":1}}}"), &arena, &request, &at), OK);
    assert_int_equal(spec_read(spec, &request, (struct scope){&arena, &failure}, &args), OK);
    assert_non_null(args.at[ARG_ITEM]);
    assert_int_equal(spec_check_deep(spec, &request, (struct scope){&arena, &failure}),
                     PARSE_FAILED);
    assert_string_equal(arena_str(&arena, failure.text),
                        "NUMBER_VALUE cannot be converted to String");
    arena_release(&arena);
}

static void test_reading(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct json request;
    struct args args;
    size_t at;
    const char *text = "{\"Limit\":1.9,\"ScanIndexForward\":\"NO\",\"ConsistentRead\":true,"
                       "\"TableName\":\"x\",\"TableName\":\"last\"}";
    assert_int_equal(json_parse(bytes_str(text), &arena, &request, &at), OK);
    spec_bind(operation_find(BYTES("Query"))->spec, &request, &args);
    assert_int_equal(args_int(&args, ARG_LIMIT, 7), 1);
    assert_int_equal(args_int(&args, ARG_SEGMENT, 7), 7);
    assert_false(args_bool(&args, ARG_SCAN_INDEX_FORWARD, true));
    assert_true(args_bool(&args, ARG_CONSISTENT_READ, false));
    assert_bytes_equal(args_text(&args, ARG_TABLE_NAME), BYTES("last"));
    assert_false(args_has(&args, ARG_KEY));
    arena_release(&arena);
}

/* Whatever was there before, all parameters of the spec are set; the others are left. */
static void test_binding_own(void **state) {
    (void)state;
    struct json request = {.type = JSON_NULL}, other = {.type = JSON_TRUE};
    const struct spec *spec = operation_find(BYTES("Query"))->spec;
    struct args args;
    for (int i = 0; i < ARG_COUNT; i++)
        args.at[i] = &other;
    spec_bind_own(spec, &request, &args);
    assert_ptr_equal(args.at[ARG_ITEM], &other);
    for (unsigned i = 0; i < spec->field_count; i++)
        assert_false(args_has(&args, spec->fields[i].arg));
}

static void test_operations_sorted(void **state) {
    (void)state;
    for (size_t i = 0; operation_at(i) != NULL; i++) {
        assert_ptr_equal(operation_find(operation_at(i)->name), operation_at(i));
        if (operation_at(i)->run != NULL)
            assert_non_null(operation_at(i)->spec);
    }
    assert_null(operation_find(BYTES("ListTable")));
    assert_null(operation_find(BYTES("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),           cmocka_unit_test(test_deep),
        cmocka_unit_test(test_reading),           cmocka_unit_test(test_binding_own),
        cmocka_unit_test(test_operations_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

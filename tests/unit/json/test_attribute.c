#include "test.h"

#include "base/limits.h"
#include "values.h"
#include "json/attribute.h"

static struct arena arena;

static struct json parsed(const char *text) {
    struct json json;
    size_t at;
    if (json_parse(bytes_str(text), &arena, &json, &at) != OK)
        fail_msg("not JSON: %s", text);
    return json;
}

static const char *nested(int levels, const char *inner, bool map) {
    struct buf text = {0};
    for (int i = 0; i < levels; i++)
        buf_put(&text, map ? BYTES("{\"M\":{\"a\":") : BYTES("{\"L\":["));
    buf_put(&text, bytes_str(inner));
    for (int i = 0; i < levels; i++)
        buf_put(&text, map ? BYTES("}}") : BYTES("]}"));
    char *copy = arena_str(&arena, buf_bytes(&text));
    buf_release(&text);
    return copy;
}

static void reads_and_writes_each_type(void **state) {
    (void)state;
    const char *cases[][2] = {
        {"{\"S\":\"\"}", NULL},
        {"{\"S\":\"a\\u00e9\\n\"}", "{\"S\":\"a\xc3\xa9\\n\"}"},
        {"{\"N\":\"-01.50\"}", "{\"N\":\"-1.5\"}"},
        {"{\"B\":\"AAEC\"}", NULL},
        {"{\"B\":\"\"}", NULL},
        {"{\"SS\":[\"b\",\"a\",\"\"]}", "{\"SS\":[\"\",\"a\",\"b\"]}"},
        {"{\"NS\":[\"10\",\"9\",\"-1e2\"]}", "{\"NS\":[\"-100\",\"9\",\"10\"]}"},
        {"{\"BS\":[\"Yg==\",\"YQ==\"]}", "{\"BS\":[\"YQ==\",\"Yg==\"]}"},
        {"{\"M\":{}}", NULL},
        {"{\"M\":{\"b\":{\"S\":\"x\"},\"a\":{\"N\":\"1\"}}}",
         "{\"M\":{\"a\":{\"N\":\"1\"},\"b\":{\"S\":\"x\"}}}"},
        {"{\"L\":[]}", NULL},
        {"{\"L\":[{\"S\":\"x\"},{\"L\":[]}]}", NULL},
        {"{\"BOOL\":true}", NULL},
        {"{\"BOOL\":false}", NULL},
        {"{\"BOOL\":\"Yes\"}", "{\"BOOL\":true}"},
        {"{\"BOOL\":\"0\"}", "{\"BOOL\":false}"},
        {"{\"NULL\":true}", NULL},
        {"{\"NULL\":\"true\"}", "{\"NULL\":true}"},
        /* members that are null or of no type are not there */
        {"{\"S\":null,\"N\":\"1\",\"X\":[1]}", "{\"N\":\"1\"}"},
        {"{\"S\":\"a\",\"S\":\"b\"}", "{\"S\":\"b\"}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json json = parsed(cases[i][0]);
        struct failure failure = {0};
        struct value value;
        struct buf out = {0};
        assert_int_equal(
            attribute_check(&json, ATTRIBUTE_IN_COLLECTION, "", (struct scope){&arena, &failure}),
            OK);
        if (attribute_read(&json, (struct scope){&arena, &failure}, &value) != OK)
            fail_msg("%s: %.*s", cases[i][0], BYTES_ARG(failure.text));
        attribute_write(&out, &value);
        assert_bytes_equal(buf_bytes(&out), bytes_str(cases[i][cases[i][1] != NULL]));
        buf_release(&out);
    }
}

#define INVALID_PARAMETERS "One or more parameter values were invalid: "
#define NOT_NUMERIC        "The parameter cannot be converted to a numeric value"
#define EMPTY_VALUE \
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
#define MANY_TYPES                                                                   \
    "Supplied AttributeValue has more than one datatypes set, must contain exactly " \
    "one of the supported datatypes"
#define TOO_DEEP                                                                                \
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels " \
    "beyond supported limit"

static void tells_what_is_no_value(void **state) {
    (void)state;
    const char *cases[][2] = {
        {"{}", EMPTY_VALUE},
        {"null", EMPTY_VALUE},
        {"{\"a\":\"\"}", EMPTY_VALUE},
        {"{\"S\":null}", EMPTY_VALUE},
        {"{\"L\":[null]}", EMPTY_VALUE},
        {"{\"M\":{\"a\":{}}}", EMPTY_VALUE},
        {"{\"S\":\"a\",\"N\":\"1\"}", MANY_TYPES},
        {"{\"L\":[],\"M\":{}}", MANY_TYPES},
        {"{\"S\":\"a\",\"N\":\"x\"}", NOT_NUMERIC ": x"},
        {"{\"N\":\"\"}", NOT_NUMERIC},
        {"{\"N\":\" 1\"}", NOT_NUMERIC ":  1"},
        {"{\"N\":\"1e126\"}", "Number overflow. Attempting to store a number with magnitude larger "
                              "than supported range"},
        {"{\"N\":\"-1e-131\"}", "Number underflow. Attempting to store a number with magnitude "
                                "smaller than supported range"},
        {"{\"N\":\"123456789012345678901234567890123456789\"}",
         "Attempting to store more than 38 significant digits in a Number"},
        {"{\"NULL\":false}",
         INVALID_PARAMETERS "Null attribute value types must have the value of true"},
        {"{\"SS\":[]}", INVALID_PARAMETERS "An string set  may not be empty"},
        {"{\"NS\":[]}", INVALID_PARAMETERS "An number set  may not be empty"},
        {"{\"BS\":[]}", INVALID_PARAMETERS "Binary sets should not be empty"},
        {"{\"SS\":[\"b\",\"a\",\"b\"]}",
         INVALID_PARAMETERS "Input collection [b, a, b] contains duplicates."},
        {"{\"BS\":[\"Yg==\",\"Yg==\"]}",
         INVALID_PARAMETERS "Input collection [Yg==, Yg==]of type BS contains duplicates."},
        {"{\"NS\":[\"1\",\"1.0\"]}", "Input collection contains duplicates"},
        {"{\"NS\":[\"1\",\"b\",\"1\"]}", NOT_NUMERIC ": b"},
        {"{\"NS\":[\"1\",\"\"]}", NOT_NUMERIC},
        {"{\"NS\":[null]}", NOT_NUMERIC},
        {"{\"SS\":[\"a\",null]}",
         INVALID_PARAMETERS "An string set may not have a null string as a member"},
        {"{\"BS\":[null]}", INVALID_PARAMETERS "Binary sets may not contain null or empty values"},
        {"{\"M\":{\"\":{\"S\":\"a\"}}}", "Empty attribute name"},
        {"{\"M\":{\"\":{\"N\":\"x\"}}}", NOT_NUMERIC ": x"},
        {"{\"L\":[{\"N\":\"x\"},{\"N\":\"y\"}]}", NOT_NUMERIC ": x"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json json = parsed(cases[i][0]);
        struct failure failure = {0};
        struct value value;
        assert_int_equal(
            attribute_check(&json, ATTRIBUTE_AS_FIELD, "", (struct scope){&arena, &failure}), OK);
        if (attribute_read(&json, (struct scope){&arena, &failure}, &value) != INVALID)
            fail_msg("took %s", cases[i][0]);
        assert_int_equal(failure.status, INVALID);
        assert_bytes_equal(failure.text, bytes_str(cases[i][1]));
    }
}

#define COLLECTION "Unrecognized collection type class "
#define STRUCTURE  "Start of structure or map found where not expected"

static void tells_what_has_the_wrong_type(void **state) {
    (void)state;
    const char *cases[][2] = {
        {"1", "Unexpected value type in payload"},
        {"\"x\"", "Unexpected value type in payload"},
        {"true", "Unexpected value type in payload"},
        {"[]", COLLECTION "game.v1.AttributeValue"},
        {"{\"S\":23}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"S\":34.56}", "DECIMAL_VALUE cannot be converted to String"},
        {"{\"S\":true}", "TRUE_VALUE cannot be converted to String"},
        {"{\"N\":false}", "FALSE_VALUE cannot be converted to String"},
        {"{\"N\":[]}", COLLECTION "java.lang.String"},
        {"{\"N\":{}}", STRUCTURE},
        {"{\"B\":1}", "only base-64-encoded strings are convertible to bytes"},
        {"{\"B\":true}", "only base-64-encoded strings are convertible to bytes"},
        {"{\"B\":[]}", COLLECTION "java.nio.ByteBuffer"},
        {"{\"B\":{}}", STRUCTURE},
        {"{\"B\":\"23456\"}",
         "Base64 encoded length is expected a multiple of 4 bytes but found: 5"},
        {"{\"B\":\"\\u00e9\"}",
         "Base64 encoded length is expected a multiple of 4 bytes but found: 1"},
        {"{\"B\":\"=+/=\"}", "Invalid last non-pad Base64 character dectected"},
        {"{\"B\":\"+/+=\"}", "Invalid last non-pad Base64 character dectected"},
        {"{\"BOOL\":\"x\"}", "Unexpected token received from parser"},
        {"{\"BOOL\":1}", "NUMBER_VALUE cannot be converted to Boolean"},
        {"{\"NULL\":1.5}", "DECIMAL_VALUE cannot be converted to Boolean"},
        {"{\"NULL\":[]}", COLLECTION "java.lang.Boolean"},
        {"{\"BOOL\":{}}", STRUCTURE},
        {"{\"SS\":\"a\"}", "Unexpected field type"},
        {"{\"SS\":{}}", STRUCTURE},
        {"{\"SS\":[1]}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"NS\":[1]}", "NUMBER_VALUE cannot be converted to String"},
        {"{\"NS\":[{}]}", STRUCTURE},
        {"{\"BS\":[\"a\"]}",
         "Base64 encoded length is expected a multiple of 4 bytes but found: 1"},
        {"{\"L\":1}", "Unexpected field type"},
        {"{\"L\":{}}", STRUCTURE},
        {"{\"L\":[1]}", "Unexpected value type in payload"},
        {"{\"L\":[[]]}", COLLECTION "game.v1.AttributeValue"},
        {"{\"M\":\"a\"}", "Unexpected field type"},
        {"{\"M\":[]}",
         "Unrecognized collection type java.util.Map<java.lang.String, game.v1.AttributeValue>"},
        {"{\"M\":{\"a\":1}}", "Unexpected value type in payload"},
        {"{\"M\":{\"a\":{\"L\":[{\"BS\":[true]}]}}}",
         "only base-64-encoded strings are convertible to bytes"},
        /* wrong types win over wrong values */
        {"{\"L\":[{\"N\":\"x\"},{\"S\":1}]}", "NUMBER_VALUE cannot be converted to String"},
    };
    size_t count = sizeof(cases) / sizeof(cases[0]);
    for (size_t i = 0; i < count; i++) {
        struct json json = parsed(cases[i][0]);
        struct failure failure = {0};
        struct value value;
        if (attribute_check(&json, ATTRIBUTE_IN_COLLECTION, "game.v1.",
                            (struct scope){&arena, &failure}) != PARSE_FAILED)
            fail_msg("took %s", cases[i][0]);
        assert_bytes_equal(failure.text, bytes_str(cases[i][1]));
        if (i + 1 < count) /* unchecked, it is refused all the same */
            assert_int_equal(attribute_read(&json, (struct scope){&arena, &failure}, &value),
                             PARSE_FAILED);
    }
    struct json json = parsed("1");
    struct failure failure;
    assert_int_equal(
        attribute_check(&json, ATTRIBUTE_AS_FIELD, "", (struct scope){&arena, &failure}),
        PARSE_FAILED);
    assert_bytes_equal(failure.text, BYTES("Unexpected field type"));
}

static void limits_nesting(void **state) {
    (void)state;
    for (int map = 0; map < 2; map++)
        for (int levels = 30; levels < 120; levels++) {
            struct json json = parsed(nested(levels, "{\"N\":\"1\"}", map));
            struct failure failure = {0};
            struct value value;
            enum status wanted = levels < LIMIT_NESTING ? OK : INVALID;
            assert_int_equal(attribute_read(&json, (struct scope){&arena, &failure}, &value),
                             wanted);
            if (wanted == OK)
                assert_int_equal(value_depth(&value), levels);
            else
                assert_bytes_equal(failure.text, BYTES(TOO_DEEP));
        }
    for (int more = 0; more < 2; more++) {
        struct json json = parsed(nested(LIMIT_NESTING - 2 + more, "{\"L\":[]}", false));
        struct failure failure;
        struct value value;
        assert_int_equal(attribute_read(&json, (struct scope){&arena, &failure}, &value),
                         more ? INVALID : OK);
    }
}

static enum status read_item(const char *text, struct failure *failure, struct item *item) {
    struct json json = parsed(text);
    return attribute_read_item(&json, (struct scope){&arena, failure}, item);
}

static void reads_items(void **state) {
    (void)state;
    struct failure failure = {0};
    struct item item;
    struct buf out = {0};
    assert_int_equal(
        read_item("{\"b\":{\"S\":\"1\"},\"a\":{\"N\":\"2\"},\"b\":{\"S\":\"3\"}}", &failure, &item),
        OK);
    attribute_write_item(&out, &item);
    assert_bytes_equal(buf_bytes(&out), BYTES("{\"a\":{\"N\":\"2\"},\"b\":{\"S\":\"3\"}}"));
    assert_bytes_equal(item_get(&item, BYTES("b"))->bytes, BYTES("3"));

    assert_int_equal(read_item("{}", &failure, &item), OK);
    buf_clear(&out);
    attribute_write_item(&out, &item);
    assert_bytes_equal(buf_bytes(&out), BYTES("{}"));
    buf_release(&out);
}

static void tells_the_first_fault_of_an_item(void **state) {
    (void)state;
    struct failure failure = {0};
    struct item item;
    char *text = arena_alloc(&arena, 70000 + 64);
    assert_int_equal(read_item("{\"z\":{\"N\":\"x\"},\"a\":{\"SS\":[]}}", &failure, &item),
                     INVALID);
    assert_bytes_equal(failure.text, BYTES(NOT_NUMERIC ": x"));
    assert_int_equal(read_item("{\"a\":{\"SS\":[]},\"z\":{\"N\":\"x\"}}", &failure, &item),
                     INVALID);
    assert_bytes_equal(failure.text, BYTES(INVALID_PARAMETERS "An string set  may not be empty"));

    sprintf(text, "{\"d\":%s,\"\":{\"S\":\"x\"}}", nested(40, "{\"S\":\"x\"}", true));
    assert_int_equal(read_item(text, &failure, &item), INVALID);
    assert_bytes_equal(failure.text, BYTES("Empty attribute name"));
    sprintf(text, "{\"m\":{\"M\":{\"\":{\"S\":\"x\"}}},\"d\":%s}",
            nested(40, "{\"S\":\"x\"}", true));
    assert_int_equal(read_item(text, &failure, &item), INVALID);
    assert_bytes_equal(failure.text, BYTES(TOO_DEEP));

    for (int more = 0; more < 2; more++) {
        char *at = stpcpy(text, "{\"");
        memset(at, 'n', LIMIT_ATTRIBUTE_NAME_SIZE + (size_t)more);
        strcpy(at + LIMIT_ATTRIBUTE_NAME_SIZE + more, "\":{\"S\":\"x\"}}");
        assert_int_equal(read_item(text, &failure, &item), more ? INVALID : OK);
    }
    assert_bytes_equal(failure.text,
                       BYTES("Attribute name is too large, must be less than 65536 bytes"));

    struct json json = parsed("[]");
    assert_int_equal(attribute_check_item(&json, "game.v1.", (struct scope){&arena, &failure}),
                     PARSE_FAILED);
    assert_bytes_equal(failure.text, BYTES("Unrecognized collection type java.util.Map<"
                                           "java.lang.String, game.v1.AttributeValue>"));
    assert_int_equal(read_item("[]", &failure, &item), PARSE_FAILED);
    json = parsed("{\"a\":{\"S\":1}}");
    assert_int_equal(attribute_check_item(&json, "", (struct scope){&arena, &failure}),
                     PARSE_FAILED);
}

static void items_come_back(void **state) {
    (void)state;
    struct random random;
    struct buf out = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 3000; round++) {
        struct failure failure = {0};
        struct json json;
        struct item back;
        size_t at;
        arena_reset(&arena);
        struct item item = random_item(&random, &arena);
        buf_clear(&out);
        attribute_write_item(&out, &item);
        assert_int_equal(json_parse(buf_bytes(&out), &arena, &json, &at), OK);
        assert_int_equal(attribute_check_item(&json, "", (struct scope){&arena, &failure}), OK);
        assert_int_equal(attribute_read_item(&json, (struct scope){&arena, &failure}, &back), OK);
        assert_true(item_equal(&item, &back));
    }
    buf_release(&out);
}

static int set_up(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_release(&arena);
    return 0;
}

/* Names and strings of an item that have something to escape are written as the plain ones are. */
static void writes_names_and_strings_of_every_length(void **state) {
    (void)state;
    for (size_t size = 1; size <= 40; size++)
        for (size_t at = 0; at <= size; at++) {
            char text[41];
            struct buf out = {0}, want = {0};
            memset(text, 'n', sizeof(text));
            if (at < size)
                text[at] = '"';
            struct bytes name = bytes_of(text, size);
            struct pair pairs[] = {{name, value_string(name)}, {BYTES("o"), value_string(name)}};
            attribute_write_item(&out, &(struct item){pairs, 2});
            buf_lit(&want, "{");
            json_put_string(&want, name);
            buf_lit(&want, ":{\"S\":");
            json_put_string(&want, name);
            buf_lit(&want, "},\"o\":{\"S\":");
            json_put_string(&want, name);
            buf_lit(&want, "}}");
            assert_bytes_equal(buf_bytes(&out), buf_bytes(&want));
            buf_release(&out);
            buf_release(&want);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_each_type),
        cmocka_unit_test(tells_what_is_no_value),
        cmocka_unit_test(tells_what_has_the_wrong_type),
        cmocka_unit_test(limits_nesting),
        cmocka_unit_test(reads_items),
        cmocka_unit_test(tells_the_first_fault_of_an_item),
        cmocka_unit_test(items_come_back),
        cmocka_unit_test(writes_names_and_strings_of_every_length),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

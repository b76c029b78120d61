/* Forms: what each kind takes, where a fault is told to be, and the schema that says the same. */
#include "test.h"

#include "api/rest/rest_form.h"
#include "base/buf.h"

static const char *const colours[] = {"red", "dark red", NULL};

static const struct form_field season_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED, NULL, 1, 4, NULL, NULL, 0},
    {"starts", FORM_TIME, 0, NULL, 0, 0, NULL, NULL, 0},
    {0},
};
static const struct form season = {"Season", NULL, season_fields};

static const struct form_field fields[] = {
    {"text", FORM_TEXT, 0, NULL, 2, 4, NULL, NULL, 0},
    {"free", FORM_TEXT, FORM_NULLABLE, "Anything", 0, 0, NULL, NULL, 0},
    {"number", FORM_NUMBER, 0, NULL, 0, 0, NULL, NULL, 0},
    {"count", FORM_COUNT, 0, NULL, -3, 10, NULL, NULL, 0},
    {"large", FORM_COUNT, FORM_NULLABLE, NULL, 0, 0, NULL, NULL, 0},
    {"flag", FORM_FLAG, 0, NULL, 0, 0, NULL, NULL, 0},
    {"colour", FORM_CHOICE, 0, NULL, 0, 0, colours, NULL, 0},
    {"at", FORM_TIME, 0, NULL, 0, 0, NULL, NULL, 0},
    {"map", FORM_MAP, 0, NULL, 0, 0, NULL, NULL, 0},
    {"season", FORM_OBJECT, FORM_NULLABLE, NULL, 0, 0, NULL, &season, 0},
    {"seasons", FORM_LIST, 0, NULL, 1, 2, NULL, &season, FORM_OBJECT},
    {"names", FORM_LIST, 0, NULL, 0, 0, NULL, NULL, FORM_TEXT},
    {"colours", FORM_LIST, 0, NULL, 0, 0, colours, NULL, FORM_CHOICE},
    {"any", FORM_ANY, 0, NULL, 0, 0, NULL, NULL, 0},
    {0},
};
static const struct form form = {"Thing", "A thing", fields};

struct fixture {
    struct arena arena;
    struct failure failure;
    struct form_fault fault;
    struct json json;
};

static struct fixture f;

static int setup(void **state) {
    (void)state;
    memset(&f, 0, sizeof(f));
    arena_init(&f.arena);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_release(&f.arena);
    return 0;
}

static enum status check(const char *text) {
    size_t at;
    f.failure = (struct failure){0};
    f.fault = (struct form_fault){0};
    if (json_parse(bytes_str(text), &f.arena, &f.json, &at) != OK)
        fail_msg("not JSON: %s", text);
    return form_check(&form, &f.json, (struct scope){&f.arena, &f.failure}, &f.fault);
}

static void assert_good(const char *text) {
    if (check(text) != OK)
        fail_msg("%s: %.*s", text, BYTES_ARG(f.failure.text));
}

static void assert_fault(const char *text, const char *member, const char *sentence) {
    if (check(text) != INVALID)
        fail_msg("%s was taken", text);
    assert_bytes_equal(f.fault.member, bytes_str(member));
    assert_bytes_equal(f.failure.text, bytes_str(sentence));
}

static void test_texts(void **state) {
    (void)state;
    assert_good("{}");
    assert_good("{\"text\":\"ab\"}");
    assert_good("{\"text\":\"\\u00e4\\u00e4\"}"); /* four bytes */
    assert_good("{\"free\":\"\"}");
    assert_good("{\"free\":null}");
    assert_fault("{\"text\":\"a\"}", "text", "text must have 2 to 4 characters");
    assert_fault("{\"text\":\"abcde\"}", "text", "text must have 2 to 4 characters");
    assert_fault("{\"text\":7}", "text", "text must be a string");
    assert_fault("{\"text\":null}", "text", "text must be a string");
    assert_fault("{\"text\":[\"ab\"]}", "text", "text must be a string");
}

static void test_numbers(void **state) {
    (void)state;
    assert_good("{\"number\":12345678901234567890123456789012345678}");
    assert_good("{\"number\":\"-1.50e10\"}");
    assert_fault("{\"number\":123456789012345678901234567890123456789}", "number",
                 "number has more than 38 significant digits");
    assert_fault("{\"number\":1e126}", "number",
                 "number is larger than a number can be: under 1e126");
    assert_fault("{\"number\":1e-131}", "number",
                 "number is closer to zero than a number can be: 1e-130");
    assert_fault("{\"number\":\"\"}", "number", "number must be a number");
    assert_fault("{\"number\":\"inf\"}", "number", "number must be a number");
    assert_fault("{\"number\":true}", "number", "number must be a number");
}

static void test_counts(void **state) {
    (void)state;
    assert_good("{\"count\":-3}");
    assert_good("{\"count\":10}");
    assert_good("{\"large\":9223372036854775807}");
    static const char *const bad[] = {"-4", "11", "1.0", "1e1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[64];
        snprintf(text, sizeof(text), "{\"count\":%s}", bad[i]);
        assert_fault(text, "count", "count must be a whole number from -3 to 10");
    }
    assert_fault("{\"count\":\"5\"}", "count", "count must be a whole number");
    assert_fault("{\"large\":9223372036854775808}", "large", "large must be a whole number");
}

static void test_words(void **state) {
    (void)state;
    assert_good("{\"flag\":false,\"colour\":\"dark red\",\"at\":\"2026-11-16T13:00:00Z\"}");
    assert_fault("{\"flag\":\"true\"}", "flag", "flag must be true or false");
    assert_fault("{\"flag\":0}", "flag", "flag must be true or false");
    assert_fault("{\"colour\":\"Red\"}", "colour", "colour must be one of red, dark red");
    assert_fault("{\"colour\":\"\"}", "colour", "colour must be one of red, dark red");
    assert_fault("{\"at\":\"2026-11-16\"}", "at",
                 "at must be a date and time with a zone: 2026-11-16T13:00:00Z");
}

/* A fault within a value names the way there. */
static void test_places(void **state) {
    (void)state;
    assert_good("{\"seasons\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"season\":null}");
    assert_fault("{\"season\":{}}", "season.name", "season.name is missing");
    assert_fault("{\"season\":{\"name\":\"a\",\"colour\":1}}", "season.colour",
                 "season.colour is not known here");
    assert_fault("{\"seasons\":[{\"name\":\"a\"},{\"name\":\"abcde\"}]}", "seasons[1].name",
                 "seasons[1].name must have 1 to 4 characters");
    assert_fault("{\"seasons\":[]}", "seasons", "seasons must have 1 to 2 elements");
    assert_fault("{\"seasons\":[{\"name\":\"a\"},{\"name\":\"a\"},{\"name\":\"a\"}]}", "seasons",
                 "seasons must have 1 to 2 elements");
    assert_fault("{\"seasons\":[[]]}", "seasons[0]", "seasons[0] must be an object");
    assert_fault("{\"names\":[\"a\",\"\"]}", "names[1]", "names[1] must have 1 to 2048 characters");
    assert_good("{\"colours\":[\"red\",\"dark red\"]}");
    assert_fault("{\"colours\":[\"red\",\"blue\"]}", "colours[1]",
                 "colours[1] must be one of red, dark red");
    assert_fault("{\"colors\":1}", "colors", "colors is not known here");
    assert_fault("[]", "", "the body must be a JSON object");
    assert_fault("null", "", "the body must be a JSON object");
}

static void test_whatever(void **state) {
    (void)state;
    assert_good("{\"map\":{},\"any\":null}");
    assert_good("{\"map\":{\"a\":[1,{\"b\":null}]},\"any\":[[]]}");
    assert_fault("{\"map\":[]}", "map", "map must be an object");
}

/* Parameters of a query are the same kinds, as text. */
static void test_parameters(void **state) {
    (void)state;
    assert_int_equal(form_check_text(&fields[3], BYTES("7"), (struct scope){&f.arena, &f.failure}),
                     OK);
    assert_int_equal(form_check_text(&fields[3], BYTES("+7"), (struct scope){&f.arena, &f.failure}),
                     INVALID);
    assert_bytes_equal(f.failure.text, BYTES("count must be a whole number from -3 to 10"));
    assert_int_equal(form_check_text(&fields[3], BYTES(""), (struct scope){&f.arena, &f.failure}),
                     INVALID);
    assert_int_equal(form_check_text(&fields[3], BYTES("-"), (struct scope){&f.arena, &f.failure}),
                     INVALID);
    assert_int_equal(
        form_check_text(&fields[5], BYTES("true"), (struct scope){&f.arena, &f.failure}), OK);
    assert_int_equal(
        form_check_text(&fields[5], BYTES("True"), (struct scope){&f.arena, &f.failure}), INVALID);
    assert_int_equal(
        form_check_text(&fields[2], BYTES("1e3"), (struct scope){&f.arena, &f.failure}), OK);
}

static void test_reading(void **state) {
    (void)state;
    assert_good("{\"free\":null,\"count\":-3,\"flag\":true,\"at\":\"1970-01-01T00:00:01Z\","
                "\"large\":null,\"number\":\"7\"}");
    assert_null(form_get(&f.json, "free"));
    assert_null(form_get(&f.json, "text"));
    assert_int_equal(form_text(&f.json, "free").size, 0);
    assert_int_equal(form_count(&f.json, "count", 5), -3);
    assert_int_equal(form_count(&f.json, "large", 5), 5);
    assert_true(form_flag(&f.json, "flag", false));
    assert_true(form_flag(&f.json, "other", true));
    assert_int_equal(form_time(&f.json, "at", 5), 1000);
    assert_int_equal(form_time(&f.json, "other", 5), 5);
    assert_true(form_number(&f.json, "number", &f.arena).size != 0);
    assert_int_equal(form_number(&f.json, "other", &f.arena).size, 0);
}

static void assert_schema(size_t field, const char *expected) {
    struct buf text = {0};
    form_put_schema(&text, &fields[field]);
    assert_bytes_equal(buf_bytes(&text), bytes_str(expected));
    buf_release(&text);
}

static void test_schemas(void **state) {
    (void)state;
    assert_schema(0, "{\"type\":\"string\",\"minLength\":2,\"maxLength\":4}");
    assert_schema(1, "{\"type\":[\"string\",\"null\"],\"description\":\"Anything\"}");
    assert_schema(3, "{\"type\":\"integer\",\"minimum\":-3,\"maximum\":10}");
    assert_schema(6, "{\"type\":\"string\",\"enum\":[\"red\",\"dark red\"]}");
    assert_schema(9,
                  "{\"anyOf\":[{\"$ref\":\"#/components/schemas/Season\"},{\"type\":\"null\"}]}");
    assert_schema(10, "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Season\"},"
                      "\"minItems\":1,\"maxItems\":2}");
    assert_schema(12, "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"red\","
                      "\"dark red\"]}}");
    assert_schema(13, "{}");
    struct buf text = {0};
    form_put_object(&text, &season);
    assert_bytes_equal(buf_bytes(&text),
                       BYTES("{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","
                             "\"minLength\":1,\"maxLength\":4},\"starts\":{\"type\":\"string\","
                             "\"format\":\"date-time\"}},\"required\":[\"name\"]}"));
    buf_release(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_places, setup, teardown),
        cmocka_unit_test_setup_teardown(test_whatever, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parameters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reading, setup, teardown),
        cmocka_unit_test(test_schemas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

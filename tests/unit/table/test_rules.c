/* The rules, by the sentences clients know. */
#include "table/rules.h"
#include "test.h"
#include "value/number.h"

#define WERE_INVALID "One or more parameter values were invalid: "
#define NOT_VALID    "One or more parameter values are not valid. "

struct fixture {
    struct arena arena;
    struct failure failure;
    struct table_schema schema;
    struct rules_context rules;
};

static struct key_part definitions[] = {{{(const uint8_t *)"pk", 2}, VALUE_S},
                                        {{(const uint8_t *)"sk", 2}, VALUE_N},
                                        {{(const uint8_t *)"l", 1}, VALUE_S},
                                        {{(const uint8_t *)"g", 1}, VALUE_S},
                                        {{(const uint8_t *)"h", 1}, VALUE_B}};
static struct bytes included[] = {{(const uint8_t *)"inc", 3}};
static struct index_schema indexes[4];

/* pk S, sk N; local "lsi" (pk, l) of keys; global "gsi" (g, h) with inc; global "many"
 * (g, pk; sk, l, h) of all; global "hash" (g) of all. */
static void setup(struct fixture *f) {
    struct key_part pk = definitions[0], sk = definitions[1], l = definitions[2],
                    g = definitions[3], h = definitions[4];
    *f = (struct fixture){0};
    arena_init(&f->arena);
    indexes[0] =
        (struct index_schema){.name = BYTES("lsi"),
                              .local = true,
                              .keys = {.parts = {pk, l}, .partition_count = 1, .sort_count = 1},
                              .projected = PROJECTED_KEYS};
    indexes[1] =
        (struct index_schema){.name = BYTES("gsi"),
                              .keys = {.parts = {g, h}, .partition_count = 1, .sort_count = 1},
                              .projected = PROJECTED_INCLUDED,
                              .included = included,
                              .included_count = 1};
    indexes[2] = (struct index_schema){
        .name = BYTES("many"),
        .keys = {.parts = {g, pk, sk, l, h}, .partition_count = 2, .sort_count = 3}};
    indexes[3] =
        (struct index_schema){.name = BYTES("hash"), .keys = {.parts = {g}, .partition_count = 1}};
    f->schema =
        (struct table_schema){.name = BYTES("game"),
                              .attributes = definitions,
                              .attribute_count = 5,
                              .keys = {.parts = {pk, sk}, .partition_count = 1, .sort_count = 1},
                              .indexes = indexes,
                              .index_count = 4};
    f->rules = (struct rules_context){&f->schema, &f->arena, &f->failure};
}

static void teardown(struct fixture *f) {
    arena_release(&f->arena);
}

/* "S:text", "N:12", "B:bytes", "S*2049" (so many letters), "BOOL". */
static struct value value_of(struct arena *arena, const char *text) {
    struct value value = {.type = value_type_named(bytes_of(text, 1))};
    if (strcmp(text, "BOOL") == 0)
        return value_bool(true);
    value.bytes = bytes_str(text + 2);
    if (text[1] == '*') {
        size_t size = (size_t)atoi(text + 2);
        value.bytes = bytes_of(memset(arena_alloc(arena, size), 'x', size), size);
    } else if (value.type == VALUE_N)
        assert_int_equal(number_read(arena, value.bytes, &value.bytes), NUMBER_OK);
    return value;
}

static struct item item_of(struct arena *arena, ...) {
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, 16);
    uint32_t count = 0;
    va_list args;
    va_start(args, arena);
    for (const char *name; (name = va_arg(args, const char *)) != NULL; count++)
        pairs[count] = (struct pair){bytes_str(name), value_of(arena, va_arg(args, const char *))};
    va_end(args);
    return (struct item){pairs, value_sort_pairs(pairs, count)};
}

static void expect(struct fixture *f, enum status status, const char *text) {
    if (text == NULL) {
        if (status != OK)
            print_message("%.*s\n", BYTES_ARG(f->failure.text));
        assert_int_equal(status, OK);
        return;
    }
    assert_int_equal(status, INVALID);
    assert_string_equal(arena_str(&f->arena, f->failure.text), text);
}

#define check_item(text, ...)                                     \
    do {                                                          \
        struct item item_ = item_of(&f.arena, __VA_ARGS__, NULL); \
        expect(&f, rules_check_item(&f.rules, &item_), text);     \
    } while (0)

static void test_items(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    check_item(NULL, "pk", "S:a", "sk", "N:1", "g", "S:x", "other", "BOOL");
    check_item(WERE_INVALID "Missing the key pk in the item", "sk", "N:1");
    check_item(WERE_INVALID "Missing the key sk in the item", "pk", "S:a");
    check_item(WERE_INVALID "Type mismatch for key pk expected: S actual: N", "pk", "N:1", "sk",
               "N:1");
    check_item(WERE_INVALID "Type mismatch for key sk expected: N actual: BOOL", "pk", "S:a", "sk",
               "BOOL");
    check_item(NOT_VALID "The AttributeValue for a key attribute cannot contain an empty string "
                         "value. Key: pk",
               "pk", "S:", "sk", "N:1");
    check_item(WERE_INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes",
               "pk", "S*2049", "sk", "N:1");
    check_item(NULL, "pk", "S*2048", "sk", "N:1");
    check_item(WERE_INVALID "Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi",
               "pk", "S:a", "sk", "N:1", "g", "N:1", "l", "N:1");
    check_item(WERE_INVALID
               "Type mismatch for Index Key l Expected: S Actual: BOOL IndexName: many",
               "pk", "S:a", "sk", "N:1", "l", "BOOL");
    check_item(NOT_VALID "A value specified for a secondary index key is not supported. The "
                         "AttributeValue for a key attribute cannot contain an empty binary value. "
                         "IndexName: gsi, IndexKey: h",
               "pk", "S:a", "sk", "N:1", "h", "B:");
    check_item(WERE_INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes",
               "pk", "S:a", "sk", "N:1", "g", "S*2049");
    check_item(WERE_INVALID
               "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
               "pk", "S:a", "sk", "N:1", "l", "S*1025");
    check_item("Item size has exceeded the maximum allowed size", "pk", "S:a", "sk", "N:1", "x",
               "S*409600");
    teardown(&f);
}

static void test_keys(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    static const char *const wrong = "The provided key element does not match the schema";
    struct item key = item_of(&f.arena, "pk", "S:a", "sk", "N:1", NULL);
    expect(&f, rules_check_key(&f.rules, &key), NULL);
    key = item_of(&f.arena, "pk", "S:a", NULL);
    expect(&f, rules_check_key(&f.rules, &key), wrong);
    key = item_of(&f.arena, "pk", "S:a", "sk", "S:1", NULL);
    expect(&f, rules_check_key(&f.rules, &key), wrong);
    key = item_of(&f.arena, "pk", "S:a", "other", "N:1", NULL);
    expect(&f, rules_check_key(&f.rules, &key), wrong);
    key = item_of(&f.arena, "pk", "S:a", "sk", "N:1", "more", "N:1", NULL);
    expect(&f, rules_check_key(&f.rules, &key), wrong);
    key = item_of(&f.arena, "pk", "S:", "sk", "N:1", NULL);
    expect(&f, rules_check_key(&f.rules, &key),
           NOT_VALID "The AttributeValue for a key attribute cannot contain an empty string value. "
                     "Key: pk");
    teardown(&f);
}

static void test_updates(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct expr_value values[] = {{BYTES(":v"), value_string(BYTES("x")), false}};
    struct expr_env env = {.values = values, .value_count = 1};
    struct expr_source source = {"UpdateExpression", BYTES("SET sk = :v"), &env, &f.arena,
                                 &f.failure};
    struct update *update;
    assert_int_equal(update_parse(&source, &update), OK);
    expect(&f, rules_check_update(&f.rules, update),
           WERE_INVALID "Cannot update attribute sk. This attribute is part of the key");
    source.text = BYTES("SET g = :v");
    assert_int_equal(update_parse(&source, &update), OK);
    expect(&f, rules_check_update(&f.rules, update), NULL);

    source.text = BYTES("SET h = :v");
    assert_int_equal(update_parse(&source, &update), OK);
    expect(&f, rules_check_update(&f.rules, update),
           WERE_INVALID "Type mismatch for Index Key h Expected: B Actual: S IndexName: gsi");
    source.text = BYTES("SET g.x = :v");
    assert_int_equal(update_parse(&source, &update), OK);
    expect(&f, rules_check_update(&f.rules, update),
           "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
           "allowed: IndexKey: g");

    struct item item = item_of(&f.arena, "pk", "S:a", "sk", "N:1", "g", "N:1", NULL);
    expect(&f, rules_check_updated(&f.rules, &item),
           "The update expression attempted to update the secondary index key to unsupported type");
    item = item_of(&f.arena, "pk", "S:a", "sk", "N:1", "g", "S:", NULL);
    expect(&f, rules_check_updated(&f.rules, &item),
           NOT_VALID "The update expression attempted to update a secondary index key to a value "
                     "that is not supported. The AttributeValue for a key attribute cannot contain "
                     "an empty string value.");
    item = item_of(&f.arena, "pk", "S:a", "sk", "N:1", "x", "S*409600", NULL);
    expect(&f, rules_check_updated(&f.rules, &item),
           "Item size to update has exceeded the maximum allowed size");
    teardown(&f);
}

/* --- key conditions --- */

static struct key_condition condition_of(struct arena *arena, ...) {
    struct key_condition condition = {0};
    va_list args;
    va_start(args, arena);
    for (const char *name; (name = va_arg(args, const char *)) != NULL;) {
        struct key_test *test = &condition.tests[condition.count++];
        test->name = bytes_str(name);
        test->op = (enum key_op)va_arg(args, int);
        test->low = test->high = value_of(arena, va_arg(args, const char *));
    }
    va_end(args);
    return condition;
}

#define check_range(index, text, ...)                                                \
    do {                                                                             \
        struct key_condition condition_ = condition_of(&f.arena, __VA_ARGS__, NULL); \
        expect(&f, rules_check_range(&f.rules, index, &condition_, &range), text);   \
    } while (0)

static void test_ranges(void **state) {
    (void)state;
    struct fixture f;
    struct key_range range;
    setup(&f);
    const struct index_schema *many = &indexes[2];
    check_range(NULL, NULL, "pk", KEY_EQ, "S:a");
    assert_true(!range.ranged && range.equal_count == 0);
    check_range(NULL, NULL, "sk", KEY_GT, "N:3", "pk", KEY_EQ, "S:a");
    assert_true(range.ranged && range.op == KEY_GT);
    check_range(NULL, NULL, "sk", KEY_EQ, "N:3", "pk", KEY_EQ, "S:a");
    assert_true(!range.ranged && range.equal_count == 1);
    check_range(NULL, "Query condition missed key schema element: pk", "sk", KEY_EQ, "N:1");
    check_range(NULL, "Query condition missed key schema element: pk", "x", KEY_EQ, "N:1");
    check_range(NULL, "Query condition missed key schema element: sk", "pk", KEY_EQ, "S:a", "x",
                KEY_EQ, "N:1");
    check_range(NULL, "Query key condition not supported", "pk", KEY_GT, "S:a");
    check_range(&indexes[3], "Query key condition not supported", "g", KEY_EQ, "S:a", "x", KEY_EQ,
                "N:1");
    check_range(NULL, WERE_INVALID "Condition parameter type does not match schema type", "pk",
                KEY_EQ, "N:1");
    check_range(NULL, WERE_INVALID "Condition parameter type does not match schema type", "pk",
                KEY_EQ, "S:a", "sk", KEY_LT, "S:1");
    check_range(NULL, "Conditions can be of length 1 or 2 only", "pk", KEY_EQ, "S:a", "sk", KEY_EQ,
                "N:1", "x", KEY_EQ, "N:1");
    check_range(
        NULL,
        NOT_VALID
        "The AttributeValue for a key attribute cannot contain an empty string value. Key: pk",
        "pk", KEY_EQ, "S:");
    check_range(
        &indexes[0],
        NOT_VALID
        "A value specified for a secondary index key is not supported. The AttributeValue for a "
        "key attribute cannot contain an empty string value. IndexName: lsi, IndexKey: l",
        "pk", KEY_EQ, "S:a", "l", KEY_BEGINS, "S:");

    check_range(many, NULL, "g", KEY_EQ, "S:a", "pk", KEY_EQ, "S:b");
    check_range(many, NULL, "g", KEY_EQ, "S:a", "pk", KEY_EQ, "S:b", "sk", KEY_EQ, "N:1", "l",
                KEY_LT, "S:x");
    assert_true(range.ranged && range.equal_count == 1);
    check_range(many, "Query condition missed key schema element: pk", "g", KEY_EQ, "S:a");
    check_range(many, "Query condition missed key schema element: sk", "g", KEY_EQ, "S:a", "pk",
                KEY_EQ, "S:b", "l", KEY_EQ, "S:b");
    check_range(many, "Query key condition not supported", "g", KEY_EQ, "S:a", "pk", KEY_EQ, "S:b",
                "sk", KEY_LT, "N:1", "l", KEY_EQ, "S:b");
    teardown(&f);
}

/* --- start keys --- */

#define check_start(index, range, text, ...)                                  \
    do {                                                                      \
        struct item start_ = item_of(&f.arena, __VA_ARGS__, NULL);            \
        expect(&f, rules_check_start(&f.rules, index, range, &start_), text); \
    } while (0)

static void test_starts(void **state) {
    (void)state;
    struct fixture f;
    struct key_range range;
    setup(&f);
    const struct index_schema *gsi = &indexes[1];
    check_range(NULL, NULL, "pk", KEY_EQ, "S:a");
    check_start(NULL, &range, NULL, "pk", "S:a", "sk", "N:7");
    check_start(NULL, &range, "The provided starting key is invalid", "pk", "S:a");
    check_start(NULL, &range, "The provided starting key is invalid", "pk", "S:a", "x", "N:1");
    check_start(NULL, &range, "The provided key element does not match the schema", "pk", "S:a",
                "sk", "S:1");
    check_start(
        NULL, &range,
        "The provided starting key is outside query boundaries based on provided conditions", "pk",
        "S:b", "sk", "N:1");
    check_range(NULL, NULL, "pk", KEY_EQ, "S:a", "sk", KEY_GT, "N:5");
    check_start(NULL, &range, "The provided starting key does not match the range key predicate",
                "pk", "S:a", "sk", "N:5");
    check_start(NULL, &range, "The query can return at most one row and cannot be restarted", "pk",
                "S:b", "sk", "N:6");
    check_range(gsi, NULL, "g", KEY_EQ, "S:a");
    check_start(gsi, &range, NULL, "pk", "S:z", "sk", "N:7", "g", "S:a", "h", "B:x");
    check_start(gsi, &range, "The provided starting key is invalid", "pk", "S:z", "sk", "N:7", "g",
                "S:a");
    check_start(
        gsi, &range,
        "The provided starting key is invalid: The provided key element does not match the schema",
        "pk", "S:z", "sk", "S:7", "g", "S:a", "h", "B:x");
    check_start(NULL, NULL, NULL, "pk", "S:a", "sk", "N:7");
    check_start(
        NULL, NULL,
        "The provided starting key is invalid: The provided key element does not match the schema",
        "pk", "S:a");
    check_start(gsi, NULL, "The provided starting key is invalid", "pk", "S:a", "sk", "N:1");
    teardown(&f);
}

/* --- select and filter --- */

/* As an engine checks them, with nothing between. */
static enum status check_select(const struct rules_context *rules, const struct index_schema *index,
                                const struct page_request *request, bool *fetch) {
    enum status status = rules_check_consistent(rules, index, request, fetch);
    return status == OK ? rules_check_select(rules, index, request) : status;
}

static void test_selects(void **state) {
    (void)state;
    struct fixture f;
    bool fetch;
    setup(&f);
    const struct index_schema *lsi = &indexes[0], *gsi = &indexes[1], *hash = &indexes[3];
    struct bytes names[] = {BYTES("inc"), BYTES("oth"), BYTES("pk"), BYTES("foo")};
    const struct projection *projection = projection_of_names(names, 4, &f.arena);
    expect(&f,
           check_select(&f.rules, NULL,
                        &(struct page_request){
                            .select = SELECT_ALL, .consistent = true, .projection = projection},
                        &fetch),
           NULL);
    expect(&f, check_select(&f.rules, gsi, &(struct page_request){.consistent = true}, &fetch),
           "Consistent reads are not supported on global secondary indexes");
    expect(&f, check_select(&f.rules, gsi, &(struct page_request){.select = SELECT_ALL}, &fetch),
           WERE_INVALID "Select type ALL_ATTRIBUTES is not supported for global secondary index "
                        "gsi because its projection type is not ALL");
    expect(&f, check_select(&f.rules, hash, &(struct page_request){.select = SELECT_ALL}, &fetch),
           NULL);
    expect(&f,
           check_select(&f.rules, gsi,
                        &(struct page_request){.select = SELECT_SPECIFIC, .projection = projection},
                        &fetch),
           WERE_INVALID "Global secondary index gsi does not project [oth, foo]");
    expect(&f,
           check_select(&f.rules, lsi,
                        &(struct page_request){.select = SELECT_SPECIFIC,
                                               .consistent = true,
                                               .projection = projection},
                        &fetch),
           NULL);
    assert_true(fetch);
    expect(&f,
           check_select(&f.rules, lsi,
                        &(struct page_request){.select = SELECT_PROJECTED, .consistent = true},
                        &fetch),
           NULL);
    assert_false(fetch);
    expect(&f, check_select(&f.rules, lsi, &(struct page_request){.select = SELECT_ALL}, &fetch),
           NULL);
    assert_true(fetch);
    teardown(&f);
}

/* As an engine checks the filter of a query. */
static enum status check_filter(const struct rules_context *rules, const struct index_schema *index,
                                const struct page_request *request, bool fetch) {
    enum status status =
        rules_check_filter_keys(rules, index, request->filter, request->filter_legacy);
    return status == OK ? rules_check_filter_shown(rules, index, request->filter, fetch) : status;
}

static void test_filters(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct expr_value values[] = {{BYTES(":v"), value_string(BYTES("x")), false}};
    struct expr_env env = {.values = values, .value_count = 1};
    struct expr_source source = {"FilterExpression", BYTES("oth = :v and sk = :v"), &env, &f.arena,
                                 &f.failure};
    struct condition *filter;
    assert_int_equal(condition_parse(&source, &filter), OK);
    expect(&f, check_filter(&f.rules, NULL, &(struct page_request){.filter = filter}, false),
           "Filter Expression can only contain non-primary key attributes: Primary key attribute: "
           "sk");
    expect(&f,
           check_filter(&f.rules, NULL,
                        &(struct page_request){.filter = filter, .filter_legacy = true}, false),
           "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk");
    expect(&f, check_filter(&f.rules, &indexes[1], &(struct page_request){.filter = filter}, false),
           WERE_INVALID
           "Secondary index gsi does not project one or more filter attributes: [oth]");
    expect(&f, check_filter(&f.rules, &indexes[3], &(struct page_request){.filter = filter}, false),
           NULL);
    expect(&f, check_filter(&f.rules, &indexes[0], &(struct page_request){.filter = filter}, true),
           NULL);
    teardown(&f);
}

static void test_paths(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct expr_value values[] = {{BYTES(":v"), value_string(BYTES("x")), false}};
    struct expr_env env = {.values = values, .value_count = 1};
    struct expr_source source = {"FilterExpression", BYTES("a.b = :v and NOT g[0] = :v"), &env,
                                 &f.arena, &f.failure};
    struct condition *filter;
    struct projection *projection;
    assert_int_equal(condition_parse(&source, &filter), OK);
    expect(&f, rules_check_paths(&f.rules, NULL, filter),
           "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
           "allowed: IndexKey: g");
    source.text = BYTES("a.b, sk[1]");
    assert_int_equal(projection_parse(&source, &projection), OK);
    expect(&f, rules_check_paths(&f.rules, projection, filter),
           "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
           "allowed: Key: sk");
    source.text = BYTES("a.b, sk, g");
    assert_int_equal(projection_parse(&source, &projection), OK);
    expect(&f, rules_check_paths(&f.rules, projection, NULL), NULL);
    teardown(&f);
}

/* --- tables --- */

static void test_tables(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    expect(&f, rules_check_table(&f.rules), NULL);
    f.schema.attribute_count = 4; /* h is not defined */
    expect(&f, rules_check_table(&f.rules),
           WERE_INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: "
                        "[g, h], AttributeDefinitions: [pk, sk, l, g]");
    f.schema.index_count = 1;
    expect(&f, rules_check_table(&f.rules),
           WERE_INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [pk, sk, l, "
                        "g], keys used: [pk, sk, l]");
    f.schema.index_count = 0;
    expect(&f, rules_check_table(&f.rules),
           WERE_INVALID "Number of attributes in KeySchema does not exactly match number of "
                        "attributes defined in AttributeDefinitions");
    f.schema.attribute_count = 1;
    expect(&f, rules_check_table(&f.rules),
           "Invalid KeySchema: Some index key attribute have no definition");
    f.schema.attribute_count = 2;
    expect(&f, rules_check_table(&f.rules), NULL);
    f.schema.keys.parts[1] = f.schema.keys.parts[0];
    expect(&f, rules_check_table(&f.rules),
           "Both the Hash Key and the Range Key element in the KeySchema have the same name");
    teardown(&f);
}

static void test_indexes(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    indexes[3].name = BYTES("gsi");
    expect(&f, rules_check_table(&f.rules), WERE_INVALID "Duplicate index name: gsi");
    indexes[3].name = BYTES("lsi");
    expect(&f, rules_check_table(&f.rules), WERE_INVALID "Duplicate index name: lsi");
    teardown(&f);
    setup(&f);
    indexes[1].included_count = 0;
    expect(&f, rules_check_table(&f.rules),
           WERE_INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
    indexes[1].included_count = 1;
    indexes[1].projected = PROJECTED_KEYS;
    expect(&f, rules_check_table(&f.rules),
           WERE_INVALID "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified");
    teardown(&f);
    setup(&f);
    indexes[0].keys.parts[0] = definitions[3];
    expect(&f, rules_check_table(&f.rules),
           WERE_INVALID "Index KeySchema does not have the same leading hash key as table "
                        "KeySchema for index: lsi. index hash key: g, table hash key: pk");
    teardown(&f);
    setup(&f);
    indexes[0].keys.sort_count = 0;
    expect(&f, rules_check_table(&f.rules),
           WERE_INVALID "Index KeySchema does not have a range key for index: lsi");
    teardown(&f);
    setup(&f);
    f.schema.keys.sort_count = 0;
    expect(&f, rules_check_table(&f.rules),
           WERE_INVALID "Table KeySchema does not have a range key, which is required when "
                        "specifying a LocalSecondaryIndex");
    teardown(&f);
    setup(&f);
    indexes[2].keys.parts[3] = indexes[2].keys.parts[0];
    expect(&f, rules_check_table(&f.rules),
           "The KeySchema contains multiple key attributes with the same name");
    teardown(&f);
}

static void test_projecting(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct item item = item_of(&f.arena, "pk", "S:a", "sk", "N:1", "g", "S:x", "h", "B:x", "inc",
                               "S:i", "oth", "S:o", NULL);
    struct item want =
        item_of(&f.arena, "pk", "S:a", "sk", "N:1", "g", "S:x", "h", "B:x", "inc", "S:i", NULL);
    struct item shown = rules_project(&f.schema, &indexes[1], &item, &f.arena);
    assert_true(item_equal(&shown, &want));
    shown = rules_project(&f.schema, &indexes[3], &item, &f.arena);
    assert_true(item_equal(&shown, &item));
    want = item_of(&f.arena, "pk", "S:a", "sk", "N:1", "g", "S:x", NULL);
    shown = rules_key_of(&f.schema, &indexes[3], &item, &f.arena);
    assert_true(item_equal(&shown, &want));
    assert_true(rules_indexed(&indexes[1], &item));
    assert_false(rules_indexed(&indexes[0], &item)); /* no l */
    teardown(&f);
}

static void test_units(void **state) {
    (void)state;
    assert_true(rules_read_units(0, false) == 0.5 && rules_read_units(0, true) == 1);
    assert_true(rules_read_units(4096, true) == 1 && rules_read_units(4097, true) == 2);
    assert_true(rules_read_units(4097, false) == 1);
    assert_true(rules_write_units(0, 0) == 1 && rules_write_units(0, 1024) == 1);
    assert_true(rules_write_units(2000, 1) == 2 && rules_write_units(1, 1025) == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),      cmocka_unit_test(test_keys),
        cmocka_unit_test(test_updates),    cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_starts),     cmocka_unit_test(test_selects),
        cmocka_unit_test(test_filters),    cmocka_unit_test(test_paths),
        cmocka_unit_test(test_tables),     cmocka_unit_test(test_indexes),
        cmocka_unit_test(test_projecting), cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

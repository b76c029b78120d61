/* Statements to plans: which become queries, of what, and which are refused with which words; and
 * that a plan finds exactly the items its WHERE holds for. */
#include "api/partiql/ql_ast.h"
#include "base/random.h"
#include "test.h"
#include "value/number.h"

static const struct key_part pk = {{(const uint8_t *)"pk", 2}, VALUE_S};
static const struct key_part sk = {{(const uint8_t *)"sk", 2}, VALUE_N};
static const struct key_part g = {{(const uint8_t *)"g", 1}, VALUE_S};
static const struct key_part h = {{(const uint8_t *)"h", 1}, VALUE_N};
static const struct key_part i1 = {{(const uint8_t *)"i1", 2}, VALUE_S};

struct fixture {
    struct arena arena;
    struct failure failure;
    struct index_schema indexes[2];
    struct table_schema schema;
    struct ql_statement *statement;
    struct ql_plan plan;
};

static void fixture_open(struct fixture *f) {
    memset(f, 0, sizeof *f);
    arena_init(&f->arena);
    f->indexes[0] = (struct index_schema){
        .name = BYTES("by-g"), .keys = {.parts = {g, h}, .partition_count = 1, .sort_count = 1}};
    f->indexes[1] = (struct index_schema){
        .name = BYTES("by-two"),
        .keys = {.parts = {g, i1, h, sk}, .partition_count = 2, .sort_count = 2}};
    f->schema = (struct table_schema){
        .name = BYTES("game"),
        .keys = {.parts = {pk, sk}, .partition_count = 1, .sort_count = 1},
        .indexes = f->indexes,
        .index_count = 2,
    };
}

static void fixture_close(struct fixture *f) {
    arena_release(&f->arena);
}

static enum status plan(struct fixture *f, const char *text, const struct value *parameters,
                        size_t count) {
    struct ql_source source = {.text = bytes_str(text),
                               .parameters = parameters,
                               .parameter_count = count,
                               .arena = &f->arena,
                               .failure = &f->failure};
    enum status status = ql_parse(&source, &f->statement);
    return status == OK
               ? ql_plan(f->statement, &f->schema, (struct scope){&f->arena, &f->failure}, &f->plan)
               : status;
}

/* --- plans as text --- */

static void put_value(struct buf *to, const struct value *value) {
    if (value->type == VALUE_N)
        number_write(to, value->bytes);
    else
        buf_put(to, value->bytes);
}

static void put_test(struct buf *to, const struct key_test *test) {
    static const char *const ops[] = {"=", "<", "<=", ">", ">=", "between", "begins"};
    buf_printf(to, "%.*s %s ", BYTES_ARG(test->name), ops[test->op]);
    put_value(to, &test->low);
    if (test->op == KEY_BETWEEN) {
        buf_lit(to, " and ");
        put_value(to, &test->high);
    }
}

static void put_item(struct buf *to, const struct item *item) {
    for (uint32_t i = 0; i < item->count; i++) {
        buf_printf(to, " %.*s ", BYTES_ARG(item->pairs[i].name));
        put_value(to, &item->pairs[i].value);
    }
}

static void put_page(struct buf *to, const struct page_request *page) {
    for (unsigned i = 0; page->keys != NULL && i < page->keys->count; i++) {
        if (i > 0)
            buf_lit(to, ", ");
        put_test(to, &page->keys->tests[i]);
    }
    if (page->filter != NULL)
        buf_lit(to, " filtered");
    if (page->backward)
        buf_lit(to, " backward");
}

static const char *told(struct fixture *f, const char *text) {
    struct buf to = {0};
    if (plan(f, text, NULL, 0) != OK) {
        buf_printf(&to, "! %.*s", BYTES_ARG(f->failure.text));
    } else if (ql_kind(f->statement) == QL_SELECT) {
        buf_put(&to, f->plan.single  ? BYTES("get")
                     : f->plan.query ? BYTES("query")
                                     : BYTES("scan"));
        for (uint32_t i = 0; i < f->plan.page_count; i++) {
            if (i > 0)
                buf_lit(&to, " |");
            if (f->plan.query)
                buf_byte(&to, ' ');
            put_page(&to, &f->plan.pages[i]);
        }
    } else {
        static const char *const kinds[] = {"put", "update", "delete", "check"};
        buf_put(&to, bytes_str(kinds[f->plan.action.kind]));
        put_item(&to, &f->plan.key);
        if (f->plan.action.condition != NULL)
            buf_lit(&to, " if");
        if (f->plan.conditional)
            buf_lit(&to, " more");
    }
    char *out = arena_str(&f->arena, buf_bytes(&to));
    buf_release(&to);
    return out;
}

static const char *const cases[][2] = {
    /* by the partition key: a query, with the sort key as far as it goes */
    {"SELECT * FROM game WHERE pk='a'", "query pk = a"},
    {"SELECT * FROM game WHERE 'a'=pk AND v=1", "query pk = a filtered"},
    {"SELECT * FROM game WHERE pk='a' AND sk=2", "get pk = a, sk = 2"},
    {"SELECT * FROM game WHERE sk=2 AND pk='a'", "get pk = a, sk = 2"},
    {"SELECT * FROM game WHERE pk='a' AND sk=2 AND v=1", "query pk = a, sk = 2 filtered"},
    {"SELECT * FROM game WHERE pk='a' AND sk>2", "query pk = a, sk > 2"},
    {"SELECT * FROM game WHERE pk='a' AND 2>sk", "query pk = a, sk < 2"},
    {"SELECT * FROM game WHERE pk='a' AND 2<=sk", "query pk = a, sk >= 2"},
    {"SELECT * FROM game WHERE pk='a' AND sk BETWEEN 1 AND 2", "query pk = a, sk between 1 and 2"},
    {"SELECT * FROM game WHERE pk='a' AND sk>1 AND sk<4", "query pk = a, sk > 1 filtered"},
    {"SELECT * FROM game WHERE pk='a' AND sk>1 AND sk=4", "query pk = a, sk = 4 filtered"},
    {"SELECT * FROM game WHERE pk='a' AND (sk>1 AND (v=1 AND t='x'))",
     "query pk = a, sk > 1 filtered"},
    {"SELECT * FROM game WHERE pk='a' AND (sk>1 OR v=1)", "query pk = a filtered"},
    {"SELECT * FROM game WHERE pk='a' AND NOT sk=1", "query pk = a filtered"},
    {"SELECT * FROM game WHERE pk='a' AND sk IN [1,2]", "query pk = a filtered"},
    {"SELECT * FROM game WHERE pk='a' AND pk='b'", "query pk = a filtered"},
    /* several */
    {"SELECT * FROM game WHERE pk IN ['b','a'] AND sk>1", "query pk = b, sk > 1 | pk = a, sk > 1"},
    {"SELECT * FROM game WHERE pk IN ('a','a')", "query pk = a filtered"},
    {"SELECT * FROM game WHERE pk='a' OR pk='b'", "query pk = a | pk = b"},
    {"SELECT * FROM game WHERE (pk='a' AND sk=1) OR (sk<2 AND pk='b')",
     "query pk = a, sk = 1 | pk = b, sk < 2"},
    {"SELECT * FROM game WHERE (pk='a' OR pk='b') AND sk=1",
     "query pk = a, sk = 1 | pk = b, sk = 1"},
    {"SELECT * FROM game WHERE (pk='a' AND sk>1) OR (pk='a' AND sk<3)", "query pk = a filtered"},
    {"SELECT * FROM game WHERE pk='a' OR (pk IN ['b','c'] AND v=1)",
     "query pk = a | pk = b filtered | pk = c filtered"},
    /* scans */
    {"SELECT * FROM game", "scan"},
    {"SELECT * FROM game WHERE sk=1", "scan filtered"},
    {"SELECT * FROM game WHERE pk>'a'", "scan filtered"},
    {"SELECT * FROM game WHERE pk='a' OR sk=1", "scan filtered"},
    {"SELECT * FROM game WHERE NOT pk='a'", "scan filtered"},
    {"SELECT * FROM game WHERE pk IN ['a', v]", "scan filtered"},
    {"SELECT * FROM game WHERE pk.x='a'", "scan filtered"},
    {"SELECT * FROM game WHERE begins_with(pk,'a')", "scan filtered"},
    /* indexes */
    {"SELECT * FROM game.\"by-g\" WHERE g='x'", "query g = x"},
    {"SELECT * FROM game.\"by-g\" WHERE g='x' AND h=1", "query g = x, h = 1"},
    {"SELECT * FROM game.\"by-g\" WHERE pk='x'", "scan filtered"},
    {"SELECT * FROM game.\"by-two\" WHERE g='x'", "scan filtered"},
    {"SELECT * FROM game.\"by-two\" WHERE g='x' AND i1='y' AND sk=1",
     "query g = x, i1 = y filtered"},
    {"SELECT * FROM game.\"by-two\" WHERE g IN ['x','z'] AND i1='y' AND h=2 AND sk>1",
     "query g = x, i1 = y, h = 2, sk > 1 | g = z, i1 = y, h = 2, sk > 1"},
    {"SELECT * FROM game.\"by-one\"", "! The table does not have the specified index: by-one"},
    /* order */
    {"SELECT * FROM game WHERE pk='a' ORDER BY sk DESC", "query pk = a backward"},
    {"SELECT * FROM game WHERE pk='a' ORDER BY sk ASC", "query pk = a"},
    {"SELECT * FROM game WHERE pk IN ['b','a','c'] ORDER BY pk", "query pk = a | pk = b | pk = c"},
    {"SELECT * FROM game WHERE pk IN ['b','a'] ORDER BY pk DESC, sk DESC",
     "query pk = b backward | pk = a backward"},
    {"SELECT * FROM game WHERE pk='a' ORDER BY v",
     "! Variable reference v in ORDER BY clause must be part of the primary key"},
    {"SELECT * FROM game WHERE sk=1 ORDER BY sk",
     "! Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY "
     "clause."},
    {"SELECT * FROM game ORDER BY sk",
     "! Must have WHERE clause in the statement when using ORDER BY clause."},
    /* writes */
    {"INSERT INTO game VALUE {'pk':'a','sk':1,'v':2}", "put pk a sk 1 if"},
    {"INSERT INTO game VALUE {'pk':'a'}", "! Key attribute should be present in the item: Key sk"},
    {"UPDATE game SET v=1 WHERE sk=1 AND pk='a'", "update pk a sk 1 if"},
    {"UPDATE game SET v=1 WHERE sk=1 AND pk='a' AND v=2", "update pk a sk 1 if more"},
    {"UPDATE game SET v=1 WHERE pk='a'",
     "! Where clause does not contain a mandatory equality on all key attributes"},
    {"UPDATE game SET v=1 WHERE pk='a' AND sk='x'",
     "! Key attribute's data type should match its data type in table's schema: Key sk"},
    {"UPDATE game SET v=1 WHERE pk='a' AND sk=1 AND sk=2",
     "! Multiple conditions on same key sk. Only single item Update/Insert/Delete are supported"},
    {"DELETE FROM game WHERE pk='a' AND sk=1", "delete pk a sk 1"},
    {"DELETE FROM game WHERE pk='a' AND sk=1 AND v=1", "delete pk a sk 1 if more"},
    {"EXISTS(SELECT * FROM game WHERE pk='a' AND sk=1 AND v=1)", "check pk a sk 1 if more"},
    {"EXISTS(SELECT * FROM game WHERE pk='a' AND sk=1)",
     "! EXISTS() must contain a single item read with additional condition"},
    /* what is no statement, and what is not done */
    {"SELECT * FROM game WHERE",
     "! Statement wasn't well formed, can't be processed: SELECT * FROM "
     "game WHERE"},
    {"SELECT * FROM game WHERE level = 1", "! Statement wasn't well formed, can't be processed: "
                                           "SELECT * FROM game WHERE level = 1"},
    {"SELECT * FROM game WHERE \"level\" = 1", "scan filtered"},
    {"SELECT * FROM game /* all */ -- of it", "scan"},
    {"SELECT * FROM game;", "scan"},
    {"SELECT * FROM game; SELECT * FROM game",
     "! Statement wasn't well formed, can't be processed: SELECT * FROM game; SELECT * FROM game"},
    {"SELECT COUNT(*) FROM game", "! Unexpected path component at 1:8:5"},
    {"SELECT pk AS p FROM game", "! Aliasing is not supported"},
    {"SELECT pk FROM game\nLIMIT 5", "! Unsupported clause: LIMIT at 2:7:1"},
    {"SELECT pk FROM game WHERE v", "! WHERE clause must contain an expression that resolves to a "
                                    "boolean"},
    {"SELECT pk FROM game WHERE v + 1 = 2",
     "! Unsupported operator in Condition Expression. Operator: +"},
    {"SELECT pk FROM game WHERE pk = ?",
     "! Number of parameters in request and statement don't match."},
    {"SELECT pk FROM game WHERE pk = 1",
     "! Key attribute's data type should match its data type in table's schema: Key pk"},
    {"SELECT pk FROM game WHERE v BETWEEN 2 AND 1",
     "! The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
     "lower "
     "bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"},
    {"UPDATE game SET s = set_add(t, <<1>>) WHERE pk='a' AND sk=1",
     "! The first argument to SET_ADD must equal the assignment value"},
    {"DROP TABLE game", "! Unsupported operation: DropTable"},
};

static void test_plans(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        fixture_open(&f);
        const char *out = told(&f, cases[i][0]);
        if (strcmp(out, cases[i][1]) != 0)
            fail_msg("%s\n  gives  %s\n  not    %s", cases[i][0], out, cases[i][1]);
        fixture_close(&f);
    }
}

static void test_parameters(void **state) {
    (void)state;
    struct fixture f;
    fixture_open(&f);
    struct value given[2] = {value_string(BYTES("it's")), {.type = VALUE_N}};
    given[1].bytes = number_from_int(&f.arena, 7);
    assert_int_equal(plan(&f, "SELECT * FROM game WHERE pk=? AND sk=?", given, 2), OK);
    assert_true(f.plan.single);
    assert_true(value_equal(item_get(&f.plan.get.key, pk.name), &given[0]));
    assert_int_equal(plan(&f, "SELECT * FROM game WHERE pk='it''s' AND sk=7", NULL, 0), OK);
    assert_true(value_equal(item_get(&f.plan.get.key, pk.name), &given[0]));
    assert_true(value_equal(item_get(&f.plan.get.key, sk.name), &given[1]));
    assert_int_equal(plan(&f, "SELECT * FROM game WHERE pk=?", given, 2), INVALID);
    assert_int_equal(plan(&f, "SELECT * FROM game WHERE pk=? AND sk=?", given, 1), INVALID);
    fixture_close(&f);
}

/* a.b[1] is shown as b[1], a['c d'] as c d. */
static void test_show(void **state) {
    (void)state;
    struct fixture f;
    fixture_open(&f);
    assert_int_equal(
        plan(&f, "INSERT INTO game VALUE {'pk':'k','sk':1,'a':{'b':[1,'two'],'c d':3}}", NULL, 0),
        OK);
    struct item item = f.plan.action.item;
    assert_int_equal(plan(&f, "SELECT a.b[1], a['c d'], a.\"no\", sk FROM game", NULL, 0), OK);
    struct item shown = ql_show(f.statement, &item, &f.arena);
    assert_int_equal(shown.count, 3);
    assert_bytes_equal(item_get(&shown, BYTES("b[1]"))->bytes, BYTES("two"));
    assert_int_equal(item_get(&shown, BYTES("c d"))->type, VALUE_N);
    assert_non_null(item_get(&shown, BYTES("sk")));
    fixture_close(&f);
}

/* --- depth --- */

static void test_depth(void **state) {
    (void)state;
    static const char *const parts[] = {"(", "NOT ", "[", "-", "size("};
    for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
        struct fixture f;
        struct buf text = {0};
        fixture_open(&f);
        buf_lit(&text, "SELECT * FROM game WHERE v = ");
        while (text.size < 8000)
            buf_put(&text, bytes_str(parts[p]));
        buf_byte(&text, 0);
        assert_int_equal(plan(&f, (char *)text.data, NULL, 0), INVALID);
        buf_release(&text);
        fixture_close(&f);
    }
}

/* --- a model: every item the WHERE holds for is found once, no other at all --- */

enum { ITEMS = 3 * 4 };

static void put_random_test(struct buf *to, struct random *random) {
    unsigned a = (unsigned)random_below(random, 3), n = (unsigned)random_below(random, 4);
    switch (random_below(random, 9)) {
    case 0:
    case 1:
    case 2:
        buf_printf(to, "pk = '%c'", 'a' + a);
        break;
    case 3:
        buf_printf(to, "pk IN ['%c', '%c']", 'a' + a, 'a' + n % 3);
        break;
    case 4:
        buf_printf(to, "sk = %u", n);
        break;
    case 5:
        buf_printf(to, "sk %s %u", a == 0 ? "<" : a == 1 ? ">=" : "<>", n);
        break;
    case 6:
        buf_printf(to, "sk BETWEEN %u AND %u", n, n + a);
        break;
    case 7:
        buf_printf(to, "%u > sk", n);
        break;
    default:
        buf_printf(to, "v = %u", a);
    }
}

static void put_random_where(struct buf *to, struct random *random, unsigned depth) {
    if (depth == 0 || random_below(random, 4) == 0) {
        put_random_test(to, random);
        return;
    }
    if (random_below(random, 6) == 0)
        buf_lit(to, "NOT ");
    buf_byte(to, '(');
    put_random_where(to, random, depth - 1);
    buf_put(to, random_below(random, 2) == 0 ? BYTES(" AND ") : BYTES(" OR "));
    put_random_where(to, random, depth - 1);
    buf_byte(to, ')');
}

static bool test_holds(const struct key_test *test, const struct item *item) {
    int low = value_compare(item_get(item, test->name), &test->low);
    switch (test->op) {
    case KEY_EQ:
        return low == 0;
    case KEY_LT:
        return low < 0;
    case KEY_LE:
        return low <= 0;
    case KEY_GT:
        return low > 0;
    case KEY_GE:
        return low >= 0;
    case KEY_BETWEEN:
        return low >= 0 && value_compare(item_get(item, test->name), &test->high) <= 0;
    case KEY_BEGINS:
        break;
    }
    return false;
}

static unsigned times_found(struct fixture *f, const struct item *item) {
    unsigned times = 0;
    for (uint32_t p = 0; p < f->plan.page_count; p++) {
        const struct page_request *page = &f->plan.pages[p];
        bool found = page->filter == NULL || condition_holds(page->filter, item, &f->arena);
        for (unsigned i = 0; page->keys != NULL && i < page->keys->count; i++)
            found = found && test_holds(&page->keys->tests[i], item);
        times += found;
    }
    return times;
}

static void make_items(struct fixture *f, struct item *items) {
    static const char *const names[] = {"a", "b", "c"};
    for (int64_t i = 0; i < ITEMS; i++) {
        struct pair *pairs = ARENA_ARRAY(&f->arena, struct pair, 3);
        pairs[0] = (struct pair){BYTES("pk"), value_string(bytes_str(names[i % 3]))};
        pairs[1] = (struct pair){BYTES("sk"), {.type = VALUE_N}};
        pairs[1].value.bytes = number_from_int(&f->arena, i / 3);
        pairs[2] = (struct pair){BYTES("v"), {.type = VALUE_N}};
        pairs[2].value.bytes = number_from_int(&f->arena, (i * 7) % 3);
        items[i] = (struct item){pairs, 3};
    }
}

static void test_model(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    unsigned queries = 0;
    for (int round = 0; round < 3000; round++) {
        struct fixture f;
        struct item items[ITEMS];
        struct buf text = {0};
        struct condition *where;
        fixture_open(&f);
        make_items(&f, items);
        buf_lit(&text, "SELECT * FROM game WHERE ");
        put_random_where(&text, &random, 3);
        buf_byte(&text, 0);
        if (plan(&f, (char *)text.data, NULL, 0) != OK)
            fail_msg("%s: %.*s", (char *)text.data, BYTES_ARG(f.failure.text));
        queries += f.plan.query;
        assert_int_equal(build_condition(ql_translate(&f.arena, f.statement->where),
                                         (struct scope){&f.arena, &f.failure}, &where),
                         OK);
        for (int i = 0; i < ITEMS; i++)
            if (times_found(&f, &items[i]) != condition_holds(where, &items[i], &f.arena))
                fail_msg("%s: item %d is found %u times", (char *)text.data, i,
                         times_found(&f, &items[i]));
        buf_release(&text);
        fixture_close(&f);
    }
    assert_true(queries > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans), cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_show),  cmocka_unit_test(test_depth),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

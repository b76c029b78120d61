/* What is too long, too deep or too many, and what is only just not. */
#include "test.h"

#include "base/limits.h"
#include "expr/expr.h"
#include "value/number.h"

struct fixture {
    struct arena arena;
    struct buf text;
    struct failure failure;
    struct expr_value value;
    struct expr_env env;
};

static void begin(struct fixture *f) {
    *f = (struct fixture){0};
    arena_init(&f->arena);
    f->value.alias = BYTES(":n");
    f->value.value = (struct value){.type = VALUE_N, .bytes = number_from_int(&f->arena, 1)};
    f->env.values = &f->value;
    f->env.value_count = 1;
}

static void end(struct fixture *f) {
    buf_release(&f->text);
    arena_release(&f->arena);
}

static void repeat(struct fixture *f, const char *text, unsigned times, const char *between) {
    for (unsigned i = 0; i < times; i++)
        buf_printf(&f->text, "%s%s", i == 0 ? "" : between, text);
}

static struct expr_source source(struct fixture *f, const char *parameter) {
    return (struct expr_source){parameter, buf_bytes(&f->text), &f->env, &f->arena, &f->failure};
}

/* Parses the text and expects the fault, or none if NULL; then forgets the text. */
static void expect_condition(struct fixture *f, const char *fault) {
    struct condition *condition;
    struct expr_source from = source(f, "C");
    enum status status = condition_parse(&from, &condition);
    assert_int_equal(status, fault == NULL ? OK : INVALID);
    if (fault != NULL)
        assert_bytes_equal(f->failure.text, bytes_str(fault));
    buf_clear(&f->text);
}

static void expect_update(struct fixture *f, const char *fault) {
    struct update *update;
    struct expr_source from = source(f, "U");
    enum status status = update_parse(&from, &update);
    assert_int_equal(status, fault == NULL ? OK : INVALID);
    if (fault != NULL)
        assert_bytes_equal(f->failure.text, bytes_str(fault));
    buf_clear(&f->text);
}

static void test_size(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    repeat(&f, "a = :n", 1, "");
    repeat(&f, " ", LIMIT_EXPRESSION_SIZE - 6, "");
    expect_condition(&f, NULL);
    repeat(&f, "a = :n", 1, "");
    repeat(&f, " ", LIMIT_EXPRESSION_SIZE - 5, "");
    expect_condition(&f, "Invalid C: Expression size has exceeded the maximum allowed size; "
                         "expression size: 4097");
    end(&f);
}

static void test_operators(void **state) {
    (void)state;
    static const char many[] =
        "Invalid C: The expression contains too many operators; operator count: 301";
    struct fixture f;
    begin(&f);
    repeat(&f, "a = :n", 150, " OR ");
    expect_condition(&f, NULL);
    repeat(&f, "a = :n", 151, " OR ");
    expect_condition(&f, many);
    repeat(&f, "size(a)=:n", 101, " OR ");
    expect_condition(&f, "Invalid C: The expression contains too many operators; "
                         "operator count: 301");
    repeat(&f, "NOT ", 300, "");
    repeat(&f, "a = :n", 1, "");
    expect_condition(&f, many);
    repeat(&f, ":n", LIMIT_IN_OPERANDS, ",");
    struct bytes list = arena_copy(&f.arena, buf_bytes(&f.text));
    buf_clear(&f.text);
    buf_printf(&f.text, "a IN (%.*s)", BYTES_ARG(list));
    expect_condition(&f, NULL);
    buf_printf(&f.text, "a IN (:n,%.*s)", BYTES_ARG(list));
    expect_condition(&f, "Invalid C: The IN operator is provided with too many operands; number "
                         "of operands: 101");
    end(&f);
}

static void test_depth(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    repeat(&f, "a", LIMIT_NESTING, ".");
    buf_lit(&f.text, " = :n");
    expect_condition(&f, NULL);
    repeat(&f, "a", LIMIT_NESTING + 1, ".");
    buf_lit(&f.text, " = :n");
    expect_condition(&f, "Invalid C: The document path has too many nesting levels; nesting "
                         "levels: 33");
    /* Parentheses nest as deep as there are operators to need them. */
    repeat(&f, "(a=:n AND ", 140, "");
    buf_lit(&f.text, "a=:n");
    repeat(&f, ")", 140, "");
    expect_condition(&f, NULL);
    /* Nothing deep enough to hurt gets further than a fault. */
    repeat(&f, "(", LIMIT_EXPRESSION_SIZE, "");
    expect_condition(&f, "Invalid C: The expression contains too many operators; "
                         "operator count: 301");
    repeat(&f, "f(", LIMIT_EXPRESSION_SIZE / 2, "");
    expect_condition(&f, "Invalid C: The expression contains too many operators; "
                         "operator count: 301");
    buf_lit(&f.text, "SET a=");
    repeat(&f, "(", LIMIT_EXPRESSION_SIZE - 6, "");
    expect_update(&f, "Invalid U: The expression contains too many operators; "
                      "operator count: 301");
    end(&f);
}

static void test_many_paths(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    buf_lit(&f.text, "REMOVE ");
    for (unsigned i = 0; i < 700; i++)
        buf_printf(&f.text, "%sn%x", i == 0 ? "" : ",", i);
    expect_update(&f, NULL);
    buf_lit(&f.text, "REMOVE ");
    for (unsigned i = 0; i < 700; i++)
        buf_printf(&f.text, "%sn%x", i == 0 ? "" : ",", i);
    buf_lit(&f.text, ",n7f.b");
    expect_update(&f, "Invalid U: Two document paths overlap with each other; must remove or "
                      "rewrite one of these paths; path one: [n7f], path two: [n7f, b]");
    end(&f);
}

/* An update that nests deeper than items may. */
static void test_document_depth(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    struct value *deep = &f.value.value;
    for (unsigned i = 0; i < LIMIT_NESTING - 1; i++) {
        struct value *inner = ARENA_NEW(&f.arena, struct value);
        *inner = *deep;
        *deep = (struct value){.type = VALUE_L, .count = 1, .elements = inner};
    }
    struct pair top = {BYTES("m"), {.type = VALUE_M}};
    struct item item = {&top, 1}, out;
    struct update *update;
    buf_lit(&f.text, "SET q = :n");
    struct expr_source from = source(&f, "U");
    assert_int_equal(update_parse(&from, &update), OK);
    assert_int_equal(update_apply(update, &item, (struct scope){&f.arena, &f.failure}, &out), OK);
    buf_clear(&f.text);
    buf_lit(&f.text, "SET m.q = :n");
    from = source(&f, "U");
    assert_int_equal(update_parse(&from, &update), OK);
    assert_int_equal(update_apply(update, &item, (struct scope){&f.arena, &f.failure}, &out),
                     INVALID);
    assert_bytes_equal(f.failure.text, BYTES("Nesting Levels have exceeded supported limits"));
    end(&f);
}

static enum status check_alias(struct fixture *f, struct bytes alias) {
    struct expr_name name = {.alias = alias};
    struct expr_env env = {.names = &name, .name_count = 1};
    return expr_check_names(&env, (struct scope){&f->arena, &f->failure});
}

static void test_aliases(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(check_alias(&f, BYTES("#a_1")), OK);
    assert_int_equal(check_alias(&f, BYTES("#1")), OK);
    assert_int_equal(check_alias(&f, BYTES("a")), INVALID);
    assert_bytes_equal(
        f.failure.text,
        BYTES("ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\""));
    assert_int_equal(check_alias(&f, BYTES("#")), INVALID);
    assert_int_equal(check_alias(&f, BYTES(":a")), INVALID);
    assert_int_equal(check_alias(&f, BYTES("#a-b")), INVALID);
    buf_lit(&f.text, "#");
    repeat(&f, "a", LIMIT_EXPRESSION_TOKEN_SIZE - 1, "");
    assert_int_equal(check_alias(&f, buf_bytes(&f.text)), OK);
    buf_lit(&f.text, "a");
    assert_int_equal(check_alias(&f, buf_bytes(&f.text)), INVALID);
    f.value.alias = BYTES("#n");
    assert_int_equal(expr_check_values(&f.env, (struct scope){&f.arena, &f.failure}), INVALID);
    f.value.alias = BYTES(":n");
    assert_int_equal(expr_check_values(&f.env, (struct scope){&f.arena, &f.failure}), OK);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size),           cmocka_unit_test(test_operators),
        cmocka_unit_test(test_depth),          cmocka_unit_test(test_many_paths),
        cmocka_unit_test(test_document_depth), cmocka_unit_test(test_aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A text that was read before gives the tree that reading it again would give. */
#include "test.h"

#include "base/limits.h"
#include "expr/condition.h"
#include "expr/parse_cache.h"
#include "value/number.h"

struct fixture {
    struct arena arena;
    struct failure failure;
    struct expr_name name;
    struct expr_value values[2];
    struct expr_env env;
};

static void begin(struct fixture *f) {
    *f = (struct fixture){.name = {BYTES("#n"), BYTES("status"), false}};
    arena_init(&f->arena);
    f->values[0] = (struct expr_value){
        BYTES(":a"), {.type = VALUE_N, .bytes = number_from_int(&f->arena, 1)}, false};
    f->values[1] = (struct expr_value){
        BYTES(":b"), {.type = VALUE_N, .bytes = number_from_int(&f->arena, 2)}, false};
    f->env = (struct expr_env){&f->name, 1, f->values, 2};
}

/* Each time from a copy of the text, as each request has its own. */
static struct expr_source source_of(struct fixture *f, const char *text) {
    return (struct expr_source){.parameter = "Expression",
                                .text = arena_copy(&f->arena, bytes_str(text)),
                                .env = &f->env,
                                .arena = &f->arena,
                                .failure = &f->failure};
}

static void assert_inside(struct bytes part, struct bytes text) {
    if (part.size == 0 || bytes_equal(part, BYTES("status")))
        return;
    assert_true(part.data >= text.data && part.data + part.size <= text.data + text.size);
}

static void assert_same_path(const struct path *a, const struct path *b, struct bytes text) {
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        assert_bytes_equal(a->steps[i].name, b->steps[i].name);
        assert_int_equal(a->steps[i].index, b->steps[i].index);
        assert_int_equal(a->steps[i].is_index, b->steps[i].is_index);
        assert_inside(b->steps[i].name, text);
    }
}

static void assert_same_node(const struct node *a, const struct node *b, struct bytes text) {
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->function, b->function);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->grouped, b->grouped);
    assert_true(bytes_equal(a->text, b->text));
    assert_inside(b->text, text);
    if (a->type == NODE_PATH)
        assert_same_path(&a->path, &b->path, text);
    if (a->type == NODE_VALUE)
        assert_ptr_equal(a->value, b->value);
    if (node_is_leaf(a))
        return;
    const struct node *x = a->first, *y = b->first;
    for (; x != NULL && y != NULL; x = x->next, y = y->next)
        assert_same_node(x, y, text);
    assert_ptr_equal(x, y);
}

static void conditions_are_the_same_again(void **state) {
    (void)state;
    static const char *const texts[] = {
        "a = :a",
        "attribute_exists(PK) AND #n <= :a",
        "NOT NOT (a.b[3].c > :a OR size(d) BETWEEN :a AND :b) AND x IN (:a, :b, y)",
        "(a = :a) AND (b = :b OR (NOT c < d))",
        "begins_with(#n.x, y) OR contains(z[0][12], :b)",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct fixture f;
        struct node *first, *second;
        begin(&f);
        struct expr_source one = source_of(&f, texts[i]), two = source_of(&f, texts[i]);
        assert_int_equal(condition_parse_tree(&one, &first), OK);
        assert_non_null(parse_cache_condition(&two));
        assert_int_equal(condition_parse_tree(&two, &second), OK);
        assert_same_node(first, second, two.text);
        arena_release(&f.arena);
    }
}

static void assert_same_update(const struct update *a, const struct update *b, struct bytes text) {
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        assert_int_equal(a->actions[i].type, b->actions[i].type);
        assert_same_path(&a->actions[i].path, &b->actions[i].path, text);
        assert_int_equal(a->actions[i].value == NULL, b->actions[i].value == NULL);
        if (a->actions[i].value != NULL)
            assert_same_node(a->actions[i].value, b->actions[i].value, text);
        assert_int_equal(a->set.targets[i].position, b->set.targets[i].position);
    }
}

static void updates_are_the_same_again(void **state) {
    (void)state;
    static const char *const texts[] = {
        "SET x = :a ADD wins :b",
        "REMOVE a, b[2], #n.c SET d = if_not_exists(d, :a) + :b, e = (f - :a)",
        "ADD z :a, y :b, x.y :a, w :b, v :a, u :b",
        "SET l = list_append(l, k)",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct fixture f;
        struct update *first, *second, found = {0};
        begin(&f);
        struct expr_source one = source_of(&f, texts[i]), two = source_of(&f, texts[i]);
        assert_int_equal(update_parse(&one, &first), OK);
        assert_true(parse_cache_update(&two, &found));
        assert_int_equal(update_parse(&two, &second), OK);
        assert_same_update(first, second, two.text);
        arena_release(&f.arena);
    }
}

/* Aliases are bound anew: they may stand for something else, or for nothing. */
static void each_request_binds_its_own(void **state) {
    (void)state;
    struct fixture f;
    struct node *root;
    begin(&f);
    struct expr_source source = source_of(&f, "#n = :a");
    assert_int_equal(condition_parse_tree(&source, &root), OK);
    f.name.name = BYTES("other");
    assert_int_equal(condition_parse_tree(&source, &root), OK);
    assert_bytes_equal(root->first->path.steps[0].name, BYTES("other"));
    f.name.used = f.values[0].used = false;
    assert_int_equal(condition_parse_tree(&source, &root), OK);
    assert_true(f.name.used && f.values[0].used);
    f.env.value_count = 0;
    assert_int_equal(condition_parse_tree(&source, &root), INVALID);
    arena_release(&f.arena);
}

static void what_has_a_fault_is_not_kept(void **state) {
    (void)state;
    static const char *const texts[] = {"a = ", "status = :a", "size(a)", "a = :a)"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct fixture f;
        struct node *root;
        begin(&f);
        struct expr_source source = source_of(&f, texts[i]);
        assert_int_equal(condition_parse_tree(&source, &root), INVALID);
        assert_null(parse_cache_condition(&source));
        arena_release(&f.arena);
    }
}

/* Fills the text with `part` joined by AND, up to about `size` bytes. */
static struct expr_source long_source(struct fixture *f, const char *part, size_t size) {
    struct buf text = {0};
    buf_printf(&text, "%s", part);
    while (text.size < size)
        buf_printf(&text, " AND %s", part);
    struct expr_source source = source_of(f, "");
    source.text = arena_copy(&f->arena, buf_bytes(&text));
    buf_release(&text);
    return source;
}

static void what_is_too_long_is_read_each_time(void **state) {
    (void)state;
    struct fixture f;
    struct node *first, *second;
    begin(&f);
    struct expr_source one[] = {
        long_source(&f, "attribute_exists(a)", LIMIT_EXPRESSION_CACHE_TEXT),
        long_source(&f, "a=:a", LIMIT_EXPRESSION_CACHE_TEXT - 16), /* of too many parts */
    };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(condition_parse_tree(&one[i], &first), OK);
        assert_null(parse_cache_condition(&one[i]));
        assert_int_equal(condition_parse_tree(&one[i], &second), OK);
        assert_same_node(first, second, one[i].text);
    }
    arena_release(&f.arena);
}

/* More texts than there are slots take turns, and none is taken for another. */
static void many_texts_take_turns(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    unsigned known = 0;
    for (unsigned i = 0; i < 20 * LIMIT_EXPRESSION_CACHE_SLOTS; i++) {
        char text[32], name[16];
        struct node *root;
        snprintf(name, sizeof(name), "n%u", i % (3 * LIMIT_EXPRESSION_CACHE_SLOTS));
        snprintf(text, sizeof(text), "%s = :a", name);
        struct expr_source source = source_of(&f, text);
        known += parse_cache_condition(&source) != NULL;
        assert_int_equal(condition_parse_tree(&source, &root), OK);
        assert_bytes_equal(root->first->path.steps[0].name, bytes_str(name));
        assert_non_null(parse_cache_condition(&source));
    }
    assert_true(known < 20 * LIMIT_EXPRESSION_CACHE_SLOTS);
    arena_release(&f.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_are_the_same_again),
        cmocka_unit_test(updates_are_the_same_again),
        cmocka_unit_test(each_request_binds_its_own),
        cmocka_unit_test(what_has_a_fault_is_not_kept),
        cmocka_unit_test(what_is_too_long_is_read_each_time),
        cmocka_unit_test(many_texts_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

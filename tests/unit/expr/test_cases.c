/* Runs the .case files of tests/expr (make runs tests in the repository's root).
 *
 * A case is a block of `key: text` lines up to a blank line; # begins a comment line.
 *   item: names: values:      what the expression meets; in a block of its own: for all that follow
 *   condition: | key: | projection: | update:    the expression, or, as JSON, the older forms:
 *   tests: | keytests: [[name, operator, [value, ...]], ...]     any: true joins tests by OR
 *   changes: [[name, action, value], ...]
 *   gives: true or false; the item that comes out; or of a key condition its tests
 *   touched-old: touched-new: of an update, the parts it wrote before and after
 *   fails: the text of the fault
 */
#include "test.h"

#include "expr/expr.h"
#include "expr/legacy.h"
#include "json/attribute.h"

#include <dirent.h>

enum { FIELDS_MAX = 16 };

struct field {
    char key[16];
    struct bytes text;
};

struct test_case {
    const char *file;
    unsigned line;
    struct field fields[FIELDS_MAX];
    size_t count;
};

/* One case under way. */
struct run {
    struct arena *arena;
    const struct test_case *now, *defaults;
    struct expr_env env;
    struct item item;
    struct failure failure;
    struct buf got; /* what `gives` is compared with */
    struct item touched_old, touched_new;
};

static const struct bytes *field(const struct test_case *in, const char *key) {
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->fields[i].key, key) == 0)
            return &in->fields[i].text;
    return NULL;
}

static struct bytes field_or(const struct run *run, const char *key, struct bytes fallback) {
    const struct bytes *found = field(run->now, key);
    if (found == NULL)
        found = field(run->defaults, key);
    return found == NULL ? fallback : *found;
}

/* --- reading JSON --- */

static struct json read_json(const struct run *run, struct bytes text) {
    struct json json;
    size_t at;
    if (json_parse(text, run->arena, &json, &at) != OK)
        fail_msg("%s:%u: bad JSON: %.*s", run->now->file, run->now->line, BYTES_ARG(text));
    return json;
}

static struct item read_item(struct run *run, struct bytes text) {
    struct json json = read_json(run, text);
    struct item item;
    if (attribute_read_item(&json, (struct scope){run->arena, &run->failure}, &item) != OK)
        fail_msg("%s:%u: bad item: %.*s", run->now->file, run->now->line, BYTES_ARG(text));
    return item;
}

static struct value read_value(struct run *run, const struct json *json) {
    struct value value;
    if (attribute_read(json, (struct scope){run->arena, &run->failure}, &value) != OK)
        fail_msg("%s:%u: bad value", run->now->file, run->now->line);
    return value;
}

static void read_env(struct run *run) {
    struct json names = read_json(run, field_or(run, "names", BYTES("{}")));
    struct json values = read_json(run, field_or(run, "values", BYTES("{}")));
    run->env.names = ARENA_ARRAY(run->arena, struct expr_name, names.count);
    run->env.values = ARENA_ARRAY(run->arena, struct expr_value, values.count);
    for (uint32_t i = 0; i < names.count; i++)
        run->env.names[i] =
            (struct expr_name){names.members[i].name, names.members[i].value.text, false};
    for (uint32_t i = 0; i < values.count; i++)
        run->env.values[i] = (struct expr_value){values.members[i].name,
                                                 read_value(run, &values.members[i].value), false};
    run->env.name_count = names.count;
    run->env.value_count = values.count;
}

/* --- running --- */

static struct expr_source source_of(struct run *run, const char *parameter, struct bytes text) {
    return (struct expr_source){parameter, text, &run->env, run->arena, &run->failure};
}

/* Names and values of the case itself must be used; defaults need not be. */
static enum status check_unused(struct run *run) {
    struct expr_env own = run->env;
    if (field(run->now, "names") == NULL)
        own.name_count = 0;
    if (field(run->now, "values") == NULL)
        own.value_count = 0;
    return expr_check_unused(&own, (struct scope){run->arena, &run->failure});
}

static void put_truth(struct run *run, const struct condition *condition) {
    buf_printf(&run->got, "%s",
               condition_holds(condition, &run->item, run->arena) ? "true" : "false");
}

static void put_tests(struct run *run, const struct key_condition *key) {
    static const char *const ops[] = {"=", "<", "<=", ">", ">=", "between", "begins"};
    buf_lit(&run->got, "[");
    for (unsigned i = 0; i < key->count; i++) {
        const struct key_test *test = &key->tests[i];
        buf_printf(&run->got, "%s[\"%.*s\",\"%s\",", i == 0 ? "" : ",", BYTES_ARG(test->name),
                   ops[test->op]);
        attribute_write(&run->got, &test->low);
        if (test->op == KEY_BETWEEN) {
            buf_lit(&run->got, ",");
            attribute_write(&run->got, &test->high);
        }
        buf_lit(&run->got, "]");
    }
    buf_lit(&run->got, "]");
}

static enum status apply(struct run *run, const struct update *update) {
    struct item out;
    enum status status =
        update_apply(update, &run->item, (struct scope){run->arena, &run->failure}, &out);
    if (status != OK)
        return status;
    attribute_write_item(&run->got, &out);
    run->touched_old = update_touched(update, &run->item, run->arena);
    run->touched_new = update_touched(update, &out, run->arena);
    return OK;
}

static enum status run_expression(struct run *run, const char *kind, struct bytes text) {
    struct condition *condition;
    struct key_condition key;
    struct projection *projection;
    struct update *update;
    enum status status, unused;
    if (strcmp(kind, "condition") == 0) {
        struct expr_source source = source_of(run, "ConditionExpression", text);
        status = condition_parse(&source, &condition);
        if (status == OK)
            put_truth(run, condition);
    } else if (strcmp(kind, "key") == 0) {
        struct expr_source source = source_of(run, "KeyConditionExpression", text);
        status = key_condition_parse(&source, &key);
        if (status == OK)
            put_tests(run, &key);
    } else if (strcmp(kind, "projection") == 0) {
        struct expr_source source = source_of(run, "ProjectionExpression", text);
        status = projection_parse(&source, &projection);
        struct item out = {0};
        if (status == OK)
            out = projection_apply(projection, &run->item, run->arena);
        attribute_write_item(&run->got, &out);
    } else {
        struct expr_source source = source_of(run, "UpdateExpression", text);
        status = update_parse(&source, &update);
        if (status == OK && (unused = check_unused(run)) != OK)
            return unused;
        return status == OK ? apply(run, update) : status;
    }
    return status == OK ? check_unused(run) : status;
}

static struct legacy_test *read_tests(struct run *run, const struct json *json) {
    struct legacy_test *tests = ARENA_ARRAY(run->arena, struct legacy_test, json->count);
    for (uint32_t i = 0; i < json->count; i++) {
        const struct json *row = json->elements[i].elements, *list = &row[2];
        struct value *values = ARENA_ARRAY(run->arena, struct value, list->count);
        for (uint32_t j = 0; j < list->count; j++)
            values[j] = read_value(run, &list->elements[j]);
        tests[i] =
            (struct legacy_test){.name = row[0].text, .values = values, .count = list->count};
        assert_true(legacy_op_named(row[1].text, &tests[i].op));
    }
    return tests;
}

static enum status run_changes(struct run *run, const struct json *json) {
    struct legacy_change *changes = ARENA_ARRAY(run->arena, struct legacy_change, json->count);
    for (uint32_t i = 0; i < json->count; i++) {
        const struct json *row = json->elements[i].elements;
        changes[i].name = row[0].text;
        changes[i].action = bytes_equal(row[1].text, BYTES("PUT"))   ? LEGACY_PUT
                            : bytes_equal(row[1].text, BYTES("ADD")) ? LEGACY_ADD
                                                                     : LEGACY_DELETE;
        if (json->elements[i].count > 2) {
            struct value *value = ARENA_NEW(run->arena, struct value);
            *value = read_value(run, &row[2]);
            changes[i].value = value;
        }
    }
    struct update *update;
    enum status status =
        legacy_update(changes, json->count, (struct scope){run->arena, &run->failure}, &update);
    return status == OK ? apply(run, update) : status;
}

static enum status run_legacy(struct run *run, const char *kind, struct bytes text) {
    struct json json = read_json(run, text);
    if (strcmp(kind, "changes") == 0)
        return run_changes(run, &json);
    struct legacy_test *tests = read_tests(run, &json);
    if (strcmp(kind, "keytests") == 0) {
        struct key_condition key;
        enum status status = legacy_key_condition(tests, json.count,
                                                  (struct scope){run->arena, &run->failure}, &key);
        if (status == OK)
            put_tests(run, &key);
        return status;
    }
    struct condition *condition;
    struct legacy_tests joined = {tests, json.count, field(run->now, "any") != NULL};
    enum status status =
        legacy_condition(&joined, (struct scope){run->arena, &run->failure}, &condition);
    if (status == OK)
        put_truth(run, condition);
    return status;
}

/* --- comparing --- */

static bool differs(const struct run *run, const char *what, struct bytes expected,
                    struct bytes got) {
    if (bytes_equal(expected, got))
        return false;
    printf("%s:%u: %s\n  expected %.*s\n  got      %.*s\n", run->now->file, run->now->line, what,
           BYTES_ARG(expected), BYTES_ARG(got));
    return true;
}

/* Compares in the order and spelling that items are written in. */
static bool differs_item(struct run *run, const char *what, struct bytes expected,
                         struct bytes got) {
    struct item item = read_item(run, expected);
    struct buf text = {0};
    attribute_write_item(&text, &item);
    bool different = differs(run, what, buf_bytes(&text), got);
    buf_release(&text);
    return different;
}

static bool differs_touched(struct run *run, const char *key, const struct item *got) {
    const struct bytes *expected = field(run->now, key);
    if (expected == NULL)
        return false;
    struct buf text = {0};
    attribute_write_item(&text, got);
    bool different = differs_item(run, key, *expected, buf_bytes(&text));
    buf_release(&text);
    return different;
}

static bool compare(struct run *run, enum status status) {
    const struct bytes *gives = field(run->now, "gives"), *fails = field(run->now, "fails");
    if (status != OK) {
        assert_int_equal(run->failure.status, status);
        assert_int_equal(status, INVALID);
        return differs(run, "fails", fails != NULL ? *fails : BYTES("no fault"), run->failure.text);
    }
    struct bytes got = buf_bytes(&run->got);
    if (gives == NULL)
        return differs(run, "gives", fails != NULL ? *fails : BYTES("(nothing said)"), got);
    bool is_item = gives->size > 0 && gives->data[0] == '{';
    bool wrong =
        is_item ? differs_item(run, "gives", *gives, got) : differs(run, "gives", *gives, got);
    return differs_touched(run, "touched-old", &run->touched_old) ||
           differs_touched(run, "touched-new", &run->touched_new) || wrong;
}

static const char *const kinds[] = {"condition", "key",      "projection", "update",
                                    "tests",     "keytests", "changes"};

/* 1 if it went wrong. A case without an expression becomes the defaults. */
static unsigned run_case(const struct test_case *now, struct test_case *defaults) {
    struct arena arena;
    arena_init(&arena);
    struct run run = {.arena = &arena, .now = now, .defaults = defaults};
    unsigned wrong = 0;
    bool found = false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct bytes *text = field(now, kinds[i]);
        if (text == NULL)
            continue;
        found = true;
        read_env(&run);
        run.item = read_item(&run, field_or(&run, "item", BYTES("{}")));
        enum status status =
            i < 4 ? run_expression(&run, kinds[i], *text) : run_legacy(&run, kinds[i], *text);
        wrong += compare(&run, status);
    }
    if (!found)
        *defaults = *now;
    buf_release(&run.got);
    arena_release(&arena);
    return wrong;
}

/* --- files --- */

static void add_line(struct test_case *into, char *line) {
    char *colon = strchr(line, ':');
    if (colon == NULL || into->count == FIELDS_MAX)
        fail_msg("%s:%u: not a field: %s", into->file, into->line, line);
    struct field *to = &into->fields[into->count++];
    snprintf(to->key, sizeof(to->key), "%.*s", (int)(colon - line), line);
    char *text = colon + 1;
    if (*text == ' ')
        text++;
    to->text = bytes_str(text);
}

static unsigned run_text(const char *file, char *text) {
    struct test_case now = {.file = file}, defaults = {.file = file};
    unsigned line = 0, wrong = 0, count = 0;
    for (char *at = text, *end; at != NULL; at = end) {
        line++;
        end = strchr(at, '\n');
        if (end != NULL)
            *end++ = '\0';
        if (*at == '#')
            continue;
        if (*at != '\0') {
            if (now.count == 0)
                now.line = line;
            add_line(&now, at);
        }
        if ((*at == '\0' || end == NULL) && now.count > 0) {
            wrong += run_case(&now, &defaults);
            wrong += run_case(&now, &defaults); /* what was read is known now (parse_cache.h) */
            count++;
            now = (struct test_case){.file = file};
        }
    }
    printf("%s: %u cases, %u wrong\n", file, count, wrong);
    assert_true(count > 1);
    return wrong;
}

static unsigned run_file(const char *name) {
    char path[300];
    snprintf(path, sizeof(path), "tests/expr/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    assert_true(size > 0 && size < (1 << 20) - 1);
    unsigned wrong = run_text(path, text);
    free(text);
    return wrong;
}

static void test_all(void **state) {
    (void)state;
    DIR *folder = opendir("tests/expr");
    assert_non_null(folder);
    unsigned files = 0, wrong = 0;
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".case") != 0)
            continue;
        files++;
        wrong += run_file(entry->d_name);
    }
    closedir(folder);
    assert_true(files > 0);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

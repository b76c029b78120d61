/* The table of routes against the OpenAPI document that is written from it, and against itself. */
#include "test.h"

#include "api/rest/rest_form.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_route.h"

struct fixture {
    struct arena arena;
    struct buf text;
    struct json document;
};

static struct fixture f;

static int setup(void **state) {
    size_t at;
    (void)state;
    memset(&f, 0, sizeof(f));
    arena_init(&f.arena);
    rest_put_openapi(&f.text);
    return json_parse(buf_bytes(&f.text), &f.arena, &f.document, &at) == OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    buf_release(&f.text);
    arena_release(&f.arena);
    return 0;
}

static const struct json *get(const struct json *object, const char *name) {
    const struct json *member = json_get(object, bytes_str(name));
    if (member == NULL)
        fail_msg("the document has no %s", name);
    return member;
}

static const struct json *operation_of(const struct route *route) {
    char path[200], method[16] = "";
    snprintf(path, sizeof(path), "/v1%s", route->path);
    for (size_t i = 0; route->method[i] != '\0'; i++)
        method[i] = (char)(route->method[i] | 0x20);
    return get(get(get(&f.document, "paths"), path), method);
}

/* Every route is told, once, under a name of its own. */
static void test_operations(void **state) {
    size_t told = 0;
    (void)state;
    assert_true(rest_route_count > 20);
    for (size_t i = 0; i < rest_route_count; i++) {
        const struct json *operation = operation_of(&rest_routes[i]);
        assert_bytes_equal(get(operation, "operationId")->text, bytes_str(rest_routes[i].id));
        for (size_t j = 0; j < i; j++)
            if (strcmp(rest_routes[i].id, rest_routes[j].id) == 0)
                fail_msg("two routes are called %s", rest_routes[i].id);
    }
    const struct json *paths = get(&f.document, "paths");
    for (uint32_t i = 0; i < paths->count; i++) {
        told += paths->members[i].value.count;
        for (uint32_t j = 0; j < i; j++)
            assert_false(bytes_equal(paths->members[i].name, paths->members[j].name));
    }
    assert_int_equal(told, rest_route_count);
}

static bool has_parameter(const struct json *operation, const char *name, size_t size,
                          const char *in) {
    const struct json *list = get(operation, "parameters");
    for (uint32_t i = 0; i < list->count; i++)
        if (bytes_equal(get(&list->elements[i], "name")->text, bytes_of(name, size)) &&
            bytes_equal(get(&list->elements[i], "in")->text, bytes_str(in)))
            return true;
    return false;
}

/* Each {argument} of a path and each parameter of a query is described. */
static void test_parameters(void **state) {
    (void)state;
    for (size_t i = 0; i < rest_route_count; i++) {
        const struct route *route = &rest_routes[i];
        const struct json *operation = operation_of(route);
        size_t expected = 0, arguments = 0, queries = 0;
        for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
            if (!has_parameter(operation, at + 1, strcspn(at + 1, "}"), "path"))
                fail_msg("%s: %s is not described", route->id, at);
            arguments++;
        }
        for (const struct form_field *field = route->query; field != NULL && field->name != NULL;
             field++, queries++)
            assert_true(has_parameter(operation, field->name, strlen(field->name), "query"));
        expected = arguments + queries + ((route->flags & ROUTE_SCORES) != 0) +
                   ((route->flags & ROUTE_IDEMPOTENT) != 0) + ((route->flags & ROUTE_TAGGED) != 0);
        assert_int_equal(get(operation, "parameters")->count, expected);
        assert_true(arguments <= PATH_ARGUMENTS_MAX);
        assert_true(queries + ((route->flags & ROUTE_SCORES) != 0) <= QUERY_MAX);
    }
}

/* What a method means holds of every route: GET changes nothing and has no body. */
static void test_methods(void **state) {
    (void)state;
    for (size_t i = 0; i < rest_route_count; i++) {
        const struct route *route = &rest_routes[i];
        bool get_it = strcmp(route->method, "GET") == 0;
        if (get_it && ((route->flags & ROUTE_WRITES) != 0 || route->body != NULL))
            fail_msg("%s: a GET that writes or takes a body", route->id);
        if (!get_it && (route->flags & ROUTE_TAGGED) != 0)
            fail_msg("%s: only a GET has an ETag", route->id);
        if ((route->flags & ROUTE_IDEMPOTENT) != 0 && (route->flags & ROUTE_WRITES) == 0)
            fail_msg("%s: a key for what may be repeated anyway", route->id);
        assert_non_null(route->run);
        assert_true(route->about != NULL && route->about[0] != '\0');
    }
}

/* "#/components/KIND/NAME" is there. */
static void assert_ref(struct bytes ref, const struct json *components) {
    static const char *const kinds[] = {"schemas", "responses"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        char begin[64];
        snprintf(begin, sizeof(begin), "#/components/%s/", kinds[i]);
        if (bytes_starts(ref, bytes_str(begin)) &&
            json_get(get(components, kinds[i]), bytes_skip(ref, strlen(begin))) != NULL)
            return;
    }
    fail_msg("there is no %.*s", BYTES_ARG(ref));
}

static void assert_refs(const struct json *value, const struct json *components) {
    if (value->type == JSON_ARRAY)
        for (uint32_t i = 0; i < value->count; i++)
            assert_refs(&value->elements[i], components);
    if (value->type != JSON_OBJECT)
        return;
    for (uint32_t i = 0; i < value->count; i++) {
        const struct json_member *member = &value->members[i];
        if (bytes_equal(member->name, BYTES("$ref")))
            assert_ref(member->value.text, components);
        else
            assert_refs(&member->value, components);
    }
}

/* No reference leads nowhere, no schema is there twice or lacks a property that it requires. */
static void test_schemas(void **state) {
    const struct json *schemas = get(get(&f.document, "components"), "schemas");
    (void)state;
    assert_refs(&f.document, get(&f.document, "components"));
    for (uint32_t i = 0; i < schemas->count; i++) {
        const struct json *schema = &schemas->members[i].value;
        const struct json *required = json_get(schema, BYTES("required"));
        for (uint32_t j = 0; j < i; j++)
            assert_false(bytes_equal(schemas->members[i].name, schemas->members[j].name));
        for (uint32_t j = 0; required != NULL && j < required->count; j++)
            assert_non_null(json_get(get(schema, "properties"), required->elements[j].text));
    }
}

/* Every route finds itself, whatever its arguments say, and is not taken by one before it. */
static void test_found(void **state) {
    (void)state;
    for (size_t i = 0; i < rest_route_count; i++) {
        struct route_match match;
        struct buf path = {0};
        size_t count = 0, named = 0;
        buf_lit(&path, "/v1");
        for (const char *at = rest_routes[i].path; *at != '\0'; at++)
            if (*at == '{') {
                buf_printf(&path, "a%%2F%zu", count++);
                at += strcspn(at, "}");
            } else
                buf_byte(&path, (uint8_t)*at);
        enum route_found how =
            route_find(bytes_str(rest_routes[i].method), buf_bytes(&path), &f.arena, &match);
        if (how != ROUTE_FOUND || match.route != &rest_routes[i])
            fail_msg("%s is not found by its own path", rest_routes[i].id);
        for (; named < count; named++)
            assert_bytes_equal(match.arguments[named], arena_printf(&f.arena, "a/%zu", named));
        how = route_find(BYTES("BREW"), buf_bytes(&path), &f.arena, &match);
        assert_int_equal(how, ROUTE_OTHER_METHOD);
        assert_true(bytes_find(match.allow, bytes_str(rest_routes[i].method)) != SIZE_MAX);
        buf_release(&path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_operations, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parameters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_methods, setup, teardown),
        cmocka_unit_test_setup_teardown(test_schemas, setup, teardown),
        cmocka_unit_test_setup_teardown(test_found, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

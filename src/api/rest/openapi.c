/* The OpenAPI 3.1 document, written from the table of routes, and the index. */
#include "api/rest/rest_forms.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "api/rest/rest_route.h"
#include "base/limits.h"

enum { FORMS_MAX = 128 };

/* --- operations --- */

static void put_parameter(struct buf *to, const struct form_field *field, const char *in) {
    rest_put_comma(to);
    buf_byte(to, '{');
    rest_put_str(to, "name", field->name);
    rest_put_str(to, "in", in);
    rest_put_bool(to, "required", (field->flags & FORM_REQUIRED) != 0);
    if (field->about != NULL)
        rest_put_str(to, "description", field->about);
    struct form_field plain = *field;
    plain.about = NULL;
    rest_put_name(to, "schema");
    form_put_schema(to, &plain);
    buf_byte(to, '}');
}

static void put_path_parameters(struct buf *to, const char *path) {
    for (const char *at = strchr(path, '{'); at != NULL; at = strchr(at + 1, '{'))
        for (const struct form_field *field = route_arguments; field->name != NULL; field++)
            if (strlen(field->name) == strcspn(at + 1, "}") &&
                strncmp(at + 1, field->name, strlen(field->name)) == 0)
                put_parameter(to, field, "path");
}

static void put_header_parameters(struct buf *to, const struct route *route) {
    static const struct form_field key = {
        "Idempotency-Key", FORM_TEXT, 0, "Makes a repeat harmless for ten minutes", 1, 200};
    static const struct form_field match = {"If-None-Match", FORM_TEXT, 0,
                                            "The ETag of an earlier answer: 304 if it is still so"};
    if ((route->flags & ROUTE_IDEMPOTENT) != 0)
        put_parameter(to, &key, "header");
    if ((route->flags & ROUTE_TAGGED) != 0)
        put_parameter(to, &match, "header");
}

static void put_parameters(struct buf *to, const struct route *route) {
    rest_put_name(to, "parameters");
    buf_byte(to, '[');
    put_path_parameters(to, route->path);
    for (const struct form_field *field = route->query; field != NULL && field->name != NULL;
         field++)
        put_parameter(to, field, "query");
    if ((route->flags & ROUTE_SCORES) != 0)
        put_parameter(to, &route_numbers, "query");
    put_header_parameters(to, route);
    buf_byte(to, ']');
}

static void put_content(struct buf *to, const char *type, const struct form *form) {
    rest_put_name(to, "content");
    buf_printf(to, "{\"%s\":{\"schema\":{\"$ref\":\"#/components/schemas/%s\"}}}", type,
               form->name);
}

static void put_body(struct buf *to, const struct route *route) {
    if ((route->flags & ROUTE_CSV) != 0) {
        rest_put_name(to, "requestBody");
        buf_lit(to,
                "{\"required\":true,\"content\":{\"text/csv\":{\"schema\":{\"type\":\"string\"}}"
                ",\"application/x-ndjson\":{\"schema\":{\"type\":\"string\"}}}}");
    }
    if (route->body == NULL)
        return;
    rest_put_name(to, "requestBody");
    buf_byte(to, '{');
    rest_put_bool(to, "required", (route->flags & ROUTE_OPTIONAL) == 0);
    put_content(to, "application/json", route->body);
    buf_byte(to, '}');
}

static void put_done(struct buf *to, const struct route *route, int status, const char *about) {
    rest_put_comma(to);
    buf_printf(to, "\"%d\":{\"description\":\"%s\"", status, about);
    if (route->answer != NULL)
        put_content(to, "application/json", route->answer);
    buf_byte(to, '}');
}

static void put_responses(struct buf *to, const struct route *route) {
    rest_put_name(to, "responses");
    buf_byte(to, '{');
    put_done(to, route, route->status != 0 ? route->status : 200, "Done");
    if ((route->flags & ROUTE_MAKES) != 0)
        put_done(to, route, 201, "Made: it was not there before");
    if ((route->flags & ROUTE_TAGGED) != 0)
        buf_lit(to, ",\"304\":{\"description\":\"As it was\"}");
    buf_lit(to, ",\"405\":{\"$ref\":\"#/components/responses/OtherMethod\"}"
                ",\"431\":{\"$ref\":\"#/components/responses/ManyHeaders\"}");
    buf_lit(to, ",\"default\":{\"description\":\"A problem\"");
    put_content(to, "application/problem+json", &form_problem);
    buf_lit(to, "}}");
}

static void put_security(struct buf *to, const struct route *route) {
    static const char *const lists[] = {
        [TOUCHES_TABLE] = "[{\"key\":[]},{\"keyBasic\":[]}]",
        [TOUCHES_PLAYER] = "[{\"key\":[]},{\"keyBasic\":[]},{\"playerToken\":[]}]",
        [TOUCHES_GAME] = "[{\"key\":[]},{\"keyBasic\":[]},{\"playerToken\":[]}]",
        [TOUCHES_ROOM] =
            "[{\"key\":[]},{\"keyBasic\":[]},{\"playerToken\":[]},{\"invitation\":[]}]",
        [TOUCHES_JOIN] =
            "[{\"key\":[]},{\"keyBasic\":[]},{\"playerToken\":[]},{\"invitation\":[]}]",
        [TOUCHES_NOTHING] = "[]",
        [TOUCHES_SERVER] = "[{\"key\":[]},{\"keyBasic\":[]},{\"console\":[]}]",
    };
    rest_put_name(to, "security");
    buf_put(to, bytes_str(lists[route->touches]));
}

static void put_operation(struct buf *to, const struct route *route) {
    char method[8] = {0};
    for (size_t i = 0; route->method[i] != '\0' && i < sizeof method - 1; i++)
        method[i] = (char)(route->method[i] | 0x20);
    rest_put_name(to, method);
    buf_byte(to, '{');
    rest_put_str(to, "operationId", route->id);
    rest_put_str(to, "summary", route->about);
    put_parameters(to, route);
    put_body(to, route);
    put_responses(to, route);
    put_security(to, route);
    buf_byte(to, '}');
}

/* A path once, with all its methods. */
static void put_paths(struct buf *to) {
    for (size_t i = 0; i < rest_route_count; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first = first && strcmp(rest_routes[i].path, rest_routes[j].path) != 0;
        if (!first)
            continue;
        rest_put_comma(to);
        buf_printf(to, "\"/v1%s\":{", rest_routes[i].path);
        for (size_t j = i; j < rest_route_count; j++)
            if (strcmp(rest_routes[i].path, rest_routes[j].path) == 0)
                put_operation(to, &rest_routes[j]);
        buf_byte(to, '}');
    }
}

/* --- schemas --- */

struct form_set {
    const struct form *forms[FORMS_MAX];
    size_t count;
};

static void add_form(struct form_set *set, const struct form *form) {
    for (size_t i = 0; i < set->count; i++)
        if (set->forms[i] == form)
            return;
    if (form == NULL || set->count == FORMS_MAX)
        return;
    set->forms[set->count++] = form;
    for (const struct form_field *field = form->fields; field->name != NULL; field++)
        add_form(set, field->form);
}

static void put_schemas(struct buf *to) {
    struct form_set set = {.count = 0};
    add_form(&set, &form_problem);
    for (size_t i = 0; i < rest_route_count; i++) {
        add_form(&set, rest_routes[i].body);
        add_form(&set, rest_routes[i].answer);
    }
    for (size_t i = 0; i < set.count; i++) {
        rest_put_name(to, set.forms[i]->name);
        form_put_object(to, set.forms[i]);
    }
}

/* What any path answers. Headers that are too large are refused before the path is known: as plain
 * text, with the connection closed. */
static void put_shared_responses(struct buf *to) {
    rest_put_name(to, "OtherMethod");
    buf_lit(to, "{\"description\":\"The path does not take this method\",\"headers\":{\"Allow\":{"
                "\"description\":\"Those that it takes\",\"required\":true,\"schema\":{\"type\":"
                "\"string\"}}}");
    put_content(to, "application/problem+json", &form_problem);
    buf_byte(to, '}');
    rest_put_name(to, "ManyHeaders");
    buf_printf(
        to,
        "{\"description\":\"There are more than %d headers (and 400 for more than %d bytes of "
        "them); the connection is closed\",\"content\":{\"text/plain; charset=utf-8\":{\"schema\":{"
        "\"type\":\"string\"}}}}",
        LIMIT_HEADERS, LIMIT_HEADER_SIZE);
}

void rest_put_openapi(struct buf *to) {
    buf_lit(to, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"gametable\",\"version\":\"1\","
                "\"description\":\"Boards, scores, players and plays, with exact ranks. Numbers "
                "keep every digit; ?numbers=string tells them as strings.\",\"license\":{\"name\":"
                "\"MIT\",\"identifier\":\"MIT\"}},\"servers\":[{\"url\":\"/\"}],\"paths\":{");
    put_paths(to);
    buf_lit(to,
            "},\"components\":{\"securitySchemes\":{"
            "\"key\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"ID:SECRET of a "
            "key, or a player's token\"},"
            "\"keyBasic\":{\"type\":\"http\",\"scheme\":\"basic\"},"
            "\"playerToken\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"X-Player-Token\"},"
            "\"console\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":\"gametable-console\"},"
            "\"invitation\":{\"type\":\"apiKey\",\"in\":\"header\",\"name\":\"X-Room-Invite\"}},"
            "\"responses\":{");
    put_shared_responses(to);
    buf_lit(to, "},\"schemas\":{");
    put_schemas(to);
    buf_lit(to, "}}}\n");
}

/* --- handlers --- */

enum status rest_openapi_get(struct rest_call *call) {
    buf_put(call->reply, buf_bytes(&call->rest->openapi));
    return OK;
}

enum status rest_index_get(struct rest_call *call) {
    buf_lit(call->reply,
            "{\"name\":\"gametable\",\"links\":{\"boards\":\"/v1/boards\",\"players\":"
            "\"/v1/players\",\"plays\":\"/v1/plays\",\"scores\":\"/v1/games/{game}/scores\","
            "\"openapi\":\"/v1/openapi.json\",\"health\":\"/healthz\"}}\n");
    return OK;
}

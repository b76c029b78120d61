/* From an exchange to its route: methods, who asks, parameters, the body. */
#include "api/rest/answer.h"
#include "api/rest/out.h"
#include "api/rest/route.h"
#include "api/rest/who.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"

#include <strings.h>

struct rest *rest_new(const struct rest_settings *settings) {
    struct rest *rest = mem_zalloc(sizeof *rest);
    rest->settings = *settings;
    rest->started_us = clock_ticks_us();
    if (rest->settings.answer == NULL)
        rest->settings.answer = http_answer;
    random_secure(&rest->nonce, sizeof rest->nonce);
    rest_put_openapi(&rest->openapi);
    return rest;
}

void rest_stop(struct rest *rest) {
    atomic_store(&rest->stopping, true);
}

void rest_free(struct rest *rest) {
    buf_release(&rest->openapi);
    mem_free(rest);
}

bool rest_takes(struct bytes path) {
    return bytes_equal(path, BYTES("/v1")) || bytes_starts(path, BYTES("/v1/"));
}

/* --- bodies --- */

/* The type without its parameters, compared without case. */
static bool is_type(struct bytes header, const char *type) {
    size_t size = strlen(type);
    return header.size >= size && strncasecmp((const char *)header.data, type, size) == 0 &&
           (header.size == size || header.data[size] == ';' || header.data[size] == ' ');
}

static bool is_right_type(const struct route *route, struct bytes header) {
    if ((route->flags & ROUTE_CSV) != 0)
        return is_type(header, "text/csv") || is_type(header, "application/x-ndjson");
    return is_type(header, "application/json") || is_type(header, "application/merge-patch+json");
}

static enum status refuse(struct rest_call *call, int status, const char *text) {
    call->status = status;
    return rest_fail(call, INVALID, "%s", text);
}

static enum status read_body(struct rest_call *call) {
    const struct route *route = call->route;
    const struct http_exchange *exchange = call->exchange;
    bool csv = (route->flags & ROUTE_CSV) != 0;
    size_t at;
    if (exchange->body.size == 0 && (route->flags & ROUTE_OPTIONAL) != 0) {
        call->body = (struct json){.type = JSON_OBJECT};
        return OK;
    }
    if (route->body == NULL && !csv)
        return exchange->body.size == 0 ? OK : refuse(call, 400, "this request takes no body");
    if (exchange->body.size > LIMIT_REST_BODY)
        return refuse(call, 413, "a body has at most 4 MB");
    if (!is_right_type(route, http_header(exchange, "Content-Type")))
        return refuse(call, 415,
                      csv ? "the body is taken as text/csv or application/x-ndjson"
                          : "the body is taken as application/json");
    if (http_header(exchange, "Content-Encoding").size != 0)
        return refuse(call, 415, "the body is taken as it is, without a Content-Encoding");
    if (csv)
        return OK;
    if (json_parse(exchange->body, call->arena, &call->body, &at) != OK)
        return rest_fail(call, INVALID, "the body is not JSON, from byte %zu on", at);
    struct form_fault fault = {{0}};
    enum status status = form_check(route->body, &call->body, call->arena, &call->failure, &fault);
    call->member = fault.member;
    return status;
}

/* --- methods --- */

/* OPTIONS: which methods there are, for pages of other origins too. */
static void answer_options(struct rest_call *call, struct bytes allow) {
    struct bytes asked = http_header(call->exchange, "Access-Control-Request-Headers");
    buf_printf(&call->lines, "Allow: %.*s, OPTIONS\r\n", BYTES_ARG(allow));
    buf_printf(&call->lines,
               "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: %.*s\r\n"
               "Access-Control-Max-Age: 86400\r\n",
               BYTES_ARG(allow));
    if (asked.size != 0)
        buf_printf(&call->lines, "Access-Control-Allow-Headers: %.*s\r\n", BYTES_ARG(asked));
    struct http_answer answer = {.status = 204, .headers = buf_bytes(&call->lines)};
    struct buf taken = call->lines;
    call->rest->settings.answer(call->exchange, &answer);
    buf_release(&taken);
}

static void answer_other_method(struct rest_call *call, struct bytes allow) {
    buf_printf(&call->lines, "Allow: %.*s, OPTIONS\r\n", BYTES_ARG(allow));
    rest_answer_problem(call, 405,
                        arena_printf(call->arena, "this path takes %.*s", BYTES_ARG(allow)));
}

/* True if there is a route that is to go on. */
static bool find_route(struct rest_call *call) {
    const struct http_exchange *exchange = call->exchange;
    bool options = bytes_equal(exchange->method, BYTES("OPTIONS"));
    struct buf methods = {0};
    enum route_found found = route_find(exchange->method, exchange->path, call->arena, &call->route,
                                        call->path, &methods);
    struct bytes allow = arena_copy(call->arena, buf_bytes(&methods));
    buf_release(&methods);
    if (found == ROUTE_NONE)
        rest_answer_problem(call, 404, BYTES("there is nothing at this path"));
    else if (found == ROUTE_OTHER_METHOD && options)
        answer_options(call, allow);
    else if (found == ROUTE_OTHER_METHOD)
        answer_other_method(call, allow);
    return found == ROUTE_FOUND;
}

static enum status read_request(struct rest_call *call) {
    struct bytes token;
    enum status status = route_query(call->route, call->exchange->query, call->arena,
                                     &call->failure, &call->member, call->query);
    if (status == OK)
        status = rest_idempotency(call, &token);
    call->texts = bytes_equal(call->query[QUERY_MAX - 1], BYTES("string"));
    return status == OK ? read_body(call) : status;
}

void rest_handle(struct http_exchange *exchange, void *context) {
    struct rest_call *call = ARENA_NEW(&exchange->arena, struct rest_call);
    bool known;
    call->exchange = exchange;
    call->rest = context;
    call->game = call->rest->settings.game;
    call->arena = &exchange->arena;
    call->reply = &exchange->reply;
    if (!find_route(call))
        return;
    /* Nothing of a stranger's is read. */
    enum status status = who_check(call, &known);
    if (!known)
        call->status = 401;
    if (status == OK)
        status = read_request(call);
    if (status == OK)
        rest_start(call);
    else
        rest_answer_failure(call);
}

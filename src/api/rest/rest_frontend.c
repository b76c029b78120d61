/* From an exchange to its route: methods, who asks, parameters, the body. */
#include "api/metrics/metrics.h"
#include "api/offload.h"
#include "api/rest/rest_json.h"
#include "api/rest/rest_route.h"
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

static enum status answer_http_error(struct rest_call *call, int status, const char *text) {
    call->status = status;
    return rest_fail(call, INVALID, "%s", text);
}

static enum status read_body(struct rest_call *call) {
    const struct route *route = call->route;
    const struct http_exchange *exchange = call->exchange;
    bool csv = (route->flags & ROUTE_CSV) != 0;
    size_t at;
    if (exchange->body.size == 0 && !exchange->withheld && (route->flags & ROUTE_OPTIONAL) != 0) {
        call->body = (struct json){.type = JSON_OBJECT};
        return OK;
    }
    if (route->body == NULL && !csv)
        return exchange->body.size == 0 && !exchange->withheld
                   ? OK
                   : answer_http_error(call, 400, "this request takes no body");
    if (exchange->withheld) /* what refused it then has changed since */
        return answer_http_error(call, 503, "the body was not taken: try again");
    if (exchange->body.size > LIMIT_REST_BODY)
        return answer_http_error(call, 413, "a body has at most 4 MB");
    if (!is_right_type(route, http_header(exchange, "Content-Type")))
        return answer_http_error(call, 415,
                                 csv ? "the body is taken as text/csv or application/x-ndjson"
                                     : "the body is taken as application/json");
    if (http_header(exchange, "Content-Encoding").size != 0)
        return answer_http_error(call, 415,
                                 "the body is taken as it is, without a Content-Encoding");
    if (csv)
        return OK;
    if (json_parse(exchange->body, call->arena, &call->body, &at) != OK)
        return rest_fail(call, INVALID, "the body is not JSON, from byte %zu on", at);
    struct form_fault fault = {{0}};
    enum status status =
        form_check(route->body, &call->body, (struct scope){call->arena, &call->failure}, &fault);
    call->member = fault.member;
    return status;
}

/* --- methods --- */

/* OPTIONS: which methods there are, for pages of other origins too. */
static void answer_options(struct rest_call *call, struct bytes allow) {
    struct bytes asked = http_header(call->exchange, "Access-Control-Request-Headers");
    bool page = http_header(call->exchange, "Origin").size != 0;
    buf_printf(&call->headers, "Allow: %.*s, OPTIONS\r\n", BYTES_ARG(allow));
    if (page)
        buf_printf(&call->headers,
                   "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: %.*s\r\n"
                   "Access-Control-Max-Age: 86400\r\n",
                   BYTES_ARG(allow));
    if (page && asked.size != 0)
        buf_printf(&call->headers, "Access-Control-Allow-Headers: %.*s\r\n", BYTES_ARG(asked));
    struct http_answer answer = {.status = 204, .headers = buf_bytes(&call->headers)};
    struct buf taken = call->headers;
    offload_answer(call->exchange, &answer, call->rest->settings.answer);
    buf_release(&taken);
}

static void answer_other_method(struct rest_call *call, struct bytes allow) {
    buf_printf(&call->headers, "Allow: %.*s, OPTIONS\r\n", BYTES_ARG(allow));
    rest_answer_problem(call, 405,
                        arena_printf(call->arena, "this path takes %.*s", BYTES_ARG(allow)));
}

/* True if there is a route that is to go on. */
static bool find_route(struct rest_call *call) {
    struct http_exchange *exchange = call->exchange;
    bool options = bytes_equal(exchange->method, BYTES("OPTIONS"));
    struct route_match match;
    enum route_found found = route_find(exchange->method, exchange->path, call->arena, &match);
    call->route = match.route;
    exchange->note.front = METRICS_REST;
    if (found == ROUTE_FOUND)
        exchange->note.operation = (unsigned)(match.route - rest_routes) + 1;
    memcpy(call->path, match.arguments, sizeof call->path);
    if (found == ROUTE_NONE)
        rest_answer_problem(call, 404, BYTES("there is nothing at this path"));
    else if (found == ROUTE_OTHER_METHOD && options)
        answer_options(call, match.allow);
    else if (found == ROUTE_OTHER_METHOD)
        answer_other_method(call, match.allow);
    return found == ROUTE_FOUND;
}

static enum status read_request(struct rest_call *call) {
    struct bytes token;
    struct route_parameters parameters;
    enum status status = route_query(call->route, call->exchange->query,
                                     (struct scope){call->arena, &call->failure}, &parameters);
    memcpy(call->query, parameters.values, sizeof call->query);
    call->member = parameters.wrong;
    if (status == OK)
        status = rest_idempotency(call, &token);
    call->texts = bytes_equal(call->query[QUERY_MAX - 1], BYTES("string"));
    return status == OK ? read_body(call) : status;
}

/* The whole request again, on a thread that may wait. */
static void handle_offloaded(void *argument) {
    struct http_exchange *exchange = argument;
    rest_handle(exchange, exchange->user);
}

static void handle_call(struct rest_call *call) {
    if (!find_route(call))
        return;
    /* Nothing of a stranger's is read. */
    enum status status = rest_authorize(call);
    if (status == OK)
        status = read_request(call);
    if (status == OK)
        status = rest_authorize_player(call);
    if (status == OK)
        rest_start(call);
    else
        rest_answer_failure(call);
}

enum http_admission rest_admit(struct http_exchange *exchange, void *context) {
    struct rest_call call = {.exchange = exchange, .rest = context, .arena = &exchange->arena};
    struct route_match match;
    if (route_find(exchange->method, exchange->path, call.arena, &match) != ROUTE_FOUND)
        return HTTP_WITHOUT_BODY;
    call.route = match.route;
    memcpy(call.path, match.arguments, sizeof call.path);
    bool takes_one = call.route->body != NULL || (call.route->flags & ROUTE_CSV) != 0;
    if (!takes_one || rest_authorize(&call) != OK)
        return HTTP_WITHOUT_BODY;
    return call.route->touches == TOUCHES_NOTHING ? HTTP_TAKE_UNPROVED : HTTP_TAKE_BODY;
}

void rest_handle(struct http_exchange *exchange, void *context) {
    struct rest_call *call = ARENA_NEW(&exchange->arena, struct rest_call);
    call->exchange = exchange;
    call->rest = context;
    call->arena = &exchange->arena;
    call->reply = &exchange->reply;
    struct background *pool = call->rest->settings.pool;
    if (!offload_wanted(call->rest->settings.game->engine, exchange) || pool == NULL) {
        handle_call(call);
        return;
    }
    exchange->user = context;
    if (!background_run(pool, handle_offloaded, exchange)) {
        rest_fail(call, BUSY, OFFLOAD_BUSY);
        rest_answer_failure(call);
    }
}

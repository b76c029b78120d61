#include "api/router.h"

#include "api/admin.h"
#include "api/dynamodb/answer.h"
#include "api/pages/pages.h"
#include "base/mem.h"

struct router {
    struct dynamodb_face *dynamodb;
    struct rest *rest; /* NULL: no boards, */
    struct live *live; /* and no rooms */
    struct admin admin;
};

struct router *router_new(struct engine *engine, const struct router_settings *settings) {
    struct router *router = mem_zalloc(sizeof(*router));
    router->dynamodb = dynamodb_face_new(engine, &settings->dynamodb);
    struct background *background = settings->dynamodb.transfer == NULL
                                        ? NULL
                                        : transfer_background(settings->dynamodb.transfer);
    struct rest_settings rest = {.game = settings->game,
                                 .keys = settings->dynamodb.keys,
                                 .background = background,
                                 .version = settings->version,
                                 .redis_port = settings->redis_port};
    struct live_settings live = {.game = settings->game,
                                 .keys = settings->dynamodb.keys,
                                 .clocks = settings->clocks,
                                 .origins = settings->origins};
    if (settings->game != NULL) {
        rest.live = router->live = live_new(&live);
        router->rest = rest_new(&rest);
    }
    router->admin = (struct admin){.engine = engine,
                                   .test_clock = settings->test_clock,
                                   .keeper = settings->keeper,
                                   .background = background};
    return router;
}

void router_stop(struct router *router) {
    if (router->live != NULL)
        live_stop(router->live);
    if (router->rest != NULL)
        rest_stop(router->rest);
}

void router_free(struct router *router) {
    dynamodb_face_free(router->dynamodb);
    if (router->live != NULL)
        live_free(router->live);
    if (router->rest != NULL)
        rest_free(router->rest);
    mem_free(router);
}

static void answer_text(struct http_exchange *exchange, int status, struct bytes text) {
    struct http_answer answer = {
        .status = status, .content_type = BYTES("text/plain; charset=utf-8"), .body = text};
    http_answer(exchange, &answer);
}

/* What the service says to those who ask how it is. */
static void answer_healthy(struct http_exchange *exchange) {
    struct bytes host = http_header(exchange, "Host");
    answer_text(exchange, 200, arena_printf(&exchange->arena, "healthy: %.*s ", BYTES_ARG(host)));
}

/* Lets a page of another origin send what it asks to send. */
static void answer_preflight(struct http_exchange *exchange) {
    struct bytes headers = http_header(exchange, "Access-Control-Request-Headers");
    struct bytes method = http_header(exchange, "Access-Control-Request-Method");
    char id[REQUEST_ID_SIZE];
    answer_request_id(id);
    struct buf lines = {0};
    buf_printf(&lines, "x-amzn-RequestId: %.*s\r\n", REQUEST_ID_SIZE, id);
    buf_lit(&lines, "Access-Control-Allow-Origin: *\r\nAccess-Control-Max-Age: 172800\r\n");
    if (headers.size != 0)
        buf_printf(&lines, "Access-Control-Allow-Headers: %.*s\r\n", BYTES_ARG(headers));
    if (method.size != 0)
        buf_printf(&lines, "Access-Control-Allow-Methods: %.*s\r\n", BYTES_ARG(method));
    struct http_answer answer = {.status = 200, .headers = buf_bytes(&lines)};
    http_answer(exchange, &answer);
    buf_release(&lines);
}

void router_handle(struct http_exchange *exchange, void *context) {
    struct router *router = context;
    bool root = bytes_equal(exchange->path, BYTES("/"));
    bool get =
        bytes_equal(exchange->method, BYTES("GET")) || bytes_equal(exchange->method, BYTES("HEAD"));
    if (root && bytes_equal(exchange->method, BYTES("POST")))
        dynamodb_handle(exchange, router->dynamodb);
    else if (router->live != NULL && live_takes(exchange->path))
        live_handle(exchange, router->live);
    else if (router->rest != NULL && rest_takes(exchange->path))
        rest_handle(exchange, router->rest);
    else if (get && bytes_equal(exchange->path, BYTES("/healthz")))
        answer_text(exchange, 200, BYTES("ok\n"));
    else if (pages_take(exchange))
        pages_handle(exchange);
    else if (get && root)
        answer_healthy(exchange);
    else if (bytes_equal(exchange->method, BYTES("OPTIONS")))
        answer_preflight(exchange);
    else if (admin_takes(exchange->path))
        admin_handle(exchange, &router->admin);
    else if (root)
        answer_text(exchange, 405, BYTES("this path takes GET and POST\n"));
    else
        answer_text(exchange, 404, BYTES("there is nothing here\n"));
}

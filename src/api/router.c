#include "api/router.h"

static void answer_text(struct http_exchange *exchange, int status, struct bytes text) {
    struct http_answer answer = {
        .status = status, .content_type = BYTES("text/plain; charset=utf-8"), .body = text};
    http_answer(exchange, &answer);
}

/* A page of another origin asks what it may send: anything. */
static void answer_preflight(struct http_exchange *exchange) {
    struct bytes headers = http_header(exchange, "access-control-request-headers");
    struct bytes method = http_header(exchange, "access-control-request-method");
    struct buf lines = {0};
    buf_lit(&lines, "Access-Control-Allow-Origin: *\r\n");
    if (headers.size != 0)
        buf_printf(&lines, "Access-Control-Allow-Headers: %.*s\r\n", BYTES_ARG(headers));
    if (method.size != 0)
        buf_printf(&lines, "Access-Control-Allow-Methods: %.*s\r\n", BYTES_ARG(method));
    buf_lit(&lines, "Access-Control-Max-Age: 172800\r\n");
    struct http_answer answer = {.status = 200, .headers = buf_bytes(&lines)};
    http_answer(exchange, &answer);
    buf_release(&lines);
}

/* What the service says to those who only look whether it is there. */
static void answer_greeting(struct http_exchange *exchange) {
    struct bytes host = http_header(exchange, "host");
    buf_lit(&exchange->reply, "healthy: ");
    buf_put(&exchange->reply, host.size != 0 ? host : BYTES("localhost"));
    buf_byte(&exchange->reply, ' ');
    answer_text(exchange, 200, buf_bytes(&exchange->reply));
}

void router_handle(struct http_exchange *exchange, void *context) {
    const struct router *router = context;
    bool root = bytes_equal(exchange->path, BYTES("/"));
    if (root && bytes_equal(exchange->method, BYTES("POST")))
        dynamodb_handle(exchange, router->dynamodb);
    else if (bytes_equal(exchange->method, BYTES("OPTIONS")) &&
             http_header(exchange, "origin").size != 0)
        answer_preflight(exchange);
    else if (!bytes_equal(exchange->method, BYTES("GET")))
        answer_text(exchange, 404, BYTES("Nothing answers this here. Operations are POST /.\n"));
    else if (root)
        answer_greeting(exchange);
    else if (bytes_equal(exchange->path, BYTES("/healthz")))
        answer_text(exchange, 200, BYTES("ok"));
    else
        answer_text(exchange, 404, BYTES("There is no such page.\n"));
}

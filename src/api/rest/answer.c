#include "api/rest/answer.h"

#include "api/dynamodb/answer.h"
#include "api/rest/out.h"
#include "api/rest/route.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdatomic.h>

enum { ID_SIZE_MAX = 128 };

/* --- sending --- */

static bool is_id(struct bytes id) {
    for (size_t i = 0; i < id.size; i++)
        if (id.data[i] <= ' ' || id.data[i] >= 0x7f)
            return false;
    return id.size != 0 && id.size <= ID_SIZE_MAX;
}

/* The client's own name for the request, or one of ours. */
static void put_request_id(struct rest_call *call, struct buf *to) {
    struct bytes given = http_header(call->exchange, "X-Request-Id");
    char made[REQUEST_ID_SIZE];
    buf_lit(to, "X-Request-Id: ");
    if (is_id(given))
        buf_put(to, given);
    else {
        answer_request_id(made);
        buf_append(to, made, sizeof made);
    }
    buf_lit(to, "\r\n");
}

static void send(struct rest_call *call, int status, struct bytes type) {
    struct buf *lines = &call->lines;
    bool body = status != 204 && status != 304;
    put_request_id(call, lines);
    buf_lit(lines, "Cache-Control: no-cache\r\n");
    if (http_header(call->exchange, "Origin").size != 0)
        buf_lit(lines, "Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: ETag, "
                       "Location, Retry-After, X-Request-Id\r\n");
    struct http_answer answer = {.status = status,
                                 .content_type = body ? type : (struct bytes){0},
                                 .headers = buf_bytes(lines),
                                 .body = body ? buf_bytes(call->reply) : (struct bytes){0}};
    struct buf taken = *lines; /* the call is gone once it is answered */
    call->rest->settings.answer(call->exchange, &answer);
    buf_release(&taken);
}

void rest_answer(struct rest_call *call) {
    int status = call->status != 0          ? call->status
                 : call->route->status != 0 ? call->route->status
                                            : 200;
    send(call, status,
         call->content_type.size != 0 ? call->content_type : BYTES("application/json"));
}

/* --- problems --- */

static const struct problem {
    int status;
    const char *type, *title;
} problems[] = {
    {400, "invalid", "The request is not valid"},
    {401, "unauthorized", "Who asks is not known"},
    {403, "forbidden", "Who asks may not"},
    {404, "not-found", "There is no such thing"},
    {405, "method", "The path does not take this method"},
    {409, "conflict", "It is there already, or has changed meanwhile"},
    {413, "too-large", "The body is too large"},
    {415, "media-type", "The body is of a type that is not taken"},
    {422, "repeated-key", "The Idempotency-Key was used for another request"},
    {429, "busy", "Too much is waiting; try again soon"},
    {500, "internal", "Something went wrong inside"},
    {503, "unavailable", "Not now; try again later"},
};

int rest_status_of(enum status status) {
    switch (status) {
    case NOT_FOUND:
    case NO_RESOURCE:
        return 404;
    case DENIED:
        return 403;
    case DUPLICATE:
    case CONDITION_FAILED:
    case CONFLICT:
    case CANCELLED:
        return 409;
    case REPEAT_MISMATCH:
        return 422;
    case BUSY:
        return 429;
    case STOPPING:
    case MEMORY_FULL:
    case IO_FAILED:
    case TABLE_IN_USE:
        return 503;
    case INVALID:
    case PARSE_FAILED:
    case LIMIT_EXCEEDED:
    case COLLECTION_FULL:
    case UNSUPPORTED:
        return 400;
    default:
        return 500;
    }
}

/* What went wrong inside is for the operator, at most once a second; the client gets no details. */
static void log_internal(const struct failure *failure) {
    static _Atomic int64_t next_us;
    int64_t now = clock_ticks_us(), due = atomic_load(&next_us);
    if (now < due || !atomic_compare_exchange_strong(&next_us, &due, now + 1000000))
        return;
    log_error("request failed: %s: %.*s", status_name(failure->status), BYTES_ARG(failure->text));
}

void rest_put_problem(struct buf *to, int status, struct bytes detail, struct bytes member) {
    const struct problem *problem = &problems[0];
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++)
        if (problems[i].status == status)
            problem = &problems[i];
    buf_printf(to, "{\"type\":\"urn:gametable:problem:%s\"", problem->type);
    out_word(to, "title", problem->title);
    out_int(to, "status", status);
    out_text_if(to, "detail", detail);
    out_text_if(to, "member", member);
    buf_byte(to, '}');
}

void rest_answer_problem(struct rest_call *call, int status, struct bytes detail) {
    buf_clear(call->reply);
    rest_put_problem(call->reply, status, detail, call->member);
    if (status == 429 || status == 503)
        buf_lit(&call->lines, "Retry-After: 1\r\n");
    if (status == 401)
        buf_lit(&call->lines, "WWW-Authenticate: Bearer realm=\"gametable\", Basic "
                              "realm=\"gametable\"\r\n");
    send(call, status, BYTES("application/problem+json"));
}

void rest_answer_failure(struct rest_call *call) {
    int status = call->status >= 400 ? call->status : rest_status_of(call->failure.status);
    struct bytes detail = call->failure.text;
    if (status == 500 || call->failure.status == IO_FAILED)
        log_internal(&call->failure);
    if (status == 500)
        detail = (struct bytes){0};
    rest_answer_problem(call, status, detail);
}

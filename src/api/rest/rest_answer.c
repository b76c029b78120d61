/* Answers: JSON with the headers that every answer has, and problems (RFC 9457). */
#include "api/dynamodb/content_coding.h"
#include "api/dynamodb/ddb_answer.h"
#include "api/offload.h"
#include "api/rest/rest_json.h"
#include "api/rest/rest_route.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <stdatomic.h>

enum {
    ID_SIZE_MAX = LIMIT_REQUEST_ID,
    COMPRESS_OVER = 2048,        /* bytes; less fits into two packets anyway */
    COMPRESS_MOST = 1024 * 1024, /* on a loop */
};

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

/* A line ends, for people at a terminal. What is large goes packed to who takes it so, unless it is
 * so large that packing it would hold up the loop. */
static struct bytes finish_body(struct rest_call *call) {
    struct buf *reply = call->reply;
    if (reply->size != 0 && reply->data[reply->size - 1] != '\n')
        buf_byte(reply, '\n');
    enum coding coding = CODING_NONE;
    if (reply->size > COMPRESS_OVER && (reply->size <= COMPRESS_MOST || offload_may_wait()))
        coding = coding_accepted(http_header(call->exchange, "Accept-Encoding"));
    if (coding == CODING_NONE)
        return buf_bytes(reply);
    buf_printf(&call->headers, "Content-Encoding: %s\r\n",
               coding == CODING_GZIP ? "gzip" : "deflate");
    return coding_pack(coding, buf_bytes(reply));
}

static void send_answer(struct rest_call *call, int status, struct bytes type) {
    struct buf *headers = &call->headers;
    bool body = status != 204 && status != 304;
    put_request_id(call, headers);
    if (bytes_find(buf_bytes(headers), BYTES("Cache-Control:")) == SIZE_MAX)
        buf_lit(headers, "Cache-Control: no-cache\r\n");
    buf_lit(headers, "Vary: Accept-Encoding\r\n");
    if (http_header(call->exchange, "Origin").size != 0)
        buf_lit(headers, "Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: ETag, "
                         "Location, Retry-After, X-Request-Id\r\n");
    struct http_answer answer = {.status = status,
                                 .content_type = body ? type : (struct bytes){0},
                                 .body = body ? finish_body(call) : (struct bytes){0}};
    answer.headers = buf_bytes(headers);
    struct buf taken = *headers; /* the call is gone once it is answered */
    offload_answer(call->exchange, &answer, call->rest->settings.answer);
    buf_release(&taken);
}

void rest_answer(struct rest_call *call) {
    int status = call->status != 0          ? call->status
                 : call->route->status != 0 ? call->route->status
                                            : 200;
    send_answer(call, status,
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
    {409, "conflict", "What is there does not allow it"},
    {413, "too-large", "The body is too large"},
    {415, "media-type", "The body is of a type that is not taken"},
    {422, "repeated-key", "The Idempotency-Key was used for another request"},
    {429, "busy", "Too much is waiting; try again soon"},
    {500, "internal", "Something went wrong inside"},
    {503, "unavailable", "Not now; try again later"},
};

static const struct problem *problem_of(int status) {
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++)
        if (problems[i].status == status)
            return &problems[i];
    return &problems[0];
}

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
    case BEING_BUILT:
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
    const struct problem *problem = problem_of(status);
    buf_printf(to, "{\"type\":\"urn:gametable:problem:%s\"", problem->type);
    rest_put_str(to, "title", problem->title);
    rest_put_int(to, "status", status);
    rest_put_text_if(to, "detail", detail);
    rest_put_text_if(to, "member", member);
    buf_byte(to, '}');
}

void rest_answer_problem(struct rest_call *call, int status, struct bytes detail) {
    buf_clear(call->reply);
    rest_put_problem(call->reply, status, detail, call->member);
    call->exchange->note.reason = problem_of(status)->type;
    if (status == 429 || status == 503)
        buf_lit(&call->headers, "Retry-After: 1\r\n");
    if (status == 401)
        buf_lit(&call->headers, "WWW-Authenticate: Bearer realm=\"gametable\", Basic "
                                "realm=\"gametable\"\r\n");
    send_answer(call, status, BYTES("application/problem+json"));
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

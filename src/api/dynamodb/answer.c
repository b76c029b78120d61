#include "api/dynamodb/answer.h"

#include "api/dynamodb/gzip.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"

#include <stdatomic.h>
#include <zlib.h>

enum { COMPRESS_OVER = 4096 };

void answer_request_id(char *to) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
    static _Thread_local struct random random;
    if ((random.state[0] | random.state[1] | random.state[2] | random.state[3]) == 0) {
        uint64_t seed;
        random_secure(&seed, sizeof seed);
        random_seed(&random, seed);
    }
    uint64_t bits = 0;
    for (int i = 0; i < REQUEST_ID_SIZE; i++) {
        if (i % 12 == 0) /* 12 digits of 5 bits each out of a word */
            bits = random_next(&random);
        to[i] = digits[bits & 31];
        bits >>= 5;
    }
}

/* --- sending --- */

struct lines {
    char text[256];
    size_t size;
};

static void line_add(struct lines *lines, const char *text, size_t size) {
    memcpy(lines->text + lines->size, text, size);
    lines->size += size;
}
#define LINE(lines, literal) line_add((lines), literal, sizeof(literal) - 1)

static void line_number(struct lines *lines, uint32_t number) {
    char digits[10];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    line_add(lines, digits + at, sizeof digits - at);
}

static void send(struct call *call, struct http_answer *answer, bool packed) {
    struct lines lines = {.size = 0};
    LINE(&lines, "x-amzn-RequestId: ");
    answer_request_id(lines.text + lines.size);
    lines.size += REQUEST_ID_SIZE;
    LINE(&lines, "\r\nx-amz-crc32: ");
    line_number(&lines, (uint32_t)crc32(0, answer->body.size == 0 ? NULL : answer->body.data,
                                        (uInt)answer->body.size));
    LINE(&lines, "\r\n");
    if (packed)
        LINE(&lines, "Content-Encoding: gzip\r\n");
    if (call->cors)
        LINE(&lines, "Access-Control-Allow-Origin: *\r\n"
                     "Access-Control-Expose-Headers: x-amzn-RequestId, x-amz-crc32\r\n");
    answer->headers = bytes_of(lines.text, lines.size);
    call->face->settings.answer(call->exchange, answer);
}

void answer_reply(struct call *call) {
    struct http_answer answer = {
        .status = 200,
        .content_type = call->content_type,
        .body = buf_bytes(call->reply),
    };
    bool pack = call->gzip && answer.body.size > COMPRESS_OVER;
    if (pack)
        answer.body = gzip_pack(answer.body);
    send(call, &answer, pack);
}

void answer_plain(struct call *call, int status, struct bytes body) {
    struct http_answer answer = {.status = status, .body = body};
    send(call, &answer, false);
}

/* --- errors --- */

#define TABLE_ERRORS   "com.amazonaws.dynamodb.v20120810#"
#define INPUT_ERRORS   "com.amazon.coral.validate#"
#define SERVICE_ERRORS "com.amazon.coral.service#"

struct error {
    const char *space, *name;
    int http;
};

static struct error error_of(enum status status) {
    switch (status) {
    case INVALID:
    case UNSUPPORTED:
        return (struct error){INPUT_ERRORS, "ValidationException", 400};
    case PARSE_FAILED:
        return (struct error){SERVICE_ERRORS, "SerializationException", 400};
    case CONDITION_FAILED:
        return (struct error){TABLE_ERRORS, "ConditionalCheckFailedException", 400};
    case DUPLICATE:
        return (struct error){TABLE_ERRORS, "DuplicateItemException", 400};
    case NO_TABLE:
    case NO_RESOURCE:
    case NOT_FOUND:
        return (struct error){TABLE_ERRORS, "ResourceNotFoundException", 400};
    case TABLE_IN_USE:
        return (struct error){TABLE_ERRORS, "ResourceInUseException", 400};
    case LIMIT_EXCEEDED:
    case MEMORY_FULL:
        return (struct error){TABLE_ERRORS, "LimitExceededException", 400};
    case COLLECTION_FULL:
        return (struct error){TABLE_ERRORS, "ItemCollectionSizeLimitExceededException", 400};
    case CANCELLED:
        return (struct error){TABLE_ERRORS, "TransactionCanceledException", 400};
    case CONFLICT:
        return (struct error){TABLE_ERRORS, "TransactionConflictException", 400};
    case REPEAT_MISMATCH:
        return (struct error){TABLE_ERRORS, "IdempotentParameterMismatchException", 400};
    case BUSY:
        return (struct error){"com.amazon.coral.availability#", "ThrottlingException", 400};
    case DENIED:
        return (struct error){SERVICE_ERRORS, "AccessDeniedException", 400};
    case STOPPING:
        return (struct error){"com.amazon.coral.availability#", "ServiceUnavailableException", 503};
    default:
        return (struct error){TABLE_ERRORS, "InternalServerError", 500};
    }
}

/* What went wrong inside is for the operator, at most once a second; the client gets no details. */
static void log_internal(const struct call *call) {
    static _Atomic int64_t next_us;
    int64_t now = clock_ticks_us(), due = atomic_load(&next_us);
    if (now < due || !atomic_compare_exchange_strong(&next_us, &due, now + 1000000))
        return;
    log_error("request failed: %s: %.*s", status_name(call->failure.status),
              BYTES_ARG(call->failure.text));
}

static void write_error(struct call *call, struct error error, struct bytes text) {
    struct buf *to = call->reply;
    buf_clear(to);
    buf_lit(to, "{\"__type\":\"");
    buf_put(to, bytes_str(error.space));
    buf_put(to, bytes_str(error.name));
    buf_lit(to, "\"");
    if (text.data != NULL) {
        bool capital = strcmp(error.name, "SerializationException") == 0 ||
                       strcmp(error.name, "AccessDeniedException") == 0 ||
                       strcmp(error.name, "TransactionCanceledException") == 0;
        buf_put(to, capital ? BYTES(",\"Message\":") : BYTES(",\"message\":"));
        json_put_string(to, text);
    }
    buf_put(to, call->extra);
    buf_lit(to, "}");
    struct http_answer answer = {
        .status = error.http,
        .content_type = call->content_type,
        .body = buf_bytes(to),
    };
    send(call, &answer, false);
}

/* An exception given by name: those about the request's form are the service frame's own. */
static struct error error_named(const char *name) {
    static const char *const frame[] = {
        "AccessDeniedException",      "IncompleteSignatureException",
        "InvalidSignatureException",  "MissingAuthenticationTokenException",
        "SerializationException",     "UnknownOperationException",
        "UnrecognizedClientException"};
    for (size_t i = 0; i < sizeof(frame) / sizeof(frame[0]); i++)
        if (strcmp(name, frame[i]) == 0)
            return (struct error){SERVICE_ERRORS, name, 400};
    return (struct error){TABLE_ERRORS, name, 400};
}

void answer_failure(struct call *call) {
    struct error error = error_of(call->failure.status);
    if (call->exception != NULL)
        error = error_named(call->exception);
    struct bytes text = call->failure.text;
    if (error.http == 500) {
        log_internal(call);
        text = BYTES("Internal server error");
    }
    write_error(call, error, text);
}

void answer_exception(struct call *call, const char *exception) {
    write_error(call, error_named(exception), (struct bytes){0});
}

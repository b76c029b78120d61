#include "api/dynamodb/ddb_answer.h"

#include "api/offload.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"

#include <libdeflate.h>
#include <stdatomic.h>

enum { COMPRESS_OVER = 4096 };

enum { DIGITS = 8 }; /* of five bits each that are made at once */

/* The low 40 bits as eight digits to the base 32, "0" to "9" and "A" to "V", a byte each: they are
 * dealt out to bytes by halves, then all bytes become characters at once. */
static uint64_t eight_digits(uint64_t bits) {
    bits = (bits & 0xfffff) | (bits & 0xfffff00000) << 12;
    bits = (bits & 0x000003ff000003ff) | (bits & 0x000ffc00000ffc00) << 6;
    bits = (bits & 0x001f001f001f001f) | (bits & 0x03e003e003e003e0) << 3;
    uint64_t letters = (bits + 0x7676767676767676) >> 7 & 0x0101010101010101; /* those above 9 */
    return bits + 0x3030303030303030 + letters * ('A' - '0' - 10);
}

void answer_request_id(char *to) {
    static _Thread_local struct random random;
    if ((random.state[0] | random.state[1] | random.state[2] | random.state[3]) == 0) {
        uint64_t seed;
        random_secure(&seed, sizeof seed);
        random_seed(&random, seed);
    }
    for (int i = 0; i < REQUEST_ID_SIZE; i += DIGITS) {
        uint64_t digits = eight_digits(random_next(&random));
        int left = REQUEST_ID_SIZE - i;
        memcpy(to + i, &digits, left < DIGITS ? (size_t)left : DIGITS);
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

static void send_answer(struct call *call, struct http_answer *answer, enum coding coding) {
    struct lines lines = {.size = 0};
    LINE(&lines, "x-amzn-RequestId: ");
    answer_request_id(lines.text + lines.size);
    lines.size += REQUEST_ID_SIZE;
    LINE(&lines, "\r\nx-amz-crc32: ");
    line_number(&lines, libdeflate_crc32(0, answer->body.data, answer->body.size));
    LINE(&lines, "\r\n");
    if (coding == CODING_GZIP)
        LINE(&lines, "Content-Encoding: gzip\r\n");
    else if (coding == CODING_DEFLATE)
        LINE(&lines, "Content-Encoding: deflate\r\n");
    if (call->cors)
        LINE(&lines, "Access-Control-Allow-Origin: *\r\n"
                     "Access-Control-Expose-Headers: x-amzn-RequestId, x-amz-crc32\r\n");
    answer->headers = bytes_of(lines.text, lines.size);
    offload_answer(call->exchange, answer, call->frontend->settings.answer);
}

void answer_reply(struct call *call) {
    struct http_answer answer = {
        .status = 200,
        .content_type = call->content_type,
        .body = buf_bytes(call->reply),
    };
    enum coding coding = answer.body.size > COMPRESS_OVER ? call->coding : CODING_NONE;
    if (coding != CODING_NONE)
        answer.body = coding_pack(coding, answer.body);
    send_answer(call, &answer, coding);
}

void answer_forwarded(struct call *call, int status, struct bytes body) {
    struct http_answer answer = {
        .status = status, .content_type = call->content_type, .body = body};
    send_answer(call, &answer, CODING_NONE);
}

void answer_plain(struct call *call, int status, struct bytes body) {
    struct http_answer answer = {.status = status, .body = body};
    call->exchange->note.reason = status == 413 ? "RequestEntityTooLarge" : "UnknownContentType";
    send_answer(call, &answer, CODING_NONE);
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
    case BEING_BUILT:
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
    call->exchange->note.reason = error.name;
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
    send_answer(call, &answer, CODING_NONE);
}

/* An exception given by name. Those about the form of a request have the prefix of AWS's common
 * errors, not DynamoDB's. */
static struct error error_named(const char *name) {
    static const char *const frame[] = {
        "AccessDeniedException",      "IncompleteSignatureException",
        "InvalidSignatureException",  "MissingAuthenticationTokenException",
        "SerializationException",     "UnknownOperationException",
        "UnrecognizedClientException"};
    for (size_t i = 0; i < sizeof(frame) / sizeof(frame[0]); i++)
        if (strcmp(name, frame[i]) == 0)
            return (struct error){SERVICE_ERRORS, name, 400};
    if (strcmp(name, "InternalFailure") == 0)
        return (struct error){SERVICE_ERRORS, name, 500};
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

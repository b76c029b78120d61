/* Reads the arguments of calls, and sets their errors. */
#include "api/redis/redis_call.h"

#include "base/limits.h"
#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

enum { DOUBLE_TEXT_MAX = LIMIT_DOUBLE_TEXT };

enum status(call_error)(struct redis_call *call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    call->error = arena_vprintf(call->arena, format, args);
    va_end(args);
    while (call->error.size > 0 && (call->error.data[call->error.size - 1] == '\n' ||
                                    call->error.data[call->error.size - 1] == '\r'))
        call->error
            .size--; /* an error quotes what the client sent, which may end with a line feed */
    return INVALID;
}

bool call_arg_is(const struct redis_call *call, size_t index, const char *word) {
    struct bytes arg = call->args[index];
    return arg.size == strlen(word) && strncasecmp((const char *)arg.data, word, arg.size) == 0;
}

bool redis_read_int(struct bytes text, int64_t *out) {
    bool minus = text.size > 0 && text.data[0] == '-';
    size_t i = minus ? 1 : 0;
    uint64_t number = 0, most = minus ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    if (i == text.size || (text.data[i] == '0' && text.size > 1))
        return false;
    for (; i < text.size; i++) {
        uint8_t digit = (uint8_t)(text.data[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, digit, &number) || number > most)
            return false;
    }
    *out = (int64_t)(minus ? 0 - number : number);
    return true;
}

/* Most scores are a few digits, which are read faster without strtod(). */
static bool read_short_int(struct bytes text, double *out) {
    bool minus = text.size > 0 && text.data[0] == '-';
    size_t i = minus ? 1 : 0;
    int64_t number = 0;
    if (i == text.size || text.size > 15)
        return false;
    for (; i < text.size; i++) {
        uint8_t digit = (uint8_t)(text.data[i] - '0');
        if (digit > 9)
            return false;
        number = number * 10 + digit;
    }
    *out = minus ? -(double)number : (double)number;
    return true;
}

bool redis_read_double(struct bytes text, double *out) {
    char copy[DOUBLE_TEXT_MAX], *end;
    if (read_short_int(text, out))
        return true;
    if (text.size == 0 || text.size >= sizeof(copy) || isspace(text.data[0]))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    errno = 0;
    double number = strtod(copy, &end);
    if (end != copy + text.size || isnan(number) ||
        (errno == ERANGE && (isinf(number) || fpclassify(number) == FP_ZERO)))
        return false;
    *out = number;
    return true;
}

enum status call_int(struct redis_call *call, size_t index, int64_t *out) {
    return redis_read_int(call->args[index], out) ? OK : call_error(call, ERROR_NOT_INTEGER);
}

enum status call_int_between(struct redis_call *call, size_t index, struct int_bounds bounds,
                             int64_t *out) {
    int64_t number;
    if (!redis_read_int(call->args[index], &number) || number < bounds.low || number > bounds.high)
        return call_error(call, "%s", bounds.error != NULL ? bounds.error : ERROR_NOT_INTEGER);
    *out = number;
    return OK;
}

enum status call_double(struct redis_call *call, size_t index, double *out) {
    return redis_read_double(call->args[index], out) ? OK : call_error(call, ERROR_NOT_FLOAT);
}

enum { TAKEN_FROM = 64 * 1024 }; /* bytes of a request that is not copied */

/* Takes over the bytes of the request that the client's parser has ready, if that pays. */
static bool take_bytes_over(struct redis_call *call) {
    struct redis_client *client = call->client;
    struct resp_parser *parser = &client->parser;
    if (call->args != parser->args || parser->used < TAKEN_FROM || resp_end(parser) == NULL ||
        !stream_take_in(client->stream, resp_end(parser), &call->taken.in))
        return false;
    client->gave = true;
    call->taken.args = resp_take_args(parser);
    if (call->taken.args != NULL)
        call->args = call->taken.args;
    return true;
}

void call_drop_taken(struct redis_call *call) {
    mem_free(call->taken.args);
    call->taken.args = NULL;
    buf_release(&call->taken.in);
}

void call_keep_args(struct redis_call *call) {
    bool taken = call->taken.in.data != NULL || take_bytes_over(call);
    if (call->taken.args != NULL)
        return;
    struct bytes *args = arena_alloc(call->arena, call->count * sizeof(*args));
    if (taken) {
        memcpy(args, call->args, call->count * sizeof(*args));
        call->args = args;
        return;
    }
    size_t size = 0;
    for (size_t i = 0; i < call->count; i++)
        size += call->args[i].size;
    uint8_t *to = arena_alloc(call->arena, size + 1);
    for (size_t i = 0; i < call->count; i++) {
        args[i] = bytes_of(to, call->args[i].size);
        memcpy(to, call->args[i].data, args[i].size);
        to += args[i].size;
    }
    call->args = args;
}

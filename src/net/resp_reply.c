/* Replies. */
#include "net/resp.h"

#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SHORT_BULK = 100,     /* a length of two digits is less */
    SHORT_BULK_EXTRA = 7, /* "$", those, and two line ends */
};

/* A kind, a number, a line end. */
static void put_number(struct resp *out, uint8_t kind, int64_t number) {
    char text[DECIMAL_MAX + 3], *end = text + sizeof(text);
    char *begin = decimal_put(number, end - 2);
    memcpy(end - 2, "\r\n", 2);
    *--begin = (char)kind;
    buf_append(out->to, begin, (size_t)(end - begin));
}

static void put_text(struct resp *out, uint8_t kind, struct bytes text) {
    buf_byte(out->to, kind);
    buf_put(out->to, text);
    buf_lit(out->to, "\r\n");
}

void resp_simple(struct resp *out, struct bytes text) {
    put_text(out, '+', text);
}

void resp_error(struct resp *out, struct bytes text) {
    size_t begin = out->to->size + 1;
    put_text(out, '-', text);
    for (uint8_t *c = out->to->data + begin; c < out->to->data + begin + text.size; c++)
        if (*c == '\r' || *c == '\n')
            *c = ' ';
}

void resp_int(struct resp *out, int64_t number) {
    put_number(out, ':', number);
}

/* A short one has its length in one or two digits, which are put without a look at the general way:
 * lists of names and scores are made of these. */
static void put_short_bulk(struct resp *out, struct bytes text) {
    uint8_t *begin = buf_reserve(out->to, text.size + SHORT_BULK_EXTRA), *to = begin;
    *to++ = '$';
    if (text.size >= 10)
        *to++ = (uint8_t)('0' + text.size / 10);
    *to++ = (uint8_t)('0' + text.size % 10);
    memcpy(to, "\r\n", 2);
    memcpy(to + 2, text.data, text.size);
    to += 2 + text.size;
    memcpy(to, "\r\n", 2);
    out->to->size += (size_t)(to + 2 - begin);
}

void resp_bulk(struct resp *out, struct bytes text) {
    if (text.size > 0 && text.size < SHORT_BULK) {
        put_short_bulk(out, text);
        return;
    }
    put_number(out, '$', (int64_t)text.size);
    buf_put(out->to, text);
    buf_lit(out->to, "\r\n");
}

void resp_null(struct resp *out) {
    if (out->version >= 3)
        buf_lit(out->to, "_\r\n");
    else
        buf_lit(out->to, "$-1\r\n");
}

void resp_null_array(struct resp *out) {
    if (out->version >= 3)
        buf_lit(out->to, "_\r\n");
    else
        buf_lit(out->to, "*-1\r\n");
}

void resp_bool(struct resp *out, bool truth) {
    if (out->version >= 3)
        put_text(out, '#', truth ? BYTES("t") : BYTES("f"));
    else
        resp_int(out, truth);
}

void resp_verbatim(struct resp *out, struct bytes text) {
    if (out->version < 3) {
        resp_bulk(out, text);
        return;
    }
    put_number(out, '=', (int64_t)text.size + 4);
    buf_lit(out->to, "txt:");
    buf_put(out->to, text);
    buf_lit(out->to, "\r\n");
}

/* ---- doubles ---- */

/* Whole numbers, which scores mostly are, need no search for the shortest text. Up to 2^53 each of
 * them is told apart, and the usual form has them without an exponent up to 17 digits. */
static bool is_plain_integer(double number) {
    return number > -9007199254740992.0 && number < 9007199254740992.0 &&
           number == (double)(int64_t)number && !(number == 0 && signbit(number));
}

size_t resp_double_text(double number, char to[RESP_DOUBLE_MAX]) {
    if (is_plain_integer(number)) {
        char text[DECIMAL_MAX], *end = text + sizeof(text);
        char *begin = decimal_put((int64_t)number, end);
        memcpy(to, begin, (size_t)(end - begin));
        return (size_t)(end - begin);
    }
    if (isinf(number)) {
        memcpy(to, number > 0 ? "inf" : "-inf", 4);
        return number > 0 ? 3 : 4;
    }
    return (size_t)snprintf(to, RESP_DOUBLE_MAX, "%.17g", number);
}

void resp_double(struct resp *out, double number) {
    char text[RESP_DOUBLE_MAX];
    size_t size = resp_double_text(number, text);
    if (out->version >= 3)
        put_text(out, ',', bytes_of(text, size));
    else
        resp_bulk(out, bytes_of(text, size));
}

/* ---- what has elements ---- */

void resp_array(struct resp *out, size_t count) {
    put_number(out, '*', (int64_t)count);
}

void resp_map(struct resp *out, size_t pairs) {
    if (out->version >= 3)
        put_number(out, '%', (int64_t)pairs);
    else
        put_number(out, '*', (int64_t)pairs * 2);
}

void resp_set(struct resp *out, size_t count) {
    put_number(out, out->version >= 3 ? '~' : '*', (int64_t)count);
}

void resp_push(struct resp *out, size_t count) {
    put_number(out, out->version >= 3 ? '>' : '*', (int64_t)count);
}

#include "net/canonical.h"

#include "base/limits.h"

#include <stdlib.h>
#include <strings.h>

bool bytes_cut(struct bytes *from, char separator, struct bytes *out) {
    if (from->data == NULL)
        return false;
    const uint8_t *at = from->size == 0 ? NULL : memchr(from->data, separator, from->size);
    if (at == NULL) {
        *out = *from;
        *from = (struct bytes){0};
        return true;
    }
    *out = bytes_of(from->data, (size_t)(at - from->data));
    *from = bytes_skip(*from, out->size + 1);
    return true;
}

/* --- %-encoding --- */

static bool is_unreserved(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

static void put_encoded(struct buf *to, uint8_t c) {
    static const char digits[] = "0123456789ABCDEF";
    if (is_unreserved(c)) {
        buf_byte(to, c);
        return;
    }
    buf_byte(to, '%');
    buf_byte(to, (uint8_t)digits[c >> 4]);
    buf_byte(to, (uint8_t)digits[c & 15]);
}

static int hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes a byte, or the three of "%2F"; a stray '%' is itself. */
static uint8_t take_decoded(struct bytes *from) {
    uint8_t c = from->data[0];
    int high, low;
    if (c == '%' && from->size >= 3 && (high = hex_digit(from->data[1])) >= 0 &&
        (low = hex_digit(from->data[2])) >= 0) {
        *from = bytes_skip(*from, 3);
        return (uint8_t)(high << 4 | low);
    }
    *from = bytes_skip(*from, 1);
    return c;
}

/* --- the path --- */

/* Drops the last segment of what was written since `start`. */
static void step_up(struct buf *to, size_t start) {
    while (to->size > start && to->data[to->size - 1] != '/')
        to->size--;
    if (to->size > start)
        to->size--;
}

void canonical_path(struct buf *to, struct bytes path) {
    size_t start = to->size;
    struct bytes segment;
    bool slash = path.size == 0 || path.data[path.size - 1] == '/';
    while (bytes_cut(&path, '/', &segment)) {
        if (segment.size == 0 || bytes_equal(segment, BYTES(".")))
            continue;
        if (bytes_equal(segment, BYTES(".."))) {
            step_up(to, start);
            continue;
        }
        buf_byte(to, '/');
        for (size_t i = 0; i < segment.size; i++) /* as it came, so '%' is encoded again */
            put_encoded(to, segment.data[i]);
    }
    if (slash || to->size == start)
        buf_byte(to, '/');
}

/* --- the query --- */

enum { PARAMETERS_MAX = LIMIT_QUERY_PARAMETERS };

struct parameter {
    struct bytes name, value; /* encoded, in the text being built */
};

static int compare_parameters(const void *left, const void *right) {
    const struct parameter *a = left, *b = right;
    int order = bytes_compare(a->name, b->name);
    return order != 0 ? order : bytes_compare(a->value, b->value);
}

static struct bytes encode_again(struct buf *to, struct bytes text) {
    size_t start = to->size;
    while (text.size != 0)
        put_encoded(to, take_decoded(&text));
    return bytes_of(to->data + start, to->size - start);
}

bool canonical_query(struct buf *to, struct bytes query) {
    struct parameter parameters[PARAMETERS_MAX];
    size_t count = 0;
    struct bytes part, name;
    struct buf encoded = {0};
    if (query.size == 0)
        return true;
    buf_reserve(&encoded, query.size * 3); /* so that it does not move */
    while (count < PARAMETERS_MAX && bytes_cut(&query, '&', &part)) {
        if (part.size == 0)
            continue;
        struct parameter *parameter = &parameters[count];
        bytes_cut(&part, '=', &name);
        parameter->name = encode_again(&encoded, name);
        parameter->value = encode_again(&encoded, part);
        if (!bytes_equal(parameter->name, BYTES("X-Amz-Signature")))
            count++;
    }
    qsort(parameters, count, sizeof parameters[0], compare_parameters);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_byte(to, '&');
        buf_put(to, parameters[i].name);
        buf_byte(to, '=');
        buf_put(to, parameters[i].value);
    }
    buf_release(&encoded);
    return query.data == NULL;
}

static bool same_name(struct bytes a, struct bytes b) {
    return a.size == b.size && strncasecmp((const char *)a.data, (const char *)b.data, a.size) == 0;
}

bool query_get(struct bytes query, struct bytes name, struct arena *arena, struct bytes *out) {
    struct bytes part, key;
    while (query.size != 0 && bytes_cut(&query, '&', &part)) {
        bytes_cut(&part, '=', &key);
        if (!same_name(key, name))
            continue;
        uint8_t *text = arena_alloc(arena, part.size + 1);
        size_t size = 0;
        while (part.size != 0)
            text[size++] = take_decoded(&part);
        *out = bytes_of(text, size);
        return true;
    }
    return false;
}

/* --- the headers --- */

static bool is_blank(uint8_t c) {
    return c == ' ' || c == '\t';
}

static void put_trimmed(struct buf *to, struct bytes value) {
    if (value.size == 0 || (memchr(value.data, ' ', value.size) == NULL &&
                            memchr(value.data, '\t', value.size) == NULL)) {
        buf_put(to, value);
        return;
    }
    uint8_t *at = buf_reserve(to, value.size), *start = at;
    for (size_t i = 0; i < value.size; i++) {
        if (!is_blank(value.data[i]))
            *at++ = value.data[i];
        else if (at != start && at[-1] != ' ')
            *at++ = ' ';
    }
    if (at != start && at[-1] == ' ')
        at--;
    to->size += (size_t)(at - start);
}

static bool put_header(struct buf *to, const struct http_exchange *exchange, struct bytes name) {
    bool found = false;
    buf_put(to, name);
    buf_byte(to, ':');
    for (size_t i = 0; i < exchange->header_count; i++) {
        if (!same_name(exchange->headers[i].name, name))
            continue;
        if (found)
            buf_byte(to, ',');
        put_trimmed(to, exchange->headers[i].value);
        found = true;
    }
    buf_byte(to, '\n');
    return found;
}

bool canonical_headers(struct buf *to, const struct http_exchange *exchange,
                       struct bytes signed_headers) {
    struct bytes name, before = {0};
    while (bytes_cut(&signed_headers, ';', &name)) {
        /* The order also bounds the work: no header is taken twice. */
        if (bytes_compare(before, name) >= 0 || !put_header(to, exchange, name))
            return false;
        before = name;
    }
    return true;
}

bool canonical_head(struct buf *to, const struct http_exchange *exchange,
                    struct bytes signed_headers) {
    buf_put(to, exchange->method);
    buf_byte(to, '\n');
    canonical_path(to, exchange->path);
    buf_byte(to, '\n');
    if (!canonical_query(to, exchange->query))
        return false;
    buf_byte(to, '\n');
    if (!canonical_headers(to, exchange, signed_headers))
        return false;
    buf_byte(to, '\n');
    buf_put(to, signed_headers);
    buf_byte(to, '\n');
    return true;
}

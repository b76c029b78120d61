/* The heads that nearly all requests have, read without http-parser, which looks at each byte in
 * turn and was a third of the work of a small request.
 *
 * A head is plain if it is there whole, is a GET without a body or a POST with a Content-Length of
 * few digits, of HTTP/1.1, with the path as its target, and if its bytes are such that nobody could
 * read them in two ways: printable ASCII, names of letters, digits, '-' and '_', no empty value,
 * and none of the fields that change how the request goes on (Transfer-Encoding, Upgrade, a
 * Connection that is to end). Whatever else there is, is left to http-parser, which then sees all
 * of it. What is checked of a head (request.c) is the same for both. */
#include "net/request.h"

#include <strings.h>

enum { IN_NAME = 1, IN_TARGET = 2, LENGTH_DIGITS = 9 };

/* Letters, digits, '-' and '_' may be in both, "%&+,./:=?@~" in a target. */
enum { T = IN_TARGET, B = IN_NAME | IN_TARGET };
static const uint8_t kinds[256] = {
    /* clang-format off */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, T, T, 0, 0, 0, 0, T, T, B, T, T, /* ' ' to '/' */
    B, B, B, B, B, B, B, B, B, B, T, 0, 0, T, 0, T, /* '0' to '?' */
    T, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, /* '@' to 'O' */
    B, B, B, B, B, B, B, B, B, B, B, 0, 0, 0, 0, B, /* 'P' to '_' */
    0, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, /* '`' to 'o' */
    B, B, B, B, B, B, B, B, B, B, B, 0, 0, 0, T, 0, /* 'p' to DEL */
    /* clang-format on */
};

/* How many bytes from `at` on are of the kind; a byte that is not stands somewhere behind. */
static inline size_t run_of(const uint8_t *at, uint8_t kind) {
    size_t size = 0;
    while ((kinds[at[size]] & kind) != 0)
        size++;
    return size;
}

/* Whether all bytes are printable ASCII: none has its highest bit, before or after what would carry
 * it there from below a blank or from DEL. */
static bool is_printable(const uint8_t *at, size_t size) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t bad = 0;
    for (; size >= 8; at += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        bad |= word | (word - 0x20 * ones) | (word + ones);
    }
    for (; size > 0; at++, size--)
        bad |= *at < 0x20 || *at >= 0x7f ? 0x80 : 0;
    return (bad & (0x80 * ones)) == 0;
}

static bool is_named(struct bytes name, struct bytes other) {
    return name.size == other.size &&
           strncasecmp((const char *)name.data, (const char *)other.data, name.size) == 0;
}

static bool read_length(struct bytes text, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *out = *out * 10 + (text.data[i] - '0');
    }
    return text.size <= LENGTH_DIGITS;
}

/* What the fields say of the body. */
struct plain_body {
    bool has_length;
    uint64_t length;
};

/* False if the field means more than a plain head may say. */
static bool take_field(struct bytes name, struct bytes value, struct plain_body *body) {
    switch (name.size) {
    case 7:
        return !is_named(name, BYTES("upgrade"));
    case 10:
        return !is_named(name, BYTES("connection")) || is_named(value, BYTES("keep-alive"));
    case 14:
        if (!is_named(name, BYTES("content-length")))
            return true;
        if (body->has_length)
            return false;
        body->has_length = true;
        return read_length(value, &body->length);
    case 16:
        return !is_named(name, BYTES("proxy-connection"));
    default: /* for http-parser a name that only begins so is one that goes with no length */
        return name.size < 17 || !is_named(bytes_of(name.data, 17), BYTES("transfer-encoding"));
    }
}

/* Reads the line at `at`, which ends in CRLF; returns where the next one begins, or NULL. */
static const uint8_t *take_line(struct request *request, const uint8_t *at,
                                struct plain_body *body) {
    const uint8_t *base = request->in.data;
    struct bytes name = bytes_of(at, run_of(at, IN_NAME)), value;
    if (name.size == 0 || at[name.size] != ':' || request->field_count == LIMIT_HEADERS)
        return NULL;
    value.data = at + name.size + 1;
    while (*value.data == ' ')
        value.data++;
    const uint8_t *end = memchr(value.data, '\r', (size_t)(base + request->in.size - value.data));
    value.size = (size_t)(end - value.data);
    if (!is_printable(value.data, value.size))
        return NULL;
    while (value.size > 0 && value.data[value.size - 1] == ' ')
        value.size--;
    if (value.size == 0 || !take_field(name, value, body))
        return NULL;
    request->fields[request->field_count++] = (struct request_field){
        {(size_t)(name.data - base), name.size}, {(size_t)(value.data - base), value.size}};
    return end + 2;
}

/* Reads "POST /path HTTP/1.1\r\n"; returns where the next line begins, or NULL. */
static const uint8_t *take_request_line(struct request *request, const uint8_t *at) {
    static const char get[] = "GET /", post[] = "POST /", version[] = " HTTP/1.1\r\n";
    size_t left = request->head_framing.end;
    bool posts = left > sizeof(post) && memcmp(at, post, sizeof(post) - 1) == 0;
    if (!posts && (left <= sizeof(get) || memcmp(at, get, sizeof(get) - 1) != 0))
        return NULL;
    const uint8_t *target = at + (posts ? sizeof(post) : sizeof(get)) - 2;
    size_t size = run_of(target, IN_TARGET);
    left -= (size_t)(target - at) + size;
    if (left < sizeof(version) || memcmp(target + size, version, sizeof(version) - 1) != 0)
        return NULL;
    request->url = (struct request_span){(size_t)(target - request->in.data), size};
    request->parser.method = posts ? HTTP_POST : HTTP_GET;
    return target + size + sizeof(version) - 1;
}

static bool take_head(struct request *request, struct plain_body *body) {
    const uint8_t *start = request->in.data + request->start;
    const uint8_t *end = start + request->head_framing.end - 2; /* of its empty line */
    const uint8_t *at = take_request_line(request, start);
    while (at != NULL && at < end)
        at = take_line(request, at, body);
    return at == end && body->has_length == (request->parser.method == HTTP_POST);
}

bool request_take_plain(struct request *request) {
    struct plain_body body = {0};
    http_parser *parser = &request->parser;
    if (!take_head(request, &body)) {
        request->field_count = 0;
        request->url = (struct request_span){0};
        http_parser_init(parser, HTTP_REQUEST);
        parser->data = request;
        return false;
    }
    parser->http_major = parser->http_minor = 1;
    parser->flags = body.has_length ? F_CONTENTLENGTH : 0;
    parser->content_length = body.length;
    request->plain = request->headers_done = true;
    request->parsed = request->start + request->head_framing.end;
    return true;
}

void request_take_plain_body(struct request *request) {
    http_parser *parser = &request->parser;
    size_t size = request->in.size - request->parsed;
    if (size > parser->content_length)
        size = (size_t)parser->content_length;
    if (request->body.size == 0)
        request->body.at = request->parsed;
    request->body.size += size;
    request->parsed += size;
    parser->content_length -= size; /* what is still to come, as http-parser counts it */
    request->ready = request->keep_alive = parser->content_length == 0;
}

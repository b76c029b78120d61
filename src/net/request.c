#include "net/request.h"

#include "base/limits.h"
#include "base/mem.h"

#include <strings.h>

static bool is_text(struct bytes bytes, const char *text) {
    return strlen(text) == bytes.size &&
           strncasecmp((const char *)bytes.data, text, bytes.size) == 0;
}

static int request_refuse(struct request *request, int status, const char *text) {
    if (request->refusal == 0) {
        request->refusal = status;
        request->refusal_text = text;
    }
    return -1; /* what makes the parser stop */
}

/* ---- the parser's callbacks: they note where things are ---- */

static struct request *request_of(http_parser *parser) {
    return parser->data;
}

/* Adds a piece to a span. Pieces of one thing lie side by side, except in folded header lines,
 * which nobody sends any more but those who try to smuggle. */
static bool span_add(struct request *request, struct request_span *span, const char *at,
                     size_t size) {
    size_t offset = (size_t)((const uint8_t *)at - request->in.data);
    if (span->at == 0 && span->size == 0)
        span->at = offset;
    if (span->at + span->size != offset)
        return false;
    span->size += size;
    return true;
}

static int on_url(http_parser *parser, const char *at, size_t size) {
    struct request *request = request_of(parser);
    span_add(request, &request->url, at, size);
    return 0;
}

static int on_header_field(http_parser *parser, const char *at, size_t size) {
    struct request *request = request_of(parser);
    if (request->headers_done)
        return 0; /* trailers are read over */
    if (request->in_value || request->field_count == 0) {
        if (request->field_count == LIMIT_HEADERS)
            return request_refuse(request, 431, "too many headers");
        request->fields[request->field_count++] = (struct request_field){0};
        request->in_value = false;
    }
    span_add(request, &request->fields[request->field_count - 1].name, at, size);
    return 0;
}

static int on_header_value(http_parser *parser, const char *at, size_t size) {
    struct request *request = request_of(parser);
    if (request->headers_done)
        return 0;
    request->in_value = true;
    if (!span_add(request, &request->fields[request->field_count - 1].value, at, size))
        return request_refuse(request, 400, "folded header lines are not accepted");
    return 0;
}

static struct bytes span_bytes(const struct request *request, struct request_span span) {
    return bytes_of(request->in.data + span.at, span.size);
}

static void trim(const struct request *request, struct request_span *span) {
    const uint8_t *data = request->in.data + span->at;
    while (span->size > 0 && (data[span->size - 1] == ' ' || data[span->size - 1] == '\t'))
        span->size--;
}

struct seen {
    unsigned hosts, encodings;
    struct bytes host;
};

/* A name or an address, and perhaps a port: nothing that could be read as more than one, or as a
 * path. */
static bool is_host(struct bytes value) {
    for (size_t i = 0; i < value.size; i++) {
        uint8_t byte = value.data[i];
        bool plain = (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
        if (!plain && (byte == 0 || strchr("-._~!$&'()*+;=%:[]", byte) == NULL))
            return false;
    }
    return true;
}

static int check_field(struct request *request, struct request_field *field, struct seen *seen) {
    trim(request, &field->value);
    struct bytes name = span_bytes(request, field->name);
    struct bytes value = span_bytes(request, field->value);
    /* "Content-Length : 5" means different things to different servers. */
    if (name.size == 0 || memchr(name.data, ' ', name.size) != NULL)
        return request_refuse(request, 400, "a header's name is not well formed");
    if (name.size == 4 && is_text(name, "host")) {
        seen->hosts++;
        seen->host = value;
        if (!is_host(value))
            return request_refuse(request, 400, "the Host header is not well formed");
    } else if (name.size == 6 && is_text(name, "expect")) {
        if (!is_text(value, "100-continue"))
            return request_refuse(request, 417, "no expectation but 100-continue can be met");
        request->expects_continue = !request->is_old;
    } else if (name.size == 17 && is_text(name, "transfer-encoding")) {
        if (!is_text(value, "chunked"))
            return request_refuse(request, 501, "no transfer encoding but chunked is understood");
        seen->encodings++;
    }
    return 0;
}

/* "http://host/path?query": skips to the path. *host is what stands before it; empty in the other
 * forms ("/path", "*"). False if it is none of them. */
static bool split_target(struct bytes *url, struct bytes *host) {
    *host = (struct bytes){0};
    if (url->size == 0 || url->data[0] == '/' || bytes_equal(*url, BYTES("*")))
        return true;
    size_t scheme = bytes_find(*url, BYTES("://"));
    if (scheme == SIZE_MAX || !(is_text(bytes_of(url->data, scheme), "http") ||
                                is_text(bytes_of(url->data, scheme), "https")))
        return false;
    *url = bytes_skip(*url, scheme + 3);
    while (host->size < url->size && memchr("/?#", url->data[host->size], 3) == NULL)
        *host = bytes_of(url->data, host->size + 1);
    *url = bytes_skip(*url, host->size);
    return host->size != 0;
}

/* Whose request it is must be the same by the target and by the header. */
static bool is_target(const struct request *request, const struct seen *seen) {
    struct bytes url = span_bytes(request, request->url), host;
    if (!split_target(&url, &host))
        return false;
    return host.size == 0 || seen->hosts == 0 ||
           (host.size == seen->host.size &&
            strncasecmp((const char *)host.data, (const char *)seen->host.data, host.size) == 0);
}

static size_t headers_end(const struct request *request) {
    if (request->field_count == 0)
        return request->url.at + request->url.size;
    struct request_span last = request->fields[request->field_count - 1].value;
    return last.at + last.size;
}

static int check_headers(struct request *request) {
    http_parser *parser = &request->parser;
    struct seen seen = {0};
    if (parser->http_major != 1)
        return request_refuse(request, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    for (size_t i = 0; i < request->field_count; i++)
        if (check_field(request, &request->fields[i], &seen) != 0)
            return -1;
    if (parser->method == HTTP_CONNECT)
        return request_refuse(request, 400, "this is not a proxy");
    if (seen.hosts > 1 || (seen.hosts == 0 && !request->is_old))
        return request_refuse(request, 400, "a request has one Host header");
    if (!is_target(request, &seen))
        return request_refuse(request, 400, "the target is not of this Host");
    if (seen.encodings > 1 || (seen.encodings == 1 && request->is_old))
        return request_refuse(request, 400, "the Transfer-Encoding header is not well formed");
    if (request->url.size > LIMIT_REQUEST_LINE)
        return request_refuse(request, 400, "the request line is too long");
    if (headers_end(request) - (request->url.at + request->url.size) > request->limits.header_max)
        return request_refuse(request, 400, "the headers are too large");
    if ((parser->flags & F_CONTENTLENGTH) && parser->content_length > request->limits.body_max)
        return request_refuse(request, 413, "the body is too large");
    return 0;
}

static int on_headers_complete(http_parser *parser) {
    struct request *request = request_of(parser);
    request->headers_done = true;
    request->chunked = (parser->flags & F_CHUNKED) != 0;
    request->is_head = parser->method == HTTP_HEAD;
    request->is_old = parser->http_minor == 0;
    if (check_headers(request) != 0)
        return -1;
    /* An offer to speak another protocol may be ignored (h2c, which Java sends), or taken by the
     * handler (channel.h): either way the request ends here. */
    parser->upgrade = 0;
    return 0;
}

static int on_body(http_parser *parser, const char *at, size_t size) {
    struct request *request = request_of(parser);
    struct request_span *body = &request->body;
    if (size > request->limits.body_max - body->size)
        return request_refuse(request, 413, "the body is too large");
    if (body->size == 0)
        body->at = (size_t)((const uint8_t *)at - request->in.data);
    /* A later chunk closes up to the one before it, over the parsed chunk header between them. */
    uint8_t *to = request->in.data + body->at + body->size;
    if (to != (const uint8_t *)at)
        memmove(to, at, size);
    body->size += size;
    return 0;
}

static int on_message_complete(http_parser *parser) {
    struct request *request = request_of(parser);
    request->ready = true;
    request->keep_alive = http_should_keep_alive(parser) != 0;
    http_parser_pause(parser, 1); /* what follows is the next request's */
    return 0;
}

static const http_parser_settings callbacks = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

/* ---- the finished request ---- */

/* Splits "/path?query#fragment", or "http://host/path?query#fragment" as proxies send it. */
static void fill_target(struct http_exchange *exchange, struct bytes url) {
    struct bytes host;
    split_target(&url, &host);
    const uint8_t *fragment = url.size > 0 ? memchr(url.data, '#', url.size) : NULL;
    if (fragment != NULL)
        url.size = (size_t)(fragment - url.data);
    const uint8_t *mark = url.size > 0 ? memchr(url.data, '?', url.size) : NULL;
    size_t path_size = mark == NULL ? url.size : (size_t)(mark - url.data);
    exchange->path = path_size == 0 ? BYTES("/") : bytes_of(url.data, path_size);
    exchange->query =
        mark == NULL ? (struct bytes){0} : bytes_of(mark + 1, url.size - path_size - 1);
}

static void fill_exchange(struct request *request) {
    struct http_exchange *exchange = &request->exchange;
    exchange->method = bytes_str(http_method_str((enum http_method)request->parser.method));
    fill_target(exchange, span_bytes(request, request->url));
    for (size_t i = 0; i < request->field_count; i++)
        request->headers[i] = (struct http_header){span_bytes(request, request->fields[i].name),
                                                   span_bytes(request, request->fields[i].value)};
    exchange->headers = request->headers;
    exchange->header_count = request->field_count;
    exchange->body =
        request->body.size == 0 ? (struct bytes){0} : span_bytes(request, request->body);
}

void request_fill_head(struct request *request) {
    fill_exchange(request);
    request->exchange.body = (struct bytes){0};
}

size_t request_body_size(const struct request *request) {
    size_t left = 0; /* http-parser counts down what is still to come */
    if (!request->ready && !request->chunked && (request->parser.flags & F_CONTENTLENGTH) != 0)
        left = (size_t)request->parser.content_length;
    return request->body.size + left;
}

static enum request_state parse_error(struct request *request) {
    enum http_errno error = HTTP_PARSER_ERRNO(&request->parser);
    if (error == HPE_HEADER_OVERFLOW)
        request_refuse(request, 400, "the headers are too large");
    else
        request_refuse(request, 400, http_errno_description(error));
    return REQUEST_REFUSED;
}

static void run_parser(struct request *request, size_t size) {
    const char *fresh = (const char *)request->in.data + request->parsed;
    if (size != 0) /* to the parser nothing means the end */
        request->parsed += http_parser_execute(&request->parser, &callbacks, fresh, size);
}

/* Parses the lines of the head that are there and have been checked, and nothing behind it. Of the
 * request line a part will do: who speaks another protocol need not end it to hear so. */
static void parse_head(struct request *request) {
    struct head_framing *framing = &request->head_framing;
    size_t end = request->in.size - request->start;
    const char *fault =
        head_framing_check(framing, bytes_of(request->in.data + request->start, end));
    if (fault != NULL) {
        request_refuse(request, 400, fault);
        return;
    }
    if (framing->end != 0 && request->parsed == request->start && request_take_plain(request)) {
        if (check_headers(request) == 0)
            request_take_plain_body(request); /* a GET has none, and is ready */
        return;
    }
    if (framing->begun)
        end = framing->line;
    run_parser(request, request->start + end - request->parsed);
    bool well = request->refusal == 0 && HTTP_PARSER_ERRNO(&request->parser) == HPE_OK;
    if (well && framing->end != 0 && !request->headers_done)
        request_refuse(request, 400, "the head is not well formed");
}

static void parse_body(struct request *request) {
    struct chunk_framing *framing = &request->chunk_framing;
    size_t size = request->in.size - request->parsed;
    if (request->plain) {
        request_take_plain_body(request);
        return;
    }
    if (request->chunked) {
        struct bytes fresh = bytes_of(request->in.data + request->parsed, size);
        framing->body_max = request->limits.body_max;
        const char *fault = chunk_framing_take(framing, fresh, &size);
        if (fault != NULL) {
            request_refuse(request, framing->too_large ? 413 : 400, fault);
            return;
        }
    }
    run_parser(request, size);
}

enum request_state request_parse(struct request *request) {
    if (request->refusal != 0)
        return REQUEST_REFUSED;
    if (request->ready)
        return REQUEST_READY;
    if (!request_has_surplus(request))
        return REQUEST_MORE;
    if (!request->headers_done)
        parse_head(request);
    if (request->refusal == 0 && request->headers_done && !request->ready &&
        request_has_surplus(request))
        parse_body(request);
    if (request->ready && request->refusal == 0) {
        fill_exchange(request);
        return REQUEST_READY;
    }
    if (request->refusal != 0 || HTTP_PARSER_ERRNO(&request->parser) != HPE_OK)
        return parse_error(request);
    if (!request->headers_done &&
        request->in.size - request->start > request->limits.header_max + LIMIT_REQUEST_LINE) {
        request_refuse(request, 400, "the headers are too large");
        return REQUEST_REFUSED;
    }
    if (request->headers_done) {
        /* Chunk headers have done their duty: a body of tiny chunks takes no more room. */
        request->in.size =
            request->body.size == 0 ? headers_end(request) : request->body.at + request->body.size;
        request->parsed = request->in.size;
    }
    return REQUEST_MORE;
}

/* ---- the buffer ---- */

struct request *request_new(void) {
    struct request *request = mem_alloc(sizeof(*request));
    memset(request, 0, offsetof(struct request, fields));
    arena_init(&request->exchange.arena);
    return request;
}

void request_free(struct request *request) {
    arena_release(&request->exchange.arena);
    buf_release(&request->exchange.reply);
    buf_release(&request->head);
    buf_release(&request->in);
    mem_free(request);
}

/* Ready for a request that begins at `start`. */
static void begin_at(struct request *request, size_t start) {
    http_parser_init(&request->parser, HTTP_REQUEST);
    request->parser.data = request;
    request->start = start;
    request->parsed = start;
    request->head_framing = (struct head_framing){0};
    request->chunk_framing = (struct chunk_framing){0};
    request->url = (struct request_span){0};
    request->body = (struct request_span){0};
    request->field_count = 0;
    request->plain = request->chunked = false;
    request->in_value = request->headers_done = request->ready = false;
    request->judged = request->withheld = false;
    request->expects_continue = request->keep_alive = false;
    request->is_head = request->is_old = false;
    request->refusal = 0;
    request->refusal_text = NULL;
}

void request_begin(struct request *request, const struct request_limits *limits) {
    request->limits = *limits;
    buf_clear(&request->in);
    begin_at(request, 0);
}

static void release_large(struct buf *buf) {
    buf_clear(buf);
    if (buf->room > REQUEST_KEEP)
        buf_release(buf);
}

/* What the handler and its answer used. */
static void release_exchange(struct request *request) {
    struct http_exchange *exchange = &request->exchange;
    if (exchange->arena.used > REQUEST_KEEP)
        arena_release(&exchange->arena);
    else
        arena_reset(&exchange->arena);
    release_large(&exchange->reply);
    release_large(&request->head);
    exchange->user = NULL;
}

void request_end(struct request *request) {
    release_exchange(request);
    release_large(&request->in);
}

uint8_t *request_room(struct request *request, size_t *room) {
    struct buf *in = &request->in;
    if (!request->ready && !request->withheld) {
        size_t want = in->room == 0 ? REQUEST_ROOM : REQUEST_READ_MIN;
        if (request->headers_done && (request->parser.flags & F_CONTENTLENGTH) &&
            request->parser.content_length > want)
            want = request->parser.content_length > REQUEST_READ_MAX
                       ? REQUEST_READ_MAX
                       : (size_t)request->parser.content_length;
        buf_reserve(in, want);
    }
    *room = in->room - in->size;
    if (*room > REQUEST_READ_MAX)
        *room = REQUEST_READ_MAX;
    return *room == 0 ? NULL : in->data + in->size;
}

void request_added(struct request *request, size_t count) {
    request->in.size += count;
}

void request_next(struct request *request) {
    struct buf *in = &request->in;
    struct bytes surplus = bytes_of(in->data + request->parsed, in->size - request->parsed);
    release_exchange(request);
    if (in->room > REQUEST_KEEP && surplus.size <= REQUEST_KEEP / 2) {
        struct buf small = {0};
        buf_put(&small, surplus);
        buf_release(in);
        *in = small;
        begin_at(request, 0);
    } else if (surplus.size == 0 || request->parsed > in->room / 2) {
        /* Moving only when half is used up keeps the cost of it a byte for a byte. */
        if (surplus.size != 0)
            memmove(in->data, surplus.data, surplus.size);
        in->size = surplus.size;
        begin_at(request, 0);
    } else
        begin_at(request, request->parsed);
}

struct bytes http_header(const struct http_exchange *exchange, const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < exchange->header_count; i++) {
        struct http_header header = exchange->headers[i];
        if (header.name.size == size &&
            strncasecmp((const char *)header.name.data, name, size) == 0)
            return header.value;
    }
    return (struct bytes){0};
}

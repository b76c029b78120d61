/* Requests. While a request arrives its bytes may move between two pieces: the address of an
 * argument is its offset until the request is READY. */
#include "net/resp.h"

#include "base/limits.h"
#include "base/mem.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    STRANGE_ARGS = 10, /* what a client may send that has not said who it is */
    STRANGE_BULK = 16 * 1024,
    KEEP_ROOM = 64,   /* larger arrays are not kept for the next request */
    SHORT_LENGTH = 3, /* digits of most lengths */
};

void resp_init(struct resp_parser *parser) {
    memset(parser, 0, sizeof(*parser));
    parser->args = parser->args_inline;
    parser->room = RESP_ARGS_INLINE;
}

static void release_args(struct resp_parser *parser) {
    if (parser->args != parser->args_inline)
        mem_free(parser->args);
    parser->args = parser->args_inline;
    parser->room = RESP_ARGS_INLINE;
}

void resp_release(struct resp_parser *parser) {
    release_args(parser);
    buf_release(&parser->words);
}

void resp_next(struct resp_parser *parser) {
    parser->step = RESP_BEGIN;
    parser->count = parser->used = parser->at = parser->scanned = 0;
    parser->base = NULL;
    parser->fault[0] = '\0';
    if (parser->room > KEEP_ROOM)
        release_args(parser);
    if (parser->words.room != 0)
        buf_release(&parser->words);
}

const char *resp_fault(const struct resp_parser *parser) {
    return parser->fault;
}

static enum resp_state resp_refuse(struct resp_parser *parser, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int size = snprintf(parser->fault, sizeof(parser->fault), "Protocol error: ");
    vsnprintf(parser->fault + size, sizeof(parser->fault) - (size_t)size, format, args);
    va_end(args);
    return RESP_REFUSED;
}

static void grow(struct resp_parser *parser) {
    size_t room = parser->room * 2;
    if (parser->args == parser->args_inline) {
        parser->args = mem_alloc(room * sizeof(*parser->args));
        memcpy(parser->args, parser->args_inline, sizeof(parser->args_inline));
    } else
        parser->args = mem_realloc(parser->args, room * sizeof(*parser->args));
    parser->room = room;
}

static void add_arg(struct resp_parser *parser, size_t at, size_t size) {
    if (parser->count == parser->room)
        grow(parser);
    parser->args[parser->count++] = bytes_of((const uint8_t *)(uintptr_t)at, size);
}

/* Has the arguments' addresses count from `base`, whatever they did before. */
static enum resp_state ready(struct resp_parser *parser, const uint8_t *base) {
    uintptr_t further = (uintptr_t)base - (uintptr_t)parser->base; /* modulo, if it is less */
    for (size_t i = 0; i < parser->count && further != 0; i++)
        parser->args[i].data = (const uint8_t *)((uintptr_t)parser->args[i].data + further);
    parser->base = base;
    return RESP_READY;
}

const uint8_t *resp_end(const struct resp_parser *parser) {
    return parser->words.size != 0 ? NULL : parser->base + parser->used;
}

struct bytes *resp_take_args(struct resp_parser *parser) {
    struct bytes *args = parser->args;
    if (args == parser->args_inline)
        return NULL;
    parser->args = parser->args_inline;
    parser->room = RESP_ARGS_INLINE;
    parser->count = 0;
    return args;
}

/* ---- lines ---- */

/* A line that ends in `end`: MORE until it is there, and *out without its end. */
static enum resp_state take_line(struct resp_parser *parser, struct bytes bytes, uint8_t end,
                                 const char *too_long, struct bytes *out) {
    size_t from = parser->scanned > parser->at ? parser->scanned : parser->at;
    const uint8_t *found =
        bytes.size > from ? memchr(bytes.data + from, end, bytes.size - from) : NULL;
    if (found == NULL) {
        parser->scanned = bytes.size;
        if (bytes.size - parser->at <= LIMIT_STREAM_LINE)
            return RESP_MORE;
        resp_refuse(parser, "%s", too_long);
        return RESP_REFUSED;
    }
    *out = bytes_of(bytes.data + parser->at, (size_t)(found - bytes.data) - parser->at);
    return RESP_READY;
}

/* A decimal number as the protocol writes it: no blanks, no plus, no leading zeros. */
static bool read_length(struct bytes text, int64_t *out) {
    bool minus = text.size > 0 && text.data[0] == '-';
    size_t i = minus ? 1 : 0;
    int64_t number = 0;
    if (i == text.size || text.size - i > 18 || (text.data[i] == '0' && text.size > 1))
        return false;
    for (; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        number = number * 10 + (text.data[i] - '0');
    }
    *out = minus ? -number : number;
    return true;
}

/* The number in a line that begins with one byte of kind. */
struct length {
    int64_t number;
    bool valid;
    size_t size; /* of the line with its two ends */
};

/* A number of few digits, as most have, whose line is there whole. False: look more closely. */
static bool take_short(struct bytes line, struct length *out) {
    if (line.size < SHORT_LENGTH + 3 || line.data[1] < '1' || line.data[1] > '9')
        return false;
    int64_t number = line.data[1] - '0';
    for (size_t i = 2; i <= SHORT_LENGTH + 1; i++) {
        if (line.data[i] == '\r') {
            *out = (struct length){number, true, i + 2};
            return true;
        }
        if (line.data[i] < '0' || line.data[i] > '9')
            return false;
        number = number * 10 + (line.data[i] - '0');
    }
    return false;
}

static enum resp_state take_length(struct resp_parser *parser, struct bytes bytes,
                                   const char *too_long, struct length *out) {
    struct bytes line = {0};
    if (take_short(bytes_skip(bytes, parser->at), out))
        return RESP_READY;
    enum resp_state state = take_line(parser, bytes, '\r', too_long, &line);
    if (state != RESP_READY)
        return state;
    if (bytes.size < parser->at + line.size + 2) {
        parser->scanned = parser->at + line.size;
        return RESP_MORE;
    }
    out->valid = read_length(bytes_skip(line, 1), &out->number);
    out->size = line.size + 2;
    return RESP_READY;
}

static enum resp_state parse_header(struct resp_parser *parser, struct bytes bytes,
                                    const struct resp_limits *limits) {
    struct length length;
    enum resp_state state = take_length(parser, bytes, "too big mbulk count string", &length);
    if (state != RESP_READY)
        return state;
    int64_t count = length.valid ? length.number : INT64_MAX;
    if (count > (int64_t)limits->args_max)
        return resp_refuse(parser, "invalid multibulk length");
    if (count > STRANGE_ARGS && limits->strange)
        return resp_refuse(parser, "unauthenticated multibulk length");
    parser->at += length.size;
    parser->wanted = count > 0 ? (size_t)count : 0;
    parser->step = count > 0 ? RESP_SIZE : RESP_DONE;
    return RESP_MORE;
}

static enum resp_state parse_size(struct resp_parser *parser, struct bytes bytes,
                                  const struct resp_limits *limits) {
    struct length length;
    enum resp_state state = take_length(parser, bytes, "too big bulk count string", &length);
    if (state != RESP_READY)
        return state;
    if (bytes.data[parser->at] != '$')
        return resp_refuse(parser, "expected '$', got '%c'", bytes.data[parser->at]);
    int64_t size = length.valid ? length.number : -1;
    if (size < 0 || size > (int64_t)limits->bulk_max)
        return resp_refuse(parser, "invalid bulk length");
    if (size > STRANGE_BULK && limits->strange)
        return resp_refuse(parser, "unauthenticated bulk length");
    parser->at += length.size;
    if (parser->at + (size_t)size > limits->size_max)
        return resp_refuse(parser, "too big request");
    parser->bulk = (size_t)size;
    parser->step = RESP_BULK;
    return RESP_MORE;
}

/* ---- inline requests ---- */

static int hex_digit(uint8_t c) {
    return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

/* What the escape after a backslash stands for; takes it off *text. */
static uint8_t unescape(struct bytes *text) {
    static const char names[] = "nrtba", stands[] = "\n\r\t\b\a";
    uint8_t c = text->data[0];
    if (c == 'x' && text->size >= 3 && hex_digit(text->data[1]) >= 0 &&
        hex_digit(text->data[2]) >= 0) {
        c = (uint8_t)(hex_digit(text->data[1]) * 16 + hex_digit(text->data[2]));
        *text = bytes_skip(*text, 3);
        return c;
    }
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    *text = bytes_skip(*text, 1);
    return found != NULL ? (uint8_t)stands[found - names] : c;
}

/* The inside of quotes, up to the closing one; false if there is none, or more right behind it. */
static bool take_quoted(struct bytes *text, uint8_t quote, struct buf *to) {
    while (text->size > 0) {
        uint8_t c = text->data[0];
        *text = bytes_skip(*text, 1);
        if (c == quote)
            return text->size == 0 || isspace(text->data[0]);
        bool escape = c == '\\' && text->size > 0 && (quote == '"' || text->data[0] == '\'');
        buf_byte(to, escape ? unescape(text) : c);
    }
    return false;
}

static bool take_word(struct bytes *text, struct buf *to) {
    while (text->size > 0 && !isspace(text->data[0]) && text->data[0] != '\0') {
        uint8_t c = text->data[0];
        *text = bytes_skip(*text, 1);
        if (c == '"' || c == '\'')
            return take_quoted(text, c, to);
        buf_byte(to, c);
    }
    return true;
}

static enum resp_state parse_line(struct resp_parser *parser, struct bytes bytes) {
    struct bytes line = {0};
    enum resp_state state = take_line(parser, bytes, '\n', "too big inline request", &line);
    if (state != RESP_READY)
        return state;
    parser->at += line.size + 1;
    for (;;) {
        while (line.size > 0 && isspace(line.data[0]))
            line = bytes_skip(line, 1);
        if (line.size == 0 || line.data[0] == '\0')
            break;
        size_t begin = parser->words.size;
        if (!take_word(&line, &parser->words))
            return resp_refuse(parser, "unbalanced quotes in request");
        add_arg(parser, begin, parser->words.size - begin);
    }
    buf_byte(&parser->words, 0); /* so that an empty word has an address, too */
    parser->step = RESP_DONE;
    return RESP_MORE;
}

/* ---- a request ---- */

static enum resp_state parse_bulk(struct resp_parser *parser, struct bytes bytes) {
    if (bytes.size - parser->at < parser->bulk + 2)
        return RESP_MORE;
    add_arg(parser, parser->at, parser->bulk);
    parser->at += parser->bulk + 2;
    parser->step = parser->count == parser->wanted ? RESP_DONE : RESP_SIZE;
    return RESP_MORE;
}

static enum resp_state parse_step(struct resp_parser *parser, struct bytes bytes,
                                  const struct resp_limits *limits) {
    switch (parser->step) {
    case RESP_BEGIN:
        if (bytes.size != 0)
            parser->step = bytes.data[0] == '*' ? RESP_HEADER : RESP_LINE;
        return RESP_MORE;
    case RESP_HEADER:
        return parse_header(parser, bytes, limits);
    case RESP_SIZE:
        return parse_size(parser, bytes, limits);
    case RESP_BULK:
        return parse_bulk(parser, bytes);
    case RESP_LINE:
        return parse_line(parser, bytes);
    case RESP_DONE:
        break;
    }
    return RESP_READY;
}

enum resp_state resp_parse(struct resp_parser *parser, struct bytes bytes,
                           const struct resp_limits *limits) {
    if (parser->fault[0] != '\0')
        return RESP_REFUSED;
    while (parser->step != RESP_DONE) {
        enum resp_step before = parser->step;
        size_t at = parser->at;
        if (parse_step(parser, bytes, limits) == RESP_REFUSED)
            return RESP_REFUSED;
        if (parser->step == before && parser->at == at)
            return RESP_MORE;
    }
    parser->used = parser->at;
    return ready(parser, parser->words.size != 0 ? parser->words.data : bytes.data);
}

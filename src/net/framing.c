#include "net/framing.h"

#include "base/limits.h"

#include <string.h>

enum { DIGITS_MAX = 15 }; /* of a chunk's size: no sum of two such overflows */

/* ---- the head ---- */

/* "GET /path HTTP/1.1": three words, one blank between each two. */
static bool is_request_line(struct bytes line) {
    size_t blanks = 0;
    for (size_t i = 0; i < line.size; i++)
        if (line.data[i] == ' ') {
            bool double_blank = i + 1 < line.size && line.data[i + 1] == ' ';
            if (i == 0 || i + 1 == line.size || double_blank)
                return false;
            blanks++;
        }
    return blanks == 2;
}

/* One line without its CRLF, which is not the empty one at the end. */
static const char *check_line(struct head_framing *framing, struct bytes line) {
    if (memchr(line.data, '\r', line.size) != NULL)
        return "there is a CR within a line of the head";
    if (!framing->begun) {
        framing->begun = true;
        return is_request_line(line) ? NULL : "the request line is not well formed";
    }
    if (line.data[0] == ' ' || line.data[0] == '\t')
        return "folded header lines are not accepted";
    return NULL;
}

const char *head_framing_check(struct head_framing *framing, struct bytes bytes) {
    while (framing->end == 0 && framing->line < bytes.size) {
        const uint8_t *from = bytes.data + framing->line;
        const uint8_t *feed = memchr(from, '\n', bytes.size - framing->line);
        if (feed == NULL)
            return NULL;
        if (feed == from || feed[-1] != '\r')
            return "a line of the head ends in CRLF";
        struct bytes line = bytes_of(from, (size_t)(feed - 1 - from));
        framing->line += line.size + 2;
        if (line.size == 0 && framing->begun)
            framing->end = framing->line;
        if (line.size == 0) /* the end; or before the request, where the standard asks to skip it */
            continue;
        const char *fault = check_line(framing, line);
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

/* ---- chunks ---- */

static int digit_of(uint8_t byte) {
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static bool is_in_token(uint8_t byte) {
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
           (byte != 0 && strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

static bool is_in_text(uint8_t byte) {
    return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

static const char *take_size(struct chunk_framing *framing, uint8_t byte) {
    int digit = digit_of(byte);
    if (digit >= 0) {
        if (++framing->digits > DIGITS_MAX)
            return "the size of a chunk is too long";
        framing->size = framing->size * 16 + (unsigned)digit;
        return NULL;
    }
    if (framing->digits == 0 || (byte != ';' && byte != '\r'))
        return "the size of a chunk is not well formed";
    framing->state = byte == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF;
    return NULL;
}

/* Text up to a CR, of extensions and trailers. */
static const char *take_text(struct chunk_framing *framing, uint8_t byte, enum chunk_state then) {
    if (byte == '\r')
        framing->state = then;
    else if (!is_in_text(byte))
        return "an extension or trailer of the chunks is not well formed";
    else if (++framing->extra > LIMIT_CHUNK_EXTRA)
        return "the extensions and trailers of the chunks are too large";
    return NULL;
}

static const char *take_name(struct chunk_framing *framing, uint8_t byte) {
    bool begins = framing->state == CHUNK_TRAILER_BEGIN;
    if (begins && byte == '\r')
        framing->state = CHUNK_LAST_LF;
    else if (!begins && byte == ':')
        framing->state = CHUNK_TRAILER_VALUE;
    else if (!is_in_token(byte))
        return "a trailer's name is not well formed";
    else {
        framing->state = CHUNK_TRAILER_NAME;
        return take_text(framing, byte, CHUNK_TRAILER_NAME);
    }
    return NULL;
}

static const char *take_exactly(struct chunk_framing *framing, bool is_it, enum chunk_state then) {
    framing->state = then;
    return is_it ? NULL : "the lines between chunks end in CRLF";
}

static const char *end_size(struct chunk_framing *framing, uint8_t byte) {
    framing->total += framing->size;
    framing->digits = 0;
    framing->too_large = byte == '\n' && framing->total > framing->body_max;
    if (framing->too_large)
        return "the body is too large";
    return take_exactly(framing, byte == '\n',
                        framing->size == 0 ? CHUNK_TRAILER_BEGIN : CHUNK_DATA);
}

static const char *take_byte(struct chunk_framing *framing, uint8_t byte) {
    switch (framing->state) {
    case CHUNK_SIZE:
        return take_size(framing, byte);
    case CHUNK_EXTENSION:
        return take_text(framing, byte, CHUNK_SIZE_LF);
    case CHUNK_SIZE_LF:
        return end_size(framing, byte);
    case CHUNK_DATA_CR:
        return take_exactly(framing, byte == '\r', CHUNK_DATA_LF);
    case CHUNK_DATA_LF:
        return take_exactly(framing, byte == '\n', CHUNK_SIZE);
    case CHUNK_TRAILER_BEGIN:
    case CHUNK_TRAILER_NAME:
        return take_name(framing, byte);
    case CHUNK_TRAILER_VALUE:
        return take_text(framing, byte, CHUNK_TRAILER_LF);
    case CHUNK_TRAILER_LF:
        return take_exactly(framing, byte == '\n', CHUNK_TRAILER_BEGIN);
    case CHUNK_LAST_LF:
        return take_exactly(framing, byte == '\n', CHUNK_DONE);
    case CHUNK_DATA:
    case CHUNK_DONE:
        break;
    }
    return NULL;
}

const char *chunk_framing_take(struct chunk_framing *framing, struct bytes bytes, size_t *used) {
    *used = 0;
    while (*used < bytes.size && framing->state != CHUNK_DONE) {
        if (framing->state == CHUNK_DATA) {
            size_t here = bytes.size - *used;
            size_t data = framing->size < here ? (size_t)framing->size : here;
            *used += data;
            framing->size -= data;
            if (framing->size == 0)
                framing->state = CHUNK_DATA_CR;
            continue;
        }
        const char *fault = take_byte(framing, bytes.data[(*used)++]);
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

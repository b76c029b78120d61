/* A recursive descent over the text. Members and elements gather on one stack while their
 * container is open, and move to the arena in one piece when it closes, so that what is handed
 * out is a plain array and nothing is wasted there. */
#include "json/json.h"

#include "base/limits.h"
#include "base/mem.h"
#include "json/scan.h"

enum { STACK_FIRST = 48 };

struct reader {
    const uint8_t *at, *end; /* where a fault is reported */
    struct arena *arena;
    struct json_member *stack; /* elements are members without a name */
    size_t top, room;
    size_t nodes;
    bool on_heap;
};

static bool read_value(struct reader *reader, unsigned depth, struct json *out);

static inline void skip_blanks(struct reader *reader) {
    const uint8_t *at = reader->at;
    while (at < reader->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    reader->at = at;
}

/* Takes the byte if it is next. */
static inline bool accept(struct reader *reader, uint8_t byte) {
    if (reader->at == reader->end || *reader->at != byte)
        return false;
    reader->at++;
    return true;
}

/* ---- the stack ---- */

static void stack_grow(struct reader *reader) {
    size_t size = reader->room * sizeof(*reader->stack);
    if (reader->on_heap)
        reader->stack = mem_realloc(reader->stack, 2 * size);
    else
        reader->stack = memcpy(mem_alloc(2 * size), reader->stack, size);
    reader->on_heap = true;
    reader->room *= 2;
}

static inline bool push(struct reader *reader, const struct json_member *member) {
    if (++reader->nodes > LIMIT_JSON_NODES)
        return false;
    if (reader->top == reader->room)
        stack_grow(reader);
    reader->stack[reader->top++] = *member;
    return true;
}

static void pop_members(struct reader *reader, size_t base, struct json *out) {
    size_t count = reader->top - base, size = count * sizeof(*reader->stack);
    struct json_member *members = arena_alloc(reader->arena, size);
    if (size != 0)
        memcpy(members, reader->stack + base, size);
    reader->top = base;
    *out = (struct json){.type = JSON_OBJECT, .count = (uint32_t)count, .members = members};
}

static void pop_elements(struct reader *reader, size_t base, struct json *out) {
    size_t count = reader->top - base;
    struct json *elements = arena_alloc(reader->arena, count * sizeof(*elements));
    for (size_t i = 0; i < count; i++)
        elements[i] = reader->stack[base + i].value;
    reader->top = base;
    *out = (struct json){.type = JSON_ARRAY, .count = (uint32_t)count, .elements = elements};
}

/* ---- strings ---- */

static int hex_digit(uint8_t byte) {
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The four digits after "\u"; -1 if they are not. */
static int hex_unit(const uint8_t *at, const uint8_t *end) {
    int unit = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static uint8_t *put_utf8(uint8_t *to, uint32_t point) {
    if (point < 0x80)
        *to++ = (uint8_t)point;
    else if (point < 0x800) {
        *to++ = (uint8_t)(0xc0 | point >> 6);
        *to++ = (uint8_t)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        *to++ = (uint8_t)(0xe0 | point >> 12);
        *to++ = (uint8_t)(0x80 | (point >> 6 & 0x3f));
        *to++ = (uint8_t)(0x80 | (point & 0x3f));
    } else {
        *to++ = (uint8_t)(0xf0 | point >> 18);
        *to++ = (uint8_t)(0x80 | (point >> 12 & 0x3f));
        *to++ = (uint8_t)(0x80 | (point >> 6 & 0x3f));
        *to++ = (uint8_t)(0x80 | (point & 0x3f));
    }
    return to;
}

/* The code point of an escape that stands after "\u"; half a pair is U+FFFD. Moves *at past it; -1
 * if it is malformed. */
static int64_t read_unit(const uint8_t **at, const uint8_t *end) {
    int unit = hex_unit(*at, end), low;
    if (unit < 0)
        return -1;
    *at += 4;
    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    if (unit > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return 0xfffd;
    low = hex_unit(*at + 2, end);
    if (low < 0xdc00 || low > 0xdfff)
        return 0xfffd;
    *at += 6;
    return 0x10000 + ((int64_t)(unit - 0xd800) << 10) + (low - 0xdc00);
}

static uint8_t plain_escape(uint8_t byte) {
    switch (byte) {
    case '"':
    case '\\':
    case '/':
        return byte;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

/* One escape, from behind its backslash. */
static bool read_escape(const uint8_t **at, const uint8_t *end, uint8_t **to) {
    if (*at == end)
        return false;
    uint8_t kind = *(*at)++;
    if (kind == 'u') {
        int64_t point = read_unit(at, end);
        if (point < 0)
            return false;
        *to = put_utf8(*to, (uint32_t)point);
        return true;
    }
    uint8_t byte = plain_escape(kind);
    *(*to)++ = byte;
    return byte != 0;
}

/* The closing quote of a string with escapes, or `end`. */
static const uint8_t *string_end(const uint8_t *at, const uint8_t *end) {
    for (; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at;
}

/* A string with escapes, from its first byte on; never longer than its text. */
static bool read_escaped(struct reader *reader, const uint8_t *at, struct bytes *out) {
    const uint8_t *end = string_end(at, reader->end);
    uint8_t *start = arena_alloc(reader->arena, (size_t)(end - at) + 1), *to = start;
    while (at < end) {
        const uint8_t *stop = scan_plain(at, end);
        memcpy(to, at, (size_t)(stop - at));
        to += stop - at;
        reader->at = at = stop;
        if (at == end)
            break;
        if (*at == '\\') {
            at++;
            if (!read_escape(&at, end, &to))
                return false;
            continue;
        }
        size_t size = utf8_span(at, end);
        if (size == 0)
            return false;
        memcpy(to, at, size);
        to += size;
        at += size;
    }
    reader->at = at;
    *out = bytes_of(start, (size_t)(to - start));
    return accept(reader, '"');
}

static inline bool read_string(struct reader *reader, struct bytes *out) {
    if (!accept(reader, '"'))
        return false;
    const uint8_t *start = reader->at, *at = start;
    for (;;) {
        at = scan_plain(at, reader->end);
        if (at < reader->end && *at == '"') {
            *out = bytes_of(start, (size_t)(at - start));
            reader->at = at + 1;
            return true;
        }
        if (at < reader->end && *at == '\\')
            return read_escaped(reader, start, out);
        reader->at = at;
        size_t size = at < reader->end ? utf8_span(at, reader->end) : 0;
        if (size == 0)
            return false;
        at += size;
    }
}

/* ---- the rest ---- */

static bool skip_digits(struct reader *reader) {
    const uint8_t *start = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return reader->at != start;
}

static bool read_number(struct reader *reader, struct json *out) {
    const uint8_t *start = reader->at;
    accept(reader, '-');
    if (!accept(reader, '0') && !skip_digits(reader))
        return false;
    if (accept(reader, '.') && !skip_digits(reader))
        return false;
    if (accept(reader, 'e') || accept(reader, 'E')) {
        if (!accept(reader, '-'))
            accept(reader, '+');
        if (!skip_digits(reader))
            return false;
    }
    out->type = JSON_NUMBER;
    out->text = bytes_of(start, (size_t)(reader->at - start));
    return true;
}

static bool read_word(struct reader *reader, struct bytes word, enum json_type type,
                      struct json *out) {
    struct bytes rest = bytes_of(reader->at, (size_t)(reader->end - reader->at));
    if (!bytes_starts(rest, word))
        return false;
    reader->at += word.size;
    out->type = type;
    return true;
}

static bool read_array(struct reader *reader, unsigned depth, struct json *out) {
    struct json_member element = {0};
    size_t base = reader->top;
    reader->at++;
    skip_blanks(reader);
    if (!accept(reader, ']')) {
        do {
            if (!read_value(reader, depth, &element.value) || !push(reader, &element))
                return false;
            skip_blanks(reader);
        } while (accept(reader, ','));
        if (!accept(reader, ']'))
            return false;
    }
    pop_elements(reader, base, out);
    return true;
}

static bool read_object(struct reader *reader, unsigned depth, struct json *out) {
    struct json_member member;
    size_t base = reader->top;
    reader->at++;
    skip_blanks(reader);
    if (!accept(reader, '}')) {
        do {
            skip_blanks(reader);
            if (!read_string(reader, &member.name))
                return false;
            skip_blanks(reader);
            if (!accept(reader, ':') || !read_value(reader, depth, &member.value) ||
                !push(reader, &member))
                return false;
            skip_blanks(reader);
        } while (accept(reader, ','));
        if (!accept(reader, '}'))
            return false;
    }
    pop_members(reader, base, out);
    return true;
}

/* `depth` is how many containers may still open. */
static bool read_value(struct reader *reader, unsigned depth, struct json *out) {
    skip_blanks(reader);
    if (reader->at == reader->end)
        return false;
    out->count = 0;
    switch (*reader->at) {
    case '"':
        out->type = JSON_STRING;
        return read_string(reader, &out->text);
    case '{':
        return depth > 0 && read_object(reader, depth - 1, out);
    case '[':
        return depth > 0 && read_array(reader, depth - 1, out);
    case 't':
        return read_word(reader, BYTES("true"), JSON_TRUE, out);
    case 'f':
        return read_word(reader, BYTES("false"), JSON_FALSE, out);
    case 'n':
        return read_word(reader, BYTES("null"), JSON_NULL, out);
    default:
        return read_number(reader, out);
    }
}

enum status json_parse(struct bytes text, struct arena *arena, struct json *out, size_t *at) {
    struct json_member stack[STACK_FIRST];
    struct reader reader = {.arena = arena, .stack = stack, .room = STACK_FIRST};
    struct json root = {0};
    *at = 0;
    if (text.size == 0)
        return PARSE_FAILED;
    reader.at = text.data;
    reader.end = text.data + text.size;
    bool read = read_value(&reader, LIMIT_JSON_DEPTH, &root);
    if (reader.on_heap)
        mem_free(reader.stack);
    if (read)
        skip_blanks(&reader);
    if (!read || reader.at != reader.end) {
        *at = (size_t)(reader.at - text.data);
        return PARSE_FAILED;
    }
    *out = root;
    return OK;
}

const struct json *json_get(const struct json *object, struct bytes name) {
    if (object == NULL || object->type != JSON_OBJECT)
        return NULL;
    for (uint32_t i = object->count; i > 0; i--)
        if (bytes_equal(object->members[i - 1].name, name))
            return &object->members[i - 1].value;
    return NULL;
}

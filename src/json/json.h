/* JSON text to a tree of nodes in an arena, and text back out.
 *
 * The reader is strict RFC 8259 with a depth limit, and takes UTF-8 only. Strings without escapes
 * are borrowed from the text; others are unescaped into the arena. Numbers keep their text. A lone
 * surrogate written as an escape is read as U+FFFD; bytes that are not UTF-8 are refused.
 */
#ifndef GT_JSON_JSON_H
#define GT_JSON_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json_member;

struct json {
    enum json_type type;
    uint32_t count; /* of elements or members */
    union {
        struct bytes text;                 /* NUMBER as written, STRING unescaped */
        const struct json *elements;       /* ARRAY */
        const struct json_member *members; /* OBJECT, in the order given, duplicates kept */
    };
};

struct json_member {
    struct bytes name;
    struct json value;
};

/* PARSE_FAILED with *at set to the offset of the fault. */
enum status json_parse(struct bytes text, struct arena *arena, struct json *out, size_t *at);
/* The last member of that name, or NULL; NULL too if it is not an object, or there is none. */
const struct json *json_get(const struct json *object, struct bytes name);

/* Appends "text" with quotes and escapes. Bytes that are not UTF-8 become U+FFFD. */
void json_put_string(struct buf *to, struct bytes text);
/* Appends a whole tree, as compact as can be. Its depth was bounded when it was read. */
void json_put(struct buf *to, const struct json *json);
void json_put_int(struct buf *to, int64_t number);
/* At most 6 digits after the point, none if it is whole: 0.5, 12, 1.25; null if it is not finite */
void json_put_double(struct buf *to, double number);

#endif

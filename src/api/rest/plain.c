/* Plain JSON to the values of a table: what clients keep beside a score. */
#include "api/rest/out.h"
#include "base/limits.h"

struct reading {
    struct arena *arena;
    struct failure *failure;
};

static enum status read_any(const struct reading *reading, const struct json *from, unsigned depth,
                            struct value *out);

static enum status read_number(const struct reading *reading, struct bytes text,
                               struct value *out) {
    out->type = VALUE_N;
    if (number_read(reading->arena, text, &out->bytes) == NUMBER_OK)
        return OK;
    return failure_set(reading->failure, reading->arena, INVALID,
                       "%.*s is no number that can be kept: 38 digits, under 1e126",
                       BYTES_ARG(text));
}

static enum status read_list(const struct reading *reading, const struct json *from, unsigned depth,
                             struct value *out) {
    struct value *elements = ARENA_ARRAY(reading->arena, struct value, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        enum status status = read_any(reading, &from->elements[i], depth + 1, &elements[i]);
        if (status != OK)
            return status;
    }
    *out = (struct value){.type = VALUE_L, .count = from->count, .elements = elements};
    return OK;
}

static enum status read_map(const struct reading *reading, const struct json *from, unsigned depth,
                            struct value *out) {
    struct pair *pairs = ARENA_ARRAY(reading->arena, struct pair, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        pairs[i].name = from->members[i].name;
        if (pairs[i].name.size == 0 || pairs[i].name.size > LIMIT_ATTRIBUTE_NAME_SIZE)
            return failure_set(reading->failure, reading->arena, INVALID,
                               "a member's name must have 1 to %d bytes",
                               LIMIT_ATTRIBUTE_NAME_SIZE);
        enum status status = read_any(reading, &from->members[i].value, depth + 1, &pairs[i].value);
        if (status != OK)
            return status;
    }
    uint32_t count = value_sort_pairs(pairs, from->count);
    *out = (struct value){.type = VALUE_M, .count = count, .pairs = pairs};
    return OK;
}

static enum status read_any(const struct reading *reading, const struct json *from, unsigned depth,
                            struct value *out) {
    *out = (struct value){0};
    if (depth >= LIMIT_NESTING - 1) /* an item is a map around it */
        return failure_set(reading->failure, reading->arena, INVALID,
                           "it is nested deeper than %d levels", LIMIT_NESTING - 2);
    switch (from->type) {
    case JSON_STRING:
        *out = value_string(from->text);
        return OK;
    case JSON_NUMBER:
        return read_number(reading, from->text, out);
    case JSON_TRUE:
    case JSON_FALSE:
        *out = value_bool(from->type == JSON_TRUE);
        return OK;
    case JSON_ARRAY:
        return read_list(reading, from, depth, out);
    case JSON_OBJECT:
        return read_map(reading, from, depth, out);
    default:
        out->type = VALUE_NULL;
        return OK;
    }
}

enum status plain_read(const struct json *from, struct arena *arena, struct failure *failure,
                       struct value *out) {
    struct reading reading = {arena, failure};
    return read_any(&reading, from, 0, out);
}

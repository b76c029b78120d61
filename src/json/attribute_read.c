#include "json/attribute.h"

#include "base/base64.h"
#include "base/limits.h"
#include "value/number.h"
#include "json/boolean.h"

struct reader {
    struct arena *arena;
    struct failure *failure;
    /* Faults that are told only if there is no other. */
    bool too_deep, empty_name, long_name;
};

#define FAIL(reader, ...) failure_set((reader)->failure, (reader)->arena, INVALID, __VA_ARGS__)

#define PARAMETERS "One or more parameter values were invalid: "

static enum status read_value(struct reader *reader, const struct json *from, unsigned level,
                              struct value *out);

/* `from` is not of the JSON type it should be: says so in attribute_check()'s words. */
static enum status fail_type(struct reader *reader, const struct json *from) {
    enum status status = attribute_check(from, ATTRIBUTE_IN_COLLECTION, "",
                                         (struct scope){reader->arena, reader->failure});
    if (status != OK)
        return status;
    return failure_set(reader->failure, reader->arena, PARSE_FAILED, "Unexpected field type");
}

/* ---- numbers ---- */

static enum status fail_number(struct reader *reader, enum number_fault fault, struct bytes text) {
    switch (fault) {
    case NUMBER_OVERFLOW:
        return FAIL(reader, "Number overflow. Attempting to store a number with magnitude larger "
                            "than supported range");
    case NUMBER_UNDERFLOW:
        return FAIL(reader, "Number underflow. Attempting to store a number with magnitude smaller "
                            "than supported range");
    case NUMBER_PRECISION:
        return FAIL(reader, "Attempting to store more than 38 significant digits in a Number");
    case NUMBER_MALFORMED:
    case NUMBER_OK:
        break;
    }
    if (text.size == 0)
        return FAIL(reader, "The parameter cannot be converted to a numeric value");
    return FAIL(reader, "The parameter cannot be converted to a numeric value: %.*s",
                BYTES_ARG(text));
}

static enum status read_number(struct reader *reader, struct bytes text, struct bytes *out) {
    enum number_fault fault = number_read(reader->arena, text, out);
    return fault == NUMBER_OK ? OK : fail_number(reader, fault, text);
}

/* ---- sets ---- */

static enum status fail_empty_set(struct reader *reader, enum value_type type) {
    if (type == VALUE_BS)
        return FAIL(reader, PARAMETERS "Binary sets should not be empty");
    return FAIL(reader, PARAMETERS "An %s set  may not be empty",
                type == VALUE_SS ? "string" : "number");
}

static enum status fail_null_element(struct reader *reader, enum value_type type) {
    if (type == VALUE_NS)
        return fail_number(reader, NUMBER_MALFORMED, (struct bytes){0});
    if (type == VALUE_BS)
        return FAIL(reader, PARAMETERS "Binary sets may not contain null or empty values");
    return FAIL(reader, PARAMETERS "An string set may not have a null string as a member");
}

/* The elements are told as they were given. */
static enum status fail_duplicates(struct reader *reader, const struct json *from,
                                   enum value_type type) {
    struct buf text = {0};
    if (type == VALUE_NS)
        return FAIL(reader, "Input collection contains duplicates");
    buf_lit(&text, PARAMETERS "Input collection [");
    for (uint32_t i = 0; i < from->count; i++) {
        if (i > 0)
            buf_lit(&text, ", ");
        buf_put(&text, from->elements[i].text);
    }
    if (type == VALUE_BS)
        buf_lit(&text, "]of type BS contains duplicates.");
    else
        buf_lit(&text, "] contains duplicates.");
    *reader->failure = (struct failure){INVALID, arena_copy(reader->arena, buf_bytes(&text))};
    buf_release(&text);
    return INVALID;
}

/* What fail_type() is told when an element is wrong: it must see a whole value. */
static enum status fail_element(struct reader *reader, const struct json *set,
                                enum value_type type) {
    struct json_member member = {.name = bytes_str(value_type_name(type)), .value = *set};
    struct json whole = {.type = JSON_OBJECT, .count = 1, .members = &member};
    return fail_type(reader, &whole);
}

static enum status read_set(struct reader *reader, const struct json *from, enum value_type type,
                            struct value *out) {
    enum value_type element = value_element_type(type);
    enum status status;
    if (from->count == 0)
        return fail_empty_set(reader, type);
    struct value *elements = arena_alloc(reader->arena, from->count * sizeof(*elements));
    for (uint32_t i = 0; i < from->count; i++) {
        const struct json *one = &from->elements[i];
        elements[i] = (struct value){.type = element, .bytes = one->text};
        if (one->type == JSON_NULL)
            return fail_null_element(reader, type);
        if (one->type != JSON_STRING ||
            (type == VALUE_BS && !base64_read(one->text, reader->arena, &elements[i].bytes)))
            return fail_element(reader, from, type);
        if (type == VALUE_NS && (status = read_number(reader, one->text, &elements[i].bytes)) != OK)
            return status;
    }
    if (!value_sort_elements(elements, from->count))
        return fail_duplicates(reader, from, type);
    *out = (struct value){.type = type, .count = from->count, .elements = elements};
    return OK;
}

/* ---- lists and maps ---- */

static enum status read_list(struct reader *reader, const struct json *from, unsigned level,
                             struct value *out) {
    struct value *elements = arena_alloc(reader->arena, from->count * sizeof(*elements));
    for (uint32_t i = 0; i < from->count; i++) {
        enum status status = read_value(reader, &from->elements[i], level, &elements[i]);
        if (status != OK)
            return status;
    }
    *out = (struct value){.type = VALUE_L, .count = from->count, .elements = elements};
    return OK;
}

static enum status read_pairs(struct reader *reader, const struct json *from, unsigned level,
                              struct item *out) {
    struct pair *pairs = arena_alloc(reader->arena, from->count * sizeof(*pairs));
    for (uint32_t i = 0; i < from->count; i++) {
        const struct json_member *member = &from->members[i];
        pairs[i].name = member->name;
        reader->empty_name |= member->name.size == 0;
        reader->long_name |= member->name.size > LIMIT_ATTRIBUTE_NAME_SIZE;
        enum status status = read_value(reader, &member->value, level, &pairs[i].value);
        if (status != OK)
            return status;
    }
    *out = (struct item){.pairs = pairs, .count = value_sort_pairs(pairs, from->count)};
    return OK;
}

static enum status read_map(struct reader *reader, const struct json *from, unsigned level,
                            struct value *out) {
    struct item pairs;
    enum status status = read_pairs(reader, from, level, &pairs);
    if (status == OK)
        *out = (struct value){.type = VALUE_M, .count = pairs.count, .pairs = pairs.pairs};
    return status;
}

/* ---- values ---- */

static enum status read_truth(struct reader *reader, const struct json *from, enum value_type type,
                              struct value *out) {
    bool truth;
    if (!boolean_of(from, &truth))
        return fail_element(reader, from, type);
    if (type == VALUE_BOOL)
        *out = value_bool(truth);
    else if (truth)
        *out = (struct value){.type = VALUE_NULL};
    else
        return FAIL(reader, PARAMETERS "Null attribute value types must have the value of true");
    return OK;
}

/* The JSON type that a value of the type is written as. */
static enum json_type form_of(enum value_type type) {
    if (type == VALUE_M)
        return JSON_OBJECT;
    return type <= VALUE_B ? JSON_STRING : JSON_ARRAY;
}

/* out->type is set already. */
static enum status read_typed(struct reader *reader, const struct json *from, unsigned level,
                              struct value *out) {
    enum value_type type = out->type;
    if (type == VALUE_BOOL || type == VALUE_NULL)
        return read_truth(reader, from, type, out);
    if (from->type != form_of(type))
        return fail_element(reader, from, type);
    if ((type == VALUE_M || type == VALUE_L) && level == LIMIT_NESTING) {
        reader->too_deep = true;
        *out = (struct value){.type = type};
        return OK;
    }
    if (type == VALUE_M)
        return read_map(reader, from, level + 1, out);
    if (type == VALUE_L)
        return read_list(reader, from, level + 1, out);
    if (type > VALUE_B)
        return read_set(reader, from, type, out);
    *out = (struct value){.type = type, .bytes = from->text};
    if (type == VALUE_N)
        return read_number(reader, from->text, &out->bytes);
    if (type == VALUE_B && !base64_read(from->text, reader->arena, &out->bytes))
        return fail_element(reader, from, type);
    return OK;
}

/* The value of an attribute is at level 1; lists and maps end at the level before the last. */
static enum status read_value(struct reader *reader, const struct json *from, unsigned level,
                              struct value *out) {
    enum value_type seen = VALUE_NONE;
    unsigned types = 0;
    if (from->type != JSON_OBJECT && from->type != JSON_NULL)
        return fail_type(reader, from);
    for (uint32_t i = 0; from->type == JSON_OBJECT && i < from->count; i++) {
        const struct json_member *member = &from->members[i];
        enum value_type type = value_type_named(member->name);
        if (type == VALUE_NONE || member->value.type == JSON_NULL)
            continue;
        out->type = type;
        enum status status = read_typed(reader, &member->value, level, out);
        if (status != OK)
            return status;
        types += type != seen;
        seen = type;
    }
    if (types == 0)
        return FAIL(reader, "Supplied AttributeValue is empty, must contain exactly one of the "
                            "supported datatypes");
    if (types > 1)
        return FAIL(reader, "Supplied AttributeValue has more than one datatypes set, must contain "
                            "exactly one of the supported datatypes");
    return OK;
}

/* ---- the outside ---- */

static enum status finish(struct reader *reader) {
    if (reader->too_deep)
        return FAIL(reader, "Nesting Levels have exceeded supported limits: Attributes in the item "
                            "have nested levels beyond supported limit");
    if (reader->empty_name)
        return FAIL(reader, "Empty attribute name");
    if (reader->long_name)
        return FAIL(reader, "Attribute name is too large, must be less than %d bytes",
                    LIMIT_ATTRIBUTE_NAME_SIZE + 1);
    return OK;
}

enum status attribute_read(const struct json *from, struct scope in, struct value *out) {
    struct reader reader = {.arena = in.arena, .failure = in.failure};
    enum status status = read_value(&reader, from, 1, out);
    return status == OK ? finish(&reader) : status;
}

enum status attribute_read_item(const struct json *from, struct scope in, struct item *out) {
    struct reader reader = {.arena = in.arena, .failure = in.failure};
    if (from->type != JSON_OBJECT)
        return failure_set(in.failure, in.arena, PARSE_FAILED, "Unexpected field type");
    enum status status = read_pairs(&reader, from, 1, out);
    if (status != OK)
        return status;
    if (out->count > 0 && out->pairs[0].name.size == 0)
        return FAIL(&reader, "Empty attribute name");
    return finish(&reader);
}

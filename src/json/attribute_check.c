/* Whether typed JSON has the right JSON types everywhere. */
#include "json/attribute.h"

#include "base/base64.h"
#include "json/boolean.h"

struct check {
    const char *package;
    struct arena *arena;
    struct failure *failure;
};

#define FAIL(check, ...) failure_set((check)->failure, (check)->arena, PARSE_FAILED, __VA_ARGS__)

static const char *const misplaced_structure = "Start of structure or map found where not expected";

static enum status check_value(const struct check *check, const struct json *from,
                               enum attribute_place place);

/* The name of a scalar's kind in texts. */
static const char *kind_of(const struct json *scalar) {
    switch (scalar->type) {
    case JSON_TRUE:
        return "TRUE_VALUE";
    case JSON_FALSE:
        return "FALSE_VALUE";
    case JSON_STRING:
        return "STRING_VALUE";
    case JSON_NUMBER:
        for (size_t i = 0; i < scalar->text.size; i++)
            if (memchr(".eE", scalar->text.data[i], 3) != NULL)
                return "DECIMAL_VALUE";
        return "NUMBER_VALUE";
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return "NULL_VALUE";
}

/* A list or map where the class should be. */
static enum status fail_collection(const struct check *check, const struct json *from,
                                   const char *class) {
    if (from->type == JSON_ARRAY)
        return FAIL(check, "Unrecognized collection type class %s", class);
    return FAIL(check, "%s", misplaced_structure);
}

static bool is_collection(const struct json *from) {
    return from->type == JSON_ARRAY || from->type == JSON_OBJECT;
}

static enum status check_string(const struct check *check, const struct json *from) {
    if (from->type == JSON_STRING || from->type == JSON_NULL)
        return OK;
    if (is_collection(from))
        return fail_collection(check, from, "java.lang.String");
    return FAIL(check, "%s cannot be converted to String", kind_of(from));
}

static enum status check_boolean(const struct check *check, const struct json *from) {
    bool truth;
    if (from->type == JSON_NULL || boolean_of(from, &truth))
        return OK;
    if (is_collection(from))
        return fail_collection(check, from, "java.lang.Boolean");
    if (from->type == JSON_STRING)
        return FAIL(check, "Unexpected token received from parser");
    return FAIL(check, "%s cannot be converted to Boolean", kind_of(from));
}

static size_t count_characters(struct bytes text) {
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += (text.data[i] & 0xc0) != 0x80;
    return count;
}

static enum status check_binary(const struct check *check, const struct json *from) {
    if (from->type == JSON_NULL)
        return OK;
    if (is_collection(from))
        return fail_collection(check, from, "java.nio.ByteBuffer");
    if (from->type != JSON_STRING)
        return FAIL(check, "only base-64-encoded strings are convertible to bytes");
    if (base64_valid(from->text))
        return OK;
    size_t length = count_characters(from->text);
    if (length % 4 != 0)
        return FAIL(check, "Base64 encoded length is expected a multiple of 4 bytes but found: %zu",
                    length);
    return FAIL(check, "Invalid last non-pad Base64 character dectected");
}

/* Each element as the type says: a set's scalar or a list's value. */
static enum status check_element(const struct check *check, const struct json *from,
                                 enum value_type type) {
    if (type == VALUE_L)
        return check_value(check, from, ATTRIBUTE_IN_COLLECTION);
    return type == VALUE_BS ? check_binary(check, from) : check_string(check, from);
}

static enum status check_list(const struct check *check, const struct json *from,
                              enum value_type type) {
    if (from->type == JSON_NULL)
        return OK;
    if (from->type == JSON_OBJECT)
        return FAIL(check, "%s", misplaced_structure);
    if (from->type != JSON_ARRAY)
        return FAIL(check, "Unexpected field type");
    for (uint32_t i = 0; i < from->count; i++)
        if (check_element(check, &from->elements[i], type) != OK)
            return PARSE_FAILED;
    return OK;
}

static enum status check_map(const struct check *check, const struct json *from) {
    if (from->type == JSON_NULL)
        return OK;
    if (from->type == JSON_ARRAY)
        return FAIL(
            check, "Unrecognized collection type java.util.Map<java.lang.String, %sAttributeValue>",
            check->package);
    if (from->type != JSON_OBJECT)
        return FAIL(check, "Unexpected field type");
    for (uint32_t i = 0; i < from->count; i++)
        if (check_value(check, &from->members[i].value, ATTRIBUTE_IN_COLLECTION) != OK)
            return PARSE_FAILED;
    return OK;
}

static enum status check_typed(const struct check *check, const struct json *from,
                               enum value_type type) {
    switch (type) {
    case VALUE_S:
    case VALUE_N:
        return check_string(check, from);
    case VALUE_B:
        return check_binary(check, from);
    case VALUE_BOOL:
    case VALUE_NULL:
        return check_boolean(check, from);
    case VALUE_M:
        return check_map(check, from);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
    case VALUE_L:
        return check_list(check, from, type);
    case VALUE_NONE:
        break;
    }
    return OK;
}

static enum status check_value(const struct check *check, const struct json *from,
                               enum attribute_place place) {
    if (from->type == JSON_NULL)
        return OK;
    if (from->type == JSON_ARRAY)
        return FAIL(check, "Unrecognized collection type class %sAttributeValue", check->package);
    if (from->type != JSON_OBJECT)
        return FAIL(check, "%s",
                    place == ATTRIBUTE_AS_FIELD ? "Unexpected field type"
                                                : "Unexpected value type in payload");
    for (uint32_t i = 0; i < from->count; i++) {
        const struct json_member *member = &from->members[i];
        if (check_typed(check, &member->value, value_type_named(member->name)) != OK)
            return PARSE_FAILED;
    }
    return OK;
}

enum status attribute_check(const struct json *from, enum attribute_place place,
                            const char *package, struct scope in) {
    struct check check = {.package = package, .arena = in.arena, .failure = in.failure};
    return check_value(&check, from, place);
}

enum status attribute_check_item(const struct json *from, const char *package, struct scope in) {
    struct check check = {.package = package, .arena = in.arena, .failure = in.failure};
    return check_map(&check, from);
}

/* Binding and type checks of requests. See spec.h. */
#include "api/dynamodb/spec.h"

#include "json/attribute.h"

#include <stdlib.h>
#include <strings.h>

#define PACKAGE "com.amazonaws.dynamodb.v20120810."

#define NAME(literal) \
    { (const uint8_t *)(literal), sizeof(literal) - 1 }
static const struct bytes names[ARG_COUNT] = {
#define X(arg, name) [ARG_##arg] = NAME(name),
    SPEC_ARGS(X)
#undef X
};

struct bytes arg_name(enum arg arg) {
    return names[arg];
}

static const struct spec_field *field_named(const struct spec *spec, struct bytes name) {
    for (unsigned i = 0; i < spec->field_count; i++)
        if (bytes_equal(names[spec->fields[i].arg], name))
            return &spec->fields[i];
    return NULL;
}

static void bind_members(const struct spec *spec, const struct json *object, struct args *out) {
    if (object->type != JSON_OBJECT)
        return;
    for (uint32_t i = 0; i < object->count; i++) {
        const struct json_member *member = &object->members[i];
        const struct spec_field *field = field_named(spec, member->name);
        if (field != NULL)
            out->at[field->arg] = member->value.type == JSON_NULL ? NULL : &member->value;
    }
}

void spec_bind(const struct spec *spec, const struct json *object, struct args *out) {
    *out = (struct args){0};
    bind_members(spec, object, out);
}

void spec_bind_own(const struct spec *spec, const struct json *object, struct args *out) {
    for (unsigned i = 0; i < spec->field_count; i++)
        out->at[spec->fields[i].arg] = NULL;
    bind_members(spec, object, out);
}

/* --- types --- */

struct types {
    struct arena *arena;
    struct failure *failure;
    bool deep;
};

/* Where a value stands: DynamoDB words the same fault differently. */
enum place { IN_FIELD, IN_COLLECTION };

static enum status type_fault(const struct types *types, const char *text) {
    return failure_set(types->failure, types->arena, PARSE_FAILED, "%s", text);
}

/* Appends the class of a type, as the Java runtime in DynamoDB's messages spells it. */
static void class_name(const struct spec *spec, struct buf *to) {
    static const char *const plain[] = {
        [SPEC_STRING] = "java.lang.String",
        [SPEC_BOOLEAN] = "java.lang.Boolean",
        [SPEC_INTEGER] = "java.lang.Integer",
        [SPEC_LONG] = "java.lang.Long",
    };
    switch (spec->type) {
    case SPEC_LIST:
        buf_lit(to, "java.util.List<");
        class_name(spec->element, to);
        buf_lit(to, ">");
        break;
    case SPEC_MAP:
        buf_lit(to, "java.util.Map<java.lang.String, ");
        class_name(spec->element, to);
        buf_lit(to, ">");
        break;
    case SPEC_STRUCT:
        buf_lit(to, PACKAGE);
        buf_put(to, bytes_str(spec->class));
        break;
    default:
        buf_put(to, bytes_str(plain[spec->type]));
    }
}

static enum status array_fault(const struct types *types, const struct spec *spec) {
    struct buf name = {0};
    if (spec->type != SPEC_MAP)
        buf_lit(&name, "class ");
    class_name(spec, &name);
    enum status status = failure_set(types->failure, types->arena, PARSE_FAILED,
                                     "Unrecognized collection type %.*s", BYTES_ARG(name));
    buf_release(&name);
    return status;
}

/* What a scalar is called where it cannot be converted. */
static const char *token_name(const struct json *value) {
    switch (value->type) {
    case JSON_TRUE:
        return "TRUE_VALUE";
    case JSON_FALSE:
        return "FALSE_VALUE";
    case JSON_STRING:
        return "STRING_VALUE";
    default:
        for (size_t i = 0; i < value->text.size; i++)
            if (memchr(".eE", value->text.data[i], 3) != NULL)
                return "DECIMAL_VALUE";
        return "NUMBER_VALUE";
    }
}

static enum status scalar_fault(const struct types *types, const struct spec *spec,
                                const struct json *value) {
    static const char *const type_names[] = {
        [SPEC_STRING] = "String",
        [SPEC_BOOLEAN] = "Boolean",
        [SPEC_INTEGER] = "Integer",
        [SPEC_LONG] = "Long",
    };
    if (value->type == JSON_ARRAY)
        return array_fault(types, spec);
    if (value->type == JSON_OBJECT)
        return type_fault(types, "Start of structure or map found where not expected");
    if (spec->type == SPEC_BOOLEAN && value->type == JSON_STRING)
        return type_fault(types, "Unexpected token received from parser");
    return failure_set(types->failure, types->arena, PARSE_FAILED, "%s cannot be converted to %s",
                       token_name(value), type_names[spec->type]);
}

static enum status collection_fault(const struct types *types, const struct spec *spec,
                                    const struct json *value, enum place place) {
    if (value->type == JSON_OBJECT)
        return type_fault(types, "Start of structure or map found where not expected");
    if (value->type == JSON_ARRAY)
        return array_fault(types, spec);
    if (spec->type == SPEC_STRUCT)
        return type_fault(types, place == IN_FIELD ? "Unexpected field type"
                                                   : "Unexpected value type in payload");
    if (place == IN_FIELD)
        return type_fault(types, "Unexpected field type");
    return type_fault(types,
                      "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot "
                      "be cast to class java.lang.Class "
                      "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and "
                      "java.lang.Class are in module java.base of loader 'bootstrap')");
}

/* A boolean as a string. */
static bool bool_text(struct bytes text, bool *out) {
    static const char *const yes[] = {"true", "1", "yes"}, *const no[] = {"false", "0", "no"};
    for (unsigned i = 0; i < 3; i++) {
        if (text.size == strlen(yes[i]) &&
            strncasecmp((const char *)text.data, yes[i], text.size) == 0)
            return *out = true, true;
        if (text.size == strlen(no[i]) &&
            strncasecmp((const char *)text.data, no[i], text.size) == 0)
            return *out = false, true;
    }
    return false;
}

static enum status check_scalar(const struct types *types, const struct spec *spec,
                                const struct json *value) {
    bool truth;
    switch (spec->type) {
    case SPEC_STRING:
        if (value->type == JSON_STRING)
            return OK;
        break;
    case SPEC_BOOLEAN:
        if (value->type == JSON_TRUE || value->type == JSON_FALSE ||
            (value->type == JSON_STRING && bool_text(value->text, &truth)))
            return OK;
        break;
    default:
        if (value->type == JSON_NUMBER)
            return OK;
    }
    return scalar_fault(types, spec, value);
}

static enum status check_attribute(const struct types *types, const struct json *value,
                                   enum place place) {
    if (!types->deep)
        return OK;
    return attribute_check(value, place == IN_FIELD ? ATTRIBUTE_AS_FIELD : ATTRIBUTE_IN_COLLECTION,
                           PACKAGE, (struct scope){types->arena, types->failure});
}

static enum status check_type(const struct types *types, const struct spec *spec,
                              const struct json *value, enum place place);

/* Members in the order they were sent; a repeated one counts as last sent. */
static enum status check_struct(const struct types *types, const struct spec *spec,
                                const struct json *object, struct args *out) {
    for (uint32_t i = 0; i < object->count; i++) {
        const struct json_member *member = &object->members[i];
        const struct spec_field *field = field_named(spec, member->name);
        if (field == NULL)
            continue;
        enum status status = check_type(types, field->spec, &member->value, IN_FIELD);
        if (status != OK)
            return status;
        if (out != NULL)
            out->at[field->arg] = member->value.type == JSON_NULL ? NULL : &member->value;
    }
    return OK;
}

static enum status check_elements(const struct types *types, const struct spec *spec,
                                  const struct json *value) {
    if (spec->element->attribute && !types->deep)
        return OK;
    for (uint32_t i = 0; i < value->count; i++) {
        const struct json *element =
            spec->type == SPEC_LIST ? &value->elements[i] : &value->members[i].value;
        enum status status = check_type(types, spec->element, element, IN_COLLECTION);
        if (status != OK)
            return status;
    }
    return OK;
}

static enum status check_type(const struct types *types, const struct spec *spec,
                              const struct json *value, enum place place) {
    if (value->type == JSON_NULL)
        return OK;
    if (spec->attribute)
        return check_attribute(types, value, place);
    if (spec->type < SPEC_LIST)
        return check_scalar(types, spec, value);
    if (value->type != (spec->type == SPEC_LIST ? JSON_ARRAY : JSON_OBJECT))
        return collection_fault(types, spec, value, place);
    if (spec->type != SPEC_STRUCT)
        return check_elements(types, spec, value);
    return check_struct(types, spec, value, NULL);
}

static enum status check_request(const struct types *types, const struct spec *spec,
                                 const struct json *request, struct args *out) {
    if (request->type != JSON_OBJECT) {
        *types->failure = (struct failure){.status = PARSE_FAILED};
        return PARSE_FAILED;
    }
    return check_struct(types, spec, request, out);
}

enum status spec_read(const struct spec *spec, const struct json *request, struct scope in,
                      struct args *out) {
    struct types types = {.arena = in.arena, .failure = in.failure};
    *out = (struct args){0};
    return check_request(&types, spec, request, out);
}

enum status spec_check_deep(const struct spec *spec, const struct json *request, struct scope in) {
    struct types types = {.arena = in.arena, .failure = in.failure, .deep = true};
    return check_request(&types, spec, request, NULL);
}

/* --- reading --- */

bool args_bool(const struct args *args, enum arg arg, bool otherwise) {
    const struct json *value = args->at[arg];
    if (value == NULL)
        return otherwise;
    if (value->type == JSON_STRING)
        bool_text(value->text, &otherwise);
    else
        otherwise = value->type == JSON_TRUE;
    return otherwise;
}

int64_t args_int(const struct args *args, enum arg arg, int64_t otherwise) {
    const struct json *value = args->at[arg];
    if (value == NULL)
        return otherwise;
    char text[64];
    size_t size = value->text.size < sizeof text - 1 ? value->text.size : sizeof text - 1;
    memcpy(text, value->text.data, size);
    text[size] = 0;
    char *end;
    long long whole = strtoll(text, &end, 10);
    if (*end == 0)
        return whole; /* saturated if it does not fit */
    double real = strtod(text, NULL);
    if (real >= 9.2e18)
        return INT64_MAX;
    if (real <= -9.2e18)
        return INT64_MIN;
    int64_t cut = (int64_t)real;
    return real < (double)cut ? cut - 1 : cut;
}

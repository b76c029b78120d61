/* The limits of parameters: required, lengths, ranges, patterns, sets of names; and the one
 * message that tells up to ten broken ones. See spec.h. */
#include "api/dynamodb/spec.h"

#include "base/limits.h"

static const char pattern[] = "[a-zA-Z0-9_.-]+";

struct check {
    struct buf text; /* the faults so far, with "; " between */
    unsigned count;
    bool quiet; /* values are not echoed: see struct spec */
};

/* Where a value stands, from the inside out; written only when there is a fault. */
struct path {
    const struct path *parent;
    struct bytes name; /* a parameter's name, or a map's key */
    uint32_t index;    /* from 1: an element of a list */
    bool element;      /* an element of a list or a map: ".member" follows */
    bool echoed;       /* see struct spec_field */
};

static void put_lower_first(struct buf *to, struct bytes name) {
    buf_byte(to, (uint8_t)(name.data[0] | 0x20));
    buf_put(to, bytes_skip(name, 1));
}

/* `capital`: parameters are named as they are written in requests. */
static void put_path(struct buf *to, const struct path *path, bool capital) {
    if (path->parent != NULL) {
        put_path(to, path->parent, capital);
        buf_lit(to, ".");
    }
    if (!path->element && capital)
        buf_put(to, path->name);
    else if (!path->element)
        put_lower_first(to, path->name);
    else if (path->index != 0)
        buf_printf(to, "%u.member", path->index);
    else
        buf_printf(to, "%.*s.member", BYTES_ARG(path->name));
}

/* --- values as DynamoDB prints them --- */

static void put_value(struct buf *to, const struct spec *spec, const struct json *value);

static const struct spec *spec_inside(const struct spec *spec, struct bytes name) {
    for (unsigned i = 0; spec->type == SPEC_STRUCT && i < spec->field_count; i++)
        if (bytes_equal(arg_name(spec->fields[i].arg), name))
            return spec->fields[i].spec;
    return spec->element;
}

static void put_members(struct buf *to, const struct spec *spec, const struct json *object) {
    bool first = true, known = spec != NULL && !spec->attribute;
    for (uint32_t i = 0; i < object->count && to->size <= LIMIT_FAULTS_TEXT; i++) {
        const struct json_member *member = &object->members[i];
        const struct spec *inner = known ? spec_inside(spec, member->name) : NULL;
        if ((known && inner == NULL) || member->value.type == JSON_NULL)
            continue;
        if (!first)
            buf_lit(to, ", ");
        first = false;
        if (known && spec->type == SPEC_STRUCT)
            put_lower_first(to, member->name);
        else
            buf_put(to, member->name);
        buf_lit(to, "=");
        put_value(to, inner, &member->value);
    }
}

/* `spec` is NULL inside attribute values. A value of megabytes is cut short. */
static void put_value(struct buf *to, const struct spec *spec, const struct json *value) {
    bool named = spec != NULL && spec->type == SPEC_STRUCT && !spec->attribute;
    if (to->size > LIMIT_FAULTS_TEXT)
        return;
    switch (value->type) {
    case JSON_NULL:
        buf_lit(to, "null");
        break;
    case JSON_TRUE:
        buf_lit(to, "true");
        break;
    case JSON_FALSE:
        buf_lit(to, "false");
        break;
    case JSON_NUMBER:
    case JSON_STRING:
        buf_append(to, value->text.data,
                   value->text.size < LIMIT_FAULTS_TEXT ? value->text.size
                                                        : (size_t)LIMIT_FAULTS_TEXT);
        break;
    case JSON_ARRAY:
        buf_lit(to, "[");
        for (uint32_t i = 0; i < value->count && to->size <= LIMIT_FAULTS_TEXT; i++) {
            if (i != 0)
                buf_lit(to, ", ");
            put_value(to, spec == NULL ? NULL : spec->element, &value->elements[i]);
        }
        buf_lit(to, "]");
        break;
    case JSON_OBJECT:
        if (named)
            buf_put(to, bytes_str(spec->class));
        buf_put(to, named ? BYTES("(") : BYTES("{"));
        put_members(to, spec, value);
        buf_put(to, named ? BYTES(")") : BYTES("}"));
        break;
    }
}

/* Begins a fault; false when there are ten already. The caller appends the constraint. */
static bool limit_fault(struct check *check, const struct spec *spec, const struct json *value,
                        const struct path *path) {
    if (check->count == LIMIT_FAULTS_TOLD)
        return false;
    struct buf *to = &check->text;
    bool quiet = check->quiet && value != NULL && !path->echoed;
    buf_put(to, check->count++ == 0 ? BYTES("Value ") : BYTES("; Value "));
    if (value == NULL) {
        buf_lit(to, "null ");
    } else if (!quiet) {
        buf_lit(to, "'");
        put_value(to, spec, value);
        buf_lit(to, "' ");
    }
    buf_lit(to, "at '");
    put_path(to, path, quiet);
    buf_lit(to, "' failed to satisfy constraint: ");
    return true;
}

/* --- single limits --- */

static bool is_named(struct bytes text) {
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '.' || c == '-'))
            return false;
    }
    return text.size != 0;
}

/* In UTF-16 code units, in which DynamoDB measures text. */
static size_t text_length(struct bytes text) {
    size_t length = 0;
    for (size_t i = 0; i < text.size; i++)
        if ((text.data[i] & 0xc0) != 0x80)
            length += text.data[i] >= 0xf0 ? 2 : 1;
    return length;
}

static size_t length_of(const struct json *value) {
    return value->type == JSON_STRING ? text_length(value->text) : value->count;
}

/* Whether `choices` ("B, N, S") has the text between its commas. */
static bool is_choice(const char *choices, struct bytes text) {
    while (true) {
        const char *end = strchr(choices, ',');
        size_t size = end == NULL ? strlen(choices) : (size_t)(end - choices);
        if (bytes_equal(bytes_of(choices, size), text))
            return true;
        if (end == NULL)
            return false;
        choices = end + 2;
    }
}

static bool is_arn(struct bytes text) {
    return bytes_starts(text, BYTES("arn:"));
}

/* An empty name is too short, and that is all that is told of it. */
static void check_text(struct check *check, const struct spec_field *field,
                       const struct json *value, const struct path *path) {
    if (field->named && value->text.size != 0 && !is_named(value->text) &&
        limit_fault(check, field->spec, value, path))
        buf_printf(&check->text, "Member must satisfy regular expression pattern: %s", pattern);
    if (field->choices != NULL && !is_choice(field->choices, value->text) &&
        limit_fault(check, field->spec, value, path))
        buf_printf(&check->text, "Member must satisfy enum value set: [%s]", field->choices);
}

static void check_length(struct check *check, const struct spec_field *field,
                         const struct json *value, const struct path *path) {
    size_t length = length_of(value);
    if (length < field->length_min && limit_fault(check, field->spec, value, path))
        buf_printf(&check->text, "Member must have length greater than or equal to %u",
                   field->length_min);
    if (field->length_max != 0 && length > field->length_max &&
        limit_fault(check, field->spec, value, path))
        buf_printf(&check->text, "Member must have length less than or equal to %u",
                   field->length_max);
}

static void check_range(struct check *check, const struct spec_field *field,
                        const struct args *args, const struct path *path) {
    int64_t number = args_int(args, field->arg, 0);
    const struct json *value = args->at[field->arg];
    if (number < field->min && limit_fault(check, field->spec, value, path))
        buf_printf(&check->text, "Member must have value greater than or equal to %lld",
                   (long long)field->min);
    if (field->max != 0 && number > field->max && limit_fault(check, field->spec, value, path))
        buf_printf(&check->text, "Member must have value less than or equal to %lld",
                   (long long)field->max);
}

static void check_elements(struct check *check, const struct spec_field *field,
                           const struct json *list, const struct path *path) {
    bool good = true;
    for (uint32_t i = 0; i < list->count && good; i++) {
        size_t length = length_of(&list->elements[i]);
        good = length != 0 && length <= field->element_max;
    }
    if (!good && limit_fault(check, field->spec, list, path))
        buf_printf(&check->text,
                   "Member must satisfy constraint: [Member must have length less than or equal to "
                   "%u, Member must have length greater than or equal to 1]",
                   field->element_max);
}

static void check_map(struct check *check, const struct spec_field *field, const struct json *map,
                      const struct path *path) {
    for (uint32_t i = 0; i < map->count; i++) {
        struct bytes key = map->members[i].name;
        size_t length = text_length(key);
        if (field->table_keys && !is_arn(key) &&
            (length < LIMIT_TABLE_NAME_MIN || length > LIMIT_TABLE_NAME_MAX || !is_named(key)) &&
            limit_fault(check, field->spec, map, path))
            buf_printf(&check->text,
                       "Map keys must satisfy constraint: [Member must have length less than or "
                       "equal to 255, Member must have length greater than or equal to 3, Member "
                       "must satisfy regular expression pattern: %s]",
                       pattern);
    }
    for (uint32_t i = 0; field->values_max != 0 && i < map->count; i++) {
        uint32_t count = map->members[i].value.count;
        if ((count == 0 || count > field->values_max) && limit_fault(check, field->spec, map, path))
            buf_printf(&check->text,
                       "Map value must satisfy constraint: [Member must have length less than or "
                       "equal to %u, Member must have length greater than or equal to 1]",
                       field->values_max);
    }
}

/* --- all of them --- */

static void check_fields(struct check *check, const struct spec *spec, const struct args *args,
                         const struct path *parent);

/* Looks into a list, map or structure for limits of its parts. Attribute values are left to
 * their reader. */
static void check_inside(struct check *check, const struct spec *spec, const struct json *value,
                         const struct path *path) {
    if (value->type == JSON_NULL) {
        if (limit_fault(check, spec, NULL, path))
            buf_lit(&check->text, "Member must not be null");
        return;
    }
    if (spec->type < SPEC_LIST)
        return;
    if (spec->type == SPEC_STRUCT) {
        struct args args;
        spec_bind_own(spec, value, &args);
        check_fields(check, spec, &args, path);
        return;
    }
    for (uint32_t i = 0; !spec->element->attribute && i < value->count; i++) {
        bool list = spec->type == SPEC_LIST;
        struct path inner = {.parent = path, .element = true};
        inner.index = list ? i + 1 : 0;
        inner.name = list ? (struct bytes){0} : value->members[i].name;
        check_inside(check, spec->element, list ? &value->elements[i] : &value->members[i].value,
                     &inner);
    }
}

static void check_field(struct check *check, const struct spec_field *field,
                        const struct args *args, const struct path *path) {
    const struct json *value = args->at[field->arg];
    if (value == NULL) {
        if (field->required && limit_fault(check, field->spec, NULL, path))
            buf_lit(&check->text, "Member must not be null");
        return;
    }
    if (value->type == JSON_STRING && field->table && is_arn(value->text))
        return;
    if (value->type == JSON_STRING)
        check_text(check, field, value, path);
    if ((field->length_min | field->length_max) != 0)
        check_length(check, field, value, path);
    if (field->ranged)
        check_range(check, field, args, path);
    if (field->element_max != 0)
        check_elements(check, field, value, path);
    if (field->table_keys)
        check_map(check, field, value, path);
    if (field->spec->type >= SPEC_LIST)
        check_inside(check, field->spec, value, path);
}

static void check_fields(struct check *check, const struct spec *spec, const struct args *args,
                         const struct path *parent) {
    for (unsigned i = 0; i < spec->field_count; i++) {
        const struct spec_field *field = &spec->fields[i];
        if (args->at[field->arg] == NULL && !field->required)
            continue;
        struct path path = {
            .parent = parent, .name = arg_name(field->arg), .echoed = field->echoed};
        check_field(check, field, args, &path);
    }
}

/* Whether a name that is told about before all else is of a good length. */
static bool check_early_length(struct check *check, const struct spec_field *field,
                               const struct json *value) {
    const struct spec_field bounds = {.length_min = LIMIT_TABLE_NAME_MIN,
                                      .length_max = LIMIT_TABLE_NAME_MAX,
                                      .spec = field->spec};
    struct path path = {.name = arg_name(field->arg)};
    if (!is_arn(value->text))
        check_length(check, &bounds, value, &path);
    return check->count == 0;
}

/* False, with the fault, if a name that comes before all else is absent, too short or too long. */
static bool check_early(struct check *check, const struct spec *spec, const struct args *args,
                        struct scope in) {
    for (unsigned i = 0; i < spec->field_count; i++) {
        const struct spec_field *field = &spec->fields[i];
        if (!field->early)
            continue;
        if (args->at[field->arg] == NULL) {
            failure_set(in.failure, in.arena, INVALID,
                        "The parameter '%.*s' is required but was not present in the request",
                        BYTES_ARG(arg_name(field->arg)));
            return false;
        }
        if (!check_early_length(check, field, args->at[field->arg]))
            return false;
    }
    return true;
}

enum status spec_check_limits(const struct spec *spec, const struct args *args, struct scope in) {
    struct check check = {.quiet = spec->quiet};
    if (check_early(&check, spec, args, in))
        check_fields(&check, spec, args, NULL);
    else if (check.count == 0)
        return INVALID;
    if (check.count == 0)
        return OK;
    enum status status = failure_set(
        in.failure, in.arena, INVALID, "%u validation error%s detected: %.*s", check.count,
        check.count == 1 ? "" : "s", (int)check.text.size, (const char *)check.text.data);
    buf_release(&check.text);
    return status;
}

#include "api/rest/rest_form.h"

#include "api/rest/rfc3339.h"
#include "value/number.h"

#include <stdio.h>

/* Where in a value the check is: a chain from the inside out. */
struct place {
    const struct place *outer;
    const char *name;   /* of a member, or */
    struct bytes other; /* of one that the form does not have, or */
    size_t index;       /* of an element */
};

struct check {
    struct arena *arena;
    struct failure *failure;
    struct form_fault *fault;
};

static void put_place(struct buf *to, const struct place *place) {
    if (place == NULL)
        return;
    put_place(to, place->outer);
    if (place->name == NULL && place->other.data == NULL) {
        buf_printf(to, "[%zu]", place->index);
        return;
    }
    if (to->size != 0)
        buf_byte(to, '.');
    buf_put(to, place->name != NULL ? bytes_str(place->name) : place->other);
}

static enum status set_fault(const struct check *check, const struct place *place,
                             const char *text) {
    struct buf path = {0};
    put_place(&path, place);
    struct bytes member = arena_copy(check->arena, buf_bytes(&path));
    buf_release(&path);
    check->fault->member = member;
    return failure_set(check->failure, check->arena, INVALID, "%.*s %s",
                       BYTES_ARG(member.size != 0 ? member : BYTES("the body")), text);
}

static const char *sentence(struct arena *arena, const char *format, long long a, long long b) {
    char text[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, a, b);
#pragma GCC diagnostic pop
    return arena_str(arena, bytes_str(text));
}

/* --- scalars: NULL, or what is wrong --- */

static bool in_range(const struct form_field *field, int64_t number) {
    return (field->min == 0 && field->max == 0) || (number >= field->min && number <= field->max);
}

static bool whole_number(struct bytes text, int64_t *out) {
    bool minus = text.size != 0 && text.data[0] == '-';
    size_t at = minus;
    int64_t number = 0;
    if (at == text.size || text.size > 19)
        return false;
    for (; at < text.size; at++) {
        if (text.data[at] < '0' || text.data[at] > '9' ||
            __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, text.data[at] - '0', &number))
            return false;
    }
    *out = minus ? -number : number;
    return true;
}

static const char *count_fault(const struct form_field *field, struct bytes text,
                               struct arena *arena) {
    int64_t number;
    if (whole_number(text, &number) && in_range(field, number))
        return NULL;
    if (field->min == 0 && field->max == 0)
        return "must be a whole number";
    return sentence(arena, "must be a whole number from %lld to %lld", field->min, field->max);
}

static const char *text_fault(const struct form_field *field, struct bytes text,
                              struct arena *arena) {
    if (in_range(field, (int64_t)text.size))
        return NULL;
    return sentence(arena, "must have %lld to %lld characters", field->min, field->max);
}

static const char *number_fault_text(struct bytes text) {
    uint8_t encoded[NUMBER_MAX_SIZE];
    size_t size;
    switch (number_parse(text, encoded, &size)) {
    case NUMBER_OK:
        return NULL;
    case NUMBER_PRECISION:
        return "has more than 38 significant digits";
    case NUMBER_OVERFLOW:
        return "is larger than a number can be: under 1e126";
    case NUMBER_UNDERFLOW:
        return "is closer to zero than a number can be: 1e-130";
    default:
        return "must be a number";
    }
}

static const char *choice_fault(const struct form_field *field, struct bytes text,
                                struct arena *arena) {
    struct buf list = {0};
    for (const char *const *choice = field->choices; *choice != NULL; choice++) {
        if (bytes_equal(text, bytes_str(*choice))) {
            buf_release(&list);
            return NULL;
        }
        buf_printf(&list, "%s%s", list.size == 0 ? "" : ", ", *choice);
    }
    struct bytes told = arena_printf(arena, "must be one of %.*s", BYTES_ARG(buf_bytes(&list)));
    buf_release(&list);
    return arena_str(arena, told);
}

static const char *time_fault(struct bytes text) {
    int64_t ms;
    return rfc3339_read(text, &ms) ? NULL
                                   : "must be a date and time with a zone: 2026-11-16T13:00:00Z";
}

static const char *string_fault(const struct form_field *field, struct bytes text,
                                struct arena *arena) {
    switch (field->kind) {
    case FORM_TEXT:
        return text_fault(field, text, arena);
    case FORM_NUMBER:
        return number_fault_text(text);
    case FORM_COUNT:
        return count_fault(field, text, arena);
    case FORM_CHOICE:
        return choice_fault(field, text, arena);
    case FORM_TIME:
        return time_fault(text);
    case FORM_FLAG:
        return bytes_equal(text, BYTES("true")) || bytes_equal(text, BYTES("false"))
                   ? NULL
                   : "must be true or false";
    default:
        return NULL;
    }
}

enum status form_check_text(const struct form_field *field, struct bytes text, struct scope in) {
    const char *fault = string_fault(field, text, in.arena);
    if (fault == NULL)
        return OK;
    return failure_set(in.failure, in.arena, INVALID, "%s %s", field->name, fault);
}

/* --- whole values --- */

/* What a value of that JSON type is wrong for; NULL if it may be right. */
static const char *type_fault(enum form_kind kind, enum json_type type) {
    switch (kind) {
    case FORM_TEXT:
    case FORM_CHOICE:
    case FORM_TIME:
        return type == JSON_STRING ? NULL : "must be a string";
    case FORM_NUMBER:
        return type == JSON_NUMBER || type == JSON_STRING ? NULL : "must be a number";
    case FORM_COUNT:
        return type == JSON_NUMBER ? NULL : "must be a whole number";
    case FORM_FLAG:
        return type == JSON_TRUE || type == JSON_FALSE ? NULL : "must be true or false";
    case FORM_MAP:
    case FORM_OBJECT:
        return type == JSON_OBJECT ? NULL : "must be an object";
    case FORM_LIST:
        return type == JSON_ARRAY ? NULL : "must be a list";
    default:
        return NULL;
    }
}

static enum status check_object(const struct check *check, const struct form *form,
                                const struct json *value, const struct place *place);

static enum status check_value(const struct check *check, const struct form_field *field,
                               const struct json *value, const struct place *place);

static enum status check_list(const struct check *check, const struct form_field *field,
                              const struct json *value, const struct place *place) {
    struct form_field element = {.name = field->name,
                                 .kind = field->element,
                                 .choices = field->choices,
                                 .form = field->form};
    if (element.kind == FORM_TEXT) {
        element.min = 1;
        element.max = 2048;
    }
    if (!in_range(field, value->count))
        return set_fault(
            check, place,
            sentence(check->arena, "must have %lld to %lld elements", field->min, field->max));
    for (uint32_t i = 0; i < value->count; i++) {
        struct place inner = {.outer = place, .index = i};
        enum status status = check_value(check, &element, &value->elements[i], &inner);
        if (status != OK)
            return status;
    }
    return OK;
}

static enum status check_value(const struct check *check, const struct form_field *field,
                               const struct json *value, const struct place *place) {
    if (value->type == JSON_NULL && (field->flags & FORM_NULLABLE) != 0)
        return OK;
    const char *fault = type_fault(field->kind, value->type);
    if (fault == NULL && (value->type == JSON_STRING || value->type == JSON_NUMBER))
        fault = string_fault(field, value->text, check->arena);
    if (fault != NULL)
        return set_fault(check, place, fault);
    if (field->kind == FORM_OBJECT)
        return check_object(check, field->form, value, place);
    if (field->kind == FORM_LIST)
        return check_list(check, field, value, place);
    return OK;
}

static const struct form_field *field_named(const struct form *form, struct bytes name) {
    for (const struct form_field *field = form->fields; field->name != NULL; field++)
        if (bytes_equal(name, bytes_str(field->name)))
            return field;
    return NULL;
}

static enum status check_object(const struct check *check, const struct form *form,
                                const struct json *value, const struct place *place) {
    for (uint32_t i = 0; i < value->count; i++) {
        const struct json_member *member = &value->members[i];
        const struct form_field *field = field_named(form, member->name);
        struct place inner = {.outer = place, .other = member->name};
        if (field == NULL)
            return set_fault(check, &inner, "is not known here");
        inner.name = field->name;
        enum status status = check_value(check, field, &member->value, &inner);
        if (status != OK)
            return status;
    }
    for (const struct form_field *field = form->fields; field->name != NULL; field++) {
        struct place inner = {.outer = place, .name = field->name};
        if ((field->flags & FORM_REQUIRED) != 0 && json_get(value, bytes_str(field->name)) == NULL)
            return set_fault(check, &inner, "is missing");
    }
    return OK;
}

enum status form_check(const struct form *form, const struct json *value, struct scope in,
                       struct form_fault *fault) {
    struct check check = {in.arena, in.failure, fault};
    if (value->type != JSON_OBJECT)
        return set_fault(&check, NULL, "must be a JSON object");
    return check_object(&check, form, value, NULL);
}

/* --- reading --- */

const struct json *form_get(const struct json *object, const char *name) {
    const struct json *member = json_get(object, bytes_str(name));
    return member == NULL || member->type == JSON_NULL ? NULL : member;
}

struct bytes form_text(const struct json *object, const char *name) {
    const struct json *member = form_get(object, name);
    return member == NULL ? (struct bytes){0} : member->text;
}

int64_t form_int(struct bytes text) {
    int64_t number = 0;
    whole_number(text, &number);
    return number;
}

int64_t form_count(const struct json *object, const char *name, int64_t otherwise) {
    const struct json *member = form_get(object, name);
    return member == NULL ? otherwise : form_int(member->text);
}

bool form_flag(const struct json *object, const char *name, bool otherwise) {
    const struct json *member = form_get(object, name);
    return member == NULL ? otherwise : member->type == JSON_TRUE;
}

int64_t form_time(const struct json *object, const char *name, int64_t otherwise) {
    const struct json *member = form_get(object, name);
    int64_t ms = otherwise;
    if (member != NULL)
        rfc3339_read(member->text, &ms);
    return ms;
}

struct bytes form_number(const struct json *object, const char *name, struct arena *arena) {
    const struct json *member = form_get(object, name);
    struct bytes number = {0};
    if (member != NULL)
        number_read(arena, member->text, &number);
    return number;
}

/* Forms as JSON Schema (2020-12), for the OpenAPI document. */
#include "api/rest/rest_form.h"

/* "name":value pairs after the first. */
static void put_range(struct buf *to, const struct form_field *field, const char *least,
                      const char *most) {
    if (field->min == 0 && field->max == 0)
        return;
    buf_printf(to, ",\"%s\":%lld,\"%s\":%lld", least, (long long)field->min, most,
               (long long)field->max);
}

static void put_type(struct buf *to, const struct form_field *field, const char *type) {
    if ((field->flags & FORM_NULLABLE) != 0)
        buf_printf(to, "\"type\":[\"%s\",\"null\"]", type);
    else
        buf_printf(to, "\"type\":\"%s\"", type);
}

static void put_choices(struct buf *to, const struct form_field *field) {
    buf_lit(to, ",\"enum\":[");
    for (const char *const *choice = field->choices; *choice != NULL; choice++)
        buf_printf(to, "%s\"%s\"", choice == field->choices ? "" : ",", *choice);
    if ((field->flags & FORM_NULLABLE) != 0)
        buf_lit(to, ",null");
    buf_byte(to, ']');
}

/* An exact number may be told as text, for clients whose numbers are doubles. */
static void put_number(struct buf *to, const struct form_field *field) {
    if ((field->flags & FORM_SHARE) != 0) {
        buf_lit(to, "\"type\":\"number\"");
        return;
    }
    buf_lit(to, "\"type\":[\"number\",\"string\"");
    if ((field->flags & FORM_NULLABLE) != 0)
        buf_lit(to, ",\"null\"");
    buf_lit(to, "],\"pattern\":\"^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$\"");
}

static void put_list(struct buf *to, const struct form_field *field) {
    struct form_field element = {
        .kind = field->element, .choices = field->choices, .form = field->form};
    put_type(to, field, "array");
    buf_lit(to, ",\"items\":");
    form_put_schema(to, &element);
    put_range(to, field, "minItems", "maxItems");
}

static void put_kind(struct buf *to, const struct form_field *field) {
    switch (field->kind) {
    case FORM_TEXT:
        put_type(to, field, "string");
        put_range(to, field, "minLength", "maxLength");
        break;
    case FORM_NUMBER:
        put_number(to, field);
        break;
    case FORM_COUNT:
        put_type(to, field, "integer");
        put_range(to, field, "minimum", "maximum");
        break;
    case FORM_FLAG:
        put_type(to, field, "boolean");
        break;
    case FORM_CHOICE:
        put_type(to, field, "string");
        put_choices(to, field);
        break;
    case FORM_TIME:
        put_type(to, field, "string");
        buf_lit(to, ",\"format\":\"date-time\"");
        break;
    case FORM_MAP:
        put_type(to, field, "object");
        buf_lit(to, ",\"additionalProperties\":true");
        break;
    case FORM_LIST:
        put_list(to, field);
        break;
    default:
        break;
    }
}

void form_put_schema(struct buf *to, const struct form_field *field) {
    if (field->kind == FORM_OBJECT) {
        if ((field->flags & FORM_NULLABLE) != 0)
            buf_printf(to,
                       "{\"anyOf\":[{\"$ref\":\"#/components/schemas/%s\"},{\"type\":\"null\"}]}",
                       field->form->name);
        else
            buf_printf(to, "{\"$ref\":\"#/components/schemas/%s\"}", field->form->name);
        return;
    }
    buf_byte(to, '{');
    put_kind(to, field);
    if (field->about != NULL) {
        if (to->data[to->size - 1] != '{')
            buf_byte(to, ',');
        buf_lit(to, "\"description\":");
        json_put_string(to, bytes_str(field->about));
    }
    buf_byte(to, '}');
}

void form_put_object(struct buf *to, const struct form *form) {
    bool first = true;
    buf_lit(to, "{\"type\":\"object\"");
    if (form->about != NULL) {
        buf_lit(to, ",\"description\":");
        json_put_string(to, bytes_str(form->about));
    }
    buf_lit(to, ",\"properties\":{");
    for (const struct form_field *field = form->fields; field->name != NULL; field++) {
        buf_printf(to, "%s\"%s\":", field == form->fields ? "" : ",", field->name);
        form_put_schema(to, field);
    }
    buf_byte(to, '}');
    for (const struct form_field *field = form->fields; field->name != NULL; field++) {
        if ((field->flags & FORM_REQUIRED) == 0)
            continue;
        buf_printf(to, "%s\"%s\"", first ? ",\"required\":[" : ",", field->name);
        first = false;
    }
    buf_put(to, first ? BYTES("}") : BYTES("]}"));
}

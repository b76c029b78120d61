/* Records as items. */
#include "api/transfer/records.h"

#include "base/utf8.h"
#include "value/number.h"
#include "json/attribute.h"

enum status record_json(struct bytes line, struct arena *arena, struct failure *failure,
                        struct item *out) {
    struct json json;
    size_t at;
    line = arena_copy(arena, line); /* the item's strings point into it */
    if (json_parse(line, arena, &json, &at) != OK)
        return failure_set(failure, arena, INVALID, "A line is not JSON (at byte %zu)", at);
    const struct json *item = json_get(&json, BYTES("Item"));
    if (item == NULL || item->type != JSON_OBJECT)
        return failure_set(failure, arena, INVALID, "A line has no object \"Item\"");
    enum status status = attribute_read_item(item, arena, failure, out);
    if (status == OK)
        return OK;
    failure->status = INVALID; /* a wrong JSON type as well as a wrong value */
    return INVALID;
}

static enum value_type type_of(const struct table_schema *schema, struct bytes name) {
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        if (bytes_equal(schema->attributes[i].name, name))
            return schema->attributes[i].type;
    return VALUE_S;
}

static enum status read_field(struct bytes text, enum value_type type, struct bytes name,
                              struct arena *arena, struct failure *failure, struct value *out) {
    *out = (struct value){.type = type, .bytes = text};
    if (type == VALUE_N && number_read(arena, text, &out->bytes) != NUMBER_OK)
        return failure_set(failure, arena, INVALID, "The field %.*s is not a number",
                           BYTES_ARG(name));
    if (type == VALUE_B && !base64_read(text, arena, &out->bytes))
        return failure_set(failure, arena, INVALID, "The field %.*s is not base64",
                           BYTES_ARG(name));
    if (type == VALUE_S && !utf8_valid(text))
        return failure_set(failure, arena, INVALID, "The field %.*s is not UTF-8", BYTES_ARG(name));
    if (type == VALUE_S)
        out->bytes = arena_copy(arena, text);
    return OK;
}

enum status record_csv(const struct csv *row, const struct csv_field *header, size_t header_count,
                       const struct table_schema *schema, struct arena *arena,
                       struct failure *failure, struct item *out) {
    if (row->count != header_count)
        return failure_set(failure, arena, INVALID, "A row has %zu fields, the header %zu",
                           row->count, header_count);
    struct pair *pairs = ARENA_ARRAY(arena, struct pair, header_count);
    uint32_t count = 0;
    for (size_t i = 0; i < header_count; i++) {
        const struct csv_field *field = &row->fields[i];
        struct bytes name = header[i].text;
        if (field->text.size == 0 && !field->quoted)
            continue;
        pairs[count].name = name;
        enum status status = read_field(field->text, type_of(schema, name), name, arena, failure,
                                        &pairs[count].value);
        if (status != OK)
            return status;
        count++;
    }
    *out = (struct item){pairs, value_sort_pairs(pairs, count)};
    return OK;
}

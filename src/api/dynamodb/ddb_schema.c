#include "api/dynamodb/ddb_schema.h"

#include "api/dynamodb/ddb_schema_parse.h"
#include "api/dynamodb/shapes.h"

#define PARAMETERS "One or more parameter values were invalid: "
static const int64_t units_max = 1000000000000;

/* --- keys --- */

void schema_read_definitions(struct call *call, const struct json *list, struct key_part **out,
                             uint32_t *count) {
    *out = ARENA_ARRAY(call->arena, struct key_part, list->count + 1);
    *count = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        struct args args;
        spec_bind(&shape_attribute_definition, &list->elements[i], &args);
        (*out)[i].name = args_text(&args, ARG_ATTRIBUTE_NAME);
        (*out)[i].type = value_type_named(args_text(&args, ARG_ATTRIBUTE_TYPE));
    }
}

static enum value_type defined_type(const struct table_schema *schema, struct bytes name) {
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        if (bytes_equal(schema->attributes[i].name, name))
            return schema->attributes[i].type;
    return VALUE_NONE;
}

static bool is_hash(const struct json *element) {
    struct args args;
    spec_bind(&shape_key_element, element, &args);
    return bytes_equal(args_text(&args, ARG_KEY_TYPE), BYTES("HASH"));
}

void schema_read_keys(const struct json *list, const struct table_schema *schema, bool several,
                      struct key_schema *out) {
    *out = (struct key_schema){0};
    for (uint32_t i = 0; i < list->count && i < KEY_PARTS_MAX; i++) {
        struct args args;
        spec_bind(&shape_key_element, &list->elements[i], &args);
        out->parts[i].name = args_text(&args, ARG_ATTRIBUTE_NAME);
        out->parts[i].type = defined_type(schema, out->parts[i].name);
        if (i == 0 || (several && out->sort_count == 0 && is_hash(&list->elements[i])))
            out->partition_count++;
        else
            out->sort_count++;
    }
}

/* Whether the keys are defined and differ; if not, that is what is told. */
static bool keys_are_sound(const struct key_schema *keys) {
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        if (keys->parts[i].type == VALUE_NONE)
            return false;
        for (unsigned j = 0; j < i; j++)
            if (bytes_equal(keys->parts[i].name, keys->parts[j].name))
                return false;
    }
    return true;
}

enum status schema_check_keys(struct call *call, const struct json *list,
                              const struct key_schema *keys, bool several) {
    if (!keys_are_sound(keys))
        return OK;
    if (!is_hash(&list->elements[0]))
        return call_invalid(call, "Invalid KeySchema: The first KeySchemaElement is not a HASH key "
                                  "type");
    uint32_t hashes = 1;
    while (several && hashes < list->count && is_hash(&list->elements[hashes]))
        hashes++;
    for (uint32_t i = hashes; i < list->count; i++)
        if (is_hash(&list->elements[i]))
            return call_invalid(call, several && hashes < i
                                          ? "Invalid KeySchema: A HASH key type comes after a "
                                            "RANGE key type"
                                          : "Invalid KeySchema: The second KeySchemaElement is not "
                                            "a RANGE key type");
    if (hashes > LIMIT_INDEX_PARTITION_PARTS || list->count - hashes > LIMIT_INDEX_SORT_PARTS)
        return call_invalid(call,
                            "Invalid KeySchema: An index has at most %d HASH and %d RANGE "
                            "attributes",
                            LIMIT_INDEX_PARTITION_PARTS, LIMIT_INDEX_SORT_PARTS);
    return OK;
}

/* --- indexes --- */

static void read_projection(struct call *call, const struct json *from, struct index_schema *out) {
    struct args args;
    spec_bind(&shape_projection, from, &args);
    struct bytes type = args_text(&args, ARG_PROJECTION_TYPE);
    out->projected = bytes_equal(type, BYTES("ALL"))         ? PROJECTED_ALL
                     : bytes_equal(type, BYTES("KEYS_ONLY")) ? PROJECTED_KEYS
                                                             : PROJECTED_INCLUDED;
    const struct json *list = args.at[ARG_NON_KEY_ATTRIBUTES];
    if (list == NULL)
        return;
    struct bytes *names = ARENA_ARRAY(call->arena, struct bytes, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        names[i] = list->elements[i].text;
    out->included = names;
    out->included_count = list->count;
}

enum status schema_read_index(struct call *call, const struct args *args,
                              const struct table_schema *schema, struct index_schema *out) {
    bool local = out->local;
    *out = (struct index_schema){.name = args_text(args, ARG_INDEX_NAME), .local = local};
    schema_read_keys(args->at[ARG_KEY_SCHEMA], schema, !local, &out->keys);
    read_projection(call, args->at[ARG_PROJECTION], out);
    return local ? OK : schema_read_capacity(call, args, &out->capacity);
}

enum status schema_check_index(struct call *call, const struct args *args,
                               const struct index_schema *index) {
    if (!keys_are_sound(&index->keys))
        return OK;
    enum status status =
        schema_check_keys(call, args->at[ARG_KEY_SCHEMA], &index->keys, !index->local);
    struct args projection;
    spec_bind(&shape_projection, args->at[ARG_PROJECTION], &projection);
    if (status == OK && !args_has(&projection, ARG_PROJECTION_TYPE))
        status = call_invalid(call, PARAMETERS "Unknown ProjectionType: null");
    return status;
}

/* --- settings --- */

static enum status check_units(struct call *call, int64_t units, const char *name) {
    if (units > units_max)
        return call_invalid(call, "Given value %lld for %s is out of bounds", (long long)units,
                            name);
    return OK;
}

enum status schema_read_capacity(struct call *call, const struct args *args,
                                 struct capacity_settings *out) {
    *out = (struct capacity_settings){0};
    struct args inner;
    enum status status = OK;
    if (args_has(args, ARG_PROVISIONED_THROUGHPUT)) {
        spec_bind(&shape_throughput, args->at[ARG_PROVISIONED_THROUGHPUT], &inner);
        out->provisioned.read = args_int(&inner, ARG_READ_CAPACITY_UNITS, 0);
        out->provisioned.write = args_int(&inner, ARG_WRITE_CAPACITY_UNITS, 0);
        status = check_units(call, out->provisioned.read, "ReadCapacityUnits");
        if (status == OK)
            status = check_units(call, out->provisioned.write, "WriteCapacityUnits");
    }
    if (args_has(args, ARG_ON_DEMAND_THROUGHPUT)) {
        spec_bind(&shape_on_demand, args->at[ARG_ON_DEMAND_THROUGHPUT], &inner);
        out->on_demand_max.read = args_int(&inner, ARG_MAX_READ_REQUEST_UNITS, 0);
        out->on_demand_max.write = args_int(&inner, ARG_MAX_WRITE_REQUEST_UNITS, 0);
    }
    if (args_has(args, ARG_WARM_THROUGHPUT)) {
        spec_bind(&shape_warm, args->at[ARG_WARM_THROUGHPUT], &inner);
        out->warm.read = args_int(&inner, ARG_READ_UNITS_PER_SECOND, 0);
        out->warm.write = args_int(&inner, ARG_WRITE_UNITS_PER_SECOND, 0);
    }
    return status;
}

enum status schema_read_stream(struct call *call, const struct json *from, enum stream_view *out) {
    struct args args;
    spec_bind(&shape_stream, from, &args);
    bool enabled = args_bool(&args, ARG_STREAM_ENABLED, false);
    struct bytes view = args_text(&args, ARG_STREAM_VIEW_TYPE);
    *out = STREAM_OFF;
    if (!enabled && view.size != 0)
        return call_invalid(call, "Invalid StreamViewType: Stream StreamEnabled was false but a "
                                  "StreamViewType was present.");
    if (!enabled)
        return OK;
    if (view.size == 0)
        return call_invalid(call, "Invalid StreamViewType: Stream ViewType must not be null or "
                                  "empty when enabling streams.");
    *out = bytes_equal(view, BYTES("KEYS_ONLY"))   ? STREAM_KEYS
           : bytes_equal(view, BYTES("NEW_IMAGE")) ? STREAM_NEW
           : bytes_equal(view, BYTES("OLD_IMAGE")) ? STREAM_OLD
                                                   : STREAM_BOTH;
    return OK;
}

void schema_read_encryption(const struct json *from, bool *encrypted, struct bytes *key) {
    struct args args;
    spec_bind(&shape_sse, from, &args);
    *encrypted = args_bool(&args, ARG_ENABLED, false);
    *key = args_text(&args, ARG_KMS_MASTER_KEY_ID);
    if (*encrypted && key->size == 0)
        *key = BYTES("alias/aws/dynamodb");
}

/* --- without a request --- */

enum status schema_parse(struct bytes text, struct bytes name, struct scope in,
                         struct table_schema *out) {
    struct call *call = ARENA_NEW(in.arena, struct call);
    size_t at;
    call->arena = in.arena;
    if (json_parse(text, in.arena, &call->request, &at) != OK)
        return failure_set(in.failure, in.arena, INVALID,
                           "The description of table %.*s is not JSON.", BYTES_ARG(name));
    enum status status = spec_read(&shape_create_table, &call->request, in, &call->args);
    if (status == OK)
        status = spec_check_limits(&shape_create_table, &call->args, in);
    if (status != OK)
        return status;
    call->table = name;
    *out = (struct table_schema){0};
    status = schema_read_table(call, out);
    if (status != OK)
        *in.failure = call->failure;
    return status;
}

/* TagResource, UntagResource, ListTagsOfResource. */
#include "api/dynamodb/ddb_schema.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"

#include <strings.h>

static enum status missing(struct call *call, enum arg arg) {
    struct bytes name = arg_name(arg);
    return call_invalid(call,
                        "1 validation error detected: Value null at '%c%s' failed to satisfy "
                        "constraint: Member must not be null",
                        name.data[0] | 0x20, (const char *)name.data + 1);
}

/* ResourceArn to call->table; `list` is the other parameter, ARG_COUNT if there is none. */
static enum status read_resource(struct call *call, enum arg list) {
    struct bytes arn = args_text(&call->args, ARG_RESOURCE_ARN);
    if (!args_has(&call->args, ARG_RESOURCE_ARN))
        return call_invalid(call, "Invalid TableArn");
    if (!bytes_starts(arn, BYTES("arn:")))
        return call_invalid(call, "Invalid TableArn: ARNs must start with 'arn:': %.*s",
                            BYTES_ARG(arn));
    if (list != ARG_COUNT && !args_has(&call->args, list))
        return missing(call, list);
    if (!bytes_starts(arn, BYTES("arn:aws:dynamodb:")))
        return call_invalid(call, "Invalid TableArn: Invalid ResourceArn provided as input %.*s",
                            BYTES_ARG(arn));
    return call_table_name(call, arn, &call->table);
}

static enum status not_found(struct call *call) {
    struct bytes arn = args_text(&call->args, ARG_RESOURCE_ARN);
    return failure_set(&call->failure, call->arena, NO_RESOURCE,
                       "Requested resource not found: ResourcArn: %.*s not found", BYTES_ARG(arn));
}

/* Who lists the tags of a table that is not there is told that they may not. */
static enum status no_list(struct call *call) {
    struct bytes arn = args_text(&call->args, ARG_RESOURCE_ARN), account = call_account(call);
    return call_refuse(call, "AccessDeniedException",
                       "User: arn:aws:iam::%.*s:root is not authorized to perform: "
                       "dynamodb:ListTagsOfResource on resource: %.*s",
                       BYTES_ARG(account), BYTES_ARG(arn));
}

/* Both changes answer with nothing at all. */
static enum status answer_tagged(struct call *call) {
    enum status status = call_changed(call);
    return status == NO_TABLE ? not_found(call) : status;
}

static enum status submit_tags(struct call *call) {
    call->change.kind = CHANGE_TAGS;
    call->change.table = call->table;
    return call_then(call, answer_tagged);
}

/* Letters, digits and blanks of any script, and _ . : / = + - @ among what ASCII has beside them.
 */
static bool is_tag_text(struct bytes text) {
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (c < 0x80 && !plain && memchr(" \t_.:/=+-@", c, 10) == NULL)
            return false;
    }
    return true;
}

/* Names that begin so, in any case, are the service's own. */
static bool is_reserved_key(struct bytes key) {
    return key.size >= 4 && strncasecmp((const char *)key.data, "aws:", 4) == 0;
}

enum status tags_read(struct call *call, const struct json *list, struct tag **out) {
    struct tag *tags = ARENA_ARRAY(call->arena, struct tag, list->count + 1);
    if (list->count > LIMIT_TAGS)
        return call_invalid(call, "Too many tags: a table can have at most %d", LIMIT_TAGS);
    for (uint32_t i = 0; i < list->count; i++) {
        struct args args;
        spec_bind(&shape_tag, &list->elements[i], &args);
        tags[i] = (struct tag){args_text(&args, ARG_KEY), args_text(&args, ARG_VALUE)};
        if (!is_tag_text(tags[i].key) || !is_tag_text(tags[i].value))
            return call_invalid(call,
                                "One or more parameter values were invalid: The tag %.*s has "
                                "characters other than letters, digits, blanks and _.:/=+-@",
                                BYTES_ARG(tags[i].key));
        if (is_reserved_key(tags[i].key))
            return call_invalid(call, "One or more parameter values were invalid: aws: prefixed "
                                      "tag key names are not allowed for external use");
    }
    *out = tags;
    return OK;
}

enum status op_tag_resource(struct call *call) {
    enum status status = read_resource(call, ARG_TAGS);
    if (status != OK)
        return status;
    const struct json *list = call->args.at[ARG_TAGS];
    if (list->count == 0)
        return call_invalid(call, "Atleast one Tag needs to be provided as Input.");
    struct tag *tags;
    status = tags_read(call, list, &tags);
    if (status != OK)
        return status;
    call->change.tags = tags;
    call->change.tag_count = list->count;
    return submit_tags(call);
}

enum status op_untag_resource(struct call *call) {
    enum status status = read_resource(call, ARG_TAG_KEYS);
    if (status != OK)
        return status;
    const struct json *list = call->args.at[ARG_TAG_KEYS];
    if (list->count == 0)
        return call_invalid(call, "Atleast one Tag Key needs to be provided as Input.");
    struct bytes *keys = ARENA_ARRAY(call->arena, struct bytes, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        keys[i] = list->elements[i].text;
        if (bytes_starts(keys[i], BYTES(TAG_OWN)))
            keys[i] = (struct bytes){0}; /* nobody's */
    }
    call->change.untag = keys;
    call->change.untag_count = list->count;
    return submit_tags(call);
}

enum status op_list_tags_of_resource(struct call *call) {
    struct table_description table;
    enum status status = read_resource(call, ARG_COUNT);
    if (status != OK)
        return status;
    status = engine_describe(call->engine, call->table, (struct scope){call->arena, &call->failure},
                             &table);
    if (status != OK)
        return status == NO_TABLE ? no_list(call) : status;
    buf_lit(call->reply, "{\"Tags\":[");
    bool first = true;
    for (uint32_t i = 0; i < table.schema.tag_count; i++) {
        if (bytes_starts(table.schema.tags[i].key, BYTES(TAG_OWN)))
            continue;
        buf_put(call->reply, first ? BYTES("{\"Key\":") : BYTES(",{\"Key\":"));
        first = false;
        json_put_string(call->reply, table.schema.tags[i].key);
        buf_lit(call->reply, ",\"Value\":");
        json_put_string(call->reply, table.schema.tags[i].value);
        buf_byte(call->reply, '}');
    }
    buf_lit(call->reply, "]}");
    return OK;
}

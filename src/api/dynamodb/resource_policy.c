/* PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy: policies are kept with the table, for
 * tools that write them and read them back. They are not obeyed: who may do what is said by the
 * server's keys, and with keys a policy is refused rather than kept without effect.
 *
 * A policy is stored among the table's tags, under a name that no client can give one (TAG_OWN), as
 * its revision, a blank and its text. */
#include "api/dynamodb/ddb_background.h"
#include "api/dynamodb/operation.h"
#include "base/clock.h"
#include "base/limits.h"

static const struct bytes table_tag = {(const uint8_t *)TAG_OWN "policy", 7};
static const struct bytes stream_tag = {(const uint8_t *)TAG_OWN "stream-policy", 14};

struct policy {
    struct bytes tag; /* under which it is kept */
    struct bytes revision, text;
    bool there;
};

/* The table of the resource, which is it or its stream, and what policy it has now. */
static enum status find_policy(struct call *call, struct policy *out) {
    struct bytes arn = args_text(&call->args, ARG_RESOURCE_ARN);
    size_t stream = bytes_find(arn, BYTES("/stream/"));
    struct table_description table;
    *out = (struct policy){.tag = stream != SIZE_MAX ? stream_tag : table_tag};
    if (stream != SIZE_MAX)
        arn.size = stream;
    enum status status = call_table_name(call, arn, &call->table);
    if (status == OK)
        status = engine_describe(call->engine, call->table,
                                 (struct scope){call->arena, &call->failure}, &table);
    for (uint32_t i = 0; status == OK && i < table.schema.tag_count; i++) {
        struct bytes value = table.schema.tags[i].value;
        if (!bytes_equal(table.schema.tags[i].key, out->tag))
            continue;
        size_t blank = bytes_find(value, BYTES(" "));
        out->there = blank != SIZE_MAX;
        out->revision = bytes_of(value.data, out->there ? blank : 0);
        out->text = out->there ? bytes_skip(value, blank + 1) : value;
    }
    return status;
}

static enum status no_policy(struct call *call) {
    struct bytes arn = args_text(&call->args, ARG_RESOURCE_ARN);
    return call_refuse(call, "PolicyNotFoundException",
                       "Resource-based policy not found for the provided ResourceArn: %.*s",
                       BYTES_ARG(arn));
}

/* ExpectedRevisionId, if it is given, is that of the policy; "NO_POLICY": there is none. */
static enum status check_revision(struct call *call, const struct policy *policy) {
    struct bytes expected = args_text(&call->args, ARG_EXPECTED_REVISION_ID);
    if (!args_has(&call->args, ARG_EXPECTED_REVISION_ID))
        return OK;
    bool none = bytes_equal(expected, BYTES("NO_POLICY"));
    bool good = none ? !policy->there : policy->there && bytes_equal(expected, policy->revision);
    return good ? OK : no_policy(call);
}

enum status op_get_resource_policy(struct call *call) {
    struct policy policy;
    enum status status = find_policy(call, &policy);
    if (status != OK)
        return status;
    if (!policy.there)
        return no_policy(call);
    buf_byte(call->reply, '{');
    reply_text(call->reply, BYTES("Policy"), policy.text);
    reply_text(call->reply, BYTES("RevisionId"), policy.revision);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- changing it --- */

static enum status answer_revision(struct call *call) {
    const struct bytes *revision = call->state;
    enum status status = call_changed(call);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    reply_text(call->reply, BYTES("RevisionId"), *revision);
    buf_byte(call->reply, '}');
    return OK;
}

/* `revision` is told when it is done. */
static enum status submit_policy(struct call *call, struct bytes revision) {
    struct bytes *told = ARENA_NEW(call->arena, struct bytes);
    *told = arena_copy(call->arena, revision);
    call->state = told;
    call->change.kind = CHANGE_TAGS;
    call->change.table = call->table;
    return call_then(call, answer_revision);
}

static enum status check_policy(struct call *call, struct bytes text) {
    struct json policy;
    size_t at;
    if (call->frontend->settings.keys != NULL)
        return call_invalid(call,
                            "Resource-based policies are not obeyed here: what a key may do is "
                            "said by the server's keys");
    if (text.size > LIMIT_POLICY_SIZE)
        return call_invalid(call, "Resource-based policy is larger than %d bytes",
                            LIMIT_POLICY_SIZE);
    if (json_parse(text, call->arena, &policy, &at) != OK || policy.type != JSON_OBJECT ||
        json_get(&policy, BYTES("Statement")) == NULL)
        return call_invalid(call, "Invalid policy document: it is a JSON object with Statement");
    return OK;
}

/* A later policy has a later revision, whatever the clock says. */
static struct bytes next_revision(struct call *call, const struct policy *now) {
    long long last = 0;
    for (size_t i = 0; i < now->revision.size; i++)
        last = last * 10 + (now->revision.data[i] - '0');
    long long next = clock_now_ms();
    return arena_printf(call->arena, "%lld", next > last ? next : last + 1);
}

enum status op_put_resource_policy(struct call *call) {
    struct bytes text = args_text(&call->args, ARG_POLICY);
    struct policy now;
    enum status status = check_policy(call, text);
    if (status == OK)
        status = find_policy(call, &now);
    if (status == OK)
        status = check_revision(call, &now);
    if (status != OK)
        return status;
    bool same = now.there && bytes_equal(now.text, text);
    struct bytes revision = same ? now.revision : next_revision(call, &now);
    struct tag *tag = ARENA_NEW(call->arena, struct tag);
    tag->key = now.tag;
    tag->value = arena_printf(call->arena, "%.*s %.*s", BYTES_ARG(revision), BYTES_ARG(text));
    call->change.tags = tag;
    call->change.tag_count = 1;
    return submit_policy(call, revision);
}

/* Deleting none is fine. */
enum status op_delete_resource_policy(struct call *call) {
    struct policy now;
    enum status status = find_policy(call, &now);
    if (status == OK)
        status = check_revision(call, &now);
    if (status != OK)
        return status;
    if (!now.there) {
        buf_lit(call->reply, "{}");
        return OK;
    }
    struct bytes *tag = ARENA_NEW(call->arena, struct bytes);
    *tag = now.tag;
    call->change.untag = tag;
    call->change.untag_count = 1;
    return submit_policy(call, now.revision);
}

/* Changes: what they do is worked out here from items as they were read, and written on condition
 * that those are still as they were. One item by a conditional put, several by a transaction. When
 * another writer was first, all of it is done again.
 *
 * An answer that was lost after the write was done does not do it twice. A transaction carries a
 * token by which the endpoint knows it again. A put carries its version, which the item remembers
 * for a while, past other writes too: a condition that fails at the second attempt comes with the
 * item, and that tells whether the first attempt has been here. A delete leaves nothing behind to
 * tell, and so is always a transaction. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/random.h"
#include "table/remote/remote_evaluate.h"
#include "json/attribute.h"

#include <stdio.h>
#include <time.h>

/* What an attempt sends. */
struct commit {
    struct attempt *attempt;
    struct evaluation **writes; /* items that become others, or go */
    size_t write_count;
    struct remote_read **checks; /* items that must be as they were read */
    size_t check_count;
    struct remote_read *token; /* NULL: the change has none */
    struct item token_item;
    struct bytes *versions; /* of writes: the new value of `v`; empty: the item goes */
};

/* --- tokens --- */

static struct bytes token_digest(const struct change *change) {
    return arena_printf(change->arena, "%016llx%016llx",
                        (unsigned long long)change->token_digest[0],
                        (unsigned long long)change->token_digest[1]);
}

static struct item string_item(struct arena *arena, const struct pair *pairs, uint32_t count) {
    struct pair *all = ARENA_ARRAY(arena, struct pair, count);
    memcpy(all, pairs, count * sizeof(*pairs));
    return (struct item){all, value_sort_pairs(all, count)};
}

static struct item token_key(const struct change *change) {
    struct bytes name = arena_printf(change->arena, "TOKEN#%016llx%016llx",
                                     (unsigned long long)hash_stable(change->token, 11),
                                     (unsigned long long)hash_stable(change->token, 12));
    struct pair pairs[] = {{BYTES("PK"), value_string(name)},
                           {BYTES("SK"), value_string(BYTES("TOKEN"))}};
    return string_item(change->arena, pairs, 2);
}

static struct item token_item(const struct change *change) {
    struct item key = token_key(change);
    int64_t ends_s = (clock_now_ms() + LIMIT_TOKEN_MS) / 1000 + 1;
    struct bytes digits = arena_printf(change->arena, "%lld", (long long)ends_s);
    struct value ends, digest = value_string(token_digest(change));
    struct json number = {.type = JSON_STRING, .text = digits};
    struct json_member member = {BYTES("N"), number};
    struct json typed = {.type = JSON_OBJECT, .count = 1, .members = &member};
    struct failure failure = {0};
    enum status status = attribute_read(&typed, (struct scope){change->arena, &failure}, &ends);
    struct item item = item_with(change->arena, &key, BYTES("digest"), &digest);
    return status == OK ? item_with(change->arena, &item, BYTES("ttl"), &ends) : item;
}

/* Reads the change's token. *repeat: it was used before, and the change is answered. */
static enum status look_at_token(struct attempt *attempt, struct commit *commit, bool *repeat) {
    struct change *change = attempt->change;
    struct item key = token_key(change);
    bool known;
    commit->token = attempt_note(attempt, &key, &known);
    commit->token_item = token_item(change);
    struct remote_reads one = {attempt->remote->table, &commit->token, 1};
    enum status status =
        remote_read_many(attempt->remote, &one, (struct scope){change->arena, &change->failure});
    *repeat = status == OK && commit->token->item.count != 0;
    if (!*repeat)
        return status;
    const struct value *digest = item_get(&commit->token->item, BYTES("digest"));
    if (digest == NULL || !bytes_equal(digest->bytes, token_digest(change)))
        return failure_set(&change->failure, change->arena, REPEAT_MISMATCH,
                           "The token was used before, with a different request");
    change->repeated = true;
    attempt_read_again(attempt);
    return OK;
}

/* --- prepare --- */

/* Takes over what `prepare` has read, the last reading first: the first one counts, and what came
 * after it has to agree. */
static void take_note(struct attempt *attempt, const struct remote_read *read) {
    bool known;
    struct remote_read *note = attempt_note(attempt, &read->key, &known);
    struct remote_read *rest = note->next;
    struct item ranked = known && read->ranked.count == 0 ? note->ranked : read->ranked;
    bool has_item = known && read->ranked.count != 0 && note->ranked.count == 0;
    if (!has_item)
        *note = *read;
    note->ranked = ranked;
    note->next = rest;
}

/* Whether the item is what the ranking said of it. */
static bool agrees(const struct remote_read *read) {
    for (uint32_t i = 0; i < read->ranked.count; i++) {
        const struct value *value = item_get(&read->item, read->ranked.pairs[i].name);
        if (value == NULL || !value_equal(value, &read->ranked.pairs[i].value))
            return false;
    }
    return true;
}

/* Reads the items of the entries that the ranking showed to `prepare`. CONFLICT without a sentence
 * if one is another by now: the ranking will hear of it soon. */
static enum status read_ranked(struct attempt *attempt, size_t room) {
    struct change *change = attempt->change;
    struct remote_reads unread = {attempt->remote->table,
                                  ARENA_ARRAY(change->arena, struct remote_read *, room + 1), 0};
    enum status status = OK;
    for (struct remote_read *read = attempt->reads; read != NULL; read = read->next)
        if (read->ranked.count != 0 && !read->exists)
            unread.reads[unread.count++] = read;
    if (unread.count != 0)
        status = remote_read_many(attempt->remote, &unread,
                                  (struct scope){change->arena, &change->failure});
    for (struct remote_read *read = attempt->reads; status == OK && read != NULL; read = read->next)
        if (read->ranked.count != 0 && !agrees(read))
            status = CONFLICT;
    return status;
}

static enum status run_prepare(struct attempt *attempt) {
    struct change *change = attempt->change;
    struct remote_recording recording = {.arena = change->arena, .settled = change->ranks_settled};
    change->failure = (struct failure){0};
    remote_recording = &recording;
    enum status status = change->prepare(change);
    remote_recording = NULL;
    if (status != OK) {
        change->action_count = 0;
        if (change->failure.status == OK)
            failure_set(&change->failure, change->arena, status, "The change cannot be made");
        return status;
    }
    attempt->reads = NULL;
    for (struct remote_read *read = recording.first, *next; read != NULL; read = next) {
        next = read->next;
        take_note(attempt, read);
    }
    return read_ranked(attempt, recording.count);
}

/* --- what is to be sent --- */

static void plan_one(struct commit *commit, struct evaluation *evaluation) {
    if (evaluation->changes)
        commit->writes[commit->write_count++] = evaluation;
    else if (evaluation->checked)
        commit->checks[commit->check_count++] = evaluation->read;
}

static bool is_planned(const struct commit *commit, const struct remote_read *read) {
    for (size_t i = 0; i < commit->write_count; i++)
        if (commit->writes[i]->read == read)
            return true;
    for (size_t i = 0; i < commit->check_count; i++)
        if (commit->checks[i] == read)
            return true;
    return read == commit->token;
}

static void plan(struct commit *commit) {
    struct attempt *attempt = commit->attempt;
    struct arena *arena = attempt->change->arena;
    size_t room = attempt->change->action_count;
    for (const struct evaluation *added = attempt->added; added != NULL; added = added->next)
        room++;
    for (const struct remote_read *read = attempt->reads; read != NULL; read = read->next)
        room++;
    commit->writes = ARENA_ARRAY(arena, struct evaluation *, room + 1);
    commit->checks = ARENA_ARRAY(arena, struct remote_read *, room + 1);
    for (size_t i = 0; i < attempt->change->action_count; i++)
        plan_one(commit, &attempt->evaluations[i]);
    for (struct evaluation *added = attempt->added; added != NULL; added = added->next)
        plan_one(commit, added);
    for (struct remote_read *read = attempt->reads; read != NULL; read = read->next)
        if (read->seen && !is_planned(commit, read))
            commit->checks[commit->check_count++] = read;
    commit->versions = ARENA_ARRAY(arena, struct bytes, commit->write_count + 1);
    for (size_t i = 0; i < commit->write_count; i++) {
        const struct evaluation *write = commit->writes[i];
        if (write->action->new.count != 0)
            commit->versions[i] = remote_versions_with(
                remote_version_next(attempt->remote, remote_version_newest(write->read->version),
                                    arena),
                write->read->version, arena);
    }
}

/* --- the bodies --- */

/* The condition that an item is as it was read. */
static void put_condition(struct buf *body, const struct remote_read *read) {
    if (!read->exists) {
        buf_lit(body, "\"ConditionExpression\":\"attribute_not_exists(PK)\"");
        return;
    }
    if (read->version.size == 0) {
        buf_lit(body, "\"ConditionExpression\":\"attribute_exists(PK) AND "
                      "attribute_not_exists(v)\"");
        return;
    }
    buf_lit(body,
            "\"ConditionExpression\":\"v = :v\",\"ExpressionAttributeValues\":{\":v\":{\"S\":");
    json_put_string(body, read->version);
    buf_lit(body, "}}");
}

static void put_table(struct buf *body, const struct remote *remote) {
    buf_lit(body, "{\"TableName\":");
    json_put_string(body, remote->table);
    buf_byte(body, ',');
}

static void put_put(struct buf *body, const struct commit *commit, size_t at) {
    const struct evaluation *write = commit->writes[at];
    struct attempt *attempt = commit->attempt;
    struct item item =
        remote_item_sent(&write->action->new, commit->versions[at], attempt->change->arena);
    put_table(body, attempt->remote);
    buf_lit(body, "\"Item\":");
    attribute_write_item(body, &item);
    buf_byte(body, ',');
    put_condition(body, write->read);
}

static void put_keyed(struct buf *body, const struct commit *commit,
                      const struct remote_read *read) {
    put_table(body, commit->attempt->remote);
    buf_lit(body, "\"Key\":");
    attribute_write_item(body, &read->key);
    buf_byte(body, ',');
    put_condition(body, read);
    buf_byte(body, '}');
}

static void put_token(struct buf *body, const struct commit *commit) {
    put_table(body, commit->attempt->remote);
    buf_lit(body, "\"Item\":");
    struct attempt *attempt = commit->attempt;
    struct arena *arena = attempt->change->arena;
    struct item item = remote_item_sent(
        &commit->token_item,
        remote_version_next(attempt->remote, remote_version_newest(commit->token->version), arena),
        arena);
    attribute_write_item(body, &item);
    buf_byte(body, ',');
    put_condition(body, commit->token);
    buf_byte(body, '}');
}

static void put_client_token(struct buf *body) {
    uint64_t random[2];
    random_secure(random, sizeof(random));
    buf_printf(body, "\"ClientRequestToken\":\"%016llx%016llx\"", (unsigned long long)random[0],
               (unsigned long long)random[1]);
}

static void put_transaction(struct buf *body, const struct commit *commit) {
    const char *comma = "";
    buf_lit(body, "{\"TransactItems\":[");
    for (size_t i = 0; i < commit->write_count; i++, comma = ",") {
        bool put = commit->versions[i].size != 0;
        buf_printf(body, "%s{\"%s\":", comma, put ? "Put" : "Delete");
        if (put) {
            put_put(body, commit, i);
            buf_byte(body, '}');
        } else
            put_keyed(body, commit, commit->writes[i]->read);
        buf_byte(body, '}');
    }
    for (size_t i = 0; i < commit->check_count; i++, comma = ",") {
        buf_printf(body, "%s{\"ConditionCheck\":", comma);
        put_keyed(body, commit, commit->checks[i]);
        buf_byte(body, '}');
    }
    if (commit->token != NULL) {
        buf_printf(body, "%s{\"Put\":", comma);
        put_token(body, commit);
        buf_byte(body, '}');
    }
    buf_lit(body, "],");
    put_client_token(body);
    buf_byte(body, '}');
}

/* --- sending --- */

static struct bytes text_of(const struct json *object, struct bytes name) {
    const struct json *text = json_get(object, name);
    return text != NULL && text->type == JSON_STRING ? text->text : (struct bytes){0};
}

/* A failed condition of a put: whether an attempt before, whose answer was lost, has done it. */
static enum status judge_put(struct commit *commit, const struct transport_request *request) {
    struct change *change = commit->attempt->change;
    struct scope in = {change->arena, &change->failure};
    const struct json *json = json_get(&request->json, BYTES("Item"));
    struct item item;
    bool dropped = false;
    if (!request->uncertain || json == NULL || attribute_read_item(json, in, &item) != OK)
        return CONFLICT;
    struct bytes there = remote_item_received(commit->attempt->remote, &item, in.arena).version;
    if (remote_versions_have(there, remote_version_newest(commit->versions[0]), &dropped))
        return OK;
    if (!dropped)
        return CONFLICT;
    return failure_set(
        in.failure, in.arena, IO_FAILED,
        "the DynamoDB endpoint gave no answer, and others have written so much since "
        "that it cannot be seen whether the write was done");
}

static enum status send_put(struct commit *commit) {
    struct change *change = commit->attempt->change;
    struct scope in = {change->arena, &change->failure};
    struct buf body = {0};
    put_put(&body, commit, 0);
    buf_lit(&body, ",\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"}");
    struct transport_request request = {.target = "PutItem", .body = buf_bytes(&body)};
    enum status status = transport_send(commit->attempt->remote->transport, &request, in);
    buf_release(&body);
    if (status != OK || request.status == 200)
        return status;
    if (bytes_equal(request.type, BYTES("ConditionalCheckFailedException")))
        return judge_put(commit, &request);
    if (bytes_equal(request.type, BYTES("TransactionConflictException")))
        return CONFLICT;
    return transport_fault(&request, in);
}

/* Whether it was cancelled because somebody else was first, or is at it. */
static bool is_conflict(const struct json *reasons, struct bytes *text) {
    bool conflict = false;
    for (uint32_t i = 0; reasons != NULL && reasons->type == JSON_ARRAY && i < reasons->count;
         i++) {
        struct bytes code = text_of(&reasons->elements[i], BYTES("Code"));
        if (code.size == 0 || bytes_equal(code, BYTES("None")))
            continue;
        if (bytes_equal(code, BYTES("ValidationError")) ||
            bytes_equal(code, BYTES("ItemCollectionSizeLimitExceeded"))) {
            *text = text_of(&reasons->elements[i], BYTES("Message"));
            return false;
        }
        conflict = true;
    }
    return conflict;
}

static enum status send_transaction(struct commit *commit) {
    struct change *change = commit->attempt->change;
    struct scope in = {change->arena, &change->failure};
    struct buf body = {0};
    struct bytes text = {0};
    put_transaction(&body, commit);
    struct transport_request request = {.target = "TransactWriteItems", .body = buf_bytes(&body)};
    enum status status = transport_send(commit->attempt->remote->transport, &request, in);
    buf_release(&body);
    if (status != OK || request.status == 200)
        return status;
    if (!bytes_equal(request.type, BYTES("TransactionCanceledException")))
        return transport_fault(&request, in);
    if (is_conflict(json_get(&request.json, BYTES("CancellationReasons")), &text))
        return CONFLICT;
    return failure_set(in.failure, in.arena, INVALID, "%.*s",
                       BYTES_ARG(text.size != 0 ? text : request.text));
}

static enum status send_commit(struct commit *commit) {
    struct change *change = commit->attempt->change;
    size_t items = commit->write_count + commit->check_count + (commit->token != NULL);
    if (commit->write_count == 0 && commit->token == NULL)
        return OK; /* what was read is as good as any moment's */
    if (items > LIMIT_TRANSACT_ITEMS)
        return failure_set(&change->failure, change->arena, LIMIT_EXCEEDED,
                           "This touches %zu items at once, and one commit takes %d: do it in "
                           "smaller parts",
                           items, LIMIT_TRANSACT_ITEMS);
    if (items == 1 && commit->write_count == 1 && commit->versions[0].size != 0)
        return send_put(commit);
    return send_transaction(commit);
}

/* --- after the commit --- */

/* Also of an action that changed nothing, if it asks where its entry stands, or puts it: who put it
 * before may have died before the ranking heard of it. */
static void fill_write(struct commit *commit, const struct evaluation *evaluation,
                       struct bytes version, struct remote_write *out) {
    const struct action *action = evaluation->action;
    (void)commit;
    *out = (struct remote_write){.key = evaluation->read->key,
                                 .old = &action->old,
                                 .new = evaluation->changes ? &action->new : &action->old,
                                 .old_version = remote_version_newest(evaluation->read->version),
                                 .version = remote_version_newest(version),
                                 .ranks = action->ranks,
                                 .keeps_version = action->keeps_version || !evaluation->changes};
}

static void apply_commit(struct commit *commit) {
    struct attempt *attempt = commit->attempt;
    struct remote *remote = attempt->remote;
    size_t room = commit->write_count + attempt->change->action_count, count = 0;
    struct remote_write *writes =
        ARENA_ARRAY(attempt->change->arena, struct remote_write, room + 1);
    for (size_t i = 0; i < commit->write_count; i++)
        fill_write(commit, commit->writes[i], commit->versions[i], &writes[count++]);
    for (size_t i = 0; i < attempt->change->action_count; i++) {
        const struct evaluation *evaluation = &attempt->evaluations[i];
        bool again = evaluation->action->kind == ACTION_PUT || evaluation->action->ranks != NULL;
        if (!evaluation->changes && again)
            fill_write(commit, evaluation, evaluation->read->version, &writes[count++]);
    }
    if (remote->ranking != NULL && count != 0)
        remote_ranking_apply(remote->ranking, writes, count, attempt->change->arena);
    for (size_t i = 0; remote->ranking == NULL && i < count; i++)
        if (!writes[i].keeps_version)
            remote_version_raise(remote, remote_version_slot(writes[i].key.pairs[0].value.bytes));
}

/* --- attempts --- */

static enum status attempt_once(struct remote *remote, struct change *change) {
    struct scope in = {change->arena, &change->failure};
    struct attempt attempt = {.remote = remote, .change = change};
    struct commit commit = {.attempt = &attempt};
    bool repeat = false;
    change->failure = (struct failure){0};
    enum status status = remote_schema(remote, remote->table, in, &attempt.schema);
    if (status == OK && change->token.size != 0)
        status = look_at_token(&attempt, &commit, &repeat);
    if (status != OK || repeat)
        return status;
    if (change->prepare != NULL) {
        struct remote_read *token = commit.token;
        status = run_prepare(&attempt);
        if (token != NULL) {
            token->next = attempt.reads;
            attempt.reads = token;
        }
    }
    if (status == OK && change->action_count > LIMIT_CHANGE_ACTIONS)
        status = failure_set(in.failure, in.arena, INVALID, "A change can have at most %d actions",
                             LIMIT_CHANGE_ACTIONS);
    if (status == OK)
        status = attempt_evaluate(&attempt);
    if (status != OK)
        return status;
    plan(&commit);
    status = send_commit(&commit);
    if (status == OK && commit.write_count != 0) {
        atomic_fetch_add(&remote->commits, 1);
        atomic_fetch_add(&remote->writes, commit.write_count);
    }
    if (status == OK)
        apply_commit(&commit);
    return status;
}

/* Who was second waits a random while, longer each time. */
static void pause_after_conflict(unsigned times) {
    uint64_t most_us = UINT64_C(1000) << (times < 7 ? times : 7), random;
    random_secure(&random, sizeof(random));
    struct timespec pause = {.tv_nsec = (long)(random % most_us) * 1000};
    nanosleep(&pause, NULL);
}

/* Ranks that are asked for can be counted only where the ranking is whole. */
static void make_rankings_ready(struct remote *remote, const struct change *change) {
    for (size_t i = 0; remote->ranking != NULL && i < change->action_count; i++) {
        const struct action *action = &change->actions[i];
        const struct value *partition = item_get(&action->item, BYTES("PK"));
        if (action->ranks != NULL && partition != NULL && partition->type == VALUE_S)
            remote_ranking_ready(remote->ranking, partition->bytes, change->arena);
    }
}

static void carry_out(struct remote *remote, struct change *change) {
    enum status status = CONFLICT;
    make_rankings_ready(remote, change);
    for (unsigned times = 0; status == CONFLICT && times < LIMIT_REMOTE_CONFLICTS; times++) {
        if (times != 0)
            pause_after_conflict(times);
        status = attempt_once(remote, change);
        if (status == CONFLICT && change->failure.status != OK)
            return; /* not the endpoint's word but a function's */
    }
    if (status == OK) {
        change->failure = (struct failure){0};
        return;
    }
    if (status == CONFLICT)
        failure_set(&change->failure, change->arena, BUSY,
                    "Too many write the same items at once; try again soon");
    else if (change->failure.status == OK)
        change->failure.status = status;
}

/* How many of the actions from `at` on fit one commit, by their number and by the size of what they
 * put; at least one. What actions compute is not known yet, and small. */
static size_t count_fitting(const struct change *change, size_t at) {
    enum { VERSIONS_SIZE = 1 + LIMIT_REMOTE_PAST_VERSIONS * (REMOTE_VERSION_SIZE + 1) };
    size_t size = 0, count = 0;
    while (at + count < change->action_count && count < LIMIT_TRANSACT_ITEMS) {
        size += item_size(&change->actions[at + count].item) + VERSIONS_SIZE;
        if (count != 0 && size > LIMIT_TRANSACT_SIZE)
            break;
        count++;
    }
    return count;
}

static bool is_divided(const struct change *change) {
    return change->divisible && change->prepare == NULL && change->token.size == 0 &&
           count_fitting(change, 0) < change->action_count;
}

/* In parts that fit one commit each. */
static void carry_out_parts(struct remote *remote, struct change *change) {
    size_t at = 0;
    while (at < change->action_count && change->failure.status == OK) {
        struct change part = *change;
        part.actions = change->actions + at;
        part.action_count = count_fitting(change, at);
        at += part.action_count;
        carry_out(remote, &part);
        change->failure = part.failure;
    }
}

/* A change is counted in before it looks whether it may: who sets `read_only` and then finds
 * nothing under way knows that nothing will be written. */
static void submit(struct engine *engine, struct change *change) {
    struct remote *remote = remote_of(engine);
    change->failure = (struct failure){0};
    change->repeated = false;
    atomic_fetch_add(&remote->submitted, 1);
    if (atomic_load(&remote->read_only))
        change_refuse_read_only(change);
    else if (change->kind == CHANGE_WRITE && is_divided(change))
        carry_out_parts(remote, change);
    else if (change->kind == CHANGE_WRITE)
        carry_out(remote, change);
    else if (change->kind == CHANGE_ADD_RULES || change->kind == CHANGE_DROP_RULES)
        remote_rules_change(remote, change);
    else
        remote_change_table(remote, change);
    atomic_fetch_sub(&remote->submitted, 1);
    change->done(change);
}

const struct change_ops remote_change_ops = {.submit = submit};

/* Opening the engine: who this process is, whether the endpoint knows it and has what is needed. */
#include "base/mem.h"
#include "base/random.h"
#include "table/remote/remote_parts.h"

#include <stdio.h>

static void figures(struct engine *engine, struct engine_figures *out) {
    struct remote *remote = remote_of(engine);
    struct transport_figures transport;
    transport_figures(remote->transport, &transport);
    *out = (struct engine_figures){.tables = 1,
                                   .changes_waiting = atomic_load(&remote->submitted),
                                   .read_only = atomic_load(&remote->read_only),
                                   .commits = atomic_load(&remote->commits),
                                   .writes = atomic_load(&remote->writes),
                                   .refusing_writes = !transport.answering};
}

static void close_remote(struct engine *engine) {
    struct remote *remote = remote_of(engine);
    remote_ranking_close(remote->ranking);
    if (remote->transport != NULL)
        transport_close(remote->transport);
    remote_tables_free(remote->tables);
    remote_rules_free(remote->rules);
    remote_stream_reader_free(remote->reader);
    mem_free(remote->versions);
    mem_free(remote);
}

static void read_only(struct engine *engine, bool on) {
    atomic_store(&remote_of(engine)->read_only, on);
}

static void end_soon(struct engine *engine, unsigned grace_ms) {
    struct remote *remote = remote_of(engine);
    transport_end_soon(remote->transport, grace_ms);
    if (remote->ranking != NULL)
        remote_ranking_end_soon(remote->ranking);
}

static const struct engine_ops remote_engine_ops = {
    .figures = figures, .read_only = read_only, .end_soon = end_soon, .close = close_remote};

static const struct ranking_ops remote_ranking_ops = {.rank_lookup = remote_rank_lookup};

static struct remote *make_remote(const struct remote_settings *settings) {
    struct remote *remote = mem_zalloc(sizeof(*remote));
    uint32_t node;
    random_secure(&node, sizeof(node));
    snprintf(remote->node, sizeof(remote->node), "%08x", node);
    remote->settings = *settings;
    remote->table = bytes_str(settings->table);
    remote->versions = mem_zalloc(REMOTE_VERSION_SLOTS * sizeof(*remote->versions));
    remote->tables = remote_tables_new();
    remote->rules = remote_rules_new();
    remote->reader = remote_stream_reader_new();
    remote->engine = (struct engine){.ops = &remote_engine_ops,
                                     .items = &remote_item_ops,
                                     .changes = &remote_change_ops,
                                     .tables = &remote_table_ops,
                                     .streams = &remote_stream_ops,
                                     .ranking = &remote_ranking_ops,
                                     .inprocess = &remote_inprocess_ops,
                                     .abilities = ENGINE_RANKING | ENGINE_STREAMS | ENGINE_PREPARE |
                                                  ENGINE_VERSIONS | ENGINE_RANKED,
                                     .may_block = true,
                                     .actions_max = LIMIT_TRANSACT_ITEMS};
    return remote;
}

/* --- whether the endpoint will do --- */

static enum status tell_refusal(struct remote *remote, const struct transport_request *request,
                                struct scope in) {
    struct failure said = {0};
    enum status status = transport_fault(request, (struct scope){in.arena, &said});
    const char *url = transport_url(remote->transport);
    const char *todo = transport_remedy(request);
    if (status == DENIED && todo != NULL)
        return failure_set(in.failure, in.arena, DENIED, "%s refuses the request (%.*s): %s", url,
                           BYTES_ARG(said.text), todo);
    if (status == DENIED)
        return failure_set(in.failure, in.arena, DENIED,
                           "%s refuses these credentials (%.*s): check the access key, its policy, "
                           "and that --dynamodb-region (%s) is the endpoint's",
                           url, BYTES_ARG(said.text), transport_region(remote->transport));
    return failure_set(in.failure, in.arena, INVALID,
                       "%s does not answer as DynamoDB does (%.*s): check --dynamodb-endpoint", url,
                       BYTES_ARG(said.text));
}

/* Asks for something that costs nothing and that every endpoint has; then for a transaction of a
 * table that cannot be there, which an endpoint without transactions does not know at all. */
static enum status check_endpoint(struct remote *remote, struct scope in) {
    struct transport_request hello = {.target = "DescribeTable"};
    struct buf body = {0};
    buf_lit(&body, "{\"TableName\":");
    json_put_string(&body, remote->table);
    buf_byte(&body, '}');
    hello.body = buf_bytes(&body);
    enum status status = transport_send(remote->transport, &hello, in);
    if (status == OK && hello.status != 200 &&
        !bytes_equal(hello.type, BYTES("ResourceNotFoundException")))
        status = tell_refusal(remote, &hello, in);
    buf_release(&body);
    return status;
}

static enum status check_transactions(struct remote *remote, struct scope in) {
    struct transport_request request = {
        .target = "TransactWriteItems",
        .body = BYTES("{\"TransactItems\":[{\"ConditionCheck\":{\"TableName\":\"gametable.none\","
                      "\"Key\":{\"PK\":{\"S\":\"x\"}},\"ConditionExpression\":"
                      "\"attribute_exists(PK)\"}}]}")};
    enum status status = transport_send(remote->transport, &request, in);
    if (status != OK || !bytes_equal(request.type, BYTES("UnknownOperationException")))
        return status;
    return failure_set(in.failure, in.arena, UNSUPPORTED,
                       "%s has no transactions (TransactWriteItems), which the game needs: use "
                       "Amazon DynamoDB, DynamoDB Local or another gametable as the endpoint",
                       transport_url(remote->transport));
}

enum status remote_forward(struct engine *engine, struct remote_forward *request, struct scope in) {
    struct transport_request sent = {
        .target = request->target, .body = request->body, .once = true, .raw = true};
    enum status status = transport_send(remote_of(engine)->transport, &sent, in);
    request->status = sent.status;
    request->answer = sent.answer;
    return status;
}

void remote_start(struct engine *engine) {
    if (remote_of(engine)->ranking != NULL)
        remote_ranking_start(remote_of(engine)->ranking);
}

enum status remote_open(const struct remote_settings *settings, struct scope in,
                        struct engine **out) {
    struct remote *remote = make_remote(settings);
    struct transport_settings transport = {.endpoint = settings->endpoint,
                                           .region = settings->region,
                                           .ca = settings->ca,
                                           .key = settings->key};
    enum status status = transport_open(&transport, in, &remote->transport);
    if (status == OK)
        status = check_endpoint(remote, in);
    if (status == OK)
        status = check_transactions(remote, in);
    if (status == OK && !settings->without_ranking)
        status = remote_ranking_open(remote, in, &remote->ranking);
    if (status == OK) {
        *out = &remote->engine;
        return OK;
    }
    close_remote(&remote->engine);
    return status;
}

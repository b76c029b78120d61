#include "api/router.h"

#include "api/admin.h"
#include "api/dynamodb/ddb_answer.h"
#include "api/dynamodb/operation.h"
#include "api/offload.h"
#include "api/origin.h"
#include "api/pages/pages.h"
#include "api/rest/rest_route.h"
#include "base/mem.h"
#include "json/json.h"

struct router {
    struct dynamodb_frontend *dynamodb;
    struct rest *rest; /* NULL: no boards, */
    struct live *live; /* and no rooms */
    struct admin admin;
    struct origin_policy origins;
    struct monitor *monitor;           /* NULL: nobody counts */
    struct console_sessions *sessions; /* NULL: without keys nobody needs one */
    struct background *pool;           /* for what may have to wait; NULL: it is done on the loop */
};

/* What is answered here, as it is counted. */
enum { OTHER_HEALTH = 1, OTHER_METRICS, OTHER_ADMIN, OTHER_PREFLIGHT, OTHER_COUNT };

static struct bytes other_name(size_t number) {
    static const char *const names[] = {[OTHER_HEALTH] = "health",
                                        [OTHER_METRICS] = "metrics",
                                        [OTHER_ADMIN] = "admin",
                                        [OTHER_PREFLIGHT] = "preflight"};
    return number == 0 || number >= OTHER_COUNT ? (struct bytes){0} : bytes_str(names[number]);
}

static struct bytes page_name(size_t number) {
    return number == 1 ? BYTES("page") : (struct bytes){0};
}

static void name_operations(struct metrics *metrics) {
    metrics_set_names(metrics, METRICS_OTHER, other_name);
    metrics_set_names(metrics, METRICS_DYNAMODB, operation_name);
    metrics_set_names(metrics, METRICS_REST, route_name);
    metrics_set_names(metrics, METRICS_LIVE, live_operation_name);
    metrics_set_names(metrics, METRICS_PAGES, page_name);
}

struct router *router_new(struct engine *engine, const struct router_settings *settings) {
    struct router *router = mem_zalloc(sizeof(*router));
    struct dynamodb_settings dynamodb = settings->dynamodb;
    dynamodb.pool = settings->pool;
    if (dynamodb.keys != NULL)
        dynamodb.sessions = router->sessions = console_sessions_new(dynamodb.keys);
    router->dynamodb = dynamodb_frontend_new(engine, &dynamodb);
    struct background *background = settings->dynamodb.transfer == NULL
                                        ? NULL
                                        : transfer_background(settings->dynamodb.transfer);
    struct rest_settings rest = {.game = settings->game,
                                 .keys = settings->dynamodb.keys,
                                 .sessions = router->sessions,
                                 .key_file = settings->key_file,
                                 .encrypted = settings->encrypted,
                                 .in_force = settings->in_force,
                                 .monitor = settings->monitor,
                                 .background = background,
                                 .pool = settings->pool,
                                 .version = settings->version,
                                 .redis_port = settings->redis_port};
    router->origins = (struct origin_policy){
        .listed = settings->origins,
        .any_host = settings->dynamodb.keys != NULL || settings->trust_network,
        .any_page = settings->dynamodb.keys != NULL,
    };
    struct live_settings live = {.game = settings->game,
                                 .pool = settings->pool,
                                 .keys = settings->dynamodb.keys,
                                 .sessions = router->sessions,
                                 .scheduler = settings->scheduler,
                                 .origins = router->origins};
    if (settings->game != NULL) {
        rest.live = router->live = live_new(&live);
        router->rest = rest_new(&rest);
    }
    router->admin = (struct admin){.engine = engine,
                                   .keys = settings->dynamodb.keys,
                                   .test_clock = settings->test_clock,
                                   .faults = settings->dynamodb.faults,
                                   .housekeeping = settings->housekeeping,
                                   .background = background};
    router->monitor = settings->monitor;
    router->pool = settings->pool;
    if (router->monitor != NULL)
        name_operations(router->monitor->metrics);
    return router;
}

void router_stop(struct router *router) {
    if (router->live != NULL)
        live_stop(router->live);
    if (router->rest != NULL)
        rest_stop(router->rest);
}

void router_free(struct router *router) {
    dynamodb_frontend_free(router->dynamodb);
    if (router->live != NULL)
        live_free(router->live);
    if (router->rest != NULL)
        rest_free(router->rest);
    if (router->sessions != NULL)
        console_sessions_free(router->sessions);
    mem_free(router);
}

static void answer_text(struct http_exchange *exchange, int status, struct bytes text) {
    if (status >= 400)
        exchange->note.reason = status == 404 ? "not-found" : status == 405 ? "method" : "busy";
    struct http_answer answer = {
        .status = status, .content_type = BYTES("text/plain; charset=utf-8"), .body = text};
    http_answer(exchange, &answer);
}

/* Answers /healthz with the words of DynamoDB's own health check. */
static void answer_healthy(struct http_exchange *exchange) {
    struct bytes host = http_header(exchange, "Host");
    answer_text(exchange, 200, arena_printf(&exchange->arena, "healthy: %.*s ", BYTES_ARG(host)));
}

/* Lets a page of another origin send what it asks to send; who has none hears nothing of it. */
static void answer_preflight(struct http_exchange *exchange) {
    struct bytes headers = http_header(exchange, "Access-Control-Request-Headers");
    struct bytes method = http_header(exchange, "Access-Control-Request-Method");
    char id[REQUEST_ID_SIZE];
    answer_request_id(id);
    struct buf lines = {0};
    buf_printf(&lines, "x-amzn-RequestId: %.*s\r\n", REQUEST_ID_SIZE, id);
    bool page = http_header(exchange, "Origin").size != 0;
    if (page)
        buf_lit(&lines, "Access-Control-Allow-Origin: *\r\nAccess-Control-Max-Age: 172800\r\n");
    if (page && headers.size != 0)
        buf_printf(&lines, "Access-Control-Allow-Headers: %.*s\r\n", BYTES_ARG(headers));
    if (page && method.size != 0)
        buf_printf(&lines, "Access-Control-Allow-Methods: %.*s\r\n", BYTES_ARG(method));
    struct http_answer answer = {.status = 200, .headers = buf_bytes(&lines)};
    http_answer(exchange, &answer);
    buf_release(&lines);
}

/* A browser shows its page nothing of this; an SDK shows the sentence to a person. */
static void refuse_origin(struct http_exchange *exchange, struct bytes why) {
    struct http_answer answer = {.status = 403, .content_type = BYTES("application/json")};
    buf_printf(&exchange->reply,
               "{\"__type\":\"com.amazon.coral.service#AccessDeniedException\",\"message\":");
    json_put_string(&exchange->reply, why);
    buf_lit(&exchange->reply, "}\n");
    answer.body = buf_bytes(&exchange->reply);
    exchange->note.reason = "origin";
    http_answer(exchange, &answer);
}

static void note(struct http_exchange *exchange, unsigned front, unsigned operation) {
    exchange->note.front = front;
    exchange->note.operation = operation;
}

/* Some figures are behind locks that are held for a while. */
static void run_metrics(void *argument) {
    struct http_exchange *exchange = argument;
    const struct router *router = exchange->user;
    monitor_handle(exchange, router->monitor);
}

static void handle_metrics(struct http_exchange *exchange, struct router *router) {
    exchange->user = router;
    if (router->pool == NULL)
        run_metrics(exchange);
    else if (!background_run(router->pool, run_metrics, exchange))
        answer_text(exchange, 503, BYTES(OFFLOAD_BUSY "\n"));
}

/* What no front end takes. */
static void dispatch_other(struct http_exchange *exchange, struct router *router) {
    bool root = bytes_equal(exchange->path, BYTES("/"));
    bool get =
        bytes_equal(exchange->method, BYTES("GET")) || bytes_equal(exchange->method, BYTES("HEAD"));
    bool health = get && bytes_equal(exchange->path, BYTES("/healthz"));
    if (health || (get && root))
        note(exchange, METRICS_OTHER, OTHER_HEALTH);
    if (health)
        answer_text(exchange, 200, BYTES("ok\n"));
    else if (get && root)
        answer_healthy(exchange);
    else if (bytes_equal(exchange->method, BYTES("OPTIONS"))) {
        note(exchange, METRICS_OTHER, OTHER_PREFLIGHT);
        answer_preflight(exchange);
    } else if (router->monitor != NULL && monitor_takes(exchange->path)) {
        note(exchange, METRICS_OTHER, OTHER_METRICS);
        handle_metrics(exchange, router);
    } else if (admin_takes(exchange->path)) {
        note(exchange, METRICS_OTHER, OTHER_ADMIN);
        admin_handle(exchange, &router->admin);
    } else if (root)
        answer_text(exchange, 405, BYTES("this path takes GET and POST\n"));
    else
        answer_text(exchange, 404, BYTES("there is nothing here\n"));
}

static void dispatch(struct http_exchange *exchange, struct router *router) {
    bool root = bytes_equal(exchange->path, BYTES("/"));
    if (root && bytes_equal(exchange->method, BYTES("POST")))
        dynamodb_handle(exchange, router->dynamodb);
    else if (router->live != NULL && live_takes(exchange->path))
        live_handle(exchange, router->live);
    else if (router->rest != NULL && rest_takes(exchange->path))
        rest_handle(exchange, router->rest);
    else if (pages_take(exchange)) {
        note(exchange, METRICS_PAGES, 1);
        pages_handle(exchange);
    } else
        dispatch_other(exchange, router);
}

enum http_admission router_admit(struct http_exchange *exchange, void *context) {
    struct router *router = context;
    struct bytes why;
    if (!origin_admits(&router->origins, exchange, &why))
        return HTTP_WITHOUT_BODY;
    if (router->admin.keys == NULL)
        return HTTP_TAKE_BODY;
    if (bytes_equal(exchange->path, BYTES("/")) && bytes_equal(exchange->method, BYTES("POST")))
        return dynamodb_admit(exchange, router->dynamodb);
    if (router->live != NULL && live_takes(exchange->path))
        return HTTP_WITHOUT_BODY;
    if (router->rest != NULL && rest_takes(exchange->path))
        return rest_admit(exchange, router->rest);
    return admin_takes(exchange->path) ? admin_admit(exchange, &router->admin) : HTTP_WITHOUT_BODY;
}

void router_handle(struct http_exchange *exchange, void *context) {
    struct router *router = context;
    struct bytes why;
    if (origin_admits(&router->origins, exchange, &why))
        dispatch(exchange, router);
    else
        refuse_origin(exchange, why);
}

bool router_answered(struct http_exchange *exchange, const struct http_answer *answer,
                     void *context) {
    const struct router *router = context;
    return router->monitor != NULL && monitor_answered(router->monitor, exchange, answer);
}

struct live *router_live(const struct router *router) {
    return router->live;
}

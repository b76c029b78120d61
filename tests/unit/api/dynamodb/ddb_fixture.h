/* A front end on an engine in memory, asked without sockets: exchanges are made here, handed to a
 * real loop, and their answers caught. */
#ifndef GT_TEST_API_ASKING_H
#define GT_TEST_API_ASKING_H

#include "api/dynamodb/dynamodb_frontend.h"
#include "table/engine.h"
#include "table/local/local.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct ddb_fixture {
    struct engine *engine;
    struct loops *loops;
    struct dynamodb_frontend *frontend;
    struct http_exchange exchange;
    struct http_header headers[16];
    char target[96];
    struct task task;
    sem_t answered;
    int status;
    struct buf body, lines;
};

/* One at a time: the hook of a front end knows only the exchange. */
static struct ddb_fixture *ddb_fixture_now;

static void ddb_fixture_catch(struct http_exchange *exchange, const struct http_answer *answer) {
    struct ddb_fixture *asking = ddb_fixture_now;
    if (exchange != &asking->exchange)
        abort();
    asking->status = answer->status;
    buf_clear(&asking->body);
    buf_put(&asking->body, answer->body);
    buf_byte(&asking->body, 0);
    asking->body.size--;
    buf_clear(&asking->lines);
    buf_put(&asking->lines, answer->headers);
    buf_lit(&asking->lines, "Content-Type: ");
    buf_put(&asking->lines, answer->content_type);
    buf_byte(&asking->lines, 0);
    sem_post(&asking->answered);
}

static inline void ddb_fixture_open(struct ddb_fixture *asking) {
    struct arena arena;
    struct failure failure = {0};
    struct local_settings settings = {
        .store = {.memory = true}, .cache_memory = 1 << 20, .index_memory = 64 << 20, .threads = 1};
    memset(asking, 0, sizeof *asking);
    arena_init(&arena);
    if (local_open(&settings, (struct scope){&arena, &failure}, &asking->engine) != OK)
        abort();
    arena_release(&arena);
    struct dynamodb_settings frontend = {.answer = ddb_fixture_catch};
    asking->frontend = dynamodb_frontend_new(asking->engine, &frontend);
    asking->loops = loops_new(1);
    loops_start(asking->loops);
    arena_init(&asking->exchange.arena);
    sem_init(&asking->answered, 0, 0);
    ddb_fixture_now = asking;
}

static inline void ddb_fixture_close(struct ddb_fixture *asking) {
    engine_close(asking->engine);
    loops_free(asking->loops);
    dynamodb_frontend_free(asking->frontend);
    arena_release(&asking->exchange.arena);
    buf_release(&asking->exchange.reply);
    buf_release(&asking->body);
    buf_release(&asking->lines);
    sem_destroy(&asking->answered);
}

static void ddb_fixture_run(struct task *task) {
    struct ddb_fixture *asking =
        (struct ddb_fixture *)((char *)task - offsetof(struct ddb_fixture, task));
    dynamodb_handle(&asking->exchange, asking->frontend);
}

static inline void ddb_fixture_header(struct ddb_fixture *asking, const char *name,
                                      const char *value) {
    asking->headers[asking->exchange.header_count++] =
        (struct http_header){bytes_str(name), bytes_str(value)};
}

/* Begins a request without any headers. */
static inline void ddb_fixture_begin(struct ddb_fixture *asking, struct bytes body) {
    struct http_exchange *exchange = &asking->exchange;
    exchange->method = BYTES("POST");
    exchange->path = BYTES("/");
    exchange->query = (struct bytes){0};
    exchange->headers = asking->headers;
    exchange->header_count = 0;
    exchange->body = body;
    exchange->loop = loops_get(asking->loops, 0);
}

/* Sends it and waits for the answer, which is in asking->status, body and lines. */
static inline void ddb_fixture_send(struct ddb_fixture *asking) {
    arena_reset(&asking->exchange.arena);
    buf_clear(&asking->exchange.reply);
    asking->task.run = ddb_fixture_run;
    loop_post(asking->exchange.loop, &asking->task);
    while (sem_wait(&asking->answered) != 0)
        ;
}

/* A whole request with what clients send. */
static inline const char *ask_bytes(struct ddb_fixture *asking, const char *operation,
                                    struct bytes body) {
    snprintf(asking->target, sizeof asking->target, "DynamoDB_20120810.%s", operation);
    ddb_fixture_begin(asking, body);
    ddb_fixture_header(asking, "X-Amz-Target", asking->target);
    ddb_fixture_header(asking, "Content-Type", "application/x-amz-json-1.0");
    ddb_fixture_header(asking, "X-Amz-Date", "20260101T000000Z");
    ddb_fixture_header(asking, "Authorization",
                       "AWS4-HMAC-SHA256 Credential=key/20260101/eu-west-1/dynamodb/aws4_request, "
                       "SignedHeaders=host, Signature=00");
    ddb_fixture_send(asking);
    return (const char *)asking->body.data;
}

static inline const char *ask(struct ddb_fixture *asking, const char *operation, const char *body) {
    return ask_bytes(asking, operation, bytes_str(body));
}

#endif

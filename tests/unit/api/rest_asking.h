/* The REST face on an engine in memory, asked without sockets: exchanges are made here, handed to a
 * real loop, and their answers caught. */
#ifndef GT_TEST_API_REST_ASKING_H
#define GT_TEST_API_REST_ASKING_H

#include "api/rest/rest.h"
#include "table/local/local.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct rest_asking {
    struct engine *engine;
    struct game *game;
    struct background *background;
    struct loops *loops;
    struct rest *rest;
    struct http_exchange exchange;
    struct http_header headers[8];
    struct task task;
    sem_t answered;
    int status;
    struct buf body, lines;
};

/* One at a time: the hook of a face knows only the exchange. */
static struct rest_asking *rest_asking_now;

static void rest_asking_catch(struct http_exchange *exchange, const struct http_answer *answer) {
    struct rest_asking *asking = rest_asking_now;
    if (exchange != &asking->exchange)
        abort();
    asking->status = answer->status;
    buf_clear(&asking->body);
    buf_put(&asking->body, answer->body);
    buf_byte(&asking->body, 0);
    asking->body.size--;
    buf_clear(&asking->lines);
    buf_put(&asking->lines, answer->headers);
    buf_byte(&asking->lines, 0);
    sem_post(&asking->answered);
}

static inline void rest_asking_open(struct rest_asking *asking) {
    struct arena arena;
    struct failure failure = {0};
    struct local_settings settings = {
        .store = {.memory = true}, .cache_memory = 1 << 20, .index_memory = 64 << 20, .threads = 1};
    struct game_settings game = {.secret = BYTES("a secret of more than thirty-two bytes")};
    memset(asking, 0, sizeof *asking);
    arena_init(&arena);
    if (local_open(&settings, &arena, &failure, &asking->engine) != OK ||
        game_open(asking->engine, &game, &arena, &failure, &asking->game) != OK)
        abort();
    arena_release(&arena);
    asking->background = background_new();
    struct rest_settings face = {
        .game = asking->game, .background = asking->background, .answer = rest_asking_catch};
    asking->rest = rest_new(&face);
    asking->loops = loops_new(1);
    loops_start(asking->loops);
    arena_init(&asking->exchange.arena);
    sem_init(&asking->answered, 0, 0);
    rest_asking_now = asking;
}

static inline void rest_asking_close(struct rest_asking *asking) {
    background_stop(asking->background);
    rest_stop(asking->rest);
    engine_close(asking->engine);
    loops_free(asking->loops);
    rest_free(asking->rest);
    game_close(asking->game);
    background_free(asking->background);
    arena_release(&asking->exchange.arena);
    buf_release(&asking->exchange.reply);
    buf_release(&asking->body);
    buf_release(&asking->lines);
    sem_destroy(&asking->answered);
}

static void rest_asking_run(struct task *task) {
    struct rest_asking *asking =
        (struct rest_asking *)((char *)task - offsetof(struct rest_asking, task));
    rest_handle(&asking->exchange, asking->rest);
}

/* Asks and waits; `target` is a path under which there may be a query. */
static inline int rest_ask(struct rest_asking *asking, struct bytes method, struct bytes target,
                           const char *type, struct bytes body) {
    struct http_exchange *exchange = &asking->exchange;
    size_t query = bytes_find(target, BYTES("?"));
    exchange->method = method;
    exchange->path = query == SIZE_MAX ? target : bytes_of(target.data, query);
    exchange->query = query == SIZE_MAX ? (struct bytes){0} : bytes_skip(target, query + 1);
    exchange->headers = asking->headers;
    asking->headers[0] = (struct http_header){BYTES("Content-Type"), bytes_str(type)};
    exchange->header_count = 1;
    exchange->body = body;
    exchange->loop = loops_get(asking->loops, 0);
    arena_reset(&exchange->arena);
    buf_clear(&exchange->reply);
    asking->task.run = rest_asking_run;
    loop_post(exchange->loop, &asking->task);
    while (sem_wait(&asking->answered) != 0)
        ;
    return asking->status;
}

#endif

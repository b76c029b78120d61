/* The REST front end on an engine in memory, asked without sockets: exchanges are made here, handed
 * to a real loop, and their answers caught. */
#ifndef GT_TEST_API_REST_ASKING_H
#define GT_TEST_API_REST_ASKING_H

#include "api/offload.h"
#include "api/rest/rest.h"
#include "table/engine.h"
#include "table/local/local.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct rest_fixture {
    struct engine *engine;
    struct game *game;
    struct background *background;
    struct loops *loops;
    struct rest *rest;
    struct http_exchange exchange;
    struct http_header headers[8];
    struct bytes authorization, player_token; /* sent along, unless empty */
    struct task task;
    sem_t answered;
    int status;
    struct buf body, lines;
};

/* One at a time: the hook of a front end knows only the exchange. */
static struct rest_fixture *rest_fixture_now;

static void rest_fixture_catch(struct http_exchange *exchange, const struct http_answer *answer) {
    struct rest_fixture *asking = rest_fixture_now;
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

/* With keys, which may be NULL and outlive it. */
static inline void rest_fixture_open_keys(struct rest_fixture *asking, const struct keys *keys) {
    struct arena arena;
    struct failure failure = {0};
    struct local_settings settings = {
        .store = {.memory = true}, .cache_memory = 1 << 20, .index_memory = 64 << 20, .threads = 1};
    struct game_settings game = {.secret = BYTES("a secret of more than thirty-two bytes"),
                                 .may_wait = offload_may_wait};
    memset(asking, 0, sizeof *asking);
    arena_init(&arena);
    if (local_open(&settings, (struct scope){&arena, &failure}, &asking->engine) != OK ||
        game_open(asking->engine, &game, (struct scope){&arena, &failure}, &asking->game) != OK)
        abort();
    arena_release(&arena);
    asking->background = background_new();
    struct rest_settings frontend = {.game = asking->game,
                                     .keys = keys,
                                     .background = asking->background,
                                     .pool = asking->background,
                                     .answer = rest_fixture_catch};
    asking->rest = rest_new(&frontend);
    asking->loops = loops_new(1);
    loops_start(asking->loops);
    arena_init(&asking->exchange.arena);
    sem_init(&asking->answered, 0, 0);
    rest_fixture_now = asking;
}

static inline void rest_fixture_open(struct rest_fixture *asking) {
    rest_fixture_open_keys(asking, NULL);
}

static inline void rest_fixture_close(struct rest_fixture *asking) {
    background_stop(asking->background);
    rest_stop(asking->rest);
    engine_close(asking->engine);
    game_engine_closed(asking->game);
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

static void rest_fixture_run(struct task *task) {
    struct rest_fixture *asking =
        (struct rest_fixture *)((char *)task - offsetof(struct rest_fixture, task));
    rest_handle(&asking->exchange, asking->rest);
}

/* Asks and waits; `target` is a path under which there may be a query. */
static inline int rest_ask(struct rest_fixture *asking, struct bytes method, struct bytes target,
                           const char *type, struct bytes body) {
    struct http_exchange *exchange = &asking->exchange;
    size_t query = bytes_find(target, BYTES("?"));
    exchange->method = method;
    exchange->path = query == SIZE_MAX ? target : bytes_of(target.data, query);
    exchange->query = query == SIZE_MAX ? (struct bytes){0} : bytes_skip(target, query + 1);
    exchange->headers = asking->headers;
    asking->headers[0] = (struct http_header){BYTES("Content-Type"), bytes_str(type)};
    exchange->header_count = 1;
    if (asking->authorization.size != 0)
        asking->headers[exchange->header_count++] =
            (struct http_header){BYTES("Authorization"), asking->authorization};
    if (asking->player_token.size != 0)
        asking->headers[exchange->header_count++] =
            (struct http_header){BYTES("X-Player-Token"), asking->player_token};
    exchange->body = body;
    exchange->loop = loops_get(asking->loops, 0);
    arena_reset(&exchange->arena);
    buf_clear(&exchange->reply);
    asking->task.run = rest_fixture_run;
    loop_post(exchange->loop, &asking->task);
    while (sem_wait(&asking->answered) != 0)
        ;
    return asking->status;
}

#endif

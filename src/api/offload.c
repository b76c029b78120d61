#include "api/offload.h"

#include "base/limits.h"
#include "table/engine.h"

bool offload_may_wait(void) {
    return loop_current() == NULL;
}

bool offload_needed(const struct engine *engine) {
    return engine_may_block(engine) && !offload_may_wait();
}

bool offload_wanted(const struct engine *engine, const struct http_exchange *exchange) {
    if (offload_may_wait())
        return false;
    return engine_may_block(engine) || exchange->body.size > LIMIT_LOOP_BODY ||
           (exchange->body.size != 0 && http_header(exchange, "Content-Encoding").size != 0);
}

struct offloaded_answer {
    struct http_answer answer;
    offload_send *send;
};

static void run_send(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    const struct offloaded_answer *late = exchange->user;
    late->send(exchange, &late->answer);
}

void offload_answer(struct http_exchange *exchange, const struct http_answer *answer,
                    offload_send *send) {
    if (loop_current() == exchange->loop) {
        send(exchange, answer);
        return;
    }
    struct offloaded_answer *late = ARENA_NEW(&exchange->arena, struct offloaded_answer);
    late->answer = *answer;
    late->send = send;
    late->answer.headers = arena_copy(&exchange->arena, answer->headers);
    late->answer.content_type = arena_copy(&exchange->arena, answer->content_type);
    if (answer->body.data != exchange->reply.data)
        late->answer.body = arena_copy(&exchange->arena, answer->body);
    exchange->user = late;
    exchange->task.run = run_send;
    loop_post(exchange->loop, &exchange->task);
}

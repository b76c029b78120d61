/* What net/ alone can do: a server that answers everything with the same 200 bytes, to be held
 * against one worker of nginx that does `return 200` of as many.
 *
 *     bench_http [PORT [LOOPS]]      then: wrk -t1 -c32 -d3s http://127.0.0.1:PORT/
 *
 * It ends when its standard input does.
 */
#include "net/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char body[200];

static void answer(struct http_exchange *exchange, void *context) {
    (void)context;
    struct http_answer answer = {
        .status = 200, .content_type = BYTES("text/plain"), .body = bytes_of(body, sizeof(body))};
    http_answer(exchange, &answer);
}

int main(int argc, char **argv) {
    struct http_settings settings = {
        .host = "127.0.0.1", .port = argc > 1 ? atoi(argv[1]) : 0, .handler = answer};
    struct loops *loops = loops_new(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    struct listener *listener = NULL;
    struct failure failure = {0};
    struct arena arena;
    arena_init(&arena);
    memset(body, 'x', sizeof(body));
    loops_start(loops);
    if (http_listen(loops, &settings, (struct scope){&arena, &failure}, &listener) != OK) {
        fprintf(stderr, "%.*s\n", BYTES_ARG(failure.text));
        return 1;
    }
    printf("%d\n", listener_port(listener));
    fflush(stdout);
    char ignored[64];
    while (read(STDIN_FILENO, ignored, sizeof(ignored)) > 0) {
    }
    listener_close(listener, 1000);
    loops_free(loops);
    arena_release(&arena);
    return 0;
}

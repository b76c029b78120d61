/* gametable clock, gametable expire: what a test asks of a server started with --test-clock. */
#include "cli/ask.h"
#include "cli/command.h"

#include "base/buf.h"

#include <stdio.h>

struct asked {
    const char *endpoint;
    const char *forward; /* NULL: not asked for */
};

static bool read_options(int argc, char **argv, bool forward, struct asked *out) {
    *out = (struct asked){.endpoint = "http://127.0.0.1:8000"};
    for (int i = 0; i < argc; i += 2) {
        if (i + 1 == argc)
            return false;
        if (strcmp(argv[i], "--endpoint") == 0)
            out->endpoint = argv[i + 1];
        else if (forward && strcmp(argv[i], "--forward") == 0)
            out->forward = argv[i + 1];
        else
            return false;
    }
    return true;
}

static int put_question(const struct question *question) {
    struct arena arena;
    struct failure failure = {0};
    struct bytes body = {0};
    int answered = 0;
    arena_init(&arena);
    enum status status = ask(question, &arena, &failure, &answered, &body);
    if (status != OK)
        fprintf(stderr, "gametable: %.*s\n", BYTES_ARG(failure.text));
    else
        fprintf(answered == 200 ? stdout : stderr, "%.*s", BYTES_ARG(body));
    arena_release(&arena);
    return status == INVALID || answered == 400 ? 2 : status != OK || answered != 200;
}

int command_clock(int argc, char **argv) {
    struct asked asked;
    if (!read_options(argc, argv, true, &asked)) {
        fputs("usage: gametable clock [--forward TIME] [--endpoint URL]\n", stderr);
        return 2;
    }
    if (asked.forward == NULL)
        return put_question(&(struct question){
            .endpoint = asked.endpoint, .method = "GET", .path = "/admin/clock"});
    struct buf body = {0};
    buf_printf(&body, "{\"forward\":\"%s\"}", asked.forward);
    int result = put_question(&(struct question){.endpoint = asked.endpoint,
                                                 .method = "POST",
                                                 .path = "/admin/clock",
                                                 .body = buf_bytes(&body)});
    buf_release(&body);
    return result;
}

int command_expire(int argc, char **argv) {
    struct asked asked;
    if (!read_options(argc, argv, false, &asked)) {
        fputs("usage: gametable expire [--endpoint URL]\n", stderr);
        return 2;
    }
    return put_question(
        &(struct question){.endpoint = asked.endpoint, .method = "POST", .path = "/admin/expire"});
}

#include "cli/cmd_client.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>

void client_init(struct client *client, const char *name, struct option_spec *specs) {
    const char *url = getenv("GAMETABLE_URL");
    *client = (struct client){.name = name,
                              .server = {.url = url != NULL ? url : "http://127.0.0.1:8000",
                                         .key = getenv("GAMETABLE_KEY"),
                                         .cacert = getenv("GAMETABLE_CACERT")}};
    arena_init(&client->arena);
    while (specs->name != NULL)
        specs++;
    specs[0] = (struct option_spec){"url", &client->server.url, NULL};
    specs[1] = (struct option_spec){"key", &client->server.key, NULL};
    specs[2] = (struct option_spec){"cacert", &client->server.cacert, NULL};
    specs[3] = (struct option_spec){"timeout", &client->timeout, NULL};
    specs[4] = (struct option_spec){"json", NULL, &client->json};
    specs[5] = (struct option_spec){NULL, NULL, NULL};
}

int client_options(struct client *client, int argc, char **argv, const struct option_spec *specs) {
    int count = options_read(client->name, argc, argv, specs);
    char *end = NULL;
    if (count < 0 || client->timeout == NULL)
        return count;
    client->server.timeout_s = strtol(client->timeout, &end, 10);
    if (client->server.timeout_s >= 1 && client->server.timeout_s <= LIMIT_CLIENT_TIMEOUT_S &&
        *end == '\0')
        return count;
    fprintf(stderr, "gametable %s: --timeout is a number of seconds, from 1 to %d\n", client->name,
            LIMIT_CLIENT_TIMEOUT_S);
    return -1;
}

void client_release(struct client *client) {
    arena_release(&client->arena);
}

void client_put(struct buf *to, const char *text) {
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            strchr("-._~:@", c) != NULL)
            buf_byte(to, c);
        else
            buf_printf(to, "%%%02X", c);
    }
}

struct bytes client_text(const struct json *object, const char *name) {
    const struct json *member = json_get(object, bytes_str(name));
    if (member == NULL)
        return (struct bytes){0};
    if (member->type == JSON_TRUE || member->type == JSON_FALSE)
        return member->type == JSON_TRUE ? BYTES("yes") : BYTES("no");
    return member->type == JSON_STRING || member->type == JSON_NUMBER ? member->text
                                                                      : (struct bytes){0};
}

static int print_failure(const struct client *client, struct bytes text, int result) {
    fprintf(stderr, "gametable %s: %.*s\n", client->name, BYTES_ARG(text));
    return result;
}

/* 0, or the exit status after having said what is wrong. */
static int read_answer(struct client *client, const struct http_client_answer *answer,
                       struct json *out) {
    size_t at;
    if (json_parse(answer->body, &client->arena, out, &at) != OK)
        return print_failure(client, BYTES("this server does not serve boards"), 1);
    if (client->json)
        printf("%.*s\n", BYTES_ARG(answer->body));
    if (answer->status < 300)
        return 0;
    struct bytes detail = client_text(out, "detail");
    if (client->json)
        return 1;
    return print_failure(client, detail.size != 0 ? detail : client_text(out, "title"), 1);
}

int client_ask(struct client *client, const struct client_question *question, struct json *out) {
    struct http_client_answer answer = {.arena = &client->arena};
    struct http_client_request request = {.server = &client->server,
                                          .method = question->method,
                                          .path =
                                              arena_str(&client->arena, buf_bytes(question->path)),
                                          .body = question->body};
    enum status status = http_client_send_once(&request, &answer);
    if (status != OK)
        return print_failure(client, answer.failure.text, status == INVALID ? 2 : 1);
    return read_answer(client, &answer, out);
}

int client_get(struct client *client, const struct buf *path, struct json *out) {
    return client_ask(client, &(struct client_question){.method = "GET", .path = path}, out);
}

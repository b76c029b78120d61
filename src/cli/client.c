#include "cli/client.h"

#include "cli/ask.h"
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>

void client_init(struct client *client, const char *name, struct option_spec *specs) {
    const char *url = getenv("GAMETABLE_URL");
    *client = (struct client){.name = name,
                              .endpoint = url != NULL ? url : "http://127.0.0.1:8000",
                              .key = getenv("GAMETABLE_KEY")};
    arena_init(&client->arena);
    while (specs->name != NULL)
        specs++;
    specs[0] = (struct option_spec){"url", &client->endpoint, NULL};
    specs[1] = (struct option_spec){"key", &client->key, NULL};
    specs[2] = (struct option_spec){"json", NULL, &client->json};
    specs[3] = (struct option_spec){NULL, NULL, NULL};
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

static int fail(const struct client *client, struct bytes text, int result) {
    fprintf(stderr, "gametable %s: %.*s\n", client->name, BYTES_ARG(text));
    return result;
}

int client_ask(struct client *client, const char *method, struct buf *path, struct bytes body,
               struct json *out) {
    struct failure failure = {0};
    int answered = 0;
    size_t at;
    struct bytes text = {0};
    struct question question = {.endpoint = client->endpoint,
                                .method = method,
                                .path = arena_str(&client->arena, buf_bytes(path)),
                                .body = body,
                                .key = client->key};
    enum status status = ask(&question, &client->arena, &failure, &answered, &text);
    if (status != OK)
        return fail(client, failure.text, status == INVALID ? 2 : 1);
    if (json_parse(text, &client->arena, out, &at) != OK)
        return fail(client, BYTES("this server does not serve boards"), 1);
    if (client->json)
        printf("%.*s\n", BYTES_ARG(text));
    if (answered >= 300) {
        struct bytes detail = client_text(out, "detail");
        return client->json
                   ? 1
                   : fail(client, detail.size != 0 ? detail : client_text(out, "title"), 1);
    }
    return 0;
}

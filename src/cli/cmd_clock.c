/* gametable clock, gametable expire: what a test asks of a server started with --test-clock. */
#include "cli/cmd_client.h"
#include "cli/commands.h"

#include <stdio.h>

static const char usage_end[] =
    " [--url URL] [--key ID:SECRET] [--cacert FILE] [--timeout SECONDS]\n";

/* The answer is for people as it is; a request that the server refuses is wrong usage. */
static int send_and_print(struct client *client, const struct http_client_request *request) {
    struct http_client_answer answer = {.arena = &client->arena};
    enum status status = http_client_send_once(request, &answer);
    if (status != OK)
        fprintf(stderr, "gametable: %.*s\n", BYTES_ARG(answer.failure.text));
    else
        fprintf(answer.status == 200 ? stdout : stderr, "%.*s", BYTES_ARG(answer.body));
    return status == INVALID || answer.status == 400 ? 2 : status != OK || answer.status != 200;
}

int command_clock(int argc, char **argv) {
    const char *forward = NULL;
    struct client client;
    struct option_spec specs[2 + CLIENT_OPTIONS] = {{"forward", &forward, NULL},
                                                    {"endpoint", &client.server.url, NULL}};
    struct buf body = {0};
    int result = 2;
    client_init(&client, "clock", specs);
    if (client_options(&client, argc, argv, specs) != 0) {
        fprintf(stderr, "usage: gametable clock [--forward TIME]%s", usage_end);
    } else {
        if (forward != NULL)
            buf_printf(&body, "{\"forward\":\"%s\"}", forward);
        result = send_and_print(
            &client, &(struct http_client_request){.server = &client.server,
                                                   .method = forward != NULL ? "POST" : "GET",
                                                   .path = "/admin/clock",
                                                   .body = buf_bytes(&body)});
    }
    buf_release(&body);
    client_release(&client);
    return result;
}

int command_expire(int argc, char **argv) {
    struct client client;
    struct option_spec specs[1 + CLIENT_OPTIONS] = {{"endpoint", &client.server.url, NULL}};
    int result = 2;
    client_init(&client, "expire", specs);
    if (client_options(&client, argc, argv, specs) != 0)
        fprintf(stderr, "usage: gametable expire%s", usage_end);
    else
        result = send_and_print(&client, &(struct http_client_request){.server = &client.server,
                                                                       .method = "POST",
                                                                       .path = "/admin/expire"});
    client_release(&client);
    return result;
}

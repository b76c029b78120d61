/* gametable health: whether a server answers, for those who watch it (a container's health check, a
 * script that waits for the start). It needs no key, since /healthz answers anybody. */
#include "cli/cmd_client.h"
#include "cli/commands.h"

#include <stdio.h>

/* Prints one line; returns the exit status. */
static int check_health(struct client *client) {
    struct http_client_answer answer = {.arena = &client->arena};
    struct http_client_request request = {
        .server = &client->server, .method = "GET", .path = "/healthz"};
    enum status status = http_client_send_once(&request, &answer);
    if (status != OK)
        fprintf(stderr, "gametable health: %.*s\n", BYTES_ARG(answer.failure.text));
    else if (answer.status != 200)
        fprintf(stderr, "gametable health: %s answers %d\n", client->server.url, answer.status);
    else
        printf("%s is healthy\n", client->server.url);
    return status == INVALID ? 2 : status != OK || answer.status != 200;
}

int command_health(int argc, char **argv) {
    struct client client;
    struct option_spec specs[CLIENT_OPTIONS] = {{NULL, NULL, NULL}};
    client_init(&client, "health", specs);
    int rest = client_options(&client, argc, argv, specs);
    if (rest > 0)
        fputs("usage: gametable health [--url URL] [--cacert FILE] [--timeout SECONDS]\n", stderr);
    int result = rest == 0 ? check_health(&client) : 2;
    client_release(&client);
    return result;
}

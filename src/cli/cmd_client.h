/* What commands that ask a running server have in common: where it is, and who asks. */
#ifndef GT_CLI_CMD_CLIENT_H
#define GT_CLI_CMD_CLIENT_H

#include "base/buf.h"
#include "base/status.h"
#include "cli/cmd_options.h"
#include "cli/http_client.h"
#include "json/json.h"

struct client {
    const char *name;          /* of the command */
    struct http_server server; /* --url, --key, --cacert, --timeout */
    const char *timeout;       /* as it was given; NULL: not */
    bool json;                 /* --json: answers as they come */
    struct arena arena;
};

/* How much room the client's own options take at the end of a command's, with the one that ends
 * them. */
enum { CLIENT_OPTIONS = 6 };

/* Adds the client's own options to `specs`, which has room for them. What they do not say is taken
 * from the environment: GAMETABLE_URL, GAMETABLE_KEY, GAMETABLE_CACERT. */
void client_init(struct client *client, const char *name, struct option_spec *specs);
/* options_read(), and what it read of the client's own. */
int client_options(struct client *client, int argc, char **argv, const struct option_spec *specs);
void client_release(struct client *client);

/* Appends a part of a path, %-encoded. */
void client_put(struct buf *to, const char *text);
/* Asks, and reads the JSON. 0, or the exit status after having said what is wrong; with --json the
 * answer has been printed. */
struct client_question {
    const char *method;
    const struct buf *path;
    struct bytes body; /* JSON, or empty */
};
int client_ask(struct client *client, const struct client_question *question, struct json *out);
int client_get(struct client *client, const struct buf *path, struct json *out);

/* The text of a member, whatever it is; empty if it is not there. */
struct bytes client_text(const struct json *object, const char *name);

#endif

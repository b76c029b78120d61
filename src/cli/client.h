/* What commands that ask a running server for boards have in common. */
#ifndef GT_CLI_CLIENT_H
#define GT_CLI_CLIENT_H

#include "base/buf.h"
#include "base/status.h"
#include "json/json.h"

struct client {
    const char *name;     /* of the command */
    const char *endpoint; /* --url, GAMETABLE_URL */
    const char *key;      /* --key, GAMETABLE_KEY; NULL: none */
    bool json;            /* --json: answers as they come */
    struct arena arena;
};

struct option_spec;
/* Fills in the client's own options at the end of `specs`, which has room for four more. */
void client_init(struct client *client, const char *name, struct option_spec *specs);
void client_release(struct client *client);

/* Appends a part of a path, %-encoded. */
void client_put(struct buf *to, const char *text);
/* Asks, and reads the JSON. 0, or the exit status after having said what is wrong; with --json the
 * answer has been printed. */
int client_ask(struct client *client, const char *method, struct buf *path, struct bytes body,
               struct json *out);

/* The text of a member, whatever it is; empty if it is not there. */
struct bytes client_text(const struct json *object, const char *name);

#endif

/* Questions to a running server over plain HTTP, one after the other on a connection. */
#ifndef GT_CLI_ASK_H
#define GT_CLI_ASK_H

#include "base/buf.h"
#include "base/status.h"

struct question {
    const char *endpoint; /* "http://127.0.0.1:8000" */
    const char *method, *path;
    struct bytes body; /* or empty */
    const char *type;  /* of the body; NULL: application/json */
    const char *key;   /* "ID:SECRET"; NULL: none */
};

/* Sets *status to the answer's and *body to its body, in the arena. INVALID, IO_FAILED, with a
 * sentence. */
enum status ask(const struct question *question, struct arena *arena, struct failure *failure,
                int *status, struct bytes *body);

/* The same over a connection that is kept. Zero but for fd -1 is one that is not open yet; it is
 * opened, and opened again if the server has closed it, by the next question. */
struct asker {
    int fd;
    struct buf answer; /* of the last question */
};
enum status asker_ask(struct asker *asker, const struct question *question, struct arena *arena,
                      struct failure *failure, int *status, struct bytes *body);
void asker_close(struct asker *asker);

#endif

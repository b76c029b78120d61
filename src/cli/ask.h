/* One question to a running server over plain HTTP, for commands that need no more. */
#ifndef GT_CLI_ASK_H
#define GT_CLI_ASK_H

#include "base/status.h"

struct question {
    const char *endpoint; /* "http://127.0.0.1:8000" */
    const char *method, *path;
    struct bytes body; /* JSON, or empty */
};

/* Sets *status to the answer's and *body to its body, in the arena. INVALID, IO_FAILED, with a
 * sentence. */
enum status ask(const struct question *question, struct arena *arena, struct failure *failure,
                int *status, struct bytes *body);

#endif

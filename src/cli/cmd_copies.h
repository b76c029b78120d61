/* What the commands that copy tables and folders share. */
#ifndef GT_CLI_CMD_COPIES_H
#define GT_CLI_CMD_COPIES_H

#include "base/status.h"

#include <stdatomic.h>

/* From now on SIGINT and SIGTERM set the flag that is returned; the second one ends the process. */
const atomic_bool *copies_catch_signals(void);

/* Says what went wrong; returns the exit status 1. */
int copies_failed(const struct failure *failure);

#endif

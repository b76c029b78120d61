/* What `gametable help COMMAND` says of a command and its options; that of serve is made of
 * settings.h. */
#ifndef GT_CLI_HELP_TEXTS_H
#define GT_CLI_HELP_TEXTS_H

#include "base/buf.h"

/* Appends the text, with the options that all commands have which ask a server; false if there is
 * none for that command. */
bool help_put(struct buf *to, const char *command);

/* The same on standard error, for who called the command wrongly. Returns the exit status for
 * that, 2. */
int help_usage(const char *command);

#endif

/* Who may come in: the keys of the key file and of the environment, at the start and again when
 * the process is told that the file has changed. */
#ifndef GT_CLI_ACCESS_H
#define GT_CLI_ACCESS_H

#include "api/access_keys.h"
#include "cli/settings.h"

#define ACCESS_FILE "gametable-keys.json" /* where `gametable keys` keeps them unless told */

/* *out is NULL when no keys are configured: then anybody on this machine may come in. INVALID with
 * a sentence for keys that cannot be read, and for listening beyond loopback without any. */
enum status access_open(const struct settings *settings, struct scope in, struct keys **out);
/* Reads them again; what cannot be read is logged and the keys stay as they are. */
void access_reload(const struct settings *settings, struct keys *keys);

#endif

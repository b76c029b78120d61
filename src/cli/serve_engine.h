/* Opening the engine that the settings name, for `serve` and for what works on both. */
#ifndef GT_CLI_SERVE_ENGINE_H
#define GT_CLI_SERVE_ENGINE_H

#include "cli/settings.h"

struct engine;

/* Whether the settings have all that serving with the engine over DynamoDB takes: INVALID with a
 * sentence that names what is missing. */
enum status serve_engine_check(const struct settings *settings, struct scope in);
/* Opens settings->engine. Blocks. */
enum status serve_engine_open(const struct settings *settings, struct scope in,
                              struct engine **out);

#endif

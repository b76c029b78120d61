/* What went wrong with a call, as an error reply. Private to this folder. Where the call runs. */
#ifndef GT_API_REDIS_CALL_ERRORS_H
#define GT_API_REDIS_CALL_ERRORS_H

#include "api/redis/redis_frontend_int.h"

/* Runs the command's `run`, `start` or `then`; puts the error into the reply if it fails. */
enum status call_run_function(struct redis_call *call, redis_run *function);
/* Replaces what the call has written of a reply since `begin` by its error. */
void call_put_error(struct redis_call *call, size_t begin, enum status status);
/* The code of the error that the call was answered with; "other" if we have no such code. */
const char *call_reason(const struct redis_call *call);

#endif

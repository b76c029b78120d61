/* Who asks: a server or a client by its key, a player by its token. */
#ifndef GT_API_REST_WHO_H
#define GT_API_REST_WHO_H

#include "api/rest/call.h"

/* Fills in call->who, and holds it against the route. DENIED with a sentence; *known is false if
 * who asks would have to say who it is. */
enum status who_check(struct rest_call *call, bool *known);

#endif

/* A board's rules as JSON, and back. */
#ifndef GT_API_REST_REST_BOARD_RULES_H
#define GT_API_REST_REST_BOARD_RULES_H

#include "api/rest/rest_call.h"

/* What a board is like unless told. */
struct board_rules rest_rules_default(struct bytes id);
/* Changes what the body names; null takes it back to what it is unless told. INVALID. The body has
 * been checked against its form. */
enum status rest_rules_read(struct rest_call *call, const struct json *body,
                            struct board_rules *rules);
/* Appends the board as an object. */
void rest_rules_put(struct rest_call *call, const struct board_rules *rules);

#endif

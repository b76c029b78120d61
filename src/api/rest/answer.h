/* Answers: JSON with the headers that every answer has, and problems (RFC 9457). */
#ifndef GT_API_REST_ANSWER_H
#define GT_API_REST_ANSWER_H

#include "api/rest/call.h"

/* The status that is set, or the route's, with call->reply. */
void rest_answer(struct rest_call *call);
/* The problem that call->failure is, or the one of a status of HTTP's own. */
void rest_answer_failure(struct rest_call *call);
void rest_answer_problem(struct rest_call *call, int status, struct bytes detail);
/* Appends the problem's object. */
void rest_put_problem(struct buf *to, int status, struct bytes detail, struct bytes member);
/* The status of HTTP's that tells it. */
int rest_status_of(enum status status);

#endif

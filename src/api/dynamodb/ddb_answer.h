/* Answers: bodies with the headers every answer carries, and errors in DynamoDB's form. */
#ifndef GT_API_DYNAMODB_DDB_ANSWER_H
#define GT_API_DYNAMODB_DDB_ANSWER_H

#include "api/dynamodb/ddb_call.h"

/* 52 letters and digits, without end. Fast; not a secret. Any thread. */
enum { REQUEST_ID_SIZE = 52 };
void answer_request_id(char *to);

/* 200 with call->reply; compressed if it is large and the client takes that. */
void answer_reply(struct call *call);
/* What an endpoint answered, as it came. */
void answer_forwarded(struct call *call, int status, struct bytes body);
/* The error for call->failure, call->exception and call->extra. */
void answer_failure(struct call *call);
/* The error of that name without any text, for what is told before a call is one. */
void answer_exception(struct call *call, const char *exception);
/* A plain status with a text that is not JSON. */
void answer_plain(struct call *call, int status, struct bytes body);

#endif

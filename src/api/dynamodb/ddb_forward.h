/* Passing requests on: with an engine that keeps its tables at an endpoint of DynamoDB's protocol,
 * the same address serves all of that endpoint's tables.
 *
 * What names the game table alone is carried out here like everywhere else, so that the rules for
 * its boards hold and COUNT of its `ranks` is one look at the ranking. Everything else is sent on
 * as it came, signed anew, after the caller's key was asked about each table that the request
 * names: the endpoint sees this server's credentials, and only what a key allows reaches it.
 */
#ifndef GT_API_DYNAMODB_DDB_FORWARD_H
#define GT_API_DYNAMODB_DDB_FORWARD_H

#include "api/dynamodb/ddb_call.h"

/* Whether the request is the endpoint's to answer. Its operation and body have been read. */
bool forward_wanted(const struct call *call);
/* Asks the caller's key, sends it on, answers. On a thread that may wait. */
void forward_call(struct call *call);

#endif

/* The dictionary of attribute names: small items stay small because a stored item says 7
 * where it would say "GSI1SK".
 *
 * Codes are given out in order and never change or go away. Any thread may look up and intern;
 * looking up takes no lock. A code is durable only when the store has written it: the writer
 * takes the codes from the count of its last commit up to names_count() and writes them in the same
 * batch as the items that use them. When LIMIT_NAME_CODES names are taken, or a name is longer than
 * NAMES_SIZE_MAX, intern says NAMES_FULL and the codec writes the name itself.
 */
#ifndef GT_VALUE_NAMES_H
#define GT_VALUE_NAMES_H

#include "base/bytes.h"

enum { NAMES_FULL = -1, NAMES_SIZE_MAX = 64 };

struct names;
struct names *names_new(void);
void names_free(struct names *names);

/* The code of the name, made if need be; or NAMES_FULL. */
int names_intern(struct names *names, struct bytes name);
/* The same, for the names of an item in turn: `before` is what the name before this one got, and
 * NAMES_FULL for the first. Quicker where items have the same names as others before them: the name
 * that followed last time is compared before anything is hashed. */
int names_intern_after(struct names *names, int before, struct bytes name);
/* The code of the name, or NAMES_FULL if it has none. Adds nothing. */
int names_find(const struct names *names, struct bytes name);
/* The name of a code; empty with data NULL if there is no such code. Lives as long as names. */
struct bytes names_get(const struct names *names, int code);
/* A number that no other dictionary of this process has had, for who keeps what it knows of one. */
uint64_t names_serial(const struct names *names);
/* How many codes there are: 0 .. count-1. */
int names_count(const struct names *names);
/* Adds the name that was stored under `code`; codes come in order. False if they do not. For
 * opening a store. */
bool names_restore(struct names *names, int code, struct bytes name);

#endif

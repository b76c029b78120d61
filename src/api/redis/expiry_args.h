/* The arguments of commands that give an end to single fields or members (HEXPIRE, ZEXPIRE and
 * their like), and what they mean. Private to this folder; called where the command runs. */
#ifndef GT_API_REDIS_EXPIRY_ARGS_H
#define GT_API_REDIS_EXPIRY_ARGS_H

#include "api/redis/redis_command.h"

/* What is told of each field or member. */
enum expiry_outcome {
    EXPIRY_NOT_THERE = -2,
    EXPIRY_NO_END = -1,
    EXPIRY_NOT_DONE = 0,
    EXPIRY_DONE = 1,
    EXPIRY_DELETED = 2,
};

/* When an end is set: NX, XX, GT, LT. */
enum expiry_condition { EXPIRY_ALWAYS, EXPIRY_NX, EXPIRY_XX, EXPIRY_GT, EXPIRY_LT };
/* The condition that args[at] names; EXPIRY_ALWAYS if it is none. */
enum expiry_condition expiry_read_condition(const struct redis_call *call, size_t at);
/* Whether an end may take the place of the old one, in the same unit; 0: it had none, which is
 * taken to be after all others. */
bool expiry_allows(enum expiry_condition condition, int64_t end, int64_t old);

/* The end that args[2] says, in milliseconds since 1970. */
struct expiry_unit {
    int64_t ms;    /* of one */
    bool absolute; /* since 1970, not from now on */
};
enum status expiry_read_end(struct redis_call *call, struct expiry_unit unit, int64_t *out_ms);

/* Reads "<word> number name [name ...]" from args[at] on, which is the end of the command; *first
 * is the first name's place. */
struct expiry_names {
    const char *word;         /* "FIELDS" */
    const char *number;       /* "numfields", as errors call it */
    const char *not_positive; /* the error if that is not a number from 1 on */
};
enum status expiry_read_names(struct redis_call *call, size_t at, struct expiry_names names,
                              size_t *first);

#endif

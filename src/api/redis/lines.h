/* Replies of several lines. Private to this folder. */
#ifndef GT_API_REDIS_LINES_H
#define GT_API_REDIS_LINES_H

#include "api/redis/command.h"

/* An array of lines, which end with NULL. Returns OK. */
enum status reply_lines(struct redis_call *call, const char *const *lines);

#endif

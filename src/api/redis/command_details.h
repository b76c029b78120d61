/* What COMMAND and ACL CAT tell of a command besides its row of the table: its flags and ACL
 * categories as words, what it does with its keys, and tips for proxies. A new command that does
 * more than read its keys gets a row in command_details.c. All of it is constant: any thread, and
 * nothing is to be freed. */
#ifndef GT_API_REDIS_COMMAND_DETAILS_H
#define GT_API_REDIS_COMMAND_DETAILS_H

#include "api/redis/redis_command.h"

/* How a command uses its keys, those of its first key specification and those of its second; and
 * the tips for proxies. Each is a text of words with one blank between any two. */
struct command_details {
    const char *name;
    const char *first, *second; /* NULL: it has no such keys */
    const char *tips;           /* "": none */
};

/* Of the command with this full name, such as "config|set". A command without a row reads its keys
 * ("RO access") and has no tips. */
struct command_details command_details_of(struct bytes name);

/* A set of words, in the order in which Redis lists them. */
struct command_words {
    const char *list[32];
    size_t count;
};
/* Such as "readonly", "fast". */
struct command_words command_flag_words(const struct redis_command *command);
/* Such as "@read", "@fast". */
struct command_words command_categories(const struct redis_command *command);
/* The category without its '@'. */
bool command_has_category(const struct redis_command *command, struct bytes category);

#endif

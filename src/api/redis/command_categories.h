/* The ACL categories of commands (command_commands.c). */
#ifndef GT_API_REDIS_COMMAND_CATEGORIES_H
#define GT_API_REDIS_COMMAND_CATEGORIES_H

#include "api/redis/redis_command.h"

/* The category without its '@'. */
bool command_has_category(const struct redis_command *command, const char *category);

#endif

/* The arguments of a command that is not `serve`: options with a value, switches, and the rest. */
#ifndef GT_CLI_CMD_OPTIONS_H
#define GT_CLI_CMD_OPTIONS_H

#include <stdbool.h>

struct option_spec {
    const char *name;   /* "data": --data VALUE or --data=VALUE */
    const char **value; /* where the value goes; or */
    bool *given;        /* that of a switch */
};

/* Sets the options and moves what is not one to the front of argv; returns how many, or -1 after
 * having said on standard error what is wrong. The last spec has no name. */
int options_read(const char *command, int argc, char **argv, const struct option_spec *specs);

#endif

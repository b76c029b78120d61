/* A progress bar on standard error: drawn in place on a terminal, silent elsewhere. */
#ifndef GT_CLI_PROGRESS_H
#define GT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;   /* "verifying" */
    const char *unit;   /* "items" */
    int64_t started_us; /* set by progress_start() */
    int64_t drawn_us;
    bool shown;
};

void progress_start(struct progress *progress, const char *what, const char *unit);
/* Cheap to call often: draws at most ten times a second. total 0: not known. */
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/* Leaves the last state on the screen and ends the line. */
void progress_end(struct progress *progress, uint64_t done);

#endif

/* The file shim for a program that is linked with it (file_shim.c) and has the engine in itself:
 * the program's own file functions come before the C library's, for shared libraries too. Under
 * LD_PRELOAD the environment says the same, and nothing of this is called. */
#ifndef GT_TEST_FILE_SHIM_H
#define GT_TEST_FILE_SHIM_H

#include "shim_journal.h"

#include <stdbool.h>

struct shim_settings {
    const char *folder;           /* must exist */
    int journal;                  /* a file that records are appended to; the caller's */
    struct shim_control *control; /* the caller's; NULL: nothing fails */
    uint64_t late_seed;           /* which operations come late; 0: none */
};

/* Follows another folder from now on, with the power on; NULL: none. No file of the folder before
 * may be open. */
void shim_follow(const struct shim_settings *settings);
/* The power goes at the operation that comes `in`th from now, or at once with 0. From then on every
 * operation below the folder fails and nothing is written down: whoever has the files open can only
 * close them. Any thread. */
void shim_cut_power(uint64_t in);
bool shim_power_is_off(void);

#endif

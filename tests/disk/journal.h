/* The journal of a run (tests/shim/shim_journal.h), in memory. One thread. */
#ifndef GT_TEST_JOURNAL_H
#define GT_TEST_JOURNAL_H

#include "shim_journal.h"

#include <stdbool.h>
#include <stddef.h>

struct journal {
    uint8_t *bytes;
    size_t *records; /* where each begins */
    size_t count;
};

/* Reads all of a file; false if it is no journal, or empty. */
bool journal_open(struct journal *journal, const char *path);
/* The same of an open file, which stays open. */
bool journal_read(struct journal *journal, int file);
void journal_release(struct journal *journal);
const struct shim_record *journal_at(const struct journal *journal, size_t index);

#endif

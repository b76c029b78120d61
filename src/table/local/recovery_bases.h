/* The folder of point-in-time recovery: the bases in it, and what room they take. */
#ifndef GT_TABLE_LOCAL_RECOVERY_BASES_H
#define GT_TABLE_LOCAL_RECOVERY_BASES_H

#include "base/limits.h"
#include "table/local/recovery.h"

struct recovery_bases {
    struct recovery_base at[LIMIT_RECOVERY_BASES]; /* the oldest first */
    size_t count;
};

/* Those of the folder DIR/recovery; the newest if there are too many. None if it is not there. */
void bases_list(const char *path, struct recovery_bases *out);
/* One more, at its place in time; if there is no room the oldest goes. */
void bases_add(struct recovery_bases *bases, const struct recovery_base *base);
/* The first segment of the log that any of them needs; UINT64_MAX: none does. Not always the
 * oldest's: the clock may have been set back. */
uint64_t bases_log_from(const struct recovery_bases *bases);
/* The newest that was made at that time or before; NULL. */
const struct recovery_base *bases_before(const struct recovery_bases *bases, int64_t time_ms);
/* The folder of a base with a suffix, on the heap. */
char *bases_path(const char *path, const struct recovery_base *base, const char *suffix);
/* Bytes on the disk of all of them: of a file that others have too its part. */
uint64_t bases_usage(const char *path, const struct recovery_bases *bases);
/* Removes what ends in ".partial". */
void bases_clean(const char *path);

#endif

/* A disk as a journal of file operations (tests/shim/shim_journal.h) leaves it when the power goes.
 *
 * What was synced is on it. Of what was not, a cut decides: each sector of a file holds what one of
 * the writes since left in it, or what was synced; the file's size is that after one of them; a
 * name in a folder is there or not, as long as the folder was not synced. How it decides is a
 * `struct cut`, drawn from a seed. Sectors are 512 bytes and never torn. One thread. */
#ifndef GT_TEST_DISK_MODEL_H
#define GT_TEST_DISK_MODEL_H

#include "shim_journal.h"

#include <stdbool.h>
#include <stddef.h>

struct disk;

/* strict: a new file's name is only on the disk when its folder was synced, as POSIX has it. Else
 * also when the file itself was, as ext4, XFS, btrfs and F2FS have it and RocksDB relies on when it
 * writes tables at a start. */
struct disk *disk_new(uint64_t seed, bool strict);
void disk_free(struct disk *disk);
/* For a disk that is only made with CUT_ALL, and before the first record: the folder as programs
 * read it while the power is on. What a failed sync should have written is in the system's memory
 * then, and all of it is read, whatever of it came to the disk. */
void disk_stay_powered(struct disk *disk);
/* Takes one record; its bytes must stay where they are. Marks are passed over. A record that cannot
 * be right (an unknown file, an operation that was not seen) ends the program with a sentence. */
void disk_apply(struct disk *disk, const struct shim_record *record);

enum cut_mode {
    CUT_ALL,    /* all is there: what a process that is killed leaves */
    CUT_NONE,   /* only what was synced */
    CUT_PREFIX, /* all up to one operation, and that one torn */
    CUT_RANDOM, /* sectors, sizes and names each as they like */
    CUT_MODES,
};

struct cut {
    enum cut_mode mode;
    uint64_t seed;
    bool strict; /* a file may have grown before its bytes came, and reads as zeros there; else only
                    space that was made beforehand does. Journaling file systems write a file's
                    bytes before its new size; RocksDB cannot open a folder whose list of tables
                    ends in such zeros. */
};

/* Makes the disk's files in the empty folder `path`. 0, or -1 with errno. */
int disk_make(const struct disk *disk, const struct cut *cut, const char *path);

/* A number that depends on both evenly. */
uint64_t disk_hash(uint64_t seed, uint64_t number);

#endif

/* What the file shim writes down, and how a test tells it what shall fail.
 *
 * The journal is a file that the shim, and whoever drives the program, append whole records to,
 * each by one write: their order in it is an order in which they happened. A record:
 *
 *   bytes 0-3    size of the record with this head, low byte first (as all numbers)
 *         4      kind: enum shim_kind
 *         5      flags: enum shim_flag
 *         6-7    0
 *         8-15   number of the open file: the process's id, then a count; never used twice
 *        16-23   offset in the file, or the number of an operation
 *        24-31   length
 *        32-     the bytes written; or a path below the folder, or two that a zero byte parts; or
 * the text of a mark
 */
#ifndef GT_TEST_SHIM_JOURNAL_H
#define GT_TEST_SHIM_JOURNAL_H

#include <stdint.h>

struct shim_record {
    uint32_t size;
    uint8_t kind;
    uint8_t flags;
    uint16_t zero;
    uint64_t file;
    uint64_t offset;
    uint64_t length;
};

enum shim_kind {
    SHIM_OPEN = 1, /* path; SHIM_CREATED, SHIM_TRUNCATED */
    SHIM_CLOSE,    /* file */
    SHIM_WRITE, /* file, offset, bytes. SHIM_BEGUN: not done yet; done says the SHIM_WROTE of that
                   number */
    SHIM_WROTE, /* file, offset: the number; a write that was begun is done and on the disk */
    SHIM_SYNC_BEGUN, /* file, offset: a number for the pair */
    SHIM_SYNCED,     /* file, offset: what was written before the sync began is on the disk */
    SHIM_SYNC_LOST,  /* file, offset: it failed: what was written before may never come to the disk
                      */
    SHIM_SIZE,       /* file, length: the file's new size */
    SHIM_ALLOCATE,   /* file, offset, length: reserved; SHIM_ZEROED: and reads as zeros;
                      SHIM_CREATED: and the file is at least as long */
    SHIM_RENAME,     /* two paths */
    SHIM_LINK,       /* two paths */
    SHIM_UNLINK,     /* path */
    SHIM_MKDIR,      /* path */
    SHIM_RMDIR,      /* path */
    SHIM_UNSEEN, /* path: opened in a way that the shim cannot follow (a stream, a written mapping)
                  */
    SHIM_MARK,   /* text of the driver */
};

enum shim_flag { SHIM_CREATED = 1, SHIM_TRUNCATED = 2, SHIM_BEGUN = 4, SHIM_ZEROED = 8 };

/* What can be made to fail, and what is counted. */
enum shim_fault {
    FAULT_WRITE = 1,
    FAULT_SYNC,
    FAULT_ALLOCATE, /* fallocate, and files made longer or shorter */
    FAULT_RENAME,   /* and hard links */
    FAULT_OPEN,
    FAULT_MKDIR,
    FAULT_UNLINK, /* and rmdir */
    FAULT_READ,
    FAULT_KINDS,
};

/* The control file: the shim maps it, the driver writes it, at any time. Zero is: nothing fails. */
struct shim_control {
    uint32_t kind;  /* enum shim_fault: of which the next but `in` - 1 fails; 0: none */
    uint32_t error; /* errno; 0: a write is cut short by half, and the next one has no room */
    uint64_t in;    /* counted down; at 1 it fails */
    uint64_t times; /* how many fail from there on; 0: one */
    uint64_t room;  /* bytes that the folder may take; 0: any */
    uint64_t used;  /* bytes it takes, kept by the shim */
    uint64_t fired; /* how many have failed */
    uint64_t counts[FAULT_KINDS];
    uint64_t die_in; /* counted down by all but reads; at 1 the process is killed before it is done;
                        0: it lives */
};

#endif

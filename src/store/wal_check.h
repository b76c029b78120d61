/* Looks at the database's logs before the database does.
 *
 * The database takes a log that ends in the middle of a record as one that was being written when
 * the power went, which is right, and cannot tell it from one whose bytes have changed since,
 * which would lose acknowledged writes without a word. Most of the time one can tell:
 *
 *   torn     the file ends within the record, or a sector of the record never came to the disk
 *            and reads as zeros
 *   damaged  the record is all there and its checksum is wrong, or its checksum is right for
 *            another length than its header says, or that length is impossible
 *
 * Cost: reads the logs once; an orderly stop leaves them empty, a crash at most 64 MB or so.
 */
#ifndef GT_STORE_WAL_CHECK_H
#define GT_STORE_WAL_CHECK_H

#include "store/data_folder.h"

enum wal_state { WAL_WHOLE, WAL_TORN, WAL_DAMAGED, WAL_UNREADABLE };

/* *at: where the first bad record begins. */
enum wal_state wal_check(const char *path, uint64_t *at);

/* Records stand in such a file in pieces. */
enum wal_type { WAL_ONE = 1, WAL_FIRST, WAL_MIDDLE, WAL_LAST };
struct wal_piece {
    enum wal_type type;
    size_t at;         /* where its header begins */
    struct bytes data; /* borrowed from the file's bytes */
};

/* The piece at a byte of a file's bytes, or at the border of a block that is near, and moves *at
 * behind it. False: the file ends there, or it is not whole. */
bool wal_piece_at(struct bytes file, size_t *at, struct wal_piece *out);

/* Cuts the file at the byte, and has that on the disk. */
void wal_cut(const char *path, uint64_t at);

/* All logs of the folder's database, and its list of tables, of which a torn end is cut off.
 * DAMAGED with a sentence. */
enum status wal_check_folder(const struct folder *folder, struct scope in);

#endif

/* CRC-32C (Castagnoli): the checksum of log groups and of what RocksDB writes. It finds every error
 * of up to 32 bits in a row; it does not protect against somebody who means it. Any thread. */
#ifndef GT_STORE_CRC32C_H
#define GT_STORE_CRC32C_H

#include "base/bytes.h"

/* The checksum of what `crc` is the checksum of (0 for nothing) followed by these bytes. Uses the
 * processor's instruction where it has one, else tables. */
uint32_t crc32c(uint32_t crc, struct bytes bytes);
/* The same by the tables; for tests. */
uint32_t crc32c_by_table(uint32_t crc, struct bytes bytes);

#endif

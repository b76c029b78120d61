/* The format, as the database's documentation describes it: blocks of 32 kB, filled with records
 * that do not cross their border; a tail of less than a header is zeros.
 *
 *   bytes 0-3  checksum of the type and the data: crc32c, rotated and shifted
 *         4-5  size of the data, low byte first
 *         6    type: 1 whole, 2 first, 3 middle, 4 last piece; 0 in space that was only reserved
 *         7-   data
 */
#include "store/wal_check.h"

#include "base/mem.h"
#include "store/crc32c.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { BLOCK = 32768, HEADER = 7, SECTOR = 512, TAIL_MAX = 65536 };

/* Of a list of tables: records that one sync may bring to the disk behind the first. A table that
 * was written out has two, of which the second says which logs of the database are needed, and a
 * merge that ends meanwhile adds one. */
enum { GROUP_BEHIND = 2 };

/* --- checksums --- */

static uint32_t read_u32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* As it is stored: a checksum of data that holds checksums is better changed a little. */
static uint32_t crc_stored(uint32_t crc) {
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

/* --- one block --- */

struct block {
    uint8_t data[BLOCK];
    size_t size; /* less than BLOCK: the file ends here */
};

static bool all_zero(const uint8_t *at, size_t size) {
    while (size != 0 && at[size - 1] == 0)
        size--;
    return size == 0;
}

/* Whether a sector that the bytes lie in is zeros, from `from` on. Blocks begin at sectors. */
static bool has_hole(const struct block *block, size_t from, size_t to) {
    while (from < to && from < block->size) {
        size_t end = from / SECTOR * SECTOR + SECTOR;
        if (end > block->size)
            end = block->size;
        if (all_zero(block->data + from, end - from))
            return true;
        from = end;
    }
    return false;
}

/* Whether the checksum is right for some other size. */
static bool fits_other_size(const struct block *block, size_t at) {
    uint32_t stored = read_u32(block->data + at);
    uint32_t crc = crc32c(0, bytes_of(block->data + at + 6, 1));
    for (size_t i = at + HEADER; i < block->size; i++) {
        if (crc_stored(crc) == stored)
            return true;
        crc = crc32c(crc, bytes_of(block->data + i, 1));
    }
    return crc_stored(crc) == stored;
}

static enum wal_state bad_record(const struct block *block, size_t at, size_t size) {
    size_t end = at + HEADER + size;
    if (has_hole(block, at, end))
        return WAL_TORN;
    if (end > BLOCK || end <= block->size || fits_other_size(block, at))
        return WAL_DAMAGED;
    return WAL_TORN;
}

/* Checks the records of a block from the start; *at is left at the first bad one. */
static enum wal_state check_block(const struct block *block, size_t *at) {
    while (*at + HEADER <= block->size) {
        const uint8_t *head = block->data + *at;
        size_t size = (size_t)head[4] | (size_t)head[5] << 8;
        if (all_zero(head, HEADER))
            return all_zero(head, block->size - *at) ? WAL_WHOLE : WAL_TORN;
        if (*at + HEADER + size > block->size ||
            crc_stored(crc32c(0, bytes_of(head + 6, size + 1))) != read_u32(head))
            return bad_record(block, *at, size);
        *at += HEADER + size;
    }
    return *at == block->size || block->size == BLOCK ? WAL_WHOLE : WAL_TORN;
}

/* --- a piece --- */

/* Whether a whole one begins at the byte. */
static bool whole_piece(struct bytes file, size_t at, struct wal_piece *out) {
    if (at + HEADER > file.size)
        return false;
    const uint8_t *head = file.data + at;
    size_t size = (size_t)head[4] | (size_t)head[5] << 8;
    *out = (struct wal_piece){head[6], at, bytes_of(head + HEADER, size)};
    return size != 0 && head[6] >= WAL_ONE && head[6] <= WAL_LAST &&
           at + HEADER + size <= file.size &&
           crc_stored(crc32c(0, bytes_of(head + 6, size + 1))) == read_u32(head);
}

bool wal_piece_at(struct bytes file, size_t *at, struct wal_piece *out) {
    size_t left = BLOCK - *at % BLOCK;
    if (left < HEADER)
        *at += left;
    if (!whole_piece(file, *at, out))
        return false;
    *at += HEADER + out->data.size;
    return true;
}

/* --- a file --- */

static bool read_block(int file, struct block *block) {
    block->size = 0;
    while (block->size < BLOCK) {
        ssize_t got = read(file, block->data + block->size, BLOCK - block->size);
        if (got < 0)
            return false;
        if (got == 0)
            break;
        block->size += (size_t)got;
    }
    return true;
}

enum wal_state wal_check(const char *path, uint64_t *at) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return WAL_UNREADABLE;
    struct block *block = mem_alloc(sizeof(*block));
    enum wal_state state = WAL_WHOLE;
    *at = 0;
    do {
        size_t in_block = 0;
        if (!read_block(file, block))
            state = WAL_UNREADABLE;
        else
            state = check_block(block, &in_block);
        *at += in_block;
    } while (state == WAL_WHOLE && block->size == BLOCK);
    mem_free(block);
    close(file);
    return state;
}

/* --- the end of a list of tables --- */

/* How many whole records stand behind the one that the tail begins with. */
static unsigned records_behind(struct bytes tail) {
    unsigned count = 0;
    struct wal_piece piece;
    for (size_t at = 1; at + HEADER < tail.size; at++)
        count += whole_piece(tail, at, &piece);
    return count;
}

void wal_cut(const char *path, uint64_t at) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)at) == 0)
        (void)fsync(file);
    if (file >= 0)
        close(file);
}

/* The database refuses a list of tables whose end a power cut has torn, although nothing hangs on
 * records that were not synced: they are cut off, from the first that is torn. A sync that failed
 * may have left out any sector, so that whole records of the same sync stand behind it; if there
 * are more, they were written later, the first was on the disk before, and is damaged. What cannot
 * be cut off, the database will say. If what is was on the disk once and is damaged, the tables or
 * the segments of the log that the list then speaks of are gone, which is told. */
static void mend_list(const char *path, uint64_t at) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    uint8_t *tail = mem_alloc(TAIL_MAX);
    ssize_t got = pread(file, tail, TAIL_MAX, (off_t)at);
    if (got > 0 && (off_t)at + got == lseek(file, 0, SEEK_END) &&
        records_behind(bytes_of(tail, (size_t)got)) <= GROUP_BEHIND)
        wal_cut(path, at);
    mem_free(tail);
    close(file);
}

/* --- a folder --- */

static bool is_list(const char *name) {
    return strncmp(name, "MANIFEST-", 9) == 0;
}

static enum status check_named(const struct folder *folder, const char *name, struct scope in) {
    char path[4096], what[512];
    snprintf(path, sizeof(path), "%s/%s", folder->db_path, name);
    uint64_t at;
    enum wal_state state = wal_check(path, &at);
    if (state == WAL_TORN && is_list(name))
        mend_list(path, at);
    if (state != WAL_DAMAGED)
        return OK; /* what cannot be read, the database will say */
    snprintf(what, sizeof(what), "its log db/%.255s has changed at byte %llu", name,
             (unsigned long long)at);
    return folder_damaged(folder, what, in);
}

static bool is_log(const char *name) {
    size_t size = strlen(name);
    return is_list(name) || (size > 4 && strcmp(name + size - 4, ".log") == 0);
}

enum status wal_check_folder(const struct folder *folder, struct scope in) {
    DIR *dir = opendir(folder->db_path);
    if (dir == NULL)
        return OK;
    enum status status = OK;
    for (struct dirent *entry; status == OK && (entry = readdir(dir)) != NULL;)
        if (is_log(entry->d_name))
            status = check_named(folder, entry->d_name, in);
    closedir(dir);
    return status;
}

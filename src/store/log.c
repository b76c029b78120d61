/* The format, as the database's documentation describes it: blocks of 32 kB, filled with records
 * that do not cross their border; a tail of less than a header is zeros.
 *
 *   bytes 0-3  checksum of the type and the data: crc32c, rotated and shifted
 *         4-5  size of the data, low byte first
 *         6    type: 1 whole, 2 first, 3 middle, 4 last piece; 0 in space that was only reserved
 *         7-   data
 */
#include "store/log.h"

#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { BLOCK = 32768, HEADER = 7, SECTOR = 512 };

/* --- checksums: eight bytes at a time by table --- */

static uint32_t tables[8][256];

static void tables_make(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1)));
        tables[0][i] = crc;
    }
    for (int t = 1; t < 8; t++)
        for (uint32_t i = 0; i < 256; i++)
            tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
}

static uint32_t crc_byte(uint32_t crc, uint8_t byte) {
    return (crc >> 8) ^ tables[0][(crc ^ byte) & 0xff];
}

static uint32_t read_u32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t crc_bytes(uint32_t crc, const uint8_t *at, size_t size) {
    for (; size >= 8; at += 8, size -= 8) {
        uint32_t low = crc ^ read_u32(at), high = read_u32(at + 4);
        crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
              tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
              tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
    }
    for (; size != 0; at++, size--)
        crc = crc_byte(crc, *at);
    return crc;
}

/* As it is stored: a checksum of data that holds checksums is better changed a little. */
static uint32_t crc_stored(uint32_t crc) {
    crc = ~crc;
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
    uint32_t crc = crc_byte(0xffffffffu, block->data[at + 6]);
    for (size_t i = at + HEADER; i < block->size; i++) {
        if (crc_stored(crc) == stored)
            return true;
        crc = crc_byte(crc, block->data[i]);
    }
    return crc_stored(crc) == stored;
}

static enum log_state bad_record(const struct block *block, size_t at, size_t size) {
    size_t end = at + HEADER + size;
    if (has_hole(block, at, end))
        return LOG_TORN;
    if (end > BLOCK || end <= block->size || fits_other_size(block, at))
        return LOG_DAMAGED;
    return LOG_TORN;
}

/* Checks the records of a block from the start; *at is left at the first bad one. */
static enum log_state check_block(const struct block *block, size_t *at) {
    while (*at + HEADER <= block->size) {
        const uint8_t *head = block->data + *at;
        size_t size = (size_t)head[4] | (size_t)head[5] << 8;
        if (all_zero(head, HEADER))
            return all_zero(head, block->size - *at) ? LOG_WHOLE : LOG_TORN;
        if (*at + HEADER + size > block->size ||
            crc_stored(crc_bytes(0xffffffffu, head + 6, size + 1)) != read_u32(head))
            return bad_record(block, *at, size);
        *at += HEADER + size;
    }
    return *at == block->size || block->size == BLOCK ? LOG_WHOLE : LOG_TORN;
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

enum log_state log_check(const char *path, uint64_t *at) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, tables_make);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return LOG_UNREADABLE;
    struct block *block = mem_alloc(sizeof(*block));
    enum log_state state = LOG_WHOLE;
    *at = 0;
    do {
        size_t in_block = 0;
        if (!read_block(file, block))
            state = LOG_UNREADABLE;
        else
            state = check_block(block, &in_block);
        *at += in_block;
    } while (state == LOG_WHOLE && block->size == BLOCK);
    mem_free(block);
    close(file);
    return state;
}

/* --- a folder --- */

static enum status check_named(const struct folder *folder, const char *name, struct arena *arena,
                               struct failure *failure) {
    char path[4096], what[512];
    snprintf(path, sizeof(path), "%s/%s", folder->db_path, name);
    uint64_t at;
    if (log_check(path, &at) != LOG_DAMAGED)
        return OK; /* what cannot be read, the database will say */
    snprintf(what, sizeof(what), "its log db/%.255s has changed at byte %llu", name,
             (unsigned long long)at);
    return folder_damaged(folder, what, arena, failure);
}

static bool is_log(const char *name) {
    size_t size = strlen(name);
    return strncmp(name, "MANIFEST-", 9) == 0 || (size > 4 && strcmp(name + size - 4, ".log") == 0);
}

enum status log_check_folder(const struct folder *folder, struct arena *arena,
                             struct failure *failure) {
    DIR *dir = opendir(folder->db_path);
    if (dir == NULL)
        return OK;
    enum status status = OK;
    for (struct dirent *entry; status == OK && (entry = readdir(dir)) != NULL;)
        if (is_log(entry->d_name))
            status = check_named(folder, entry->d_name, arena, failure);
    closedir(dir);
    return status;
}

#include "store/log_cold.h"

#include "base/buf.h"
#include "base/mem.h"
#include "store/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
    MAGIC = 0x47544c5a,
    VERSION = 1,
    HEAD_SIZE = 48,
    ENTRY_SIZE = 8,
    CRC_FROM = 8,
    LEVEL = -2, /* of zstd: two thirds of the first level's processor time for 2 % more bytes */
};

static uint64_t count_blocks(uint64_t size) {
    return (size + LOG_COLD_BLOCK - 1) / LOG_COLD_BLOCK;
}

static size_t block_size(uint64_t size, uint64_t block) {
    uint64_t left = size - block * LOG_COLD_BLOCK;
    return left < LOG_COLD_BLOCK ? (size_t)left : LOG_COLD_BLOCK;
}

static int read_all(int file, uint8_t *to, size_t size, uint64_t offset) {
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(file, to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? ENODATA : errno;
            return -1;
        }
        done += (size_t)got;
    }
    return 0;
}

/* --- making one --- */

struct maker {
    const struct log_io *io;
    int from, to;
    const struct log_cold_head *head;
    struct buf index; /* the head and the entries of the blocks so far */
    uint64_t offset;  /* of the next block in the file */
    uint8_t *plain, *packed;
    size_t packed_room;
    ZSTD_CCtx *context;
};

static int make_block(struct maker *maker, uint64_t block) {
    size_t size = block_size(maker->head->size, block);
    if (read_all(maker->from, maker->plain, size, block * LOG_COLD_BLOCK) != 0)
        return -1;
    size_t packed = ZSTD_compressCCtx(maker->context, maker->packed, maker->packed_room,
                                      maker->plain, size, LEVEL);
    if (ZSTD_isError(packed)) {
        errno = ENOMEM;
        return -1;
    }
    struct bytes bytes = bytes_of(maker->packed, packed);
    buf_u32(&maker->index, (uint32_t)packed);
    buf_u32(&maker->index, crc32c(0, bytes));
    int result = log_io_write(maker->io, maker->to, bytes, maker->offset);
    maker->offset += packed;
    return result;
}

static void begin_index(struct maker *maker) {
    buf_u32(&maker->index, MAGIC);
    buf_u32(&maker->index, 0);
    buf_u32(&maker->index, VERSION);
    buf_u32(&maker->index, LOG_COLD_BLOCK);
    buf_u64(&maker->index, maker->head->segment);
    buf_u64(&maker->index, maker->head->first);
    buf_u64(&maker->index, maker->head->size);
    buf_u64(&maker->index, maker->head->salt);
}

static int write_index(struct maker *maker) {
    struct bytes index = buf_bytes(&maker->index);
    struct buf crc = buf_in(maker->index.data + 4, 4);
    buf_u32(&crc, crc32c(0, bytes_skip(index, CRC_FROM)));
    int result = log_io_write(maker->io, maker->to, index, 0);
    return result == 0 ? log_io_sync(maker->io, maker->to) : result;
}

static int make_file(struct maker *maker) {
    uint64_t count = count_blocks(maker->head->size);
    int result = 0;
    begin_index(maker);
    maker->offset = HEAD_SIZE + count * ENTRY_SIZE;
    for (uint64_t block = 0; result == 0 && block < count; block++)
        result = make_block(maker, block);
    return result == 0 ? write_index(maker) : result;
}

uint64_t log_cold_make(const struct log_io *io, const char *name, int from,
                       const struct log_cold_head *head) {
    struct maker maker = {.io = io, .from = from, .head = head};
    maker.to = log_io_open(io, name, O_RDWR | O_CREAT | O_TRUNC);
    if (maker.to < 0)
        return 0;
    maker.packed_room = ZSTD_compressBound(LOG_COLD_BLOCK);
    maker.plain = mem_alloc(LOG_COLD_BLOCK);
    maker.packed = mem_alloc(maker.packed_room);
    maker.context = ZSTD_createCCtx();
    int result = make_file(&maker);
    int reason = errno;
    ZSTD_freeCCtx(maker.context);
    mem_free(maker.packed);
    mem_free(maker.plain);
    buf_release(&maker.index);
    close(maker.to);
    errno = reason;
    return result == 0 ? maker.offset : 0;
}

/* --- reading one --- */

/* A block in the file. */
struct cold_block {
    uint64_t offset;
    uint32_t size, crc;
};

struct log_cold {
    int file;
    uint64_t size; /* before it was compressed */
    uint64_t count;
    struct cold_block *blocks;
    pthread_mutex_t lock; /* over what follows */
    uint8_t *plain;       /* the block that was read last, */
    uint64_t block;       /* its number; UINT64_MAX: none */
};

void log_cold_close(struct log_cold *cold) {
    if (cold == NULL)
        return;
    close(cold->file);
    pthread_mutex_destroy(&cold->lock);
    mem_free(cold->blocks);
    mem_free(cold->plain);
    mem_free(cold);
}

uint64_t log_cold_size(const struct log_cold *cold) {
    return cold->size;
}

static bool take_head(struct bytes *from, struct log_cold_head *out) {
    uint32_t magic, crc, version, size;
    return take_u32(from, &magic) && take_u32(from, &crc) && take_u32(from, &version) &&
           take_u32(from, &size) && take_u64(from, &out->segment) && take_u64(from, &out->first) &&
           take_u64(from, &out->size) && take_u64(from, &out->salt) && magic == MAGIC &&
           version == VERSION && size == LOG_COLD_BLOCK && out->size != 0 &&
           out->size <= UINT32_MAX;
}

/* The blocks lie one behind the other up to the file's end. */
static bool take_blocks(struct log_cold *cold, struct bytes from, uint64_t file_size) {
    uint64_t offset = HEAD_SIZE + cold->count * ENTRY_SIZE;
    for (uint64_t i = 0; i < cold->count; i++) {
        struct cold_block *block = &cold->blocks[i];
        block->offset = offset;
        if (!take_u32(&from, &block->size) || !take_u32(&from, &block->crc) ||
            block->size > ZSTD_compressBound(LOG_COLD_BLOCK))
            return false;
        offset += block->size;
    }
    return offset == file_size;
}

static bool read_index(struct log_cold *cold, uint64_t file_size) {
    size_t size = HEAD_SIZE + (size_t)cold->count * ENTRY_SIZE;
    if (size > file_size)
        return false;
    uint8_t *index = mem_alloc(size);
    bool valid = read_all(cold->file, index, size, 0) == 0;
    struct bytes stored = bytes_of(index + 4, 4);
    uint32_t crc;
    valid = valid && take_u32(&stored, &crc) &&
            crc == crc32c(0, bytes_of(index + CRC_FROM, size - CRC_FROM));
    if (valid) {
        cold->blocks = mem_zalloc((size_t)cold->count * sizeof(*cold->blocks));
        valid = take_blocks(cold, bytes_of(index + HEAD_SIZE, size - HEAD_SIZE), file_size);
    }
    mem_free(index);
    return valid;
}

struct log_cold *log_cold_open(int file, struct log_cold_head *head) {
    uint8_t first[HEAD_SIZE];
    struct bytes from = bytes_of(first, sizeof(first));
    struct stat info;
    struct log_cold *cold = mem_zalloc(sizeof(*cold));
    cold->file = file;
    cold->block = UINT64_MAX;
    pthread_mutex_init(&cold->lock, NULL);
    bool valid = fstat(file, &info) == 0 && read_all(file, first, sizeof(first), 0) == 0 &&
                 take_head(&from, head);
    if (valid) {
        cold->size = head->size;
        cold->count = count_blocks(head->size);
        valid = read_index(cold, (uint64_t)info.st_size);
    }
    if (valid)
        return cold;
    log_cold_close(cold);
    return NULL;
}

/* Under the lock. */
static enum status unpack(struct log_cold *cold, uint64_t number) {
    const struct cold_block *block = &cold->blocks[number];
    if (cold->block == number)
        return OK;
    if (cold->plain == NULL)
        cold->plain = mem_alloc(LOG_COLD_BLOCK);
    cold->block = UINT64_MAX;
    uint8_t *packed = mem_alloc(block->size);
    enum status status = OK;
    if (read_all(cold->file, packed, block->size, block->offset) != 0)
        status = IO_FAILED;
    else if (crc32c(0, bytes_of(packed, block->size)) != block->crc ||
             ZSTD_decompress(cold->plain, LOG_COLD_BLOCK, packed, block->size) !=
                 block_size(cold->size, number))
        status = DAMAGED;
    mem_free(packed);
    if (status == OK)
        cold->block = number;
    return status;
}

enum status log_cold_read(struct log_cold *cold, uint64_t offset, uint8_t *to, size_t size) {
    if (offset > cold->size || size > cold->size - offset)
        return DAMAGED;
    enum status status = OK;
    pthread_mutex_lock(&cold->lock);
    while (status == OK && size != 0) {
        uint64_t number = offset / LOG_COLD_BLOCK;
        size_t at = (size_t)(offset % LOG_COLD_BLOCK), part = block_size(cold->size, number) - at;
        if (part > size)
            part = size;
        status = unpack(cold, number);
        if (status == OK)
            memcpy(to, cold->plain + at, part);
        to += part;
        offset += part;
        size -= part;
    }
    pthread_mutex_unlock(&cold->lock);
    return status;
}

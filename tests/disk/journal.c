#include "journal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const struct shim_record *journal_at(const struct journal *journal, size_t index) {
    return (const struct shim_record *)(const void *)(journal->bytes + journal->records[index]);
}

/* Records need not begin at even addresses: they are copied to where they do. */
static bool take_records(struct journal *journal, const uint8_t *raw, size_t size) {
    size_t at = 0, used = 0;
    while (at + sizeof(struct shim_record) <= size) {
        uint32_t length;
        memcpy(&length, raw + at, sizeof(length));
        if (length < sizeof(struct shim_record) || length > size - at)
            return false;
        memcpy(journal->bytes + used, raw + at, length);
        journal->records[journal->count++] = used;
        used += (length + 7) / 8 * 8;
        at += length;
    }
    return at == size && journal->count != 0;
}

bool journal_read(struct journal *journal, int file) {
    struct stat info;
    *journal = (struct journal){0};
    if (fstat(file, &info) != 0 || info.st_size == 0)
        return false;
    size_t size = (size_t)info.st_size;
    void *raw = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (raw == MAP_FAILED)
        return false;
    journal->bytes = malloc(size + size / sizeof(struct shim_record) * 8 + 8);
    journal->records = malloc((size / sizeof(struct shim_record) + 1) * sizeof(size_t));
    if (journal->bytes == NULL || journal->records == NULL)
        abort();
    bool whole = take_records(journal, raw, size);
    munmap(raw, size);
    return whole;
}

bool journal_open(struct journal *journal, const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool read = file >= 0 && journal_read(journal, file);
    if (file >= 0)
        close(file);
    return read;
}

void journal_release(struct journal *journal) {
    free(journal->bytes);
    free(journal->records);
    *journal = (struct journal){0};
}

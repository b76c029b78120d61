/* The inside of a disk: what disk_model.c (records in) and disk_cut.c (files out) share. One
 * thread, no lock. What a disk points to belongs to it and is freed by disk_free(), but for the
 * bytes of operations, which are the journal's. */
#ifndef GT_TEST_DISK_MODEL_INT_H
#define GT_TEST_DISK_MODEL_INT_H

#include "disk_model.h"

enum { SECTOR = 512, PAGE = 4096 };

/* An operation on a file's bytes since it was last synced. */
struct file_op {
    uint64_t at;   /* its place in the journal */
    uint64_t pair; /* of a durable write that is not done; else 0 */
    uint64_t offset;
    uint64_t size;       /* of the bytes; 0: only the file's size changes */
    uint64_t length;     /* the file's size after it; only ever more if `grows` */
    const uint8_t *data; /* NULL: zeros */
    bool grows;
    uint32_t process; /* that wrote it */
};

struct entry {
    char *name;
    struct node *node;
};

struct entries {
    struct entry *all;
    size_t count;
};

/* A file or a folder. Nodes live as long as the disk. */
struct node {
    struct node *next;
    uint64_t number;
    bool is_folder;
    /* a file: what is on the disk, and what may be */
    uint8_t **pages;
    uint64_t page_count, size;
    struct file_op *ops;
    size_t op_count;
    /* a folder: as it is on the disk, and as the program sees it */
    struct entries synced, seen;
};

/* A change of names that is not on the disk yet: `from` loses its name, `to` gets the node. */
struct name_op {
    uint64_t at;
    struct node *from, *to; /* folders; either may be NULL */
    char *from_name, *to_name;
    struct node *node;
};

struct disk {
    uint64_t seed, at; /* the place in the journal */
    uint64_t node_count;
    bool strict;
    bool powered; /* a failed sync loses nothing yet */
    struct node *nodes, *root;
    struct open_node *open; /* this and `syncs` are for disk_model.c only */
    size_t open_count;
    struct sync *syncs;
    size_t sync_count;
    struct name_op *names;
    size_t name_count;
};

/* --- names of a folder --- */

/* The name is copied; the node is the disk's. A name that is there already is replaced. */
void entries_put(struct entries *entries, const char *name, struct node *node);
void entries_remove(struct entries *entries, const char *name);
void entries_free(struct entries *entries);

/* --- helpers --- */

/* An array of `count` elements of `size` bytes with room for one more, which may have moved. Made
 * larger at powers of two. */
void *disk_grown(void *array, size_t count, size_t size);

/* One sector's part of an operation, or all in one page: from `at`, up to `unit` bytes. */
static inline size_t op_part_size(const struct file_op *op, uint64_t at, size_t unit) {
    uint64_t end = at / unit * unit + unit, last = op->offset + op->size;
    return (size_t)((end < last ? end : last) - at);
}

#endif

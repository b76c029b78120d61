/* The power goes: which of the operations that were not synced the disk has, and its files made in
 * a folder. Nothing of the disk is changed, so one disk can be cut many times. */
#include "disk_model_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- which bytes --- */

/* How many of a file's `count` operations a sector has seen; CUT_PREFIX has one answer for all but
 * the sectors of the operation that is torn. */
static size_t cut_reach(const struct cut *cut, const struct node *node, uint64_t sector) {
    uint64_t own = disk_hash(cut->seed, node->number), count = node->op_count;
    if (cut->mode == CUT_ALL)
        return count;
    if (cut->mode == CUT_NONE || count == 0)
        return 0;
    if (cut->mode == CUT_RANDOM) {
        uint64_t dice = disk_hash(own, sector);
        return dice % 4 == 0 ? count : dice % 4 == 1 ? 0 : (dice >> 8) % (count + 1);
    }
    return own % (count + 1);
}

/* Whether the operation after those that CUT_PREFIX has whole reached this sector: its first ones
 * did, in units of 512 or 4096. */
static bool cut_torn(const struct cut *cut, const struct node *node, const struct file_op *op,
                     uint64_t at) {
    if (cut->mode != CUT_PREFIX || op->size == 0)
        return false;
    uint64_t dice = disk_hash(cut->seed ^ 0x7ea5, node->number);
    uint64_t unit = dice % 2 == 0 ? SECTOR : PAGE;
    uint64_t units = (op->size + unit - 1) / unit;
    return at / unit < op->offset / unit + (dice >> 8) % (units + 1);
}

/* A sector of the part that the file has grown by holds what the new size promises. */
static size_t sector_reach(const struct cut *cut, const struct node *node, uint64_t sector) {
    size_t own = cut_reach(cut, node, sector), size = cut_reach(cut, node, UINT64_MAX);
    bool behind = (sector + 1) * SECTOR > node->size;
    return behind && !cut->strict && size > own ? size : own;
}

/* The file's size after an operation of which only the first sectors came to the disk. */
static uint64_t torn_size(const struct cut *cut, const struct node *node,
                          const struct file_op *op) {
    uint64_t end = op->offset;
    if (cut->strict)
        return cut_torn(cut, node, op, op->offset) ? op->length : 0;
    while (end < op->length && cut_torn(cut, node, op, end))
        end += op_part_size(op, end, SECTOR);
    return end == op->offset ? 0 : end;
}

/* Whether the operation's part in the sector at `at` is on the disk. */
static bool op_reached(const struct cut *cut, const struct node *node, size_t index, uint64_t at) {
    size_t reach = sector_reach(cut, node, at / SECTOR);
    return index < reach || (index == reach && cut_torn(cut, node, &node->ops[index], at));
}

/* From `at` on: the end of the sectors that are all there, or all not. */
static uint64_t run_end(const struct cut *cut, const struct node *node, size_t index, uint64_t at) {
    const struct file_op *op = &node->ops[index];
    bool reached = op_reached(cut, node, index, at);
    uint64_t last = op->offset + op->size;
    do
        at += op_part_size(op, at, SECTOR);
    while (at < last && op_reached(cut, node, index, at) == reached);
    return at;
}

static int put_run(const struct file_op *op, uint64_t at, uint64_t end, int file) {
    static const uint8_t zeros[16 * PAGE];
    for (uint64_t size; at < end; at += size) {
        size = op->data == NULL && end - at > sizeof(zeros) ? sizeof(zeros) : end - at;
        const uint8_t *data = op->data != NULL ? op->data + (at - op->offset) : zeros;
        if (pwrite(file, data, size, (off_t)at) != (ssize_t)size)
            return -1;
    }
    return 0;
}

static int put_op(const struct cut *cut, const struct node *node, size_t index, int file) {
    const struct file_op *op = &node->ops[index];
    for (uint64_t at = op->offset, end; at < op->offset + op->size; at = end) {
        end = run_end(cut, node, index, at);
        if (op_reached(cut, node, index, at) && put_run(op, at, end, file) != 0)
            return -1;
    }
    return 0;
}

static int put_pages(const struct node *node, int file) {
    for (uint64_t i = 0; i < node->page_count; i++)
        if (node->pages[i] != NULL && pwrite(file, node->pages[i], PAGE, (off_t)(i * PAGE)) != PAGE)
            return -1;
    return ftruncate(file, (off_t)node->size);
}

/* The size goes by its own reach; what is written behind it is cut off at the end. */
static int put_file(const struct cut *cut, const struct node *node, int file) {
    uint64_t size = node->size;
    size_t reach = cut_reach(cut, node, UINT64_MAX);
    int result = put_pages(node, file);
    for (size_t i = 0; result == 0 && i < node->op_count; i++) {
        const struct file_op *op = &node->ops[i];
        uint64_t torn = i == reach ? torn_size(cut, node, op) : 0;
        result = put_op(cut, node, i, file);
        if (i < reach && (!op->grows || op->length > size))
            size = op->length;
        else if (torn > size)
            size = torn;
        if (result == 0 && i < reach && !op->grows)
            result = ftruncate(file, (off_t)op->length);
    }
    return result == 0 ? ftruncate(file, (off_t)size) : result;
}

/* --- which names --- */

/* The names as of the cut, for each folder. */
struct tree {
    const struct node *folder;
    struct entries entries;
};

struct trees {
    struct tree *all;
    size_t count;
};

static struct entries *tree_of(struct trees *trees, const struct node *folder) {
    for (size_t i = 0; i < trees->count; i++)
        if (trees->all[i].folder == folder)
            return &trees->all[i].entries;
    trees->all = disk_grown(trees->all, trees->count, sizeof(trees->all[0]));
    struct tree *tree = &trees->all[trees->count++];
    *tree = (struct tree){.folder = folder};
    for (size_t i = 0; i < folder->synced.count; i++)
        entries_put(&tree->entries, folder->synced.all[i].name, folder->synced.all[i].node);
    return &tree->entries;
}

static bool same_name(const struct node *a, const char *a_name, const struct node *b,
                      const char *b_name) {
    return a != NULL && a == b && strcmp(a_name, b_name) == 0;
}

/* Whether one of the changes that were dropped is of a name of this one: then it cannot be there
 * either. */
static bool name_stuck(const struct disk *disk, const bool *dropped, size_t index) {
    const struct name_op *op = &disk->names[index];
    for (size_t i = 0; i < index; i++) {
        const struct name_op *old = &disk->names[i];
        if (dropped[i] && (same_name(op->from, op->from_name, old->from, old->from_name) ||
                           same_name(op->from, op->from_name, old->to, old->to_name) ||
                           same_name(op->to, op->to_name, old->from, old->from_name) ||
                           same_name(op->to, op->to_name, old->to, old->to_name)))
            return true;
    }
    return false;
}

static bool name_dropped(const struct disk *disk, const struct cut *cut, const bool *dropped,
                         size_t index) {
    uint64_t dice = disk_hash(cut->seed ^ 0x4a3e, 0);
    if (cut->mode == CUT_ALL)
        return false;
    if (cut->mode == CUT_NONE)
        return true;
    if (cut->mode == CUT_PREFIX)
        return index >= dice % (disk->name_count + 1);
    return name_stuck(disk, dropped, index) || disk_hash(dice, index) % 2 == 0;
}

static void trees_make(const struct disk *disk, const struct cut *cut, struct trees *trees) {
    bool *dropped = calloc(disk->name_count + 1, sizeof(bool));
    if (dropped == NULL)
        abort();
    for (size_t i = 0; i < disk->name_count; i++) {
        const struct name_op *op = &disk->names[i];
        dropped[i] = name_dropped(disk, cut, dropped, i);
        if (!dropped[i] && op->from != NULL)
            entries_remove(tree_of(trees, op->from), op->from_name);
        if (!dropped[i] && op->to != NULL)
            entries_put(tree_of(trees, op->to), op->to_name, op->node);
    }
    free(dropped);
}

static int make_file(const struct cut *cut, const struct node *node, const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return -1;
    int result = put_file(cut, node, file);
    close(file);
    return result;
}

static int make_folder(struct trees *trees, const struct cut *cut, const struct node *folder,
                       const char *path) {
    size_t count = tree_of(trees, folder)->count;
    int result = 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct entry entry = tree_of(trees, folder)->all[i];
        char name[4096];
        snprintf(name, sizeof(name), "%s/%s", path, entry.name);
        if (!entry.node->is_folder)
            result = make_file(cut, entry.node, name);
        else if ((result = mkdir(name, 0700)) == 0)
            result = make_folder(trees, cut, entry.node, name);
    }
    return result;
}

int disk_make(const struct disk *disk, const struct cut *cut, const char *path) {
    struct trees trees = {0};
    trees_make(disk, cut, &trees);
    int result = make_folder(&trees, cut, disk->root, path);
    for (size_t i = 0; i < trees.count; i++)
        entries_free(&trees.all[i].entries);
    free(trees.all);
    return result;
}

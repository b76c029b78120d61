/* Takes the records of a journal and keeps, for each file and folder, what is on the disk and what
 * may be: the operations since its last sync. What a cut leaves of them is in disk_cut.c. */
#include "disk_model_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct open_node {
    uint64_t number;
    struct node *node;
};

struct sync {
    uint64_t file, pair, at;
};

uint64_t disk_hash(uint64_t seed, uint64_t number) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u + number + 0x632be59bd9b4e019u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void *disk_grown(void *array, size_t count, size_t size) {
    if ((count & (count - 1)) != 0 && count != 0)
        return array;
    void *more = realloc(array, (count == 0 ? 1 : 2 * count) * size);
    if (more == NULL)
        abort();
    return more;
}

static _Noreturn void wrong(const struct disk *disk, const char *what, const char *name) {
    fprintf(stderr, "the journal's record %llu: %s %s\n", (unsigned long long)disk->at, what, name);
    exit(2);
}

/* --- nodes and names --- */

static struct node *node_new(struct disk *disk, bool is_folder) {
    struct node *node = calloc(1, sizeof(*node));
    if (node == NULL)
        abort();
    node->is_folder = is_folder;
    node->number = ++disk->node_count;
    node->next = disk->nodes;
    disk->nodes = node;
    return node;
}

static struct entry *entries_find(const struct entries *entries, const char *name) {
    for (size_t i = 0; i < entries->count; i++)
        if (strcmp(entries->all[i].name, name) == 0)
            return &entries->all[i];
    return NULL;
}

void entries_remove(struct entries *entries, const char *name) {
    struct entry *entry = entries_find(entries, name);
    if (entry == NULL)
        return;
    free(entry->name);
    *entry = entries->all[--entries->count];
}

void entries_put(struct entries *entries, const char *name, struct node *node) {
    entries_remove(entries, name);
    entries->all = disk_grown(entries->all, entries->count, sizeof(entries->all[0]));
    entries->all[entries->count++] = (struct entry){strdup(name), node};
}

void entries_free(struct entries *entries) {
    for (size_t i = 0; i < entries->count; i++)
        free(entries->all[i].name);
    free(entries->all);
    *entries = (struct entries){0};
}

/* The folder that the path's last name is in, as the program sees it; *name is that last name. */
static struct node *folder_of(struct disk *disk, char *path, char **name) {
    struct node *folder = disk->root;
    for (char *slash; (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        *slash = '\0';
        struct entry *entry = entries_find(&folder->seen, path);
        if (entry == NULL || !entry->node->is_folder)
            wrong(disk, "no such folder:", path);
        folder = entry->node;
    }
    *name = path;
    return folder;
}

static struct node *node_at(struct disk *disk, char *path) {
    char *name = NULL;
    if (*path == '\0')
        return disk->root;
    const struct node *folder = folder_of(disk, path, &name);
    struct entry *entry = entries_find(&folder->seen, name);
    if (entry == NULL)
        wrong(disk, "no such file:", name);
    return entry->node;
}

static void name_change(struct disk *disk, struct name_op op) {
    op.at = disk->at;
    if (op.from != NULL) {
        op.from_name = strdup(op.from_name);
        entries_remove(&op.from->seen, op.from_name);
    }
    if (op.to != NULL) {
        op.to_name = strdup(op.to_name);
        entries_put(&op.to->seen, op.to_name, op.node);
    }
    disk->names = disk_grown(disk->names, disk->name_count, sizeof(op));
    disk->names[disk->name_count++] = op;
}

static void name_op_settle(const struct name_op *op) {
    if (op->from != NULL)
        entries_remove(&op->from->synced, op->from_name);
    if (op->to != NULL)
        entries_put(&op->to->synced, op->to_name, op->node);
}

/* A folder was synced: the changes of its names before `at` are on the disk. Or a file was: so is
 * its name. */
static void names_settle(struct disk *disk, const struct node *synced, uint64_t at) {
    size_t kept = 0;
    for (size_t i = 0; i < disk->name_count; i++) {
        struct name_op *op = &disk->names[i];
        if (op->at < at && (op->from == synced || op->to == synced || op->node == synced)) {
            name_op_settle(op);
            free(op->from_name);
            free(op->to_name);
        } else
            disk->names[kept++] = *op;
    }
    disk->name_count = kept;
}

/* --- bytes on the disk --- */

static void pages_reserve(struct node *node, uint64_t size) {
    uint64_t count = (size + PAGE - 1) / PAGE;
    if (count <= node->page_count)
        return;
    count += count / 2;
    node->pages = realloc(node->pages, count * sizeof(node->pages[0]));
    if (node->pages == NULL)
        abort();
    memset(node->pages + node->page_count, 0, (count - node->page_count) * sizeof(node->pages[0]));
    node->page_count = count;
}

/* Within one page. */
static void page_put(struct node *node, uint64_t offset, const uint8_t *data, size_t size) {
    uint8_t **page = &node->pages[offset / PAGE];
    if (*page == NULL && data == NULL)
        return;
    if (*page == NULL && (*page = calloc(1, PAGE)) == NULL)
        abort();
    if (data != NULL)
        memcpy(*page + offset % PAGE, data, size);
    else
        memset(*page + offset % PAGE, 0, size);
}

static void file_resize(struct node *node, uint64_t size) {
    for (uint64_t at = size; at < node->size && at / PAGE < node->page_count;
         at = at / PAGE * PAGE + PAGE)
        page_put(node, at, NULL, PAGE - at % PAGE);
    node->size = size;
}

static void op_settle(struct node *node, const struct file_op *op) {
    pages_reserve(node, op->offset + op->size);
    for (uint64_t at = op->offset, size; at < op->offset + op->size; at += size) {
        size = op_part_size(op, at, PAGE);
        page_put(node, at, op->data != NULL ? op->data + (at - op->offset) : NULL, size);
    }
    if (!op->grows || op->length > node->size)
        file_resize(node, op->length);
}

/* A failed sync: what it should have written is on the disk or not, sector by sector, and nobody
 * will try again. */
static void op_lose(const struct disk *disk, struct node *node, const struct file_op *op) {
    pages_reserve(node, op->offset + op->size);
    for (uint64_t at = op->offset, size; at < op->offset + op->size; at += size) {
        size = op_part_size(op, at, SECTOR);
        if (disk_hash(disk->seed ^ disk->at, at / SECTOR) % 2 == 0)
            page_put(node, at, op->data != NULL ? op->data + (at - op->offset) : NULL, size);
    }
    if (!op->grows || op->length > node->size)
        file_resize(node, op->length);
}

/* A sync that began at `sync->at`. A durable write that is under way is not covered, unless its
 * process was killed. */
static void ops_settle(const struct disk *disk, struct node *node, const struct sync *sync,
                       bool lost) {
    size_t kept = 0;
    for (size_t i = 0; i < node->op_count; i++) {
        struct file_op *op = &node->ops[i];
        bool under_way = op->pair != 0 && op->process == (uint32_t)(sync->file >> 32);
        if (op->at >= sync->at || under_way)
            node->ops[kept++] = *op;
        else if (lost)
            op_lose(disk, node, op);
        else
            op_settle(node, op);
    }
    node->op_count = kept;
}

/* A durable write is done: it is on the disk, and so is what was before in the same place. File
 * systems write all that is known of the file with it, so its size too; POSIX asks only for what is
 * needed to read the bytes again. */
static void pair_settle(struct disk *disk, struct node *node, uint64_t pair) {
    struct file_op done = {0};
    for (size_t i = 0; i < node->op_count; i++)
        if (node->ops[i].pair == pair)
            done = node->ops[i];
    if (done.pair == 0)
        wrong(disk, "no such write", "");
    size_t kept = 0;
    for (size_t i = 0; i < node->op_count; i++) {
        struct file_op *op = &node->ops[i];
        bool meets = op->at <= done.at && op->offset < done.offset + done.size &&
                     done.offset < op->offset + op->size;
        bool sizes = op->at <= done.at && op->size == 0 && !disk->strict;
        if (op->pair == pair || ((meets || sizes) && op->pair == 0))
            op_settle(node, op);
        else
            node->ops[kept++] = *op;
    }
    node->op_count = kept;
}

static void op_add(struct disk *disk, struct node *node, struct file_op op) {
    op.at = disk->at;
    node->ops = disk_grown(node->ops, node->op_count, sizeof(op));
    node->ops[node->op_count++] = op;
}

/* --- records --- */

static struct node *open_find(struct disk *disk, uint64_t number) {
    for (size_t i = disk->open_count; i-- > 0;)
        if (disk->open[i].number == number)
            return disk->open[i].node;
    wrong(disk, "no such open file", "");
}

static void on_open(struct disk *disk, const struct shim_record *record, char *path) {
    char *name;
    struct node *node;
    if ((record->flags & SHIM_CREATED) != 0) {
        struct node *folder = folder_of(disk, path, &name);
        node = node_new(disk, false);
        name_change(disk, (struct name_op){.to = folder, .to_name = name, .node = node});
    } else
        node = node_at(disk, path);
    if ((record->flags & SHIM_TRUNCATED) != 0)
        op_add(disk, node, (struct file_op){.length = 0});
    disk->open = disk_grown(disk->open, disk->open_count, sizeof(disk->open[0]));
    disk->open[disk->open_count++] = (struct open_node){record->file, node};
}

static void on_close(struct disk *disk, uint64_t number) {
    for (size_t i = 0; i < disk->open_count; i++)
        if (disk->open[i].number == number) {
            disk->open[i] = disk->open[--disk->open_count];
            return;
        }
}

static void on_write(struct disk *disk, const struct shim_record *record) {
    bool begun = (record->flags & SHIM_BEGUN) != 0;
    struct file_op op = {.offset = record->offset,
                         .size = record->size - sizeof(*record),
                         .data = (const uint8_t *)(record + 1),
                         .pair = begun ? record->length : 0,
                         .grows = true,
                         .process = (uint32_t)(record->file >> 32)};
    op.length = op.offset + op.size;
    op_add(disk, open_find(disk, record->file), op);
}

static void on_allocate(struct disk *disk, const struct shim_record *record) {
    struct file_op op = {.offset = record->offset, .grows = true};
    if ((record->flags & SHIM_ZEROED) != 0)
        op.size = record->length;
    if ((record->flags & SHIM_CREATED) != 0)
        op.length = record->offset + record->length;
    op_add(disk, open_find(disk, record->file), op);
}

static void on_sync(struct disk *disk, const struct shim_record *record) {
    for (size_t i = disk->sync_count; i-- > 0;) {
        struct sync sync = disk->syncs[i];
        if (sync.file != record->file || sync.pair != record->offset)
            continue;
        disk->syncs[i] = disk->syncs[--disk->sync_count];
        struct node *node = open_find(disk, record->file);
        bool lost = record->kind == SHIM_SYNC_LOST;
        if (!node->is_folder && !(lost && disk->powered))
            ops_settle(disk, node, &sync, lost);
        if (!lost && (node->is_folder || !disk->strict))
            names_settle(disk, node, sync.at);
        return;
    }
    wrong(disk, "a sync that did not begin", "");
}

static void on_names(struct disk *disk, enum shim_kind kind, char *path, char *second) {
    char *name, *to_name;
    if (kind == SHIM_LINK) {
        struct node *node = node_at(disk, path), *to = folder_of(disk, second, &to_name);
        name_change(disk, (struct name_op){.to = to, .to_name = to_name, .node = node});
        return;
    }
    struct node *folder = folder_of(disk, path, &name);
    struct name_op op = {.from = folder, .from_name = name};
    if (kind == SHIM_RENAME) {
        struct entry *entry = entries_find(&folder->seen, name);
        if (entry == NULL)
            wrong(disk, "no such file:", name);
        op.node = entry->node;
        op.to = folder_of(disk, second, &op.to_name);
    } else if (kind == SHIM_MKDIR)
        op = (struct name_op){.to = folder, .to_name = name, .node = node_new(disk, true)};
    name_change(disk, op);
}

void disk_apply(struct disk *disk, const struct shim_record *record) {
    char paths[8192] = {0};
    size_t size = record->size - sizeof(*record);
    disk->at++;
    if (size < sizeof(paths) - 1)
        memcpy(paths, record + 1, size);
    switch ((enum shim_kind)record->kind) {
    case SHIM_OPEN:
        on_open(disk, record, paths);
        return;
    case SHIM_CLOSE:
        on_close(disk, record->file);
        return;
    case SHIM_WRITE:
        on_write(disk, record);
        return;
    case SHIM_WROTE:
        pair_settle(disk, open_find(disk, record->file), record->offset);
        return;
    case SHIM_SYNC_BEGUN:
        disk->syncs = disk_grown(disk->syncs, disk->sync_count, sizeof(disk->syncs[0]));
        disk->syncs[disk->sync_count++] = (struct sync){record->file, record->offset, disk->at};
        return;
    case SHIM_SYNCED:
    case SHIM_SYNC_LOST:
        on_sync(disk, record);
        return;
    case SHIM_SIZE:
        op_add(disk, open_find(disk, record->file), (struct file_op){.length = record->length});
        return;
    case SHIM_ALLOCATE:
        on_allocate(disk, record);
        return;
    case SHIM_UNSEEN:
        wrong(disk, "written in a way that the shim does not see:", paths);
    case SHIM_MARK:
        return;
    case SHIM_RENAME:
    case SHIM_LINK:
    case SHIM_UNLINK:
    case SHIM_MKDIR:
    case SHIM_RMDIR:
        on_names(disk, (enum shim_kind)record->kind, paths, paths + strlen(paths) + 1);
        return;
    }
    wrong(disk, "unknown", "");
}

struct disk *disk_new(uint64_t seed, bool strict) {
    struct disk *disk = calloc(1, sizeof(*disk));
    if (disk == NULL)
        abort();
    disk->seed = seed;
    disk->strict = strict;
    disk->root = node_new(disk, true);
    return disk;
}

void disk_stay_powered(struct disk *disk) {
    disk->powered = true;
}

static void node_free(struct node *node) {
    for (uint64_t i = 0; i < node->page_count; i++)
        free(node->pages[i]);
    free(node->pages);
    free(node->ops);
    entries_free(&node->synced);
    entries_free(&node->seen);
    free(node);
}

void disk_free(struct disk *disk) {
    for (struct node *node = disk->nodes, *next; node != NULL; node = next) {
        next = node->next;
        node_free(node);
    }
    for (size_t i = 0; i < disk->name_count; i++) {
        free(disk->names[i].from_name);
        free(disk->names[i].to_name);
    }
    free(disk->names);
    free(disk->open);
    free(disk->syncs);
    free(disk);
}

/* Which files to read, and which names from outside may become paths. */
#include "api/transfer/item_source.h"

#include "api/transfer/transfer.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool is_data_file(const char *name) {
    static const char *const others[] = {"manifest-files.json",
                                         "manifest-summary.json",
                                         "manifest-files.md5",
                                         "manifest-summary.md5",
                                         "_started",
                                         "table.json"};
    if (name[0] == '.')
        return false;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

static void add_file(struct file_list *list, const char *path, uint64_t size) {
    if (list->count == list->room) {
        list->room = list->room == 0 ? 16 : list->room * 2;
        list->paths = mem_realloc(list->paths, list->room * sizeof(*list->paths));
    }
    list->paths[list->count++] = mem_str(path);
    list->size += size;
}

struct walk {
    struct file_list *list;
    const char *prefix; /* of whole paths; "" for all */
    struct arena *arena;
    struct failure *failure;
    unsigned depth;
};

static bool may_begin(const char *path, const char *prefix) {
    size_t size = strlen(path), wanted = strlen(prefix);
    return strncmp(path, prefix, size < wanted ? size : wanted) == 0;
}

static enum status walk(struct walk *on, const char *path);

static enum status walk_folder(struct walk *on, const char *path) {
    DIR *dir = on->depth < LIMIT_FOLDER_DEPTH ? opendir(path) : NULL;
    if (dir == NULL)
        return failure_set(on->failure, on->arena, IO_FAILED, "Cannot read the folder %s: %s.",
                           path, strerror(errno));
    enum status status = OK;
    on->depth++;
    for (struct dirent *entry; status == OK && (entry = readdir(dir)) != NULL;) {
        if (!is_data_file(entry->d_name))
            continue;
        char *inner = files_join(path, entry->d_name);
        status = walk(on, inner);
        mem_free(inner);
    }
    on->depth--;
    closedir(dir);
    return status;
}

static enum status walk(struct walk *on, const char *path) {
    struct stat info;
    if (!may_begin(path, on->prefix) || lstat(path, &info) != 0)
        return OK;
    if (S_ISDIR(info.st_mode))
        return walk_folder(on, path);
    if (!S_ISREG(info.st_mode) || strlen(path) < strlen(on->prefix))
        return OK;
    if (on->list->count == LIMIT_IMPORT_FILES)
        return failure_set(on->failure, on->arena, LIMIT_EXCEEDED,
                           "There are more than %d files to import.", LIMIT_IMPORT_FILES);
    add_file(on->list, path, (uint64_t)info.st_size);
    return OK;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum status walk_all(struct walk *on, const char *from) {
    enum status status = walk(on, from);
    if (status == OK && on->list->count == 0)
        return failure_set(on->failure, on->arena, NOT_FOUND, "There are no files to import in %s.",
                           on->prefix[0] != '\0' ? on->prefix : from);
    if (status == OK)
        qsort(on->list->paths, on->list->count, sizeof(char *), compare_paths);
    return status;
}

enum status files_below(struct file_list *list, const char *path, struct scope in) {
    struct walk on = {.list = list, .prefix = "", .arena = in.arena, .failure = in.failure};
    return walk_all(&on, path);
}

enum status files_with_prefix(struct file_list *list, const char *folder, const char *prefix,
                              struct scope in) {
    char *whole = files_join(folder, prefix);
    struct walk on = {.list = list, .prefix = whole, .arena = in.arena, .failure = in.failure};
    enum status status = walk_all(&on, folder);
    mem_free(whole);
    return status;
}

void file_list_release(struct file_list *list) {
    for (size_t i = 0; i < list->count; i++)
        mem_free(list->paths[i]);
    mem_free(list->paths);
    *list = (struct file_list){0};
}

/* --- names from outside that become paths --- */

static bool is_letter(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool transfer_bucket_valid(struct bytes name) {
    if (name.size == 0 || name.size > 255 || !is_letter(name.data[0]) ||
        !is_letter(name.data[name.size - 1]))
        return false;
    for (size_t i = 0; i < name.size; i++)
        if (!is_letter(name.data[i]) && memchr(".-_", name.data[i], 3) == NULL)
            return false;
    return true;
}

/* The part up to the next slash. */
static bool part_valid(struct bytes part) {
    if (part.size == 0 || part.size > 255 || bytes_equal(part, BYTES(".")) ||
        bytes_equal(part, BYTES("..")))
        return false;
    for (size_t i = 0; i < part.size; i++)
        if (part.data[i] < ' ' || part.data[i] == 0x7f)
            return false;
    return true;
}

bool transfer_prefix_valid(struct bytes prefix) {
    if (prefix.size > 1024)
        return false;
    while (prefix.size != 0) {
        size_t end = bytes_find(prefix, BYTES("/"));
        bool last = end == SIZE_MAX;
        if (!part_valid(bytes_of(prefix.data, last ? prefix.size : end)))
            return false;
        prefix = bytes_skip(prefix, last ? prefix.size : end + 1);
    }
    return true;
}

#include "sim_disk.h"

#include "journal.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(bool holds, const char *what) {
    if (holds)
        return;
    perror(what);
    exit(2);
}

static void follow(struct sim_disk *disk, uint64_t late_seed) {
    shim_follow(&(struct shim_settings){.folder = disk->path,
                                        .journal = disk->journal,
                                        .control = &disk->control,
                                        .late_seed = late_seed});
}

/* An empty folder that is followed from now on, into a journal of its own. */
static void follow_new(struct sim_disk *disk) {
    snprintf(disk->path, sizeof(disk->path), "%s/disk-%u", disk->base, disk->cuts);
    must(mkdir(disk->path, 0700) == 0, disk->path);
    disk->journal = memfd_create("journal", MFD_CLOEXEC);
    must(disk->journal >= 0 && fcntl(disk->journal, F_SETFL, O_APPEND) == 0, "journal");
    disk->control = (struct shim_control){0};
    follow(disk, 0);
}

void sim_disk_start(struct sim_disk *disk) {
    follow_new(disk);
    follow(disk, disk->late_seed);
}

static int sync_one(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info, (void)type, (void)where;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    int result = file >= 0 ? fsync(file) : -1;
    if (file >= 0)
        close(file);
    return result;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info, (void)type, (void)where;
    return remove(path);
}

void sim_disk_replace(struct sim_disk *disk, const struct cut *cut) {
    struct journal journal = {0};
    struct disk *model = disk_new(cut->seed, cut->strict);
    char before[SIM_PATH_SIZE];
    snprintf(before, sizeof(before), "%s", disk->path);
    shim_follow(NULL);
    if (journal_read(&journal, disk->journal))
        for (size_t i = 0; i < journal.count; i++)
            disk_apply(model, journal_at(&journal, i));
    close(disk->journal);
    disk->cuts++;
    follow_new(disk);
    must(disk_make(model, cut, disk->path) == 0, "disk_make");
    must(nftw(disk->path, sync_one, 16, FTW_PHYS) == 0, "sync"); /* what is there, is */
    follow(disk, disk->late_seed);
    must(nftw(before, remove_one, 16, FTW_PHYS | FTW_DEPTH) == 0, "remove");
    disk_free(model);
    journal_release(&journal);
}

void sim_disk_end(struct sim_disk *disk) {
    shim_follow(NULL);
    close(disk->journal);
    nftw(disk->path, remove_one, 16, FTW_PHYS | FTW_DEPTH);
}

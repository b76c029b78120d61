/* The simulated disk: a folder that the file shim follows (tests/shim/file_shim.h), and, when the
 * power goes, the folder that may be left of it (tests/disk/disk_model.h). One thread. */
#ifndef GT_TEST_SIM_DISK_H
#define GT_TEST_SIM_DISK_H

#include "disk_model.h"
#include "file_shim.h"

enum { SIM_PATH_SIZE = 256 };

struct sim_disk {
    char base[SIM_PATH_SIZE - 64]; /* where folders are made; exists */
    char path[SIM_PATH_SIZE];      /* the disk as the program sees it */
    int journal;
    unsigned cuts;
    uint64_t late_seed;
    struct shim_control control;
};

/* An empty disk. */
void sim_disk_start(struct sim_disk *disk);
/* The power has gone and nobody has a file open: makes what is left, in another folder, and turns
 * the power on. */
void sim_disk_replace(struct sim_disk *disk, const struct cut *cut);
/* Removes it. */
void sim_disk_end(struct sim_disk *disk);

#endif

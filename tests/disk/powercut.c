/* Cuts the power, thousands of times, from one recorded run.
 *
 *   powercut JOURNAL [--disks N] [--seed N] [--only I] [--folder DIR] [--same DIR] [--keep DIR]
 * [--strict]
 *
 * Makes N disks as they may be after a cut somewhere in the run (disk_model.h), in DIR, opens each
 * and checks that every write that was acknowledged before the cut is there and that nothing is
 * there by half (ack_model.h). --same compares the folder that the run really left, which proves
 * that the journal has all that happened. --only makes one disk again, and --keep leaves disks that
 * failed. Two processes work side by side; each disk is opened in a process of its own, so that one
 * that ends it is told like any other fault. */
#include "ack_model.h"
#include "disk_model.h"
#include "journal.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 2, SECONDS_MAX = 60 };

struct run {
    struct journal journal;
    uint64_t seed, disks;
    int64_t only;
    bool strict;
    const char *folder, *keep;
};

/* --- where to cut --- */

static bool is_turning_point(const struct shim_record *record) {
    return record->kind != SHIM_MARK && record->kind != SHIM_WRITE && record->kind != SHIM_CLOSE &&
           !(record->kind == SHIM_OPEN && record->flags == 0);
}

/* Half of the cuts are anywhere, half are within three records of a sync, a rename or the like. */
static size_t cut_place(const struct run *run, uint64_t disk) {
    uint64_t dice = disk_hash(run->seed, disk * 2);
    size_t place = (size_t)(dice >> 8) % (run->journal.count + 1);
    if (dice % 2 == 0)
        return place;
    size_t near = place;
    while (near < run->journal.count && !is_turning_point(journal_at(&run->journal, near)))
        near++;
    near += (size_t)(dice >> 3) % 6;
    return near < 3 || near - 3 > run->journal.count ? place : near - 3;
}

struct disk_plan {
    uint64_t number;
    size_t place;
};

static int plan_order(const void *a, const void *b) {
    const struct disk_plan *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* --- one disk --- */

static void folder_clear(const char *path) {
    char command[4200];
    snprintf(command, sizeof(command), "rm -rf '%s'", path);
    if (system(command) != 0)
        exit(2);
}

static void folder_keep(const struct run *run, const char *path, uint64_t number) {
    char command[8400];
    if (run->keep == NULL)
        return;
    snprintf(command, sizeof(command), "mkdir -p '%s' && cp -r '%s' '%s/disk-%llu'", run->keep,
             path, run->keep, (unsigned long long)number);
    if (system(command) != 0)
        fprintf(stderr, "    the disk could not be kept\n");
}

static _Noreturn void check_here(const struct ack_model *model, const char *path, uint64_t number) {
    struct ack_check check = {
        .path = path, .verify = number % 4 == 1, .write_again = number % 4 == 2};
    alarm(SECONDS_MAX);
    _exit(ack_model_check(model, &check) ? 0 : 1);
}

static bool check_apart(const struct ack_model *model, const char *path, uint64_t number) {
    int result = 0;
    pid_t child = fork();
    if (child == 0)
        check_here(model, path, number);
    if (child < 0 || waitpid(child, &result, 0) != child)
        exit(2);
    if (WIFSIGNALED(result))
        fprintf(stderr, "    the process was ended by signal %d\n", WTERMSIG(result));
    return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

static const char *const mode_names[CUT_MODES] = {"all kept", "only what was synced", "torn",
                                                  "any sectors"};

static bool disk_try(const struct run *run, const struct disk *disk, const struct ack_model *model,
                     const struct disk_plan *plan) {
    static const enum cut_mode modes[] = {CUT_ALL,    CUT_NONE,   CUT_PREFIX,
                                          CUT_RANDOM, CUT_PREFIX, CUT_RANDOM};
    uint64_t dice = disk_hash(run->seed, plan->number * 2 + 1);
    struct cut cut = {modes[dice % 6], dice, run->strict};
    char path[4096], kept[4096];
    snprintf(path, sizeof(path), "%s/disk-%llu", run->folder, (unsigned long long)plan->number);
    folder_clear(path);
    if (mkdir(path, 0700) != 0 || disk_make(disk, &cut, path) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    if (run->keep != NULL) { /* an opening changes it */
        snprintf(kept, sizeof(kept), "%.4000s.kept", path);
        folder_clear(kept);
        char command[8400];
        snprintf(command, sizeof(command), "cp -r '%s' '%s'", path, kept);
        if (system(command) != 0)
            exit(2);
    }
    bool good = check_apart(model, path, plan->number);
    if (!good) {
        fprintf(stderr,
                "  disk %llu (cut after record %zu of %zu, %s, %llu acknowledged) is wrong: --seed "
                "%llu --only %llu\n",
                (unsigned long long)plan->number, plan->place, run->journal.count,
                mode_names[cut.mode], (unsigned long long)ack_model_done(model),
                (unsigned long long)run->seed, (unsigned long long)plan->number);
        folder_keep(run, run->keep != NULL ? kept : path, plan->number);
    }
    folder_clear(path);
    if (run->keep != NULL)
        folder_clear(kept);
    return good;
}

/* --- a worker's share --- */

static void step(const struct run *run, size_t index, struct disk *disk, struct ack_model *model) {
    const struct shim_record *record = journal_at(&run->journal, index);
    disk_apply(disk, record);
    if (record->kind == SHIM_MARK)
        ack_model_mark(model, (const char *)(record + 1), record->size - sizeof(*record));
}

static uint64_t work(const struct run *run, const struct disk_plan *plans, uint64_t worker) {
    struct disk *disk = disk_new(run->seed, run->strict);
    struct ack_model *model = ack_model_new();
    uint64_t wrong = 0;
    size_t at = 0;
    for (uint64_t i = 0; i < run->disks; i++) {
        if (run->only >= 0 ? plans[i].number != (uint64_t)run->only || worker != 0
                           : i % WORKERS != worker)
            continue;
        while (at < plans[i].place)
            step(run, at++, disk, model);
        wrong += !disk_try(run, disk, model, &plans[i]);
    }
    ack_model_free(model);
    disk_free(disk);
    return wrong;
}

static uint64_t work_all(const struct run *run) {
    struct disk_plan *plans = calloc(run->disks, sizeof(plans[0]));
    if (plans == NULL)
        abort();
    for (uint64_t i = 0; i < run->disks; i++)
        plans[i] = (struct disk_plan){i, cut_place(run, i)};
    qsort(plans, run->disks, sizeof(plans[0]), plan_order);
    pid_t workers[WORKERS];
    uint64_t wrong = 0;
    for (int w = 0; w < WORKERS; w++)
        if ((workers[w] = fork()) == 0) {
            uint64_t mine = work(run, plans, (uint64_t)w);
            _exit(mine > 100 ? 100 : (int)mine);
        }
    for (int w = 0; w < WORKERS; w++) {
        int result = 0;
        waitpid(workers[w], &result, 0);
        wrong += WIFEXITED(result) ? (uint64_t)WEXITSTATUS(result) : 1;
    }
    free(plans);
    return wrong;
}

/* --- the whole --- */

static bool same_folder(const struct run *run, const char *real) {
    struct disk *disk = disk_new(run->seed, run->strict);
    struct cut all = {.mode = CUT_ALL};
    char path[4096], command[8400];
    disk_stay_powered(disk);
    for (size_t i = 0; i < run->journal.count; i++)
        disk_apply(disk, journal_at(&run->journal, i));
    snprintf(path, sizeof(path), "%s/same", run->folder);
    folder_clear(path);
    bool same = mkdir(path, 0700) == 0 && disk_make(disk, &all, path) == 0;
    snprintf(command, sizeof(command), "diff -r '%s' '%s' >&2", real, path);
    same = same && system(command) == 0;
    folder_clear(path);
    disk_free(disk);
    return same;
}

static bool report(const struct run *run, uint64_t wrong) {
    printf("powercut: %llu disks of a run with %zu file operations, %llu wrong (SEED=%llu)\n",
           (unsigned long long)(run->only >= 0 ? 1 : run->disks), run->journal.count,
           (unsigned long long)wrong, (unsigned long long)run->seed);
    return wrong == 0;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"disks", 1, NULL, 'd'}, {"seed", 1, NULL, 's'},
                                            {"only", 1, NULL, 'o'},  {"folder", 1, NULL, 'f'},
                                            {"same", 1, NULL, 'S'},  {"strict", 0, NULL, 'n'},
                                            {"keep", 1, NULL, 'k'},  {0}};
    struct run run = {.disks = 300, .seed = 1, .only = -1, .folder = "/tmp"};
    const char *same = NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'd')
            run.disks = strtoull(optarg, NULL, 10);
        else if (option == 's')
            run.seed = strtoull(optarg, NULL, 10);
        else if (option == 'o')
            run.only = strtoll(optarg, NULL, 10);
        else if (option == 'f')
            run.folder = optarg;
        else if (option == 'S')
            same = optarg;
        else if (option == 'n')
            run.strict = true;
        else if (option == 'k')
            run.keep = optarg;
        else
            return 2;
    }
    if (optind != argc - 1 || !journal_open(&run.journal, argv[optind])) {
        fputs("usage: powercut JOURNAL [--disks N] [--seed N] [--only I] [--folder DIR] [--same "
              "DIR] [--keep DIR]\n",
              stderr);
        return 2;
    }
    if (same != NULL && !same_folder(&run, same)) {
        fputs("powercut: the journal does not make the folder that the run left\n", stderr);
        return 2;
    }
    return report(&run, work_all(&run)) ? 0 : 1;
}

/* The engine on a simulated disk and a simulated clock.
 *
 *   sim [--seed N] [--count N] [--folder DIR] [--times N]
 *
 * Each seed is a run of its own in a process of its own, two at a time: the engine is opened, is
 * asked for writes, file operations fail or come late, clocks are set, time passes, the power goes
 * at some operation, and the engine is opened again on what the disk may have kept. After each of
 * these all that it has is held against the model of what it has acknowledged. README.md says more.
 */
#include "sim_clock.h"
#include "sim_disk.h"
#include "sim_load.h"

#include "base/clock.h"
#include "base/mem.h"
#include "table/local/local.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 2, SECONDS_MAX = 120, TRIES = 40, HOUR_MS = 60 * 60 * 1000 };

struct sim {
    struct random random;
    struct sim_disk disk;
    struct sim_load load;
    size_t table_from; /* of the store: all is ingested, or hardly anything */
    int64_t passed_ms; /* streams keep a day: less than that passes in all */
};

static uint64_t below(struct sim *sim, uint64_t bound) {
    return random_below(&sim->random, bound);
}

static _Noreturn void wrong(const char *what) {
    fprintf(stderr, "    %s\n", what);
    exit(1);
}

/* --- faults --- */

static void fault_arm(struct sim *sim) {
    static const uint32_t errors[] = {EIO, ENOSPC, 0};
    static const enum shim_fault often[] = {FAULT_WRITE, FAULT_SYNC, FAULT_SYNC, FAULT_RENAME};
    struct shim_control *control = &sim->disk.control;
    uint32_t kind = below(sim, 2) == 0 ? (uint32_t)often[below(sim, 4)]
                                       : 1 + (uint32_t)below(sim, FAULT_KINDS - 1);
    control->error = errors[below(sim, kind == FAULT_WRITE ? 3 : 2)];
    control->times = 1 + below(sim, 3);
    control->kind = kind;
    __atomic_store_n(&control->in, 1 + below(sim, 20), __ATOMIC_RELEASE);
}

static void fault_heal(struct sim *sim) {
    __atomic_store_n(&sim->disk.control.in, 0, __ATOMIC_RELEASE);
}

/* --- the engine --- */

static enum status engine_try_open(struct sim *sim) {
    char path[SIM_PATH_SIZE + 8];
    struct arena arena;
    struct failure failure = {0};
    snprintf(path, sizeof(path), "%s/data", sim->disk.path);
    struct local_settings settings = {
        .store = {.path = path, .buffer_size = 8 * 1024, .table_from = sim->table_from},
        .cache_memory = 1 << 20,
        .threads = 1};
    arena_init(&arena);
    enum status status = local_open(&settings, (struct scope){&arena, &failure}, &sim->load.engine);
    if (status != OK) {
        sim->load.engine = NULL;
        fprintf(stderr, "    opening: %s: %.*s\n", status_name(status), BYTES_ARG(failure.text));
    }
    arena_release(&arena);
    return status;
}

/* Opens it. A disk that fails may keep it from that once. False: the power has gone. */
static bool engine_start(struct sim *sim) {
    if (engine_try_open(sim) == OK)
        return true;
    fault_heal(sim);
    if (shim_power_is_off())
        return false;
    if (engine_try_open(sim) == OK)
        return true;
    if (!shim_power_is_off())
        wrong("it cannot be opened on a disk that works");
    return false;
}

static void engine_stop(struct sim *sim) {
    if (sim->load.engine != NULL)
        engine_close(sim->load.engine);
    sim->load.engine = NULL;
}

/* --- checking --- */

/* All that the engine has is right; unless the power went meanwhile: then nobody knows. */
static void check(struct sim *sim) {
    struct engine_figures figures;
    fault_heal(sim);
    bool right = sim_load_check(&sim->load);
    if (shim_power_is_off())
        return;
    if (!right)
        wrong("that is not what was acknowledged");
    engine_figures(sim->load.engine, &figures);
    if (!figures.refusing_writes)
        ack_model_settle(sim->load.model);
}

/* The disk works again: so does the engine, by itself. */
static void recover(struct sim *sim) {
    fault_heal(sim);
    bool taken = false;
    for (int i = 0; i < TRIES && !taken && !shim_power_is_off(); i++) {
        sim_clock_pass(300); /* it tries now and then */
        taken = sim_load_table(&sim->load) && sim_load_write(&sim->load);
    }
    if (!taken && !shim_power_is_off())
        wrong("it takes no writes on a disk that works");
    if (!shim_power_is_off())
        check(sim);
}

/* --- what happens --- */

static void do_writes(struct sim *sim) {
    for (uint64_t i = 1 + below(sim, 6); i > 0; i--)
        if (!sim_load_write(&sim->load)) {
            recover(sim);
            return;
        }
}

static void do_faults(struct sim *sim) {
    fault_arm(sim);
    do_writes(sim);
}

/* A wall clock that is wrong for some seconds changes nothing. */
static void do_wrong_clock(struct sim *sim) {
    static const int64_t jumps_ms[] = {25 * HOUR_MS, -25 * HOUR_MS, 2 * HOUR_MS, -HOUR_MS / 6};
    int64_t by_ms = jumps_ms[below(sim, 4)];
    sim_clock_set_wall(by_ms);
    do_writes(sim);
    if (!shim_power_is_off() && !sim_load_expire(&sim->load))
        recover(sim);
    if (!shim_power_is_off())
        check(sim);
    sim_clock_set_wall(-by_ms);
    clock_now_ms();
}

/* One that stays where it was set has proved itself after a minute. */
static void do_set_clock(struct sim *sim) {
    int64_t by_ms = (int64_t)below(sim, 50) * 60 * 1000 + 10 * 1000;
    if (sim->passed_ms > 15 * HOUR_MS)
        return;
    sim_clock_set_wall(by_ms);
    clock_now_ms();
    check(sim);
    sim->load.set_ms += by_ms;
    sim->passed_ms += by_ms;
    sim_clock_pass(LIMIT_CLOCK_PROOF_MS + 1000);
    clock_now_ms();
}

static void do_time(struct sim *sim) {
    int64_t ms = (int64_t)below(sim, HOUR_MS);
    if (sim->passed_ms > 15 * HOUR_MS)
        return;
    sim->passed_ms += ms;
    sim_clock_pass(ms);
    if (below(sim, 2) == 0)
        fault_arm(sim);
    if (!sim_load_expire(&sim->load))
        recover(sim);
}

static void do_restart(struct sim *sim) {
    fault_heal(sim);
    engine_stop(sim);
    if (!shim_power_is_off() && engine_start(sim))
        check(sim);
}

static void step(struct sim *sim) {
    static void (*const steps[])(struct sim *) = {
        do_writes,      do_writes,    do_writes, do_faults, do_faults, do_faults,
        do_wrong_clock, do_set_clock, do_time,   check,     do_restart};
    steps[below(sim, sizeof(steps) / sizeof(steps[0]))](sim);
}

/* --- from one power cut to the next --- */

/* Most cuts come at some operation; the others when all is quiet, or after an orderly end. */
static void live(struct sim *sim) {
    uint64_t steps = 2 + below(sim, 8);
    if (below(sim, 4) != 0)
        shim_cut_power(1 + below(sim, below(sim, 2) == 0 ? 60 : 500));
    if (below(sim, 4) == 0)
        fault_arm(sim);
    if (!engine_start(sim))
        return;
    if (!sim_load_table(&sim->load))
        recover(sim);
    if (!shim_power_is_off())
        check(sim);
    while (steps-- > 0 && !shim_power_is_off())
        step(sim);
    fault_heal(sim);
    if (below(sim, 3) == 0)
        engine_stop(sim);
}

static void cut_power(struct sim *sim) {
    shim_cut_power(0);
    engine_stop(sim);
    struct cut cut = {.mode = (enum cut_mode)below(sim, CUT_MODES),
                      .seed = random_next(&sim->random)};
    sim_disk_replace(&sim->disk, &cut);
}

static void verify(struct sim *sim) {
    char path[SIM_PATH_SIZE + 8];
    snprintf(path, sizeof(path), "%s/data", sim->disk.path);
    if (!ack_model_verify(path))
        wrong("that is what gametable verify says");
}

static void run(struct sim *sim) {
    for (uint64_t lives = 1 + below(sim, 4); lives > 0; lives--) {
        live(sim);
        cut_power(sim);
        if (below(sim, 4) == 0)
            verify(sim);
    }
    if (!engine_start(sim))
        wrong("the power is on");
    if (!sim_load_table(&sim->load))
        wrong("there is no table");
    check(sim);
    recover(sim);
    engine_stop(sim);
}

static _Noreturn void run_seed(uint64_t seed, const char *base) {
    struct sim *sim = mem_zalloc(sizeof(*sim));
    random_seed(&sim->random, seed);
    snprintf(sim->disk.base, sizeof(sim->disk.base), "%s", base);
    sim->disk.late_seed = below(sim, 2) == 0 ? 0 : random_next(&sim->random);
    sim->table_from = below(sim, 2);
    sim->load.random = &sim->random;
    sim->load.model = ack_model_new();
    sim_disk_start(&sim->disk);
    run(sim);
    sim_disk_end(&sim->disk);
    ack_model_free(sim->load.model);
    mem_free(sim);
    exit(0);
}

/* --- seeds --- */

struct worker {
    pid_t process; /* 0: none */
    uint64_t seed;
    int output;
    char base[128];
};

static void worker_start(struct worker *worker, uint64_t seed, const char *folder) {
    worker->seed = seed;
    worker->output = memfd_create("output", MFD_CLOEXEC);
    snprintf(worker->base, sizeof(worker->base), "%.80s/gt-sim-XXXXXX", folder);
    if (worker->output < 0 || mkdtemp(worker->base) == NULL) {
        perror(folder);
        exit(2);
    }
    worker->process = fork();
    if (worker->process != 0)
        return;
    dup2(worker->output, STDERR_FILENO);
    alarm(SECONDS_MAX);
    run_seed(seed, worker->base);
}

static void show(int output) {
    char line[4096];
    lseek(output, 0, SEEK_SET);
    for (ssize_t size; (size = read(output, line, sizeof(line))) > 0;)
        fwrite(line, 1, (size_t)size, stderr);
}

/* Whether it went well. What went wrong stays in its folder. */
static bool worker_end(struct worker *worker, int result) {
    bool good = WIFEXITED(result) && WEXITSTATUS(result) == 0;
    if (good)
        rmdir(worker->base);
    else {
        show(worker->output);
        if (WIFSIGNALED(result))
            fprintf(stderr, "    ended by signal %d\n", WTERMSIG(result));
        fprintf(stderr, "  seed %llu is wrong: --seed %llu --count 1; its disk is in %s\n",
                (unsigned long long)worker->seed, (unsigned long long)worker->seed, worker->base);
    }
    close(worker->output);
    worker->process = 0;
    return good;
}

static bool worker_wait(struct worker *workers) {
    int result = 0;
    pid_t process = wait(&result);
    for (int i = 0; i < WORKERS; i++)
        if (process > 0 && workers[i].process == process)
            return worker_end(&workers[i], result);
    return true;
}

static struct worker *worker_idle(struct worker *workers) {
    for (int i = 0; i < WORKERS; i++)
        if (workers[i].process == 0)
            return &workers[i];
    return NULL;
}

struct plan {
    uint64_t seed, count, times;
    const char *folder;
};

static uint64_t run_plan(const struct plan *plan) {
    struct worker workers[WORKERS] = {0}, *idle;
    uint64_t wrongs = 0;
    for (uint64_t i = 0; i < plan->count * plan->times; i++) {
        while ((idle = worker_idle(workers)) == NULL)
            wrongs += !worker_wait(workers);
        worker_start(idle, plan->seed + i / plan->times, plan->folder);
    }
    for (int i = 0; i < WORKERS; i++)
        while (workers[i].process != 0)
            wrongs += !worker_wait(workers);
    return wrongs;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"seed", 1, NULL, 's'},
                                            {"count", 1, NULL, 'c'},
                                            {"times", 1, NULL, 't'},
                                            {"folder", 1, NULL, 'f'},
                                            {0}};
    struct plan plan = {.seed = 1, .count = 1000, .times = 1, .folder = "/tmp"};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 's')
            plan.seed = strtoull(optarg, NULL, 10);
        else if (option == 'c')
            plan.count = strtoull(optarg, NULL, 10);
        else if (option == 't')
            plan.times = strtoull(optarg, NULL, 10);
        else if (option == 'f')
            plan.folder = optarg;
        else
            return 2;
    }
    uint64_t wrongs = run_plan(&plan);
    printf("sim: %llu runs from seed %llu, %llu wrong\n",
           (unsigned long long)(plan.count * plan.times), (unsigned long long)plan.seed,
           (unsigned long long)wrongs);
    return wrongs == 0 ? 0 : 1;
}

#include "shim_faults.h"

#include "shim_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct shim_control *control;
static uint64_t power_in; /* operations until the power goes; 0: it stays */
static bool power_off;
static uint64_t late_seed, late_count;

/* --- setting up --- */

void shim_faults_open(void) {
    const char *path = getenv("SHIM_CONTROL");
    int file = path != NULL ? REAL(open)(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *at = REAL(mmap)(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    control = at != MAP_FAILED ? at : NULL;
    REAL(close)(file);
}

void shim_faults_follow(const struct shim_settings *settings) {
    control = settings != NULL ? settings->control : NULL;
    late_seed = settings != NULL ? settings->late_seed : 0;
    power_in = 0;
    __atomic_store_n(&power_off, false, __ATOMIC_RELEASE);
}

/* --- power, lateness, single faults --- */

void shim_cut_power(uint64_t in) {
    pthread_mutex_lock(&shim_lock);
    power_in = in;
    if (in == 0)
        __atomic_store_n(&power_off, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&shim_lock);
}

bool shim_power_is_off(void) {
    return __atomic_load_n(&power_off, __ATOMIC_ACQUIRE);
}

void shim_be_late(void) {
    if (late_seed == 0)
        return;
    uint64_t dice = __atomic_add_fetch(&late_count, 1, __ATOMIC_RELAXED) * 0x9e3779b97f4a7c15u;
    dice = (dice ^ late_seed) * 0xbf58476d1ce4e5b9u;
    if (dice >> 61 == 0)
        usleep((useconds_t)((dice >> 32) % 500));
}

/* Whether the power is off at this operation, which counts unless it only reads. */
static bool power_fails(enum shim_fault kind) {
    if (kind != FAULT_READ && power_in != 0 && --power_in == 0)
        __atomic_store_n(&power_off, true, __ATOMIC_RELEASE);
    if (!shim_power_is_off())
        return false;
    errno = EIO;
    return true;
}

/* Kills the process if it is told to. The lock is held: what other threads have done is written
 * down, which a signal from outside does not wait for. */
static void die_if_told(void) {
    uint64_t in = control != NULL ? __atomic_load_n(&control->die_in, __ATOMIC_RELAXED) : 0;
    if (in > 1)
        __atomic_store_n(&control->die_in, in - 1, __ATOMIC_RELAXED);
    if (in == 1)
        for (kill(getpid(), SIGKILL);;)
            pause();
}

bool shim_fails(enum shim_fault kind) {
    if (kind != FAULT_READ)
        die_if_told();
    if (power_fails(kind))
        return true;
    if (control == NULL)
        return false;
    __atomic_add_fetch(&control->counts[kind], 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&control->kind, __ATOMIC_RELAXED) != (uint32_t)kind)
        return false;
    uint64_t in = __atomic_load_n(&control->in, __ATOMIC_RELAXED);
    if (in == 0)
        return false;
    if (in > 1) {
        __atomic_store_n(&control->in, in - 1, __ATOMIC_RELAXED);
        return false;
    }
    if (control->times <= 1)
        control->in = 0;
    else
        control->times--;
    control->fired++;
    errno = (int)control->error;
    return true;
}

uint64_t shim_faults_fired(void) {
    return control != NULL ? control->fired : 0;
}

/* --- room --- */

uint64_t shim_blocks_of(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_blocks * 512 : 0;
}

size_t shim_room_for(int fd, uint64_t start, size_t size) {
    if (control == NULL || control->room == 0)
        return size;
    uint64_t has = shim_blocks_of(fd), used = control->used;
    uint64_t end = has + (control->room > used ? control->room - used : 0);
    if (start + size <= end)
        return size;
    return end > start ? (size_t)(end - start) : 0;
}

void shim_room_taken(int fd, uint64_t before) {
    if (control != NULL)
        control->used +=
            shim_blocks_of(fd) - before; /* may be less than before: unsigned numbers do it */
}

void shim_room_freed(const char *path) {
    struct stat info;
    if (control != NULL && lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1)
        control->used -= (uint64_t)info.st_blocks * 512;
}

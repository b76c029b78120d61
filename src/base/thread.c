#include "base/thread.h"

#ifdef __linux__

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cpu_set_t processors; /* that the process could use when a thread was bound first */
static atomic_bool any_bound;

static void find_processors(void) {
    if (sched_getaffinity(getpid(), sizeof(processors), &processors) != 0)
        CPU_ZERO(&processors);
}

int thread_start(pthread_t *out, void *(*run)(void *argument), void *argument) {
    pthread_attr_t attributes;
    if (!atomic_load(&any_bound))
        return pthread_create(out, NULL, run, argument);
    int result = pthread_attr_init(&attributes);
    if (result != 0)
        return result;
    result = pthread_attr_setaffinity_np(&attributes, sizeof(processors), &processors);
    if (result == 0)
        result = pthread_create(out, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return result;
}

int thread_number(void) {
    static _Thread_local int number;
    if (number == 0)
        number = gettid();
    return number;
}

int thread_processor(void) {
    return sched_getcpu();
}

bool thread_bind(int number, int processor) {
    cpu_set_t one;
    pthread_once(&once, find_processors);
    if (CPU_COUNT(&processors) < 2)
        return false;
    atomic_store(&any_bound, true);
    if (processor < 0)
        return sched_setaffinity(number, sizeof(processors), &processors) == 0;
    CPU_ZERO(&one);
    CPU_SET((size_t)processor, &one);
    return sched_setaffinity(number, sizeof(one), &one) == 0;
}

#else

int thread_start(pthread_t *out, void *(*run)(void *argument), void *argument) {
    return pthread_create(out, NULL, run, argument);
}

int thread_number(void) {
    return 0;
}

int thread_processor(void) {
    return -1;
}

bool thread_bind(int number, int processor) {
    (void)number, (void)processor;
    return false;
}

#endif

#include "cli/cmd_copies.h"

#include <signal.h>
#include <stdio.h>

static atomic_bool stopped;

static void note_stop(int number) {
    (void)number;
    atomic_store(&stopped, true);
}

const atomic_bool *copies_catch_signals(void) {
    struct sigaction action = {.sa_handler = note_stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &stopped;
}

int copies_failed(const struct failure *failure) {
    fprintf(stderr, "gametable: %.*s\n", BYTES_ARG(failure->text));
    return 1;
}

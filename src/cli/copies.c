#include "cli/copies.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *const helps[][2] = {
    {"backup",
     "usage: gametable backup [--data DIR] [--id ID] TARGET\n\n"
     "Copies a data folder to the folder TARGET, which is made and must not be there yet.\n\n"
     "  --data DIR    the data folder [./gametable-data]; no server may have it open\n"
     "  --id ID       the backup DIR/backups/ID that CreateBackup made, instead of what is there\n"
     "                now: this works while a server runs, too\n\n"
     "TARGET is a data folder itself: serve from it, verify it, or restore it. It appears when it\n"
     "is whole and on the disk; if it is interrupted, TARGET.partial is left and removed by the\n"
     "next try.\n"},
    {"restore",
     "usage: gametable restore [--data DIR] BACKUP\n\n"
     "Copies the folder BACKUP, which `gametable backup` made, to a data folder that is not there\n"
     "yet or is empty.\n\n"
     "  --data DIR    the data folder to make [./gametable-data]\n\n"
     "DIR appears when it is whole and on the disk; if it is interrupted, DIR.partial is left and\n"
     "removed by the next try. Nothing is overwritten.\n"},
    {"export",
     "usage: gametable export [--data DIR] [--id ID] [--format json|csv] TABLE FOLDER\n\n"
     "Writes a table to files in FOLDER, which is made and must not be there yet: packed lines of\n"
     "typed JSON in FOLDER/data, manifests, and table.json, which says how to make the table.\n\n"
     "  --data DIR    the data folder [./gametable-data]; no server may have it open\n"
     "  --id ID       from the backup DIR/backups/ID instead: while a server runs, too\n"
     "  --format F    json, or csv: one row an item; lists, maps and sets as typed JSON [json]\n\n"
     "FOLDER appears when it is whole and on the disk.\n"},
    {"import",
     "usage: gametable import [--data DIR] [OPTION...] TABLE SOURCE...\n\n"
     "Reads items from files, or from all files in folders, into a table. Files may be packed "
     "with\n"
     "gzip, whatever their names.\n\n"
     "  --data DIR       the data folder [./gametable-data]; no server may have it open\n"
     "  --format F       json (lines of {\"Item\":{...}}) or csv [by the first file's name]\n"
     "  --keys PK[,SK]   the keys of a table to be made: pk:S or pk:S,sk:N; without it the\n"
     "                   table.json of an export says them, and the indexes\n"
     "  --delimiter C    between the fields of CSV [,]\n"
     "  --append         write into a table that has items; those with the same key are "
     "replaced\n\n"
     "A table that is made is there when all is in it, or not at all. With --append, or into an\n"
     "empty table, what was read stays when it is interrupted, and doing it again is harmless.\n"
     "Records that make no sense are passed over and counted; the exit status is then 1.\n"},
};

const char *copies_help(const char *command) {
    for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++)
        if (strcmp(helps[i][0], command) == 0)
            return helps[i][1];
    return NULL;
}

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

/* gametable verify: looks at a data folder offline and says plainly what it found. */
#include "base/limits.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "table/local/local.h"

#include <stdio.h>
#include <string.h>

enum { SENTENCES_MAX = LIMIT_VERIFY_SENTENCES };

struct check {
    struct progress progress;
    uint64_t sentences;
};

static void show_progress(uint64_t done, uint64_t total, void *context) {
    struct check *check = context;
    progress_show(&check->progress, done, total);
}

static void on_fault(struct bytes sentence, void *context) {
    struct check *check = context;
    if (check->sentences++ < SENTENCES_MAX)
        printf("%s%.*s\n", check->progress.shown ? "\r\033[K" : "", BYTES_ARG(sentence));
}

static int report_result(const char *path, const struct check *check,
                         const struct verify_report *report) {
    if (check->sentences > SENTENCES_MAX)
        printf("... and %llu more\n", (unsigned long long)(check->sentences - SENTENCES_MAX));
    printf("%s: %llu tables, %llu items, %llu indexes with %llu entries", path,
           (unsigned long long)report->tables, (unsigned long long)report->items,
           (unsigned long long)report->indexes, (unsigned long long)report->index_entries);
    if (report->stream_records != 0)
        printf(", %llu stream records", (unsigned long long)report->stream_records);
    fputs(": ", stdout);
    if (report->faults == 0) {
        puts("all is well");
        return 0;
    }
    printf("%llu faults. Restore from a backup, or keep a copy of the folder before going on.\n",
           (unsigned long long)report->faults);
    return 1;
}

static const char *folder_of(int argc, char **argv) {
    if (argc == 0)
        return "./gametable-data";
    if (argc == 1 && strncmp(argv[0], "--data=", 7) == 0)
        return argv[0] + 7;
    if (argc == 1 && argv[0][0] != '-')
        return argv[0];
    if (argc == 2 && strcmp(argv[0], "--data") == 0)
        return argv[1];
    return NULL;
}

int command_verify(int argc, char **argv) {
    const char *path = folder_of(argc, argv);
    if (path == NULL) {
        fputs("usage: gametable verify [--data DIR]\n", stderr);
        return 2;
    }
    struct check check = {0};
    struct verify_settings settings = {
        .path = path, .progress = show_progress, .found = on_fault, .context = &check};
    struct verify_report report = {0};
    struct failure failure = {0};
    struct arena arena;
    arena_init(&arena);
    progress_start(&check.progress, "verifying", "items");
    enum status status = local_verify(&settings, (struct scope){&arena, &failure}, &report);
    progress_end(&check.progress, report.items);
    int result = 1;
    if (status == OK)
        result = report_result(path, &check, &report);
    else
        fprintf(stderr, "gametable: %.*s\n", BYTES_ARG(failure.text));
    arena_release(&arena);
    return result;
}

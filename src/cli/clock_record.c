#include "cli/clock_record.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { BOOT_SIZE = 36 };

/* Which start of the machine this is; "-" where the system does not tell. */
static void read_boot(char boot[BOOT_SIZE + 1]) {
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    snprintf(boot, BOOT_SIZE + 1, "-");
    if (file == NULL)
        return;
    if (fscanf(file, "%36s", boot) != 1)
        snprintf(boot, BOOT_SIZE + 1, "-");
    fclose(file);
}

/* --- what is told --- */

static void put_span(char *to, size_t room, int64_t ms) {
    long long minutes = (llabs((long long)ms) + 30000) / 60000;
    if (minutes >= 48 * 60)
        snprintf(to, room, "%lld days", minutes / 60 / 24);
    else if (minutes >= 2)
        snprintf(to, room, "%lld h %02lld min", minutes / 60, minutes % 60);
    else
        snprintf(to, room, "%lld s", llabs((long long)ms) / 1000);
}

static void tell(const struct time_news *news) {
    char apart[32], moved[32];
    put_span(apart, sizeof apart, news->apart_ms);
    put_span(moved, sizeof moved, news->moved_ms);
    const char *where = news->apart_ms > 0 ? "ahead of" : "behind";
    if (news->event == TIME_JUMPED)
        log_warn("the clock is %s %s what it should be: expiry, seasons and rooms go on by the "
                 "time that has passed until it has stood so for %d s",
                 apart, where, LIMIT_CLOCK_PROOF_MS / 1000);
    else if (news->event == TIME_MOVED)
        log_warn("the clock has stood its jump: moved %s %s, and it is still %s %s", moved,
                 news->moved_ms > 0 ? "forward" : "back", apart, where);
    else if (news->event == TIME_AGREES)
        log_info("the clock is believed again");
}

/* --- the file --- */

struct clock_record {
    struct time_reading then;
    char boot[BOOT_SIZE + 1];
};

static bool read_record(const char *path, struct clock_record *out) {
    struct arena arena;
    struct bytes text;
    arena_init(&arena);
    bool found = files_get(path, LIMIT_CLOCK_RECORD, &arena, &text) == 0;
    if (found) {
        char line[LIMIT_CLOCK_RECORD + 1], *at = line;
        snprintf(line, sizeof line, "%.*s", BYTES_ARG(text));
        out->then.wall_ms = strtoll(at, &at, 10);
        out->then.steady_ms = strtoll(at, &at, 10);
        found = out->then.wall_ms > 0 && sscanf(at, "%36s", out->boot) == 1;
    }
    arena_release(&arena);
    return found;
}

/* What the time is, going by the record. */
static int64_t expected_ms(const struct clock_record *record) {
    struct time_reading now = clock_read();
    char boot[BOOT_SIZE + 1];
    int64_t passed_ms = now.steady_ms - record->then.steady_ms;
    read_boot(boot);
    if (boot[0] != '-' && strcmp(boot, record->boot) == 0 && passed_ms >= 0)
        return record->then.wall_ms + passed_ms;
    int64_t away_ms = now.wall_ms - record->then.wall_ms;
    bool possible = away_ms >= 0 && away_ms <= INT64_C(1000) * LIMIT_CLOCK_AWAY_S;
    return possible ? now.wall_ms : record->then.wall_ms;
}

void clock_record_begin(const char *folder) {
    struct clock_record record;
    clock_report_to(tell);
    if (folder == NULL)
        return;
    char *path = files_join(folder, "clock");
    if (read_record(path, &record)) {
        clock_continue_from(expected_ms(&record));
        if (llabs((long long)(clock_now_ms() - clock_read().wall_ms)) > LIMIT_CLOCK_TRUST_MS)
            log_warn("%s says so; remove it if the clock is right", path);
    }
    mem_free(path);
}

void clock_record_put(const char *folder) {
    struct time_reading now = clock_believed();
    char boot[BOOT_SIZE + 1], line[LIMIT_CLOCK_RECORD];
    if (folder == NULL)
        return;
    read_boot(boot);
    int size = snprintf(line, sizeof line, "%lld %lld %s\n", (long long)now.wall_ms,
                        (long long)now.steady_ms, boot);
    char *path = files_join(folder, "clock");
    files_put(path, bytes_of(line, (size_t)size));
    mem_free(path);
}

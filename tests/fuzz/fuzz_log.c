/* Any bytes in the files of a commit log are replayed, DAMAGED, or the log ends there: never more
 * than one of these, and what was replayed once is replayed again. The input says how the files of
 * a good log are changed: 7 bytes each, which file, where, how many, and with what. */
#include "base/files.h"
#include "store/commit_log.h"
#include "store/log_format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { GROUPS = 24, SIZE = 1500, SEGMENTS = 3, SEGMENT = 16 * LOG_BLOCK };

static struct arena arena;
static struct failure failure;
static char path[64];
static uint8_t good[SEGMENTS][SEGMENT];

static void require(bool truth) {
    if (!truth)
        abort();
}

static struct commit_log *open_log(bool read_only) {
    struct commit_log *log;
    struct commit_log_settings settings = {
        .path = path, .segment_size = SEGMENT, .read_only = read_only};
    require(commit_log_open(&settings, (struct scope){&arena, &failure}, &log) == OK);
    return log;
}

struct seen {
    uint64_t count;
    uint64_t sum;
};

static enum status see(void *user, const struct log_group *group, struct bytes payload) {
    struct seen *seen = user;
    require(group->number == seen->count + 1 && payload.size <= SEGMENT);
    seen->count++;
    for (size_t i = 0; i < payload.size; i++)
        seen->sum = seen->sum * 31 + payload.data[i];
    return OK;
}

static enum status replay_log(struct commit_log *log, struct seen *seen) {
    struct log_replay replay = {see, seen};
    *seen = (struct seen){0};
    return commit_log_replay(log, 1, &replay, (struct scope){&arena, &failure});
}

static void segment_path(unsigned segment, char *out) {
    snprintf(out, 128, "%s/%012u", path, segment + 1);
}

static void remove_folder(void) {
    files_remove(path);
}

static void make_good(void) {
    static uint8_t payload[SIZE];
    struct log_group group;
    struct seen seen;
    snprintf(path, sizeof(path), "/tmp/gt-fuzz-log-%d", (int)getpid());
    atexit(remove_folder);
    files_remove(path);
    struct commit_log *log = open_log(false);
    require(replay_log(log, &seen) == OK);
    for (int i = 0; i < GROUPS; i++) {
        memset(payload, i, sizeof(payload));
        struct bytes part = bytes_of(payload, sizeof(payload) - (size_t)i * 50);
        require(commit_log_append(log, (struct log_parts){&part, 1},
                                  (struct scope){&arena, &failure}, &group) == OK);
    }
    commit_log_close(log);
    for (unsigned i = 0; i < group.segment && i < SEGMENTS; i++) {
        char name[128];
        segment_path(i, name);
        int file = open(name, O_RDONLY);
        require(file >= 0 && read(file, good[i], SEGMENT) == SEGMENT);
        close(file);
    }
}

static void change(uint8_t files[SEGMENTS][SEGMENT], struct bytes input) {
    for (; input.size >= 7; input = bytes_skip(input, 7)) {
        uint8_t *file = files[input.data[0] % SEGMENTS];
        size_t at = (size_t)(input.data[1] << 8 | input.data[2]) % SEGMENT;
        size_t count = input.data[3];
        if ((input.data[0] & 0x80) != 0) /* near the start of a record */
            at = at / LOG_BLOCK * LOG_BLOCK + (input.data[4] & 63);
        for (size_t i = 0; i < count && at + i < SEGMENT; i++)
            file[at + i] = (uint8_t)(file[at + i] * (input.data[5] & 1) ^ input.data[6]);
    }
}

static void write_files(uint8_t files[SEGMENTS][SEGMENT]) {
    for (unsigned i = 0; i < SEGMENTS; i++) {
        char name[128];
        segment_path(i, name);
        int file = open(name, O_WRONLY);
        if (file < 0)
            continue;
        require(pwrite(file, files[i], SEGMENT, 0) == SEGMENT);
        close(file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t files[SEGMENTS][SEGMENT];
    struct seen first, again;
    if (path[0] == '\0') {
        arena_init(&arena);
        make_good();
    }
    memcpy(files, good, sizeof(files));
    change(files, bytes_of(data, size));
    write_files(files);
    struct commit_log *log = open_log(true);
    enum status status = replay_log(log, &first);
    require(status == OK || status == DAMAGED);
    require(first.count <= GROUPS);
    require(replay_log(log, &again) == status);
    require(first.count == again.count && first.sum == again.sum);
    commit_log_close(log);
    arena_reset(&arena);
    return 0;
}

/* What the tests of commands share: a folder of their own, and what a call prints. */
#ifndef GT_TESTS_CLI_FIXTURE_H
#define GT_TESTS_CLI_FIXTURE_H

#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Makes a folder under $TMPDIR or /tmp and returns its path, which is static; the caller removes
 * what it puts there, and the folder with rmdir(). */
static inline const char *cli_folder(void) {
    static char path[256];
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof(path), "%s/gametable-cli-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(path));
    return path;
}

static inline void cli_write(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* What was printed to one stream of the process between cli_capture() and cli_captured(). */
struct cli_capture {
    FILE *stream;
    int kept, file;
    char text[65536];
};

static inline void cli_capture(struct cli_capture *capture, FILE *stream) {
    fflush(stream);
    capture->stream = stream;
    capture->kept = dup(fileno(stream));
    capture->file = memfd_create("captured", 0);
    assert_true(capture->kept >= 0 && capture->file >= 0);
    assert_true(dup2(capture->file, fileno(stream)) >= 0);
}

static inline const char *cli_captured(struct cli_capture *capture) {
    fflush(capture->stream);
    assert_true(dup2(capture->kept, fileno(capture->stream)) >= 0);
    ssize_t size = pread(capture->file, capture->text, sizeof(capture->text) - 1, 0);
    assert_true(size >= 0);
    capture->text[size] = '\0';
    close(capture->kept);
    close(capture->file);
    return capture->text;
}

/* One call of a command: its words, what it returned and printed. Zero it first. */
struct cli_call {
    struct cli_capture out, err;
    int result;
};

/* Runs the command with words ended by NULL; none is changed. */
static inline void cli_call(struct cli_call *call, int (*command)(int argc, char **argv),
                            const char *const *words) {
    char copies[32][512], *argv[33] = {NULL};
    int argc = 0;
    for (; words[argc] != NULL; argc++) {
        assert_true(argc < 32);
        snprintf(copies[argc], sizeof(copies[0]), "%s", words[argc]);
        argv[argc] = copies[argc];
    }
    cli_capture(&call->out, stdout);
    cli_capture(&call->err, stderr);
    call->result = command(argc, argv);
    cli_captured(&call->err);
    cli_captured(&call->out);
}

#define CLI_CALL(call, command, ...) \
    cli_call(call, command, (const char *const[]){__VA_ARGS__, NULL})

#define assert_contains(text, part)                                 \
    do {                                                            \
        const char *text_ = (text), *part_ = (part);                \
        if (strstr(text_, part_) == NULL)                           \
            fail_msg("expected to find\n%s\nin\n%s", part_, text_); \
    } while (0)

#endif

/* gametable load: many scores into a board of a running server, several requests at a time. */
#include "base/limits.h"
#include "base/thread.h"
#include "cli/cmd_client.h"
#include "cli/commands.h"
#include "cli/help_texts.h"
#include "cli/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CHUNK_SIZE = 512 * 1024,
    CHUNK_LINES = LIMIT_LOAD_PART * LIMIT_LOAD_PARTS, /* what the server queues at once */
    AT_ONCE = 4,
};
enum { TRIES = 100, RETRY_US = 50 * 1000, REASONS_MAX = 10 };

struct load {
    struct client client;
    const char *path; /* of the question */
    const char *type;
    FILE *from;
    uint64_t size; /* of the file; 0: not known */
    pthread_mutex_t lock;
    /* under the lock */
    struct buf rest; /* read beyond the last chunk */
    uint64_t done_bytes, first_line;
    uint64_t lines, added, changed, kept, refused;
    unsigned told; /* reasons */
    bool ended, failed;
    struct progress progress;
};

/* --- reading: under the lock --- */

/* How much of the text is whole lines, at most CHUNK_LINES; sets how many. */
static size_t whole_lines(struct bytes text, size_t *lines) {
    size_t size = 0;
    *lines = 0;
    while (*lines < CHUNK_LINES && size < text.size) {
        const uint8_t *end = memchr(text.data + size, '\n', text.size - size);
        if (end == NULL)
            break;
        size = (size_t)(end + 1 - text.data);
        ++*lines;
    }
    return size;
}

/* The next chunk of whole lines; false at the end. */
static bool take_chunk(struct load *load, struct buf *chunk, uint64_t *first_line) {
    size_t lines, size;
    buf_clear(chunk);
    if (!load->ended) {
        size_t got = load->rest.size >= CHUNK_SIZE
                         ? 0
                         : fread(buf_reserve(&load->rest, CHUNK_SIZE), 1, CHUNK_SIZE, load->from);
        load->rest.size += got;
        load->ended = feof(load->from) != 0 || ferror(load->from) != 0;
    }
    size = whole_lines(buf_bytes(&load->rest), &lines);
    if (load->ended && lines < CHUNK_LINES && size < load->rest.size) { /* no newline at the end */
        size = load->rest.size;
        lines++;
    }
    buf_append(chunk, load->rest.data, size);
    load->rest.size -= size;
    if (load->rest.size != 0)
        memmove(load->rest.data, load->rest.data + size, load->rest.size);
    *first_line = load->first_line;
    load->first_line += lines;
    return size != 0;
}

static uint64_t count_of(const struct json *answer, const char *name) {
    struct bytes text = client_text(answer, name);
    uint64_t number = 0;
    for (size_t i = 0; i < text.size; i++)
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    return number;
}

static void tell_reasons(struct load *load, const struct json *answer, uint64_t first_line) {
    const struct json *reasons = json_get(answer, BYTES("reasons"));
    for (uint32_t i = 0; reasons != NULL && i < reasons->count && load->told < REASONS_MAX; i++) {
        struct bytes reason = client_text(&reasons->elements[i], "reason");
        uint64_t line = first_line + count_of(&reasons->elements[i], "line");
        fprintf(stderr, "%sgametable load: line %llu: %.*s\n",
                load->progress.shown ? "\r\033[K" : "", (unsigned long long)line,
                BYTES_ARG(reason));
        load->told++;
    }
}

static void note_answer(struct load *load, const struct json *answer, size_t size,
                        uint64_t first_line) {
    load->lines += count_of(answer, "lines");
    load->added += count_of(answer, "added");
    load->changed += count_of(answer, "changed");
    load->kept += count_of(answer, "kept");
    load->refused += count_of(answer, "refused");
    load->done_bytes += size;
    tell_reasons(load, answer, first_line);
    uint64_t total =
        load->done_bytes == 0
            ? 0
            : (uint64_t)((double)load->lines * (double)load->size / (double)load->done_bytes);
    progress_show(&load->progress, load->lines, total);
}

/* --- sending --- */

/* A thread that sends one chunk after the other. */
struct sender {
    struct load *load;
    struct http_client http;
    struct arena arena; /* of the chunk under way */
};

/* Sends until it is taken; a server that is busy is asked again. False after having said why. */
static bool send_chunk(struct sender *sender, struct bytes chunk, struct json *out) {
    struct load *load = sender->load;
    size_t at;
    struct http_client_answer answer = {.arena = &sender->arena};
    struct http_client_request request = {.server = &load->client.server,
                                          .method = "POST",
                                          .path = load->path,
                                          .body = chunk,
                                          .type = load->type};
    for (unsigned i = 0; i < TRIES; i++) {
        if (http_client_send(&sender->http, &request, &answer) != OK)
            break;
        if (answer.status != 429 && answer.status != 503)
            break;
        usleep(RETRY_US);
    }
    if (answer.failure.status == OK && json_parse(answer.body, &sender->arena, out, &at) == OK &&
        answer.status == 200)
        return true;
    if (answer.failure.status == OK)
        answer.failure.text = client_text(out, "detail");
    fprintf(stderr, "%sgametable load: %.*s\n", load->progress.shown ? "\r\033[K" : "",
            BYTES_ARG(answer.failure.text));
    return false;
}

static void *send_chunks(void *argument) {
    struct load *load = argument;
    struct sender sender = {.load = load};
    struct buf chunk = {0};
    uint64_t first_line;
    arena_init(&sender.arena);
    for (;;) {
        struct json answer = {.type = JSON_NULL};
        pthread_mutex_lock(&load->lock);
        bool more = !load->failed && take_chunk(load, &chunk, &first_line);
        pthread_mutex_unlock(&load->lock);
        if (!more)
            break;
        bool sent = send_chunk(&sender, buf_bytes(&chunk), &answer);
        pthread_mutex_lock(&load->lock);
        load->failed |= !sent;
        if (sent)
            note_answer(load, &answer, chunk.size, first_line);
        pthread_mutex_unlock(&load->lock);
        arena_reset(&sender.arena);
    }
    http_client_close(&sender.http);
    buf_release(&chunk);
    arena_release(&sender.arena);
    return NULL;
}

static int run_load(struct load *load, unsigned at_once) {
    pthread_t threads[LIMIT_LOAD_AT_ONCE];
    unsigned started = 0;
    struct stat about;
    if (fstat(fileno(load->from), &about) == 0 && S_ISREG(about.st_mode))
        load->size = (uint64_t)about.st_size;
    progress_start(&load->progress, "loading", "scores");
    while (started < at_once && thread_start(&threads[started], send_chunks, load) == 0)
        started++;
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    progress_end(&load->progress, load->lines);
    if (ferror(load->from) != 0)
        fputs("gametable load: the file could not be read to its end\n", stderr);
    printf(load->client.json
               ? "{\"lines\":%llu,\"added\":%llu,\"changed\":%llu,\"kept\":%llu,\"refused\":%llu}\n"
               : "%llu lines: %llu added, %llu changed, %llu kept, %llu refused\n",
           (unsigned long long)load->lines, (unsigned long long)load->added,
           (unsigned long long)load->changed, (unsigned long long)load->kept,
           (unsigned long long)load->refused);
    bool whole = started != 0 && !load->failed && ferror(load->from) == 0;
    return whole && load->refused == 0 ? 0 : 1;
}

/* --- the command --- */

static bool is_json(const char *file, const char *format) {
    const char *dot = strrchr(file, '.');
    if (format != NULL)
        return strcmp(format, "json") == 0;
    return dot != NULL &&
           (strcmp(dot, ".json") == 0 || strcmp(dot, ".jsonl") == 0 || strcmp(dot, ".ndjson") == 0);
}

static const char *load_path(struct load *load, const char *board, const char *period,
                             const char *scope) {
    struct buf path = {0};
    buf_lit(&path, "/v1/boards/");
    client_put(&path, board);
    buf_lit(&path, "/entries:load");
    if (period != NULL) {
        buf_lit(&path, "?period=");
        client_put(&path, period);
    }
    if (scope != NULL) {
        buf_printf(&path, "%sscope=", period != NULL ? "&" : "?");
        client_put(&path, scope);
    }
    char *text = arena_str(&load->client.arena, buf_bytes(&path));
    buf_release(&path);
    return text;
}

int command_load(int argc, char **argv) {
    const char *format = NULL, *period = NULL, *scope = NULL, *at_once = NULL;
    struct load load = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct option_spec specs[4 + CLIENT_OPTIONS] = {{"format", &format, NULL},
                                                    {"period", &period, NULL},
                                                    {"scope", &scope, NULL},
                                                    {"at-once", &at_once, NULL}};
    client_init(&load.client, "load", specs);
    int count = client_options(&load.client, argc, argv, specs), result = 2;
    int together = at_once == NULL ? AT_ONCE : atoi(at_once);
    bool known = format == NULL || strcmp(format, "csv") == 0 || strcmp(format, "json") == 0;
    if (count != 2 || !known || together < 1 || together > LIMIT_LOAD_AT_ONCE) {
        help_usage("load");
    } else {
        load.path = load_path(&load, argv[0], period, scope);
        load.type = is_json(argv[1], format) ? "application/x-ndjson" : "text/csv";
        load.from = strcmp(argv[1], "-") == 0 ? stdin : fopen(argv[1], "r");
        if (load.from == NULL)
            fprintf(stderr, "gametable load: cannot read %s: %s\n", argv[1], strerror(errno));
        result = load.from == NULL ? 1 : run_load(&load, (unsigned)together);
        if (load.from != NULL && load.from != stdin)
            fclose(load.from);
    }
    buf_release(&load.rest);
    client_release(&load.client);
    return result;
}

#include "cli/serve_game.h"

#include "api/offload.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"

#include <errno.h>

enum { SECRET_SIZE = 32 };

static struct bytes make_secret(struct arena *arena) {
    uint8_t *secret = arena_alloc(arena, SECRET_SIZE);
    random_secure(secret, SECRET_SIZE);
    return bytes_of(secret, SECRET_SIZE);
}

/* A file that is named must be there; the data folder's own is made if it is not. */
static enum status read_secret(const char *path, bool make, struct scope in, struct bytes *out) {
    if (files_get(path, LIMIT_SECRET_FILE, in.arena, out) == 0) {
        if (out->size >= SECRET_SIZE)
            return OK;
        return failure_set(in.failure, in.arena, INVALID,
                           "%s: a token secret has at least %d bytes; head -c 32 /dev/urandom "
                           "makes one",
                           path, SECRET_SIZE);
    }
    if (!make || errno != ENOENT)
        return failure_set(in.failure, in.arena, INVALID, "cannot read the token secret %s: %s",
                           path, strerror(errno));
    *out = make_secret(in.arena);
    if (files_put(path, *out) == 0)
        return OK;
    return failure_set(in.failure, in.arena, IO_FAILED, "cannot write the token secret %s: %s",
                       path, strerror(errno));
}

static enum status find_secret(const struct settings *settings, struct scope in,
                               struct bytes *out) {
    if (settings->token_secret[0] != '\0')
        return read_secret(settings->token_secret, false, in, out);
    if (settings->memory) {
        *out = make_secret(in.arena);
        return OK;
    }
    char *path = files_join(settings->data, "token-secret");
    enum status status = read_secret(path, true, in, out);
    mem_free(path);
    return status;
}

static void log_board(const char *text) {
    log_warn("%s", text);
}

enum status serve_game_start(const struct settings *settings, struct engine *engine,
                             struct scope in, struct game **out) {
    struct game_settings game = {.table = bytes_str(settings->game_table),
                                 .guests = settings->guests,
                                 .report = log_board,
                                 .may_wait = offload_may_wait};
    *out = NULL;
    if (game.table.size == 0)
        return OK;
    enum status status = find_secret(settings, in, &game.secret);
    return status == OK ? game_open(engine, &game, in, out) : status;
}

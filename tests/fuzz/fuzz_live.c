/* What clients of live lines send, against rooms on an engine in memory. The first byte picks:
 *
 *   even   messages, one a line of the input, on the line of a room's host. After them the host
 * asks for the state: the server must answer, whatever was said before. odd    bytes after the
 * handshake (frames, or what is none), and for a few the handshake's request itself. The server
 * must end the line or go on; another line must be served all the same.
 */
#include "../unit/api/live/live_fixture.h"

#include <openssl/crypto.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

enum { LINES_MAX = 40, ROOM_RUNS = 64 };

static struct live_fixture asking;
static struct bytes code;
static unsigned runs;
static bool used_up; /* the room: another for the next */

static void finish(void) {
    live_fixture_close(&asking);
}

static void start(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, NULL); /* goes after our threads */
    live_fixture_open(&asking, 1);
    atexit(finish);
}

/* The state is asked for and must come, unless the host has left or closed the room. */
static void check_alive(int fd, struct buf *heard) {
    live_say(fd, BYTES("{\"do\":\"sync\",\"id\":\"the last\"}"));
    if (live_wait(fd, heard, BYTES("\"id\":\"the last\"")))
        return;
    CHECK(bytes_find(buf_bytes(heard), BYTES("closed")) != SIZE_MAX ||
          bytes_find(buf_bytes(heard), BYTES("not in the room")) != SIZE_MAX);
    used_up = true;
}

static void say_lines(struct bytes input) {
    struct buf heard = {0};
    int fd = live_open(&asking, code, "ann");
    CHECK(live_wait(fd, &heard, BYTES("\"type\":\"state\"")));
    for (int i = 0; i < LINES_MAX && input.size != 0; i++) {
        size_t end = bytes_find(input, BYTES("\n"));
        struct bytes line = bytes_of(input.data, end == SIZE_MAX ? input.size : end);
        input = bytes_skip(input, line.size + (end != SIZE_MAX));
        if (line.size > 4096)
            line.size = 4096;
        for (size_t at = 0; at < line.size; at++) /* what is not text ends a line: the other kind */
            if (line.data[at] >= 0x80)
                line.size = at;
        live_say(fd, line);
    }
    check_alive(fd, &heard);
    close(fd);
    buf_release(&heard);
}

static void put_bytes(struct bytes input, bool shaken) {
    struct buf heard = {0};
    int fd = shaken ? live_open(&asking, code, "bob") : live_dial(&asking);
    if (shaken)
        CHECK(live_wait(fd, &heard, BYTES("\r\n\r\n")));
    live_put(fd, input);
    shutdown(fd, SHUT_WR);
    live_wait(fd, &heard, BYTES("\x01nothing says this\x02"));
    close(fd);
    buf_clear(&heard);
    fd = live_open(&asking, code, "");
    CHECK(live_wait(fd, &heard, BYTES("\"type\":\"state\"")));
    close(fd);
    buf_release(&heard);
}

/* All kinds of games, one after the other. */
static const char *next_kind(void) {
    static size_t at;
    const struct match_kind *kind = match_kind_next(&at);
    if (kind == NULL) {
        at = 0;
        kind = match_kind_next(&at);
    }
    return kind->name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    if (runs == 0)
        start();
    if (runs++ % ROOM_RUNS == 0 || used_up)
        code = live_room(&asking, next_kind());
    used_up = false;
    struct bytes input = bytes_of(data + 1, size - 1);
    if (data[0] % 2 == 0)
        say_lines(input);
    else
        put_bytes(input, data[0] % 8 != 7);
    return 0;
}

/* A compressor costs a quarter of a megabyte and some time to make, so that each thread keeps
 * those it made; they go away with the thread. */
#include "api/dynamodb/content_coding.h"

#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <strings.h>
#include <zlib.h>

/* --- names --- */

static bool is_name(struct bytes text, const char *name) {
    return text.size == strlen(name) && strncasecmp((const char *)text.data, name, text.size) == 0;
}

enum coding coding_named(struct bytes name) {
    if (name.size == 0 || is_name(name, "identity"))
        return CODING_NONE;
    if (is_name(name, "gzip"))
        return CODING_GZIP;
    return is_name(name, "deflate") ? CODING_DEFLATE : CODING_UNKNOWN;
}

static struct bytes trim_blanks(struct bytes text) {
    while (text.size != 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_skip(text, 1);
    while (text.size != 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

/* Whether the parameters of a coding, such as "q=0.5", have a weight of nothing. */
static bool weighs_nothing(struct bytes parameters) {
    size_t at = bytes_find(parameters, BYTES("q="));
    if (at == SIZE_MAX)
        return false;
    for (size_t i = at + 2; i < parameters.size; i++)
        if (parameters.data[i] >= '1' && parameters.data[i] <= '9')
            return false;
    return true;
}

enum coding coding_accepted(struct bytes header) {
    enum coding best = CODING_NONE;
    while (header.size != 0) {
        size_t comma = bytes_find(header, BYTES(","));
        struct bytes one = bytes_of(header.data, comma == SIZE_MAX ? header.size : comma);
        header = bytes_skip(header, comma == SIZE_MAX ? header.size : comma + 1);
        size_t mark = bytes_find(one, BYTES(";"));
        struct bytes name = bytes_of(one.data, mark == SIZE_MAX ? one.size : mark);
        if (mark != SIZE_MAX && weighs_nothing(bytes_skip(one, mark)))
            continue;
        enum coding coding = coding_named(trim_blanks(name));
        if (coding == CODING_GZIP || (coding == CODING_DEFLATE && best == CODING_NONE))
            best = coding;
    }
    return best;
}

/* --- packing --- */

enum { ZLIB_WINDOW = 15, GZIP_WINDOW = 15 + 16, RAW_WINDOW = -15, MEMORY_LEVEL = 8, FAST = 1 };

struct packer {
    z_stream streams[2]; /* gzip, deflate */
    bool made[2];
    struct buf out;
};

static pthread_key_t packer_key;
static pthread_once_t packer_once = PTHREAD_ONCE_INIT;

static void packer_free(void *memory) {
    struct packer *packer = memory;
    for (int i = 0; i < 2; i++)
        if (packer->made[i])
            deflateEnd(&packer->streams[i]);
    buf_release(&packer->out);
    mem_free(packer);
}

static void packer_key_make(void) {
    int failed = pthread_key_create(&packer_key, packer_free);
    assert(failed == 0);
    (void)failed;
}

static struct packer *packer_mine(void) {
    pthread_once(&packer_once, packer_key_make);
    struct packer *packer = pthread_getspecific(packer_key);
    if (packer == NULL) {
        packer = mem_zalloc(sizeof *packer);
        pthread_setspecific(packer_key, packer);
    }
    return packer;
}

static z_stream *packer_stream(struct packer *packer, enum coding coding) {
    int at = coding == CODING_GZIP ? 0 : 1;
    z_stream *stream = &packer->streams[at];
    int code = packer->made[at]
                   ? deflateReset(stream)
                   : deflateInit2(stream, FAST, Z_DEFLATED, at == 0 ? GZIP_WINDOW : ZLIB_WINDOW,
                                  MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
    assert(code == Z_OK);
    (void)code;
    packer->made[at] = true;
    return stream;
}

struct bytes coding_pack(enum coding coding, struct bytes plain) {
    struct packer *packer = packer_mine();
    z_stream *stream = packer_stream(packer, coding);
    size_t bound = deflateBound(stream, plain.size);
    buf_clear(&packer->out);
    stream->next_out = buf_reserve(&packer->out, bound);
    stream->avail_out = (uInt)bound;
    stream->next_in = (Bytef *)(uintptr_t)plain.data;
    stream->avail_in = (uInt)plain.size;
    int code = deflate(stream, Z_FINISH);
    assert(code == Z_STREAM_END);
    (void)code;
    return bytes_of(packer->out.data, bound - stream->avail_out);
}

/* --- unpacking --- */

/* Grows the output until the last member ends or there is too much of it. */
static enum status unpack(z_stream *stream, size_t most, struct arena *arena, struct bytes *out) {
    size_t room = stream->avail_in * 4u + 1024, size = 0;
    uint8_t *data = arena_alloc(arena, room);
    while (true) {
        stream->next_out = data + size;
        stream->avail_out = (uInt)(room - size);
        int code = inflate(stream, Z_NO_FLUSH);
        size = room - stream->avail_out;
        if (size > most)
            return LIMIT_EXCEEDED;
        if (code == Z_STREAM_END && stream->avail_in == 0)
            break;
        if (code == Z_STREAM_END) { /* another member follows */
            if (inflateReset(stream) != Z_OK)
                return PARSE_FAILED;
            continue;
        }
        /* input used up before its end, or not compressed data */
        if (code != Z_OK || (stream->avail_out != 0 && stream->avail_in == 0))
            return PARSE_FAILED;
        if (stream->avail_out != 0)
            continue;
        data = arena_grow(arena, data, room, room * 2);
        room *= 2;
    }
    *out = bytes_of(data, size);
    return OK;
}

static enum status unpack_window(int window, const struct coding_packed *packed,
                                 struct arena *arena, struct bytes *out) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed->bytes.data,
                       .avail_in = (uInt)packed->bytes.size};
    if (inflateInit2(&stream, window) != Z_OK)
        return IO_FAILED;
    enum status status = unpack(&stream, packed->most, arena, out);
    inflateEnd(&stream);
    return status;
}

enum status coding_unpack(const struct coding_packed *packed, struct arena *arena,
                          struct bytes *out) {
    if (packed->coding == CODING_GZIP)
        return unpack_window(GZIP_WINDOW, packed, arena, out);
    enum status status = unpack_window(ZLIB_WINDOW, packed, arena, out);
    return status == PARSE_FAILED ? unpack_window(RAW_WINDOW, packed, arena, out) : status;
}

/* A compressor costs a quarter of a megabyte and some time to make, so that each thread keeps
 * the one it made; it goes away with the thread. */
#include "api/dynamodb/gzip.h"

#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, ANY_WINDOW = 15 + 32, MEMORY_LEVEL = 8, FAST = 1 };

struct packer {
    z_stream stream;
    struct buf out;
};

static pthread_key_t packer_key;
static pthread_once_t packer_once = PTHREAD_ONCE_INIT;

static void packer_free(void *memory) {
    struct packer *packer = memory;
    deflateEnd(&packer->stream);
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
    if (packer != NULL) {
        deflateReset(&packer->stream);
        return packer;
    }
    packer = mem_zalloc(sizeof *packer);
    int code = deflateInit2(&packer->stream, FAST, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                            Z_DEFAULT_STRATEGY);
    assert(code == Z_OK);
    (void)code;
    pthread_setspecific(packer_key, packer);
    return packer;
}

struct bytes gzip_pack(struct bytes plain) {
    struct packer *packer = packer_mine();
    z_stream *stream = &packer->stream;
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

/* Grows the output until the stream ends or there is too much of it. */
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
        if (code == Z_STREAM_END)
            break;
        /* input used up before its end, or not compressed data */
        if (code != Z_OK || (stream->avail_out != 0 && stream->avail_in == 0))
            return PARSE_FAILED;
        data = arena_grow(arena, data, room, room * 2);
        room *= 2;
    }
    *out = bytes_of(data, size);
    return OK;
}

enum status gzip_unpack(struct bytes packed, size_t most, struct arena *arena, struct bytes *out) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed.data, .avail_in = (uInt)packed.size};
    if (inflateInit2(&stream, ANY_WINDOW) != Z_OK)
        return IO_FAILED;
    enum status status = unpack(&stream, most, arena, out);
    inflateEnd(&stream);
    return status;
}

/* A stream's records as bytes:
 *
 *   flags:byte created_ms:varint (size:varint item)*
 *
 * The items are what the flags say, in the order keys, old, new, in the form they are stored in;
 * so a record costs a copy, and no encoding. The keys are there only where no image has them. */
#include "table/local/local_int.h"

enum {
    FLAG_EVENT = 0x03,
    FLAG_EXPIRED = 0x04,
    FLAG_KEYS = 0x08,
    FLAG_OLD = 0x10,
    FLAG_NEW = 0x20,
    FLAGS_UNKNOWN = 0xc0,
};
_Static_assert((FLAGS_UNKNOWN & BUNDLE_MARK) != 0, "a record is told from a bundle");

/* --- keys --- */

static uint8_t *put_number(uint8_t *to, uint64_t number, unsigned size) {
    for (unsigned i = 0; i < size; i++)
        to[i] = (uint8_t)(number >> (8 * (size - 1 - i)));
    return to + size;
}

struct bytes stream_key(const struct stream_position *position, uint8_t *room) {
    uint8_t *at = put_number(room, position->table, 4);
    at = put_number(at, (uint64_t)position->label_ms, 8);
    at = put_number(at, position->shard, 1);
    put_number(at, position->sequence, 8);
    return bytes_of(room, STREAM_KEY_SIZE);
}

bool stream_key_read(struct bytes key, struct stream_position *out) {
    uint64_t label;
    uint8_t shard;
    if (!take_u32(&key, &out->table) || !take_u64(&key, &label) || !take_u8(&key, &shard) ||
        !take_u64(&key, &out->sequence) || key.size != 0 || shard >= STREAM_SHARDS_MAX)
        return false;
    out->label_ms = (int64_t)label;
    out->shard = shard;
    return true;
}

/* --- records --- */

static size_t varint_size(uint64_t number) {
    size_t size = 1;
    for (; number >= 0x80; number >>= 7)
        size++;
    return size;
}

static size_t image_size(struct bytes image) {
    return image.data != NULL ? varint_size(image.size) + image.size : 0;
}

size_t stream_record_size(const struct stream_record *record, const struct stream_images *images) {
    return 1 + varint_size((uint64_t)record->created_ms) + image_size(images->keys) +
           image_size(images->old) + image_size(images->new);
}

static void put_image(struct buf *to, struct bytes image) {
    if (image.data != NULL)
        buf_counted(to, image);
}

void stream_record_put(struct buf *to, const struct stream_record *record,
                       const struct stream_images *images) {
    unsigned flags = (unsigned)record->event | (record->expired ? FLAG_EXPIRED : 0u) |
                     (images->keys.data != NULL ? FLAG_KEYS : 0u) |
                     (images->old.data != NULL ? FLAG_OLD : 0u) |
                     (images->new.data != NULL ? FLAG_NEW : 0u);
    buf_byte(to, (uint8_t)flags);
    buf_varint(to, (uint64_t)record->created_ms);
    put_image(to, images->keys);
    put_image(to, images->old);
    put_image(to, images->new);
}

static bool take_head(struct bytes *from, uint8_t *flags, int64_t *created_ms) {
    uint64_t created;
    if (!take_u8(from, flags) || (*flags & FLAGS_UNKNOWN) != 0 ||
        (*flags & FLAG_EVENT) > STREAM_REMOVE || !take_varint(from, &created))
        return false;
    *created_ms = (int64_t)created;
    return true;
}

enum status stream_record_created(struct bytes from, int64_t *out) {
    uint8_t flags;
    return take_head(&from, &flags, out) ? OK : DAMAGED;
}

static enum status take_image(struct bytes *from, const struct record_reader *reader,
                              struct item *out) {
    struct bytes stored;
    return take_counted(from, &stored) ? item_decode(stored, reader->names, reader->arena, out)
                                       : DAMAGED;
}

/* The keys out of an image. */
static enum status find_keys(const struct record_reader *reader, const struct item *image,
                             struct item *out) {
    const struct key_schema *keys = reader->keys;
    struct table_schema schema = {.keys = *keys};
    for (unsigned i = 0; i < key_schema_count(keys); i++)
        if (item_get(image, keys->parts[i].name) == NULL)
            return DAMAGED;
    *out = rules_key_of(&schema, NULL, image, reader->arena);
    return OK;
}

enum status stream_record_partition(struct bytes from, const struct record_reader *reader,
                                    struct value *out) {
    uint8_t flags;
    int64_t created_ms;
    struct bytes image;
    if (!take_head(&from, &flags, &created_ms) || !take_counted(&from, &image))
        return DAMAGED;
    struct item_wanted wanted = {reader->names, &reader->keys->parts[0].name, 1};
    return item_decode_some(image, &wanted, reader->arena, out);
}

enum status stream_record_read(struct bytes from, const struct record_reader *reader,
                               struct stream_record *out) {
    uint8_t flags;
    if (!take_head(&from, &flags, &out->created_ms))
        return DAMAGED;
    out->event = (enum stream_event)(flags & FLAG_EVENT);
    out->expired = (flags & FLAG_EXPIRED) != 0;
    out->has_old = (flags & FLAG_OLD) != 0;
    out->has_new = (flags & FLAG_NEW) != 0;
    enum status status = OK;
    if ((flags & FLAG_KEYS) != 0)
        status = take_image(&from, reader, &out->keys);
    if (status == OK && out->has_old)
        status = take_image(&from, reader, &out->old);
    if (status == OK && out->has_new)
        status = take_image(&from, reader, &out->new);
    if (status == OK && (flags & FLAG_KEYS) == 0)
        status = find_keys(reader, out->has_new ? &out->new : &out->old, &out->keys);
    if (status != OK || from.size != 0)
        return DAMAGED;
    out->size = item_size(&out->keys) + (out->has_old ? item_size(&out->old) : 0) +
                (out->has_new ? item_size(&out->new) : 0);
    return OK;
}

/* Batches: the writes one behind the other, as they stand in the log.
 *
 *   u8       family * 16 + kind (enum buffer_kind)
 *   counted  key; of a deleted range the first key
 *   counted  of a put, logged or not, the value, of a deleted range the key behind its last; else
 * nothing
 */
#include "store/store_int.h"

#include "base/mem.h"

#include <assert.h>

enum { ROOM_KEPT = 1024 * 1024 };

struct store_batch {
    struct buf writes;
    unsigned count;
};

struct store_batch *store_batch_new(struct store *store) {
    (void)store;
    return mem_zalloc(sizeof(struct store_batch));
}

void store_batch_free(struct store_batch *batch) {
    if (batch == NULL)
        return;
    buf_release(&batch->writes);
    mem_free(batch);
}

/* The next batch is probably as large as this one was: much room is kept for it if this one needed
 * it. */
void store_batch_clear(struct store_batch *batch) {
    if (batch->writes.room > ROOM_KEPT && batch->writes.size < batch->writes.room / 4)
        buf_release(&batch->writes);
    buf_clear(&batch->writes);
    batch->count = 0;
}

unsigned store_batch_count(const struct store_batch *batch) {
    return batch->count;
}

size_t store_batch_size(const struct store_batch *batch) {
    return batch->writes.size;
}

struct bytes store_batch_bytes(const struct store_batch *batch) {
    return buf_bytes(&batch->writes);
}

void store_batch_add(struct store_batch *batch, struct bytes writes) {
    buf_put(&batch->writes, writes);
    batch->count++;
}

static void put_key(struct store_batch *batch, enum store_family family, enum buffer_kind kind,
                    struct bytes key) {
    assert(key.size <= BUFFER_KEY_MAX); /* batch_next() would take it for damage */
    buf_byte(&batch->writes, (uint8_t)(family << 4 | kind));
    buf_counted(&batch->writes, key);
    batch->count++;
}

void store_put(struct store_batch *batch, enum store_family family, struct bytes key,
               struct bytes value) {
    put_key(batch, family, BUFFER_PUT, key);
    buf_counted(&batch->writes, value);
}

void store_put_logged(struct store_batch *batch, enum store_family family, struct bytes key,
                      struct bytes value) {
    put_key(batch, family, BUFFER_PUT_LOGGED, key);
    buf_counted(&batch->writes, value);
}

void store_del(struct store_batch *batch, enum store_family family, struct bytes key) {
    put_key(batch, family, BUFFER_DELETE, key);
}

void store_del_range(struct store_batch *batch, enum store_family family, struct bytes low,
                     struct bytes high) {
    if (bytes_compare(low, high) >= 0)
        return;
    put_key(batch, family, BUFFER_DELETE_RANGE, low);
    buf_counted(&batch->writes, high);
}

enum status batch_next(struct bytes *batch, struct buffer_write *out) {
    uint8_t head;
    if (batch->size == 0)
        return NOT_FOUND;
    if (!take_u8(batch, &head) || head >> 4 >= STORE_FAMILIES || (head & 0xf) > BUFFER_PUT_LOGGED ||
        !take_counted(batch, &out->key) || out->key.size > BUFFER_KEY_MAX)
        return DAMAGED;
    out->family = (enum store_family)(head >> 4);
    out->kind = (enum buffer_kind)(head & 0xf);
    out->value = (struct bytes){0};
    if (out->kind != BUFFER_DELETE && !take_counted(batch, &out->value))
        return DAMAGED;
    return OK;
}

/* Batches. While the store is closed (a reopening failed) they stay empty: writing them fails
 * anyhow. */
#include "store/store_int.h"

#include "base/mem.h"

struct store_batch {
    struct store *store;
    rocksdb_writebatch_t *batch;
};

struct store_batch *store_batch_new(struct store *store) {
    struct store_batch *batch = mem_alloc(sizeof(*batch));
    *batch = (struct store_batch){store, rocksdb_writebatch_create()};
    return batch;
}

void store_batch_free(struct store_batch *batch) {
    if (batch == NULL)
        return;
    rocksdb_writebatch_destroy(batch->batch);
    mem_free(batch);
}

void store_batch_clear(struct store_batch *batch) {
    rocksdb_writebatch_clear(batch->batch);
}

unsigned store_batch_count(const struct store_batch *batch) {
    return (unsigned)rocksdb_writebatch_count(batch->batch);
}

size_t store_batch_size(const struct store_batch *batch) {
    size_t size = 0;
    rocksdb_writebatch_data(batch->batch, &size);
    return size;
}

rocksdb_writebatch_t *store_batch_raw(struct store_batch *batch) {
    return batch->batch;
}

void store_put(struct store_batch *batch, enum store_family family, struct bytes key,
               struct bytes value) {
    if (batch->store->db != NULL)
        rocksdb_writebatch_put_cf(batch->batch, store_family(batch->store, family), chars(key),
                                  key.size, chars(value), value.size);
}

void store_del(struct store_batch *batch, enum store_family family, struct bytes key) {
    if (batch->store->db != NULL)
        rocksdb_writebatch_delete_cf(batch->batch, store_family(batch->store, family), chars(key),
                                     key.size);
}

void store_del_range(struct store_batch *batch, enum store_family family, struct bytes low,
                     struct bytes high) {
    if (batch->store->db != NULL && bytes_compare(low, high) < 0)
        rocksdb_writebatch_delete_range_cf(batch->batch, store_family(batch->store, family),
                                           chars(low), low.size, chars(high), high.size);
}

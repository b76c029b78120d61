#include "api/metrics/capacity.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdatomic.h>

struct capacity_row {
    uint64_t hash;
    uint8_t table_size;
    char table[CAPACITY_TABLE_SIZE];
    unsigned operation;
    _Atomic(uint64_t) read_halves, write_halves;
};

struct capacity_loop {
    _Atomic(size_t) count; /* rows before it do not change but for their units */
    struct capacity_row *rows;
};

struct capacity {
    unsigned loops;
    struct capacity_loop of[];
};

struct capacity *capacity_new(unsigned loops) {
    struct capacity *capacity = mem_zalloc(sizeof *capacity + loops * sizeof capacity->of[0]);
    capacity->loops = loops;
    for (unsigned i = 0; i < loops; i++)
        capacity->of[i].rows = mem_zalloc(CAPACITY_ROWS * sizeof(struct capacity_row));
    return capacity;
}

void capacity_free(struct capacity *capacity) {
    for (unsigned i = 0; i < capacity->loops; i++)
        mem_free(capacity->of[i].rows);
    mem_free(capacity);
}

static struct capacity_row *row_of(struct capacity_loop *loop, const struct capacity_use *use) {
    uint64_t hash = hash_stable(use->table, use->operation + 1);
    size_t count = atomic_load_explicit(&loop->count, memory_order_relaxed);
    for (size_t i = 0; i < count; i++)
        if (loop->rows[i].hash == hash)
            return &loop->rows[i];
    if (count == CAPACITY_ROWS)
        return &loop->rows[CAPACITY_ROWS - 1];
    struct capacity_row *row = &loop->rows[count];
    bool last = count == CAPACITY_ROWS - 1 || use->table.size > CAPACITY_TABLE_SIZE;
    row->hash = hash;
    row->operation = use->operation;
    row->table_size = last ? 0 : (uint8_t)use->table.size;
    if (row->table_size != 0)
        memcpy(row->table, use->table.data, row->table_size);
    atomic_store_explicit(&loop->count, count + 1, memory_order_release);
    return row;
}

static void add(_Atomic(uint64_t) *to, double units) {
    atomic_store_explicit(
        to, atomic_load_explicit(to, memory_order_relaxed) + (uint64_t)(units * 2 + 0.5),
        memory_order_relaxed);
}

void capacity_add(struct capacity *capacity, unsigned loop, const struct capacity_use *use) {
    struct capacity_row *row = row_of(&capacity->of[loop], use);
    if (use->read > 0)
        add(&row->read_halves, use->read);
    if (use->write > 0)
        add(&row->write_halves, use->write);
}

void capacity_each(const struct capacity *capacity,
                   void (*each)(const struct capacity_use *use, void *user), void *user) {
    for (unsigned i = 0; i < capacity->loops; i++) {
        const struct capacity_loop *loop = &capacity->of[i];
        size_t count = atomic_load_explicit(&loop->count, memory_order_acquire);
        for (size_t k = 0; k < count; k++) {
            const struct capacity_row *row = &loop->rows[k];
            struct capacity_use use = {
                bytes_of(row->table, row->table_size), row->operation,
                (double)atomic_load_explicit(&row->read_halves, memory_order_relaxed) / 2,
                (double)atomic_load_explicit(&row->write_halves, memory_order_relaxed) / 2};
            each(&use, user);
        }
    }
}

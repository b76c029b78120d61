/* Any bytes are the records of a stream or DAMAGED: each record lies within them, the numbers grow
 * and end with the key's; each record is one or DAMAGED; and what was read makes the same bundle
 * again. */
#include "table/local/streams.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

/* A dictionary of three names that no input changes. */
static const struct names *three_names(void) {
    static struct names *names;
    if (names == NULL) {
        names = names_new();
        names_intern(names, BYTES("PK"));
        names_intern(names, BYTES("SK"));
        names_intern(names, BYTES("a"));
    }
    return names;
}

static void check_record(struct bytes stored, struct arena *arena) {
    struct key_schema keys = {.parts = {{BYTES("PK"), VALUE_S}, {BYTES("SK"), VALUE_S}},
                              .partition_count = 1,
                              .sort_count = 1};
    struct record_reader reader = {&keys, three_names(), arena};
    struct stream_record record = {0};
    struct value partition;
    int64_t created_ms;
    bool is_one = stream_record_read(stored, &reader, &record) == OK;
    enum status created = stream_record_created(stored, &created_ms);
    stream_record_partition(stored, &reader, &partition);
    require(!is_one || (created == OK && created_ms == record.created_ms));
}

/* Takes the same records and numbers. */
static void check_again(struct bytes stored, uint64_t last, struct bundle *again) {
    struct bundle_iter from = bundle_read(stored, last);
    struct bundle_iter other = bundle_read(bundle_bytes(again), last);
    uint64_t sequence[2];
    struct bytes record[2];
    for (size_t i = 0; i < again->count; i++) {
        require(bundle_next(&from, &sequence[0], &record[0]) == OK);
        require(bundle_next(&other, &sequence[1], &record[1]) == OK);
        require(sequence[0] == sequence[1] && bytes_equal(record[0], record[1]));
    }
    require(bundle_next(&other, &sequence[1], &record[1]) == NOT_FOUND);
}

/* The first byte is the key's number, as far as it matters. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct bundle again = {0};
    struct bytes record, end;
    uint64_t sequence = 0, before = 0, last;
    enum status status;
    if (size == 0)
        return 0;
    last = data[0] == 0xff ? UINT64_MAX : data[0];
    struct bytes stored = bytes_of(data + 1, size - 1);
    bool marked = stored.size != 0 && stored.data[0] == BUNDLE_MARK, plain = last != 0;
    struct bundle_iter from = bundle_read(stored, last);
    arena_init(&arena);
    while ((status = bundle_next(&from, &sequence, &record)) == OK) {
        require(again.count == 0 || sequence > before);
        require(bytes_compare(record, stored) == 0 || record.data + record.size <= data + size);
        check_record(record, &arena);
        plain = plain && (record.size == 0 || record.data[0] != BUNDLE_MARK);
        if (last != 0) {
            struct buf room = bundle_add(&again, &arena, sequence, record.size);
            buf_put(&room, record);
        }
        before = sequence;
    }
    require(status == DAMAGED || (status == NOT_FOUND && sequence == last));
    require(marked || status == NOT_FOUND);
    require(bundle_last(stored, last, &end) == (status == NOT_FOUND ? OK : DAMAGED));
    if (plain && status == NOT_FOUND)
        check_again(stored, last, &again);
    arena_release(&arena);
    return 0;
}

/* The write buffer against a list of all writes, looked through from the end. */
#include "store/write_buffer.h"

#include "base/random.h"
#include "store/store_test.h"

#include <pthread.h>

enum { WRITES = 3000 };

struct past_write {
    uint8_t key[4], high[4];
    size_t key_size, high_size;
    enum store_family family;
    enum buffer_kind kind;
    uint32_t value;
};

struct history {
    struct random random;
    struct write_buffer *buffer;
    size_t count; /* the sequence of a write is its place plus one */
    struct past_write writes[WRITES];
};

/* Up to three bytes of few values, so that keys meet, precede and begin one another. */
static size_t random_key(struct random *random, uint8_t key[4]) {
    static const uint8_t alphabet[] = {0, 1, 'a', 'b', 'z', 0xfe, 0xff};
    size_t size = random_below(random, 4);
    for (size_t i = 0; i < size; i++)
        key[i] = alphabet[random_below(random, sizeof(alphabet))];
    return size;
}

static enum store_family random_family(struct random *random) {
    return random_below(random, 4) == 0 ? STORE_META : STORE_ITEMS;
}

static void add_one(struct history *history) {
    struct past_write *write = &history->writes[history->count++];
    uint64_t kind = random_below(&history->random, 40);
    write->key_size = random_key(&history->random, write->key);
    write->high_size = random_key(&history->random, write->high);
    write->family = random_family(&history->random);
    write->kind = kind == 0 ? BUFFER_DELETE_RANGE : kind < 12 ? BUFFER_DELETE : BUFFER_PUT;
    write->value = (uint32_t)random_next(&history->random);
    struct bytes high = bytes_of(write->high, write->high_size);
    write_buffer_add(history->buffer,
                     &(struct buffer_write){.sequence = history->count,
                                            .family = write->family,
                                            .kind = write->kind,
                                            .key = bytes_of(write->key, write->key_size),
                                            .value = write->kind == BUFFER_DELETE_RANGE
                                                         ? high
                                                         : bytes_of(&write->value, 4)});
}

/* The newest write of the kind asked for that is not above the sequence, or NULL. */
static const struct past_write *past_find(const struct history *history,
                                          const struct buffer_key *key, bool range) {
    for (size_t i = key->sequence; i-- > 0;) {
        const struct past_write *write = &history->writes[i];
        struct bytes low = bytes_of(write->key, write->key_size);
        struct bytes high = bytes_of(write->high, write->high_size);
        if (write->family != key->family || (write->kind == BUFFER_DELETE_RANGE) != range)
            continue;
        if (range ? bytes_compare(low, key->key) <= 0 && bytes_compare(key->key, high) < 0
                  : bytes_equal(low, key->key))
            return write;
    }
    return NULL;
}

static uint64_t sequence_of(const struct history *history, const struct past_write *write) {
    return write == NULL ? 0 : (uint64_t)(write - history->writes) + 1;
}

static void check_version(const struct history *history, const struct past_write *write,
                          const struct buffer_version *version) {
    assert_int_equal(version == NULL ? 0 : version->sequence, sequence_of(history, write));
    if (version == NULL)
        return;
    assert_int_equal(version->deleted, write->kind == BUFFER_DELETE);
    assert_int_equal(version->size, version->deleted ? 0 : 4);
    if (!version->deleted)
        assert_memory_equal(version->value, &write->value, 4);
}

static void check_find(struct history *history) {
    uint8_t space[4];
    size_t size = random_key(&history->random, space);
    struct buffer_key key = {.family = random_family(&history->random),
                             .key = bytes_of(space, size),
                             .sequence = random_below(&history->random, history->count + 1)};
    key.hash = buffer_hash(key.family, key.key);
    check_version(history, past_find(history, &key, false),
                  write_buffer_find(history->buffer, &key));
    const struct buffer_range *range =
        write_buffer_find_range(history->buffer, key.family, key.key, key.sequence);
    assert_int_equal(range == NULL ? 0 : range->sequence,
                     sequence_of(history, past_find(history, &key, true)));
}

/* All keys in order, forward and back, each with the version that a snapshot sees. */
static void check_order(struct history *history, enum store_family family) {
    struct buffer_key key = {.family = family,
                             .sequence = random_below(&history->random, history->count + 1)};
    const struct buffer_entry *entry, *before = NULL;
    size_t count = 0;
    write_buffer_order(history->buffer, family);
    assert_int_equal(write_buffer_pending(history->buffer, family), 0);
    for (entry = write_buffer_seek(history->buffer, family, (struct bytes){0}); entry != NULL;
         entry = buffer_entry_next(entry)) {
        key.key = buffer_entry_key(entry);
        check_version(history, past_find(history, &key, false),
                      buffer_entry_at(entry, key.sequence));
        assert_ptr_equal(write_buffer_before(history->buffer, family, key.key), before);
        assert_ptr_equal(write_buffer_seek(history->buffer, family, key.key), entry);
        assert_true(before == NULL || bytes_compare(buffer_entry_key(before), key.key) < 0);
        before = entry;
        count++;
    }
    assert_ptr_equal(write_buffer_last(history->buffer, family), before);
    for (size_t i = 0; i < history->count; i++) {
        const struct past_write *write = &history->writes[i];
        key = (struct buffer_key){
            .family = family, .key = bytes_of(write->key, write->key_size), .sequence = i};
        if (write->family == family && write->kind != BUFFER_DELETE_RANGE)
            count -= past_find(history, &key, false) == NULL;
    }
    assert_int_equal(count, 0);
}

static void test_model(void **state) {
    (void)state;
    struct history *history = calloc(1, sizeof(*history));
    history->buffer = write_buffer_new(NULL);
    random_seed(&history->random, test_seed());
    assert_true(write_buffer_is_empty(history->buffer, STORE_ITEMS));
    while (history->count < WRITES) {
        add_one(history);
        check_find(history);
        if (random_below(&history->random, 100) == 0)
            check_order(history, STORE_ITEMS);
        if (random_below(&history->random, 100) == 0)
            check_order(history, STORE_META);
    }
    check_order(history, STORE_ITEMS);
    assert_true(write_buffer_is_empty(history->buffer, STORE_STREAM));
    assert_true(write_buffer_size(history->buffer) > WRITES * 4);
    write_buffer_drop(history->buffer);
    free(history);
}

/* Values larger than a piece of memory, the empty key, and a table that grows many times. */
static void test_sizes(void **state) {
    (void)state;
    enum { KEYS = 40000, LARGE = 5 << 20 };
    struct write_buffer *buffer = write_buffer_new(NULL);
    uint8_t *large = calloc(1, LARGE);
    uint64_t sequence = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t key = i * 2654435761u;
        size_t size = i % 10000 == 0 ? LARGE : 7;
        large[size - 1] = (uint8_t)i;
        write_buffer_add(buffer, &(struct buffer_write){.sequence = ++sequence,
                                                        .family = STORE_ITEMS,
                                                        .key = bytes_of(&key, i == 0 ? 0 : 4),
                                                        .value = bytes_of(large, size)});
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t number = i * 2654435761u;
        struct buffer_key key = {STORE_ITEMS, bytes_of(&number, i == 0 ? 0 : 4), 0, sequence};
        key.hash = buffer_hash(key.family, key.key);
        const struct buffer_version *version = write_buffer_find(buffer, &key);
        assert_non_null(version);
        assert_int_equal(version->size, i % 10000 == 0 ? LARGE : 7);
        assert_int_equal(version->value[version->size - 1], (uint8_t)i);
    }
    assert_int_equal(write_buffer_pending(buffer, STORE_ITEMS), KEYS);
    write_buffer_order(buffer, STORE_ITEMS);
    size_t count = 0;
    for (const struct buffer_entry *entry =
             write_buffer_seek(buffer, STORE_ITEMS, (struct bytes){0});
         entry != NULL; entry = buffer_entry_next(entry))
        count++;
    assert_int_equal(count, KEYS);
    free(large);
    write_buffer_drop(buffer);
}

/* Many keys that begin alike and are put in order at once: some end where others go on with zeros,
 * and some differ only far behind what all have in common. */
static void test_many_in_order(void **state) {
    (void)state;
    enum { KEYS = 20000, BATCH = 3000, HEAD = 21 };
    struct write_buffer *buffer = write_buffer_new(NULL);
    struct random random;
    random_seed(&random, test_seed());
    uint8_t key[HEAD + 24] = "a head that all keys ";
    size_t added = 0, seen = 0;
    for (uint64_t sequence = 1; sequence <= KEYS; sequence++) {
        size_t size = random_below(&random, 24);
        for (size_t i = 0; i < size; i++)
            key[HEAD + i] = random_below(&random, 4) != 0 ? 0 : (uint8_t)random_next(&random);
        write_buffer_add(buffer, &(struct buffer_write){.sequence = sequence,
                                                        .family = STORE_ITEMS,
                                                        .key = bytes_of(key, HEAD + size)});
        added = write_buffer_pending(buffer, STORE_ITEMS);
        if (added >= BATCH)
            write_buffer_order(buffer, STORE_ITEMS);
        seen += added >= BATCH ? added : 0;
    }
    write_buffer_order(buffer, STORE_ITEMS);
    seen += added >= BATCH ? 0 : added;
    assert_true(seen > KEYS / 2);
    struct bytes last = {0};
    for (const struct buffer_entry *entry = write_buffer_seek(buffer, STORE_ITEMS, last);
         entry != NULL; entry = buffer_entry_next(entry), seen--) {
        assert_true(bytes_compare(last, buffer_entry_key(entry)) < 0);
        last = buffer_entry_key(entry);
    }
    assert_int_equal(seen, 0);
    write_buffer_drop(buffer);
}

/* --- threads: one writes, others read and put in order --- */

enum { ROUNDS = 3000, ROUND_KEYS = 64 };

struct crowd {
    struct write_buffer *buffer;
    atomic_uint_fast64_t committed;
};

static struct bytes crowd_key(uint32_t number, uint8_t key[4]) {
    for (int i = 0; i < 4; i++)
        key[i] = (uint8_t)(number >> (24 - 8 * i));
    return bytes_of(key, 4);
}

/* Round r writes keys of its own, r + 1 behind it, and overwrites one of all: a reader of a
 * snapshot sees all of the rounds up to it and nothing of the next. */
static void *crowd_read(void *argument) {
    struct crowd *crowd = argument;
    for (uint64_t sequence = 0; sequence < (uint64_t)ROUNDS * (ROUND_KEYS + 1);) {
        sequence = atomic_load(&crowd->committed);
        uint64_t rounds = sequence / (ROUND_KEYS + 1);
        struct buffer_key common = {STORE_ITEMS, BYTES("~"), 0, sequence};
        common.hash = buffer_hash(common.family, common.key);
        const struct buffer_version *version = write_buffer_find(crowd->buffer, &common);
        assert_int_equal(version == NULL ? 0 : version->sequence, sequence);
        write_buffer_order(crowd->buffer, STORE_ITEMS);
        uint64_t seen = 0;
        for (const struct buffer_entry *entry =
                 write_buffer_seek(crowd->buffer, STORE_ITEMS, (struct bytes){0});
             entry != NULL; entry = buffer_entry_next(entry))
            seen += buffer_entry_at(entry, sequence) != NULL;
        assert_int_equal(seen, rounds * ROUND_KEYS + (rounds != 0));
    }
    return NULL;
}

static void test_threads(void **state) {
    enum { READERS = 3 };
    (void)state;
    struct crowd crowd = {.buffer = write_buffer_new(NULL)};
    pthread_t readers[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, crowd_read, &crowd), 0);
    uint64_t sequence = 0;
    uint8_t key[4];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < ROUND_KEYS; i++) {
            uint32_t number = i * ROUNDS + round;
            struct buffer_write write = {++sequence, STORE_ITEMS, BUFFER_PUT,
                                         crowd_key(number, key), BYTES("value")};
            write_buffer_add(crowd.buffer, &write);
        }
        struct buffer_write common = {++sequence, STORE_ITEMS, BUFFER_PUT, BYTES("~"), BYTES("")};
        write_buffer_add(crowd.buffer, &common);
        atomic_store(&crowd.committed, sequence);
    }
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    write_buffer_drop(crowd.buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_many_in_order),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests_name("write buffer", tests, NULL, NULL);
}

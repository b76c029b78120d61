#include "api/dynamodb/test_faults.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>

enum order_kind { ORDER_THROTTLE, ORDER_DELAY, ORDER_PAGE, ORDER_CAPACITY };

struct order {
    enum order_kind kind;
    struct bytes table, operation; /* "*": any */
    int64_t number;
    int64_t seen; /* requests that it concerned */
};

/* What a table may still spend; under nothing after a large request. */
struct bucket {
    struct test_units left;
    int64_t filled_us;
};

struct test_faults {
    _Atomic bool active;
    pthread_mutex_t mutex; /* over all below */
    struct arena arena;    /* of the orders and the buckets' names */
    struct bytes text;
    struct order *orders;
    size_t count;
    struct map buckets; /* of struct bucket, by table */
};

struct test_faults *test_faults_new(void) {
    struct test_faults *faults = mem_zalloc(sizeof *faults);
    pthread_mutex_init(&faults->mutex, NULL);
    arena_init(&faults->arena);
    return faults;
}

void test_faults_free(struct test_faults *faults) {
    map_release(&faults->buckets);
    arena_release(&faults->arena);
    pthread_mutex_destroy(&faults->mutex);
    mem_free(faults);
}

/* --- reading orders --- */

static struct bytes next_word(struct bytes *rest) {
    while (rest->size != 0 && (rest->data[0] == ' ' || rest->data[0] == '\t'))
        *rest = bytes_skip(*rest, 1);
    size_t size = 0;
    while (size < rest->size && rest->data[size] != ' ' && rest->data[size] != '\t')
        size++;
    struct bytes word = bytes_of(rest->data, size);
    *rest = bytes_skip(*rest, size);
    return word;
}

/* The next order; false at the end. */
static bool next_order(struct bytes *rest, struct bytes *out) {
    if (rest->size == 0)
        return false;
    size_t size = 0;
    while (size < rest->size && rest->data[size] != ';' && rest->data[size] != '\n')
        size++;
    *out = bytes_of(rest->data, size);
    *rest = bytes_skip(*rest, size < rest->size ? size + 1 : size);
    return true;
}

/* Digits, and for a time its unit. */
static bool read_number(struct bytes word, bool time, int64_t *out) {
    int64_t number = 0;
    size_t digits = 0;
    for (; digits < word.size && word.data[digits] >= '0' && word.data[digits] <= '9'; digits++)
        if ((number = number * 10 + (word.data[digits] - '0')) > LIMIT_FAULT_NUMBER)
            return false;
    struct bytes unit = bytes_skip(word, digits);
    if (time && bytes_equal(unit, BYTES("s")))
        number *= 1000;
    else if (time ? !bytes_equal(unit, BYTES("ms")) : unit.size != 0)
        return false;
    *out = number;
    return digits != 0 && number != 0 && (!time || number <= LIMIT_FAULT_DELAY_MS);
}

static bool read_order(struct bytes text, struct order *out) {
    static const struct bytes kinds[] = {{(const uint8_t *)"throttle", 8},
                                         {(const uint8_t *)"delay", 5},
                                         {(const uint8_t *)"page", 4},
                                         {(const uint8_t *)"capacity", 8}};
    struct bytes name = next_word(&text);
    unsigned kind = 0;
    while (kind < 4 && !bytes_equal(name, kinds[kind]))
        kind++;
    *out = (struct order){.kind = kind, .table = next_word(&text), .operation = BYTES("*")};
    if (kind == 4 || out->table.size == 0)
        return false;
    if (kind != ORDER_CAPACITY) {
        out->operation = next_word(&text);
        if (!read_number(next_word(&text), kind == ORDER_DELAY, &out->number))
            return false;
    }
    return next_word(&text).size == 0;
}

/* Reads all orders into the arena. */
static enum status read_orders(struct test_faults *into, struct bytes text, struct scope in) {
    struct bytes rest = text, one;
    into->text = arena_copy(&into->arena, text);
    into->orders = ARENA_ARRAY(&into->arena, struct order, LIMIT_FAULT_ORDERS);
    rest = into->text;
    while (next_order(&rest, &one)) {
        struct bytes words = one;
        if (next_word(&words).size == 0 || bytes_equal(one, BYTES("none")))
            continue;
        if (into->count == LIMIT_FAULT_ORDERS)
            return failure_set(in.failure, in.arena, INVALID, "There are at most %d orders",
                               LIMIT_FAULT_ORDERS);
        if (!read_order(one, &into->orders[into->count++]))
            return failure_set(in.failure, in.arena, INVALID,
                               "'%.*s' is no order: throttle TABLE OPERATION N, delay TABLE "
                               "OPERATION TIME, page TABLE OPERATION ITEMS, capacity TABLE",
                               BYTES_ARG(one));
    }
    return OK;
}

enum status test_faults_set(struct test_faults *faults, struct bytes text, struct scope in) {
    struct test_faults read = {0};
    arena_init(&read.arena);
    enum status status = read_orders(&read, text, in);
    if (status != OK) {
        arena_release(&read.arena);
        return status;
    }
    pthread_mutex_lock(&faults->mutex);
    map_release(&faults->buckets);
    arena_release(&faults->arena);
    faults->arena = read.arena;
    faults->text = read.text;
    faults->orders = read.orders;
    faults->count = read.count;
    faults->buckets = (struct map){0};
    atomic_store(&faults->active, read.count != 0);
    pthread_mutex_unlock(&faults->mutex);
    return OK;
}

void test_faults_get(struct test_faults *faults, struct buf *to) {
    pthread_mutex_lock(&faults->mutex);
    buf_put(to, faults->text);
    pthread_mutex_unlock(&faults->mutex);
}

bool test_faults_active(const struct test_faults *faults) {
    return faults != NULL && atomic_load_explicit(&faults->active, memory_order_relaxed);
}

/* --- carrying them out --- */

static bool fits(struct bytes order, struct bytes name) {
    return bytes_equal(order, BYTES("*")) || bytes_equal(order, name);
}

static void obey(struct order *order, struct test_fault *out) {
    switch (order->kind) {
    case ORDER_THROTTLE:
        out->throttled |= ++order->seen % order->number == 0;
        break;
    case ORDER_DELAY:
        if (order->number > out->delay_ms)
            out->delay_ms = order->number;
        break;
    case ORDER_PAGE:
        if (out->page == 0 || order->number < out->page)
            out->page = (uint32_t)order->number;
        break;
    case ORDER_CAPACITY:
        out->enforced = true;
        break;
    }
}

struct test_fault test_faults_look(struct test_faults *faults, struct bytes table,
                                   struct bytes operation) {
    struct test_fault found = {0};
    pthread_mutex_lock(&faults->mutex);
    for (size_t i = 0; i < faults->count; i++)
        if (fits(faults->orders[i].table, table) && fits(faults->orders[i].operation, operation))
            obey(&faults->orders[i], &found);
    pthread_mutex_unlock(&faults->mutex);
    return found;
}

static struct bucket *bucket_of(struct test_faults *faults, struct bytes table) {
    struct bucket *bucket = map_get(&faults->buckets, table);
    if (bucket != NULL || faults->buckets.count == LIMIT_TABLES)
        return bucket;
    bucket = ARENA_NEW(&faults->arena, struct bucket);
    map_put(&faults->buckets, arena_copy(&faults->arena, table), bucket);
    return bucket;
}

static double refill(double left, double provisioned, double seconds) {
    left += provisioned * seconds;
    return left > provisioned ? provisioned : left;
}

struct test_units test_faults_left(struct test_faults *faults, struct bytes table,
                                   struct test_units provisioned) {
    int64_t now_us = clock_ticks_us();
    struct test_units left = provisioned;
    pthread_mutex_lock(&faults->mutex);
    struct bucket *bucket = bucket_of(faults, table);
    if (bucket != NULL) {
        bool fresh = bucket->filled_us == 0;
        double seconds = fresh ? 1 : (double)(now_us - bucket->filled_us) / 1e6;
        bucket->left.read = refill(bucket->left.read, provisioned.read, seconds);
        bucket->left.write = refill(bucket->left.write, provisioned.write, seconds);
        bucket->filled_us = now_us;
        left = bucket->left;
    }
    pthread_mutex_unlock(&faults->mutex);
    return left;
}

void test_faults_charge(struct test_faults *faults, struct bytes table, struct test_units used) {
    pthread_mutex_lock(&faults->mutex);
    struct bucket *bucket = map_get(&faults->buckets, table);
    if (bucket != NULL) {
        bucket->left.read -= used.read;
        bucket->left.write -= used.write;
    }
    pthread_mutex_unlock(&faults->mutex);
}

/* What the tests of the commit log share: a folder, a log in it, and a model: an array of what was
 * appended. The payload of a group is made from its number, so that the model is small. */
#ifndef GT_LOG_TEST_H
#define GT_LOG_TEST_H

#include "base/mem.h"
#include "base/random.h"
#include "store/commit_log.h"
#include "store/crc32c.h"
#include "store/log_format.h"
#include "store/store_test.h"

#include <errno.h>
#include <fcntl.h>

enum { SEGMENT = 64 * 1024, PAYLOAD_MAX = 20000, MODEL_MAX = 20000 };

struct log_model {
    struct store_test *t;
    struct commit_log_settings settings;
    struct log_faults faults;
    struct commit_log *log;
    char path[160];
    uint64_t end;  /* the next group's number */
    uint64_t from; /* groups before this are not needed */
    struct log_group groups[MODEL_MAX];
    uint32_t sizes[MODEL_MAX];
    uint32_t salts[MODEL_MAX]; /* what the payload is made from */
    /* a replay */
    uint64_t expected;
};

static inline struct scope model_scope(struct log_model *m) {
    return (struct scope){&m->t->arena, &m->t->failure};
}

static inline struct log_model *model_new(void **state) {
    struct log_model *m = mem_zalloc(sizeof(*m));
    m->t = *state;
    snprintf(m->path, sizeof(m->path), "%s/log", m->t->root);
    m->settings = (struct commit_log_settings){
        .path = m->path, .segment_size = SEGMENT, .faults = &m->faults};
    m->end = m->from = 1;
    return m;
}

static inline void model_free(struct log_model *m) {
    commit_log_close(m->log);
    mem_free(m);
}

/* What group `number` holds. */
static inline struct bytes model_payload(const struct log_model *m, uint64_t number) {
    static _Thread_local uint8_t payload[4 * SEGMENT];
    struct random random;
    random_seed(&random, number * 1000003 + m->salts[number]);
    for (size_t i = 0; i < m->sizes[number]; i += 8) {
        uint64_t noise = random_next(&random);
        memcpy(payload + i, &noise, 8);
    }
    return bytes_of(payload, m->sizes[number]);
}

/* Appends a group of that size, in two parts; remembered if it went well. */
static inline enum status model_append(struct log_model *m, uint32_t size) {
    assert_true(m->end < MODEL_MAX && size + 8 < 4 * SEGMENT);
    m->sizes[m->end] = size;
    m->salts[m->end]++;
    struct bytes whole = model_payload(m, m->end);
    struct bytes parts[2] = {bytes_of(whole.data, size / 3), bytes_skip(whole, size / 3)};
    enum status status =
        commit_log_append(m->log, (struct log_parts){parts, 2}, model_scope(m), &m->groups[m->end]);
    if (status == OK) {
        assert_int_equal(m->groups[m->end].number, m->end);
        m->end++;
    }
    return status;
}

static inline enum status check_group(void *user, const struct log_group *group,
                                      struct bytes payload) {
    struct log_model *m = user;
    assert_int_equal(group->number, m->expected);
    m->expected++;
    assert_bytes_equal(payload, model_payload(m, group->number));
    m->groups[group->number] = *group;
    return OK;
}

/* Opens and replays; the log is open then only if that is OK. */
static inline enum status model_try_open(struct log_model *m) {
    enum status status = commit_log_open(&m->settings, model_scope(m), &m->log);
    if (status != OK)
        return status;
    m->expected = m->from;
    struct log_replay replay = {check_group, m};
    status = commit_log_replay(m->log, m->from, &replay, model_scope(m));
    if (status == OK)
        return OK;
    commit_log_close(m->log);
    m->log = NULL;
    return status;
}

/* Opens, and everything that was appended is there. */
static inline void model_open(struct log_model *m) {
    enum status status = model_try_open(m);
    if (status != OK)
        fail_msg("%s: %.*s", status_name(status), BYTES_ARG(m->t->failure.text));
    assert_int_equal(m->expected, m->end);
    assert_int_equal(commit_log_next(m->log), m->end);
}

static inline void model_close(struct log_model *m) {
    commit_log_close(m->log);
    m->log = NULL;
}

/* The Nth change from now on fails; the log's helper may be at work. */
static inline void model_fault(struct log_model *m, int n, int error, bool sticky) {
    m->faults.error = error;
    m->faults.sticky = sticky;
    __atomic_store_n(&m->faults.change_in, n, __ATOMIC_RELEASE);
}

/* Ends it as a kill would: without a mark, or with half of one. */
static inline void model_crash(struct log_model *m) {
    model_fault(m, 1, EIO, true);
    model_close(m);
    m->faults = (struct log_faults){0};
}

static inline void model_file(const struct log_model *m, uint64_t segment, char *path) {
    snprintf(path, 192, "%s/%012llu", m->path, (unsigned long long)segment);
}

/* Changes bytes of a segment's file: each is exclusive-ored with `with`; 0: they become zeros. */
static inline void model_change(const struct log_model *m, uint64_t segment, uint64_t offset,
                                struct bytes with) {
    char path[192];
    model_file(m, segment, path);
    int file = open(path, O_RDWR);
    assert_true(file >= 0);
    uint8_t *now = calloc(1, with.size + 1);
    assert_int_equal(pread(file, now, with.size, (off_t)offset), with.size);
    for (size_t i = 0; i < with.size; i++)
        now[i] = (uint8_t)(with.data[i] == 0 ? 0 : now[i] ^ with.data[i]);
    assert_int_equal(pwrite(file, now, with.size, (off_t)offset), with.size);
    free(now);
    close(file);
}

/* The place of a piece of a group. */
static inline struct log_place model_place(const struct log_model *m, uint64_t number,
                                           uint32_t from, uint32_t size) {
    struct bytes payload = model_payload(m, number);
    return (struct log_place){.segment = m->groups[number].segment,
                              .salt = m->groups[number].salt,
                              .offset = m->groups[number].offset + from,
                              .size = size,
                              .crc = crc32c(0, bytes_of(payload.data + from, size))};
}

#endif

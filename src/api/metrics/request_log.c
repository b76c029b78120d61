#include "api/metrics/request_log.h"

#include "api/rest/rfc3339.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/json.h"

#include <string.h>

/* --- records --- */

/* Text that JSON can hold; other bytes become '?'. A cut does not split a character. */
static void copy_text(char *to, size_t room, struct bytes text) {
    size_t size = text.size < room - 1 ? text.size : room - 1;
    while (size > 0 && size < text.size && (text.data[size] & 0xc0) == 0x80)
        size--;
    bool whole = size == 0 || utf8_valid(bytes_of(text.data, size));
    for (size_t i = 0; i < size; i++) {
        char c = (char)text.data[i];
        to[i] = c == '\0' || (!whole && (text.data[i] & 0x80) != 0) ? '?' : c;
    }
    to[size] = '\0';
}

void request_record_set(struct request_record *record, const struct request_texts *texts) {
    copy_text(record->operation, sizeof record->operation, texts->operation);
    copy_text(record->reason, sizeof record->reason, texts->reason);
    copy_text(record->subject, sizeof record->subject, texts->subject);
    copy_text(record->who, sizeof record->who, texts->who);
}

static void put_text(struct buf *to, const char *name, const char *text) {
    if (text[0] == '\0')
        return;
    buf_printf(to, ",\"%s\":", name);
    json_put_string(to, bytes_str(text));
}

void request_record_put(struct buf *to, const struct request_record *record) {
    buf_lit(to, "{\"at\":");
    rfc3339_put(to, record->at_ms);
    put_text(to, "frontEnd", metrics_front_name(record->front));
    put_text(to, "operation", record->operation[0] != '\0' ? record->operation : "unknown");
    put_text(to, "subject", record->subject);
    if (record->status != 0)
        buf_printf(to, ",\"status\":%d", record->status);
    put_text(to, "reason", record->reason);
    put_text(to, "who", record->who);
    buf_printf(to, ",\"bytesIn\":%llu,\"bytesOut\":%llu,\"ms\":%.3f}",
               (unsigned long long)record->bytes_in, (unsigned long long)record->bytes_out,
               (double)record->us / 1000);
}

/* --- the log --- */

void request_log_init(struct request_log *log, uint64_t slow_us, size_t room) {
    memset(log, 0, sizeof *log);
    atomic_init(&log->slow_us, slow_us);
    pthread_mutex_init(&log->mutex, NULL);
    log->slow_room = room;
    log->slow = mem_zalloc(room * sizeof *log->slow);
}

void request_log_release(struct request_log *log) {
    mem_free(log->slow);
    mem_free(log->tail);
    pthread_mutex_destroy(&log->mutex);
}

/* Under the mutex. */
static void add_slow(struct request_log *log, const struct request_record *record) {
    log->slow[log->slow_next] = *record;
    log->slow_next = (log->slow_next + 1) % log->slow_room;
    if (log->slow_count < log->slow_room)
        log->slow_count++;
}

/* Under the mutex. */
static void add_tail(struct request_log *log, const struct request_record *record) {
    if (log->tail == NULL)
        log->tail = mem_alloc(LIMIT_TAIL_REQUESTS * sizeof *log->tail);
    if (log->tail_count == LIMIT_TAIL_REQUESTS)
        log->tail_dropped++;
    else
        log->tail[log->tail_count++] = *record;
}

void request_log_add(struct request_log *log, const struct request_record *record) {
    pthread_mutex_lock(&log->mutex);
    if (record->us >= atomic_load_explicit(&log->slow_us, memory_order_relaxed))
        add_slow(log, record);
    if (atomic_load_explicit(&log->watchers, memory_order_relaxed) != 0)
        add_tail(log, record);
    pthread_mutex_unlock(&log->mutex);
}

size_t request_log_slow(struct request_log *log, struct request_record *out, size_t room) {
    pthread_mutex_lock(&log->mutex);
    size_t count = log->slow_count < room ? log->slow_count : room;
    for (size_t i = 0; i < count; i++)
        out[i] = log->slow[(log->slow_next + log->slow_room - 1 - i) % log->slow_room];
    pthread_mutex_unlock(&log->mutex);
    return count;
}

void request_log_forget(struct request_log *log) {
    pthread_mutex_lock(&log->mutex);
    log->slow_count = log->slow_next = 0;
    pthread_mutex_unlock(&log->mutex);
}

size_t request_log_take(struct request_log *log, struct request_record **out, uint64_t *dropped) {
    pthread_mutex_lock(&log->mutex);
    size_t count = log->tail_count;
    *out = log->tail;
    *dropped = log->tail_dropped;
    log->tail = NULL;
    log->tail_count = 0;
    log->tail_dropped = 0;
    pthread_mutex_unlock(&log->mutex);
    return count;
}

/* What is counted and kept of calls. */
#include "api/redis/call_records.h"

#include "api/redis/call_errors.h"
#include "base/clock.h"

void call_count_refusal(const struct redis_call *call) {
    const struct redis_frontend *frontend = call->frontend;
    if (frontend->settings.metrics != NULL)
        metrics_refused(frontend->settings.metrics,
                        (unsigned)(call->client->loop - frontend->loops), METRICS_REDIS,
                        call_reason(call));
}

/* What it is about: its first key. Nothing else of its arguments is kept, least of all a secret. */
static struct bytes subject_of(const struct redis_call *call) {
    int first = call->command == NULL ? 0 : call->command->keys.first;
    return first > 0 && (size_t)first < call->count ? call->args[first] : (struct bytes){0};
}

/* For the slow log and for those who look on. */
void call_log(const struct redis_call *call, int64_t us) {
    struct request_log *log = call->frontend->settings.requests;
    const struct access_key *key = call->client->caller.key;
    struct request_record record = {.at_ms = clock_now_ms(),
                                    .us = us < 0 ? 0 : (uint64_t)us,
                                    .front = METRICS_REDIS,
                                    .bytes_out = call->reply.size};
    struct request_texts texts = {.operation = bytes_str(call->command->name),
                                  .reason = call->failed ? bytes_str(call_reason(call))
                                                         : (struct bytes){0},
                                  .subject = subject_of(call),
                                  .who = key == NULL ? (struct bytes){0} : key->id};
    for (size_t i = 0; i < call->count; i++)
        record.bytes_in += call->args[i].size;
    request_record_set(&record, &texts);
    request_log_add(log, &record);
}

bool call_is_logged(const struct redis_call *call, int64_t us) {
    const struct request_log *log = call->frontend->settings.requests;
    return log != NULL && request_log_wants(log, us < 0 ? 0 : (uint64_t)us);
}

void call_count(struct redis_call *call) {
    struct command_stats *counts = &call->client->loop->counts;
    const struct multi_queue *queue = &call->client->queue;
    slowlog_note(call, call->usec);
    int64_t us = call->client->loop->drain_us - call->begun_us;
    command_stats_took(command_stats_called(counts, call->command, call->usec, call->failed), us,
                       1);
    if (call_is_logged(call, us))
        call_log(call, us);
    if (call->failed)
        call_count_refusal(call);
    for (size_t i = 0; i < queue->count && command_is_exec(call->command); i++)
        if (queue->list[i].ran)
            command_stats_called(counts, queue->list[i].request.command, queue->list[i].usec,
                                 call->failed || queue->list[i].failed);
}

#include "api/transfer/transfer_job.h"

#include "json/json.h"

#include <stdlib.h>

static const char *const kinds[] = {
    [JOB_EXPORT] = "export", [JOB_IMPORT] = "import", [JOB_RESTORE] = "restore"};
static const char *const states[] = {
    [JOB_RUNNING] = "running", [JOB_DONE] = "done", [JOB_FAILED] = "failed"};

static void put_text(struct buf *to, const char *name, struct bytes text) {
    buf_printf(to, ",\"%s\":", name);
    json_put_string(to, text);
}

static void put_number(struct buf *to, const char *name, uint64_t number) {
    buf_printf(to, ",\"%s\":%llu", name, (unsigned long long)number);
}

void job_encode(const struct job_view *view, struct buf *to) {
    buf_printf(to, "{\"kind\":\"%s\"", kinds[view->kind]);
    put_text(to, "state", bytes_str(states[view->state]));
    put_text(to, "id", view->id);
    put_text(to, "table", view->table);
    put_text(to, "table_id", view->table_id);
    put_text(to, "token", view->token);
    put_text(to, "details", view->details);
    put_text(to, "fault", view->fault);
    put_number(to, "started_ms", (uint64_t)view->started_ms);
    put_number(to, "ended_ms", (uint64_t)view->ended_ms);
    put_number(to, "processed", view->processed);
    put_number(to, "loaded", view->loaded);
    put_number(to, "refused", view->refused);
    put_number(to, "size", view->size);
    buf_lit(to, "}\n");
}

static struct bytes text_of(const struct json *record, const char *name) {
    const struct json *value = json_get(record, bytes_str(name));
    return value != NULL && value->type == JSON_STRING ? value->text : (struct bytes){0};
}

static uint64_t number_of(const struct json *record, const char *name) {
    const struct json *value = json_get(record, bytes_str(name));
    char digits[24] = "";
    if (value == NULL || value->type != JSON_NUMBER || value->text.size >= sizeof(digits))
        return 0;
    memcpy(digits, value->text.data, value->text.size);
    return strtoull(digits, NULL, 10);
}

static int named(struct bytes text, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (bytes_equal(text, bytes_str(names[i])))
            return i;
    return -1;
}

bool job_decode(struct bytes text, struct arena *arena, struct job_view *out) {
    struct json record;
    size_t at;
    if (json_parse(text, arena, &record, &at) != OK)
        return false;
    int kind = named(text_of(&record, "kind"), kinds, 3);
    int state = named(text_of(&record, "state"), states, 3);
    *out = (struct job_view){.kind = (enum job_kind)kind,
                             .state = (enum job_state)state,
                             .id = text_of(&record, "id"),
                             .table = text_of(&record, "table"),
                             .table_id = text_of(&record, "table_id"),
                             .token = text_of(&record, "token"),
                             .details = text_of(&record, "details"),
                             .fault = text_of(&record, "fault"),
                             .started_ms = (int64_t)number_of(&record, "started_ms"),
                             .ended_ms = (int64_t)number_of(&record, "ended_ms"),
                             .processed = number_of(&record, "processed"),
                             .loaded = number_of(&record, "loaded"),
                             .refused = number_of(&record, "refused"),
                             .size = number_of(&record, "size")};
    return kind >= 0 && state >= 0 && out->id.size == JOB_ID_SIZE && out->table.size != 0;
}

/* Parts of strings: APPEND, STRLEN, GETRANGE, SUBSTR, SETRANGE. */
#include "api/redis/notifications.h"
#include "api/redis/string_edit.h"

#include "base/limits.h"

/* ---- APPEND and SETRANGE ---- */

static enum status apply_append(struct key_edit *edit, struct key_head *head, struct arena *arena) {
    struct string_edit *append = (struct string_edit *)edit;
    struct bytes old = head->value;
    size_t size = old.size + append->value.size;
    if (size > KEY_VALUE_MAX) {
        edit->error = ERROR_STRING_SIZE;
        return OK;
    }
    uint8_t *joined = arena_alloc(arena, size + 1);
    if (old.size != 0)
        memcpy(joined, old.data, old.size);
    if (append->value.size != 0)
        memcpy(joined + old.size, append->value.data, append->value.size);
    append->result = (int64_t)size;
    string_put(append, head, bytes_of(joined, size));
    return OK;
}

static enum status read_append(struct redis_call *call, struct string_edit *append) {
    append->edit.apply = apply_append;
    append->value = call->args[2];
    return OK;
}

static enum status reply_length(struct redis_call *call) {
    const struct string_edit *edit = call->user;
    if (edit->done)
        notify_key(call, NOTIFY_STRING, call->command->name, call->args[1]);
    resp_int(&call->out, edit->result);
    return OK;
}

static enum status start_append(struct redis_call *call) {
    return string_start(call, read_append, reply_length);
}

static enum status run_append(struct redis_call *call) {
    return string_run(call, read_append, reply_length);
}

/* The string is filled up with zeros as far as the offset. */
static enum status apply_setrange(struct key_edit *edit, struct key_head *head,
                                  struct arena *arena) {
    struct string_edit *set = (struct string_edit *)edit;
    struct bytes old = head->value, value = set->value;
    set->result = (int64_t)old.size;
    if (value.size == 0)
        return OK;
    if (set->number > KEY_VALUE_MAX || (size_t)set->number + value.size > KEY_VALUE_MAX) {
        edit->error = ERROR_STRING_SIZE;
        return OK;
    }
    size_t offset = (size_t)set->number, end = offset + value.size;
    size_t size = end > old.size ? end : old.size;
    uint8_t *joined = arena_zalloc(arena, size + 1);
    if (old.size != 0)
        memcpy(joined, old.data, old.size);
    memcpy(joined + offset, value.data, value.size);
    set->result = (int64_t)size;
    string_put(set, head, bytes_of(joined, size));
    return OK;
}

static enum status read_setrange(struct redis_call *call, struct string_edit *set) {
    set->edit.apply = apply_setrange;
    set->value = call->args[3];
    enum status status = call_int(call, 2, &set->number);
    if (status == OK && set->number < 0)
        return call_error(call, "ERR offset is out of range");
    return status;
}

static enum status start_setrange(struct redis_call *call) {
    return string_start(call, read_setrange, reply_length);
}

static enum status run_setrange(struct redis_call *call) {
    return string_run(call, read_setrange, reply_length);
}

/* ---- reading ---- */

static enum status read_value(struct redis_call *call, struct bytes *out) {
    struct redis_key *key;
    enum status status = key_open_as(call, call->args[1], KEY_STRING, &key);
    if (status == OK)
        *out = key_string(key);
    return status;
}

static enum status run_strlen(struct redis_call *call) {
    struct bytes value;
    enum status status = read_value(call, &value);
    if (status == OK)
        resp_int(&call->out, (int64_t)value.size);
    return status;
}

/* The part from `start` to `end`, both included; negative ones count from the string's end. */
static struct bytes part_of(struct bytes value, int64_t start, int64_t end) {
    int64_t size = (int64_t)value.size;
    if (start < 0 && end < 0 && start > end)
        return (struct bytes){0};
    start = start < 0 ? start + size : start;
    end = end < 0 ? end + size : end;
    start = start < 0 ? 0 : start;
    end = end < 0 ? 0 : end;
    end = end >= size ? size - 1 : end;
    if (start > end || size == 0)
        return (struct bytes){0};
    return bytes_of(value.data + start, (size_t)(end - start + 1));
}

static enum status run_getrange(struct redis_call *call) {
    int64_t start, end;
    struct bytes value;
    enum status status = call_int(call, 2, &start);
    if (status == OK)
        status = call_int(call, 3, &end);
    if (status == OK)
        status = read_value(call, &value);
    if (status == OK)
        resp_bulk(&call->out, part_of(value, start, end));
    return status;
}

/* ---- the commands ---- */

enum { WRITES = COMMAND_WRITE | COMMAND_DENYOOM };
#define ONE_KEY \
    { 1, 1, 1, 0 }

const struct redis_command redis_substring_commands[] = {
    {"append", 3, WRITES | COMMAND_FAST, TOUCHES_PARTITION, ONE_KEY, run_append, start_append,
     GROUP_STRING, "2.0.0", "Adds to the end of a string", NULL},
    {"setrange", 4, WRITES, TOUCHES_PARTITION, ONE_KEY, run_setrange, start_setrange, GROUP_STRING,
     "2.2.0", "Overwrites a part of a string", NULL},
    {"strlen", 2, COMMAND_READ | COMMAND_FAST, TOUCHES_PARTITION, ONE_KEY, run_strlen, NULL,
     GROUP_STRING, "2.2.0", "Tells how long a string is", NULL},
    {"getrange", 4, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_getrange, NULL, GROUP_STRING,
     "2.4.0", "Tells a part of a string", NULL},
    {"substr", 4, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_getrange, NULL, GROUP_STRING,
     "1.0.0", "Tells a part of a string", NULL},
    {0},
};

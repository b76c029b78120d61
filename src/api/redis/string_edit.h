/* A write to the string of one key, as it is worked out on the engine's thread. Private to the
 * string commands (string_commands.c, string_numbers.c, string_ranges.c).
 *
 * A command fills in a struct string_edit; its edit.apply changes the key's head and notes what the
 * reply needs, and a function makes the reply. Both halves are the same whether the command shares
 * a commit (`start`) or runs as a part of MULTI (`run`). */
#ifndef GT_API_REDIS_STRING_EDIT_H
#define GT_API_REDIS_STRING_EDIT_H

#include "api/redis/key_txn.h"

struct string_edit {
    struct key_edit edit; /* first: what apply() is given is both */
    /* what is asked for */
    unsigned flags;      /* the command's own */
    struct bytes value;  /* to set, append, or put at `offset` */
    int64_t expires_ms;  /* with EX, PX, ...: when the key expires then */
    int64_t number;      /* to add; or the offset of SETRANGE */
    long double decimal; /* to add, by INCRBYFLOAT */
    /* filled in by apply() */
    bool had;           /* the key was there */
    bool done;          /* it was written */
    struct bytes old;   /* what it was, if the reply tells it */
    struct bytes after; /* what it is, if the reply tells it */
    int64_t result;     /* a number, the length of the string, or the command's own */
};

typedef enum status string_read(struct redis_call *call, struct string_edit *edit);

/* Reads the arguments by `read`, and either fills in the call's change or does it at once. */
enum status string_start(struct redis_call *call, string_read *read, redis_run *reply);
enum status string_run(struct redis_call *call, string_read *read, redis_run *reply);

/* Makes the head that of a string with this value; its time to live stays. Sets edit->error if it
 * is too long. */
void string_put(struct string_edit *edit, struct key_head *head, struct bytes value);

#endif

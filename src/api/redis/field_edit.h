/* Edits of single fields of a hash or members of a set: what HSET, HDEL, HINCRBY, HEXPIRE, SADD and
 * their like do to the fields that they name.
 *
 * A command says by a function `decide` what becomes of one field, and that rule is written once.
 * It is applied in either way that a write can go (redis_command.h):
 *
 *     field_edit_run()     as the command's `run`: on what the call's transaction sees
 *     field_edit_start()   as its `start`: on the items themselves when the change is committed,
 * which shares a commit with the writes of other clients
 */
#ifndef GT_API_REDIS_FIELD_EDIT_H
#define GT_API_REDIS_FIELD_EDIT_H

#include "api/redis/key_txn.h"

/* A field as `decide` finds it, and as it leaves it. */
struct field_state {
    bool has;           /* it is there */
    struct bytes value; /* of a hash */
    int64_t expires_ms; /* 0: with the key */
    bool written;       /* set by `decide`: it has changed the rest */
};

/* A field that is named: what is asked for, and what came of it. */
struct field_change {
    struct bytes name, value; /* borrowed from the arguments */
    struct bytes key;         /* the name as it is escaped in the table */
    int64_t outcome;          /* for the reply; its meaning is the command's */
    long double sum;          /* likewise, of HINCRBYFLOAT */
};

struct field_edit;
/* Decides on the field edit->list[index]. Pure but for that entry; it may be called more than once,
 * the last time counts. What it makes lives in the arena. Returns NULL, or the text of an error
 * reply: then nothing is written at all. */
typedef const char *field_decide(struct field_edit *edit, size_t index, struct field_state *state,
                                 struct arena *arena);

struct field_edit {
    enum key_type type; /* KEY_HASH or KEY_SET */
    field_decide *decide;
    redis_run *reply;  /* makes the reply out of call->user, the edit */
    const char *event; /* what notifications call it; `decide` may say another */
    struct field_change *list;
    size_t count;
    int64_t now_ms;  /* filled in: the time of the call */
    int64_t end_ms;  /* the end that it gives to fields, of those that do; else 0 */
    const void *how; /* for the use of `decide` */
    bool written;    /* filled in: a field was written or removed, */
    bool emptied;    /* and the key went with its last one */
};

/* An edit with the fields that are named by every `step`th argument from `first` on; `step` 2: each
 * is followed by its value. In the call's arena. */
struct field_args {
    size_t first, step;
};
struct field_edit *field_edit_new(struct redis_call *call, enum key_type type,
                                  struct field_args args);

enum status field_edit_run(struct redis_call *call, struct field_edit *edit);
/* Falls back to the command's `run` where the key has to be read first. */
enum status field_edit_start(struct redis_call *call, struct field_edit *edit);

/* The sum of the outcomes. */
int64_t field_edit_total(const struct field_edit *edit);

/* Of commands on very many fields, by their names alone or in pairs of name and value. */
extern const struct command_parts field_parts, field_pair_parts;

#endif

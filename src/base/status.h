/* What a call can come to. 0 is success; everything else is negative. Not-found is an answer, not
 * a failure. What a person reads about it is a `struct failure`. */
#ifndef GT_BASE_STATUS_H
#define GT_BASE_STATUS_H

#include "base/arena.h"

enum status {
    OK = 0,
    NOT_FOUND = -1,        /* no such item, key or entry */
    INVALID = -2,          /* the request is wrong; the text says how */
    CONDITION_FAILED = -3, /* a condition was false; nothing changed */
    NO_TABLE = -4,         /* no such table or index */
    TABLE_IN_USE = -5,     /* it exists already, or is being created, changed or deleted */
    LIMIT_EXCEEDED = -6,   /* more than is allowed of something */
    COLLECTION_FULL = -7,  /* an item collection is over its size */
    CANCELLED = -8,        /* a transaction did not happen; its reasons are in the reply */
    CONFLICT = -9,         /* another transaction is under way on the item */
    REPEAT_MISMATCH = -10, /* a repeated token came with another request */
    IO_FAILED = -11,       /* the disk said no; reads go on, writes may be tried again */
    DAMAGED = -12,         /* stored bytes do not make sense */
    NEWER_FORMAT = -13,    /* the data folder was written by a newer program */
    IN_USE = -14,          /* another process has the data folder open */
    MEMORY_FULL = -15,     /* a memory limit of the settings is reached */
    STOPPING = -16,        /* the server is shutting down */
    UNSUPPORTED = -17,     /* a thing this engine does not do */
    NO_RESOURCE = -18,     /* no such resource: a stream, a backup, a tagged thing */
    PARSE_FAILED = -19,    /* bytes that are not of their format */
    BUSY = -20,            /* too much is waiting; the same may be tried again soon */
    DENIED = -21,          /* who asks may not */
    DUPLICATE = -22,       /* what was to be new is there already */
    WOULD_BLOCK = -23, /* it would take long, and was not to: ask again from where one may wait */
    BEING_BUILT = -24, /* ranks are not known while the ranking is made from its items */
};

/* What went wrong, for people: a status and a sentence in the request's arena. */
struct failure {
    enum status status;
    struct bytes text;
};

/* What a call works in: the arena that its results live in, and where the sentence about a failure
 * goes. It is two pointers and passed by value; who calls keeps both. */
struct scope {
    struct arena *arena;
    struct failure *failure;
};

/* Fills in *failure and returns `status`, so that a caller can `return failure_set(...)`. */
enum status failure_set(struct failure *failure, struct arena *arena, enum status status,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/* clang-tidy's analyzer sees one file at a time and has to be told what comes back from functions
 * such as failure_set(): else it follows paths on which a call has failed and returned OK. A header
 * that declares one wraps it in STATUS_RETURNED() under this #ifdef; elsewhere nothing changes. */
#ifdef __clang_analyzer__
#define STATUS_RETURNED(call, status) ((call), (status))
#define failure_set(failure, arena, status, ...) \
    STATUS_RETURNED(failure_set((failure), (arena), (status), __VA_ARGS__), (status))
#endif

/* A short constant name such as "invalid", for logs and tests. */
const char *status_name(enum status status);

#endif

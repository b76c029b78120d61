#include "base/status.h"

enum status(failure_set)(struct failure *failure, struct arena *arena, enum status status,
                         const char *format, ...) {
    va_list args;
    va_start(args, format);
    *failure = (struct failure){status, arena_vprintf(arena, format, args)};
    va_end(args);
    return status;
}

const char *status_name(enum status status) {
    static const char *const names[] = {
        "ok",          "not found",    "invalid",         "condition failed",
        "no table",    "table in use", "limit exceeded",  "collection full",
        "cancelled",   "conflict",     "repeat mismatch", "i/o failed",
        "damaged",     "newer format", "in use",          "memory full",
        "stopping",    "unsupported",  "no resource",     "parse failed",
        "busy",        "denied",       "duplicate",       "would block",
        "being built",
    };
    int index = -(int)status;
    int count = (int)(sizeof(names) / sizeof(names[0]));
    return index >= 0 && index < count ? names[index] : "unknown";
}
